"""How soon what an editor saves can be found, and what a server costs that only watches.

A real server over stdio on a generated vault. A save is timed from the moment the file is closed to the
first search that finds it, without the configured delay; searches follow each other closely, so that they
load the server as well. The idle figure is the CPU time of the server and its children with nobody asking.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.client import Server, call, children, connect
from benchmarks.measure import MEMORANDA, Figure, Report, environment, run
from benchmarks.vault import make_vault

DELAY_MS = 1000
_PATIENCE_S = 60.0
_POLL_S = 0.01
_WARM_UP = 3


def main(*, notes: int = 10_000, saves: int = 60, minutes: float = 10.0) -> int:
    """Measure on a vault of `notes`; returns how many figures are over."""
    return asyncio.run(_main(notes, saves, minutes))


async def _main(notes: int, saves: int, minutes: float) -> int:
    report = Report("live")
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as temporary:
        home = Path(temporary)
        vault = home / "vault"
        await asyncio.to_thread(make_vault, vault, notes)
        env = environment(home, {"main": vault}) | {"BASIC_MEMORY_SYNC_DELAY": str(DELAY_MS)}
        await asyncio.to_thread(run, [*MEMORANDA, "sync"], env, log=home / "sync.log")
        server = Server([*MEMORANDA, "mcp"], env, home / "server.log")
        async with connect(server) as (session, processes):
            await call(session, "search_notes", {"query": "warm"})
            state = home / "config" / "main" / "leader.json"
            folders = await _until_watched(state)
            report.put(Figure(f"watched: notes {notes}, folders", folders, ""))
            choose = random.Random(notes)
            files = choose.sample(await asyncio.to_thread(_notes, vault), _WARM_UP + saves)
            times = [await _save(session, file, number) for number, file in enumerate(files)]
            _put_saves(report, times[_WARM_UP:])
            if minutes:
                await _idle(report, processes, minutes)
    return report.over


async def _until_watched(state: Path) -> int:
    """Wait until the server's watcher works; returns how many folders it watches."""
    async with asyncio.timeout(_PATIENCE_S):
        while True:
            said = await asyncio.to_thread(_said, state)
            watch, sync = said.get("watch", {}), said.get("sync", {})
            if watch.get("mode") == "events" and watch.get("running") and sync.get("last_scan"):
                return int(watch["folders"])
            await asyncio.sleep(0.1)


def _said(state: Path) -> dict[str, Any]:
    """What the leader says of itself, nothing before it does."""
    try:
        said = json.loads(state.read_bytes())
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}


def _notes(vault: Path) -> list[Path]:
    return sorted(vault.rglob("*.md"))


async def _save(session: Any, file: Path, number: int) -> float:
    """Save a word that no note has, and search until it is found; returns seconds between both."""
    word = f"quokka{number}zephyr"
    await asyncio.sleep(
        random.Random(number).random() / 2
    )  # at no fixed phase of the server's steps
    _write(file, word, number)
    saved = time.perf_counter()
    while time.perf_counter() - saved < _PATIENCE_S:
        answer = await call(session, "search_notes", {"query": word, "page_size": 1})
        if any(file.stem in getattr(block, "text", "") for block in answer.content):
            return time.perf_counter() - saved
        await asyncio.sleep(_POLL_S)
    raise RuntimeError(f"{file.name} was not found within {_PATIENCE_S:.0f} s after it was saved")


def _write(file: Path, word: str, number: int) -> None:
    """As editors do: in place, or a temporary file that is renamed over the note."""
    content = file.read_bytes() + f"\nA line with {word} in it.\n".encode()
    if number % 2:
        temporary = file.with_name(f".{file.name}.swp")
        temporary.write_bytes(content)
        temporary.replace(file)
    else:
        file.write_bytes(content)


def _put_saves(report: Report, times: Sequence[float]) -> None:
    ms = sorted(1000 * each - DELAY_MS for each in times)
    note = f"{len(ms)} saves, without the delay of {DELAY_MS} ms"
    report.put(Figure("save to searchable: p50", statistics.median(ms), "ms", 300.0, note))
    p95 = statistics.quantiles(ms, n=20, method="inclusive")[-1] if len(ms) > 1 else ms[0]
    report.put(Figure("save to searchable: p95", p95, "ms", 1000.0))
    report.put(Figure("save to searchable: slowest", ms[-1], "ms"))


async def _idle(report: Report, processes: set[int], minutes: float) -> None:
    """CPU time of the server while nobody asks, its regular looks at the folder included."""
    await asyncio.sleep(5.0)  # what the last call began
    before, started = _cpu_s(processes), time.perf_counter()
    if before is None:
        report.put(Figure("idle: not measured, no /proc", 0.0, "%"))
        return
    await asyncio.sleep(60 * minutes)
    used, passed = (_cpu_s(processes) or 0.0) - before, time.perf_counter() - started
    note = f"{used:.2f} s of CPU in {passed:.0f} s"
    report.put(Figure("idle: share of a core", 100 * used / passed, "%", 0.3, note))


def _cpu_s(processes: set[int]) -> float | None:
    """User and system time of these, their children and those that ended; None without /proc."""
    ticks, waiting = 0, set(processes)
    while waiting:
        process = waiting.pop()
        try:
            status = Path(f"/proc/{process}/stat").read_text()
        except FileNotFoundError:
            continue
        fields = status.rpartition(")")[2].split()
        ticks += sum(int(field) for field in fields[11:15])
        waiting |= children(process)
    return ticks / os.sysconf("SC_CLK_TCK") if ticks else None
