"""A folder of notes, what people and programs do to it, and what an index of it must then be.

`FolderModel` is a state machine of Hypothesis: every step is one operation on the folder, after which
the index is left alone, synced, or synced and compared with one that is built from nothing. What the file
system refuses (a file below a file, a loop of links) does not happen.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sqlite3
import stat
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from sqlalchemy.engine import Connection
from tests.conftest import BACKEND
from tests.integration.conftest import Index

from memoranda.model.sync import SyncReport
from memoranda.repositories.store import Tx

_NAMES = [
    *("a", "b", "A", "b c", "b-c", "Ärger", "知識", "index", "my note", "my-note", "2024"),
    *("é", "e\u0301"),
]
NAMES = st.sampled_from(_NAMES)
FOLDERS = st.sampled_from(["x", "X", "x/y", "My Notes", "my-notes", "c.md", ".h", "node_modules"])
PATHS = st.builds(
    lambda folder, name: f"{folder}/{name}.md".lstrip("/"),
    st.sampled_from(["", "", "x", "X", "x/y", "My Notes", "my-notes", "c.md"]),
    NAMES,
)
HIDDEN = st.sampled_from([".a.md", "x/.b.md", ".h/a.md", "~$a.md", "node_modules/a.md", "a.md~"])
LINKS = st.one_of(
    NAMES.map(lambda name: f"[[{name}]]"),
    PATHS.map(lambda path: f"[[{path[:-3]}]]"),
    PATHS.map(lambda path: f"[t]({path.replace(' ', '%20')})"),
    PATHS.map(lambda path: f"[up](../{path.replace(' ', '%20')})"),
    st.sampled_from(["[[Shared Title]]", "[[nick]]", "![[b c#Part]]", "[[nowhere at all]]"]),
)
LINES = st.one_of(
    LINKS.map(lambda link: f"some prose with {link}.\n"),
    LINKS.map(lambda link: f"- needs {link} (because)\n"),
    st.sampled_from(
        [
            "- [fact] same words #t\n",
            "- [fact] other words (ctx) ^b1\n",
            "# Heading\n",
            "plain\n",
            "\n",
        ]
    ),
)
HEADERS = st.sampled_from(
    [
        "",
        "",
        "---\ntitle: Shared Title\n---\n",
        "---\ntitle: b c\ntags: [t, u]\n---\n",
        "---\npermalink: x/a\n---\n",
        "---\npermalink: My Note\naliases: [nick, Other Nick]\n---\n",
        "---\ntitle: broken: [\n---\n",
        "---\ntitle: never closed\n",
        "---\ncreated: 2020-01-02\nup: '[[a]]'\n---\n",
    ]
)
TEXTS = st.builds(lambda head, lines: head + "".join(lines), HEADERS, st.lists(LINES, max_size=4))
WORDS = st.text("abc", min_size=6, max_size=6)
"""Of the same size, and hardly ever equal."""
BYTES = st.one_of(
    st.binary(max_size=40),
    st.just(b""),
    TEXTS.map(lambda text: text.encode("utf-16")),
    TEXTS.map(lambda text: text.encode("utf-16-be")),
    TEXTS.map(lambda text: text.encode("latin-1", "replace") + b"\xe4\n"),
    TEXTS.map(lambda text: b"\xef\xbb\xbf" + text.encode()),
    TEXTS.map(lambda text: text.replace("\n", "\r\n").encode()),
    TEXTS.map(lambda text: text.encode() + b"- [fact] a \0 in it\n"),
)
TIMES_NS = st.sampled_from([0, 1, -1, 10**9, 2**31 * 10**9, 1_500_000_000_123_456_789])
WHICH = st.integers(0, 20)
IGNORE_FILES = st.builds(
    lambda folder, name: f"{folder}{name}",
    st.sampled_from(["", "", "x/", "x/y/", "My Notes/"]),
    st.sampled_from([".gitignore", ".bmignore"]),
)
RULES = st.lists(
    st.sampled_from(
        [
            *("x/", "*.md", "!a.md", "/b*", "A.md", "y", "**/index.md", "x/**", "!x/a.md"),
            *("My Notes/", "é.md", "# a comment", "", "b c.md ", "!/x/", "*", "[ab].md"),
        ]
    ),
    max_size=4,
)
LINK_NAMES = st.one_of(PATHS, st.sampled_from(["x", "z", "My Notes", "x/loop"]))
LINK_GOALS = st.sampled_from(
    [
        *("a.md", "x/a.md", "x", "x/y", ".", "..", "z", "x/loop", "nothing.md", ".h", ".h/a.md"),
        *("OUTSIDE", "OUTSIDE/o.md"),
    ]
)
AFTER = st.sampled_from(
    ["nothing"] * 8 + ["sync"] * 2 + ["hints"] * 4 + ["compare"] * 4 + ["reindex", "verify"]
)


@dataclass(frozen=True, slots=True)
class Row:
    """A note as the index has it, and the inode and time of change of its file."""

    entity_id: int
    external_id: str
    checksum: str
    inode: int
    ctime_ns: int


@dataclass(frozen=True, slots=True)
class Look:
    """The notes by path, and every file that is there, indexed or not."""

    rows: Mapping[str, Row]
    files: frozenset[str]

    def of(self, checksum: str) -> str | None:
        """The path of the only note with these bytes."""
        paths = [path for path, row in self.rows.items() if row.checksum == checksum]
        return paths[0] if len(paths) == 1 else None


def lost_identities(before: Look, now: Look) -> list[str]:
    """The notes whose id or external id should have stayed and did not.

    Identity stays with a path and goes along with bytes that no other note has: when a file was renamed
    to where none was, when a chain of renames ends there, and when files change places in a ring.
    """
    lost: list[str] = []
    renamed = {
        path: goal
        for path, old in before.rows.items()
        if before.of(old.checksum) == path
        and (goal := now.of(old.checksum)) is not None
        and goal != path
    }
    for path, old in before.rows.items():
        goal = _goal_of_a_rename(path, renamed, before, now) or path
        new = now.rows.get(goal)
        must_stay = goal != path or (new is not None and _stays(path, old, new, before, now))
        if must_stay and (
            new is None or (old.entity_id, old.external_id) != (new.entity_id, new.external_id)
        ):
            lost.append(f"{path} was {old}, {goal} is {new}")
    return lost


def _goal_of_a_rename(path: str, renamed: Mapping[str, str], before: Look, now: Look) -> str | None:
    """Where the note is now, if it is part of a chain or ring of renames and of nothing else."""
    chain = [path]
    while (further := renamed.get(chain[-1])) is not None and further not in chain:
        chain.append(further)
    if further == path:
        return renamed[path]
    start, sources = path, {goal: source for source, goal in renamed.items()}
    while start in sources:
        start = sources[start]
    is_chain = len(chain) > 1 and start not in now.files and chain[-1] not in before.files
    return renamed[path] if is_chain else None


def _stays(path: str, old: Row, new: Row, before: Look, now: Look) -> bool:
    """Whether the note at a path is for certain the one that was there."""
    is_untouched = (old.inode, old.ctime_ns) == (new.inode, new.ctime_ns)
    is_only = before.of(old.checksum) == now.of(old.checksum) == path
    is_edited = (
        old.checksum != new.checksum
        and all(row.checksum != old.checksum for row in now.rows.values())
        and all(row.checksum != new.checksum for row in before.rows.values())
    )
    return is_untouched or is_only or is_edited


def operation(**arguments: st.SearchStrategy[Any]) -> Callable[[Callable[..., None]], Any]:
    """A rule that changes the folder and then looks at it, or does not."""

    def decorate(change: Callable[..., None]) -> Any:
        def step(self: FolderModel, after: str, **values: object) -> None:
            with contextlib.suppress(OSError):
                change(self, **values)
            self.look(after)

        step.__name__ = step.__qualname__ = change.__name__
        strategies: dict[str, Any] = {"after": AFTER, **arguments}
        return rule(**strategies)(step)

    return decorate


class Bench:
    """A place for a folder and two indexes of it, which are opened once and emptied as often as needed.

    Opening an index, migrating and compiling its statements, takes longer than all that is tested.
    """

    def __init__(self, make_index: Callable[..., Index], place: Path) -> None:
        self.place = place
        self.root = place / "notes"
        self.outside = place / "outside"
        self.kept = make_index(self.root, "kept")
        self.fresh = make_index(self.root, "fresh")
        self.forgetting = {
            "kept": forgetting(self.kept, place / "config" / "kept", place / "kept.db"),
            "fresh": forgetting(self.fresh, place / "config" / "fresh", place / "fresh.db"),
        }

    def empty(self) -> None:
        """No files, no knowledge."""
        for folder in (self.root, self.outside):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        self.forget("kept")

    def forget(self, name: str) -> None:
        """Give an index the database that a new one has."""
        self.forgetting[name]()


def forgetting(index: Index, home: Path, kept: Path) -> Callable[[], None]:
    """What gives an index back the rows that it has now."""
    if BACKEND == "postgres":
        return _forgetting_on_postgres(index)
    _copy(home / "memory.db", kept)
    return lambda: _copy(kept, home / "memory.db")


def _forgetting_on_postgres(index: Index) -> Callable[[], None]:
    tables = [
        name
        for (name,) in index.rows(
            "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
        )
    ]
    filled = [table for table in tables if index.rows(f'SELECT 1 FROM "{table}" LIMIT 1')]
    index.store.write_now(lambda tx: _keep(tx.conn, filled))

    def forget(tx: Tx) -> None:
        tx.conn.exec_driver_sql("TRUNCATE " + ", ".join(f'"{table}"' for table in tables))
        for table in filled:
            tx.conn.exec_driver_sql(f'INSERT INTO "{table}" SELECT * FROM kept."{table}"')

    return lambda: index.store.write_now(forget)


def _keep(conn: Connection, tables: Iterable[str]) -> None:
    conn.exec_driver_sql("CREATE SCHEMA kept")
    for table in tables:
        conn.exec_driver_sql(f'CREATE TABLE kept."{table}" AS TABLE "{table}"')


def _copy(source: Path, goal: Path) -> None:
    """The content of a database into one that may be open."""
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(goal)) as new:
        old.backup(new)


class FolderModel(RuleBasedStateMachine):
    """Files come, change, move and go; the index of them must be as if it had been built just now."""

    bench: Bench

    @initialize(notes=st.dictionaries(PATHS, st.one_of(TEXTS, WORDS), min_size=2, max_size=9))
    def start(self, notes: dict[str, str]) -> None:
        """Some notes, and something outside of their folder that links may lead to."""
        self.bench.empty()
        self.root, self.index = self.bench.root, self.bench.kept
        (self.bench.outside / "o.md").write_text("outside\n")
        for path, text in notes.items():
            with contextlib.suppress(OSError):
                self.goal(path).write_text(text)
        self.before = self.seen()
        self.sync()

    def teardown(self) -> None:
        """The last look."""
        if hasattr(self, "index"):
            self.compare()

    # What the index must be

    def look(self, after: str) -> None:
        """What comes after an operation."""
        match after:
            case "sync":
                self.sync()
            case "hints":
                self.sync_what_changed()
            case "compare":
                self.compare()
            case "reindex":
                self.compare(everything=True)
            case "verify":
                self.compare(verify=True)
            case _:
                pass

    def sync(self) -> SyncReport:
        """A sync like any other."""
        report: SyncReport = asyncio.run(self.index.sync.full_sync())
        assert report.failures == ()
        self.check_identities()
        self.stamps = self.stamped()
        return report

    def sync_what_changed(self) -> None:
        """A sync of the paths that a watcher would name leaves nothing to do, or asks for a whole one."""
        now = self.stamped()
        changed = {path for path, _ in now.items() ^ self.stamps.items()}
        self.stamps = now
        report = asyncio.run(self.index.sync.sync_paths(changed))
        if report is None or self.leads_into_hidden():
            self.sync()
            return
        assert report.failures == ()
        self.check_identities()
        assert self.sync().changes == 0

    def stamped(self) -> dict[str, tuple[int, ...]]:
        """Every visible file and folder and ignore file, with what its directory entry says."""
        found: dict[str, tuple[int, ...]] = {}
        for path in self.root.rglob("*"):
            place = path.relative_to(self.root)
            hidden = place.name.startswith(".") and not place.name.endswith("ignore")
            if hidden or any(part.startswith(".") for part in place.parts[:-1]):
                continue
            status = path.lstat()
            is_folder = stat.S_ISDIR(status.st_mode)
            times = () if is_folder else (status.st_size, status.st_mtime_ns, status.st_ctime_ns)
            found[str(place)] = (status.st_mode, status.st_ino, *times)
        return found

    def leads_into_hidden(self) -> bool:
        """Whether a link leads to what no watcher sees."""
        links = [path for path in self.root.rglob("*") if path.is_symlink()]
        return any("/.h" in os.path.realpath(link) for link in links)

    def compare(self, *, everything: bool = False, verify: bool = False) -> None:
        """Sync for good: nothing is held, and the index says what one says that was built just now."""
        report = asyncio.run(
            self.index.sync.full_sync(everything=everything, verify=verify, accept_deletions=True)
        )
        assert report.failures == ()
        self.check_identities()
        self.stamps = self.stamped()
        self.bench.forget("fresh")
        self.bench.fresh.run_sync()
        expected, found = self.bench.fresh.snapshot(), self.index.snapshot()
        for table, rows in expected.items():
            assert found[table] == rows, table

    def check_identities(self) -> None:
        """Nobody lost an id or shares one."""
        now = self.seen()
        assert len({row.entity_id for row in now.rows.values()}) == len(now.rows)
        assert len({row.external_id for row in now.rows.values()}) == len(now.rows)
        assert lost_identities(self.before, now) == []
        self.before = now

    def seen(self) -> Look:
        """What the index and the folder show now."""
        rows: dict[str, Row] = {}
        for path, entity_id, external_id, checksum in self.index.rows(
            "SELECT file_path, id, external_id, checksum FROM entity"
        ):
            try:
                status = (self.root / path).stat()
            except OSError:
                continue
            rows[path] = Row(entity_id, external_id, checksum, status.st_ino, status.st_ctime_ns)
        files = frozenset(str(path.relative_to(self.root)) for path in self.walk(files=True))
        return Look(rows, files)

    # Choosing

    def walk(self, *, files: bool) -> Iterator[Path]:
        """All files, or all folders below the root; links are files."""
        for folder, names, leaves in os.walk(self.root):
            for name in (*leaves, *names):
                path = Path(folder, name)
                if (name in names and not path.is_symlink()) is not files:
                    yield path

    def file(self, which: int) -> Path:
        """One of the files that are there, ignore files aside."""
        found = [path for path in self.walk(files=True) if not path.name.endswith("ignore")]
        return self.one_of(found, which)

    def folder(self, which: int) -> Path:
        """One of the folders that are there."""
        return self.one_of(list(self.walk(files=False)), which)

    @staticmethod
    def one_of(paths: list[Path], which: int) -> Path:
        """The one of that number, counted round and round."""
        if not paths:
            raise FileNotFoundError
        return sorted(paths)[which % len(paths)]

    def goal(self, path: str) -> Path:
        """A path in the folder, with its parents made."""
        goal = self.root / path
        goal.parent.mkdir(parents=True, exist_ok=True)
        return goal

    # Contents

    @operation(path=PATHS, text=TEXTS)
    def save(self, path: str, text: str) -> None:
        """In place, as simple editors do."""
        self.goal(path).write_text(text)

    @operation(path=PATHS, text=TEXTS)
    def save_by_renaming(self, path: str, text: str) -> None:
        """A new file takes the name, as vim, git and sed do it."""
        aside = self.goal(f"{path}~")
        aside.write_text(text)
        aside.rename(self.root / path)

    @operation(path=st.one_of(PATHS, HIDDEN), data=BYTES)
    def save_bytes(self, path: str, data: bytes) -> None:
        """Other encodings, other line ends, no text at all."""
        self.goal(path).write_bytes(data)

    @operation(which=WHICH)
    def rewrite_within_the_clocks_grain(self, which: int) -> None:
        """Synced between two writes of equally many bytes at what the file's times call one moment."""
        file = self.file(which)
        data = file.read_bytes()
        file.write_bytes(data)
        before = file.stat()
        self.sync()
        with file.open("r+b") as stream:
            stream.write(data.translate(bytes.maketrans(b"abem", b"bame")))
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    @operation(which=WHICH, text=TEXTS)
    def append(self, which: int, text: str) -> None:
        """As a log is written."""
        with self.file(which).open("a") as stream:
            stream.write(text)

    @operation(which=WHICH)
    def empty(self, which: int) -> None:
        """All text away, the file not."""
        self.file(which).write_bytes(b"")

    # Files that go and move

    @operation(which=WHICH)
    def delete(self, which: int) -> None:
        """A file or a link."""
        self.file(which).unlink()

    @operation(which=WHICH, path=st.one_of(PATHS, HIDDEN))
    def move(self, which: int, path: str) -> None:
        """To where nothing is, or over another one."""
        self.file(which).rename(self.goal(path))

    @operation(which=WHICH, other=WHICH)
    def move_over(self, which: int, other: int) -> None:
        """Over another one for certain."""
        self.file(which).rename(self.file(other))

    @operation(which=WHICH, path=PATHS)
    def copy(self, which: int, path: str) -> None:
        """The same bytes twice, with the times or without."""
        shutil.copy(self.file(which), self.goal(path))

    @operation(which=WHICH, path=PATHS)
    def link_hard(self, which: int, path: str) -> None:
        """One file under two names."""
        self.goal(path).hardlink_to(self.file(which))

    @operation(one=WHICH, other=WHICH)
    def swap(self, one: int, other: int) -> None:
        """Two names change hands."""
        self.rotate(self.file(one), self.file(other))

    @operation(one=WHICH, two=WHICH, three=WHICH)
    def cycle(self, one: int, two: int, three: int) -> None:
        """Three names change hands."""
        self.rotate(self.file(one), self.file(two), self.file(three))

    def rotate(self, *paths: Path) -> None:
        """Every file takes the name of the next."""
        if len({*paths}) == len(paths):
            aside = self.root / "aside"
            paths[-1].rename(aside)
            for source, goal in reversed(list(pairwise(paths))):
                source.rename(goal)
            aside.rename(paths[0])

    @operation(one=WHICH, two=WHICH, path=PATHS)
    def chain(self, one: int, two: int, path: str) -> None:
        """The second takes a new name, the first takes the second's."""
        first, second = self.file(one), self.file(two)
        if first != second:
            second.rename(self.goal(path))
            first.rename(second)

    @operation(which=WHICH)
    def rename_in_another_case(self, which: int) -> None:
        """The case alone."""
        file = self.file(which)
        file.rename(file.with_name(f"{file.stem.swapcase()}{file.suffix}"))

    @operation(which=WHICH)
    def rename_in_another_normal_form(self, which: int) -> None:
        """As a Mac and a Linux machine disagree about letters with marks."""
        file = self.file(which)
        decomposed = unicodedata.normalize("NFD", file.name)
        is_same = decomposed == file.name
        file.rename(file.with_name(unicodedata.normalize("NFC" if is_same else "NFD", file.name)))

    # Folders

    @operation(which=WHICH, goal=FOLDERS)
    def move_folder(self, which: int, goal: str) -> None:
        """With all that is in it."""
        folder = self.folder(which)
        folder.rename(self.goal(goal))

    @operation(which=WHICH)
    def rename_folder_in_another_case(self, which: int) -> None:
        """The case alone."""
        folder = self.folder(which)
        folder.rename(folder.with_name(folder.name.swapcase()))

    @operation(which=WHICH)
    def delete_folder(self, which: int) -> None:
        """With all that is in it."""
        shutil.rmtree(self.folder(which))

    @operation()
    def delete_everything(self) -> None:
        """All that is in the folder."""
        for path in self.root.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()

    @operation(with_times=st.booleans())
    def restore_a_backup(self, with_times: bool) -> None:
        """Another folder takes the place of this one: a copy, with times and links or without."""
        backup = self.bench.place / "backup"
        shutil.rmtree(backup, ignore_errors=True)
        copy = shutil.copy2 if with_times else shutil.copy
        shutil.copytree(self.root, backup, symlinks=True, copy_function=copy)
        shutil.rmtree(self.root)
        backup.rename(self.root)

    @operation(which=WHICH, text=TEXTS)
    def turn_file_into_folder(self, which: int, text: str) -> None:
        """A note's path becomes a folder with a note in it."""
        file = self.file(which)
        file.unlink()
        file.mkdir()
        (file / "a.md").write_text(text)

    @operation(which=WHICH, text=TEXTS)
    def turn_folder_into_file(self, which: int, text: str) -> None:
        """And the other way round."""
        folder = self.folder(which)
        shutil.rmtree(folder)
        folder.write_text(text)

    # All but the contents

    @operation(which=WHICH, mtime_ns=TIMES_NS)
    def touch(self, which: int, mtime_ns: int) -> None:
        """Another time, also a past one."""
        os.utime(self.file(which), ns=(mtime_ns, mtime_ns))

    @rule(which=WHICH, of_folder=st.booleans())
    def lock_for_a_while(self, which: int, of_folder: bool) -> None:
        """What cannot be read stays in the index as it was; for root, everything can be read."""
        try:
            path = self.folder(which) if of_folder else self.file(which)
        except FileNotFoundError:
            return
        if path.is_symlink():
            return
        self.compare()
        mode = stat.S_IMODE(path.stat().st_mode)
        known = self.index.rows("SELECT id, file_path FROM entity ORDER BY 1")
        path.chmod(0)
        try:
            asyncio.run(self.index.sync.full_sync())
            assert self.index.rows("SELECT id, file_path FROM entity ORDER BY 1") == known
        finally:
            path.chmod(mode)
        self.compare()

    @operation(path=IGNORE_FILES, lines=RULES)
    def write_ignore_file(self, path: str, lines: list[str]) -> None:
        """Rules come and change."""
        self.goal(path).write_text("".join(f"{line}\n" for line in lines))

    @operation(which=WHICH)
    def delete_ignore_file(self, which: int) -> None:
        """Rules go."""
        found = [path for path in self.walk(files=True) if path.name.endswith("ignore")]
        self.one_of(found, which).unlink()

    @operation(name=LINK_NAMES, goal=LINK_GOALS)
    def link(self, name: str, goal: str) -> None:
        """Symbolic, to a file or folder, inside or outside, to nothing, to itself."""
        target = Path(goal.replace("OUTSIDE", str(self.bench.outside)))
        if not target.is_absolute():
            target = self.root / target
        self.goal(name).symlink_to(target)

    @rule()
    def unmount_for_a_while(self) -> None:
        """A folder in which nothing is any more is taken for a drive that is not there."""
        self.compare()
        away = self.bench.place / "away"
        away.mkdir()
        known = self.index.rows("SELECT id, file_path FROM entity ORDER BY 2")
        shown = [path for path in self.root.iterdir() if not path.name.startswith(".")]
        for path in shown:
            path.rename(away / path.name)
        report = self.sync()
        assert report.deleted_files == ()
        assert report.held == tuple(path for _, path in known)
        assert self.index.rows("SELECT id, file_path FROM entity ORDER BY 2") == known
        for path in shown:
            (away / path.name).rename(path)
        away.rmdir()
        self.sync()
        assert self.index.rows("SELECT id, file_path FROM entity ORDER BY 2") == known
        self.compare()
