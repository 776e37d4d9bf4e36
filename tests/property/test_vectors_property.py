"""Whatever happens to notes, their vectors are those of notes that were never touched."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sqlalchemy.engine import Engine
from tests.contract.vector_bench import SPACE, Bench, add_project, of_text, vector

from memoranda.db.engine import begin_write, open_engine
from memoranda.db.health import prepare
from memoranda.model.item_key import KINDS, key_parts
from memoranda.model.search import ItemType
from memoranda.repositories.vectors import SqliteVectorIndex

BODIES: Final = ("one", "two", "[fact] one", "---", "same", "long words " * 200, "[fact] three")
TITLES: Final = ("Title", "Other", "!")
CONTENT: Final = """
    SELECT e.external_id, c.chunk_index, c.item_key & 16777215, c.part, c.chunk_text, c.content_key,
        v.embedding, v.dimensions, v.model
    FROM search_vector_chunks c JOIN entity e ON e.id = c.entity_id
    JOIN search_vector_embeddings v ON v.chunk_id = c.id ORDER BY 1, 2
"""
COUNTS: Final = """
    SELECT (SELECT count(*) FROM search_vector_chunks), (SELECT count(*) FROM search_vector_embeddings)
"""


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    path: Path = tmp_path_factory.mktemp("vectors") / "memory.db"
    prepare(path)
    engine = open_engine(path)
    yield engine
    engine.dispose()


class Undo(Exception):
    """Ends a transaction that is not to be kept."""


@contextmanager
def new_bench(engine: Engine) -> Iterator[Bench]:
    try:
        with begin_write(engine) as conn:
            add_project(conn, 1)
            yield Bench(conn, SqliteVectorIndex(1))
            raise Undo
    except Undo:
        pass


def content(bench: Bench) -> list[Any]:
    rows = bench.conn.exec_driver_sql(CONTENT).fetchall()
    [counts] = bench.conn.exec_driver_sql(COUNTS).fetchall()
    assert tuple(counts) == (len(rows), len(rows)), "every chunk has one vector"
    return [tuple(row) for row in rows]


STEP = st.tuples(
    st.sampled_from(["edit", "edit", "title", "delete", "embed", "half"]),
    st.integers(0, 3),
    st.lists(st.sampled_from(BODIES), max_size=4),
    st.sampled_from(TITLES),
)


@given(st.lists(STEP, max_size=12))
@settings(max_examples=60, deadline=None)
def test_after_any_edits_the_tables_are_those_made_from_nothing(
    engine: Engine, steps: list[tuple[str, int, list[str], str]]
) -> None:
    with new_bench(engine) as bench:
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
                case _ if slot in notes:
                    texts[slot] = (texts[slot][0], bodies)
                    bench.edit(notes[slot], *bodies, title=texts[slot][0])
                case _:
                    texts[slot] = (title, bodies)
                    notes[slot] = bench.add(*bodies, title=title, mtime=slot)
                    bench.conn.exec_driver_sql(
                        "UPDATE entity SET external_id = ? WHERE id = ?", (str(slot), notes[slot])
                    )
        bench.complete()
        edited = content(bench)
        near = bench.index.nearest(bench.conn, SPACE, vector(1), 100)
    with new_bench(engine) as bench:
        order = sorted(texts)
        for slot in order:
            note = bench.add(*texts[slot][1], title=texts[slot][0], mtime=slot)
            bench.conn.exec_driver_sql(
                "UPDATE entity SET external_id = ? WHERE id = ?", (str(slot), note)
            )
        bench.complete()
        assert edited == content(bench)
        from_nothing = bench.index.nearest(bench.conn, SPACE, vector(1), 100)
        assert sorted(near.similarities.tolist()) == sorted(from_nothing.similarities.tolist())


def test_one_note_in_a_hundred_is_searched_as_by_brute_force(engine: Engine) -> None:
    rng = np.random.default_rng(7)
    with new_bench(engine) as bench:
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
