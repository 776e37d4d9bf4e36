"""Many calls at once, over one stdio connection: none fails, none hangs, nothing that was written is lost."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from typing import Any

from benchmarks.client import call, cpu_s
from benchmarks.latency_calls import Call, Vault, appended, new_note, path_of
from benchmarks.measure import Figure, Report
from benchmarks.queries import query_mix

_CALLS = 1000
_SHARED = 17
_AT_ONCE = 16


async def measure_parallel(
    report: Report, session: Any, processes: set[int], vault: Vault, calls: int = _CALLS
) -> None:
    """As many mixed calls as a client has under way at a time, then all of them at once."""
    for name, at_once in ((f"{_AT_ONCE} at a time", _AT_ONCE), ("all at once", calls)):
        run = f"Parallel {at_once}"
        jobs = await asyncio.to_thread(_mixed, vault, run, calls)
        for i in range(_SHARED):
            await call(session, "write_note", new_note(f"{run} shared {i}", "nothing yet"))
        before, started = cpu_s(processes), time.perf_counter()
        failed = await _all(session, jobs, at_once)
        wall, cpu = time.perf_counter() - started, cpu_s(processes) - before
        what = f"{calls:,} mixed calls, {name}"
        note = f"{wall:.1f} s, CPU {cpu * 1000 / calls:.1f} ms a call"
        report.put(Figure(f"{what}: a second", calls / wall, "", note=note))
        report.put(Figure(f"{what}: errors", len(failed), "", 0.0, note="; ".join(failed[:3])))
        lost = await asyncio.to_thread(_lost, vault, jobs)
        report.put(Figure(f"{what}: writes lost", len(lost), "", 0.0, note="; ".join(lost[:3])))


def _mixed(vault: Vault, run: str, count: int) -> list[Call]:
    """Of a hundred calls 30 read, 15 list, 10 gather, 15 search, 15 write and 15 append to shared notes."""
    choose = random.Random(run)
    titles = vault.titles(count)
    mix = query_mix(vault.database, count)
    words, sentences = mix.words, mix.sentences
    folders = ["", *vault.folders()]
    jobs: list[Call] = []
    for i in range(count):
        title = titles[i % len(titles)]
        match i % 20:
            case 0 | 1 | 2 | 3 | 4 | 5:
                job: Call = "read_note", {"path": title}
            case 6 | 7:
                job = "list_directory", {"path": choose.choice(folders)}
            case 8:
                job = "recent_activity", {"timeframe": "7d"}
            case 9 | 10:
                job = "build_context", {"path": title}
            case 11 | 12:
                job = "search_notes", {"query": words[i % len(words)], "search_type": "fts"}
            case 13:
                job = "search_notes", {"query": sentences[i % len(sentences)]}
            case 14 | 15 | 16:
                job = "write_note", new_note(f"{run} new {i}", title)
            case _:
                job = appended(f"{run} shared {i % _SHARED}", f"line {i} of {run}")
        jobs.append(job)
    choose.shuffle(jobs)
    return jobs


async def _all(session: Any, jobs: Sequence[Call], at_once: int) -> list[str]:
    """Make all calls, so many at a time; returns what went wrong."""
    places = asyncio.Semaphore(at_once)

    async def one(tool: str, arguments: dict[str, Any]) -> str:
        async with places:
            try:
                result = await session.call_tool(tool, arguments)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is counted
                return f"{tool}: {error!r}"
        return f"{tool}: {result.content[0].text}" if result.is_error else ""

    said = await asyncio.gather(*(one(tool, arguments) for tool, arguments in jobs))
    return [failure for failure in said if failure]


def _lost(vault: Vault, jobs: Sequence[Call]) -> list[str]:
    """The notes and lines that are not in the folder exactly once."""
    lost: list[str] = []
    for tool, arguments in jobs:
        if tool == "write_note":
            file = vault.folder / path_of(arguments["title"])
            if not file.is_file() or arguments["content"].strip() not in file.read_text("utf-8"):
                lost.append(file.name)
        elif tool == "edit_note":
            text = (vault.folder / arguments["path"]).read_text("utf-8")
            if text.count(arguments["content_updates"]) != 1:
                lost.append(arguments["content_updates"].strip())
    return lost
