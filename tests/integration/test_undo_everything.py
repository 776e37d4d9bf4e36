"""After a long session of two clients everything can be taken back: all bytes, all paths."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.integration.conftest import Index
from tests.integration.undo_world import CLAUDE, CURSOR, UndoWorld

from memoranda.errors import MemorandaError
from memoranda.files.clock import SystemClock
from memoranda.model.edit import Append, Edit, FindReplace, Prepend, SetMetadata
from memoranda.model.history import Author
from memoranda.model.undoing import UndoAction

STEPS = 200
FOLDERS = ("", "plans", "plans/old", "people")
WORDS = ("pump", "valve", "tank", "seal", "Überlauf", "水", "boiler", "filter")


class Session:
    """Random calls of the tools; one that is refused does not count."""

    def __init__(self, world: UndoWorld, seed: int) -> None:
        self.world = world
        self.random = random.Random(seed)
        self.done: Counter[str] = Counter()

    def notes(self) -> list[str]:
        return sorted(path for path in self.world.files() if path.endswith(".md"))

    def text(self) -> str:
        pick = self.random.choice
        lines = [f"{pick(WORDS)} {pick(WORDS)} {self.random.randrange(1000)}" for _ in range(4)]
        lines.append(f"- [fact] {pick(WORDS)} #{pick(WORDS)}")
        notes = self.notes()
        lines += [f"See [[{pick(notes).removesuffix('.md')}]]." for _ in range(2) if notes]
        return "\n".join(lines) + "\n"

    async def run(self, steps: int) -> None:
        kinds = {
            "write": self.write,
            "edit": self.edit,
            "move": self.move,
            "folder": self.move_folder,
            "delete": self.delete,
        }
        while self.done.total() < steps:
            (kind,) = self.random.choices(list(kinds), [5, 9, 4, 1, 2])
            by = self.random.choice([CLAUDE, CURSOR])
            try:
                await kinds[kind](by)
            except MemorandaError:
                continue
            self.done[kind] += 1

    async def write(self, by: Author) -> None:
        folder = self.random.choice(FOLDERS)
        name = f"{self.random.choice(WORDS)} {self.random.randrange(12)}"
        await self.world.put(f"{folder}/{name}.md" if folder else f"{name}.md", self.text(), by)

    async def edit(self, by: Author) -> None:
        edits: list[Edit] = [
            Append(self.text()),
            Prepend(self.text()),
            SetMetadata({"status": self.random.choice(WORDS)}),
            FindReplace(self.random.choice(WORDS), "changed"),
        ]
        name = self.random.choice(self.notes())
        await self.world.index.notes.edit(name, self.random.choice(edits), by=by)

    async def move(self, by: Author) -> None:
        folder = self.random.choice(FOLDERS)
        name = f"{self.random.choice(WORDS)} {self.random.randrange(12)}.md"
        source = self.random.choice(self.notes())
        await self.world.move(source, f"{folder}/{name}" if folder else name, by)

    async def move_folder(self, by: Author) -> None:
        folders = {path.rpartition("/")[0] for path in self.notes() if "/" in path}
        target = self.random.choice(["archive", "people", "plans", "archive/plans", "new"])
        await self.world.move(f"{self.random.choice(sorted(folders))}/", target, by)

    async def delete(self, by: Author) -> None:
        await self.world.delete(self.random.choice(self.notes()), by)


@pytest.fixture
async def world(index: Index) -> UndoWorld:
    generator = random.Random(5)
    for number in range(24):
        folder = FOLDERS[number % 4]
        lines = [f"# Note {number}", "", f"Next: [[Note {(number + 1) % 24}]]", "![](pic.png)"]
        lines += [f"{generator.choice(WORDS)} {generator.random():.6f}" for _ in range(6)]
        end = ("\n", "\r\n")[number % 2]
        path = f"{folder}/Note {number}.md" if folder else f"Note {number}.md"
        index.write(path, end.join(lines) + (end if number % 3 else ""))
    index.write("latin.md", "Caf\xe9 au lait\n- [fact] d\xe9j\xe0 vu\n".encode("latin-1"))
    index.write("people/pic.png", b"\x89PNG\0\0")
    index.write("plans/old/pic.png", b"\x89PNG\0\1")
    await index.sync.full_sync()
    return UndoWorld(index)


async def test_undo_of_everything_gives_every_byte_back(
    world: UndoWorld, make_index: Callable[..., Index]
) -> None:
    before, began = world.files(), SystemClock().now()
    session = Session(world, seed=1)
    await session.run(STEPS)
    assert min(session.done.values()) >= 3, session.done
    assert len(session.done) == 5, session.done
    after = world.files()
    clients = {change.author.client for change in world.index.history.changes(limit=1000)}
    assert clients == {"claude", "cursor"}

    result = await world.service.undo(since=began, by=CLAUDE)
    assert world.files() == before
    assert len(result.changes) >= STEPS
    assert not any(file.is_merged for file in result.files)

    rebuilt = make_index(world.root, name="rebuilt")
    await rebuilt.sync.full_sync()
    assert world.index.snapshot() == rebuilt.snapshot()

    redo = await world.undo(result.change_id or 0)
    assert world.files() == after
    assert {file.action for file in redo.files} >= {UndoAction.CREATED, UndoAction.REWRITTEN}
    await world.service.undo(since=began, by=CURSOR)
    assert world.files() == before


async def act(world: UndoWorld, by: Author, folder: str, rounds: range) -> None:
    """What one client does in a folder of its own, and on lines of its own in a note of both."""
    for number in rounds:
        note = f"{folder}/{by.client}-{number}.md"
        await world.put(note, f"# {number}\n\nwritten\n", by)
        await world.append(note, "- [fact] appended\n", by)
        await world.replace("shared.md", f"{by.client} line {number}\n", f"{number} done\n", by)
        if number % 3 == 0:
            await world.move(note, f"{folder}/moved/{number}.md", by)
        elif number % 3 == 1:
            await world.delete(note, by)


async def test_undo_of_one_client_leaves_what_the_other_did(
    make_index: Callable[..., Index], tmp_path: Path
) -> None:
    both, alone = (UndoWorld(make_index(tmp_path / name, name=name)) for name in ("both", "alone"))
    for world in (both, alone):
        lines = "".join(f"claude line {n}\ncursor line {n}\n" for n in range(9))
        world.index.write("shared.md", lines)
        await world.index.sync.full_sync()
    await act(both, CLAUDE, "plans", range(6))
    await act(both, CURSOR, "people", range(9))
    await act(both, CLAUDE, "ideas", range(6, 9))
    await act(alone, CURSOR, "people", range(9))

    result = await both.service.undo(client="Claude", by=CURSOR)
    assert both.files() == alone.files()
    assert both.index.snapshot()["link"] == alone.index.snapshot()["link"]
    merged = [file.path for file in result.files if file.is_merged]
    assert merged == ["shared.md"]
    assert {change.author for change in result.changes} == {CLAUDE}
