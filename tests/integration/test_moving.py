"""What moves where, what is refused, and that notes stay the notes they are."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.integration.conftest import Index, fulltext_of
from tests.integration.moving_world import World

from memoranda.errors import (
    AmbiguousName,
    FolderNotFound,
    InvalidArgument,
    MemorandaError,
    NoteExists,
    NoteNotFound,
    NotReady,
    OutsideProject,
)
from memoranda.model.history import Author, ChangeKind
from memoranda.services.undo import UndoService

CLAUDE = Author("claude", "2.1", "move_note")


@pytest.fixture
def here(index: Index) -> World:
    return World(index.root, index.store, index.files, index.history, index.sync)


def test_a_moved_note_is_the_same_note(here: World) -> None:
    here.write({"a.md": "- [fact] kept\n- needs [[b]]\n", "b.md": "see [[a]]\n"})
    ids = here.identities()
    result = here.move("a", "deep/er/New Name", by=CLAUDE)
    assert (result.source, result.destination) == ("a.md", "deep/er/New Name.md")
    assert not result.is_folder
    (moved,) = result.notes
    assert (moved.from_path, moved.to_path) == ("a.md", "deep/er/New Name.md")
    assert (moved.title, moved.from_permalink) == ("New Name", "a")
    assert moved.to_permalink == "deep/er/new-name"
    assert here.identities() == {"deep/er/New Name.md": ids["a.md"], "b.md": ids["b.md"]}
    assert not here.run_sync().changes


def test_the_history_says_who_moved_what(here: World) -> None:
    here.write({"a.md": "x\n", "b.md": "[[a]]\n"})
    result = here.move("a", "c", by=CLAUDE)
    moved, rewritten = sorted(here.history.changes(limit=10), key=lambda one: one.change_id)
    assert moved.batch == rewritten.batch == result.change_id
    assert (moved.kind, moved.moved_from, moved.path) == (ChangeKind.MOVED, "a.md", "c.md")
    assert (rewritten.kind, rewritten.path) == (ChangeKind.UPDATED, "b.md")
    assert moved.author == rewritten.author == CLAUDE


@pytest.mark.parametrize(
    ("source", "destination", "place"),
    [
        ("a/Note.md", "b/Note.md", "b/Note.md"),
        ("a/Note", "b/Other", "b/Other.md"),
        ("a/note", "b", "b/Note.md"),
        ("memory://a/note", "memory://b/x", "b/x.md"),
        ("a/Note.md", "new/", "new/Note.md"),
        ("a/Note.md", "/", "Note.md"),
        ("a/Note.md", " ./b//./v1.2 ", "b/v1.2.md"),
        ("a/Note.md", "a/NOTE.MD", "a/NOTE.MD"),
    ],
)
def test_a_note_goes_where_a_person_means(
    here: World, source: str, destination: str, place: str
) -> None:
    here.write({"a/Note.md": "x\n", "a/y.md": "y\n", "b/z.md": "z\n"})
    assert here.move(source, destination).destination == place
    assert here.text(place) == "x\n"
    assert not (here.root / "a/Note.md").exists()


@pytest.mark.parametrize("name", ["memory://id/{}", "{}"])
def test_a_note_is_named_by_its_id_only_as_an_address(here: World, name: str) -> None:
    here.write({"a.md": "x\n"})
    ((number,),) = here.rows("SELECT id FROM entity")
    if name == "{}":
        with pytest.raises(NoteNotFound):
            here.move(str(number), "b.md")
    else:
        assert here.move(name.format(number), "b.md").destination == "b.md"


def test_a_folder_moves_with_everything_in_it(here: World) -> None:
    here.write(
        {
            "a/n.md": "[[m]] ![](pic.png)\n",
            "a/in/m.md": "[n](../n.md)\n",
            "a/pic.png": b"\x89",
            "a/.hidden/.md": b"h",
            "a/.DS_Store": b"d",
            "keep.md": "k\n",
        }
    )
    (here.root / "a/empty/deep").mkdir(parents=True)
    ids = here.identities()
    result = here.move("a/", "x/y")
    assert result.is_folder
    assert result.other_files == 3
    assert [note.to_path for note in result.notes] == ["x/y/in/m.md", "x/y/n.md"]
    assert not result.links
    assert here.tree() == {
        "keep.md": b"k\n",
        **dict.fromkeys(("x", "x/y", "x/y/in", "x/y/.hidden", "x/y/empty", "x/y/empty/deep"), None),
        "x/y/n.md": b"[[m]] ![](pic.png)\n",
        "x/y/in/m.md": b"[n](../n.md)\n",
        "x/y/pic.png": b"\x89",
        "x/y/.hidden/.md": b"h",
        "x/y/.DS_Store": b"d",
    }
    assert here.identities()["x/y/n.md"] == ids["a/n.md"]
    assert not here.run_sync().changes


@pytest.mark.parametrize(
    ("destination", "place"),
    [("b/", "b/a/n.md"), ("c/", "c/n.md"), ("/", ""), ("b/a2", "b/a2/n.md")],
)
def test_a_folder_goes_into_another_only_when_it_is_named_so(
    here: World, destination: str, place: str
) -> None:
    here.write({"a/n.md": "n\n", "b/other.md": "o\n"})
    if not place:
        with pytest.raises(InvalidArgument, match="nothing to do"):
            here.move("a", destination)
        return
    here.move("a", destination)
    assert here.text(place) == "n\n"
    assert here.text("b/other.md") == "o\n"


@pytest.mark.parametrize(
    ("source", "destination", "hint"),
    [
        ("a", "b", "Give b/ to move it into that folder"),
        ("a/in", "a", "Choose another destination"),
        ("a", "b/", "Give b/a/"),
        ("a", "B", "Some file systems take 'b' and 'B' for one name"),
    ],
)
def test_folders_are_never_put_together(
    here: World, source: str, destination: str, hint: str
) -> None:
    here.write({"a/in/n.md": "n\n", "a/o.md": "o\n", "b/p.md": "p\n"})
    if destination == "b/":
        here.write({"b/a/q.md": "q\n"})
    before = here.tree()
    with pytest.raises(NoteExists) as caught:
        here.move(source, destination)
    assert hint in (caught.value.hint or "")
    assert here.tree() == before


def test_a_folder_can_be_called_otherwise_by_case_alone_with_a_slash(here: World) -> None:
    here.write({"a/n.md": "n\n"})
    assert here.move("a/", "A/").destination == "A"
    assert here.tree() == {"A": None, "A/n.md": b"n\n"}


@pytest.mark.parametrize("target", ["gone.md", "other.txt", "../out/x.md"])
def test_a_link_that_leads_nowhere_takes_the_place(
    here: World, tmp_path: Path, target: str
) -> None:
    here.write({"d/a.md": "a\n", "e/c.md": "c\n"})
    (here.root / "b.md").symlink_to(target)
    (here.root / "e/d").symlink_to(target)
    before = {path.name for path in here.root.rglob("*")}
    for source, destination in (("d/a.md", "b.md"), ("d/", "e/")):
        with pytest.raises((NoteExists, OutsideProject)):
            here.move(source, destination)
    assert {path.name for path in here.root.rglob("*")} == before


@pytest.mark.parametrize("place", ["ideas/beta", "ideas/BETA.md", "ideas/Beta.MD"])
def test_a_name_that_some_file_systems_take_for_another_is_taken(here: World, place: str) -> None:
    here.write({"alpha.md": "a\n", "ideas/Beta.md": "b\n", "ideas/x.md": "[[ideas/beta]]\n"})
    before = here.rows("SELECT file_path, permalink FROM entity")
    with pytest.raises(NoteExists, match=r"ideas/Beta\.md already exists"):
        here.move("alpha", place)
    assert here.rows("SELECT file_path, permalink FROM entity") == before


def test_a_composed_letter_is_the_same_as_its_parts(here: World) -> None:
    here.write({"alpha.md": "a\n", "b/caf\u00e9.md": "b\n"})
    with pytest.raises(NoteExists):
        here.move("alpha", "b/cafe\u0301.md")


@pytest.mark.parametrize("destination", ["Ideas/x", "IDEAS/x.md", "Ideas/"])
def test_a_folder_in_another_case_is_the_folder_that_is_there(
    here: World, destination: str
) -> None:
    here.write({"x.md": "x\n", "ideas/y.md": "y\n"})
    result = here.move("x", destination)
    assert result.destination == "ideas/x.md"
    assert result.warnings
    assert "ideas/x.md" in result.warnings[0]
    assert {path for path, data in here.tree().items() if data is None} == {"ideas"}


def test_of_two_folders_in_other_cases_none_is_guessed(here: World) -> None:
    here.write({"x.md": "x\n", "ideas/y.md": "y\n", "IDEAS/z.md": "z\n"})
    result = here.move("x", "Ideas/")
    assert (result.destination, result.warnings) == ("Ideas/x.md", ())


def test_blanks_around_a_folder_count_when_it_is_called_so(here: World) -> None:
    here.write({"Folder /x.md": "x\n", "n.md": "n\n", "m.md": "m\n"})
    assert here.move("n", "Folder /").destination == "Folder /n.md"
    assert here.move("m", "New /m2 ").destination == "New/m2.md"


@pytest.mark.parametrize(
    ("destination", "hint"),
    [
        ("b/Beta.txt", "Give b/Beta.md, or b/Beta.txt.md"),
        ("Neu.markdown", "Give Neu.md"),
        ("b/scan.PDF", "Give b/scan.md"),
        ("b/10:30", "10-30.md"),
        ("b/why?", "why-.md"),
        ("b|c/x", "b-c"),
        ("b/con.md", "con_.md"),
        ("end./x", "end"),
    ],
)
def test_a_name_that_cannot_go_everywhere_is_refused_with_one_that_can(
    here: World, destination: str, hint: str
) -> None:
    here.write({"a/n.md": "n\n", "b/o.md": "o\n"})
    with pytest.raises(InvalidArgument) as caught:
        here.move("a/n", destination)
    assert hint in (caught.value.hint or "")


def test_what_is_called_so_already_keeps_its_name(here: World) -> None:
    here.write({"a/10:30 why?.md": "n\n", "b:c/o.md": "o\n", "requirements.txt.md": "r\n"})
    assert here.move("a/10:30 why?.md", "b:c/").destination == "b:c/10:30 why?.md"
    assert here.move("b:c/", "d/e/b:c").destination == "d/e/b:c"
    assert here.move("requirements.txt.md", "d/pip.txt.md").destination == "d/pip.txt.md"


@pytest.mark.parametrize(
    ("source", "destination", "error", "says"),
    [
        ("a/n.md", "a/n", InvalidArgument, "nothing to do"),
        ("a/n.md", "a/", InvalidArgument, "nothing to do"),
        ("a/n.md", "b/o.md", NoteExists, "b/o.md already exists"),
        ("a/n.md", "b/o.md/x", InvalidArgument, "b/o.md is a file"),
        ("a/n.md", "../n.md", OutsideProject, "outside"),
        ("a/n.md", "/etc/n.md", OutsideProject, "outside"),
        ("a/n.md", ".hidden/n.md", InvalidArgument, "left out"),
        ("a/n.md", "b/.n.md", InvalidArgument, "left out"),
        ("a/n.md", "node_modules/n", InvalidArgument, "left out"),
        ("a/n.md", "drafts/n", InvalidArgument, "ignored by .gitignore"),
        ("a/n.md", "b\\n.md", InvalidArgument, "character"),
        ("a/n.md", "b\nn.md", InvalidArgument, "character"),
        ("a/n.md", "b\0n.md", InvalidArgument, "character"),
        ("a/n.md", "", InvalidArgument, "empty"),
        ("a/n.md", "x" * 300, InvalidArgument, "too long"),
        ("a/n.md", "memory://id/3", InvalidArgument, "names no path"),
        ("a/pic.png", "b/pic.png", NoteNotFound, "no note"),
        ("nowhere", "b/x", NoteNotFound, "nowhere"),
        ("nowhere/", "b/x", FolderNotFound, "nowhere"),
        ("../a", "b/x", OutsideProject, "outside"),
        ("N itself", "b/x", NoteNotFound, "No titles are taken here"),
        ("", "b/x", InvalidArgument, "empty|whole"),
        ("/", "b/x", InvalidArgument, "whole project"),
        (".", "b/x", InvalidArgument, "whole project"),
        ("a/", "a/in/x", InvalidArgument, "into itself"),
        ("a/", "a", InvalidArgument, "nothing to do"),
        ("a/", "b/o.md", InvalidArgument, "is a file|exists"),
        ("a/", "b/o.md/x", InvalidArgument, "b/o.md is a file"),
        ("a/", "c", NoteExists, "c already exists"),
        ("a/", "drafts", InvalidArgument, "ignored"),
        ("a/", ".a", InvalidArgument, "holds no notes"),
        (".git/", "b/x", InvalidArgument, "holds no notes"),
        ("empty/", "b/x", InvalidArgument, "empty folder"),
    ],
)
def test_what_cannot_be_moved_is_refused_and_nothing_changes(
    here: World, source: str, destination: str, error: type[MemorandaError], says: str
) -> None:
    here.write(
        {
            "a/n.md": "---\ntitle: N itself\n---\n",
            "a/in/m.md": "m\n",
            "a/pic.png": b"p",
            "b/o.md": "o [[n]]\n",
            "c/in/x.txt": b"x",
            ".git/HEAD": b"h",
            ".gitignore": "drafts/\n",
        }
    )
    (here.root / "empty").mkdir()
    before, meanings = here.tree(), here.meanings()
    with pytest.raises(error, match=says) as caught:
        here.move(source, destination)
    assert type(caught.value) is error
    with pytest.raises(error, match=says):
        here.move(source, destination, dry_run=True)
    assert here.tree() == before
    assert here.meanings() == meanings
    assert not here.history.changes(limit=10)


def test_what_is_not_there_any_more_is_said_to_have_gone(here: World) -> None:
    here.write({"a/n.md": "n\n", "b/m.md": "m\n", "c/o.md": "o\n"})
    first = here.move("a/", "d", by=Author("claude")).change_id
    second = here.move("b/m.md", "c/").change_id
    for name in ("a", "a/", "a/n", "a/n.md"):
        with pytest.raises(NoteNotFound, match="any more") as caught:
            here.move(name, "x")
        assert f"Change {first} (by claude) moved a/n.md to d/n.md. " in caught.value.hint
    (here.root / "b").mkdir(exist_ok=True)
    with pytest.raises(InvalidArgument, match="empty folder") as emptied:
        here.move("b", "x")
    assert emptied.value.hint == f"Change {second} (by a tool) moved b/m.md to c/m.md."
    here.move("d/n.md", "a/n.md")
    (here.root / "a/n.md").unlink()
    here.run_sync()
    with pytest.raises(NoteNotFound, match=r"There is no note 'a/n\.md'"):
        here.move("a/n.md", "x")


def test_a_note_goes_before_a_folder_of_its_name_unless_a_slash_says_folder(here: World) -> None:
    here.write({"a.md": "note\n", "a/n.md": "n\n"})
    assert here.move("a", "b").source == "a.md"
    assert here.move("b", "a").destination == "a/b.md"
    assert here.move("a/", "c").is_folder


def test_a_name_of_a_note_and_of_another_folder_is_not_guessed(here: World) -> None:
    here.write({"n.md": "---\npermalink: a\n---\n", "a/m.md": "m\n"})
    with pytest.raises(AmbiguousName) as caught:
        here.move("a", "b")
    assert caught.value.candidates == ("n.md", "a/")


def test_links_on_the_disk_are_not_moved(here: World, tmp_path: Path) -> None:
    here.write({"a/n.md": "n\n", ".h/m.md": "m\n"})
    (here.root / "l.md").symlink_to(here.root / ".h/m.md")
    (here.root / "b").symlink_to(here.root / "a")
    here.run_sync()
    for source in ("l.md", "b/"):
        with pytest.raises(InvalidArgument, match="symbolic link"):
            here.move(source, "x/y")
    (here.root / "a/out").symlink_to(tmp_path)
    with pytest.raises(InvalidArgument, match="a/out is a symbolic link"):
        here.move("a/", "x")


def test_a_folder_reached_by_a_link_is_meant_itself(here: World) -> None:
    here.write({"a/n.md": "n\n", "m.md": "m\n"})
    (here.root / "b").symlink_to(here.root / "a")
    assert here.move("m", "b/").destination == "a/m.md"
    here.write({"c/o.md": "o\n"})
    assert here.move("c/", "b/").destination == "a/c"


def test_another_project_inside_stays_where_it_is(index: Index) -> None:
    index.files._skips = ("a/other",)
    here = World(index.root, index.store, index.files, index.history, index.sync)
    here.write({"a/n.md": "n\n", "a/other/m.md": "m\n"})
    with pytest.raises(InvalidArgument, match="another project's folder"):
        here.move("a/", "b")
    with pytest.raises(OutsideProject):
        here.move("a/n.md", "a/other/n.md")


def test_notes_that_a_rule_leaves_out_move_like_pictures(here: World) -> None:
    here.write({"a/n.md": "n\n", "a/draft.md": "d\n", "a/.gitignore": "draft.md\n"})
    result = here.move("a/", "b")
    assert (len(result.notes), result.other_files) == (1, 2)
    assert here.text("b/draft.md") == "d\n"
    assert list(here.identities()) == ["b/n.md"]
    assert not here.run_sync().changes


def test_a_dry_run_says_all_and_does_nothing(here: World) -> None:
    here.write({"a/n.md": "[p](pic.png)\n", "a/pic.png": b"p", "m.md": "[[a/n]]\n"})
    before, snapshot = here.tree(), here.meanings()
    planned = here.move("a/n.md", "b/o", dry_run=True)
    assert planned.is_dry_run
    assert planned.change_id is None
    assert here.tree() == before
    assert here.meanings() == snapshot
    assert not here.run_sync().changes
    done = here.move("a/n.md", "b/o")
    assert (planned.notes, planned.links, planned.left) == (done.notes, done.links, done.left)
    assert [link.after for link in done.links] == ["[p](../a/pic.png)", "[[b/o]]"]


def test_case_alone_can_change(here: World) -> None:
    here.write({"a/note.md": "n\n", "m.md": "[[a/note]] [n](a/note.md)\n"})
    meanings = here.meanings()
    here.move("a/note.md", "a/Note.md")
    here.move("a/", "A")
    assert here.text("A/Note.md") == "n\n"
    assert here.meanings() == meanings


def test_before_the_first_sync_is_done_nothing_is_moved(here: World) -> None:
    here.write({"a.md": "a\n", "b.md": "[[a]]\n"}, is_indexed=False)
    with pytest.raises(NotReady):
        here.move("a.md", "c.md")
    assert set(here.tree()) == {"a.md", "b.md"}


def test_an_undo_gives_every_byte_back(here: World) -> None:
    here.write({"a/n.md": "[[m]] ![](p.png)\r\n", "a/p.png": b"p", "m.md": "[n](a/n.md#x)\n"})
    before, meanings, ids = here.tree(), here.meanings(), here.identities()
    here.move("a/n.md", "z/other")
    here.move("a/", "pics")
    here.move("m", "z/")
    with ThreadPoolExecutor(1) as threads:
        fulltext = fulltext_of(here.store)
        undo = UndoService(here.store, here.files, fulltext, here.history, threads)
        for change in {one.batch: one for one in here.history.changes(limit=20)}:
            asyncio.run(undo.undo(change_id=change))
    assert here.tree() == before
    assert here.meanings() == meanings
    assert here.identities() == ids
