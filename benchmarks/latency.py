"""How long an assistant waits: start, first answer and single calls, over stdio.

Every figure is a ratio to a bare FastMCP server driven by the same client in the same run. Servers on
vaults of several sizes run beside each other, so that what grows with a vault is seen as well. Nothing is
measured before all notes have their vectors, the similarities are calibrated and the servers are idle.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.client import Server, call, connect, until_idle
from benchmarks.latency_calls import Vault, measure_calls
from benchmarks.latency_parallel import measure_parallel
from benchmarks.measure import MEMORANDA, Figure, Report, environment, run
from benchmarks.vault import make_vault

SIZES = (1000, 10_000)


def main(*, sizes: Sequence[int] = SIZES, repeat: int = 5, calls: int = 100) -> int:
    """Measure our server on vaults of these sizes; returns how many figures are over.

    Args:
        sizes: notes of each vault, the largest last: the targets are those of the largest.
        repeat: how often the servers are started.
        calls: how many of each kind.
    """
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as temporary:
        homes = [prepared(Path(temporary) / str(size), size) for size in sizes]
        return asyncio.run(measure(homes, repeat, calls))


@dataclass(frozen=True, slots=True)
class Home:
    """A private home with one project, `main`, that is indexed and embedded."""

    folder: Path
    notes: int

    @property
    def env(self) -> Mapping[str, str]:
        """Of a process that is to use it."""
        return environment(self.folder, {"main": self.folder / "vault"})

    @property
    def server(self) -> Server:
        """Our server."""
        return Server([*MEMORANDA, "mcp"], self.env, self.folder / "server.log")

    @property
    def floor(self) -> Server:
        """The smallest server there can be."""
        script = Path(__file__).with_name("floor_server.py")
        return Server([sys.executable, str(script)], self.env, self.folder / "floor.log")

    @property
    def vault(self) -> Vault:
        """What calls are made of."""
        return Vault(self.folder / "vault", self.folder / "config" / "main" / "memory.db")


async def measure(homes: Sequence[Home], repeat: int, calls: int) -> int:
    """Measure servers on these homes, the largest last; returns how many figures are over."""
    import mcp.client.stdio  # noqa: F401  the client's own import is not to be timed

    report = Report("latency")
    smallest, largest = homes[0], homes[-1]
    if repeat:
        await _starts(report, smallest, repeat)
    async with contextlib.AsyncExitStack() as stack:
        floor = await stack.enter_async_context(connect(largest.floor))
        ours = {home.notes: await stack.enter_async_context(connect(home.server)) for home in homes}
        for session, processes in ours.values():
            await call(session, "search_notes", {"query": "what is warm"})
            await until_idle(processes)
        vaults = {home.notes: home.vault for home in homes}
        await measure_calls(report, floor, ours, vaults, calls)
    async with connect(largest.server) as (session, processes):
        await call(session, "search_notes", {"query": "what is warm"})
        await until_idle(processes)
        await measure_parallel(report, session, processes, largest.vault)
    return report.over


def prepared(home: Path, notes: int) -> Home:
    """A vault of so many notes, indexed, embedded and calibrated."""
    made = Home(home, notes)
    home.mkdir()
    make_vault(home / "vault", notes)
    run([*MEMORANDA, "sync"], made.env, log=home / "sync.log")
    said = subprocess.run(
        [*MEMORANDA, "status", "--json"], env=dict(made.env), check=True, capture_output=True
    )
    [project] = json.loads(said.stdout)["projects"]
    if not (project["meaning"] and project["meaning"]["is_complete"]):
        raise RuntimeError(f"Not all notes have vectors: {project['meaning']}")
    return made


async def _starts(report: Report, home: Home, repeat: int) -> None:
    """Alternating, so that a change of the machine's load meets both."""
    times: dict[str, list[float]] = {}
    for _ in range(repeat):
        for name, server in (("floor", home.floor), ("ours", home.server)):
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
