"""The tables of a run as Markdown, and their places in `docs/explanation/retrieval.md`. Pure.

Figures on the page are never typed: a run writes them (`--write-page`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.retrieval.floors import Verdict
from benchmarks.retrieval.measures import MEASURES
from benchmarks.retrieval.scores import ANSWERED, DECLINED, Row

COLUMNS = (*MEASURES, ANSWERED, DECLINED)


def filled(page: str, rows: Sequence[Row], verdicts: Sequence[Verdict]) -> str:
    """The page with the tables of this run between its marks.

    Raises:
        ValueError: a mark is missing.
    """
    for name, lines in (("floors", floor_lines(verdicts)), ("figures", figure_lines(rows))):
        start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, started, rest = page.partition(start)
        _, ended, after = rest.partition(end)
        if not (started and ended):
            raise ValueError(f"the page has no place for {name}")
        page = "\n".join([before + start, *lines, "", end + after])
    return page


def floor_lines(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Figures beside their floors."""
    yield from _head("set, grain, haystack: part, measure", "reached", "floor", "aim")
    for one in verdicts:
        floor = one.floor
        aim = "" if floor.aim is None else f"{floor.aim:.3f}"
        name = f"{', '.join(floor.series)}: {floor.part}, {floor.measure}"
        yield f"| {name} | {one.value:.3f} | {floor.least:.3f} | {aim} |"


def figure_lines(rows: Sequence[Row]) -> Iterator[str]:
    """All rows of a run."""
    yield from _head("set, grain, haystack: part", "questions", *COLUMNS, "CPU ms p50", "p95")
    for row in rows:
        figures = [f"{row.figures[one]:.3f}" if one in row.figures else "" for one in COLUMNS]
        cpu = (f"{row.cpu_p50_ms:.0f}", f"{row.cpu_p95_ms:.0f}")
        cells = (f"{', '.join(row.series)}: {row.part}", str(row.questions), *figures, *cpu)
        yield f"| {' | '.join(cells)} |"


def _head(first: str, *others: str) -> Iterator[str]:
    yield f"| {' | '.join((first, *others))} |"
    yield f"| --- |{' ---: |' * len(others)}"
