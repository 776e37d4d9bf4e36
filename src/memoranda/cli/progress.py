"""A progress bar on stderr, only when somebody can see it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from memoranda.model.sync import Progress
from memoranda.ports import ProgressSink


@contextmanager
def progress_bar(label: str, unit: str = "files") -> Iterator[ProgressSink | None]:
    """A sink that draws a bar once there is something to do; None when stderr is not a terminal.

    Before that the terminal gets nothing at all: the start of a bar hides the cursor.

    Args:
        label: before the bar.
        unit: what is counted.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    bar = Bar(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(label, total=None, rate="", visible=False)

    def show(progress: Progress) -> None:
        rate = f"{progress.files_per_s:,.0f} {unit}/s" if progress.files_per_s else ""
        bar.update(
            task,
            completed=progress.done,
            total=progress.total,
            rate=rate,
            visible=progress.total > 0,
        )
        if progress.total > 0:
            bar.start()

    try:
        yield show
    finally:
        if bar.live.is_started:
            bar.stop()
