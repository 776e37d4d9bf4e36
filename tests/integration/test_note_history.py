"""What was done to a note, whatever it was called at that time."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.integration.conftest import Index
from tests.integration.undo_world import CURSOR, UndoWorld

from memoranda.errors import (
    AmbiguousName,
    ChangeNotFound,
    FileProblem,
    InvalidArgument,
    InvalidUri,
    NoteNotFound,
    OutsideProject,
    UndoConflict,
)
from memoranda.files.clock import SystemClock
from memoranda.model.address import NotePath
from memoranda.model.file_change import NoteChange
from memoranda.model.history import Author, ChangeKind, RecordedChange
from memoranda.model.undoing import HistoryPage
from memoranda.services.recorded import changes_of


@pytest.fixture
async def world(index: Index) -> UndoWorld:
    index.write("plans/a.md", "one\ntwo\n")
    index.write("plans/old/b.md", "---\ntitle: Bee\naliases: [Buzz]\n---\nb\n")
    index.write("quiet/c.md", "c\n")
    index.write("pic.png", b"\x89")
    await index.sync.full_sync()
    return UndoWorld(index)


def said(page: HistoryPage) -> list[tuple[str, str]]:
    return [(change.kind.value, change.path) for change in page.changes]


async def test_the_whole_project_newest_first_a_page_at_a_time(world: UndoWorld) -> None:
    ids = [await world.append("plans/a.md", f"{number}\n") for number in range(5)]
    seen: list[RecordedChange] = []
    before_id = None
    for length in (2, 2, 1):
        page = await world.history.page(limit=2, before_id=before_id)
        assert len(page.changes) == length
        assert page.path is None
        seen += page.changes
        before_id = page.next_before_id
    assert before_id is None
    assert [change.change_id for change in seen] == ids[::-1]


async def test_a_page_that_is_just_full_is_the_last(world: UndoWorld) -> None:
    await world.append("plans/a.md", "x\n")
    assert (await world.history.page("plans/a", limit=1)).next_before_id is None


async def test_a_moved_note_keeps_its_older_changes(world: UndoWorld) -> None:
    await world.append("plans/a.md", "x\n")
    await world.move("plans/a.md", "plans/a2.md")
    await world.append("plans/a2.md", "y\n")
    await world.move("plans/", "ideas")
    await world.append("ideas/a2.md", "z\n")
    await world.put("plans/a.md", "another note\n")
    page = await world.history.page("ideas/a2.md", limit=2)
    more = await world.history.page("ideas/a2", limit=20, before_id=page.next_before_id)
    assert said(page) + said(more) == [
        ("updated", "ideas/a2.md"),
        ("moved", "ideas/a2.md"),
        ("updated", "plans/a2.md"),
        ("moved", "plans/a2.md"),
        ("updated", "plans/a.md"),
    ]
    assert page.path == more.path == "ideas/a2.md"
    assert more.changes[1].moved_from == "plans/a.md"


async def test_another_note_at_the_place_is_not_followed(world: UndoWorld) -> None:
    """What came to the place by a move and was deleted there is not the note that is there now."""
    await world.append("plans/a.md", "x\n")
    await world.move("plans/a.md", "here.md")
    await world.delete("here.md")
    gone = await world.history.page("here.md")
    assert said(gone) == [("deleted", "here.md"), ("moved", "here.md"), ("updated", "plans/a.md")]
    await world.put("here.md", "new\n")
    assert said(await world.history.page("here.md"))[:3] == [
        ("created", "here.md"),
        ("deleted", "here.md"),
        ("moved", "here.md"),
    ]
    assert len((await world.history.page("here.md")).changes) == 3


async def test_there_and_back_again_is_followed(world: UndoWorld) -> None:
    for number in range(3):
        await world.append("plans/a.md", f"{number}\n")
        await world.move("plans/a.md", "b.md")
        await world.move("b.md", "plans/a.md")
    page = await world.history.page("plans/a.md", limit=100)
    assert len(page.changes) == 9
    assert len({change.change_id for change in page.changes}) == 9


async def test_names_mean_what_they_mean_to_other_tools(world: UndoWorld) -> None:
    await world.append("plans/old/b.md", "x\n")
    for name in ("plans/old/b.md", "plans/old/bee", "memory://plans/old/bee", "plans/old/b"):
        page = await world.history.page(name)
        assert (len(page.changes), page.path) == (1, "plans/old/b.md")
    for name in ("Bee", "Buzz", "b"):  # it only reads
        assert (await world.history.page(name)).path == "plans/old/b.md"
        with pytest.raises(NoteNotFound):
            await world.service.undo(client="claude", path=name)
    for name in ("nowhere", "memory://id/999", "plans/none.md"):
        with pytest.raises(NoteNotFound):
            await world.history.page(name)
    with pytest.raises(InvalidUri):
        await world.history.page("memory://a//b")
    with pytest.raises(OutsideProject):
        await world.history.page("../a")
    with pytest.raises(InvalidArgument):
        await world.history.page("a\0")


async def test_two_notes_of_one_spelling_are_not_guessed(world: UndoWorld) -> None:
    world.index.write("x/N.md", "1\n")
    world.index.write("x/n.md", "2\n")
    await world.index.sync.full_sync()
    with pytest.raises(AmbiguousName):
        await world.history.page("X/n.md")


async def test_a_note_that_is_gone_is_known_by_its_path_and_its_permalink(world: UndoWorld) -> None:
    await world.put("plans/gone-note.md", "x\n")
    await world.delete("plans/gone-note.md")
    for name in (
        "plans/gone-note.md",
        "plans/gone-note",
        "Plans/Gone note",
        "./plans/gone-note.md",
    ):
        page = await world.history.page(name)
        assert said(page) == [("deleted", "plans/gone-note.md"), ("created", "plans/gone-note.md")]
        assert page.path == "plans/gone-note.md"


async def test_a_folder_holds_what_is_in_it_and_what_left_it(world: UndoWorld) -> None:
    await world.append("plans/a.md", "x\n")
    await world.append("plans/old/b.md", "x\n")
    await world.append("quiet/c.md", "x\n")
    await world.move("plans/old/b.md", "quiet/b.md")
    page = await world.history.page("plans/")
    assert (page.path, said(page)) == (
        "plans",
        [("moved", "quiet/b.md"), ("updated", "plans/old/b.md"), ("updated", "plans/a.md")],
    )
    with pytest.raises(NoteNotFound):
        await world.history.page("plan")
    for everything in ("/", ".", " ", None):
        assert said(await world.history.page(everything)) == said(await world.history.page())


async def test_a_folder_or_note_without_changes_has_none(world: UndoWorld) -> None:
    assert await world.history.page("quiet") == HistoryPage((), NotePath("quiet"), None)
    await world.append("plans/old/b.md", "x\n")
    assert (await world.history.page("plans")).path == "plans"
    assert await world.history.page("quiet/c.md") == HistoryPage((), NotePath("quiet/c.md"), None)


async def test_client_and_time_narrow_the_page(world: UndoWorld) -> None:
    await world.append("plans/a.md", "x\n")
    border = SystemClock().now()
    await world.append("plans/a.md", "y\n", CURSOR)
    await world.append("plans/a.md", "z\n")
    assert len((await world.history.page("plans/a.md", since=border)).changes) == 2
    (only,) = (await world.history.page(client="Cursor", since=border)).changes
    assert only.author == CURSOR
    assert not (await world.history.page(since=border + timedelta(hours=1))).changes


async def test_a_shown_change_has_its_difference(world: UndoWorld) -> None:
    change_id = await world.replace("plans/a.md", "two", "2")
    shown = await world.history.show(change_id)
    assert shown.change.kind is ChangeKind.UPDATED
    assert (shown.notice, shown.is_changed_since) == ("", False)
    assert "-two\n+2\n" in shown.diff
    world.index.write("plans/a.md", "by hand\n")
    assert (await world.history.show(change_id)).is_changed_since
    world.index.write("plans/a.md", "one\ntwo\n")
    assert not (await world.history.show(change_id)).is_changed_since
    (world.root / "plans/a.md").unlink()
    assert not (await world.history.show(change_id)).is_changed_since


async def test_a_long_difference_is_whole(world: UndoWorld) -> None:
    change_id = await world.append("plans/a.md", "".join(f"line {n}\n" for n in range(1500)))
    assert "+line 1499\n" in (await world.history.show(change_id)).diff


async def test_both_versions_of_a_change_are_there_byte_for_byte(world: UndoWorld) -> None:
    old = world.file("plans/a.md")
    change_id = await world.replace("plans/a.md", "two", "2")
    assert await world.history.version(change_id, is_before=True) == old
    assert await world.history.version(change_id, is_before=False) == world.file("plans/a.md")
    made = await world.put("new.md", "x\n")
    gone = await world.delete("new.md")
    for change, is_before, word in ((made, True, "created"), (gone, False, "deleted")):
        with pytest.raises(InvalidArgument) as refused:
            await world.history.version(change, is_before=is_before)
        assert word in refused.value.hint


async def test_what_is_no_text_is_said(world: UndoWorld) -> None:
    path = NotePath("plans/a.md")
    world.changes.apply([NoteChange(path, world.file(path), b"\0\1")], Author())
    shown = await world.history.show(world.last.change_id)
    assert (shown.diff, shown.notice) == ("", "It is not text.")


async def test_a_moved_picture_has_no_content(world: UndoWorld) -> None:
    world.index.write("plans/pic.png", b"\x89")
    batch = world.index.history.batch(await world.move("plans/", "ideas"))
    (picture,) = (change for change in batch if change.before is None)
    shown = await world.history.show(picture.change_id)
    assert shown.diff == ""
    assert "only its place" in shown.notice
    with pytest.raises(InvalidArgument, match="no content"):
        await world.history.version(picture.change_id, is_before=True)


async def test_changes_that_are_not_there(world: UndoWorld) -> None:
    await world.append("plans/a.md", "x\n")
    for number in (0, -3, 99, 2**80):
        with pytest.raises(ChangeNotFound):
            await world.history.show(number)
        with pytest.raises(ChangeNotFound):
            await world.history.version(number, is_before=True)


async def test_a_lost_content_is_said(world: UndoWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    change_id = await world.replace("plans/a.md", "two", "2")
    monkeypatch.setattr(world.index.history, "content", lambda _: None)
    assert "lost" in (await world.history.show(change_id)).notice
    with pytest.raises(FileProblem, match="lost"):
        await world.history.version(change_id, is_before=True)


async def test_more_changes_than_a_page_of_the_history(
    world: UndoWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoranda.services.recorded._PAGE", 3)
    ids = [await world.append("plans/a.md", f"{number}\n") for number in range(7)]
    found = changes_of(world.index.history, [NotePath("plans/a.md")])
    assert [change.change_id for change in found] == ids[::-1]


async def test_a_change_that_cannot_be_taken_back_alone_says_what_comes_first(
    world: UndoWorld,
) -> None:
    made = await world.put("plans/new.md", "one\ntwo\nthree\n")
    assert (await world.history.show(made)).first == ""
    edited = await world.replace("plans/new.md", "two", "TWO", by=CURSOR)
    shown = await world.history.show(made)
    assert (shown.is_changed_since, shown.first) == (
        True,
        f"Take back change {edited} (by cursor) first.",
    )
    with pytest.raises(UndoConflict) as refused:
        await world.undo(made)
    assert shown.first in refused.value.hint

    again = await world.replace("plans/new.md", "TWO", "2")
    said = f"Take back change {again} (by claude) first"
    assert (await world.history.show(edited)).first == f"{said}."
    assert (await world.history.show(made)).first == (
        f"{said}, then if need be {edited} (by cursor)."
    )
    with pytest.raises(UndoConflict) as refused:
        await world.undo(edited)
    assert f"{said}." in refused.value.hint
    await world.undo(again)
    assert (await world.history.show(edited)).first == ""


async def test_what_an_undo_would_keep_is_not_in_its_way(world: UndoWorld) -> None:
    edited = await world.replace("plans/a.md", "one", "ONE")
    (world.root / "plans/a.md").write_text("ONE\ntwo\nthree\nfour\nby hand\n")
    shown = await world.history.show(edited)
    assert (shown.is_changed_since, shown.first) == (True, "")
    (world.root / "plans/a.md").write_text("by hand\ntwo\n")
    assert (await world.history.show(edited)).first.startswith("A person or another program")
