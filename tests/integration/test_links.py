from __future__ import annotations

import itertools
import unicodedata

import pytest

from memoranda.model.address import hashed_permalink
from memoranda.repositories.relation import RelationRepository
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


def targets(index, source="n.md"):
    """The note behind each link of a note in document order, None where nobody has the name."""
    rows = index.rows(
        """SELECT t.file_path FROM link l JOIN entity s ON s.id = l.entity_id
        LEFT JOIN entity t ON t.id = l.to_id WHERE s.file_path = :source ORDER BY l.ordinal""",
        source=source,
    )
    return [path for (path,) in rows]


LADDERS = {
    "deep/thing": [  # from the weakest name to the strongest
        ("a/deep/thing.md", "end of path\n"),
        ("b.md", "---\naliases: [deep/thing]\n---\n"),
        ("c.md", "---\ntitle: Deep/Thing\n---\n"),
        ("d.md", "---\npermalink: deep/thing\n---\n"),
        ("Deep/Thing.md", "---\ntitle: a path\n---\n"),
    ],
    "one-two": [
        ("s/One, Two!.md", "slug\n"),
        ("b.md", "---\naliases: [One-Two]\n---\n"),
        ("t/c.md", "---\ntitle: one-two\n---\n"),
        ("u/one-two.md", "---\ntitle: a file name\n---\n"),
        ("d.md", "---\npermalink: one-two\n---\n"),
        ("One-Two.md", "---\ntitle: a path\n---\n"),
    ],
}


@pytest.mark.parametrize("target", LADDERS)
async def test_a_stronger_name_takes_the_link_and_gives_it_back_when_it_goes(index, target):
    index.write("n.md", f"[[{target}]]\n")
    await index.sync.full_sync()
    assert targets(index) == [None]
    for path, text in LADDERS[target]:
        index.write(path, text)
        await index.sync.full_sync()
        assert targets(index) == [path]
    for (path, _), (weaker, _) in itertools.pairwise(reversed(LADDERS[target])):
        (index.root / path).unlink()
        await index.sync.full_sync()
        assert targets(index) == [weaker]


async def test_links_do_not_depend_on_the_order_of_arrival(make_index, tmp_path):
    files = {
        "n.md": "[[T]] [[nick]] [t](x/T.md) [[t-t]]\n",
        "x/T.md": "---\naliases: [Nick]\n---\n[[T]]\n",
        "y/T.md": "---\ntitle: T T\n---\n[[nick]] [n](../n.md)\n",
        "y/nick.md": "---\npermalink: x/t\n---\n[[../x/T]]\n",
    }
    seen = []
    for number, order in enumerate(itertools.permutations(files)):
        index = make_index(tmp_path / str(number), str(number))
        for path in order:
            index.write(path, files[path])
            await index.sync.full_sync()
        seen.append(
            index.rows(RESOLVED) + index.rows("SELECT file_path, permalink FROM entity ORDER BY 1")
        )
    assert len(seen) == 24
    assert all(rows == seen[0] for rows in seen)


async def test_case_and_unicode_form_do_not_matter(index):
    name = "Résumé für Zoë"
    assert unicodedata.normalize("NFD", name) != name
    file = index.write(f"sub/{unicodedata.normalize('NFD', name)}.md", "nfd\n")
    index.write(
        "n.md",
        f"[[{name}]] [[{name.upper()}]] [t](sub/R%C3%A9sum%C3%A9%20f%C3%BCr%20zo%C3%AB.md)\n",
    )
    await index.sync.full_sync()
    path = file.relative_to(index.root).as_posix()
    assert targets(index) == [path, path, path]


async def test_of_two_notes_that_differ_in_case_alone_the_one_as_written_is_meant(index):
    index.write("x/foo.md", "lower\n")
    if (index.root / "x/FOO.md").exists():
        pytest.skip("the file system ignores case")
    index.write("x/Foo.md", "upper\n")
    index.write("x/n.md", "[[foo]] [[Foo]] [[FOO]] [t](foo.md) [t](Foo.md) [t](/x/foo.md)\n")
    index.write("n.md", "[[x/foo]] [[x/Foo.md]] [[foo#Part]]\n")
    await index.sync.full_sync()
    lower, upper = "x/foo.md", "x/Foo.md"
    assert targets(index, "x/n.md") == [lower, upper, upper, lower, upper, lower]
    assert targets(index) == [lower, upper, lower]
    (index.root / lower).unlink()
    await index.sync.full_sync()
    assert set(targets(index, "x/n.md") + targets(index)) == {upper}


@pytest.mark.parametrize(
    ("destination", "expected"),
    [
        ("b.md", "docs/b.md"),
        ("./b.md#part", "docs/b.md"),
        ("b.md?plain=1#part", "docs/b.md"),
        ("sub/c%20d.md", "docs/sub/c d.md"),
        ("<sub/c d.md>", "docs/sub/c d.md"),
        ("sub/../b.md", "docs/b.md"),
        ("../root.md", "root.md"),
        ("/root.md", "root.md"),
        ("/x/../root.md", "root.md"),
        ("root.md", "root.md"),
        ("x/../root.md", "root.md"),
        ("docs/sub/c%20d.md", "docs/sub/c d.md"),
        ("./root.md", None),
        ("../../root.md", None),
        ("../../../docs/b.md", None),
        ("/b.md/", None),
    ],
)
async def test_a_markdown_link_is_a_path_from_its_folder_then_from_the_root(
    index, destination, expected
):
    for path in ("docs/b.md", "docs/sub/c d.md", "root.md"):
        index.write(path, f"{path}\n")
    index.write("docs/n.md", f"[t]({destination})\n")
    await index.sync.full_sync()
    assert targets(index, "docs/n.md") == ([] if destination.endswith("/") else [expected])


async def test_a_markdown_link_may_name_a_permalink_of_its_folder(index):
    index.write("x/My Note.md", "one\n")
    index.write("y/My Note.md", "two\n")
    index.write("y/n.md", "[t](my-note.md)\n")
    await index.sync.full_sync()
    assert targets(index, "y/n.md") == ["y/My Note.md"]


async def test_a_target_like_an_attachment_is_a_note_as_soon_as_one_has_the_name(index):
    index.write("n.md", "![[board.canvas]] [p](pic.png)\n")
    await index.sync.full_sync()
    assert index.rows("SELECT * FROM relation") == []
    index.write("board.canvas.md", "b\n")
    index.write("pic.png.md", "p\n")
    await index.sync.full_sync()
    assert targets(index) == ["board.canvas.md", "pic.png.md"]
    assert index.rows("SELECT to_name FROM relation ORDER BY 1") == [
        ("board.canvas",),
        ("pic.png",),
    ]
    (index.root / "board.canvas.md").unlink()
    (index.root / "pic.png.md").unlink()
    await index.sync.full_sync()
    assert index.rows("SELECT * FROM relation") == []


async def test_an_embed_is_a_link(index):
    index.write("n.md", "![[Part#Heading]]\n")
    index.write("Part.md", "# Heading\n")
    await index.sync.full_sync()
    assert index.rows(RESOLVED) == [("n.md", "links_to", "Part.md")]
    assert index.rows("SELECT form, anchor FROM link") == [("embed", "Heading")]


async def test_links_of_the_header_are_typed_by_their_key_and_resolve_later(index):
    index.write("n.md", '---\nup: "[[Home]]"\nRelated Notes: ["[[a]]", "[[B|bee]]"]\n---\n')
    index.write("a.md", "a\n")
    await index.sync.full_sync()
    assert index.rows(RESOLVED) == [("n.md", "related_notes", "a.md")]
    index.write("x/Home.md", "h\n")
    index.write("b.md", "b\n")
    await index.sync.full_sync()
    assert index.rows(RESOLVED) == [
        ("n.md", "related_notes", "a.md"),
        ("n.md", "related_notes", "b.md"),
        ("n.md", "up", "x/Home.md"),
    ]


async def test_a_note_may_link_to_itself_but_is_no_backlink_of_its_own(index):
    index.write("Me.md", "- is [[me]]\n")
    await index.sync.full_sync()
    assert index.rows(RESOLVED) == [("Me.md", "is", "Me.md")]
    (me,) = index.rows("SELECT id FROM entity")[0]
    assert index.store.read_now(lambda tx: RelationRepository(tx).incoming(me)) == []
    assert len(index.store.read_now(lambda tx: RelationRepository(tx).outgoing(me))) == 1


async def test_backlinks_come_by_path_and_line(index):
    index.write("T.md", "---\naliases: [tee]\n---\n")
    index.write("b.md", "one\n\n[[T]]\n- needs [[tee]] (why)\n")
    index.write("a.md", "\n\n[t](T.md)\n")
    await index.sync.full_sync()
    ((target,),) = index.rows("SELECT id FROM entity WHERE file_path = 'T.md'")
    found = index.store.read_now(lambda tx: RelationRepository(tx).incoming(target))
    assert [(one.from_path, one.line, one.relation_type, one.context) for one in found] == [
        ("a.md", 3, "links_to", None),
        ("b.md", 3, "links_to", None),
        ("b.md", 4, "needs", "why"),
    ]


async def test_two_names_become_one_relation_with_an_alias_and_come_apart_without_it(index):
    index.write("a.md", "- needs [[B]]\n- needs [[Bee]]\n")
    index.write("B.md", "b\n")
    await index.sync.full_sync()
    assert (index.rows(RESOLVED), index.rows(PENDING)) == (
        [("a.md", "needs", "B.md")],
        [("a.md", "bee")],
    )
    index.write("B.md", "---\naliases: Bee\n---\nb\n")
    await index.sync.full_sync()
    assert (index.rows(RESOLVED), index.rows(PENDING)) == ([("a.md", "needs", "B.md")], [])
    assert index.rows("SELECT count(*), count(to_id) FROM link") == [(2, 2)]
    index.write("B.md", "b\n")
    await index.sync.full_sync()
    assert (index.rows(RESOLVED), index.rows(PENDING)) == (
        [("a.md", "needs", "B.md")],
        [("a.md", "bee")],
    )


async def test_links_follow_a_declared_permalink_that_comes_and_goes(index):
    index.write("n.md", "[[project/plan]]\n")
    index.write("x.md", "x\n")
    await index.sync.full_sync()
    assert targets(index) == [None]
    index.write("x.md", "---\npermalink: project/plan\n---\nx\n")
    await index.sync.full_sync()
    assert targets(index) == ["x.md"]
    index.write("x.md", "x\n")
    await index.sync.full_sync()
    assert targets(index) == [None]


async def test_a_renamed_and_a_moved_note_let_the_old_names_go(index):
    index.write("n.md", "[[old name]] [[new name]] [[sub/new name]]\n")
    old = index.write("Old Name.md", "text that makes the move known\n")
    await index.sync.full_sync()
    assert targets(index) == ["Old Name.md", None, None]
    new = old.rename(index.root / "New Name.md")
    await index.sync.full_sync()
    assert targets(index) == [None, "New Name.md", None]
    (index.root / "deep/sub").mkdir(parents=True)
    new.rename(index.root / "deep/sub/New Name.md")
    await index.sync.full_sync()
    assert targets(index) == [None, "deep/sub/New Name.md", "deep/sub/New Name.md"]


async def test_a_slug_is_a_name_only_while_one_note_has_it(index):
    index.write("n.md", "[[my note]]\n")
    index.write("a/My, Note!.md", "one\n")
    await index.sync.full_sync()
    assert targets(index) == ["a/My, Note!.md"]
    other = index.write("b/My Note?.md", "two\n")
    await index.sync.full_sync()
    assert targets(index) == [None]
    other.unlink()
    await index.sync.full_sync()
    assert targets(index) == ["a/My, Note!.md"]
