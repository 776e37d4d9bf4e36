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
from benchmarks.retrieval.legs import LEGS, MINILM, Leg
from benchmarks.retrieval.page import COLUMNS, filled
from benchmarks.retrieval.product import MODEL_VARIABLE, Answer, answers, indexed, models
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
    legs: Sequence[Leg] = LEGS,
    floors: Sequence[Floor] = FLOORS,
    results: Path = RESULTS,
    page: Path | None = None,
) -> int:
    """Measure the named sets, print the tables, keep the rows; the number of figures under their floor.

    Args:
        names: of `SETS`.
        legs: the ways to ask; those of a model that is not here are left out.
        floors: what is judged.
        results: folder for the rows.
        page: a page whose tables are to be those of this run, if all that has a floor was measured.
    """
    measured: list[Row] = []
    here = [leg for leg in legs if leg.model in models()]
    file = results / "retrieval.jsonl"
    print(f"\nretrieval  (load {os.getloadavg()[0]:.1f}, results in {file})")
    if len(here) < len(legs):
        print(f"  {MINILM} is not here, so it is left out: {MODEL_VARIABLE} names no folder")
    for name in names:
        started, cpu = time.perf_counter(), time.process_time()
        tasks = SETS[name]()
        if tasks is None:
            print(f"  {name}: its data is not here, so it is left out")
            continue
        measured += measure(tasks, here)
        took, worked = time.perf_counter() - started, time.process_time() - cpu
        print(f"  {name}: {took:.0f} s, CPU {worked:.0f} s", flush=True)
    judged = list(verdicts(measured, floors))
    _keep(measured, file)
    print(*_table(measured), "", *_verdict_table(judged), sep="\n")
    if page is not None and len(judged) == len(floors):
        text = page.read_text(encoding="utf-8")
        page.write_text(filled(text, measured, judged), encoding="utf-8", newline="")
    elif page is not None:
        print(f"\n{page.name} is left as it is: not everything was measured")
    return sum(one.is_under for one in judged)


def measure(tasks: Sequence[Task], legs: Sequence[Leg] = LEGS) -> list[Row]:
    """The rows of each series and way to ask, in their order; each vault is indexed once a model."""
    got: dict[tuple[Series, str], list[Answer]] = {
        (task.series, leg.name): [] for task in tasks for leg in legs if _is_asked(task, leg)
    }
    for languages in dict.fromkeys(task.vault.languages for task in tasks):
        some = [task for task in tasks if task.vault.languages == languages]
        for model in dict.fromkeys(leg.model for leg in legs):
            asked = [
                (task, leg)
                for leg in legs
                for task in some
                if leg.model == model and _is_asked(task, leg)
            ]
            if asked:
                for (task, leg), found in asyncio.run(_answers(asked, languages, model)):
                    got[task.series, leg.name] += found
    return [row for (series, leg), found in got.items() for row in rows(series, found, leg)]


def _is_asked(task: Task, leg: Leg) -> bool:
    return task.by_meaning or not leg.model


async def _answers(
    asked: Sequence[tuple[Task, Leg]], languages: Sequence[str], model: str
) -> list[tuple[tuple[Task, Leg], list[Answer]]]:
    vaults = {task.vault.name: task.vault for task, _ in asked}
    async with indexed(list(vaults.values()), languages=languages, model=model) as services:
        return [
            ((task, leg), await answers(task, services[task.vault.name], leg))
            for task, leg in asked
        ]


def _table(measured: Sequence[Row]) -> Iterator[str]:
    head = "".join(f"{name:>10}" for name in COLUMNS)
    yield f"\n  {'set, grain, haystack: part, asked by':<70}{'asked':>6}{head}{'CPU ms p50':>12}{'p95':>7}"
    for row in measured:
        name = f"{', '.join(row.series)}: {row.part}, {row.leg}"
        cells = "".join(
            f"{row.figures[column]:>10.3f}" if column in row.figures else f"{'':>10}"
            for column in COLUMNS
        )
        yield (
            f"  {name:<70}{row.questions:>6}{cells}{row.cpu_p50_ms:>12.1f}{row.cpu_p95_ms:>7.1f}"
        )


def _verdict_table(judged: Sequence[Verdict]) -> Iterator[str]:
    yield f"  {'figure':<82}{'value':>7}{'floor':>7}{'aim':>7}  reached"
    for one in judged:
        floor = one.floor
        aim = "" if floor.aim is None else f"{floor.aim:.3f}"
        yield f"  {floor.name:<82}{one.value:>7.3f}{floor.least:>7.3f}{aim:>7}  {one.word}"


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
