"""Three clients and a user with editors, who all change one folder of notes at random."""

from __future__ import annotations

import os
import random
import shutil
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.live.client import Server

_SMALL_FOLDER = 30
"""Notes. Larger folders are not renamed: that would be all there is to do."""


class Names:
    """The notes that there should be, as far as those who change them know. Thread-safe."""

    def __init__(self, root: Path) -> None:
        self._lock = threading.Lock()
        self._paths = sorted(file.relative_to(root).as_posix() for file in root.rglob("*.md"))

    def any(self, chance: random.Random) -> str:
        with self._lock:
            return chance.choice(self._paths)

    def any_folder(self, chance: random.Random) -> str:
        return self.any(chance).rpartition("/")[0]

    def inside(self, folder: str) -> int:
        """How many notes are inside a folder."""
        with self._lock:
            return sum(path.startswith(f"{folder}/") for path in self._paths)

    def came(self, path: str) -> None:
        with self._lock:
            if path not in self._paths:
                self._paths.append(path)

    def went(self, path: str) -> None:
        """Forget one; the last ones stay, so that there is always something to do."""
        with self._lock:
            if path in self._paths and len(self._paths) > 1:
                self._paths.remove(path)

    def renamed(self, old: str, new: str) -> None:
        """A folder has another name."""
        with self._lock:
            self._paths = [
                new + path[len(old) :] if path.startswith(f"{old}/") else path
                for path in self._paths
            ]


@dataclass
class Client:
    """An assistant: it writes, reads and searches through its server, one call after the other.

    Attributes:
        answers: how often which code was answered, "" for done.
    """

    server: Server
    names: Names
    chance: random.Random
    answers: Counter[str] = field(default_factory=Counter)
    bad: list[str] = field(default_factory=list)
    _turn: int = 0

    EXPECTED = frozenset({"", "NOTE_NOT_FOUND", "CONFLICT", "NOTE_EXISTS"})
    """What may come of a call when others move, delete and save the same notes."""

    def work(self, over: threading.Event) -> None:
        """Until it is over."""
        while not over.is_set():
            self._turn += 1
            tool, given = self._next()
            answer = self.server.call(tool, **given)
            self.answers[answer.code] += 1
            if answer.code not in self.EXPECTED:
                self.bad.append(f"{tool} {given}: {answer.data}")
            if tool == "write_note" and not answer.code:
                self.names.came(answer.data["file_path"])
            if tool == "delete_note" and not answer.code:
                self.names.went(given["path"])

    def _next(self) -> tuple[str, dict[str, str]]:
        path = self.names.any(self.chance)
        line = f"- [fact] {self.server.name} {self._turn} saw [[{Path(path).stem}]] #soak\n"
        match self.chance.randrange(20):
            case 0 | 1 | 2:
                folder = self.names.any_folder(self.chance)
                title = f"{self.server.name}-{self._turn}"
                return "write_note", {"title": title, "directory": folder, "content": line}
            case 3 | 4:
                return "delete_note", {"path": path}
            case 5 | 6 | 7 | 8 | 9 | 10:
                return "edit_note", {"path": path, "content_updates": line}
            case 11 | 12 | 13:
                given = {"path": path, "operation": "prepend", "content_updates": f"\n{line}"}
                return "edit_note", given
            case 14:
                text = f"All new.\n\n{line}"
                return "edit_note", {"path": path, "operation": "replace", "content_updates": text}
            case 15 | 16 | 17:
                return "read_note", {"path": path}
            case _:
                return "search_notes", {"query": f"{self.server.name} saw {Path(path).stem}"}


@dataclass
class User:
    """Someone with editors, a shell and a file manager. Saves as they do.

    Attributes:
        done: how often what was done.
    """

    root: Path
    names: Names
    chance: random.Random
    done: Counter[str] = field(default_factory=Counter)
    _turn: int = 0

    PAUSE_S = 0.2

    def work(self, over: threading.Event) -> None:
        """Until it is over."""
        ways = (
            self.save_in_place,
            self.save_in_place,
            self.save_atomically,
            self.save_like_vim,
            self.create,
            self.delete,
            self.move,
            self.rename_folder,
        )
        while not over.wait(self.chance.uniform(0, self.PAUSE_S)):
            self._turn += 1
            way = self.chance.choice(ways)
            with suppress(FileNotFoundError):  # a tool was faster
                way()
                self.done[way.__name__] += 1

    def save_in_place(self) -> None:
        """VS Code, Obsidian, nano: the file is emptied and written."""
        file = self._any()
        text = self._edited(file)
        with file.open("r+b") as stream:
            stream.truncate()
            half = len(text) // 2
            stream.write(text[:half])
            stream.flush()
            stream.write(text[half:])

    def save_atomically(self) -> None:
        """sed -i, and what syncs between machines: a new file takes the name."""
        file = self._any()
        new = file.with_name(f"sed{self._turn}")
        new.write_bytes(self._edited(file))
        if file.exists():
            new.replace(file)
        else:
            new.unlink()

    def save_like_vim(self) -> None:
        """The old file becomes a backup, a new one is written, the backup is removed."""
        file = self._any()
        text = self._edited(file)
        backup = file.with_name(f"{file.name}~")
        file.rename(backup)
        file.write_bytes(text)
        backup.unlink()

    def create(self) -> None:
        folder = self.names.any_folder(self.chance)
        path = f"{folder}/user {self._turn}.md".removeprefix("/")
        (self.root / path).write_text(f"# By hand {self._turn}\n\nSee [[{self._any().stem}]].\n")
        self.names.came(path)

    def delete(self) -> None:
        path = self.names.any(self.chance)
        (self.root / path).unlink()
        self.names.went(path)

    def move(self) -> None:
        old = self.names.any(self.chance)
        folder = self.names.any_folder(self.chance)
        new = f"{folder}/moved {self._turn}.md".removeprefix("/")
        (self.root / old).rename(self.root / new)
        self.names.went(old)
        self.names.came(new)

    def rename_folder(self) -> None:
        folder = self.names.any_folder(self.chance)
        if not folder or self.names.inside(folder) > _SMALL_FOLDER:
            return
        new = f"{folder.partition(' (')[0]} ({self._turn})"
        (self.root / folder).rename(self.root / new)
        self.names.renamed(folder, new)

    def _any(self) -> Path:
        return self.root / self.names.any(self.chance)

    def _edited(self, file: Path) -> bytes:
        """Another line at the end, or one line less."""
        text = file.read_bytes()
        if self.chance.random() < 0.3 and text.count(b"\n") > 10:
            return text[: text.rstrip(b"\n").rfind(b"\n") + 1]
        return text + f"\nSaved in turn {self._turn}, see [[{self._any().stem}]].\n".encode()


def copy_some(notes: Path, root: Path, most: int, chance: random.Random) -> None:
    """At most so many notes of a real vault, each where it was."""
    files = sorted(file for file in notes.rglob("*.md") if file.is_file())
    for file in chance.sample(files, min(most, len(files))):
        target = root / file.relative_to(notes)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)


def make_some(root: Path, most: int, chance: random.Random) -> None:
    """Notes of our own, linked to each other, where there is no real vault."""
    for number in range(most):
        file = root / f"part {number % 17}" / f"chapter {number % 5}" / f"note {number}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        links = " ".join(f"[[note {chance.randrange(most)}]]" for _ in range(5))
        file.write_text(f"# Note {number}\n\n{links}\n\n- [fact] made {number}\n" + "words\n" * 30)


def descriptors(pid: int) -> int:
    """How many files a process has open."""
    return len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208  (the names alone)


def resident_mb(pid: int) -> float:
    """The memory of a process that is in use."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
