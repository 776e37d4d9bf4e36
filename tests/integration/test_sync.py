from __future__ import annotations

import asyncio
import hashlib
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from loguru import logger
from tests.integration.conftest import fulltext_of

from memoranda.errors import DiskFull, RootMissing
from memoranda.files.scan import scan_folder
from memoranda.files.state import inode_number
from memoranda.model.note import ParsedNote
from memoranda.model.sync import FailureKind, Scan
from memoranda.repositories.entity import EntityRepository
from memoranda.services.reading import ReadNote, read_note
from memoranda.sync.applying import LET_IN_S
from memoranda.sync.sync_service import SyncService


def tree_hash(root: Path) -> str:
    """All names, bytes, modes and times below a folder."""
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        stat = path.lstat()
        digest.update(f"{path.relative_to(root)}|{stat.st_mode}|{stat.st_mtime_ns}".encode())
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()


@pytest.mark.spec("13.2")
async def test_new_file_becomes_an_entity_with_its_content_and_checksum(index):
    index.write("test.md", "---\ntitle: Test\n---\nHello *world*\n")
    report = await index.sync.full_sync()
    assert report.new_files == ("test.md",)
    data = (index.root / "test.md").read_bytes()
    assert index.rows("SELECT title, content, checksum, file_path FROM entity") == [
        ("Test", "Hello *world*\n", hashlib.sha256(data).hexdigest(), "test.md")
    ]


@pytest.mark.spec("13.2")
async def test_modified_file_gets_new_checksum_and_observations(index):
    index.write("n.md", "- [old] fact one\n")
    await index.sync.full_sync()
    (before,) = index.rows("SELECT id, external_id, checksum FROM entity")
    index.write("n.md", "- [new] fact two, longer\n")
    report = await index.sync.full_sync()
    assert report.modified_files == ("n.md",)
    (after,) = index.rows("SELECT id, external_id, checksum FROM entity")
    assert after[:2] == before[:2]
    assert after[2] != before[2]
    assert index.rows("SELECT category, content FROM observation") == [("new", "fact two, longer")]


@pytest.mark.spec("13.2")
async def test_deleted_file_takes_its_observations_and_relations_along(index):
    index.write("n.md", "- [fact] one\n- needs [[Other]]\n")
    index.write("Other.md", "x\n")
    await index.sync.full_sync()
    (index.root / "n.md").unlink()
    report = await index.sync.full_sync()
    assert report.deleted_files == ("n.md",)
    assert index.rows("SELECT file_path FROM entity") == [("Other.md",)]
    for table in ("observation", "relation", "link"):
        assert index.rows(f"SELECT * FROM {table}") == []
    fulltext = fulltext_of(index.store)
    assert index.store.read_now(lambda tx: len(fulltext.postings(tx.conn, ["one"]))) == 0


@pytest.mark.spec("13.2")
async def test_move_keeps_id_and_relations(index):
    index.write("old.md", "text of its own\n- needs [[Other]]\n")
    index.write("Other.md", "see [[old]] and [[new]]\n")
    await index.sync.full_sync()
    (before,) = index.rows("SELECT id, external_id FROM entity WHERE file_path = 'old.md'")
    (relation,) = index.rows("SELECT external_id FROM relation WHERE relation_type = 'needs'")
    (index.root / "old.md").rename(index.root / "new.md")
    report = await index.sync.full_sync()
    assert report.moved_files == (("old.md", "new.md"),)
    assert report.new_files == report.deleted_files == ()
    assert index.rows("SELECT id, external_id FROM entity WHERE file_path = 'new.md'") == [before]
    assert index.rows("SELECT count(*) FROM entity") == [(2,)]
    assert index.rows("SELECT external_id FROM relation WHERE relation_type = 'needs'") == [
        relation
    ]
    links = index.rows(
        "SELECT to_name, to_id FROM relation WHERE relation_type = 'links_to' ORDER BY to_name"
    )
    assert links == [("new", before[0]), ("old", None)]


async def test_move_with_equal_contents_pairs_by_file_name(index):
    for name in ("1", "2", "3"):
        index.write(f"t/{name}.md", "")
    await index.sync.full_sync()
    before = dict(index.rows("SELECT substr(file_path, 3), id FROM entity"))
    (index.root / "t").rename(index.root / "u")
    report = await index.sync.full_sync()
    assert len(report.moved_files) == 3
    assert dict(index.rows("SELECT substr(file_path, 3), id FROM entity")) == before


async def test_copy_of_a_file_that_stays_is_a_new_note(index):
    index.write("a.md", "same\n")
    await index.sync.full_sync()
    index.write("b.md", "same\n")
    report = await index.sync.full_sync()
    assert report.new_files == ("b.md",)
    assert index.rows("SELECT count(DISTINCT id) FROM entity") == [(2,)]


async def test_swap_of_two_files_meets_no_unique_rule(index):
    index.write("a.md", "text a\n")
    index.write("b.md", "text b, longer\n")
    await index.sync.full_sync()
    (index.root / "a.md").rename(index.root / "tmp")
    (index.root / "b.md").rename(index.root / "a.md")
    (index.root / "tmp").rename(index.root / "b.md")
    await index.sync.full_sync()
    assert dict(index.rows("SELECT file_path, content FROM entity")) == {
        "a.md": "text b, longer\n",
        "b.md": "text a\n",
    }


async def test_chain_of_moves_keeps_every_text(index):
    for name in "abc":
        index.write(f"{name}.md", f"text {name * 3}\n")
    await index.sync.full_sync()
    for source, target in ("cd", "bc", "ab"):
        (index.root / f"{source}.md").rename(index.root / f"{target}.md")
    report = await index.sync.full_sync()
    assert not report.failures
    assert dict(index.rows("SELECT file_path, content FROM entity")) == {
        "b.md": "text aaa\n",
        "c.md": "text bbb\n",
        "d.md": "text ccc\n",
    }


async def test_identities_can_change_places_in_one_batch(index):
    index.write("a.md", "text a\n")
    index.write("b.md", "text b\n")
    await index.sync.full_sync()
    ids = dict(index.rows("SELECT file_path, id FROM entity"))
    known = {
        file.path: file
        for file in index.store.read_now(lambda tx: EntityRepository(tx).known_files())
    }
    swapped = [
        read_note(*index.files.read(path)).as_seen(known[other])
        for path, other in (("a.md", "b.md"), ("b.md", "a.md"))
    ]
    await index.entities.index_many(swapped)
    assert dict(index.rows("SELECT file_path, id FROM entity")) == {
        "a.md": ids["b.md"],
        "b.md": ids["a.md"],
    }


async def test_a_file_that_the_scan_missed_but_that_is_there_is_kept(index, monkeypatch):
    index.write("a.md", "saved again while the folder was scanned\n")
    await index.sync.full_sync()
    looks = [Scan(())]

    def look(root, skips):
        return looks.pop() if looks else scan_folder(root, skips=skips)

    monkeypatch.setattr("memoranda.sync.sync_service.scan_folder", look)
    report = await index.sync.full_sync()
    assert report.deleted_files == ()
    assert index.rows("SELECT count(*) FROM entity") == [(1,)]


async def test_what_becomes_another_projects_folder_leaves_the_index(make_index):
    index = make_index()
    index.write("inner/a.md", "a\n")
    index.write("b.md", "b\n")
    await index.sync.full_sync()
    outer = make_index(skips=("inner",))
    report = await outer.sync.full_sync()
    assert (report.left_out_files, report.deleted_files) == (("inner/a.md",), ())
    assert outer.rows("SELECT file_path FROM entity") == [("b.md",)]


@pytest.mark.usefixtures("settled")
async def test_unchanged_folder_reads_no_file(index, unread):
    index.write("a.md", "text\n")
    await index.sync.full_sync()
    unread()
    report = await index.sync.full_sync()
    assert report.changes == 0
    assert report.total_files == 1


async def test_new_time_with_the_same_bytes_is_no_modification(index):
    file = index.write("a.md", "text\n")
    await index.sync.full_sync()
    os.utime(file, ns=(10**18, 10**18))
    report = await index.sync.full_sync()
    assert (report.modified_files, report.touched) == ((), 1)
    assert index.rows("SELECT mtime_ns FROM entity") == [(10**18,)]


@pytest.mark.spec("4.2")
async def test_sync_changes_nothing_in_the_folder(index):
    index.write("sub/a.md", "---\ntitle: x: y\n---\n- [fact] one [[b]]\r\n")
    index.write("b.md", b"\xef\xbb\xbf# BOM\r\n")
    index.write("latin.md", b"caf\xe9\n")
    before = tree_hash(index.root)
    await index.sync.full_sync()
    await index.sync.full_sync()
    assert tree_hash(index.root) == before


async def test_missing_folder_is_an_error_and_deletes_nothing(index, tmp_path):
    index.write("a.md", "text\n")
    await index.sync.full_sync()
    index.root.rename(tmp_path / "elsewhere")
    with pytest.raises(RootMissing):
        await index.sync.full_sync()
    assert index.rows("SELECT count(*) FROM entity") == [(1,)]


async def test_unreadable_folder_is_no_deletion(index, monkeypatch):
    index.write("dir/a.md", "a\n")
    index.write("ok.md", "ok\n")
    await index.sync.full_sync()
    real = os.scandir

    def refuse(path):
        if str(path).rstrip("/").endswith("dir"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", refuse)
    report = await index.sync.full_sync()
    assert report.deleted_files == ()
    assert [skipped.path for skipped in report.skipped if skipped.holds_notes] == ["dir"]
    assert index.rows("SELECT count(*) FROM entity") == [(2,)]


def faulty(word: str):
    """A reader that fails for every text with this word."""

    def read(data: bytes, state) -> ReadNote:
        if word.encode() in data:
            raise RuntimeError("injected")
        return read_note(data, state)

    return read


@pytest.mark.spec("13.2")
@pytest.mark.spec("4.3")
async def test_circuit_breaker_skips_the_file_after_three_failures(make_index):
    read = []

    def counting(data, state):
        read.append(state.path)
        return faulty("poison")(data, state)

    index = make_index(read=counting)
    index.write("bad.md", "poison\n")
    index.write("good.md", "fine\n")
    said: list[str] = []
    sink = logger.add(lambda message: said.append(message.record["message"]), level="WARNING")
    try:
        for strike in (1, 2, 3):
            (failure,) = (await index.sync.full_sync()).failures
            assert (failure.count, failure.kind) == (strike, FailureKind.FAULT)
            assert failure.tripped == (strike == 3)
        read.clear()
        (failure,) = (await index.sync.full_sync()).failures
    finally:
        logger.remove(sink)
    assert failure.tripped
    assert read == []
    assert any("bad.md is skipped until it changes" in message for message in said)
    assert index.rows("SELECT file_path FROM entity") == [("good.md",)]


@pytest.mark.spec("13.2")
async def test_circuit_breaker_resets_when_the_file_changes(make_index):
    index = make_index(read=faulty("poison"))
    index.write("bad.md", "poison\n")
    for _ in range(4):
        await index.sync.full_sync()
    index.write("bad.md", "cured now\n")
    report = await index.sync.full_sync()
    assert report.failures == ()
    assert report.new_files == ("bad.md",)
    assert index.rows("SELECT * FROM file_failure") == []


async def test_a_failed_read_never_trips_the_breaker(index, monkeypatch):
    index.write("n.md", "text\n")
    real = os.open

    def refuse(path, *args, **kwargs):
        if str(path).endswith("n.md"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        for count in (1, 2, 3, 4):
            (failure,) = (await index.sync.full_sync()).failures
            assert (failure.kind, failure.tripped) == (FailureKind.IO, False), count
    report = await index.sync.full_sync()
    assert report.new_files == ("n.md",)


async def test_a_note_that_spoils_its_batch_costs_only_itself(make_index):
    def spoil(data: bytes, state) -> ReadNote:
        note = read_note(data, state)
        if b"spoil" in data:
            parsed = note.parsed
            values = {name: getattr(parsed, name) for name in ParsedNote.__slots__}
            values["title"] = None  # the database refuses it
            return ReadNote(note.state, note.checksum, note.source, ParsedNote(**values))
        return note

    index = make_index(read=spoil)
    for name in "abc":
        index.write(f"{name}.md", f"fine {name}\n")
    index.write("bad.md", "spoil\n")
    report = await index.sync.full_sync()
    assert [failure.path for failure in report.failures] == ["bad.md"]
    assert index.rows("SELECT count(*) FROM entity") == [(3,)]


async def test_several_batches_end_with_every_link_resolved(index, monkeypatch):
    monkeypatch.setattr("memoranda.sync.work.BATCH_FILES", 3)
    monkeypatch.setattr("memoranda.sync.work.SMALL_BATCH_FILES", 3)
    for i in range(10):
        index.write(f"n{i}.md", f"to [[n{(i + 1) % 10}]] and [[n{(i + 7) % 10}]]\n")
    seen: list[tuple[int, int]] = []
    await index.sync.full_sync(progress=lambda step: seen.append((step.done, step.total)))
    assert seen == [(0, 10), (3, 10), (6, 10), (9, 10), (10, 10)]
    assert index.rows("SELECT count(*), count(to_id) FROM relation") == [(20, 20)]
    assert index.rows("SELECT count(*) FROM entity WHERE links_dirty") == [(0,)]


async def test_links_left_over_by_an_interrupted_sync_are_resolved_by_the_next(index):
    index.write("a.md", "to [[b]]\n")
    index.write("b.md", "b\n")
    note = read_note(*index.files.read("a.md"))
    await index.entities.index_many([note.as_input()], resolve=False)
    assert index.rows("SELECT count(*) FROM relation") == [(0,)]
    (index.root / "b.md").unlink()
    await index.sync.full_sync()
    assert index.rows("SELECT to_name FROM relation") == [("b",)]


async def test_an_index_of_another_version_is_made_again_with_its_ids(index, monkeypatch):
    index.write("a.md", "text\n")
    await index.sync.full_sync()
    before = index.rows("SELECT id, external_id FROM entity")
    monkeypatch.setattr("memoranda.sync.sync_service.INDEX_VERSION", 10**9)
    report = await index.sync.full_sync()
    assert report.touched == 1
    assert index.rows("SELECT id, external_id FROM entity") == before
    assert (await index.sync.full_sync()).changes == 0


async def test_another_version_makes_the_names_again(index, monkeypatch):
    index.write("a.md", "to [[b]]\n")
    index.write("sub/b.md", "b\n")
    await index.sync.full_sync()
    before = index.snapshot()
    index.store.write_now(
        lambda tx: tx.conn.exec_driver_sql("UPDATE note_name SET key = 'stale'||key")
    )
    monkeypatch.setattr("memoranda.sync.sync_service.INDEX_VERSION", 10**9)
    await index.sync.full_sync()
    assert index.snapshot() == before


@pytest.mark.usefixtures("settled")
async def test_an_index_of_a_newer_version_is_left_alone(index, monkeypatch):
    index.write("a.md", "text\n")
    await index.sync.full_sync()
    monkeypatch.setattr("memoranda.sync.sync_service.INDEX_VERSION", 1)
    assert (await index.sync.full_sync()).touched == 0


@pytest.mark.parametrize("how", ["reindex", "version"])
async def test_everything_read_again_keeps_moves_and_forgives_failures(
    make_index, monkeypatch, how
):
    index = make_index()
    index.write("a.md", "text of its own\n")
    await index.sync.full_sync()
    before = index.rows("SELECT id, external_id FROM entity")
    struck = make_index(read=faulty("poison"))
    struck.write("bad.md", "poison\n")
    for _ in range(3):
        await struck.sync.full_sync()
    (index.root / "a.md").rename(index.root / "b.md")
    again = make_index()
    if how == "reindex":
        report = await again.sync.reindex()
    else:
        monkeypatch.setattr("memoranda.sync.sync_service.INDEX_VERSION", 10**9)
        report = await again.sync.full_sync()
    assert report.moved_files == (("a.md", "b.md"),)
    assert report.new_files == ("bad.md",)
    assert again.rows("SELECT id, external_id FROM entity WHERE file_path = 'b.md'") == before


async def test_reindex_without_the_folder_leaves_the_index_as_it_is(index, tmp_path):
    index.write("a.md", "text\n")
    await index.sync.full_sync()
    before = index.rows("SELECT * FROM entity")
    index.root.rename(tmp_path / "elsewhere")
    with pytest.raises(RootMissing):
        await index.sync.reindex()
    assert index.rows("SELECT * FROM entity") == before


async def test_a_sync_never_overwrites_what_a_tool_indexed_meanwhile(make_index):
    edits = []

    def slow(data, state):
        note = read_note(data, state)
        if edits:  # a tool edits and indexes between the sync's reading and its writing
            (index.root / "a.md").write_text(edits.pop())
            newer = read_note(*index.files.read("a.md"))
            asyncio.run(index.entities.index_many([newer.as_input()]))
        return note

    index = make_index()
    index.write("a.md", "first\n")
    await index.sync.full_sync()
    other = make_index(read=slow)
    index.write("a.md", "second, from outside\n")
    edits.append("third, by a tool\n")
    await other.sync.full_sync()
    assert index.rows("SELECT content FROM entity") == [("third, by a tool\n",)]


@pytest.mark.parametrize("is_move", [False, True])
async def test_a_sync_never_takes_a_note_that_was_just_written_for_the_one_that_left(
    make_index, monkeypatch, is_move
):
    index = make_index()
    index.write("a.md", "old text\n")
    await index.sync.full_sync()
    if is_move:
        (index.root / "a.md").rename(index.root / "b.md")
    else:
        (index.root / "a.md").unlink()
    plan = SyncService._plan

    async def then_a_tool_writes(self, memory, scan, **how):
        planned = await plan(self, memory, scan, **how)
        index.write("a.md", "new text by a tool\n")
        newer = read_note(*index.files.read("a.md"))
        await index.entities.index_many([newer.as_input()])
        return planned

    monkeypatch.setattr(SyncService, "_plan", then_a_tool_writes)
    await index.sync.full_sync()
    rows = dict(index.rows("SELECT file_path, content FROM entity"))
    assert rows["a.md"] == "new text by a tool\n"
    assert rows.get("b.md") == ("old text\n" if is_move else None)


async def test_a_move_and_a_new_note_at_the_old_path_in_one_batch(index):
    index.write("a.md", "old\n")
    await index.sync.full_sync()
    (known,) = index.store.read_now(lambda tx: EntityRepository(tx).known_files())
    (index.root / "a.md").rename(index.root / "b.md")
    index.write("a.md", "new\n")
    batch = [
        read_note(*index.files.read("b.md")).as_seen(known),
        read_note(*index.files.read("a.md")).as_input(),
    ]
    await index.entities.index_many(batch)
    rows = index.rows(
        "SELECT file_path, content, id = :i FROM entity ORDER BY 1", i=known.entity_id
    )
    assert rows == [("a.md", "new\n", 0), ("b.md", "old\n", 1)]


async def test_a_note_that_becomes_a_folder_leaves_the_index(index):
    index.write("a.md", "text\n")
    await index.sync.full_sync()
    (index.root / "a.md").unlink()
    (index.root / "a.md").mkdir()
    assert (await index.sync.full_sync()).deleted_files == ("a.md",)


def test_an_inode_number_of_64_bits_fits_the_index(tmp_path):
    status = tmp_path.stat()
    huge = os.stat_result((status.st_mode, 2**64 - 1, *status[2:]))
    assert 0 <= inode_number(huge) < 2**63


async def test_a_full_disk_of_the_index_is_no_fault_of_a_file(index, monkeypatch):
    index.write("a.md", "text\n")

    async def full(*args, **kwargs):
        raise DiskFull("memory.db")

    with monkeypatch.context() as patch:
        patch.setattr(index.entities, "index_many", full)
        with pytest.raises(DiskFull):
            await index.sync.full_sync()
    assert index.rows("SELECT * FROM file_failure") == []


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("year", [1900, 2264, 9999])
async def test_a_file_of_any_year_is_a_note(index, year):
    file = index.write("far.md", "text\n")
    seconds = int(datetime(year, 9, 15, tzinfo=UTC).timestamp())
    try:
        os.utime(file, (seconds, seconds))
    except OverflowError:
        pytest.skip("this file system has no such year")
    report = await index.sync.full_sync()
    assert (report.new_files, report.failures) == (("far.md",), ())
    assert (await index.sync.full_sync()).touched == 0


async def test_a_heading_that_is_a_whole_text_is_stored_once(index):
    heading = "word " * 20_000
    index.write("n.md", f"# {heading}\n\n" + "text\n\n" * 200 + "- [fact] one\n")
    await index.sync.full_sync()
    ((stored,),) = index.rows("SELECT sum(length(heading_path)) FROM search_index")
    assert stored < 100_000


async def test_reindex_repairs_what_the_index_has_lost(index):
    index.write("a.md", "- [fact] needle #t\n")
    await index.sync.full_sync()
    before = index.snapshot()
    index.store.write_now(lambda tx: tx.conn.exec_driver_sql("DELETE FROM observation"))
    await index.sync.reindex()
    assert index.snapshot() == before


async def test_hidden_folders_and_links_out_of_the_folder_are_left_out(index, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret\n")
    index.write(".obsidian/x.md", "hidden\n")
    index.write("n.md", "seen\n")
    (index.root / "leak.md").symlink_to(outside / "secret.md")
    (index.root / "out").symlink_to(outside)
    await index.sync.full_sync()
    assert index.rows("SELECT file_path FROM entity") == [("n.md",)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "vault",
    ["kepano-template", "foam-docs", "academicops-specs", "oldwinter-garden"],
)
def test_every_note_of_a_real_vault_is_an_entity_and_untouched(make_index, shared_folder, vault):
    root = shared_folder / "vaults" / vault
    before = tree_hash(root)
    index = make_index(root)
    report = index.run_sync()
    expected = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.md")
        if not any(part.startswith(".") for part in path.relative_to(root).parts)
    }
    assert report.failures == ()
    assert {path for (path,) in index.rows("SELECT file_path FROM entity")} == expected
    assert index.rows("SELECT count(*) FROM entity WHERE permalink = ''") == [(0,)]
    assert tree_hash(root) == before


async def test_an_index_in_use_is_changed_in_small_steps(settled, index, monkeypatch):
    monkeypatch.setattr("memoranda.sync.work.SMALL_BATCH_FILES", 2)
    sizes: list[int] = []
    real = index.entities.index_many

    async def counted(notes, **how):
        sizes.append(len(notes))
        return await real(notes, **how)

    monkeypatch.setattr(index.entities, "index_many", counted)
    for number in range(5):
        index.write(f"a{number}.md", "a\n")
    await index.sync.full_sync()
    assert sizes == [5]
    for number in range(5):
        index.write(f"b{number}.md", "b\n")
    await index.sync.full_sync()
    assert sizes == [5, 2, 2, 1]


async def test_a_huge_file_is_named_and_holds_up_nothing(index, monkeypatch):
    monkeypatch.setattr("memoranda.files.reading.MAX_NOTE_BYTES", 1000)
    monkeypatch.setattr("memoranda.files.file_service.MAX_NOTE_BYTES", 1000)
    index.write("a.md", "a\n")
    index.write("huge.md", b"")
    os.truncate(index.root / "huge.md", 1001)
    report = await index.sync.full_sync()
    assert report.new_files == ("a.md",)
    (failure,) = report.failures
    assert (failure.path, failure.kind) == ("huge.md", FailureKind.IO)
    assert "larger than" in failure.reason
    index.write("huge.md", "small now\n")
    assert (await index.sync.full_sync()).new_files == ("huge.md",)


@pytest.mark.parametrize(("is_parallel", "pauses"), [(True, 2), (False, 0)])
async def test_writers_of_other_processes_are_let_in_between_batches_that_wait_for_nothing(
    index, monkeypatch, is_parallel, pauses
):
    monkeypatch.setattr("memoranda.sync.work.BATCH_FILES", 2)
    monkeypatch.setattr("memoranda.sync.reading_pool.ReadingPool.is_parallel", is_parallel)
    real, slept = asyncio.sleep, []

    async def sleep(delay, *given):
        slept.append(delay)
        await real(0)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    for number in range(5):
        index.write(f"a{number}.md", "a\n")
    await index.sync.full_sync()
    assert slept.count(LET_IN_S) == pauses
