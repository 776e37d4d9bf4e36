"""A cache of vectors that is newer or older than a transaction never decides what is true."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import pytest
from sqlalchemy.engine import Connection, Engine
from tests.contract.vector_bench import OTHER, SPACE, Bench, add_project, of_text, vector
from tests.postgres_lane import PostgresLane

from memoranda.db.engine import begin_read, begin_write, open_engine
from memoranda.db.health import prepare
from memoranda.model.item_key import key_parts
from memoranda.repositories import driver, vector_versions
from memoranda.repositories.vectors import BlobVectorIndex

T = TypeVar("T")
BODIES = tuple(f"text {number}" for number in range(24))
ROUNDS = 40


class Place(Protocol):
    """Where the tables are; `PostgresLane` is another one."""

    def reading(self) -> AbstractContextManager[Connection]: ...

    def writing(self) -> AbstractContextManager[Connection]: ...

    def in_thread(self, work: Callable[[Place], T]) -> T: ...


@dataclass
class SqlitePlace:
    engine: Engine

    def reading(self) -> AbstractContextManager[Connection]:
        return begin_read(self.engine)

    def writing(self) -> AbstractContextManager[Connection]:
        return begin_write(self.engine)

    def in_thread(self, work: Callable[[Place], T]) -> T:
        return work(self)


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    if request.param == "postgresql":
        lane = request.getfixturevalue("lane")
        lane.run(lambda: add_first_project(lane))
        yield lane
        return
    prepare(tmp_path / "memory.db")
    engine = open_engine(tmp_path / "memory.db")
    add_first_project(SqlitePlace(engine))
    yield SqlitePlace(engine)
    engine.dispose()


def add_first_project(place: Place) -> None:
    with place.writing() as conn:
        add_project(conn, 1)


@pytest.fixture
def index() -> BlobVectorIndex:
    return BlobVectorIndex(1)


@contextmanager
def writing(place: Place, index: BlobVectorIndex) -> Iterator[Bench]:
    with place.writing() as conn:
        yield Bench(conn, index)


@contextmanager
def reading(place: Place, index: BlobVectorIndex) -> Iterator[Bench]:
    with place.reading() as conn:
        yield Bench(conn, index)


def fill(place: Place, index: BlobVectorIndex, notes: int, start: int = 0) -> list[int]:
    with writing(place, index) as bench:
        made = [
            bench.add(*(f"{body} of {n}" for body in BODIES), title=f"Note {n}", mtime=n)
            for n in range(start, start + notes)
        ]
        bench.put(bench.pending(limit=notes))
    return made


def text_of(note: int, body: int) -> str:
    return f"Note {note} > Head\ntext {body} of {note}"


def test_an_old_transaction_does_not_see_what_the_cache_knows(
    place: Place, index: BlobVectorIndex
) -> None:
    [note] = fill(place, index, 1)
    with reading(place, index) as old:
        before = old.near(of_text(text_of(1, 3)))
        fill(place, index, 60, start=1)
        with reading(place, index) as new:
            assert new.near(of_text(text_of(1, 3)), most=1) == [(note + 1, 4)]
        assert old.near(of_text(text_of(1, 3))) == before
        with reading(place, index) as new:
            assert new.near(of_text(text_of(1, 3)), most=1) == [(note + 1, 4)], "still known"


def test_what_another_process_removed_is_not_found(place: Place, index: BlobVectorIndex) -> None:
    notes = fill(place, index, 60)
    query = of_text(text_of(2, 3))
    with reading(place, index) as bench:
        assert bench.near(query, most=1) == [(notes[2], 4)]
    with writing(place, BlobVectorIndex(1)) as bench:
        bench.edit(notes[2], "text 0 of 2", title="Note 2")
        bench.complete()
        for note in notes[30:]:
            bench.delete(note)
    with reading(place, index) as bench:
        found = bench.near(query, most=1000)
        assert len(found) == 29 * 25 + 2
        assert {note for note, _ in found} == set(notes[:30])


def test_the_cache_drops_what_most_searches_miss(place: Place, index: BlobVectorIndex) -> None:
    notes = fill(place, index, 80)
    with reading(place, index) as bench:
        bench.near(vector(1))
    with writing(place, BlobVectorIndex(1)) as bench:
        for note in notes[10:]:
            bench.delete(note)
    with reading(place, index) as bench:
        assert len(bench.near(vector(1), most=1000)) == 250
        assert len(index._caches.current(bench.conn, SPACE, 8)) == 250


def test_the_cache_drops_what_a_search_misses(place: Place, index: BlobVectorIndex) -> None:
    [note] = fill(place, index, 1)
    with reading(place, index) as bench:
        bench.near(vector(1))
    with writing(place, BlobVectorIndex(1)) as bench:
        bench.edit(note, "text 0 of 0", title="Note 0")
        bench.complete()
    with reading(place, index) as bench:
        assert len(bench.near(vector(1))) == 2
        assert len(index._caches.current(bench.conn, SPACE, 8)) == 2


def test_two_spaces_are_searched_in_turn(place: Place, index: BlobVectorIndex) -> None:
    notes = fill(place, index, 2)
    with writing(place, index) as bench:
        bench.edit(notes[1], "changed")
        bench.complete(OTHER)
        bench.complete(SPACE)
        bench.put(bench.pending(OTHER, limit=1), OTHER)
    for _ in range(2):
        with reading(place, index) as bench:
            found = {
                note for space in (SPACE, OTHER) for note, _ in bench.near(vector(1), space=space)
            }
            assert found == set(notes)
            assert (
                len(bench.near(vector(1), space=SPACE)) + len(bench.near(vector(1), space=OTHER))
                == 25 + 2
            )


def test_changed_notes_stay_in_the_cache(place: Place, index: BlobVectorIndex) -> None:
    notes = fill(place, index, 80)
    with writing(place, index) as bench:
        for note in notes[10:]:
            bench.edit(note, "changed")
    with reading(place, index) as bench:
        assert len(bench.near(vector(1), most=1000)) == 250
        assert len(index._caches.current(bench.conn, SPACE, 8)) == 2000


def test_what_another_process_added_is_found(place: Place, index: BlobVectorIndex) -> None:
    fill(place, index, 45)
    with reading(place, index) as bench:
        bench.near(vector(1))
    for number in range(45, 60):
        [note] = fill(place, BlobVectorIndex(1), 1, start=number)
        with reading(place, index) as bench:
            assert bench.near(of_text(text_of(number, 3)), most=1) == [(note, 4)]


def test_what_is_rolled_back_leaves_nothing_in_the_cache(
    place: Place, index: BlobVectorIndex
) -> None:
    fill(place, index, 60)
    with reading(place, index) as bench:
        bench.near(vector(1))

    def lose() -> None:
        with writing(place, index) as bench:
            bench.add("lost", title="Lost")
            bench.put(bench.pending())
            assert bench.near(of_text("Lost"), most=1) == [(61, 0)]
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        lose()
    with reading(place, index) as bench:
        assert index._caches.current(bench.conn, SPACE, 8).last_id == 60 * 25
    [note] = fill(place, index, 1, start=60)
    with reading(place, index) as bench:
        assert bench.near(of_text(text_of(60, 3)), most=1) == [(note, 4)]
        assert bench.near(of_text("Lost"), least=0.9999) == []


def test_the_centre_moves_when_there_are_twice_as_many(
    place: Place, index: BlobVectorIndex
) -> None:
    centred = []
    for number in range(6):
        fill(place, index, 1, start=number)
        with reading(place, index) as bench:
            cache = index._caches.current(bench.conn, SPACE, 8)
            assert len(cache) == 25 * (number + 1)
            centred.append(cache.centred // 25)
    assert centred == [1, 1, 3, 3, 3, 3]


def test_vectors_of_another_length_are_not_compared(place: Place, index: BlobVectorIndex) -> None:
    fill(place, index, 1)
    with reading(place, index) as bench:
        assert bench.near(np.array([1, 0, 0], np.float32)) == []
        assert len(bench.near(vector(1))) == 25


@pytest.mark.slow
def test_threads_see_their_own_transactions(place: Place, index: BlobVectorIndex) -> None:
    """While notes come, change and go, each answer is what the tables of its transaction say."""
    notes = fill(place, index, 50)

    def read(seed: int, place: Place) -> int:
        rng = np.random.default_rng(seed)
        found = 0
        for _ in range(ROUNDS):
            query = vector(*rng.normal(size=8))
            with reading(place, index) as bench:
                near = index.nearest(bench.conn, SPACE, query, 20)
                exact = {
                    one.chunk.item_key: float(one.vector @ query)
                    for one in index.sample(bench.conn, SPACE, 10_000)
                }
            said = dict(zip(near.keys.tolist(), near.similarities.tolist(), strict=True))
            assert said == pytest.approx({key: exact[key] for key in said}, abs=1e-6)
            assert len(said) == 20
            found += len(said.keys() & set(sorted(exact, key=exact.__getitem__)[-20:]))
        return found

    def write(place: Place) -> None:
        rng = np.random.default_rng(99)
        for number in range(ROUNDS):
            with writing(place, index) as bench:
                one = notes[int(rng.integers(len(notes)))]
                match number % 4:
                    case 0:
                        bench.edit(one, *rng.permutation(BODIES), title=f"New {number}")
                    case 1:
                        bench.delete(one)
                        notes.remove(one)
                    case 2:
                        notes.append(bench.add(*BODIES, title=f"Added {number}"))
                    case _:
                        bench.put(bench.pending())

    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(place.in_thread, partial(read, seed)) for seed in range(3)]
        pool.submit(place.in_thread, write).result()
        recalled = sum(reader.result() for reader in readers)
    assert recalled > 0.9 * 3 * ROUNDS * 20, "one bit for each of eight dimensions says little"


def test_a_moved_chunk_keeps_its_vector(place: Place, index: BlobVectorIndex) -> None:
    [note] = fill(place, index, 1)
    with reading(place, index) as bench:
        bench.near(vector(1))
        sql = "SELECT max(id) FROM search_vector_embeddings"
        last = bench.conn.exec_driver_sql(sql).scalar()
    with writing(place, index) as bench:
        bench.edit(note, *(f"{body} of 0" for body in reversed(BODIES)), title="Note 0")
        bench.complete()
        assert bench.embedded == []
        assert bench.conn.exec_driver_sql(sql).scalar() == last
    with reading(place, index) as bench:
        found = index.nearest(bench.conn, SPACE, of_text(text_of(0, 23)), 1)
        assert key_parts(found.keys[0].item()).ordinal == 1
        assert found.similarities[0] == pytest.approx(1)


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_notes_are_counted_again_only_after_a_change(
    place: Place, index: BlobVectorIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(place, index, 3)
    asked: list[object] = []

    def rows(conn: Connection, *statement: Any) -> list[Any]:
        asked.append(statement)
        return driver.rows(conn, *statement)

    monkeypatch.setattr(vector_versions, "rows", rows)

    def counted() -> tuple[tuple[int, int], int]:
        asked.clear()
        with reading(place, index) as bench:
            found = bench.progress()
        return (found.notes, found.pending), len(asked)

    assert counted() == ((3, 0), 1)
    assert counted() == ((3, 0), 0)
    with reading(place, index) as old:
        assert old.progress().notes == 3
        with writing(place, index) as bench:
            bench.add("more", title="More")
        assert old.progress().notes == 3
    assert counted()[0] == (4, 1)
    with writing(place, index) as bench:
        bench.add("never", title="Never")
        assert bench.progress().notes == 5
        bench.conn.rollback()
    assert counted()[0] == (4, 1)


@pytest.mark.parametrize("place", ["postgresql"], indirect=True)
def test_projects_are_written_at_the_same_time(place: PostgresLane, index: BlobVectorIndex) -> None:
    """What one does not see yet has lower ids than what another has stored."""
    other = BlobVectorIndex(2)
    with place.writing() as conn:
        add_project(conn, 2)
    with place.writing(1) as first:
        mine = Bench(first, index, 1)
        note = mine.add("one")
        mine.complete()
        with place.writing(2) as second:
            theirs = Bench(second, other, 2)
            their_note = theirs.add("two")
            theirs.complete()
        with place.reading() as conn:
            assert Bench(conn, index, 1).near(vector(1)) == []
            found = Bench(conn, other, 2).near(vector(1))
            assert {number for number, _ in found} == {their_note}
    with place.reading() as conn:
        assert {number for number, _ in Bench(conn, index, 1).near(vector(1))} == {note}
        assert {number for number, _ in Bench(conn, other, 2).near(vector(1))} == {their_note}
