"""`memoranda doctor`."""

from __future__ import annotations

from typing import Annotated

import typer

from memoranda.cli.options import EveryProjectOption, JsonOption


def doctor(
    quick: Annotated[
        bool, typer.Option("--quick", help="Do not read the databases whole to check them.")
    ] = False,
    project: EveryProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Look for trouble, and say what to do about it.

    Looks at the configuration, the model for search by meaning, each project's folder, index, vectors,
    server, history and searches, and at the system. Changes and downloads nothing, and works when other
    commands do not. Ends with code 1 when there is a problem; a warning is none.
    """
    import shutil
    import sys

    from memoranda.cli.errors import FAILED, runnable
    from memoranda.cli.output import write_json, write_styled
    from memoranda.cli.styles import health_lines
    from memoranda.doctor.report import examine
    from memoranda.files.clock import SystemClock
    from memoranda.logs import configure_logging
    from memoranda.model.health import Verdict
    from memoranda.render.health import health_data, health_text

    configure_logging("CRITICAL", None, stderr=False)
    report = examine(project, SystemClock(), is_whole=not quick)
    if as_json:
        write_json(health_data(report, as_shown=runnable))
    else:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        write_styled(health_lines(health_text(report, width=width, as_shown=runnable)))
    return FAILED if report.verdict is Verdict.PROBLEM else 0
