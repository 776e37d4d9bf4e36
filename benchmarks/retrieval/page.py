"""The tables of a run as Markdown, and their places in `docs/explanation/retrieval.md`. Pure.

Figures on the page are never typed: a run writes them (`--write-page`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.retrieval.floors import COMPARED, Verdict
from benchmarks.retrieval.legs import LEGS
from benchmarks.retrieval.measures import MEASURES
from benchmarks.retrieval.scores import ALL, ANSWERED, DECLINED, Row

COLUMNS = (*MEASURES, ANSWERED, DECLINED)


def filled(page: str, rows: Sequence[Row], verdicts: Sequence[Verdict]) -> str:
    """The page with the tables of this run between its marks.

    Raises:
        ValueError: a mark is missing.
    """
    tables = {
        "floors": floor_lines(verdicts),
        "meaning": leg_lines(rows),
        "figures": figure_lines(rows),
    }
    for name, lines in tables.items():
        start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, started, rest = page.partition(start)
        _, ended, after = rest.partition(end)
        if not (started and ended):
            raise ValueError(f"the page has no place for {name}")
        page = "\n".join([before + start, *lines, "", end + after])
    return page


def floor_lines(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Figures beside their floors."""
    yield from _head("set, grain, haystack: part, measure, asked by", "reached", "floor", "aim")
    for one in verdicts:
        floor = one.floor
        aim = "" if floor.aim is None else f"{floor.aim:.3f}"
        yield f"| {floor.name} | {one.value:.3f} | {floor.least:.3f} | {aim} |"


def leg_lines(rows: Sequence[Row]) -> Iterator[str]:
    """The ways to ask beside each other, part by part; none for a part that only one way was asked of."""
    legs = [leg.name for leg in LEGS]
    found = {(row.series, row.part, row.leg): row for row in rows}
    yield from _head("set, grain, haystack: part, measure", *legs)
    for series, measure in COMPARED:
        for part in dict.fromkeys(row.part for row in rows if row.series == series):
            some = [found.get((series, part, leg)) for leg in legs]
            cells = [
                f"{row.figures[measure]:.3f}" if row and measure in row.figures else ""
                for row in some
            ]
            if sum(map(bool, cells)) > 1:
                yield f"| {', '.join(series)}: {part}, {measure} | {' | '.join(cells)} |"
    for series in dict.fromkeys(series for series, _ in COMPARED):
        some = [found.get((series, ALL, leg)) for leg in legs]
        if sum(map(bool, some)) > 1:
            cells = [f"{row.cpu_p50_ms:.0f}" if row else "" for row in some]
            yield f"| {', '.join(series)}: {ALL}, CPU ms p50 | {' | '.join(cells)} |"


def figure_lines(rows: Sequence[Row]) -> Iterator[str]:
    """All rows of a run."""
    columns = ("asked by", "questions", *COLUMNS, "CPU ms p50", "p95")
    yield from _head("set, grain, haystack: part", *columns)
    for row in rows:
        figures = [f"{row.figures[one]:.3f}" if one in row.figures else "" for one in COLUMNS]
        cpu = (f"{row.cpu_p50_ms:.0f}", f"{row.cpu_p95_ms:.0f}")
        name = f"{', '.join(row.series)}: {row.part}"
        yield f"| {' | '.join((name, row.leg, str(row.questions), *figures, *cpu))} |"


def _head(first: str, *others: str) -> Iterator[str]:
    yield f"| {' | '.join((first, *others))} |"
    yield f"| --- |{' ---: |' * len(others)}"
