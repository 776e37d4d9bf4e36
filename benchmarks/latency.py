"""How long an assistant waits: start, first answer and single calls, over stdio.

Every figure is a ratio to a bare FastMCP server driven by the same client in the same run.
"""

from __future__ import annotations

import asyncio
import re
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.client import Server, call, connect
from benchmarks.measure import MEMORANDA, Figure, Report, environment, run
from benchmarks.vault import make_vault

_BLOCK = 10


def main(*, notes: int = 1000, repeat: int = 5, calls: int = 50) -> int:
    """Measure our server on a vault of `notes`; returns how many figures are over."""
    return asyncio.run(_main(notes, repeat, calls))


async def _main(notes: int, repeat: int, calls: int) -> int:
    import sys

    import mcp.client.stdio  # noqa: F401  the client's own import is not to be timed

    report = Report("latency")
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as temporary:
        home = Path(temporary)
        vault = home / "vault"
        make_vault(vault, notes)
        titles = await asyncio.to_thread(_titles, vault, calls)
        env = environment(home, {"main": vault})
        await asyncio.to_thread(run, [*MEMORANDA, "sync"], env, log=home / "sync.log")
        floor = Server(
            [sys.executable, str(Path(__file__).with_name("floor_server.py"))],
            env,
            home / "floor.log",
        )
        ours = Server([*MEMORANDA, "mcp"], env, home / "server.log")
        await _starts(report, floor, ours, repeat)
        await _calls(report, floor, ours, titles)
    return report.over


async def _starts(report: Report, floor: Server, ours: Server, repeat: int) -> None:
    """Alternating, so that a change of the machine's load meets both."""
    times: dict[str, list[float]] = {}
    for _ in range(repeat):
        for name, server in (("floor", floor), ("ours", ours)):
            initialize, first = await _start(server)
            times.setdefault(f"{name} initialize", []).append(initialize)
            times.setdefault(f"{name} first search", []).append(first)
    median = {name: statistics.median(values) for name, values in times.items()}
    for name, value in median.items():
        report.put(Figure(f"{name}: wall", value * 1000, "ms"))
    for step, most in (("initialize", 1.15), ("first search", 1.5)):
        ratio = median[f"ours {step}"] / median[f"floor {step}"]
        report.put(Figure(f"{step}, times a bare server", ratio, "x", most))


async def _start(server: Server) -> tuple[float, float]:
    started = time.perf_counter()
    async with connect(server) as (session, _):
        initialized = time.perf_counter() - started
        await call(session, "search_notes", {"query": "system memory"})
        return initialized, time.perf_counter() - started


async def _calls(report: Report, floor: Server, ours: Server, titles: Sequence[str]) -> None:
    jobs: dict[str, list[tuple[str, dict[str, Any]]]] = {
        "write_note": [("write_note", _new_note(i, title)) for i, title in enumerate(titles)],
        "search_notes": [
            ("search_notes", {"query": title, "search_type": "fts"}) for title in titles
        ],
        "read_note": [("read_note", {"path": title}) for title in titles],
        "build_context": [("build_context", {"path": title}) for title in titles],
    }
    async with connect(floor) as (bare, _), connect(ours) as (session, process):
        await call(session, "search_notes", {"query": "warm"})
        for name, job in jobs.items():
            floor_p50, p50 = await _medians(bare, session, job)
            report.put(
                Figure(f"{name}: p50", p50 * 1000, "ms", note=f"bare {floor_p50 * 1000:.2f} ms")
            )
            report.put(Figure(f"{name}, times a bare call", p50 / floor_p50, "x", 4.0))
        rss = await asyncio.to_thread(_rss_mb, process)
        if rss is not None:
            report.put(Figure("server after these calls: RSS", rss, "MB", 150.0))


def _new_note(number: int, title: str) -> dict[str, Any]:
    content = (
        f"A paragraph that an assistant would save, with a link to [[{title}]].\n\n"
        f"- [fact] Measured {number} times #bench\n- relates_to [[{title}]]\n"
    )
    return {"title": f"Bench {number}", "content": content, "directory": "bench", "tags": ["bench"]}


def _titles(vault: Path, most: int) -> list[str]:
    """File names without `.md`, every one a name that the server must find."""
    return [path.stem for path in sorted(vault.rglob("*.md"))[:most]]


async def _medians(
    bare: Any, session: Any, job: Sequence[tuple[str, dict[str, Any]]]
) -> tuple[float, float]:
    """Seconds of a bare call and of ours.

    Taken in turn by blocks: a change of load meets both alike, and neither wakes up for each call.
    """
    bare_times: list[float] = []
    times: list[float] = []
    for first in range(0, len(job), _BLOCK):
        block = job[first : first + _BLOCK]
        await _timed(bare, [("search_notes", {"query": "floor"})] * len(block), bare_times)
        await _timed(session, block, times)
    return statistics.median(bare_times), statistics.median(times)


async def _timed(
    session: Any, job: Sequence[tuple[str, dict[str, Any]]], times: list[float]
) -> None:
    for tool, arguments in job:
        started = time.perf_counter()
        await call(session, tool, arguments)
        times.append(time.perf_counter() - started)


def _rss_mb(processes: set[int]) -> float | None:
    """Resident memory of these processes, None where /proc does not tell."""
    total = 0.0
    for process in processes:
        status = Path(f"/proc/{process}/status")
        if found := re.search(r"VmRSS:\s+(\d+)", status.read_text()):
            total += int(found[1]) / 1024
    return total or None
