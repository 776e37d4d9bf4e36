"""The index of pgvector is made beside those who write, and never decides what is true."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

import asyncpg
import numpy as np
import pytest
from tests.contract.vector_bench import OTHER, SPACE, Bench, add_project, of_text, vector
from tools.postgres_server import databases

from memoranda.db.postgres import PostgresDatabase, address_of
from memoranda.repositories import vector_near_index, vectors_pgvector
from memoranda.repositories.driver import rows, run
from memoranda.repositories.vector_near import has_index, index_name
from memoranda.repositories.vector_near_index import make_index
from memoranda.repositories.vectors import BlobVectorIndex
from memoranda.repositories.vectors_pgvector import PostgresVectorIndex

T = TypeVar("T")
EXTENSION = "CREATE EXTENSION vector"


class World:
    """A project in a database, and what is done in transactions of it."""

    def __init__(self, database: PostgresDatabase, project_id: int = 1) -> None:
        self.database = database
        self.project_id = project_id
        self.index = PostgresVectorIndex(project_id)
        database.write(lambda conn: add_project(conn, project_id))

    def write(self, work: Callable[[Bench], T], index: BlobVectorIndex | None = None) -> T:
        used = index or self.index
        return self.database.write(
            lambda conn: work(Bench(conn, used, self.project_id)), project_id=self.project_id
        )

    def read(self, work: Callable[[Bench], T]) -> T:
        return self.database.read(lambda conn: work(Bench(conn, self.index, self.project_id)))

    def add(self, notes: int, start: int = 0, space: str = SPACE) -> list[int]:
        def work(bench: Bench) -> list[int]:
            made = [
                bench.add(*(f"text {n} of {number}" for n in range(9)), title=f"Note {number}")
                for number in range(start, start + notes)
            ]
            bench.put(bench.pending(space, limit=notes), space)
            return made

        return self.write(work)

    def make(self, space: str = SPACE) -> bool:
        return make_index(self.database, self.project_id, space, least=1)

    def kept(self) -> int:
        return int(
            self.database.read(lambda conn: rows(conn, "SELECT count(*) FROM search_vector_near"))[
                0
            ][0]
        )

    def has_index(self, space: str = SPACE) -> bool:
        return self.database.read(lambda conn: has_index(conn, self.project_id, space))

    def is_exact(self, query: np.ndarray[Any, Any], **options: Any) -> bool:
        """Whether the index finds what the tables say."""

        def work(bench: Bench) -> bool:
            found = self.index.nearest(bench.conn, SPACE, query, 10, **options)
            scanned = BlobVectorIndex(self.project_id).nearest(
                bench.conn, SPACE, query, 10, **options
            )
            assert found.similarities.tolist() == pytest.approx(scanned.similarities.tolist())
            return bool(found.keys.tolist() == scanned.keys.tolist())

        return self.read(work)


@pytest.fixture
def world(postgres: PostgresDatabase) -> World:
    return World(postgres)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each question was an exact one; every search asks the index first."""
    questions: list[bool] = []

    def candidates(*arguments: Any, **options: Any) -> Any:
        questions.append(options["is_exact"])
        return ask(*arguments, **options)

    ask = vectors_pgvector.candidates
    monkeypatch.setattr(vectors_pgvector, "candidates", candidates)
    monkeypatch.setattr(vectors_pgvector, "_FEW", -1)
    return questions


def test_the_index_is_made_once_where_it_is_worth_it(world: World) -> None:
    world.add(20)
    assert not make_index(world.database, 1, SPACE)
    assert not world.has_index()
    assert world.make()
    assert world.has_index()
    assert not world.make()
    assert world.kept() == 200
    assert not make_index(world.database, 1, OTHER, least=1)


def test_it_finds_what_a_scan_finds(world: World, asked: list[bool]) -> None:
    notes = world.add(60)
    world.make()
    rng = np.random.default_rng(5)
    for _ in range(20):
        assert world.is_exact(vector(*rng.normal(size=8)))
    assert asked.count(False) == 20
    assert asked.count(True) == 0
    assert world.is_exact(vector(1), among=np.array(notes[5:9]))
    assert world.is_exact(vector(1), kinds=[0])
    assert world.is_exact(vector(1), kinds=[2])
    assert world.is_exact(vector(1), among=np.array(notes[::2]), kinds=[0, 1], least=0.5)


def test_where_few_are_allowed_they_are_compared_one_by_one(
    world: World, asked: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = world.add(20)
    world.make()
    monkeypatch.setattr(vectors_pgvector, "_FEW", 50)
    assert world.is_exact(vector(1), among=np.array(notes[:5]))
    assert asked == [True]
    assert world.is_exact(vector(1), among=np.array(notes[:6]))
    assert asked[1] is False


def test_what_is_written_later_is_found_by_the_index(world: World) -> None:
    world.add(20)
    world.make()
    [note] = world.add(1, start=20)
    assert world.kept() == 210
    other_process = BlobVectorIndex(1)
    changed = world.write(
        lambda bench: (bench.edit(note, "quite another text", title="Note 20"), bench.complete()),
        other_process,
    )
    assert changed
    found = world.read(
        lambda bench: bench.near(of_text("Note 20 > Head\nquite another text"), most=1)
    )
    assert found == [(note, 1)]
    assert world.is_exact(vector(1))


def test_what_is_gone_or_stale_is_not_found(world: World) -> None:
    notes = world.add(30)
    world.make()
    world.write(lambda bench: [bench.delete(note) for note in notes[:10]])
    world.write(lambda bench: [bench.edit(note, "changed", title="N") for note in notes[10:25]])
    found = world.read(lambda bench: bench.near(vector(1), most=1000))
    assert {note for note, _ in found} == set(notes[25:])
    assert world.is_exact(vector(1))


def test_a_retired_space_takes_its_index_along(world: World) -> None:
    world.add(20)
    world.make()
    world.write(lambda bench: bench.complete(OTHER))
    assert world.make(OTHER)
    assert world.write(lambda bench: bench.index.retire_others(bench.conn, OTHER, 1000)) == 200
    assert world.kept() == 200
    assert not world.has_index()
    assert world.has_index(OTHER)
    gone = "SELECT to_regclass($1) IS NULL"
    name = index_name(1, SPACE)
    assert world.database.read(lambda conn: rows(conn, gone, name)) == [(True,)]


def test_projects_have_indexes_of_their_own(world: World) -> None:
    two = World(world.database, 2)
    world.add(20)
    two.add(30)
    assert world.make()
    assert not two.has_index()
    assert two.make()
    assert world.has_index()
    assert two.has_index()
    assert world.is_exact(vector(1))
    assert two.is_exact(vector(1))
    assert {
        note for note, _ in two.read(lambda bench: bench.near(vector(1), most=1000))
    }.isdisjoint(note for note, _ in world.read(lambda bench: bench.near(vector(1), most=1000)))


def test_an_index_that_was_cut_off_is_made_again(world: World) -> None:
    world.add(20)
    world.make()
    invalid = f"UPDATE pg_index SET indisvalid = false WHERE indexrelid = '{index_name(1, SPACE)}'::regclass"
    world.database.write(lambda conn: run(conn, invalid))
    assert not world.has_index()
    assert len(world.read(lambda bench: bench.near(vector(1)))) == 50
    assert world.make()
    assert world.has_index()


def test_a_copy_that_was_cut_off_goes_on(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.add(20)
    monkeypatch.setattr(vector_near_index, "_COPIED", 50)
    keep, left = vector_near_index.keep, [2]

    def fails(*arguments: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise ZeroDivisionError
        keep(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(vector_near_index, "keep", fails)
        with pytest.raises(ZeroDivisionError):
            world.make()
    assert world.kept() == 100
    assert not world.has_index()
    world.add(1, start=20)
    assert world.make()
    assert world.kept() == 210


def test_an_extension_that_goes_away_is_not_missed(world: World, postgres_url: str) -> None:
    world.add(20)
    world.make()
    databases().execute("DROP EXTENSION vector CASCADE", postgres_url)
    assert not world.has_index()
    assert len(world.read(lambda bench: bench.near(vector(1)))) == 50
    world.add(1, start=20)
    assert world.make()
    assert world.kept() == 210
    assert world.is_exact(vector(1))


def test_vectors_of_zeros_are_left_out(world: World) -> None:
    world.add(5)

    def add_nothing(bench: Bench) -> None:
        bench.embed = lambda _: vector()
        bench.add("nothing", title="Nothing")
        bench.complete()

    world.write(add_nothing)
    assert world.make()
    assert world.kept() == 50
    assert len(world.read(lambda bench: bench.near(vector(1), most=1000))) == 50


def test_without_the_right_to_enlist_it_there_is_none(world: World, postgres_url: str) -> None:
    world.add(20)
    for statement in (
        "DROP ROLE IF EXISTS memoranda_plain",
        "CREATE ROLE memoranda_plain LOGIN",
        "GRANT USAGE, CREATE ON SCHEMA memoranda TO memoranda_plain",
        "GRANT ALL ON ALL TABLES IN SCHEMA memoranda TO memoranda_plain",
        "GRANT ALL ON ALL SEQUENCES IN SCHEMA memoranda TO memoranda_plain",
    ):
        databases().execute(statement, postgres_url)
    plain = PostgresDatabase(address_of(postgres_url.replace("//memoranda@", "//memoranda_plain@")))
    assert not make_index(plain, 1, SPACE, least=1)
    found = plain.read(lambda conn: PostgresVectorIndex(1).nearest(conn, SPACE, vector(1), 10))
    assert len(found.keys) == 10
    databases().execute(EXTENSION, postgres_url)
    plain.write(lambda conn: run(conn, "SELECT 1"))
    assert make_index(plain, 1, SPACE, least=1)
    plain.dispose()


def test_who_writes_does_not_wait_for_the_index(world: World, postgres_url: str) -> None:
    world.add(20)
    begun = f"SELECT to_regclass('memoranda.{index_name(1, SPACE)}') IS NOT NULL"

    async def make_beside() -> None:
        reader = await asyncpg.connect(postgres_url)
        async with reader.transaction(isolation="repeatable_read"):
            await reader.execute("SELECT 1 FROM memoranda.project")  # its snapshot is waited for
            making = asyncio.create_task(asyncio.to_thread(world.make))
            while not await asyncio.to_thread(_said, postgres_url, begun):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            await asyncio.to_thread(world.add, 1, 20)
            assert not making.done()
        await reader.close()
        assert await making

    asyncio.run(make_beside())
    assert world.kept() == 210
    assert world.is_exact(vector(1))


def _said(url: str, question: str) -> bool:
    return databases().execute(question, url) == [(True,)]
