from __future__ import annotations

import os

import pytest

from memoranda.services import related
from memoranda.services.lookup import find_note
from memoranda.services.related import related_notes


@pytest.fixture
def around(index):
    """(file, why) of the related notes of a note, and the whole answer."""

    async def ask(name, *, depth=1, limit=10, since=None):
        found = await index.store.read(
            lambda tx: related_notes(
                tx, start=find_note(tx, name), depth=depth, limit=limit, since=since
            )
        )
        return [(one.ref.file_path, one.why) for one in found.notes], found

    return ask


def at(index, path, text, seconds=1_700_000_000):
    os.utime(index.write(path, text), (seconds, seconds))


async def test_relations_come_before_links_in_prose_and_many_links_before_few(index, around):
    at(
        index,
        "a.md",
        "See [[often]], [[once]], [[often]], [[both]], [[often]].\n\n- needs [[needed]]\n",
    )
    at(index, "both.md", "Back to [[a]].\n")
    at(index, "often.md", "x\n")
    at(index, "once.md", "x\n")
    at(index, "needed.md", "x\n")
    at(index, "fan.md", "[[a]] [[a]] [[a]] [[a]] [[a]] [[a]] [[a]] [[a]] [[a]] [[a]] [[a]]\n")
    at(index, "part.md", "---\npart of: '[[a]]'\n---\n[[a]]\n")
    await index.sync.full_sync()
    notes, found = await around("a")
    assert notes == [
        ("part.md", "<- part_of, <- links_to"),
        ("needed.md", "needs"),
        ("often.md", "links_to (3)"),
        ("fan.md", "<- links_to (11)"),
        ("both.md", "links_to, <- links_to"),
        ("once.md", "links_to"),
    ]
    assert (found.total, found.is_exact) == (6, True)


async def test_of_equals_the_last_changed_comes_first_then_the_path(index, around):
    at(index, "a.md", "[[old]] [[new]] [[b]] [[c]]\n")
    for name, seconds in (("c", 5000), ("old", 1000), ("new", 9000)):
        at(index, f"{name}.md", "x\n", seconds)
    await index.sync.full_sync()
    at(index, "b.md", "x\n", 5000)
    await index.sync.full_sync()
    notes, _ = await around("a")
    assert [path for path, _ in notes] == ["new.md", "b.md", "c.md", "old.md"]


async def test_a_way_through_a_note_with_many_links_counts_less(index, around):
    at(index, "a.md", "- in [[index]]\n- in [[topic]]\n")
    at(index, "index.md", "- has [[far]]\n" + "".join(f"- has [[n{n}]]\n" for n in range(50)))
    at(index, "topic.md", "- has [[near]]\n")
    for name in ("far", "near", *(f"n{n}" for n in range(50))):
        at(index, f"{name}.md", "x\n")
    await index.sync.full_sync()
    notes, found = await around("a", depth=2, limit=4)
    assert notes[2:] == [("near.md", "in > topic > has"), ("far.md", "in > index > has")]
    assert [one.via for one in found.notes] == [(), (), ("topic",), ("index",)]
    assert (found.total, found.is_exact) == (54, True)


async def test_several_ways_add_up_and_the_best_one_is_told(index, around):
    at(index, "a.md", "- in [[p]]\n- in [[q]]\n- in [[r]]\n")
    at(index, "p.md", "[[two]] [[two]]\n")
    at(index, "q.md", "[[two]]\n")
    at(index, "r.md", "[[one]] [[one]]\n")
    at(index, "one.md", "x\n")
    at(index, "two.md", "x\n")
    await index.sync.full_sync()
    notes, _ = await around("a", depth=3)
    assert notes[3:] == [
        ("two.md", "in > p > links_to (2)"),
        ("one.md", "in > r > links_to (2)"),
    ]


async def test_the_walk_goes_through_notes_too_old_to_be_given(index, around):
    at(index, "a.md", "[[old]]\n")
    at(index, "old.md", "[[new]]\n", 1_000_000_000)
    at(index, "new.md", "x\n", 1_700_000_000)
    await index.sync.full_sync()
    (new,) = (await around("new"))[1].notes[:1]
    since = new.ref.updated_at.replace(year=2010)
    notes, found = await around("a", depth=2, since=since)
    assert notes == [("new.md", "links_to > old > links_to")]
    assert found.total == 1
    _, found = await around("a", depth=2, since=found.notes[0].ref.updated_at)
    assert found.total == 1, "at the very second counts"


async def test_no_note_wanted_is_no_walk(index, around):
    at(index, "a.md", "[[a]] [[b]]\n")
    at(index, "b.md", "[[b]]\n")
    await index.sync.full_sync()
    assert await around("a", limit=0) == ([], related.Neighbourhood())
    assert (await around("a", depth=3))[1].total == 1, "a note is not related to itself"


async def test_a_walk_is_bounded_and_says_that_there_are_more(index, around, monkeypatch):
    at(index, "hub.md", "- is [[n00]]\n")
    for number in range(40):
        at(index, f"n{number:02}.md", f"[[hub]] [[n{(number + 1) % 40:02}]]\n")
    await index.sync.full_sync()
    assert (await around("hub"))[1].is_exact
    monkeypatch.setattr(related, "_LINKS", 10)
    monkeypatch.setattr(related, "_LINKS_FURTHER", 10)
    _, found = await around("hub")
    assert (found.total, found.is_exact) == (10, False)
    notes, found = await around("hub", depth=3)
    assert notes[0] == ("n00.md", "is, <- links_to")
    assert (found.total < 40, found.is_exact) == (True, False)
    _, found = await around("n05", depth=2)
    assert not found.is_exact, "the hub has more links than are left, so it is passed over"
    assert {one.ref.file_path for one in found.notes} == {
        "hub.md", "n03.md", "n04.md", "n06.md", "n07.md"
    }  # fmt: skip


async def test_backlinks_are_counted_beyond_those_that_are_read(index):
    index.write("hub.md", "x\n")
    for number in range(60):
        index.write(f"n{number}.md", "[[hub]]\n")
    await index.sync.full_sync()
    view = await index.notes.read("hub")
    assert (len(view.backlinks), view.backlink_total) == (50, 60)
    assert len(view.related) == 10
