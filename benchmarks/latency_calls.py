"""Single calls of every tool, over stdio, against a bare server and on vaults of several sizes."""

from __future__ import annotations

import asyncio
import random
import re
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.client import call, cpu_s
from benchmarks.measure import Figure, Report
from benchmarks.queries import query_mix

Call = tuple[str, dict[str, Any]]
Connection = tuple[Any, set[int]]
"""A client session and the processes of its server."""

_BLOCK = 10
_WARM_UP = 10
_FLOOR: Call = ("search_notes", {"query": "floor"})
_GROWTH = 1.3
FOLDER = "bench"


@dataclass(frozen=True, slots=True)
class Vault:
    """A folder of notes and the database of its index."""

    folder: Path
    database: Path

    def titles(self, most: int) -> list[str]:
        """File names without `.md` from all over the vault, each a name that the server must find."""
        files = sorted(path.stem for path in self.folder.rglob("*.md"))
        return random.Random(most).sample(files, min(most, len(files)))

    def folders(self) -> list[str]:
        """Folders that hold notes, as paths from the root."""
        found = {path.parent.relative_to(self.folder) for path in self.folder.rglob("*.md")}
        return sorted(folder.as_posix() for folder in found if folder.parts)


@dataclass(frozen=True, slots=True)
class Job:
    """Calls of one kind, and how many times a bare call they may take."""

    name: str
    most: float
    calls: Sequence[Call]

    @property
    def is_reading(self) -> bool:
        """Whether a call changes nothing."""
        return self.calls[0][0] not in {"write_note", "edit_note"}


@dataclass(slots=True)
class Taken:
    """What the calls of a job took."""

    wall_s: list[float] = field(default_factory=list)
    cpu_s: float = 0.0

    @property
    def p50_ms(self) -> float:
        """Half of the calls took less."""
        return statistics.median(self.wall_s) * 1000

    @property
    def p95_ms(self) -> float:
        """One call in twenty took longer."""
        return statistics.quantiles(self.wall_s, n=20)[-1] * 1000

    @property
    def cpu_ms(self) -> float:
        """Of the server for one call, on average."""
        return self.cpu_s * 1000 / len(self.wall_s)


async def measure_calls(
    report: Report,
    floor: Connection,
    ours: Mapping[int, Connection],
    vaults: Mapping[int, Vault],
    count: int,
) -> None:
    """Call every tool `count` times on each vault.

    Args:
        report: gets the figures; the targets are those of the largest vault.
        floor: a bare server.
        ours: size of a vault -> our server on it, the largest last.
        vaults: by the same sizes.
        count: calls of each kind.
    """
    jobs = {size: await asyncio.to_thread(_jobs, vaults[size], count) for size in ours}
    sizes = list(ours)
    await carry_out(
        floor, [_FLOOR] * _BLOCK, Taken()
    )  # the first call of a server is not like others
    for size in sizes:
        await carry_out(ours[size], [job.calls[0] for job in jobs[size] if job.is_reading], Taken())
    for number, job in enumerate(jobs[sizes[-1]]):
        calls = {size: jobs[size][number].calls for size in sizes}
        bare, taken = await _by_turns(floor, ours, calls)
        largest = taken[sizes[-1]]
        for size, one in taken.items():
            report.put(
                Figure(
                    f"{job.name}, {size:,} notes: p50",
                    one.p50_ms,
                    "ms",
                    note=f"p95 {one.p95_ms:.2f} ms; CPU {one.cpu_ms:.2f} ms",
                )
            )
        note = f"p95 {bare.p95_ms:.2f} ms; CPU {bare.cpu_ms:.2f} ms"
        report.put(Figure(f"{job.name}, a bare call: p50", bare.p50_ms, "ms", note=note))
        ratio = f"{job.name}, times a bare call"
        report.put(Figure(ratio, largest.p50_ms / bare.p50_ms, "x", job.most))
        report.put(Figure(f"{ratio}, CPU", largest.cpu_ms / bare.cpu_ms, "x"))
        if len(sizes) > 1:
            smallest = taken[sizes[0]]
            of = f"{job.name}, {sizes[-1]:,} against {sizes[0]:,} notes"
            report.put(Figure(of, largest.p50_ms / smallest.p50_ms, "x", _GROWTH))
            report.put(Figure(f"{of}, CPU", largest.cpu_ms / smallest.cpu_ms, "x"))
    for size, (_, processes) in ours.items():
        if (rss := await asyncio.to_thread(_rss_mb, processes)) is not None:
            report.put(Figure(f"server after these calls, {size:,} notes: RSS", rss, "MB", 150.0))


def _jobs(vault: Vault, count: int) -> list[Job]:
    """What reads first: what is written is indexed and embedded in the background as well."""
    titles = vault.titles(count)
    mix = query_mix(vault.database, count)
    folders = ["", *vault.folders()]

    def searches(queries: Sequence[str], kind: str) -> list[Call]:
        return [("search_notes", {"query": query, "search_type": kind}) for query in queries]

    return [
        Job("read_note", 3, [("read_note", {"path": title}) for title in titles]),
        Job(
            "list_directory",
            3,
            [("list_directory", {"path": folders[i % len(folders)]}) for i in range(count)],
        ),
        Job("list_directory of the root", 3, [("list_directory", {})] * count),
        Job("recent_activity", 3, [("recent_activity", {"timeframe": "7d"})] * count),
        Job("build_context", 3, [("build_context", {"path": title}) for title in titles]),
        Job("search by words", 3, searches(mix.words, "fts")),
        Job("search for a title", 3, searches(titles, "fts")),
        Job("hybrid search", 8, searches(mix.words, "hybrid")),
        Job("question", 8, searches(mix.sentences, "hybrid")),
        Job(
            "write_note",
            4,
            [("write_note", new_note(f"Bench {i}", title)) for i, title in enumerate(titles)],
        ),
        Job("edit_note", 4, [appended(f"Bench {i}", f"more {i}") for i in range(len(titles))]),
    ]


def new_note(title: str, linked: str) -> dict[str, Any]:
    """Arguments of `write_note`."""
    content = (
        f"A paragraph that an assistant would save, with a link to [[{linked}]].\n\n"
        f"- [fact] Measured as {title} #bench\n- relates_to [[{linked}]]\n"
    )
    return {"title": title, "content": content, "directory": FOLDER, "tags": ["bench"]}


def path_of(title: str) -> str:
    """Where `new_note` puts a note with this title."""
    return f"{FOLDER}/{title.lower().replace(' ', '-')}.md"


def appended(title: str, text: str) -> Call:
    """One more fact at the end of a note that `new_note` made."""
    updates = f"- [fact] {text} #bench\n"
    arguments = {"path": path_of(title), "operation": "append", "content_updates": updates}
    return "edit_note", arguments


async def _by_turns(
    floor: Connection, ours: Mapping[int, Connection], calls: Mapping[int, Sequence[Call]]
) -> tuple[Taken, dict[int, Taken]]:
    """The bare server, then ours on each vault, block by block.

    A change of load meets all alike, and none wakes up for each call.
    """
    bare, taken = Taken(), {size: Taken() for size in ours}
    count = max(map(len, calls.values()))
    for first in range(0, count, _BLOCK):
        block = slice(first, first + _BLOCK)
        await carry_out(floor, [_FLOOR] * len(range(count)[block]), bare)
        for size, connection in ours.items():
            await carry_out(connection, calls[size][block], taken[size])
    return bare, taken


async def carry_out(connection: Connection, calls: Sequence[Call], taken: Taken) -> None:
    """Call one after the other, and add up what they took."""
    session, processes = connection
    before = cpu_s(processes)
    for tool, arguments in calls:
        started = time.perf_counter()
        await call(session, tool, arguments)
        taken.wall_s.append(time.perf_counter() - started)
    taken.cpu_s += cpu_s(processes) - before


def _rss_mb(processes: set[int]) -> float | None:
    """Resident memory of these processes, None where /proc does not tell."""
    total = 0.0
    for process in processes:
        status = Path(f"/proc/{process}/status")
        if found := re.search(r"VmRSS:\s+(\d+)", status.read_text()):
            total += int(found[1]) / 1024
    return total or None
