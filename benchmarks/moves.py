"""Notes and folders of real vaults moved at random: what becomes of their links, and what a move costs.

Works on copies. Every move is checked with means of its own: links are counted in the database, and what
changed in a file must be the links that the move says it rewrote. In the end all of it is undone. The
places are random, the seed is not.
"""

from __future__ import annotations

import asyncio
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import text
from tests.integration.move_check import unexplained

from benchmarks.measure import Figure, Report
from benchmarks.vault import make_vault, shared_folder
from memoranda.errors import MemorandaError
from memoranda.files.clock import SystemClock
from memoranda.model.history import Author
from memoranda.model.moves import MoveResult
from memoranda.model.project import Project
from memoranda.places.sqlite import open_at
from memoranda.services.moving import MoveService
from memoranda.workspace import Workspace, assemble

VAULTS = ("silverbullet-docs", "obsidian-tasks")
_NOTES = 50
_FOLDERS = 5
_SEED = 20261130
_LARGE = 10_000
_CPU_MS = 100.0
_AUTHOR = Author("benchmark", tool="move_note")
_LINKS = """SELECT s.external_id, l.ordinal, t.external_id FROM link l
    JOIN entity s ON s.id = l.entity_id JOIN entity t ON t.id = l.to_id"""


@dataclass(slots=True)
class Tried:
    """What the moves of one vault did; `cpu_ms`: of each."""

    cpu_ms: list[float] = field(default_factory=list)
    folder_cpu_ms: list[float] = field(default_factory=list)
    rewritten: int = 0
    left: int = 0
    refused: int = 0
    strange: list[str] = field(default_factory=list)
    changed_meaning: int = 0


def main(*, large: int = _LARGE) -> int:
    """Move things in every vault; returns how many figures are over."""
    report = Report("moves")
    for name in VAULTS:
        vault = shared_folder() / "vaults" / name
        if not vault.is_dir():
            print(f"  {name}: not here")
            continue
        with tempfile.TemporaryDirectory(prefix="memoranda-moves-") as folder:
            shutil.copytree(vault, Path(folder) / "notes", symlinks=True)
            asyncio.run(_put_vault(report, name, Path(folder)))
    if large:
        with tempfile.TemporaryDirectory(prefix="memoranda-moves-") as folder:
            make_vault(Path(folder) / "notes", large)
            asyncio.run(_put_large(report, large, Path(folder)))
    return report.over


async def _put_vault(report: Report, name: str, place: Path) -> None:
    workspace = _opened(place)
    try:
        await workspace.sync.full_sync()
        original = _tree(place / "notes")
        before = _links(workspace)
        tried = await _moved(workspace, place / "notes")
        after = _links(workspace)
        lost = sum(after.get(at) != target for at, target in before.items())
        report.put(Figure(f"{name}: resolved links", len(after), "", note=f"{len(before)} before"))
        report.put(Figure(f"{name}: links that changed their meaning", lost, "", 0))
        report.put(Figure(f"{name}: resolved links more", len(after) - len(before), "", 0))
        report.put(
            Figure(
                f"{name}: files changed outside their links",
                len(tried.strange),
                "",
                0,
                "; ".join(tried.strange[:3]),
            )
        )
        report.put(Figure(f"{name}: links rewritten", tried.rewritten, ""))
        report.put(Figure(f"{name}: links left broken", tried.left, "", 0))
        report.put(Figure(f"{name}: moves refused", tried.refused, "", 0))
        _put_cpu(report, f"{name}: a note", tried.cpu_ms)
        _put_cpu(report, f"{name}: a folder", tried.folder_cpu_ms)
        await workspace.sync.full_sync()
        again = _links(workspace)
        report.put(
            Figure(f"{name}: links another sync sees otherwise", _differ(after, again), "", 0)
        )
        await workspace.undo.undo(client=_AUTHOR.client)
        undone = _tree(place / "notes")
        differing = {path for path, _ in original.items() ^ undone.items()}
        report.put(Figure(f"{name}: files not as before after an undo", len(differing), "", 0))
        differ = _differ(before, _links(workspace))
        report.put(Figure(f"{name}: links not as before after an undo", differ, "", 0))
    finally:
        await workspace.aclose()


async def _put_large(report: Report, notes: int, place: Path) -> None:
    """One note after the other in a large vault."""
    workspace = _opened(place)
    try:
        await workspace.sync.full_sync()
        choose = random.Random(_SEED)
        service = workspace.moves
        tried = Tried()
        for number in range(_NOTES):
            source, to = _note_move(choose, place / "notes", number)
            await _move(service, source, to, tried.cpu_ms)
        _put_cpu(report, f"{notes:,} notes: a note", tried.cpu_ms, most=_CPU_MS)
    finally:
        await workspace.aclose()


async def _moved(workspace: Workspace, root: Path) -> Tried:
    choose = random.Random(_SEED)
    service = workspace.moves
    tried = Tried()
    for number in range(_NOTES + _FOLDERS):
        is_folder = number >= _NOTES
        source, to = (_folder_move if is_folder else _note_move)(choose, root, number)
        before = _tree(root)
        links = _links(workspace)
        times = tried.folder_cpu_ms if is_folder else tried.cpu_ms
        try:
            result = await _move(service, source, to, times)
        except MemorandaError as error:
            tried.refused += 1
            print(f"  {source} -> {to}: {error.message}")
            continue
        tried.rewritten += len(result.links)
        tried.left += len(result.left)
        tried.strange += _strange(before, _tree(root), result)
        now = _links(workspace)
        if differ := _differ(links, now):
            tried.changed_meaning += differ
            print(f"  {source} -> {to}: {differ} links mean something else")
        for one in result.left:
            print(f"  {one.path}:{one.line}: {one.target!r} is left, {one.reason}")
    return tried


async def _move(service: MoveService, source: str, to: str, times: list[float]) -> MoveResult:
    started = time.process_time()
    result = await service.move(source, to, by=_AUTHOR)
    times.append((time.process_time() - started) * 1000)
    return result


def _note_move(choose: random.Random, root: Path, number: int) -> tuple[str, str]:
    notes = sorted(path for path in root.rglob("*.md") if not _is_hidden(path, root))
    note = choose.choice(notes)
    while True:
        place = _folder(choose, root, number)
        name = note.name if choose.random() < 0.5 else f"Moved {number} (new).md"
        to = f"{place}/{name}".lstrip("/")
        if not (root / to).exists():
            return note.relative_to(root).as_posix(), to


def _folder_move(choose: random.Random, root: Path, number: int) -> tuple[str, str]:
    folders = [path.relative_to(root).as_posix() for path in _folders(root)]
    source = choose.choice(folders)
    while True:
        place = _folder(choose, root, number)
        if not f"{place}/".startswith(f"{source}/"):
            return f"{source}/", f"{place}/Moved folder {number}".lstrip("/")


def _folder(choose: random.Random, root: Path, number: int) -> str:
    folders = [path.relative_to(root).as_posix() for path in _folders(root)]
    return choose.choice(["", f"New {number}/deep", *folders])


def _folders(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_dir() and not _is_hidden(path, root))


def _is_hidden(path: Path, root: Path) -> bool:
    return any(part[0] == "." or part == "node_modules" for part in path.relative_to(root).parts)


def _strange(before: dict[str, bytes], after: dict[str, bytes], result: MoveResult) -> list[str]:
    """Files that are not what they were but for their place and the links that are said to be rewritten."""
    was = {note.to_path: str(note.from_path) for note in result.notes}
    strange: list[str] = []
    seen: set[str] = set()
    for path, data in after.items():
        old = was.get(path, path)  # type: ignore[call-overload]
        if result.is_folder and path.startswith(f"{result.destination}/") and path not in was:
            old = f"{result.source}{path[len(result.destination) :]}"
        seen.add(old)
        if before.get(old) == data:
            continue
        links = [link for link in result.links if link.path == path]
        if old not in before or unexplained(before[old].decode(), data.decode(), links):
            strange.append(path)
    return strange + sorted(before.keys() - seen)


def _put_cpu(report: Report, what: str, times: Sequence[float], most: float | None = None) -> None:
    if times:
        largest = f"largest {max(times):,.0f} ms"
        report.put(
            Figure(f"{what}: CPU, median", statistics.median(times), "ms", most, note=largest)
        )


def _differ(one: dict[tuple[str, int], str], other: dict[tuple[str, int], str]) -> int:
    return len(set(one.items()) ^ set(other.items()))


def _links(workspace: Workspace) -> dict[tuple[str, int], str]:
    rows = workspace.store.read_now(lambda tx: tx.conn.execute(text(_LINKS)).all())
    return {(source, ordinal): target for source, ordinal, target in rows}


def _tree(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file()
    }


def _opened(place: Path) -> Workspace:
    home = place / "config"
    home.mkdir()
    clock, project = SystemClock(), Project("main", "main", place / "notes")
    return assemble(project, open_at(home / "memory.db", project, clock), home, clock)
