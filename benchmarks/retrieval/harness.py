"""What the search finds: public sets and our own through the product's own search, beside their floors.

A floor that is not reached fails the run. Processor time is shown and never judged.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.measure import RESULTS
from benchmarks.retrieval import docs_qa, locomo, multilingual
from benchmarks.retrieval.floors import FLOORS, Floor, Verdict, verdicts
from benchmarks.retrieval.page import COLUMNS, filled
from benchmarks.retrieval.product import Answer, answers, indexed
from benchmarks.retrieval.scores import Row, rows
from benchmarks.retrieval.tasks import Series, Task
from benchmarks.vault import ROOT

SETS: dict[str, Callable[[], Sequence[Task] | None]] = {
    "locomo": locomo.tasks,
    "docs": docs_qa.tasks,
    "multilingual": multilingual.tasks,
}
"""What makes the tasks of a set; it gives None when what they need is not here."""

FREE_SETS = ("docs", "multilingual")
"""Sets that are part of the repository."""

PAGE = ROOT / "docs" / "explanation" / "retrieval.md"


def main(
    names: Sequence[str] = tuple(SETS),
    *,
    floors: Sequence[Floor] = FLOORS,
    results: Path = RESULTS,
    page: Path | None = None,
) -> int:
    """Measure the named sets, print the tables, keep the rows; the number of figures under their floor.

    `page`: a page whose tables are to be those of this run, if all that has a floor was measured.
    """
    measured: list[Row] = []
    file = results / "retrieval.jsonl"
    print(f"\nretrieval  (load {os.getloadavg()[0]:.1f}, results in {file})")
    for name in names:
        started = time.perf_counter()
        tasks = SETS[name]()
        if tasks is None:
            print(f"  {name}: its data is not here, so it is left out")
            continue
        measured += measure(tasks)
        print(f"  {name}: {time.perf_counter() - started:.0f} s", flush=True)
    judged = list(verdicts(measured, floors))
    _keep(measured, file)
    print(*_table(measured), "", *_verdict_table(judged), sep="\n")
    if page is not None and len(judged) == len(floors):
        text = page.read_text(encoding="utf-8")
        page.write_text(filled(text, measured, judged), encoding="utf-8", newline="")
    elif page is not None:
        print(f"\n{page.name} is left as it is: not everything was measured")
    return sum(one.is_under for one in judged)


def measure(tasks: Sequence[Task]) -> list[Row]:
    """The rows of each series, in the order of the tasks; each vault is indexed once."""
    got: dict[Series, list[Answer]] = {task.series: [] for task in tasks}
    for languages in dict.fromkeys(task.vault.languages for task in tasks):
        some = [task for task in tasks if task.vault.languages == languages]
        for task, found in asyncio.run(_asked(some, languages)):
            got[task.series] += found
    return [row for series, found in got.items() for row in rows(series, found)]


async def _asked(
    tasks: Sequence[Task], languages: Sequence[str]
) -> list[tuple[Task, list[Answer]]]:
    vaults = {task.vault.name: task.vault for task in tasks}
    async with indexed(list(vaults.values()), languages=languages) as services:
        return [(task, await answers(task, services[task.vault.name])) for task in tasks]


def _table(measured: Sequence[Row]) -> Iterator[str]:
    head = "".join(f"{name:>10}" for name in COLUMNS)
    yield f"\n  {'set, grain, haystack: part':<60}{'asked':>6}{head}{'CPU ms p50':>12}{'p95':>7}"
    for row in measured:
        name = f"{', '.join(row.series)}: {row.part}"
        cells = "".join(
            f"{row.figures[column]:>10.3f}" if column in row.figures else f"{'':>10}"
            for column in COLUMNS
        )
        yield (
            f"  {name:<60}{row.questions:>6}{cells}{row.cpu_p50_ms:>12.1f}{row.cpu_p95_ms:>7.1f}"
        )


def _verdict_table(judged: Sequence[Verdict]) -> Iterator[str]:
    yield f"  {'figure':<66}{'value':>7}{'floor':>7}{'aim':>7}  reached"
    for one in judged:
        floor = one.floor
        name = f"{', '.join(floor.series)}: {floor.part}, {floor.measure}"
        aim = "" if floor.aim is None else f"{floor.aim:.3f}"
        yield f"  {name:<66}{one.value:>7.3f}{floor.least:>7.3f}{aim:>7}  {one.word}"


def _keep(measured: Sequence[Row], file: Path) -> None:
    run = {
        "run": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "load": os.getloadavg()[0],
        "python": sys.version.split()[0],
    }
    file.parent.mkdir(exist_ok=True)
    with file.open("a", encoding="utf-8") as lines:
        lines.writelines(json.dumps(_record(row) | run) + "\n" for row in measured)


def _record(row: Row) -> dict[str, Any]:
    values = asdict(row)
    return {**row.series._asdict(), **{key: values[key] for key in values if key != "series"}}
