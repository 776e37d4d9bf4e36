"""Taking changes back: exactly where nothing came later, merged where it can be, else not at all."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from tests.integration.conftest import Index
from tests.integration.undo_world import CLAUDE, CURSOR, UndoWorld

from memoranda.errors import (
    ChangeNotFound,
    Conflict,
    FileProblem,
    InvalidArgument,
    NoteNotFound,
    NotIndexed,
    NotReady,
    UndoConflict,
)
from memoranda.files.clock import SystemClock
from memoranda.files.file_service import FileService
from memoranda.model.address import NotePath
from memoranda.model.file_change import NoteChange, OtherFileMove
from memoranda.model.history import Author, ChangeKind, ChangeState
from memoranda.model.undoing import UndoAction
from memoranda.services.change_indexing import index_changes
from memoranda.services.recorded import version

LATIN = "Caf\xe9\nsecond\nthird\n".encode("latin-1")


@pytest.fixture
async def world(index: Index) -> UndoWorld:
    index.write("a.md", "one\ntwo\nthree\nfour\n")
    index.write("sub/b.md", "# B\n\nSee [[a]] and ![](pic.png).\n")
    index.write("sub/pic.png", b"\x89PNG\0")
    index.write("latin.md", LATIN)
    await index.sync.full_sync()
    return UndoWorld(index)


async def conflict(world: UndoWorld, change_id: int) -> UndoConflict:
    """An undo that must be refused, and must not change anything."""
    files, changes = world.files(), world.index.history.summary().changes
    with pytest.raises(UndoConflict) as refused:
        await world.undo(change_id)
    assert world.files() == files
    assert world.index.history.summary().changes == changes
    return refused.value


async def test_an_edit_is_taken_back_byte_for_byte(world: UndoWorld) -> None:
    before = world.files()
    change = await world.replace("a.md", "two", "2")
    result = await world.undo(change)
    assert world.files() == before
    assert [one.change_id for one in result.changes] == [change]
    (file,) = result.files
    assert (file.path, file.action, file.is_merged) == ("a.md", UndoAction.REWRITTEN, False)
    assert "-2\n+two\n" in file.diff
    assert (world.last.change_id, world.last.author) == (result.change_id, CLAUDE)
    assert world.index.rows("SELECT checksum FROM entity WHERE file_path = 'a.md'") == [
        (world.last.after,)
    ]


async def test_the_undo_of_an_undo_is_the_redo(world: UndoWorld) -> None:
    change = await world.replace("a.md", "two", "2")
    after = world.files()
    undone = await world.undo(change)
    assert undone.change_id is not None
    await world.undo(undone.change_id)
    assert world.files() == after


async def test_what_was_undone_before_is_left_alone(world: UndoWorld) -> None:
    made = await world.put("new.md", "text\n")
    gone = await world.delete("a.md")
    moved = await world.move("sub/b.md", "b2.md")
    changed = await world.append("latin.md", "fourth\n")
    for change in (made, gone, moved, changed):
        await world.undo(change)
        files, number = world.files(), world.index.history.summary().changes
        again = await world.undo(change)
        assert {file.action for file in again.files} == {UndoAction.UNCHANGED}
        assert again.change_id is None
        assert world.files() == files
        assert world.index.history.summary().changes == number


async def test_a_dry_run_says_what_would_be_and_does_nothing(world: UndoWorld) -> None:
    change = await world.move("sub/b.md", "b2.md")
    files, number = world.files(), world.index.history.summary().changes
    planned = await world.undo(change, dry_run=True)
    assert world.files() == files
    assert world.index.history.summary().changes == number
    assert (planned.is_dry_run, planned.change_id) == (True, None)
    done = await world.undo(change)
    assert done.files == planned.files
    change = await world.replace("a.md", "one", "1")
    await world.replace("a.md", "1", "uno")
    with pytest.raises(UndoConflict):
        await world.undo(change, dry_run=True)


async def test_a_created_note_is_deleted_and_forgotten(world: UndoWorld) -> None:
    change = await world.put("new.md", "text\n")
    result = await world.undo(change)
    assert "new.md" not in world.files()
    assert [file.action for file in result.files] == [UndoAction.DELETED]
    assert not world.index.rows("SELECT 1 FROM entity WHERE file_path = 'new.md'")


async def test_a_created_note_that_was_edited_since_is_kept(world: UndoWorld) -> None:
    change = await world.put("new.md", "text\n")
    later = [await world.append("new.md", f"{n}\n", CURSOR) for n in range(2)]
    refused = await conflict(world, change)
    assert refused.changes == (later[1], later[0])
    assert "+0\n+1\n" in refused.diff
    assert f"change {later[1]}" in refused.hint


async def test_a_deleted_note_comes_back_and_is_found(world: UndoWorld) -> None:
    before = world.files()
    change = await world.delete("a.md")
    result = await world.undo(change)
    assert world.files() == before
    assert [file.action for file in result.files] == [UndoAction.CREATED]
    assert (await world.index.notes.read("sub/b.md")).relations[0].resolved


async def test_a_deleted_note_whose_name_is_taken_stays_in_the_history(world: UndoWorld) -> None:
    change = await world.delete("a.md")
    world.index.write("a.md", "another\n")
    refused = await conflict(world, change)
    assert (refused.changes, refused.diff) == ((), "")
    assert "another file" in refused.message


async def test_later_edits_of_other_lines_are_kept(world: UndoWorld) -> None:
    change = await world.replace("a.md", "two", "2")
    await world.replace("a.md", "four", "4", CURSOR)
    world.index.write("a.md", world.file("a.md") + b"by hand\n")
    result = await world.undo(change)
    assert world.file("a.md") == b"one\ntwo\nthree\n4\nby hand\n"
    assert [file.is_merged for file in result.files] == [True]


async def test_one_of_two_appends_goes(world: UndoWorld) -> None:
    first = await world.append("a.md", "- first\n")
    await world.append("a.md", "- second\n", CURSOR)
    await world.undo(first)
    assert world.file("a.md") == b"one\ntwo\nthree\nfour\n- second\n"


async def test_later_edits_of_the_same_line_are_in_the_way(world: UndoWorld) -> None:
    change = await world.replace("a.md", "two", "2")
    later = await world.replace("a.md", "2", "zwei", CURSOR)
    refused = await conflict(world, change)
    assert refused.changes == (later,)
    assert "-2\n+zwei\n" in refused.diff
    assert "line 2 of it was changed since" in refused.reason


async def test_a_person_who_is_in_the_way_is_told_from_a_tool(world: UndoWorld) -> None:
    change = await world.replace("a.md", "two", "2")
    world.index.write("a.md", "one\nby hand\nthree\nfour\n")
    refused = await conflict(world, change)
    assert refused.changes == ()
    assert "person" in refused.hint


async def test_what_was_done_before_a_change_is_not_in_its_way(world: UndoWorld) -> None:
    await world.append("latin.md", "x\n")
    await world.replace("a.md", "four", "4", CURSOR)
    await world.replace("a.md", "two", "2")
    world.index.write("a.md", "one\nby hand\nthree\n4\n")
    with pytest.raises(UndoConflict) as refused:
        await world.service.undo(client="claude")
    assert refused.value.changes == ()


async def test_a_file_that_is_gone_is_in_the_way_of_taking_an_edit_back(world: UndoWorld) -> None:
    change = await world.replace("a.md", "two", "2")
    later = await world.delete("a.md", CURSOR)
    refused = await conflict(world, change)
    assert refused.changes == (later,)
    assert refused.reason.startswith(f"change {later} (by cursor) deleted it (found")
    edited = await world.append("latin.md", "fourth\n")
    (world.root / "latin.md").unlink()
    by_hand = await conflict(world, edited)
    assert by_hand.reason.startswith("the file is gone (found")
    assert by_hand.hint.endswith("moved or deleted it: put the file back there first.")


async def test_what_is_to_be_taken_back_first_can_be(world: UndoWorld) -> None:
    before = world.files()
    edited = await world.replace("a.md", "two", "2")
    moved = await world.move("a.md", "plans/a.md", CURSOR)
    again = await world.append("plans/a.md", "five\n", CURSOR)
    deleted = await world.delete("plans/a.md", CURSOR)
    refused = await conflict(world, edited)
    assert refused.message.startswith(
        f"a.md cannot be put back: change {deleted} (by cursor) deleted it at plans/a.md (found"
    )
    (move,) = (one for one in world.index.history.batch(moved) if one.moved_from == "a.md")
    assert refused.changes == (deleted, again, move.change_id)
    assert f"Take back change {deleted} (by cursor) first, then" in refused.hint
    for change in refused.changes:
        await world.undo(change)
    await world.undo(edited)
    assert world.files() == before


async def test_a_refused_undo_says_what_else_is_in_the_way(world: UndoWorld) -> None:
    for number in range(8):
        world.index.write(f"many/{number}.md", f"{number}\n")
    await world.index.sync.full_sync()
    moved = await world.move("many/", "more")
    ids = [await world.replace(f"more/{number}.md", f"{number}", "mine") for number in range(8)]
    for number in range(7):
        await world.replace(f"more/{number}.md", "mine", "theirs", CURSOR)
    assert "either" not in (await conflict(world, ids[0])).hint
    with pytest.raises(UndoConflict) as refused:
        await world.service.undo(client="claude")
    assert refused.value.path == "more/6.md"
    assert refused.value.hint.endswith(
        "first. 6 more files cannot be put back either: "
        "more/0.md, more/1.md, more/2.md, more/3.md, more/4.md and 1 more."
    )
    await world.service.undo(client="cursor")
    await world.put("many/3.md", "taken\n", CURSOR)
    await world.put("many/4.md", "taken\n", CURSOR)
    hint = (await conflict(world, moved)).hint
    assert hint.endswith("1 more file cannot be put back either: more/3.md.")


async def test_older_changes_of_a_file_in_the_way_are_no_other_files(world: UndoWorld) -> None:
    for text in ("2", "zwei"):
        await world.replace("a.md", "two" if text == "2" else "2", text)
    await world.move("a.md", "m.md")
    await world.replace("m.md", "zwei", "deux")
    await world.replace("m.md", "deux", "due", CURSOR)
    with pytest.raises(UndoConflict) as refused:
        await world.service.undo(client="claude")
    assert refused.value.path == "m.md"
    assert "either" not in refused.value.hint


async def test_an_older_version_that_came_back_holds_nothing_of_a_change(world: UndoWorld) -> None:
    await world.replace("a.md", "two", "2")
    change = await world.replace("a.md", "2", "zwei")
    world.index.write("a.md", "one\ntwo\nthree\nfour\n")
    result = await world.undo(change)
    assert [file.action for file in result.files] == [UndoAction.UNCHANGED]


async def test_an_edit_is_taken_back_where_the_note_was_moved_to(world: UndoWorld) -> None:
    change = await world.replace("a.md", "two", "2")
    await world.move("a.md", "sub/c.md", CURSOR)
    await world.move("sub/c.md", "d.md", CURSOR)
    result = await world.undo(change)
    assert world.file("d.md") == b"one\ntwo\nthree\nfour\n"
    assert [file.path for file in result.files] == ["d.md"]


async def test_a_file_is_followed_through_a_call_that_moved_several_at_once(
    world: UndoWorld,
) -> None:
    change = await world.replace("a.md", "two", "2")
    edited = world.file("a.md")
    a, latin, third = NotePath("a.md"), NotePath("latin.md"), NotePath("third.md")
    world.changes.apply(
        [NoteChange(latin, edited, edited, a), NoteChange(third, LATIN, LATIN, latin)], CURSOR
    )
    await world.undo(change)
    assert world.file("latin.md") == b"one\ntwo\nthree\nfour\n"
    assert world.file("third.md") == LATIN


async def test_a_move_goes_back_with_its_links_and_keeps_the_identity(world: UndoWorld) -> None:
    before, identity = world.files(), world.identity("sub/b.md")
    change = await world.move("sub/b.md", "plans/b2.md")
    assert world.files() != before
    result = await world.undo(change)
    assert world.files() == before
    assert world.identity("sub/b.md") == identity
    (file,) = result.files
    assert (file.path, file.moved_from, file.action) == (
        "sub/b.md",
        "plans/b2.md",
        UndoAction.MOVED,
    )
    assert not (world.root / "plans").exists()


async def test_every_change_of_a_call_goes_with_any_of_them(world: UndoWorld) -> None:
    world.index.write("c.md", "[B](sub/b.md)\n")
    await world.index.sync.full_sync()
    before = world.files()
    batch = world.index.history.batch(await world.move("sub/", "deep/down"))
    assert {change.kind for change in batch} == {ChangeKind.MOVED, ChangeKind.UPDATED}
    assert "deep/down/pic.png" in world.files()
    result = await world.undo(batch[-1].change_id)
    assert world.files() == before
    assert list(result.changes) == batch[::-1]


async def test_a_moved_note_that_was_edited_goes_back_with_the_edit(world: UndoWorld) -> None:
    change = await world.move("sub/b.md", "plans/b2.md")
    await world.append("plans/b2.md", "- later\n", CURSOR)
    moved = world.file("plans/b2.md")
    await world.undo(change)
    assert world.file("sub/b.md") == moved.replace(b"../sub/pic.png", b"pic.png")
    assert world.file("sub/b.md").endswith(b"- later\n")


async def test_a_move_on_is_named(world: UndoWorld) -> None:
    change = await world.move("a.md", "c.md")
    later = await world.move("c.md", "d.md", CURSOR)
    refused = await conflict(world, change)
    (later_change,) = refused.changes
    assert later_change in {each.change_id for each in world.index.history.batch(later)}
    assert "moved on to d.md" in refused.reason


async def test_a_note_that_came_back_is_not_moved_again(world: UndoWorld) -> None:
    by_tool = await world.move("a.md", "c.md")
    await world.move("c.md", "a.md", CURSOR)
    await world.append("a.md", "later\n", CURSOR)
    by_hand = await world.move("latin.md", "l.md")
    (world.root / "l.md").rename(world.root / "latin.md")
    files = world.files()
    for change, path in ((by_tool, "a.md"), (by_hand, "latin.md")):
        result = await world.undo(change)
        assert {file.action for file in result.files} == {UndoAction.UNCHANGED}
        assert {file.path for file in result.files} - {"sub/b.md"} == {path}
    assert world.files() == files


async def test_a_moved_file_that_is_gone_or_whose_old_place_is_taken_stays(
    world: UndoWorld,
) -> None:
    change = await world.move("a.md", "c.md")
    taken = await world.put("a.md", "new\n", CURSOR)
    refused = await conflict(world, change)
    assert refused.changes == (taken,)
    assert "taken" in refused.reason
    (world.root / "c.md").unlink()
    assert "gone" in (await conflict(world, change)).reason


async def test_a_second_name_of_a_moved_file_takes_its_old_place(world: UndoWorld) -> None:
    change = await world.move("a.md", "c.md")
    (world.root / "a.md").hardlink_to(world.root / "c.md")
    world.index.write("c.md", "edited\n")
    assert "taken" in (await conflict(world, change)).reason


async def test_a_picture_whose_old_place_is_taken_stays(world: UndoWorld) -> None:
    change = await world.move("sub/", "deep")
    world.index.write("sub/pic.png", b"new")
    assert "taken" in (await conflict(world, change)).reason


async def test_places_that_change_hands_are_given_back(world: UndoWorld) -> None:
    """Two notes and two pictures swap; a third note takes the place of a deleted one."""
    world.index.write("sub/pic2.png", b"\x89two")
    world.index.write("c.md", "c\n")
    await world.index.sync.full_sync()
    before, began = world.files(), SystemClock().now()
    identities = {path: world.identity(path) for path in ("a.md", "latin.md")}
    a, latin = NotePath("a.md"), NotePath("latin.md")
    swap = (
        NoteChange(a, LATIN, LATIN + b"x\n", latin),
        NoteChange(latin, before["a.md"], before["a.md"], a),
        OtherFileMove("sub/pic.png", "sub/pic2.png"),
        OtherFileMove("sub/pic2.png", "sub/pic.png"),
    )
    world.changes.apply(swap, CLAUDE)
    await index_changes(
        world.index.store,
        world.index.files,
        world.index.notes._fulltext,
        swap,
    )
    await world.delete("sub/b.md")
    await world.move("c.md", "sub/b.md")
    await world.service.undo(since=began)
    assert world.files() == before
    assert {path: world.identity(path) for path in identities} == identities


async def test_a_note_goes_back_to_a_place_that_a_new_one_took(world: UndoWorld) -> None:
    before, began = world.files(), SystemClock().now()
    await world.move("a.md", "c.md")
    await world.put("a.md", "new\n")
    await world.put("c2.md", "new too\n")
    await world.move("a.md", "c3.md")
    await world.put("a.md", "newest\n")
    await world.service.undo(since=began)
    assert world.files() == before
    assert world.index.rows("SELECT file_path FROM entity ORDER BY 1") == [
        ("a.md",),
        ("latin.md",),
        ("sub/b.md",),
    ]


async def test_what_a_client_made_and_somebody_removed_is_nothing_to_take_back(
    world: UndoWorld,
) -> None:
    before = world.files()
    await world.put("new.md", "text\n")
    await world.append("new.md", "more\n")
    await world.move("new.md", "newer.md")
    await world.append("newer.md", "and more\n")
    (world.root / "newer.md").unlink()
    result = await world.service.undo(client="claude")
    assert {file.action for file in result.files} == {UndoAction.UNCHANGED}
    assert world.files() == before


async def test_bytes_of_another_encoding_come_back_and_are_merged(world: UndoWorld) -> None:
    change = await world.replace("latin.md", "second", "zweit")
    world.index.write("latin.md", world.file("latin.md") + "tr\xe8s\n".encode("latin-1"))
    await world.undo(change)
    assert world.file("latin.md") == LATIN + "tr\xe8s\n".encode("latin-1")


async def test_all_of_a_client_since_a_time_and_only_that(world: UndoWorld) -> None:
    await world.append("a.md", "early\n")
    early = world.files()
    border = SystemClock().now()
    await world.append("a.md", "claude\n")
    await world.append("latin.md", "cursor\n", CURSOR)
    await world.put("new.md", "text\n")
    result = await world.service.undo(client="CLAUDE ", since=border)
    assert world.files() == early | {"latin.md": LATIN + b"cursor\n"}
    assert [change.path for change in result.changes] == ["new.md", "a.md"]
    await world.service.undo(client="claude")
    assert world.file("a.md") == b"one\ntwo\nthree\nfour\n"


async def test_a_path_narrows_what_is_taken_back_to_whole_calls(world: UndoWorld) -> None:
    world.index.write("c.md", "[B](sub/b.md)\n")
    await world.index.sync.full_sync()
    before, began = world.files(), SystemClock().now()
    await world.append("a.md", "claude\n")
    moved = await world.move("sub/", "deep")
    kept = world.file("a.md")
    result = await world.service.undo(since=began, path="sub")
    assert world.files() == before | {"a.md": kept}
    assert {change.batch for change in result.changes} == {moved}
    await world.service.undo(since=began, client="claude", path="a")
    assert world.files() == before


async def test_of_a_note_nothing_is_taken_back_that_another_one_had_there(world: UndoWorld) -> None:
    await world.put("n.md", "one\n")
    await world.move("n.md", "first.md")
    await world.put("n.md", "two\n")
    await world.move("n.md", "second.md")
    await world.put("n.md", "three\n")
    await world.append("n.md", "more\n")
    for path, others in (("n.md", {"first.md", "second.md"}), ("second.md", {"first.md"})):
        await world.service.undo(client="claude", path=path)
        assert {"first.md", "second.md", "n.md"} & world.files().keys() == others


async def test_of_a_note_nothing_is_taken_back_that_was_before_it_came(world: UndoWorld) -> None:
    await world.put("n.md", "one\n")
    await world.delete("n.md")
    world.index.write("n.md", "by hand\n")
    await world.index.sync.full_sync()
    with pytest.raises(InvalidArgument, match="No change of these notes"):
        await world.service.undo(client="claude", path="n.md")
    await world.append("n.md", "more\n")
    await world.service.undo(client="claude", path="n.md")
    assert world.file("n.md") == b"by hand\n"


async def test_of_a_note_nothing_is_taken_back_that_was_before_it_was_made(
    world: UndoWorld,
) -> None:
    await world.append("a.md", "five\n")
    (world.root / "a.md").unlink()
    await world.index.sync.full_sync()
    await world.put("a.md", "new\n")
    await world.service.undo(client="claude", path="a.md")
    assert "a.md" not in world.files()


async def test_of_a_note_that_is_gone_the_last_one_there_comes_back(world: UndoWorld) -> None:
    await world.put("n.md", "one\n", CURSOR)
    await world.delete("n.md")
    await world.put("n.md", "two\n", CURSOR)
    await world.delete("n.md")
    await world.service.undo(client="claude", path="n.md")
    assert world.file("n.md").endswith(b"\ntwo\n")


async def test_another_note_that_came_to_the_place_is_not_followed(world: UndoWorld) -> None:
    made = await world.put("n.md", "one\n")
    await world.delete("n.md", CURSOR)
    await world.put("n.md", "two\n", CURSOR)
    await world.move("n.md", "m.md", CURSOR)
    result = await world.undo(made)
    assert {file.action for file in result.files} == {UndoAction.UNCHANGED}
    assert world.file("m.md").endswith(b"\ntwo\n")


async def test_a_note_is_followed_through_a_move_that_another_took_back(world: UndoWorld) -> None:
    text = world.file("a.md").decode()
    await world.append("a.md", "five\n")
    await world.move("a.md", "b.md")
    await world.move("b.md", "a.md", CURSOR)
    await world.delete("a.md", CURSOR)
    await world.put("a.md", f"zero\n{text}five\n", CURSOR)
    files = world.files()
    with pytest.raises(UndoConflict, match=r"change \d+ \(by cursor\) deleted it"):
        await world.service.undo(client="claude")
    assert world.files() == files


async def test_an_edit_is_not_taken_back_in_another_note(world: UndoWorld) -> None:
    text = world.file("a.md").decode()
    edited = await world.append("a.md", "five\n")
    moved = await world.move("latin.md", "l.md")
    deleted = await world.delete("a.md", CURSOR)
    await world.put("a.md", f"zero\n{text}five\n", CURSOR)
    other = await world.delete("l.md", CURSOR)
    await world.put("l.md", "another\n", CURSOR)
    assert f"change {deleted} (by cursor) deleted it" in (await conflict(world, edited)).reason
    assert f"change {other} (by cursor) deleted it" in (await conflict(world, moved)).reason
    await world.move("a.md", "b.md", CURSOR)
    assert f"change {deleted} (by cursor) deleted it" in (await conflict(world, edited)).reason


async def test_a_note_that_was_made_again_by_another_stays(world: UndoWorld) -> None:
    made = await world.put("n.md", "one\n")
    await world.append("n.md", "two\n", CURSOR)
    await world.delete("n.md", CURSOR)
    await world.put("n.md", "one\n", CURSOR)
    await world.undo(made)
    assert world.file("n.md").endswith(b"\none\n")


async def test_a_note_that_came_back_from_its_deletion_is_the_same(world: UndoWorld) -> None:
    text = world.file("a.md")
    edited = await world.append("a.md", "five\n")
    await world.undo(await world.delete("a.md", CURSOR))
    await world.undo(edited)
    assert world.file("a.md") == text


async def test_a_picture_that_is_a_note_again_has_bytes(world: UndoWorld) -> None:
    world.index.write("d/x.md", "one\n")
    world.index.write("d/y.md", "y\n")
    await world.index.sync.full_sync()
    await world.append("d/x.md", "two\n")
    world.index.write(".gitignore", "x.md\n")
    await world.index.sync.full_sync()
    await world.move("d/", "e")
    files = world.files()
    with pytest.raises(UndoConflict, match="bytes cannot be read"):
        await world.service.undo(client="claude")
    assert world.files() == files
    (world.root / ".gitignore").unlink()
    await world.service.undo(client="claude")
    assert world.file("d/x.md") == b"one\n"
    assert "e/x.md" not in world.files()


async def test_folders_that_were_made_for_a_note_go_with_it(world: UndoWorld) -> None:
    change = await world.put("x/y/n.md", "one\n")
    await world.put("x/m.md", "two\n")
    await world.undo(change)
    assert not (world.root / "x/y").exists()
    assert (world.root / "x").exists()
    await world.put("z/n.md", "one\n")
    await world.delete("z/n.md")
    assert (world.root / "z").exists()


async def test_a_client_is_named_in_any_case_of_any_letters(world: UndoWorld) -> None:
    await world.put("n.md", "x\n", Author("\u00c9va \u0416\u00df", "1", "t"))
    await world.service.undo(client="e\u0301va \u0436SS")
    assert "n.md" not in world.files()


async def test_nothing_at_all_is_not_everything(world: UndoWorld) -> None:
    change = await world.append("a.md", "x\n")
    now = SystemClock().now()
    undo = world.service.undo
    for attempt, parameter in (
        (undo(), "change_id"),
        (undo(path="a.md"), "change_id"),
        (undo(client=" "), "client"),
        (undo(client="nobody"), "client"),
        (undo(since=now), "since"),
        (undo(change_id=change, client="claude"), "change_id"),
        (undo(change_id=change, since=now), "change_id"),
        (undo(change_id=change, path="a.md"), "change_id"),
    ):
        with pytest.raises(InvalidArgument) as refused:
            await attempt
        assert refused.value.parameter == parameter
    for unknown in (0, -1, 10**6, 2**70):
        with pytest.raises(ChangeNotFound):
            await undo(change_id=unknown)
    with pytest.raises(NoteNotFound):
        await undo(since=now - timedelta(hours=1), path="nowhere.md")
    assert world.file("a.md").endswith(b"x\n")


async def test_changes_of_another_folder_are_not_taken_back_here(world: UndoWorld) -> None:
    change = await world.append("a.md", "x\n")
    world.index.history.root = str(world.root.parent / "moved")
    with pytest.raises(InvalidArgument, match="where the project was"):
        await world.undo(change)
    with pytest.raises(InvalidArgument, match="No change"):
        await world.service.undo(client="claude")


async def test_a_change_under_way_is_waited_for_and_a_dead_one_is_settled(world: UndoWorld) -> None:
    history, files = world.index.history, world.index.files
    path, data = NotePath("a.md"), world.file("a.md")

    def begun() -> int:
        recording = history.recording(
            path, before=data, after=data + b"x\n", by=CLAUDE, current=lambda: files.current(path)
        )
        recording.__enter__()
        recordings.append(recording)
        return world.last.change_id

    recordings: list[object] = []
    change = begun()
    with files.locked(path), pytest.raises(NotReady):
        await world.undo(change)
    assert world.last.state is ChangeState.PENDING
    files.replace(path, data + b"x\n", expected_checksum=None)  # and nobody holds it any more
    await world.undo(change)
    assert world.file("a.md") == data


async def test_a_content_that_is_lost_is_said(world: UndoWorld) -> None:
    change = await world.replace("a.md", "two", "2")
    with closing(sqlite3.connect(world.index.history._file.path)) as conn:
        conn.execute("DELETE FROM content")
        conn.commit()
    with pytest.raises(FileProblem, match=r"before change \d+ is lost"):
        await world.undo(change)


async def test_a_content_that_was_forgotten_is_told_from_one_that_is_lost(world: UndoWorld) -> None:
    await world.replace("a.md", "two", "2")
    change = world.last
    world.index.history.purge()
    with pytest.raises(FileProblem, match=r"after change \d+ is not kept any more"):
        version(world.index.history, change, is_before=False)


async def test_a_save_in_the_middle_is_merged_too(
    world: UndoWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = await world.replace("a.md", "two", "2")
    apply, saves = world.service._changes.apply, [b"five\n"]

    def disturbed(*args: object) -> object:
        if saves:
            with (world.root / "a.md").open("ab") as file:
                file.write(saves.pop())
        return apply(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(world.service._changes, "apply", disturbed)
    await world.undo(change)
    assert world.file("a.md") == b"one\ntwo\nthree\nfour\nfive\n"
    change = await world.replace("a.md", "two", "2")
    saves += [b"%d\n" % number for number in range(9)]
    with pytest.raises(Conflict):
        await world.undo(change)
    assert b"2\n" in world.file("a.md")


async def test_an_index_that_cannot_follow_is_said(
    world: UndoWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = await world.replace("a.md", "two", "2")

    async def broken(*_: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr(world.index.store, "write", broken)
    with pytest.raises(NotIndexed):
        await world.undo(change)
    assert world.file("a.md") == b"one\ntwo\nthree\nfour\n"


async def test_what_others_do_before_the_index_follows_is_indexed(world: UndoWorld) -> None:
    index = world.index
    files = index.files
    planned = [
        NoteChange(NotePath("a.md"), world.file("a.md"), b"planned\n"),
        NoteChange(NotePath("latin.md"), LATIN, None),
    ]
    world.changes.apply(planned, CLAUDE)

    class Late(FileService):
        """Somebody saves between the reading and the transaction."""

        def read(self, path: NotePath):  # type: ignore[no-untyped-def]
            found = super().read(path)
            if found[0] == b"planned\n":
                index.write("a.md", "# Later\n")
                index.write("latin.md", "# Again\n")
            return found

    late = Late(files.root, Path(files._lock_folder))
    await index_changes(index.store, late, index.notes._fulltext, planned)
    assert index.rows("SELECT title FROM entity WHERE file_path = 'a.md'") == [("a",)]
    assert index.rows("SELECT content FROM entity WHERE file_path = 'a.md'") == [("# Later\n",)]
    assert index.rows("SELECT 1 FROM entity WHERE file_path = 'latin.md'") == [(1,)]


async def test_many_changes_cost_one_write_a_file(
    world: UndoWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is read is read once a path, and what is written is written once."""
    before, began = world.files(), SystemClock().now()
    history = world.index.history
    for number in range(60):
        path = NotePath(f"many/{number}.md")
        made = world.changes.apply([NoteChange(path, None, b"1\n")], CLAUDE)
        world.changes.apply([NoteChange(path, b"1\n", b"2\n")], CLAUDE)
        assert made.change_id
    looked: list[str] = []
    changes = history.changes

    def counted(**how: object) -> object:
        looked.append(str(how))
        return changes(**how)  # type: ignore[arg-type]

    monkeypatch.setattr(history, "changes", counted)
    result = await world.service.undo(since=began)
    assert world.files() == before
    assert len(result.changes) == 120
    assert len(looked) < 140
    assert history.batch(result.change_id or 0)[0].kind is ChangeKind.DELETED
    assert len(history.batch(result.change_id or 0)) == 60


async def test_a_refused_undo_names_every_later_change_of_the_file_and_who_made_it(
    world: UndoWorld,
) -> None:
    made = await world.put("n.md", "one\n")
    ids = [await world.append("n.md", "two\n", by=CURSOR), await world.append("n.md", "three\n")]
    with pytest.raises(UndoConflict) as refused:
        await world.undo(made)
    fields = refused.value.fields()
    assert fields["later_changes"] == ids[::-1]
    assert fields["later_clients"] == ["claude", "cursor"]
    assert refused.value.hint == (
        f"Nothing was changed. Take back change {ids[1]} (by claude) first, then if need be "
        f"{ids[0]} (by cursor)."
    )
