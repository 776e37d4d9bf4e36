"""What happens to files that other tools stumbled over, seen by a scan. See README.md in this folder.

`test_watch.py` has the cases of watching once more, with nobody asking for a scan.
"""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Ids = dict[str, tuple[int, str]]


def identities(vault: Any) -> Ids:
    """Path -> id and external id."""
    rows = vault.rows("SELECT file_path, id, external_id FROM entity ORDER BY file_path")
    return {path: (i, external_id) for path, i, external_id in rows}


def bodies(vault: Any) -> dict[str, str]:
    """Path -> text."""
    return dict(vault.rows("SELECT file_path, content FROM entity ORDER BY file_path"))


def rename(vault: Any, *pairs: tuple[str, str]) -> None:
    """Rename files or folders, one after the other."""

    def change(root: Path) -> None:
        for source, target in pairs:
            (root / target).parent.mkdir(parents=True, exist_ok=True)
            (root / source).rename(root / target)

    vault.by_hand(change)


async def test_sync_atomic_save(vault: Any) -> None:
    """A save by renaming keeps the note, its id and what points at it.

    Better, taken: no note comes or goes on the way.

    Seen in: samuelcolvin/watchfiles#127, arizona-framework/arizona#575, air-verse/air#908,
    ddutchie/cairn#99.
    """
    vault.write_all({"n.md": "v1 [[X]]\n", "x.md": "[[n]]\n"})
    await vault.sync()
    before = identities(vault)

    def save(root: Path) -> None:
        (root / "n.md.tmp~").write_text("v2 [[X]]\n")
        (root / "n.md.tmp~").rename(root / "n.md")

    vault.by_hand(save)
    await vault.sync()

    def save_with_backup(root: Path) -> None:
        (root / "n.md").rename(root / "n.md~")
        (root / "n.md").write_text("v3\n")

    vault.by_hand(save_with_backup)
    await vault.sync()
    vault.by_hand(lambda root: (root / "n.md~").unlink())
    await vault.sync()
    assert identities(vault) == before
    assert bodies(vault)["n.md"] == "v3\n"
    assert [edge.to for edge in vault.edges("x.md")] == ["n.md"]


async def test_sync_double_save(vault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A save while an earlier one is being indexed is not lost, however many there are.

    Better, taken: the watcher waits for the end of a burst (`test_watch.py`).

    Seen in: the documentation of watchfiles on debouncing, basicmachines-co/basic-memory#30.
    """
    from memoranda.services.entity import EntityService

    vault.write("n.md", "v0\n")
    await vault.sync()
    index_many, number = EntityService.index_many, 0

    async def save_and_index(self: EntityService, *args: Any, **how: Any) -> Any:
        nonlocal number
        if number < 50:
            number += 1
            text = "v50 final\n" if number == 50 else f"v{number:02} again\n"
            vault.by_hand(lambda root: (root / "n.md").write_text(text))
        return await index_many(self, *args, **how)

    monkeypatch.setattr(EntityService, "index_many", save_and_index)
    vault.write("n.md", "the first save\n")
    for _ in range(51):
        await vault.sync()
    assert number == 50
    assert bodies(vault) == {"n.md": "v50 final\n"}
    assert await vault.search("final") == ["n.md"]


async def test_sync_half_written(vault: Any) -> None:
    """A file that is seen half written is right once it is whole, and its breaker is untouched.

    Seen in: watchexec/watchexec#567, dean0x/skim#379.
    """
    whole = "---\ntitle: Slow\n---\n- [fact] whole\n"
    for end in (2, 9, 14, 22):
        vault.write("n.md", whole[:end])
        await vault.sync()
    vault.write("n.md", whole)
    await vault.sync()
    assert vault.notes() == {"n.md": "Slow"}
    assert [fact.content for fact in vault.facts("n.md")] == ["whole"]
    assert vault.rows("SELECT * FROM file_failure") == []


async def test_sync_identical_files(vault: Any) -> None:
    """Equal files are told apart: by name, one to one.

    Seen in: syncany/syncany#142, owncloud/client#2983, the oldwinter-garden vault (21 equal files).
    """
    vault.write_all({"a.md": "same\n", "b.md": "same\n"})
    vault.write_all({f"t/{i}.md": "" for i in (1, 2, 3)})
    await vault.sync()
    first = identities(vault)
    vault.delete("a.md")
    await vault.sync()
    assert identities(vault) == {path: one for path, one in first.items() if path != "a.md"}
    vault.write("c.md", "same\n")
    await vault.sync()
    second = identities(vault)
    assert second["b.md"] == first["b.md"]
    assert second["c.md"] not in first.values()
    rename(vault, ("t", "u"))
    await vault.sync()
    third = identities(vault)
    assert [third[f"u/{i}.md"] for i in (1, 2, 3)] == [first[f"t/{i}.md"] for i in (1, 2, 3)]
    assert len(third) == 5


async def test_sync_move_chain(vault: Any) -> None:
    """A chain of renames and a swap meet no unique rule, and every text keeps its id.

    Better, taken: in the swap too.

    Seen in: basicmachines-co/basic-memory#205.
    """
    vault.write_all({f"{name}.md": f"text {name}\n" for name in "abc"})
    await vault.sync()
    first = identities(vault)
    rename(vault, ("c.md", "d.md"), ("b.md", "c.md"), ("a.md", "b.md"))
    await vault.sync()
    assert bodies(vault) == {"b.md": "text a\n", "c.md": "text b\n", "d.md": "text c\n"}
    assert identities(vault) == {
        "b.md": first["a.md"],
        "c.md": first["b.md"],
        "d.md": first["c.md"],
    }
    rename(vault, ("b.md", "third"), ("c.md", "b.md"), ("third", "c.md"))
    await vault.sync()
    assert bodies(vault) == {"b.md": "text b\n", "c.md": "text a\n", "d.md": "text c\n"}
    after = identities(vault)
    assert (after["b.md"], after["c.md"]) == (first["b.md"], first["a.md"])
    assert await vault.search('"text a"') == ["c.md"]


@pytest.mark.slow
async def test_sync_folder_rename(vault: Any) -> None:
    """A folder of a thousand notes under a new name: the same thousand notes.

    Seen in: basicmachines-co/basic-memory#185, emcrisostomo/fswatch#111.
    """
    vault.write("keep.md", "k\n")

    def make(root: Path) -> None:
        (root / "proj").mkdir()
        for i in range(1000):
            (root / f"proj/note{i:04}.md").write_text(f"# Note {i}\n" + "[[Note 1]] text\n" * 3)

    vault.by_hand(make)
    await vault.sync()
    before = identities(vault)
    rename(vault, ("proj", "archive/proj"))
    report = await vault.sync()
    assert (len(report.moved_files), report.new_files, report.deleted_files) == (1000, (), ())
    after = identities(vault)
    assert len(after) == 1001
    assert all(after[f"archive/{path}"] == one for path, one in before.items() if path != "keep.md")


@pytest.mark.slow
async def test_sync_git_checkout(vault: Any) -> None:
    """After a checkout the index is that of the tree, whatever it was before.

    Seen in: libgit2/libgit2#3236, msysgit/git#312.
    """

    def git(*arguments: str) -> Callable[[Path], object]:
        who = ["-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "gc.auto=0"]
        return lambda root: subprocess.run(
            ["git", *who, *arguments], cwd=root, check=True, capture_output=True
        )

    def first(root: Path) -> None:
        for i in range(300):
            file = root / f"f{i % 7}" / f"n{i}.md"
            file.parent.mkdir(exist_ok=True)
            file.write_text(f"# N{i}\n\ntext {i} to [[n{(i + 5) % 300}]]\n")

    def second(root: Path) -> None:
        for i in range(100):
            with (root / f"f{i % 7}" / f"n{i}.md").open("a") as file:
                file.write(f"- [more] of {i}\n")
        for i in range(100, 150):
            (root / f"f{i % 7}" / f"n{i}.md").unlink()
        (root / "moved").mkdir()
        for i in range(150, 200):
            (root / f"f{i % 7}" / f"n{i}.md").rename(root / f"moved/n{i}.md")
        for i in range(300, 350):
            (root / f"moved/n{i}.md").write_text(f"new {i} to [[n{i - 300}]]\n")

    steps = (
        git("init", "-q", "-b", "main"), first, git("add", "."), git("commit", "-qm", "1"),
        git("checkout", "-qb", "exp"), second, git("add", "-A"), git("commit", "-qm", "2"),
        git("checkout", "-q", "main"),
    )  # fmt: skip
    for step in steps:
        vault.by_hand(step)
    await vault.sync()
    for branch in ("exp", "main", "exp"):
        vault.by_hand(git("checkout", "-q", branch))
        await vault.sync()
    tables = {
        "notes": "SELECT file_path, title, permalink, checksum FROM entity ORDER BY 1",
        "relations": """SELECT s.file_path, t.file_path, to_name, relation_type FROM relation r
            JOIN entity s ON s.id = r.from_id LEFT JOIN entity t ON t.id = r.to_id ORDER BY 1, 2, 3, 4""",
        "facts": """SELECT e.file_path, o.content, o.permalink FROM observation o
            JOIN entity e ON e.id = o.entity_id ORDER BY 1, 2""",
    }
    found = {name: vault.rows(sql) for name, sql in tables.items()}
    assert len(found["notes"]) == 300
    assert not any(".git" in path for path, *_ in found["notes"])
    await vault.rebuild()
    assert found == {name: vault.rows(sql) for name, sql in tables.items()}


async def test_sync_hidden_and_temp(vault: Any) -> None:
    """Editors' and sync tools' own files are no notes; a conflict copy and `N.MD` are.

    Better, taken: `N.MD` counts, `node_modules` is left out, `.markdown` is not an ending of a note.

    Seen in: basicmachines-co/basic-memory#30, krelltunez/dayGLANCE#1460,
    team-reflect/reflect-open#896.
    """
    conflict = "n.sync-conflict-20260101-120000-ABC.md"
    no_notes = (
        ".obsidian/x.md", ".trash/y.md", ".git/z.md", "node_modules/m/README.md", "n.md~",
        ".n.md.swp", "#n.md#", ".n.md.icloud", "n.md.tmp", ".syncthing.n.md.tmp", "~$n.md",
        "n.markdown",
    )  # fmt: skip
    vault.write_all(dict.fromkeys(no_notes, "1\n"))
    vault.write_all({conflict: "real text\n", "N.MD": "upper ending\n", "n.md": "real\n"})
    await vault.sync()
    assert set(vault.notes()) == {"n.md", "N.MD", conflict}


async def test_sync_unreadable(vault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be read is not deleted, is named, and is as before when it can be read again.

    Seen in: flowing-abyss/obsidian-hybrid-search#36, obsidianmd/obsidian-headless#19, spec 12.2.
    Permissions do not bind root, so the refusals are those of the system, made here.
    """
    files = {"ok.md": "o\n", "dir/a.md": "apple\n", "dir/b.md": "b\n", "c.md": "c\n"}
    vault.write_all(files)
    await vault.sync()
    before = identities(vault)
    scandir, opened = os.scandir, os.open

    def refused(path: object) -> bool:
        return any(str(path).rstrip("/").endswith(end) for end in ("/dir", "/c.md")) or (
            "/dir/" in str(path)
        )

    def deny(call: Callable[..., Any]) -> Callable[..., Any]:
        def denied(path: Any, *args: Any, **how: Any) -> Any:
            if refused(path):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
            return call(path, *args, **how)

        return denied

    vault.by_hand(lambda root: (root / "c.md").chmod(0o000))
    vault.by_hand(lambda root: (root / "dir").chmod(0o000))
    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", deny(scandir))
        patch.setattr(os, "open", deny(opened))
        report = await vault.scan(is_readable=False)
        assert [failure.path for failure in report.failures] == ["c.md"]
        assert [one.path for one in report.skipped] == ["dir"]
        assert report.deleted_files == ()
        assert identities(vault) == before
        [hits] = await vault.ask("search_notes", {"query": "apple"})
        assert [hit["file_path"] for hit in hits["results"]] == ["dir/a.md"]
        assert hits["results"][0]["file_missing_since"]
        assert vault.warnings("c.md is not indexed")
        assert vault.warnings("dir cannot be looked into")
    vault.by_hand(lambda root: (root / "c.md").chmod(0o644))
    vault.by_hand(lambda root: (root / "dir").chmod(0o755))
    await vault.sync()
    assert identities(vault) == before
    assert vault.rows("SELECT * FROM file_failure") == []


async def test_sync_root_missing(vault: Any, tmp_path: Path) -> None:
    """A folder that is not there, or empty, costs no note.

    Better, taken: a mass deletion waits, or for a word of the user.

    Seen in: aliasunder/vault-cortex#458, openclaw/openclaw#97523, laurent22/joplin#3846 and #883.
    """
    vault.write_all({f"{name}.md": f"{name} to [[a]]\n" for name in "abcde"})
    await vault.sync()
    before = identities(vault)
    await vault.restart()
    vault.by_hand(lambda root: root.rename(tmp_path / "away"))
    vault.expect_error("cannot be synced")
    [listed] = await vault.ask("list_memory_projects", {})
    [project] = listed["projects"]
    assert project["status"].startswith("failed: ")
    assert "is not there" in project["status"]
    assert identities(vault) == before
    vault.by_hand(lambda root: root.mkdir())
    report = await vault.scan()
    assert (len(report.held), report.deleted_files) == (5, ())
    [hits] = await vault.ask("search_notes", {"query": "to"})
    assert {bool(hit["file_missing_since"]) for hit in hits["results"]} == {True}
    vault.by_hand(lambda root: (root.rmdir(), (tmp_path / "away").rename(root)))
    report = await vault.sync()
    assert (report.held, report.new_files) == ((), ())
    assert identities(vault) == before
    assert [edge.to for edge in vault.edges("e.md")] == ["a.md"]


async def test_sync_stale_read(vault: Any) -> None:
    """The text of a file that is gone is never given as if it were there.

    Better, taken: after a scan a search does not find it.

    Seen in: tobi/qmd#961 and #585.
    """
    vault.write_all({"n.md": "ghost token 777\n", "other.md": "o\n"})
    await vault.sync()
    vault.delete("n.md")
    error = await vault.refused("read_note", path="n.md")
    assert error["code"] == "NOTE_NOT_FOUND"
    await vault.sync()
    assert await vault.search("777") == []


async def test_sync_created_modified(vault: Any) -> None:
    """Dates of every make: a day, milliseconds, none; what is no date comes from the file.

    Better, taken: milliseconds are read as such.

    Seen in: spec 3.5, supermemoryai/openclaw-supermemory#61, two of the ten vaults.
    """
    vault.write_all(
        {
            "a.md": "---\ncreated: 2020-01-02\nmodified: not a date\n---\nx\n",
            "b.md": "---\ncreated: 1612345678901\n---\ny\n",
            "c.md": "z\n",
        }
    )
    await vault.sync()
    dates = {
        path: (str(created)[:10], str(modified)[:10])
        for path, created, modified in vault.rows(
            "SELECT file_path, note_created, note_modified FROM entity"
        )
    }
    of_the_file = {
        path: str(when)[:10]
        for path, when in vault.rows(
            "SELECT file_path, datetime(mtime_ns / 1000000000, 'unixepoch') FROM entity"
        )
    }
    assert dates["a.md"][1] == of_the_file["a.md"]
    assert dates["a.md"][0] in {"2020-01-01", "2020-01-02"}, (
        "the day of this machine's zone, in UTC"
    )
    assert dates["b.md"][0] == "2021-02-03"
    assert dates["c.md"] == (of_the_file["c.md"], of_the_file["c.md"])


async def test_sync_multi_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, serve: Callable[..., Any]
) -> None:
    """Two names for one permalink, a project inside another: a rule, said, and no hit of another's.

    Seen in: basicmachines-co/basic-memory#759 and #167, tobi/qmd#645.
    """
    for path, text in (("p1/a.md", "one"), ("p2/a.md", "two"), ("p1/inner/b.md", "three [[a]]")):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text + "\n")
    projects = {"One": "p1", "Two": "p2", "Inner": "p1/inner", "one": "p2"}
    async with serve({name: tmp_path / path for name, path in projects.items()}) as ask:
        listed = (await ask("list_memory_projects"))["projects"]
        status = {one["name"]: one["status"] for one in listed}
        assert status["one"].startswith("disabled: ")
        assert not any(status[name].startswith("disabled") for name in ("One", "Two", "Inner"))

        async def found(query: str, project: str) -> list[str]:
            data = await ask("search_notes", query=query, project=project, search_type="fts")
            return [hit["file_path"] for hit in data["results"]]

        assert await found("three", "One") == []
        assert await found("two", "One") == []
        assert await found("one", "One") == ["a.md"]
        assert await found("three", "Inner") == ["b.md"]
        note = await ask("read_note", path="b.md", project="Inner")
        assert [relation["to_permalink"] for relation in note["relations"]] == [None]
