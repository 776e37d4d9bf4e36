"""The contract of `ports.VectorIndex`, over every implementation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy.engine import Connection
from tests.contract.vector_bench import (
    DAY,
    OTHER,
    SPACE,
    Bench,
    add_near_indexes,
    add_project,
    by_words,
    of_text,
    vector,
)
from tests.postgres_lane import in_lane

from memoranda.db.dialects import is_postgresql
from memoranda.db.engine import begin_write, open_engine
from memoranda.db.health import prepare
from memoranda.model.embedding import EmbeddingProgress
from memoranda.model.item_key import KINDS, key_parts
from memoranda.model.search import ItemType
from memoranda.repositories import vectors, vectors_pgvector
from memoranda.repositories.store import Tx
from memoranda.repositories.vector_renewal import VectorRenewal
from memoranda.repositories.vectors import BlobVectorIndex
from memoranda.repositories.vectors_pgvector import PostgresVectorIndex

SCANS = ["sqlite", "postgresql"]
NEAR = "pgvector"


@contextmanager
def on_sqlite(folder: Path) -> Iterator[Connection]:
    prepare(folder / "memory.db")
    engine = open_engine(folder / "memory.db")
    with begin_write(engine) as conn:
        yield conn
    engine.dispose()


@pytest.fixture(params=[*SCANS, NEAR])
def back_end(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With `NEAR` every search asks the index first."""
    monkeypatch.setattr(vectors_pgvector, "_FEW", -1)
    return str(request.param)


@pytest.fixture
def conn(back_end: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Connection]:
    if back_end == "sqlite":
        with on_sqlite(tmp_path) as conn:
            yield conn
    else:
        with request.getfixturevalue("shared_lane").trying() as conn:
            yield conn


@pytest.fixture
def make_bench(conn: Connection, back_end: str) -> Callable[[int], Bench]:
    def make(project_id: int) -> Bench:
        in_lane(lambda: add_project(conn, project_id))
        if back_end == NEAR:
            in_lane(lambda: add_near_indexes(conn, project_id))
        index_of = BlobVectorIndex if back_end == "sqlite" else PostgresVectorIndex
        return Bench(conn, index_of(project_id), project_id)

    return make


@pytest.fixture
def bench(make_bench: Callable[[int], Bench]) -> Bench:
    return make_bench(1)


def test_notes_are_pending_with_their_chunks_the_last_modified_first(bench: Bench) -> None:
    old = bench.add("text of old", title="Old", mtime=1)
    new = bench.add("text of new", "[fact] of new", title="New", mtime=2)
    first, second = bench.pending()
    assert (first.entity_id, second.entity_id) == (new, old)
    assert [chunk.text for chunk in first.chunks] == [
        "New",
        "New > Head\ntext of new",
        "New > Head\n[fact] of new",
    ]
    assert [key_parts(chunk.item_key) for chunk in first.chunks] == [
        (new, 0, KINDS[ItemType.NOTE]),
        (new, 1, KINDS[ItemType.SECTION]),
        (new, 2, KINDS[ItemType.OBSERVATION]),
    ]
    assert [note.entity_id for note in bench.pending(limit=1)] == [new]


def test_what_was_replaced_is_not_pending(bench: Bench) -> None:
    bench.add("one", title="A")
    bench.add("two", title="B", mtime=1)
    assert bench.progress() == EmbeddingProgress(notes=2, pending=2, vectors=0)
    bench.put(bench.pending(limit=1))
    assert bench.progress() == EmbeddingProgress(notes=2, pending=1, vectors=2)
    bench.complete()
    assert bench.pending() == []
    assert bench.progress() == EmbeddingProgress(notes=2, pending=0, vectors=4)


def test_a_note_without_a_word_is_complete_without_vectors(bench: Bench) -> None:
    bench.add("---", title="!")
    [note] = bench.pending()
    assert note.chunks == ()
    bench.complete()
    assert bench.progress() == EmbeddingProgress(notes=1, pending=0, vectors=0)


def test_the_nearest_come_first_with_their_cosines(bench: Bench) -> None:
    bench.embed = by_words(
        same=vector(1), near=vector(3, 4), across=vector(0, 1), against=vector(-1)
    )
    note = bench.add("the same", "it is near", "lies across", "against")
    bench.complete()
    found = bench.index.nearest(bench.conn, SPACE, vector(1), 10)
    assert [key_parts(key)[:2] for key in found.keys.tolist()] == [(note, n) for n in (1, 2, 3, 4)]
    assert found.similarities.tolist() == pytest.approx([1, 0.6, 0, -1])
    assert found.similarities.dtype == np.float32
    assert bench.near(vector(1), most=2) == [(note, 1), (note, 2)]
    assert bench.near(vector(1), least=0.5) == [(note, 1), (note, 2)]
    assert bench.near(vector(1), most=0) == []


def test_vectors_of_zeros_are_near_to_nothing(bench: Bench) -> None:
    note = bench.add("nothing", "something")
    bench.embed = by_words(something=vector(1))
    bench.complete()
    assert bench.near(vector(1)) == [(note, 1 + 1)]
    assert bench.near(vector()) == []


DAMAGED = {
    "empty": ("x''", "''"),
    "cut off": ("zeroblob(31)", "decode(repeat('00', 31), 'hex')"),
    "too long": ("zeroblob(64)", "decode(repeat('00', 64), 'hex')"),
    "a text": (f"'{32 * 'a'}'", "substr(embedding, 2)"),
}


@pytest.mark.parametrize("damaged", DAMAGED)
def test_a_damaged_vector_is_not_found_and_hides_no_other(bench: Bench, damaged: str) -> None:
    note = bench.add("one", "two")
    bench.complete()
    keys = bench.index.nearest(bench.conn, SPACE, of_text("one"), 10).keys
    value = DAMAGED[damaged][is_postgresql(bench.conn)]
    first = "(SELECT min(id) FROM search_vector_embeddings)"
    sql = f"UPDATE search_vector_embeddings SET embedding = {value} WHERE id = {first}"
    bench.conn.exec_driver_sql(sql)
    for index in (bench.index, type(bench.index)(bench.project_id)):
        found = index.nearest(bench.conn, SPACE, of_text("one"), 10)
        assert {key_parts(key)[:2] for key in found.keys.tolist()} == {(note, 1), (note, 2)}
        known = index.similarities(bench.conn, SPACE, of_text("one"), keys)
        assert known.tolist().count(0) == 1
        assert len(index.sample(bench.conn, SPACE, 10)) == 2


def test_an_item_is_as_near_as_its_nearest_part(bench: Bench) -> None:
    bench.embed = by_words(near=vector(1), far=vector(0, 1), middle=vector(4, 3))
    long = "far " * 200 + "\n\n" + "near " * 150 + "near"
    note = bench.add(long, "middle")
    [pending] = bench.pending()
    parts = [chunk.part for chunk in pending.chunks if key_parts(chunk.item_key).ordinal == 1]
    assert parts == [0, 1]
    bench.complete()
    found = bench.index.nearest(bench.conn, SPACE, vector(1), 10)
    assert [key_parts(key)[:2] for key in found.keys.tolist()] == [(note, 1), (note, 2)]
    assert found.similarities.tolist() == pytest.approx([1, 0.8])


def test_filters_come_before_the_count(bench: Bench) -> None:
    bench.embed = by_words(one=vector(1), two=vector(4, 3), three=vector(3, 4))
    first = bench.add("one", "[fact] one", title="A")
    second = bench.add("two", "[fact] three", title="B")
    bench.complete()
    observation = [KINDS[ItemType.OBSERVATION]]
    assert bench.near(vector(1), most=1, among=np.array([second])) == [(second, 1)]
    assert bench.near(vector(1), kinds=observation) == [(first, 2), (second, 2)]
    assert bench.near(vector(1), most=1, among=np.array([second]), kinds=observation) == [
        (second, 2)
    ]
    assert bench.near(vector(1), among=np.array([], np.int64)) == []
    assert bench.near(vector(1), kinds=[]) == []


def test_similarities_keep_the_order_of_the_keys(bench: Bench) -> None:
    bench.embed = by_words(one=vector(1), two=vector(-4, 3))
    bench.add("one", "two")
    bench.complete()
    own, one, two = (chunk.item_key for chunk in bench.pending(OTHER)[0].chunks)
    keys = np.array([two, 12345, one, own, two])
    found = bench.index.similarities(bench.conn, SPACE, vector(1), keys)
    assert found.tolist() == pytest.approx([-0.8, 0, 1, 0, -0.8])
    assert bench.index.similarities(bench.conn, SPACE, vector(1), keys[:0]).tolist() == []
    assert not bench.index.similarities(bench.conn, OTHER, vector(1), keys).any()


@pytest.mark.parametrize(
    "columns",
    [{"checksum": "other"}, {"title": "Other"}, {"updated_at": datetime(2026, 1, 3)}],  # noqa: DTZ001
    ids=["bytes", "title", "indexed again"],
)
def test_a_changed_note_has_no_vectors_until_it_is_replaced(
    bench: Bench, columns: dict[str, Any]
) -> None:
    changed = bench.add("one", title="Title")
    kept = bench.add("one", title="B")
    bench.complete()
    keys = bench.index.nearest(bench.conn, SPACE, of_text("one"), 9).keys
    assert {key_parts(key).entity_id for key in keys.tolist()} == {changed, kept}
    bench.edit(changed, "one", **{"checksum": repr(("one",))} | columns)
    assert {note for note, _ in bench.near(of_text("one"))} == {kept}
    found = bench.index.similarities(bench.conn, SPACE, of_text("one"), keys)
    assert [key_parts(key).entity_id for key in keys[found != 0].tolist()] == [kept, kept]
    assert [note.entity_id for note in bench.pending()] == [changed]
    bench.complete()
    assert {note for note, _ in bench.near(of_text("one"))} == {changed, kept}


def test_stale_notes_take_no_places(bench: Bench) -> None:
    bench.embed = by_words(near=vector(1, 0.1), far=vector(1, 1))
    stale = [bench.add(*["near"] * 30, title=f"Stale {n}") for n in range(60)]
    fresh = bench.add("far", "far", title="Fresh")
    bench.complete()
    for note in stale:
        bench.edit(note, "near", checksum="other")
    assert bench.near(vector(1), most=5) == [(fresh, 1), (fresh, 2)]
    among = np.array([*stale, fresh])
    assert bench.near(vector(1), most=5, among=among) == [(fresh, 1), (fresh, 2)]
    assert bench.near(vector(1), most=5, among=among[:-1]) == []


def test_many_parts_of_one_item_leave_room_for_others(bench: Bench) -> None:
    bench.embed = by_words(near=vector(1, 0.1), far=vector(1, 1))
    sentence = "near " * 150 + "near\n\n"
    one = bench.add(sentence * 1200, title="One")
    two = bench.add("far", title="Two")
    bench.complete()
    assert bench.progress().vectors > 1000
    assert bench.near(vector(1), most=2) == [(one, 1), (two, 1)]


def test_a_deleted_note_leaves_nothing(bench: Bench) -> None:
    note = bench.add("one", title="A")
    kept = bench.add("one", title="B")
    bench.complete()
    assert len(bench.near(of_text("one"))) == 4
    bench.delete(note)
    assert {found for found, _ in bench.near(of_text("one"))} == {kept}
    assert bench.progress() == EmbeddingProgress(notes=1, pending=0, vectors=2)
    bench.delete(kept)
    for table in ("chunks", "embeddings", "notes"):
        sql = f"SELECT count(*) FROM search_vector_{table}"
        assert bench.conn.exec_driver_sql(sql).scalar() == 0


def test_only_changed_texts_are_embedded_again(bench: Bench) -> None:
    note = bench.add("one", "two", "three")
    bench.complete()
    bench.embedded.clear()
    bench.edit(note, "zero", "one", "three")
    bench.complete()
    assert bench.embedded == ["Title > Head\nzero"]
    assert bench.near(of_text("Title > Head\nthree"), most=1) == [(note, 3)]
    assert len(bench.near(vector(1))) == 4


def test_the_same_text_elsewhere_is_known(bench: Bench) -> None:
    bench.add("one", title="A", mtime=1)
    bench.complete()
    bench.embedded.clear()
    second = bench.add("one", title="A", mtime=2)
    bench.complete()
    assert bench.embedded == []
    assert {note for note, _ in bench.near(of_text("A > Head\none"), most=4)} == {
        second - 1,
        second,
    }


def test_equal_texts_in_one_note_have_a_vector_each(bench: Bench) -> None:
    note = bench.add("same", "same")
    bench.complete()
    assert bench.embedded == ["Title", "Title > Head\nsame"]
    assert bench.near(of_text("Title > Head\nsame"), most=2) == [(note, 1), (note, 2)]


def test_replacing_again_changes_nothing(bench: Bench) -> None:
    bench.add("one", "same", "same", "same")
    pending = bench.pending()
    bench.put(pending)
    sql = "SELECT * FROM search_vector_{}"
    tables = ("chunks", "embeddings", "notes")
    before = [bench.conn.exec_driver_sql(sql.format(table)).fetchall() for table in tables]
    bench.put(pending)
    assert before == [bench.conn.exec_driver_sql(sql.format(table)).fetchall() for table in tables]


def test_a_note_that_changed_or_went_since_stays_out(bench: Bench) -> None:
    changed = bench.add("one", title="A")
    gone = bench.add("two", title="B")
    moved = bench.add("three", title="C")
    pending = bench.pending()
    bench.edit(changed, "four", title="A")
    bench.edit(moved, "three", title="D")
    bench.delete(gone)
    bench.put(pending)
    assert bench.progress() == EmbeddingProgress(notes=2, pending=2, vectors=0)
    assert bench.near(vector(1)) == []
    bench.complete()


def test_a_note_without_all_its_vectors_stays_pending(bench: Bench) -> None:
    bench.add("one", title="A")
    whole = bench.add("two", title="B")
    pending = bench.pending()
    keys = {chunk.content_key: of_text(chunk.text) for note in pending for chunk in note.chunks}
    lost = next(n for n in pending if n.entity_id != whole).chunks[-1].content_key
    del keys[lost]
    bench.index.replace(bench.conn, SPACE, pending, keys)
    assert {note for note, _ in bench.near(vector(1))} == {whole}
    assert [note.entity_id for note in bench.pending()] == [whole - 1]


def test_known_texts_are_those_with_a_vector_in_the_space(bench: Bench) -> None:
    bench.add("one")
    [note] = bench.pending()
    keys = [chunk.content_key for chunk in note.chunks]
    assert bench.index.known(bench.conn, SPACE, keys) == frozenset()
    bench.complete()
    assert bench.index.known(bench.conn, SPACE, [*keys, b"other"]) == frozenset(keys)
    assert bench.index.known(bench.conn, OTHER, keys) == frozenset()
    assert bench.index.known(bench.conn, SPACE, []) == frozenset()


def test_another_space_sees_none_of_the_vectors(bench: Bench) -> None:
    note = bench.add("one")
    bench.complete()
    assert bench.near(vector(1), space=OTHER) == []
    assert bench.progress(OTHER) == EmbeddingProgress(notes=1, pending=1, vectors=0)
    bench.embed = lambda _: vector(1)
    bench.complete(OTHER)
    found = bench.index.nearest(bench.conn, OTHER, vector(1), 9)
    assert found.similarities.tolist() == [1, 1]
    assert bench.index.similarities(bench.conn, OTHER, -vector(1), found.keys).tolist() == [-1, -1]
    assert bench.near(vector(1), space=SPACE) == []
    assert bench.index.retire_others(bench.conn, OTHER, 10) == 2
    assert bench.index.retire_others(bench.conn, OTHER, 10) == 0
    assert bench.near(vector(1), space=OTHER) == [(note, 0), (note, 1)]
    assert bench.progress(OTHER) == EmbeddingProgress(notes=1, pending=0, vectors=2)


def test_vectors_are_retired_in_steps(bench: Bench) -> None:
    bench.add("one", "two")
    bench.complete()
    counts = []
    for _ in range(3):
        counts.append(bench.index.retire_others(bench.conn, OTHER, 2))
        sql = "SELECT count(*) FROM search_vector_embeddings"
        counts.append(bench.conn.exec_driver_sql(sql).scalar_one())
    assert counts == [2, 1, 1, 0, 0, 0]
    assert bench.progress() == EmbeddingProgress(notes=1, pending=1, vectors=0)


def test_chunks_that_have_no_vector_any_more_are_retired(bench: Bench) -> None:
    bench.add("one")
    bench.complete()
    assert bench.index.retire_others(bench.conn, OTHER, 10) == 2
    chunks = bench.conn.exec_driver_sql("SELECT count(*) FROM search_vector_chunks").scalar()
    assert chunks == 0
    assert bench.progress() == EmbeddingProgress(notes=1, pending=1, vectors=0)


def test_a_sample_is_spread_over_the_notes(bench: Bench) -> None:
    notes = [bench.add("one", "two", "three", title=f"Note {n}", mtime=n) for n in range(10)]
    bench.complete()
    stale = notes.pop(4)
    bench.edit(stale, "four")
    sample = bench.index.sample(bench.conn, SPACE, 9)
    assert {key_parts(one.chunk.item_key).entity_id for one in sample} == set(notes)
    again = bench.index.sample(bench.conn, SPACE, 9)
    assert [one.chunk for one in sample] == [one.chunk for one in again]
    everything = bench.index.sample(bench.conn, SPACE, 100)
    pending = {chunk for note in bench.pending(OTHER) for chunk in note.chunks}
    assert {one.chunk for one in everything} == {
        chunk for chunk in pending if key_parts(chunk.item_key).entity_id != stale
    }
    for one in everything:
        assert one.vector.tolist() == of_text(one.chunk.text).tolist()
    assert bench.index.sample(bench.conn, SPACE, 0) == []
    assert bench.index.sample(bench.conn, OTHER, 9) == []


def test_projects_do_not_see_each_other(make_bench: Callable[[int], Bench]) -> None:
    one, two = make_bench(1), make_bench(2)
    one.add("text")
    note = two.add("text")
    assert [pending.entity_id for pending in two.pending()] == [note]
    one.complete()
    assert two.progress() == EmbeddingProgress(notes=1, pending=1, vectors=0)
    keys = [chunk.content_key for pending in two.pending() for chunk in pending.chunks]
    assert two.index.known(two.conn, SPACE, keys) == frozenset()
    two.index.replace(two.conn, SPACE, two.pending(), {})
    assert two.near(vector(1)) == []
    two.complete()
    assert {found for found, _ in two.near(vector(1))} == {note}
    mine = one.index.nearest(one.conn, SPACE, vector(1), 9).keys
    assert two.index.similarities(two.conn, SPACE, vector(1), mine).tolist() == [0, 0]
    assert two.index.retire_others(two.conn, OTHER, 10) == 2
    assert len(one.near(vector(1))) == 2


def test_a_chunk_that_becomes_another_kind_of_item_is_found_as_that(bench: Bench) -> None:
    bench.embed = by_words(same=vector(1))
    note = bench.add("[fact] same")
    bench.complete()
    [before] = bench.pending(OTHER)
    assert bench.near(vector(1), kinds=[KINDS[ItemType.OBSERVATION]]) == [(note, 1)]
    changed = replace(
        before,
        chunks=tuple(
            replace(chunk, item_key=chunk.item_key ^ 3 if chunk.item_key & 3 else chunk.item_key)
            for chunk in before.chunks
        ),
    )
    bench.put([changed])
    assert bench.near(vector(1), kinds=[KINDS[ItemType.OBSERVATION]]) == []
    assert bench.near(vector(1), kinds=[KINDS[ItemType.SECTION]]) == [(note, 1)]


@pytest.mark.parametrize("back_end", SCANS, indirect=True)
def test_where_there_are_more_vectors_more_are_compared_exactly(
    make_bench: Callable[[int], Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The estimate puts more between the nearest, the more there are."""
    monkeypatch.setattr(vectors, "_CANDIDATES", 4)
    monkeypatch.setattr(vectors, "_FEW", 4)
    monkeypatch.setattr(vectors, "_OF_ALL", 2)
    compared: list[int] = []

    def count(*arguments: Any) -> Any:
        compared.append(len(arguments[-1]))
        return read(*arguments)

    read = vectors.vectors_alone
    monkeypatch.setattr(vectors, "vectors_alone", count)
    bench = make_bench(1)
    for number in range(30):
        bench.add(f"body number {number}", mtime=number)
    bench.complete()
    stored = bench.progress().vectors
    assert len(bench.near(of_text("any"), most=1)) == 1
    assert sum(compared) >= stored // 2 > 4
    compared.clear()
    monkeypatch.setattr(vectors, "_MOST_CANDIDATES", 8)
    bench.near(of_text("any"), most=1)
    assert sum(compared) == 8


def test_where_all_notes_are_fresh_none_is_asked_for(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.embed = by_words(near=vector(1), far=vector(0, 1))
    near = bench.add("near")
    bench.add("far", title="Far")
    bench.complete()

    def refuse(*_: Any) -> list[int]:
        raise AssertionError("asked which notes are fresh")

    monkeypatch.setattr(vectors, "fresh_among", refuse)

    assert bench.near(vector(1))[0] == (near, 1)


def test_a_note_that_is_indexed_anew_keeps_vectors_of_the_same_texts(bench: Bench) -> None:
    kept = bench.add("one", title="A")
    changed = bench.add("two", title="B")
    never = bench.add("three", title="C", mtime=-1)
    bench.put(bench.pending(limit=2))
    for note, title in ((kept, "A"), (changed, "B"), (never, "C")):
        bench.edit(note, "one", title=title, updated_at=DAY + timedelta(1))
    assert len(bench.pending()) == 3
    renewal = VectorRenewal(Tx(bench.conn, bench.project_id, DAY))
    renewal.renew([kept, changed, never])
    assert [note.entity_id for note in bench.pending()] == [changed, never]
    assert {note for note, _ in bench.near(of_text("one"))} == {kept}


def test_what_is_pending_is_the_same_however_much_is_asked_for(bench: Bench) -> None:
    notes = [bench.add(f"text {n}", title=f"Note {n}", mtime=n) for n in range(4)]

    def pending(space: str = SPACE) -> list[int]:
        few = [note.entity_id for note in bench.pending(space, limit=4)]
        assert few == [note.entity_id for note in bench.pending(space, limit=1_000_000)]
        return few

    assert pending() == notes[::-1]
    bench.put(bench.pending(limit=2))
    assert pending() == [notes[1], notes[0]]
    bench.edit(notes[3], "changed", title="Note 3")
    assert pending() == [notes[3], notes[1], notes[0]]
    bench.delete(notes[1])
    assert pending() == [notes[3], notes[0]]
    assert pending(OTHER) == [notes[3], notes[2], notes[0]]
    bench.complete()
    assert pending() == []


def test_vectors_of_another_space_are_known_of(bench: Bench) -> None:
    def others(space: str) -> bool:
        return bench.index.other_spaces(bench.conn, space)

    bench.add("one")
    assert not others("")
    bench.complete()
    assert [others(space) for space in ("", SPACE, OTHER)] == [True, False, True]
    bench.complete(OTHER)
    assert [others(space) for space in ("", SPACE, OTHER)] == [True, True, False]
