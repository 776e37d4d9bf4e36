"""Which note a file is after it moved, changed, or both."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from memoranda.sync import sync_service

Ids = dict[str, tuple[object, ...]]


def ids(index) -> Ids:
    """Path -> entity id, external id and first-seen time."""
    rows = index.rows("SELECT file_path, id, external_id, created_at FROM entity")
    return {path: identity for path, *identity in rows}


def rename(index, source: str, target: str) -> None:
    (index.root / target).parent.mkdir(parents=True, exist_ok=True)
    (index.root / source).rename(index.root / target)


def as_git_writes(file: Path, content: str) -> None:
    """A new file in place of the old one."""
    file.unlink(missing_ok=True)
    file.write_text(content)


async def test_a_chain_of_renames_keeps_the_notes_and_their_relations(index):
    for name in "abc":
        index.write(f"{name}.md", f"text of {name} - see [[x]]\n- [fact] of {name}\n")
    index.write("x.md", "to [[a]], [[b]] and [[c]]\n")
    await index.sync.full_sync()
    before = ids(index)
    facts = dict(index.rows("SELECT content, external_id FROM observation"))
    for source, target in ("cd", "bc", "ab"):
        rename(index, f"{source}.md", f"{target}.md")
    report = await index.sync.full_sync()
    assert report.moved_files == (("a.md", "b.md"), ("b.md", "c.md"), ("c.md", "d.md"))
    assert (report.new_files, report.modified_files, report.deleted_files) == ((), (), ())
    after = ids(index)
    assert after == {
        "b.md": before["a.md"],
        "c.md": before["b.md"],
        "d.md": before["c.md"],
        "x.md": before["x.md"],
    }
    assert dict(index.rows("SELECT content, external_id FROM observation")) == facts


@pytest.mark.parametrize("how", ["rename", "git"])
async def test_files_that_change_places_take_their_notes_along(index, how):
    texts = {name: f"text of {name}, {'longer ' * i}\n" for i, name in enumerate("abc")}
    for name, text in texts.items():
        index.write(f"{name}.md", text)
    await index.sync.full_sync()
    before = ids(index)
    if how == "rename":
        for source, target in (("a", "aside"), ("c", "a"), ("b", "c"), ("aside", "b")):
            (index.root / f"{source}.md").rename(index.root / f"{target}.md")
    else:
        for source, target in ("ab", "bc", "ca"):
            as_git_writes(index.root / f"{target}.md", texts[source])
    report = await index.sync.full_sync()
    assert len(report.moved_files) == 3
    after = ids(index)
    assert (after["b.md"], after["c.md"], after["a.md"]) == (
        before["a.md"],
        before["b.md"],
        before["c.md"],
    )


@pytest.mark.parametrize("ring", [False, True])
async def test_a_long_row_of_renames_in_small_batches_keeps_every_note(index, monkeypatch, ring):
    monkeypatch.setattr("memoranda.sync.work.BATCH_FILES", 3)
    monkeypatch.setattr("memoranda.sync.work.SMALL_BATCH_FILES", 3)
    for i in range(12):
        index.write(f"{i:02}.md", f"text {i}\n")
    await index.sync.full_sync()
    before = ids(index)
    if ring:
        rename(index, "11.md", "aside")
    for i in reversed(range(11 if ring else 12)):
        rename(index, f"{i:02}.md", f"{i + 1:02}.md")
    if ring:
        rename(index, "aside", "00.md")
    await index.sync.full_sync()
    expected = {f"{i + 1:02}.md": before[f"{i:02}.md"] for i in range(11 if ring else 12)}
    if ring:
        expected["00.md"] = before["11.md"]
    assert ids(index) == expected


async def test_a_folder_that_is_renamed_keeps_all_its_notes(index):
    for i in range(40):
        index.write(f"proj/{i % 4}/n{i}.md", f"# Note {i}\n[[n{i + 1}]] and [x](../0/n0.md)\n")
    for i in range(5):
        index.write(f"proj/{i}/index.md", "")
    await index.sync.full_sync()
    before = ids(index)
    rename(index, "proj", "archive/proj")
    report = await index.sync.full_sync()
    assert len(report.moved_files) == 45
    assert ids(index) == {f"archive/{path}": one for path, one in before.items()}


@pytest.mark.parametrize(("old", "new"), [("Note.md", "NOTE.md"), ("e\u0301.md", "\u00e9.md")])
async def test_a_name_in_another_spelling_is_the_same_note_edited_or_not(index, old, new):
    index.write(old, "before\n")
    await index.sync.full_sync()
    before = ids(index)
    rename(index, old, new)
    index.write(new, "another text altogether\n")
    report = await index.sync.full_sync()
    assert report.moved_files == ((old, new),)
    assert ids(index) == {new: before[old]}
    assert index.rows("SELECT content FROM entity") == [("another text altogether\n",)]


async def test_a_note_moved_to_another_folder_and_edited_in_place_is_the_same(index):
    index.write("inbox/plan.md", "first\n")
    index.write("other.md", "see [[plan]]\n")
    await index.sync.full_sync()
    before = ids(index)
    rename(index, "inbox/plan.md", "done/plan.md")
    with (index.root / "done/plan.md").open("a") as file:
        file.write("second\n")
    await index.sync.full_sync()
    assert ids(index)["done/plan.md"] == before["inbox/plan.md"]


async def test_a_note_renamed_and_edited_in_place_is_the_same(index):
    index.write("draft.md", "# Draft\n\none\n\ntwo\n\nthree\n")
    index.write("other.md", "x\n")
    await index.sync.full_sync()
    before = ids(index)
    rename(index, "draft.md", "final.md")
    index.write("final.md", "---\ntitle: Final\n---\n# Final\n\none\n\ntwo\n\nthree\n")
    await index.sync.full_sync()
    assert ids(index)["final.md"] == before["draft.md"]


async def test_a_new_note_that_got_the_inode_of_a_deleted_one_is_new(index):
    """The same inode, made by renaming and writing anew: the text decides."""
    index.write("gone.md", "one\ntwo\nthree\n")
    index.write("other.md", "x\n")
    await index.sync.full_sync()
    before = ids(index)
    rename(index, "gone.md", "came.md")
    index.write("came.md", "something else\n")
    report = await index.sync.full_sync()
    assert (report.new_files, report.deleted_files) == (("came.md",), ("gone.md",))
    assert ids(index)["came.md"] != before["gone.md"]


async def test_an_atomic_save_keeps_the_note_and_what_points_at_it(index):
    index.write("n.md", "v1 [[x]]\n")
    index.write("x.md", "[[n]]\n")
    await index.sync.full_sync()
    before = ids(index)
    (relation,) = index.rows("SELECT external_id FROM relation WHERE to_name = 'n'")
    index.write("n.md.tmp~", "v2 [[x]]\n")
    rename(index, "n.md.tmp~", "n.md")
    await index.sync.full_sync()
    rename(index, "n.md", "n.md~")
    index.write("n.md", "v3\n")
    (index.root / "n.md~").unlink()
    await index.sync.full_sync()
    assert ids(index) == before
    assert index.rows("SELECT external_id FROM relation WHERE to_id IS NOT NULL") == [relation]


async def test_a_conflict_copy_is_a_new_note_and_the_note_stays(index):
    index.write("n.md", "mine\n")
    await index.sync.full_sync()
    before = ids(index)
    rename(index, "n.md", "n.sync-conflict-20260101-120000-ABC.md")
    index.write("n.md", "theirs, and longer\n")
    report = await index.sync.full_sync()
    assert report.modified_files == ("n.md",)
    assert len(report.new_files) == 1
    assert ids(index)["n.md"] == before["n.md"]


async def test_a_note_moved_over_another_is_a_change_of_that_one(index):
    index.write("a.md", "text of a\n")
    index.write("b.md", "text of b, longer\n")
    await index.sync.full_sync()
    before = ids(index)
    rename(index, "a.md", "b.md")
    report = await index.sync.full_sync()
    assert (report.modified_files, report.deleted_files) == (("b.md",), ("a.md",))
    assert ids(index) == {"b.md": before["b.md"]}


async def test_a_file_that_only_the_second_look_misses_is_kept(index, monkeypatch):
    """A deletion makes the sync look twice; a rename under way may hide another file from one look."""
    for name in "abc":
        index.write(f"{name}.md", f"text {name}\n")
    await index.sync.full_sync()
    before = ids(index)
    (index.root / "a.md").unlink()
    scan, looks = sync_service.scan_folder, []

    def hiding(root, **how):
        looks.append(found := scan(root, **how))
        if len(looks) == 2:
            found = replace(found, files=tuple(f for f in found.files if f.path != "b.md"))
        return found

    monkeypatch.setattr(sync_service, "scan_folder", hiding)
    report = await index.sync.full_sync()
    assert report.deleted_files == ("a.md",)
    assert ids(index) == {path: before[path] for path in ("b.md", "c.md")}


async def test_a_rename_between_two_looks_keeps_the_note(index, monkeypatch):
    for name in "abc":
        index.write(f"{name}.md", f"text {name}\n")
    await index.sync.full_sync()
    before = ids(index)
    rename(index, "a.md", "a2.md")
    scan, looks = sync_service.scan_folder, []

    def then_rename(root, **how):
        looks.append(found := scan(root, **how))
        if len(looks) == 1:
            rename(index, "b.md", "b2.md")
        return found

    monkeypatch.setattr(sync_service, "scan_folder", then_rename)
    await index.sync.full_sync()
    assert ids(index) == {f"{n}2.md": before[f"{n}.md"] for n in "ab"} | {"c.md": before["c.md"]}


async def test_more_deletions_than_a_batch_holds_leave_no_link_behind(index, monkeypatch):
    monkeypatch.setattr("memoranda.sync.work.BATCH_FILES", 3)
    monkeypatch.setattr("memoranda.sync.work.SMALL_BATCH_FILES", 3)
    for i in range(10):
        index.write(f"gone/{i}.md", f"number {i}\n")
    index.write("stays.md", "".join(f"[[{i}]] " for i in range(10)))
    await index.sync.full_sync()
    for i in range(10):
        (index.root / f"gone/{i}.md").unlink()
    report = await index.sync.full_sync()
    assert len(report.deleted_files) == 10
    assert index.rows("SELECT count(*), count(to_id) FROM relation") == [(10, 0)]
    assert index.rows("SELECT count(*) FROM entity WHERE links_dirty") == [(0,)]


async def test_a_folder_that_becomes_a_link_in_a_circle_loses_its_notes(index):
    index.write("x/a.md", "text\n")
    index.write("b.md", "text of b\n")
    await index.sync.full_sync()
    (index.root / "x/a.md").unlink()
    (index.root / "x").rmdir()
    (index.root / "x").symlink_to("x/a.md")
    report = await index.sync.full_sync()
    assert report.deleted_files == ("x/a.md",)


async def test_a_copy_is_another_note(index):
    index.write("a.md", "same\n")
    await index.sync.full_sync()
    before = ids(index)
    index.write("b.md", "same\n")
    os.utime(index.root / "b.md", ns=(1, (index.root / "a.md").stat().st_mtime_ns))
    await index.sync.full_sync()
    after = ids(index)
    assert after["a.md"] == before["a.md"]
    assert after["b.md"][0] != before["a.md"][0]
