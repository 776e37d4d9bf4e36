from __future__ import annotations

import asyncio
import os
import re
import threading
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from loguru import logger

from memoranda.errors import (
    AmbiguousName,
    Conflict,
    DatabaseBusy,
    DiskFull,
    EditMismatch,
    FileProblem,
    InvalidArgument,
    InvalidUri,
    NoteExists,
    NoteNotFound,
    NotIndexed,
    OutsideProject,
    SectionNotFound,
)
from memoranda.files.file_service import checksum
from memoranda.model.address import NotePath
from memoranda.model.edit import (
    Append,
    EditSection,
    FindReplace,
    Place,
    Prepend,
    Replace,
    SetMetadata,
)
from memoranda.model.history import ChangeState
from memoranda.model.sync import FileState
from memoranda.model.views import WriteAction
from memoranda.services.changes import NoteChanges


def text_of(index, path: str) -> str:
    return (index.root / path).read_bytes().decode()


@pytest.mark.spec("13.4")
async def test_write_creates_the_file_with_frontmatter_and_indexes_it(index):
    result = await index.notes.write(title="Test Note", content="Hello [[B]]\n", tags=["a"])
    assert result.action is WriteAction.CREATED
    assert result.ref.file_path == "test-note.md"
    assert result.ref.permalink == "test-note"
    text = text_of(index, "test-note.md")
    assert text.startswith("---\ntitle: Test Note\n")
    assert text.endswith("\n---\n\nHello [[B]]\n")
    assert [r.to_name for r in result.relations] == ["b"]
    assert (await index.sync.full_sync()).changes == 0


@pytest.mark.spec("13.4")
async def test_write_goes_to_the_directory(index):
    result = await index.notes.write(title="Deep", content="x", directory="research/ai")
    assert result.ref.file_path == "research/ai/deep.md"
    assert result.ref.permalink == "research/ai/deep"


@pytest.mark.spec("13.4")
async def test_write_refuses_to_overwrite(index):
    index.write("test.md", "hand made\n")
    with pytest.raises(NoteExists):
        await index.notes.write(title="Test", content="new")
    assert text_of(index, "test.md") == "hand made\n"


async def test_overwrite_replaces_and_says_so(index):
    await index.notes.write(title="T", content="one\n")
    result = await index.notes.write(title="T", content="two\n", overwrite=True)
    assert result.action is WriteAction.UPDATED
    assert "-one" in result.diff
    assert "+two" in result.diff
    again = await index.notes.write(title="T", content="two\n", overwrite=True)
    assert again.action is WriteAction.UNCHANGED


async def test_expected_checksum_guards_an_overwrite(index):
    first = await index.notes.write(title="T", content="one\n")
    index.write("t.md", "changed by hand\n")
    with pytest.raises(Conflict) as caught:
        await index.notes.write(title="T", content="two\n", expected_checksum=first.ref.checksum)
    assert text_of(index, "t.md") == "changed by hand\n"
    await index.notes.write(title="T", content="two\n", expected_checksum=caught.value.checksum)
    assert text_of(index, "t.md").endswith("two\n")


@pytest.mark.parametrize("directory", ["../out", "/etc", "a/../../b", ".hidden", "a/.git"])
async def test_write_stays_in_the_project_and_out_of_hidden_folders(index, directory):
    with pytest.raises((OutsideProject, InvalidArgument)):
        await index.notes.write(title="T", content="x", directory=directory)
    assert list(index.root.parent.rglob("*.md")) == []


async def test_similar_titles_are_pointed_out(index):
    await index.notes.write(title="Deep Work", content="x")
    result = await index.notes.write(title="Deep Works", content="y")
    assert [ref.title for ref in result.similar] == ["Deep Work"]
    other = await index.notes.write(title="Garden", content="y")
    assert other.similar == ()


@pytest.mark.spec("13.4")
@pytest.mark.spec("6.2.2")
async def test_read_by_permalink_gives_everything(index):
    index.write(
        "My Research.md", "---\ntags: [x]\n---\n# H\n\n- [fact] one #t\n- needs [[Other]]\n"
    )
    index.write("Other.md", "see [[My Research]]\n")
    await index.sync.full_sync()
    view = await index.notes.read("my-research")
    assert view.ref.title == "My Research"
    assert [item.observation.content for item in view.observations] == ["one"]
    assert [item.permalink for item in view.observations] == ["my-research/observations/fact/one"]
    assert [(r.relation_type, r.to_permalink) for r in view.relations] == [("needs", "other")]
    assert [(b.from_path, b.line) for b in view.backlinks] == [("Other.md", 1)]
    assert view.text == text_of(index, "My Research.md")


@pytest.mark.parametrize(
    "name",
    [
        "sub/my-note",
        "sub/My Note.md",
        "sub/My Note",
        "My Note",
        "MY NOTE",
        "A Title",
        "nick",
        "my-note",
        "memory://sub/my-note",
        "memory://sub/My Note.md",
        "/sub/My Note.md",
    ],
)
async def test_read_by_every_kind_of_name(index, name):
    index.write(
        "sub/My Note.md", "---\ntitle: A Title\npermalink: sub/my-note\naliases: [nick]\n---\nx\n"
    )
    await index.sync.full_sync()
    assert (await index.notes.read(name)).ref.file_path == "sub/My Note.md"


@pytest.mark.spec("7.3")
async def test_read_by_id(index):
    index.write("a.md", "x\n")
    await index.sync.full_sync()
    ((entity_id,),) = index.rows("SELECT id FROM entity")
    assert (await index.notes.read(f"memory://id/{entity_id}")).ref.file_path == "a.md"
    with pytest.raises(NoteNotFound):
        await index.notes.read("memory://id/99999")


@pytest.mark.spec("7.2")
@pytest.mark.parametrize("uri", ["memory://", "memory://a//b", "memory://a?b", "memory://x://y"])
async def test_bad_addresses_are_refused_with_the_rule(index, uri):
    with pytest.raises(InvalidUri):
        await index.notes.read(uri)


async def test_two_notes_of_one_title_are_listed_not_guessed(index):
    index.write("a/T.md", "1\n")
    index.write("b/T.md", "2\n")
    await index.sync.full_sync()
    with pytest.raises(AmbiguousName) as caught:
        await index.notes.read("T")
    assert caught.value.candidates == ("a/T.md", "b/T.md")


async def test_two_files_that_differ_by_case_are_told_apart(index):
    index.write("foo.md", "lower\n")
    index.write("Foo.md", "upper\n")
    await index.sync.full_sync()
    assert (await index.notes.read("foo.md")).text == "lower\n"
    assert (await index.notes.read("Foo.md")).text == "upper\n"


async def test_not_found_names_what_is_near(index):
    index.write("machine-learning.md", "x\n")
    await index.sync.full_sync()
    with pytest.raises(NoteNotFound) as caught:
        await index.notes.read("machine-lerning")
    assert caught.value.near == ("machine-learning",)


async def test_read_gives_the_file_not_the_index(index):
    index.write("a.md", "old\n")
    await index.sync.full_sync()
    index.write("a.md", "new text [[b]]\n")
    view = await index.notes.read("a")
    assert view.text == "new text [[b]]\n"
    assert [r.to_name for r in view.relations] == ["b"]
    assert index.rows("SELECT content FROM entity") == [("new text [[b]]\n",)]


async def test_read_of_a_file_that_is_gone_is_refused_and_a_move_keeps_its_identity(index):
    file = index.write("a.md", "ghost\n")
    await index.sync.full_sync()
    before = index.rows("SELECT id, external_id FROM entity")
    file.rename(index.root / "b.md")
    with pytest.raises(NoteNotFound):
        await index.notes.read("a")
    await index.sync.full_sync()
    assert index.rows("SELECT id, external_id FROM entity") == before


@pytest.mark.parametrize("title", ["Große Straße", "Λόγος Ὀδυσσεύς", "İstanbul", "ﬁne"])
async def test_every_permalink_is_a_name_of_its_note(index, title):
    index.write("x.md", f"---\ntitle: {title}\n---\n")
    await index.sync.full_sync()
    ((permalink,),) = index.rows("SELECT permalink FROM entity")
    index.write("y.md", f"[[{permalink}]]\n")
    await index.sync.full_sync()
    for name in (permalink, f"memory://{permalink}", unicodedata.normalize("NFD", permalink)):
        assert (await index.notes.read(name)).ref.title == unicodedata.normalize("NFC", title)
    assert index.rows("SELECT count(to_id) FROM relation") == [(1,)]
    await index.notes.delete(permalink)


async def test_a_link_to_a_note_is_read_as_the_note(index):
    index.write("real.md", "text\n")
    (index.root / "alias.md").symlink_to(index.root / "real.md")
    await index.sync.full_sync()
    assert (await index.notes.read("alias.md")).ref.file_path == "real.md"
    assert index.rows("SELECT file_path FROM entity") == [("real.md",)]


async def test_what_the_scan_leaves_out_is_neither_read_nor_written(index):
    index.write("node_modules/m/README.md", "not a note\n")
    with pytest.raises(NoteNotFound):
        await index.notes.read("node_modules/m/README.md")
    with pytest.raises(InvalidArgument):
        await index.notes.write(title="T", content="x", directory="node_modules/m")


async def test_the_index_ends_with_the_last_bytes_whoever_indexes_last(index, monkeypatch):
    """Two writers get the file in one order and the index in the other."""
    index.write("n.md", "start\n")
    await index.sync.full_sync()
    real = index.store.write
    held = asyncio.Event()

    async def later(fn):
        monkeypatch.setattr(index.store, "write", real)
        held.set()
        await second
        return await real(fn)

    monkeypatch.setattr(index.store, "write", later)
    first = asyncio.create_task(index.notes.edit("n.md", Append("one\n")))

    async def follow():
        await held.wait()
        return await index.notes.edit("n.md", Append("two\n"))

    second = asyncio.create_task(follow())
    await asyncio.gather(first, second)
    assert index.rows("SELECT content FROM entity") == [("start\none\ntwo\n",)]


async def test_a_note_that_is_made_again_before_its_deletion_is_indexed_stays(
    make_index, monkeypatch
):
    """With the bytes that it had: its row says nothing of the deletion."""
    one, other = make_index(), make_index()
    await one.notes.write(title="N", content="same")
    real = NoteChanges.delete

    def delete(self, path, **how):
        result = real(self, path, **how)
        asyncio.run(other.notes.write(title="N", content="same"))
        return result

    monkeypatch.setattr(NoteChanges, "delete", delete)
    await one.notes.delete("n.md")
    assert text_of(one, "n.md").endswith("same")
    assert one.rows("SELECT file_path FROM entity") == [("n.md",)]


async def test_a_note_that_is_deleted_before_it_is_indexed_leaves_no_row(make_index, monkeypatch):
    """Nobody would tell the index any more: the deletion was noticed when there was no row."""
    one, other = make_index(), make_index()
    one.write("x.md", "x\n")
    await one.sync.full_sync()
    real = NoteChanges.put

    def put(self, *given, **how):
        result = real(self, *given, **how)
        (one.root / "n.md").unlink()
        asyncio.run(other.sync.full_sync())
        return result

    monkeypatch.setattr(NoteChanges, "put", put)
    await one.notes.write(title="N", content="x")
    assert one.rows("SELECT file_path FROM entity") == [("x.md",)]


async def test_writes_that_wait_for_a_file_hold_up_neither_reads_nor_syncs(index):
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(4))
    index.write("other.md", "old\n")
    await index.sync.full_sync()
    with index.files.locked(NotePath("n.md")):
        writes = [
            asyncio.create_task(index.notes.write(title="N", content=f"{n}", overwrite=True))
            for n in range(8)
        ]
        await asyncio.sleep(0)
        index.write("other.md", "new\n")
        async with asyncio.timeout(15):
            assert (await index.notes.read("other")).text == "new\n"
            index.write("third.md", "third\n")
            assert (await index.sync.full_sync()).new_files == ("third.md",)
        assert not any(write.done() for write in writes)
    await asyncio.gather(*writes)
    assert text_of(index, "n.md")[-1] in "01234567"


async def test_read_of_a_file_the_index_does_not_know_yet(index):
    index.write("sub/new.md", "fresh\n")
    assert (await index.notes.read("sub/new.md")).text == "fresh\n"
    index.write(".trash/x.md", "hidden\n")
    with pytest.raises(NoteNotFound):
        await index.notes.read(".trash/x.md")


async def test_reading_a_window_of_lines(index):
    index.write("a.md", "one\ntwo\r\nthree\rfour\nfive")
    view = await index.notes.read("a", start_line=2, end_line=4)
    assert (view.text, view.start_line, view.end_line) == ("two\r\nthree\rfour\n", 2, 4)
    assert view.total_lines == 5
    cut = await index.notes.read("a", max_chars=9)
    assert (cut.text, cut.next_line) == ("one\ntwo\r\n", 3)
    rest = await index.notes.read("a", start_line=3)
    assert (rest.text, rest.next_line) == ("three\rfour\nfive", None)
    with pytest.raises(InvalidArgument):
        await index.notes.read("a", start_line=0)


async def test_empty_note_can_be_read(index):
    index.write("empty.md", "")
    view = await index.notes.read("empty.md")
    assert (view.ref.title, view.text, view.total_lines) == ("empty", "", 0)


@pytest.mark.spec("6.2.3")
async def test_edits_change_what_was_asked_and_no_other_byte(index):
    head = b'\xef\xbb\xbf---\r\ntitle: Keep me   # a comment\r\nquoted: "yes"\r\n---\r\n'
    index.write("n.md", head + b"\r\n\r\nFirst\r\n")
    await index.notes.edit("n.md", Append("added line\n"))
    assert (index.root / "n.md").read_bytes() == head + b"\r\n\r\nFirst\r\nadded line\r\n"
    await index.notes.edit("n.md", FindReplace("First", "Second"))
    assert (index.root / "n.md").read_bytes() == head + b"\r\n\r\nSecond\r\nadded line\r\n"
    result = await index.notes.edit("n.md", Replace("- [fact] all new\n"))
    assert (index.root / "n.md").read_bytes().startswith(head)
    assert [item.observation.content for item in result.observations] == ["all new"]
    await index.notes.edit("n.md", Prepend("top"))
    assert b"First" not in (index.root / "n.md").read_bytes()
    assert (index.root / "n.md").read_bytes().startswith(head)


async def test_header_and_sections_are_edited_and_no_other_byte(index):
    head = b"\xef\xbb\xbf---\r\ntitle: Keep me   # a comment\r\nk: 'v'\r\n---\r\n"
    body = b"# A\r\n\r\nold\r\n\r\n# B\r\n"
    index.write("n.md", head + body)
    result = await index.notes.edit(
        "n.md", EditSection("A", "- [fact] new", Place.INSTEAD), SetMetadata({"k": "w", "z": 1})
    )
    new_head = head.replace(b"'v'\r\n", b"'w'\r\nz: 1\r\n")
    assert (index.root / "n.md").read_bytes() == new_head + body.replace(b"old", b"- [fact] new")
    assert [item.observation.content for item in result.observations] == ["new"]
    assert (await index.sync.full_sync()).changes == 0


async def test_of_several_edits_all_are_written_or_none(index):
    index.write("n.md", "# A\n")
    for bad in (SetMetadata({"": 1}), FindReplace("gone", ""), EditSection("B", "", Place.AFTER)):
        with pytest.raises((InvalidArgument, EditMismatch, SectionNotFound)):
            await index.notes.edit("n.md", Append("more\n"), bad)
    assert text_of(index, "n.md") == "# A\n"
    result = await index.notes.edit("n.md")
    assert result.action is WriteAction.UNCHANGED


async def test_an_edit_of_a_utf_16_file_keeps_its_encoding(index):
    index.write("n.md", b"\xff\xfe" + "# Ä 🌱\r\n".encode("utf-16-le"))
    await index.notes.edit("n.md", SetMetadata({"k": "知"}), Append("é"))
    text = "---\r\nk: 知\r\n---\r\n\r\n# Ä 🌱\r\né\r\n"
    assert (index.root / "n.md").read_bytes() == b"\xff\xfe" + text.encode("utf-16-le")


async def test_read_shows_the_lines_of_a_section(index):
    index.write("n.md", "# A\n\none\n\n# B\n\n- [fact] two\n")
    view = await index.notes.read("n.md", section="B")
    assert (view.text, view.start_line, view.end_line) == ("# B\n\n- [fact] two\n", 5, 7)
    with pytest.raises(SectionNotFound):
        await index.notes.read("n.md", section="C")


async def test_an_edit_is_indexed_before_it_answers(index):
    index.write("n.md", "text\n")
    result = await index.notes.edit("n.md", Append("- [fact] appended\n"))
    assert index.rows("SELECT content FROM observation") == [("appended",)]
    assert index.rows("SELECT checksum FROM entity") == [(result.ref.checksum,)]


async def test_an_edit_that_does_not_match_changes_nothing(index):
    index.write("n.md", "one two one\n")
    with pytest.raises(EditMismatch) as caught:
        await index.notes.edit("n.md", FindReplace("one", "x"))
    assert (caught.value.found, caught.value.expected) == (2, 1)
    assert text_of(index, "n.md") == "one two one\n"


async def test_a_dry_run_shows_the_diff_and_writes_nothing(index):
    index.write("n.md", "one\n")
    result = await index.notes.edit("n.md", Append("two\n"), dry_run=True)
    assert "+two" in result.diff
    assert text_of(index, "n.md") == "one\n"


@pytest.mark.parametrize(
    "edits",
    [
        [Append("- uses [[Other]] (why)\n- uses [[other]]\n- needs [[nobody]]\n- see [[p.png]]\n")],
        [Append("[t](sub/deep.md) ![[p.png]] [[me too]] [[Other#part|l]] [t](./n.md)\n")],
        [FindReplace("- uses [[Old]]\n", "")],
        [FindReplace("[[Old]]", "[[sub/Deep]]")],
        [SetMetadata({"title": "New title", "aliases": ["nobody"]}), Append("- of [[nobody]]\n")],
        [SetMetadata({"title": "Other"}), Append("- of [[Other]]\n")],
        [SetMetadata({"permalink": "sub/mine"}), Append("- of [[sub/mine]]\n- is [[Me]]\n")],
        [SetMetadata({"permalink": "taken"}), Append("- of [[taken]]\n")],
        [FindReplace("title: Me", "title: [")],
        [Replace("# Nothing\n")],
        [FindReplace("one", "one")],
    ],
)
async def test_a_dry_run_says_what_the_edit_then_does(index, edits):
    index.write("n.md", "---\ntitle: Me\naliases: [me too]\n---\n- [aa] one\n- uses [[Old]]\n")
    index.write("other.md", "x\n")
    index.write("holder.md", "---\npermalink: taken\n---\n")
    index.write("rival.md", "---\npermalink: taken\n---\n")
    index.write("sub/deep.md", "---\ntitle: Old\n---\n[[Me]]\n")
    await index.sync.full_sync()
    dry = await index.notes.edit("n.md", *edits, dry_run=True)
    assert dry.ref == (await index.notes.read("n.md")).ref
    real = await index.notes.edit("n.md", *edits)
    assert dry.relations == real.relations
    assert dry.observations == real.observations
    assert dry.warnings == real.warnings
    assert (dry.action, dry.diff) == (real.action, real.diff)


async def test_a_dry_run_names_the_faults_of_the_new_header(index):
    index.write("n.md", "---\nup: x\n---\none\n")
    edit = FindReplace("up: x", "up: [")
    result = await index.notes.edit("n.md", edit, dry_run=True)
    assert result.warnings
    assert result.warnings == (await index.notes.edit("n.md", edit)).warnings


async def test_an_edit_keeps_the_encoding_or_is_refused(index):
    index.write("latin.md", b"caf\xe9 \x80\n")
    await index.notes.edit("latin.md", FindReplace("caf", "Caf"))
    assert (index.root / "latin.md").read_bytes() == b"Caf\xe9 \x80\n"
    with pytest.raises(InvalidArgument):
        await index.notes.edit("latin.md", Append("知識\n"))
    assert (index.root / "latin.md").read_bytes() == b"Caf\xe9 \x80\n"


async def test_appends_at_once_all_land(index):
    index.write("n.md", "start\n")
    await asyncio.gather(*(index.notes.edit("n.md", Append(f"line {i}\n")) for i in range(20)))
    lines = text_of(index, "n.md").splitlines()
    assert sorted(lines) == sorted(["start", *(f"line {i}" for i in range(20))])
    assert (await index.sync.full_sync()).changes == 0


async def test_of_many_writers_of_one_title_exactly_one_wins(index):
    results = await asyncio.gather(
        *(index.notes.write(title="Same", content=f"content {i}") for i in range(10)),
        return_exceptions=True,
    )
    assert sum(isinstance(one, NoteExists) for one in results) == 9
    assert text_of(index, "same.md").count("content") == 1


@pytest.mark.spec("13.4")
@pytest.mark.spec("6.2.4")
async def test_delete_takes_the_file_and_everything_the_index_knows(index):
    index.write("test-note.md", "- [fact] one\n- needs [[Other]]\n")
    index.write("Other.md", "[[test-note]]\n")
    await index.sync.full_sync()
    result = await index.notes.delete("test-note")
    assert [b.from_path for b in result.unresolved_backlinks] == ["Other.md"]
    assert not (index.root / "test-note.md").exists()
    assert index.rows("SELECT file_path FROM entity") == [("Other.md",)]
    assert index.rows("SELECT * FROM observation") == []
    assert index.rows("SELECT to_name, to_id FROM relation") == [("test-note", None)]


async def test_delete_takes_a_file_that_the_index_does_not_know_yet(index):
    index.write("sub/new.md", "fresh\n")
    result = await index.notes.delete("sub/new.md")
    assert result.ref.file_path == "sub/new.md"
    assert not (index.root / "sub/new.md").exists()
    assert index.rows("SELECT * FROM entity") == []
    assert index.history.content(index.history.changes()[0].before) == b"fresh\n"


async def test_delete_takes_exact_names_only(index):
    index.write("sub/My Note.md", "x\n")
    await index.sync.full_sync()
    with pytest.raises(NoteNotFound):
        await index.notes.delete("My Note")
    assert (index.root / "sub/My Note.md").exists()


async def test_delete_by_title_points_at_the_permalink(index):
    index.write("sub/My Note.md", "x\n")
    await index.sync.full_sync()
    with pytest.raises(NoteNotFound) as caught:
        await index.notes.delete("My Note")
    assert caught.value.near == ("sub/my-note",)


async def test_an_empty_name_is_refused(index):
    with pytest.raises(InvalidArgument):
        await index.notes.read("")


async def test_a_busy_index_does_not_lose_the_write(index, monkeypatch):
    async def busy(fn):
        raise DatabaseBusy("another process holds the index")

    with monkeypatch.context() as patch:
        patch.setattr(index.store, "write", busy)
        with pytest.raises(NotIndexed):
            await index.notes.write(title="Kept", content="x")
    assert (index.root / "kept.md").exists()
    assert (await index.sync.full_sync()).new_files == ("kept.md",)


async def test_a_full_disk_of_the_index_never_denies_a_write_that_happened(index, monkeypatch):
    index.write("gone.md", "x\n")
    await index.sync.full_sync()

    def full(tx, *args, **kwargs):
        raise DiskFull("memory.db")

    with monkeypatch.context() as patch:
        patch.setattr("memoranda.services.indexing.apply", full)
        with pytest.raises(NotIndexed):
            await index.notes.write(title="Kept", content="x")
        with pytest.raises(NotIndexed):
            await index.notes.edit("gone", Append("more\n"))
        with pytest.raises(NotIndexed):
            await index.notes.delete("gone")
    assert [path.name for path in index.root.iterdir()] == ["kept.md"]


UNFORESEEN = "an unexpected error, which is in the log"


@pytest.mark.parametrize(
    ("error", "reason"),
    [(RuntimeError("a bug"), UNFORESEEN), (NoteNotFound("n.md"), "There is no note 'n.md'")],
)
async def test_whatever_goes_wrong_in_the_index_says_that_the_file_is_safe(
    index, monkeypatch, error, reason
):
    index.write("n.md", "x\n")
    await index.sync.full_sync()

    async def fail(*_given):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(index.store, "write", fail)
        for change in (
            index.notes.write(title="Kept", content="x"),
            index.notes.edit("n", Append("more\n")),
            index.notes.delete("n.md"),
        ):
            with pytest.raises(NotIndexed) as caught:
                await change
            assert caught.value.reason == reason
    assert [path.name for path in index.root.iterdir()] == ["kept.md"]
    assert {change.state for change in index.history.changes()} == {ChangeState.DONE}
    await index.sync.full_sync()
    assert index.rows("SELECT file_path FROM entity") == [("kept.md",)]


async def test_a_written_note_that_cannot_be_read_again_is_safe(index, monkeypatch):
    def fail(*_given):
        raise RuntimeError("a bug in the parser")

    monkeypatch.setattr("memoranda.services.notes.read_note", fail)
    with pytest.raises(NotIndexed):
        await index.notes.write(title="Kept", content="x")
    assert text_of(index, "kept.md").endswith("x")


@pytest.mark.parametrize("error", [RuntimeError("a bug"), FileProblem("n.md", "broken")])
async def test_a_newer_file_that_cannot_be_read_after_a_write_says_that_it_is_safe(
    index, monkeypatch, error
):
    def fail(_path):
        raise error

    monkeypatch.setattr(index.notes._indexing, "load", fail)
    monkeypatch.setattr(index.files, "state", lambda path: FileState(path, 0, 0, 0, 0))
    with pytest.raises(NotIndexed):
        await index.notes.write(title="N", content="x")
    assert text_of(index, "n.md").endswith("x")


async def test_a_note_that_is_deleted_just_after_it_was_written_was_written(index, monkeypatch):
    def gone(path):
        raise NoteNotFound(path)

    monkeypatch.setattr(index.notes._indexing, "load", gone)
    monkeypatch.setattr(index.files, "state", lambda path: FileState(path, 0, 0, 0, 0))
    result = await index.notes.write(title="N", content="x")
    assert result.action is WriteAction.CREATED


class AnotherWriter:
    """As another process that writes the index: one transaction, in which nothing is changed."""

    def __init__(self, store):
        self.store = store
        self.has_begun, self.may_end = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=store.write_now, args=(self.write,))

    def write(self, _tx):
        self.has_begun.set()
        assert self.may_end.wait(30)

    def begin(self):
        self.thread.start()
        assert self.has_begun.wait(30)

    def end(self):
        self.may_end.set()
        self.thread.join()


@pytest.fixture
def another_writer(index, make_index):
    """With connections of its own."""
    writer = AnotherWriter(make_index().store)
    yield writer
    writer.may_end.set()


async def test_a_newer_file_is_read_while_another_process_writes_the_index(
    index, monkeypatch, another_writer
):
    index.write("n.md", "old\n")
    await index.sync.full_sync()
    index.write("n.md", "new [[b]]\n")
    another_writer.begin()
    monkeypatch.setattr("memoranda.services.notes.READER_PATIENCE_S", 0.05)
    writes, real = [], index.store.write

    async def counted(fn):
        writes.append(fn)
        return await real(fn)

    monkeypatch.setattr(index.store, "write", counted)
    views = [await index.notes.read("n") for _ in range(3)]
    assert {(view.text, view.ref.checksum) for view in views} == {
        ("new [[b]]\n", checksum(b"new [[b]]\n"))
    }
    assert index.rows("SELECT content FROM entity") == [("old\n",)]
    (going_on,) = index.notes._catching_up.values()
    assert len(writes) == 1  # for all three
    another_writer.end()
    await going_on
    assert index.rows("SELECT content FROM entity") == [("new [[b]]\n",)]
    assert not index.notes._catching_up


async def test_what_is_indexed_in_the_background_is_what_the_file_is_by_then(
    index, monkeypatch, another_writer
):
    index.write("n.md", "one\n")
    await index.sync.full_sync()
    index.write("n.md", "two\n")
    another_writer.begin()
    monkeypatch.setattr("memoranda.services.notes.READER_PATIENCE_S", 0.05)
    assert (await index.notes.read("n")).text == "two\n"
    index.write("n.md", "three\n")
    (going_on,) = index.notes._catching_up.values()
    another_writer.end()
    await going_on
    assert index.rows("SELECT content FROM entity") == [("three\n",)]


async def test_closing_gives_up_what_goes_on_in_the_background(index, monkeypatch, another_writer):
    index.write("n.md", "one\n")
    await index.sync.full_sync()
    index.write("n.md", "two\n")
    another_writer.begin()
    monkeypatch.setattr("memoranda.services.notes.READER_PATIENCE_S", 0.05)
    await index.notes.read("n")
    (going_on,) = index.notes._catching_up.values()
    await index.notes.aclose()
    assert going_on.cancelled()
    another_writer.end()


@pytest.mark.parametrize("error", [DatabaseBusy("another process"), RuntimeError("a bug")])
async def test_a_note_can_be_read_while_the_index_cannot_be_written(index, monkeypatch, error):
    said: list[str] = []
    index.write("n.md", "old\n")
    await index.sync.full_sync()
    index.write("n.md", "new text\n")

    async def fail(fn):
        raise error

    monkeypatch.setattr(index.store, "write", fail)
    sink = logger.add(said.append, format="{message}", level="WARNING")
    try:
        assert (await index.notes.read("n")).text == "new text\n"
    finally:
        logger.remove(sink)
    (message,) = said
    assert "n.md was read, but not indexed" in message


async def test_a_full_disk_changes_nothing(index, monkeypatch):
    index.write("n.md", "keep me\n")
    await index.sync.full_sync()

    def full(fd):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(DiskFull):
            await index.notes.edit("n", Append("more\n"))
    assert text_of(index, "n.md") == "keep me\n"
    assert [path.name for path in index.root.iterdir()] == ["n.md"]


@pytest.mark.parametrize(
    ("title", "directory", "path", "stored", "says"),
    [
        ("Meeting.md", "", "meeting.md", "Meeting.md", ""),
        ("ideas/Meeting.md", "", "ideas/meeting.md", "Meeting", "title is a path"),
        ("ideas/Meeting.md", "ideas/", "ideas/meeting.md", "Meeting", "title is a path"),
        ("sub/Meeting.md", "ideas", "ideas/sub/meeting.md", "Meeting", "title is a path"),
        ("and/or", "", "and-or.md", "and/or", "has a slash, .* at and-or.md"),
        ("../Abs", "", "abs.md", "../Abs", "has a slash, .* at abs.md"),
        ("T", "IDEAS", "ideas/t.md", "T", "no folder 'IDEAS', .*: ideas/t.md"),
        ("T", "Spaced ", "Spaced /t.md", "T", ""),
        ("T", " New / x ", "New/x/t.md", "T", ""),
        ("Node.js", "", "node.js.md", "Node.js", ""),
    ],
)
async def test_a_note_is_where_the_caller_means_or_is_told(
    index, title, directory, path, stored, says
):
    (index.root / "ideas").mkdir()
    (index.root / "Spaced ").mkdir()
    result = await index.notes.write(title=title, content="x", directory=directory)
    assert (result.ref.file_path, result.ref.title) == (path, stored)
    assert re.search(says, " ".join(result.warnings))
    assert bool(result.warnings) is bool(says)
    assert (index.root / path).is_file()


async def test_a_title_that_is_a_path_out_of_the_project_is_refused(index):
    for title in ("../Abs.md", "/etc/Abs.md"):
        with pytest.raises(OutsideProject):
            await index.notes.write(title=title, content="x")
