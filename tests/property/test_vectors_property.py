"""Whatever happens to notes, their vectors are those of notes that were never touched."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sqlalchemy.engine import Connection
from tests.contract.vector_bench import SPACE, Bench, add_project, of_text, vector
from tests.postgres_lane import opened
from tools.postgres_server import databases, why_not

from memoranda.db.dialects import both, is_postgresql
from memoranda.db.engine import begin_write, open_engine
from memoranda.db.health import prepare
from memoranda.db.migrate_postgres import bring_up_schema
from memoranda.db.postgres import PostgresDatabase, address_of
from memoranda.model.item_key import KINDS, key_parts
from memoranda.model.search import ItemType
from memoranda.repositories.driver import rows, run
from memoranda.repositories.vectors import BlobVectorIndex

BODIES: Final = ("one", "two", "[fact] one", "---", "same", "long words " * 200, "[fact] three")
TITLES: Final = ("Title", "Other", "!")
CONTENT: Final = """
    SELECT e.external_id, c.chunk_index, c.item_key & 16777215 AS place, c.part, c.chunk_text, c.content_key,
        v.embedding, v.dimensions, v.model
    FROM search_vector_chunks c JOIN entity e ON e.id = c.entity_id
    JOIN search_vector_embeddings v ON v.chunk_id = c.id ORDER BY 1, 2
"""
COUNTS: Final = """
    SELECT (SELECT count(*) FROM search_vector_chunks), (SELECT count(*) FROM search_vector_embeddings)
"""


NAME: Final = both("UPDATE entity SET external_id = ? WHERE id = ?")
KEPT_SUMS: Final = """
    SELECT space, block, notes, vectors FROM search_vector_sums
    WHERE notes <> 0 OR vectors <> 0 ORDER BY 1, 2
"""
COUNTED_SUMS: Final = """
    SELECT '', id >> 8, count(*), 0 FROM entity GROUP BY 2
    UNION ALL SELECT n.space, e.id >> 8, count(*), sum(n.vectors)
    FROM search_vector_notes n JOIN entity e ON e.id = n.entity_id AND n.title = e.title
        AND n.checksum = e.checksum AND n.indexed_at = e.updated_at
    GROUP BY 1, 2 ORDER BY 1, 2
"""


class Undo(Exception):
    """Ends a transaction that is not to be kept."""


Begin = Callable[[], AbstractContextManager[Connection]]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def begin(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Begin]:
    if request.param == "sqlite":
        path: Path = tmp_path_factory.mktemp("vectors") / "memory.db"
        prepare(path)
        engine = open_engine(path)
        yield partial(begin_write, engine)
        engine.dispose()
        return
    if reason := why_not():
        pytest.skip(reason)
    url = databases().create()
    database = PostgresDatabase(address_of(url))
    bring_up_schema(database)
    database.dispose()
    with opened(url) as lane:
        yield lane.writing
    databases().drop(url)


@contextmanager
def new_bench(begin: Begin) -> Iterator[Bench]:
    """A project without notes, in a transaction that is undone."""
    try:
        with begin() as conn:
            add_project(conn, 1)
            yield Bench(conn, BlobVectorIndex(1))
            raise Undo
    except Undo:
        pass


def content(bench: Bench) -> list[Any]:
    rows = bench.conn.exec_driver_sql(CONTENT).fetchall()
    [counts] = bench.conn.exec_driver_sql(COUNTS).fetchall()
    assert tuple(counts) == (len(rows), len(rows)), "every chunk has one vector"
    return [tuple(row) for row in rows]


def check_sums(bench: Bench) -> None:
    """What PostgreSQL keeps is what it would count."""
    if not is_postgresql(bench.conn):
        return
    kept = rows(bench.conn, KEPT_SUMS)
    assert kept == rows(bench.conn, COUNTED_SUMS)


STEP = st.tuples(
    st.sampled_from(["edit", "edit", "title", "delete", "embed", "half", "count"]),
    st.integers(0, 3),
    st.lists(st.sampled_from(BODIES), max_size=4),
    st.sampled_from(TITLES),
)


@given(st.lists(STEP, max_size=12))
@settings(max_examples=60, deadline=None)
def test_after_any_edits_the_tables_are_those_made_from_nothing(
    begin: Begin, steps: list[tuple[str, int, list[str], str]]
) -> None:
    with new_bench(begin) as bench:
        notes: dict[int, int] = {}
        texts: dict[int, tuple[str, list[str]]] = {}
        for step, slot, bodies, title in steps:
            match step:
                case "embed":
                    bench.complete()
                case "half":
                    bench.put(bench.pending(limit=1))
                case "delete" if slot in notes:
                    bench.delete(notes.pop(slot))
                    del texts[slot]
                case "title" if slot in notes:
                    texts[slot] = (title, texts[slot][1])
                    bench.edit(notes[slot], *texts[slot][1], title=title)
                case "count":
                    check_sums(bench)
                case _ if slot in notes:
                    texts[slot] = (texts[slot][0], bodies)
                    bench.edit(notes[slot], *bodies, title=texts[slot][0])
                case _:
                    texts[slot] = (title, bodies)
                    notes[slot] = bench.add(*bodies, title=title, mtime=slot)
                    run(bench.conn, NAME, str(slot), notes[slot])
        bench.complete()
        edited = content(bench)
        check_sums(bench)
        near = bench.index.nearest(bench.conn, SPACE, vector(1), 100)
    with new_bench(begin) as bench:
        order = sorted(texts)
        for slot in order:
            note = bench.add(*texts[slot][1], title=texts[slot][0], mtime=slot)
            run(bench.conn, NAME, str(slot), note)
        bench.complete()
        assert edited == content(bench)
        from_nothing = bench.index.nearest(bench.conn, SPACE, vector(1), 100)
        assert sorted(near.similarities.tolist()) == sorted(from_nothing.similarities.tolist())


def test_one_note_in_a_hundred_is_searched_as_by_brute_force(begin: Begin) -> None:
    rng = np.random.default_rng(7)
    with new_bench(begin) as bench:
        for number in range(300):
            bodies = [f"{'[fact] ' if n % 2 else ''}text {number} {n}" for n in range(10)]
            bench.add(*bodies, title=f"Note {number}", mtime=number)
        exact: dict[int, NDArray[np.float32]] = {}
        for note in (pending := bench.pending(limit=1000)):
            exact |= {chunk.item_key: of_text(chunk.text) for chunk in note.chunks}
        bench.put(pending)
        assert bench.progress().vectors == 3300
        notes = sorted({key_parts(key).entity_id for key in exact})
        for _ in range(30):
            query = vector(*rng.normal(size=8))
            among = np.sort(rng.choice(notes, 3, replace=False))
            kinds = [None, [KINDS[ItemType.OBSERVATION]], [0, 1]][rng.integers(3)]
            allowed = [
                (float(exact[key] @ query), -key)
                for key in exact
                if key_parts(key).entity_id in among
                and (kinds is None or key_parts(key).kind in kinds)
            ]
            found = bench.index.nearest(
                bench.conn, SPACE, query, 10, least=-0.5, among=among, kinds=kinds
            )
            wanted = [
                (near, -key) for near, key in sorted(allowed, reverse=True)[:10] if near >= -0.5
            ]
            assert found.keys.tolist() == [key for _, key in wanted]
            assert found.similarities.tolist() == pytest.approx(
                [near for near, _ in wanted], abs=1e-6
            )
