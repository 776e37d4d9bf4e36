from __future__ import annotations

import pytest

from memoranda.model.address import hashed_permalink
from memoranda.services.reading import read_note

PENDING = "SELECT s.file_path, r.to_name FROM relation r JOIN entity s ON s.id = r.from_id WHERE r.to_id IS NULL"
RESOLVED = """SELECT s.file_path, r.relation_type, t.file_path FROM relation r
    JOIN entity s ON s.id = r.from_id JOIN entity t ON t.id = r.to_id ORDER BY 1, 2, 3"""


@pytest.mark.spec("13.5")
@pytest.mark.spec("8.7")
async def test_resolver_points_a_pending_link_at_its_note(index):
    index.write("a.md", "- needs [[entity-b]]\n")
    await index.sync.full_sync()
    assert index.rows(PENDING) == [("a.md", "entity-b")]
    index.write("Entity B.md", "b\n")
    note = read_note(*index.files.read("Entity B.md"))
    await index.entities.index_many([note.as_input()], resolve=False)
    assert await index.links.resolve_pending() == 1
    assert index.rows(RESOLVED) == [("a.md", "needs", "Entity B.md")]


@pytest.mark.spec("13.5")
async def test_resolution_is_blind_to_case(index):
    index.write("a.md", "[[MACHINE learning]]\n")
    index.write("machine-learning.md", "ml\n")
    await index.sync.full_sync()
    assert index.rows(RESOLVED) == [("a.md", "links_to", "machine-learning.md")]


@pytest.mark.spec("13.5")
async def test_unresolvable_link_stays_pending(index):
    index.write("a.md", "[[nonexistent-entity]]\n")
    await index.sync.full_sync()
    await index.links.resolve_pending()
    assert index.rows(PENDING) == [("a.md", "nonexistent-entity")]


async def test_deleted_target_leaves_the_relation_and_its_return_resolves_it(index):
    index.write("a.md", "- needs [[B]]\n")
    target = index.write("B.md", "b\n")
    await index.sync.full_sync()
    (before,) = index.rows("SELECT external_id FROM relation")
    target.unlink()
    await index.sync.full_sync()
    assert index.rows(PENDING) == [("a.md", "b")]
    index.write("B.md", "b again\n")
    await index.sync.full_sync()
    assert index.rows(RESOLVED) == [("a.md", "needs", "B.md")]
    assert index.rows("SELECT external_id FROM relation") == [before]


async def test_two_links_that_lose_their_targets_become_one_relation(index):
    index.write("a.md", "- needs [[B]]\n- needs [[Bee]]\n")
    index.write("B.md", "---\naliases: [Bee]\n---\nb\n")
    await index.sync.full_sync()
    assert len(index.rows(RESOLVED)) == 1
    index.write("B.md", "b without the alias\n")
    await index.sync.full_sync()
    assert index.rows(RESOLVED) == [("a.md", "needs", "B.md")]
    assert index.rows(PENDING) == [("a.md", "bee")]


async def test_two_targets_of_one_name_are_deleted_together(index):
    index.write("a.md", "- needs [[x/T]]\n- needs [[T]]\n- needs [[y/T]]\n")
    index.write("x/T.md", "one\n")
    index.write("y/T.md", "two\n")
    await index.sync.full_sync()
    (index.root / "x/T.md").unlink()
    (index.root / "y/T.md").unlink()
    report = await index.sync.full_sync()
    assert report.failures == ()
    assert sorted(index.rows(PENDING)) == [("a.md", "t"), ("a.md", "x/t"), ("a.md", "y/t")]


async def test_new_title_takes_a_link_along_and_lets_the_old_go(index):
    index.write("a.md", "[[Old Name]] [[New Name]]\n")
    index.write("x.md", "---\ntitle: Old Name\n---\n")
    await index.sync.full_sync()
    assert index.rows(PENDING) == [("a.md", "new-name")]
    index.write("x.md", "---\ntitle: New Name\n---\n")
    await index.sync.full_sync()
    assert index.rows(PENDING) == [("a.md", "old-name")]


async def test_moving_a_note_changes_what_an_ambiguous_name_means(index):
    index.write("one/T.md", "one\n")
    index.write("two/T.md", "two\n")
    index.write("src/a.md", "[[T]]\n")
    await index.sync.full_sync()
    assert index.rows(RESOLVED) == [("src/a.md", "links_to", "one/T.md")]
    (index.root / "two/T.md").rename(index.root / "src/T.md")
    await index.sync.full_sync()
    assert index.rows(RESOLVED) == [("src/a.md", "links_to", "src/T.md")]


async def test_same_target_and_type_is_one_relation_but_every_occurrence_is_kept(index):
    index.write("a.md", "- needs [[B]]\n- needs [[b]] (again)\n[[B]] and [[B|shown]]\n")
    index.write("B.md", "b\n")
    await index.sync.full_sync()
    assert index.rows(RESOLVED) == [("a.md", "links_to", "B.md"), ("a.md", "needs", "B.md")]
    assert index.rows("SELECT count(*), count(to_id) FROM link") == [(4, 4)]


async def test_attachments_are_kept_but_are_no_relation(index):
    index.write("a.md", "![[pic.png]] [[doc.pdf]]\n")
    await index.sync.full_sync()
    assert index.rows("SELECT * FROM relation") == []
    assert index.rows("SELECT target, is_attachment FROM link ORDER BY target") == [
        ("doc.pdf", 1),
        ("pic.png", 1),
    ]


async def test_five_of_six_notes_that_share_a_slug_keep_their_permalink_when_one_goes(index):
    names = ["∑ list", "📈 list", "term.page", "term___page", "term page!", "Term-Page"]
    for number, name in enumerate(names):
        index.write(f"{name}.md", f"{number}\n")
    await index.sync.full_sync()
    before = dict(index.rows("SELECT file_path, permalink FROM entity"))
    assert len(set(before.values())) == 6
    (index.root / "term.page.md").unlink()
    await index.sync.full_sync()
    after = dict(index.rows("SELECT file_path, permalink FROM entity"))
    del before["term.page.md"]
    assert after == before


async def test_the_last_of_two_rivals_gets_the_permalink_both_wanted(index):
    index.write("My Note!.md", "1\n")
    index.write("My Note?.md", "2\n")
    await index.sync.full_sync()
    assert ("my-note",) not in index.rows("SELECT permalink FROM entity")
    (index.root / "My Note?.md").unlink()
    await index.sync.full_sync()
    assert index.rows("SELECT permalink FROM entity") == [("my-note",)]


async def test_the_hashed_form_names_a_note_whether_or_not_it_is_in_use(index):
    index.write("a.md", "x\n")
    await index.sync.full_sync()
    view = await index.notes.read(hashed_permalink("a", "a.md"))
    assert view.ref.permalink == "a"


async def test_permalinks_change_hands_with_everything_that_names_them(index):
    index.write("My Note!.md", "- [fact] one\n- needs [[x]]\n")
    await index.sync.full_sync()
    assert index.rows("SELECT permalink FROM observation") == [("my-note/observations/fact/one",)]
    index.write("my-note.md", "literal\n")
    await index.sync.full_sync()
    rows = dict(index.rows("SELECT file_path, permalink FROM entity"))
    hashed = hashed_permalink("my-note", "My Note!.md")
    assert rows == {"my-note.md": "my-note", "My Note!.md": hashed}
    assert index.rows("SELECT permalink FROM observation") == [(f"{hashed}/observations/fact/one",)]
    assert index.rows("SELECT permalink FROM relation") == [(f"{hashed}/needs/x",)]


async def test_a_moved_note_takes_the_permalinks_of_its_relations_along(index):
    index.write("a.md", "- needs [[x]]\n")
    await index.sync.full_sync()
    (index.root / "sub").mkdir()
    (index.root / "a.md").rename(index.root / "sub/a.md")
    await index.sync.full_sync()
    assert index.rows("SELECT permalink FROM relation") == [("sub/a/needs/x",)]


async def test_observation_ids_survive_an_edit_of_other_lines(index):
    index.write("n.md", "- [one] one\n- [two] two\n- [three] three\n")
    await index.sync.full_sync()
    before = dict(index.rows("SELECT category, external_id FROM observation"))
    index.write("n.md", "- [two] two\n- [one] one\n- [four] new\n- [three] three\n")
    await index.sync.full_sync()
    after = dict(index.rows("SELECT category, external_id FROM observation ORDER BY ordinal"))
    assert list(after) == ["two", "one", "four", "three"]
    assert {key: after[key] for key in before} == before


async def test_equal_observations_are_all_kept_with_permalinks_of_their_own(index):
    index.write("n.md", "- [fact] same words\n- [fact] same words\n- [fact] same words!\n")
    await index.sync.full_sync()
    await index.sync.reindex()
    permalinks = [p for (p,) in index.rows("SELECT permalink FROM observation ORDER BY ordinal")]
    assert permalinks == [
        "n/observations/fact/same-words",
        "n/observations/fact/same-words-2",
        "n/observations/fact/same-words-3",
    ]
