"""Rows of notes as the writer and `status` see them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memoranda.files.scan import scan_folder
from memoranda.model.sync import FORGOTTEN_NS
from memoranda.repositories.entity import EntityRepository

DAY = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


async def test_missing_notes_are_listed_oldest_first_then_by_path(index):
    for name in ("a", "b", "c", "there"):
        index.write(f"{name}.md", f"text of {name}\n")
    await index.sync.full_sync()
    ids = dict(index.rows("SELECT file_path, id FROM entity"))

    def miss(tx):
        entities = EntityRepository(tx)
        stored = DAY.replace(tzinfo=None)
        entities.miss([ids["c.md"], ids["b.md"]], stored)
        entities.miss([ids["a.md"]], stored + timedelta(hours=1))

    await index.store.write(miss)
    count, all_of_them, first = await index.store.read(
        lambda tx: (
            EntityRepository(tx).missing_count(),
            EntityRepository(tx).missing(9),
            EntityRepository(tx).missing(1),
        )
    )
    assert count == 3
    assert all_of_them == [("b.md", DAY), ("c.md", DAY), ("a.md", DAY + timedelta(hours=1))]
    assert first == [("b.md", DAY)]


async def test_what_an_item_does_not_have_is_null_in_the_full_text_rows(index):
    index.write("a.md", "just text\n")
    await index.sync.full_sync()
    assert index.rows(
        "SELECT title, note_type, created_at, tags, headings, heading_path, item_id"
        " FROM search_index WHERE entity_type = 'section'"
    ) == [(None,) * 7]


async def test_a_large_batch_of_new_notes_is_found_by_links_that_waited_for_them(index):
    index.write("old.md", "[[n7]]\n")
    await index.sync.full_sync()
    for number in range(60):
        index.write(f"n{number}.md", "text\n")
    await index.sync.full_sync()
    assert index.rows(
        "SELECT file_path FROM entity JOIN relation ON to_id = entity.id WHERE to_name = 'n7'"
    ) == [("n7.md",)]


async def test_a_row_that_is_to_be_read_again_stays_so(index):
    """Another process begins to read everything anew while this one finds a file as it was."""
    index.write("a.md", "text\n")
    await index.sync.full_sync()
    scan = scan_folder(index.root)

    def restate(tx):
        entities = EntityRepository(tx)
        [known] = entities.known_files()
        entities.forget_contents()
        entities.restate([(known, scan.files[0])])
        return entities.known_files()[0].ctime_ns

    assert await index.store.write(restate) == FORGOTTEN_NS
