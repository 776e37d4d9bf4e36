"""What a command costs before it does anything."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.measure import MEMORANDA, Figure, Report, environment, median_run


def main(*, repeat: int = 7) -> int:
    """Measure help, version and a sync of an empty folder; returns how many figures are over."""
    report = Report("startup")
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as temporary:
        home = Path(temporary)
        empty = home / "empty"
        empty.mkdir()
        env, log = environment(home, {"main": empty}), home / "command.log"

        python = median_run([sys.executable, "-c", "pass"], env, log=log, repeat=repeat)
        report.put(Figure("python -c pass: CPU", python.cpu_s, "s"))
        for argument, most in (("--help", 0.5), ("--version", 0.5)):
            result = median_run([*MEMORANDA, argument], env, log=log, repeat=repeat)
            report.put(Figure(f"{argument}: wall", result.wall_s, "s", most))
            report.put(Figure(f"{argument}: CPU", result.cpu_s, "s", 0.15 + python.cpu_s))
        first = median_run([*MEMORANDA, "sync"], env, log=log, repeat=1)
        report.put(Figure("sync, empty folder, new database: CPU", first.cpu_s, "s", 2.0))
        again = median_run([*MEMORANDA, "sync"], env, log=log, repeat=repeat)
        report.put(Figure("sync, empty folder, again: CPU", again.cpu_s, "s"))
        report.put(Figure("sync, empty folder, again: peak RSS", again.peak_rss_mb, "MB"))
    return report.over
