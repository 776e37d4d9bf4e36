"""The hard cases of kind sync once more, with the watcher of a server: nothing here asks for a sync.

`test_sync.py` has the same cases seen by scans. See README.md in this folder.
"""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cases.conftest import MARK
from tests.cases.test_sync import bodies, identities
from tests.integration.conftest import SNAPSHOT, Index, until

from memoranda.services.entity import EntityService
from memoranda.sync import leader
from memoranda.sync.sync_service import SyncService

Save = Callable[[Path, str], Iterator[None]]


@pytest.fixture
def watched(vault: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An empty folder whose server is quick to look at what changed."""
    monkeypatch.setenv("BASIC_MEMORY_SYNC_DELAY", "50")
    monkeypatch.setattr(leader, "LOOK_S", 0.05)
    return vault


def marked(vault: Any) -> dict[str, str]:
    """Path -> text of all notes but the mark."""
    return {path: text for path, text in bodies(vault).items() if path != MARK}


# --- how programs save


def rename_over(file: Path, text: str) -> Iterator[None]:
    """A temporary file beside it takes its place, as the case says."""
    temp = file.with_name(f"{file.name}.tmp~")
    temp.write_text(text)
    yield
    temp.rename(file)


def backup_first(file: Path, text: str) -> Iterator[None]:
    """The old file is renamed, a new one is written, the old one goes, as the case says."""
    backup = file.with_name(f"{file.name}~")
    file.rename(backup)
    file.write_text(text)
    yield
    backup.unlink()


def vim(file: Path, text: str) -> Iterator[None]:
    """A probe that is named 4913, a backup by renaming, a swap file all the while."""
    swap, probe = file.with_name(f".{file.name}.swp"), file.with_name("4913")
    swap.write_bytes(b"b0VIM 9.1")
    yield
    probe.touch()
    probe.chmod(0o644)
    probe.unlink()
    yield from backup_first(file, text)
    swap.unlink()


def vim_with_a_copy(file: Path, text: str) -> Iterator[None]:
    """`backupcopy=yes`: the old bytes are copied, the file is cut to nothing and written."""
    backup = file.with_name(f"{file.name}~")
    backup.write_bytes(file.read_bytes())
    yield
    yield from in_place(file, text)
    backup.unlink()


def in_place(file: Path, text: str) -> Iterator[None]:
    """VS Code and Obsidian: the file is cut to nothing and written."""
    with file.open("w") as stream:
        yield
        stream.write(text)


def emacs(file: Path, text: str) -> Iterator[None]:
    """A lock that is a link to nothing, the autosave, a backup by renaming."""
    lock, autosave = file.with_name(f".#{file.name}"), file.with_name(f"#{file.name}#")
    lock.symlink_to("me@here.1:2")
    autosave.write_text(text)
    yield
    backup = file.with_name(f"{file.name}~")
    file.rename(backup)
    file.write_text(text)
    yield
    autosave.unlink()
    lock.unlink()


def sed(file: Path, text: str) -> Iterator[None]:
    """`sed -i`: a temporary file without an ending takes its place."""
    temp = file.with_name("sedX4k2bQ")
    temp.touch(0o600)
    temp.write_text(text)
    yield
    temp.chmod(0o644)
    temp.rename(file)


SAVES: list[Save] = [rename_over, backup_first, vim, vim_with_a_copy, in_place, emacs, sed]


@pytest.mark.parametrize("is_slow", [False, True], ids=["at_once", "with_a_look_at_each_step"])
async def test_sync_atomic_save(watched: Any, is_slow: bool) -> None:
    """However a program saves, and wherever the watcher looks in between, it is the same note.

    But not while there is no file at all: when that lasts for the delay, the note is deleted.

    Better, taken: no note comes or goes on the way.

    Seen in: samuelcolvin/watchfiles#127, arizona-framework/arizona#575, air-verse/air#908,
    ddutchie/cairn#99.
    """
    names = {save: f"{save.__name__}.md" for save in SAVES}
    watched.write_all(dict.fromkeys(names.values(), "v1 [[X]]\n"))
    watched.write_all({"x.md": "".join(f"[[{save.__name__}]]\n" for save in SAVES), MARK: "mark\n"})
    await watched.watch()
    before = identities(watched)
    for text in ["v3\n"] if is_slow else ["v2 [[X]]\n", "v3\n"]:
        under_way = [save(watched.root / name, text) for save, name in names.items()]
        while under_way:
            watched.by_hand(lambda _: one_step(under_way))  # noqa: B023 - called at once
            if is_slow:
                await watched.quiet()
                assert identities(watched) == before
        await watched.quiet()
        assert {path: watched.body(path) for path in names.values()} == dict.fromkeys(
            names.values(), text
        )
        assert {edge.to for edge in watched.edges("x.md")} == set(names.values())
    assert identities(watched) == before


def one_step(saves: list[Iterator[None]]) -> None:
    """Let each program go on as far as it gets; those that are done leave the list."""
    saves[:] = [save for save in saves if next(save, "done") is None]


async def test_sync_double_save(watched: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of fifty saves one after the other the last one counts.

    Better, taken: they are few parses.

    Seen in: the documentation of watchfiles on debouncing, basicmachines-co/basic-memory#30.
    """
    index_many, parses = EntityService.index_many, 0

    async def count(self: EntityService, notes: Any, **how: Any) -> Any:
        nonlocal parses
        parses += sum(note.state.path == "n.md" for note in notes)
        return await index_many(self, notes, **how)

    watched.write_all({"n.md": "v0\n", MARK: "mark\n"})
    await watched.watch()
    monkeypatch.setattr(EntityService, "index_many", count)
    for number in range(1, 51):
        text = "v50 final\n" if number == 50 else f"v{number}\n"
        await asyncio.to_thread(watched.by_hand, lambda root: (root / "n.md").write_text(text))  # noqa: B023
    await watched.quiet()
    assert marked(watched) == {"n.md": "v50 final\n"}
    assert await watched.search("final") == ["n.md"]
    assert 1 <= parses < 10


async def test_sync_double_save_while_an_earlier_one_is_indexed(
    watched: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each save comes, and is told, when the one before has been read and is not yet in the index."""
    index_many, number = EntityService.index_many, 0

    async def save_and_index(self: EntityService, notes: Any, **how: Any) -> Any:
        nonlocal number
        if number < 5 and any(note.state.path == "n.md" for note in notes):
            number += 1
            known = len(watched.leader_now().watch.recent_events)
            text = "v5 final\n" if number == 5 else f"v{number} again\n"
            watched.by_hand(lambda root: (root / "n.md").write_text(text))
            await until(lambda: len(watched.leader_now().watch.recent_events) > known)
        return await index_many(self, notes, **how)

    watched.write("n.md", "v0\n")
    await watched.watch()
    monkeypatch.setattr(EntityService, "index_many", save_and_index)
    watched.write("n.md", "the first save\n")
    await until(lambda: bodies(watched) == {"n.md": "v5 final\n"})
    assert number == 5


async def test_sync_half_written(watched: Any) -> None:
    """A slow writer's file is seen again and again while it grows, and is right in the end.

    Seen in: watchexec/watchexec#567, dean0x/skim#379.
    """
    whole = "---\ntitle: Slow\n---\n- [fact] whole\n"
    watched.write(MARK, "mark\n")
    await watched.watch()
    begin = 0
    for end in (6, 9, 14, 22, len(whole)):
        watched.by_hand(lambda root: add(root / "n.md", whole[begin:end]))  # noqa: B023 - at once
        begin = end
        await watched.quiet()
        assert "n.md" in bodies(watched)
    assert watched.notes()["n.md"] == "Slow"
    assert [fact.content for fact in watched.facts("n.md")] == ["whole"]
    assert watched.rows("SELECT * FROM file_failure") == []


def add(file: Path, text: str) -> None:
    """What a program does whose file stays open: it writes a little more."""
    with file.open("a") as stream:
        stream.write(text)


@pytest.mark.slow
async def test_sync_folder_rename(
    watched: Any, record_property: Callable[[str, object], None]
) -> None:
    """A folder of a thousand notes under a new name is done in time, and tools answer meanwhile.

    Seen in: basicmachines-co/basic-memory#185, emcrisostomo/fswatch#111.
    """

    def make(root: Path) -> None:
        (root / "keep.md").write_text("k\n")
        (root / "proj").mkdir()
        for i in range(1000):
            (root / f"proj/note{i:04}.md").write_text(f"# Note {i}\n" + "[[Note 1]] text\n" * 3)

    watched.by_hand(make)
    await watched.watch()
    before = identities(watched)
    assert len(before) == 1001

    def rename(root: Path) -> None:
        (root / "archive").mkdir()
        (root / "proj").rename(root / "archive/proj")

    watched.by_hand(rename)
    started, slowest, answers = time.monotonic(), 0.0, 0
    moved = "SELECT count(*) FROM entity WHERE file_path LIKE 'archive/proj/%'"
    async with asyncio.timeout(30):
        while watched.rows(moved) != [(1000,)]:
            asked = time.monotonic()
            [note] = await watched.ask("read_note", {"path": "keep.md", "max_chars": 200})
            assert note["content"] == "k\n"
            slowest, answers = max(slowest, time.monotonic() - asked), answers + 1
    record_property("seconds", round(time.monotonic() - started, 2))
    record_property("slowest_read_ms", round(slowest * 1000))
    record_property("reads_meanwhile", answers)
    assert answers > 0
    after = identities(watched)
    assert len(after) == 1001
    assert all(after[f"archive/{path}"] == one for path, one in before.items() if path != "keep.md")
    watched.write("archive/proj/note0001.md", "the new place is watched\n")
    await until(lambda: watched.body("archive/proj/note0001.md") == "the new place is watched\n")


@pytest.mark.slow
async def test_sync_git_checkout(watched: Any, make_index: Callable[..., Index]) -> None:
    """Checkouts back and forth while the server watches: in the end the index is that of the tree.

    The permalinks are those of a fresh index, as everywhere.

    Seen in: libgit2/libgit2#3236, msysgit/git#312.
    """
    watched.by_hand(make_repository)
    await watched.watch()
    [(notes,)] = watched.rows("SELECT count(*) FROM entity")
    assert notes == 300
    new = "SELECT count(*) > 0 FROM entity WHERE file_path LIKE 'moved/%'"
    for branch, is_seen in (("exp", 1), ("main", 0), ("exp", 1)):
        watched.by_hand(lambda root: git(root, "checkout", "-q", branch))  # noqa: B023 - at once
        await until(lambda: watched.rows(new) == [(is_seen,)])  # noqa: B023 - then the next one
    for branch in ("main", "exp"):  # and two within one look
        watched.by_hand(lambda root: git(root, "checkout", "-q", branch))  # noqa: B023 - at once
    fresh = make_index(watched.root, "fresh")
    await fresh.sync.full_sync()
    wanted = fresh.snapshot()
    assert len(wanted["entity"]) == 300
    assert not [path for path, *_ in wanted["entity"] if ".git" in str(path)]

    def found() -> dict[str, list[tuple[object, ...]]]:
        return {name: watched.rows(sql) for name, sql in SNAPSHOT.items()}

    await until(lambda: found() == wanted)


def git(root: Path, *arguments: str) -> None:
    who = ["-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "gc.auto=0"]
    subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)


def make_repository(root: Path) -> None:
    """On main 300 notes; on exp 100 of them are changed, 50 deleted, 50 moved, and 50 are new."""
    git(root, "init", "-q", "-b", "main")
    place = [root / f"f{i % 7}" / f"n{i}.md" for i in range(300)]
    for i, file in enumerate(place):
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"# N{i}\n\ntext {i} to [[n{(i + 5) % 300}]]\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "1")
    git(root, "checkout", "-qb", "exp")
    for i, file in enumerate(place[:100]):
        file.write_text(f"{file.read_text()}- [more] of {i}\n")
    for file in place[100:150]:
        file.unlink()
    (root / "moved").mkdir()
    for file in place[150:200]:
        file.rename(root / "moved" / file.name)
    for i in range(300, 350):
        (root / f"moved/n{i}.md").write_text(f"new {i} to [[n{i - 300}]]\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "2")
    git(root, "checkout", "-q", "main")


async def test_sync_hidden_and_temp(watched: Any) -> None:
    """What comes while the server watches and is no note becomes none, and its folders are not watched.

    Seen in: basicmachines-co/basic-memory#30, krelltunez/dayGLANCE#1460,
    team-reflect/reflect-open#896.
    """
    conflict = "n.sync-conflict-20260101-120000-ABC.md"
    no_notes = (
        ".obsidian/x.md", ".trash/y.md", ".git/z.md", "node_modules/m/README.md", "n.md~",
        ".n.md.swp", "#n.md#", ".n.md.icloud", "n.md.tmp", ".syncthing.n.md.tmp", "~$n.md",
        "n.markdown",
    )  # fmt: skip
    watched.write(MARK, "mark\n")
    await watched.watch()
    for text in ("1\n", "2\n"):
        watched.write_all(dict.fromkeys(no_notes, text))
        watched.write_all({conflict: "real text\n", "N.MD": "upper ending\n", "n.md": text})
        await watched.quiet()
        assert marked(watched) == {conflict: "real text\n", "N.MD": "upper ending\n", "n.md": text}
    watch = watched.leader_now().watch
    assert watch.folders == 1
    assert not {event.path for event in watch.recent_events}.intersection(no_notes)


async def test_sync_root_missing(watched: Any, tmp_path: Path) -> None:
    """The folder goes while the server runs, an empty one comes, the real one comes back.

    Better, taken: with the empty folder nothing is deleted.

    Seen in: aliasunder/vault-cortex#458, openclaw/openclaw#97523, laurent22/joplin#3846 and #883.
    """
    watched.write_all({f"{name}.md": f"{name} to [[a]]\n" for name in "abcde"})
    await watched.watch()
    before = identities(watched)
    watched.expect_error("cannot be synced")

    watched.by_hand(lambda root: root.rename(tmp_path / "away"))
    await until(lambda: "is not there" in (watched.state_now().last_error or ""))
    [listed] = await watched.ask("list_memory_projects", {})
    assert listed["projects"][0]["status"].startswith("failed: ")
    assert identities(watched) == before

    watched.by_hand(lambda root: root.mkdir())
    await until(lambda: watched.state_now().held == 5)
    [hits] = await watched.ask("search_notes", {"query": "to"})
    assert {bool(hit["file_missing_since"]) for hit in hits["results"]} == {True}
    assert identities(watched) == before

    watched.by_hand(lambda root: (root.rmdir(), (tmp_path / "away").rename(root)))
    missing = "SELECT count(*) FROM entity WHERE missing_since IS NOT NULL"
    await until(lambda: watched.rows(missing) == [(0,)])
    assert identities(watched) == before
    assert [edge.to for edge in watched.edges("e.md")] == ["a.md"]
    watched.write("e.md", "seen again\n")
    await until(lambda: bodies(watched)["e.md"] == "seen again\n")
    assert identities(watched) == before


async def test_sync_stale_read(watched: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader is never given the text of a file that is gone, though the watcher has not seen it yet.

    Better, not taken: for as long as a change waits for its quiet moment, a search finds what was there.

    Seen in: tobi/qmd#961 and #585.
    """
    watched.write_all({"n.md": "ghost token 777\n", MARK: "mark\n"})
    await watched.watch()
    gate = asyncio.Event()
    sync_paths = SyncService.sync_paths

    async def wait_and_sync(self: SyncService, paths: Any) -> Any:
        await gate.wait()
        return await sync_paths(self, paths)

    monkeypatch.setattr(SyncService, "sync_paths", wait_and_sync)
    watched.delete("n.md")
    error = await watched.refused("read_note", path="n.md")
    assert error["code"] == "NOTE_NOT_FOUND"
    assert await watched.search("777") == ["n.md"]
    gate.set()
    await watched.quiet()
    assert await watched.search("777") == []
