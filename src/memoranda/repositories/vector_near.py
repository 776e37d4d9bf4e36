"""Vectors once more, in the type of pgvector, where PostgreSQL has that extension (0.8 or later).

A space of a project that has many vectors has them in `search_vector_near` too, of half the precision, with an
index of its own (HNSW), which `vector_near_index` makes. From when that is begun, whoever writes a vector writes
it there as well. What is found there are candidates: the BLOBs say how similar they are, and the tables whose.

Notes of items and their kinds are repeated, so that filters are applied while the index is read. No chunk ever
gets another note or another kind (`vector_rows`).
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy.engine import Connection

from memoranda.repositories.driver import rows, run, run_many

if TYPE_CHECKING:
    from memoranda.ports import Keys, Vectors

_EF_MOST: Final = 1000
_LINKS: Final = 24
_EF_MAKING: Final = 128
"""Of 200,000 texts of manuals and programs the ten nearest were found to .99; with the defaults (16, 64), to .96."""
_NOTE: Final = """
    INSERT INTO search_vector_spaces (project_id, space, last_id)
    VALUES ($1, $2, currval('search_vector_embeddings_id_seq'))
    ON CONFLICT (project_id, space) DO UPDATE SET last_id = excluded.last_id
    RETURNING near_index IS NOT NULL AND EXISTS (
        SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('search_vector_near')
        AND attname = 'near' AND NOT attisdropped
    )
"""
"""The column goes with the extension."""
_ADD: Final = """
    INSERT INTO search_vector_near (chunk_id, model, project_id, entity_id, kind, near)
    SELECT id, CAST($2 AS text), project_id, entity_id, item_key & 3,
        CAST(CAST($3 AS real[]) AS halfvec)
    FROM search_vector_chunks WHERE id = CAST($1 AS integer)
    ON CONFLICT (chunk_id, model) DO NOTHING
"""
_HAS_INDEX: Final = """
    SELECT 1 FROM search_vector_spaces AS s
    JOIN pg_index AS i ON i.indexrelid = to_regclass(s.near_index) AND i.indisvalid
    WHERE s.project_id = $1 AND s.space = $2
"""
_MAY_DROP: Final = """
    SELECT coalesce(bool_or(pg_has_role(relowner, 'USAGE')), false) FROM pg_class WHERE oid = to_regclass($1)
"""
_SETTINGS: Final = """
    SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true),
        set_config('hnsw.ef_search', $1, true),
        set_config('plan_cache_mode', $2, true)
"""
"""A list is searched in no time only if it is there when the statement is planned."""
_NEAREST: Final = """
    SELECT c.item_key, v.embedding FROM (
        SELECT n.chunk_id FROM search_vector_near AS n
        WHERE n.project_id = {project} AND n.model = {space} {filters}
        AND (
            SELECT f.is_fresh AND f.space = {space} FROM search_vector_notes AS f
            WHERE f.entity_id = n.entity_id
        )
        ORDER BY {distance} LIMIT $2
    ) AS found
    JOIN search_vector_embeddings AS v ON v.chunk_id = found.chunk_id AND v.model = {space}
        AND v.dimensions = {dimensions} AND length(v.embedding) = 4 * v.dimensions
    JOIN search_vector_chunks AS c ON c.id = v.chunk_id
"""
_BY_INDEX: Final = "CAST(n.near AS halfvec({0})) <#> CAST(CAST($1 AS real[]) AS halfvec({0}))"
"""As the index says it, so that it is used; as below, it is not."""
_BY_ALL: Final = "n.near <#> CAST(CAST($1 AS real[]) AS halfvec)"
_OTHERS: Final = """
    DELETE FROM search_vector_spaces WHERE project_id = $1 AND space <> $2 RETURNING near_index
"""
_HAS_TABLE: Final = "SELECT to_regclass('search_vector_near') IS NOT NULL"
_REMOVE: Final = "DELETE FROM search_vector_near WHERE project_id = $1 AND model <> $2"


def index_name(project_id: int, space: str) -> str:
    """What the index of a space is called; a name that needs no quotes."""
    return f"ix_search_vector_near_{project_id}_{zlib.crc32(space.encode()):08x}"


def note_added(
    conn: Connection, project_id: int, space: str, vectors: Sequence[tuple[int, bytes]]
) -> None:
    """Tell the caches that there are new vectors, and keep them here too if the space is; by chunk."""
    [(is_kept,)] = rows(conn, _NOTE, project_id, space)
    if is_kept:
        keep(conn, space, vectors)


def keep(conn: Connection, space: str, vectors: Sequence[tuple[int, bytes]]) -> None:
    """Add vectors that may be here already, by chunk; what is near to nothing is left out."""
    import numpy as np

    numbers = [(chunk, np.frombuffer(blob, "<f4")) for chunk, blob in vectors]
    run_many(
        conn, _ADD, [(chunk, space, values.tolist()) for chunk, values in numbers if values.any()]
    )


def has_index(conn: Connection, project_id: int, space: str) -> bool:
    """Whether all vectors of the space are here, with their index."""
    return bool(rows(conn, _HAS_INDEX, project_id, space))


def candidates(
    conn: Connection,
    project_id: int,
    space: str,
    query: Vectors,
    most: int,
    *,
    among: Keys | None,
    kinds: Sequence[int] | None,
    is_exact: bool,
) -> list[Any]:
    """Item keys and BLOBs of the nearest chunks of fresh notes, in no order.

    Args:
        conn: the transaction.
        project_id: of the space.
        space: of the query.
        query: unit length, shape (dimensions,).
        most: at most so many chunks.
        among: ids of the notes allowed; None: all.
        kinds: of items; None: all.
        is_exact: compare with all that are allowed, without the index, which may find fewer than there are.
    """
    filters, values = "", [query.tolist(), most]
    for column, allowed in (
        ("entity_id", None if among is None else among.tolist()),
        ("kind", None if kinds is None else list(kinds)),
    ):
        if allowed is not None:
            values.append(allowed)
            filters += f" AND n.{column} = ANY (CAST(${len(values)} AS integer[]))"
    distance = _BY_ALL if is_exact else _BY_INDEX.format(len(query))
    rows(
        conn,
        _SETTINGS,
        str(min(_EF_MOST, max(most, 40))),
        "auto" if among is None else "force_custom_plan",
    )
    text = _NEAREST.format(
        project=int(project_id),
        space=_literal(space),
        dimensions=len(query),
        filters=filters,
        distance=distance,
    )
    return rows(conn, text, *values)


def retire_near(conn: Connection, project_id: int, space: str) -> None:
    """Remove what is here of other spaces of the project, with their indexes."""
    gone = rows(conn, _OTHERS, project_id, space)
    if rows(conn, _HAS_TABLE)[0][0]:
        run(conn, _REMOVE, project_id, space)
    for (name,) in gone:
        if name is not None and rows(conn, _MAY_DROP, name)[0][0]:  # else it stays, of no rows
            run(conn, f"DROP INDEX IF EXISTS {name}")


def index_definition(project_id: int, space: str, dimensions: int) -> str:
    """The statement that makes the index of a space, beside those who write."""
    return (
        f"CREATE INDEX CONCURRENTLY {index_name(project_id, space)} ON search_vector_near"
        f" USING hnsw (CAST(near AS halfvec({dimensions})) halfvec_ip_ops)"
        f" WITH (m = {_LINKS}, ef_construction = {_EF_MAKING})"
        f" WHERE project_id = {int(project_id)} AND model = {_literal(space)}"
    )


def _literal(text: str) -> str:
    """A text in a statement: the condition of an index has no parameters."""
    escaped = text.replace("\\", "\\\\").replace("'", "''")
    return f"E'{escaped}'"
