"""Large indexes for `benchmarks.postgres`: copies of the rows of notes that were really indexed.

Rows are copied inside the database under new ids, paths and names. Vectors are copied with noise, so that no two
are the same and each has some near ones.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from memoranda.db.postgres import PostgresDatabase

_SHIFTED = {
    "entity": ("id",),
    "observation": ("id", "entity_id"),
    "relation": ("id", "from_id", "to_id"),
    "link": ("entity_id", "to_id"),
    "note_name": ("entity_id",),
    "note_filter": ("entity_id",),
    "search_index": ("entity_id",),
    "search_terms": (),
    "search_vector_chunks": ("id", "entity_id"),
    "search_vector_notes": ("entity_id",),
}
"""Tables whose rows are copied, parents first, and their columns of ids."""
_OWNERS = {
    "entity": "id",
    "relation": "from_id",
    "search_index": "rowid >> 24",
    "search_terms": "key >> 24",
}
"""How a table says which note a row is of."""
_KEYS = {"search_index": "rowid", "search_terms": "key", "search_vector_chunks": "item_key"}
_RENAMED = {"file_path", "permalink", "wanted_permalink", "hashed_permalink"}
_BITS = 24
_COLUMNS = """
    SELECT column_name FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position
"""
_NOISE = 0.25
"""Length of what is added to a vector of length 1: the copy is near to it, at .97."""
_BLOCK = 5_000
_BASE_VECTORS = """
    SELECT v.chunk_id, v.embedding, v.dimensions, v.model FROM search_vector_embeddings AS v
    WHERE v.chunk_id > $1 AND v.chunk_id <= $2 ORDER BY v.chunk_id LIMIT $3
"""
_ADD_VECTORS = """
    INSERT INTO search_vector_embeddings (chunk_id, embedding, dimensions, model, project_id)
    SELECT given.chunk_id, given.embedding, $3, $4, 1
    FROM unnest(CAST($1 AS integer[]), CAST($2 AS bytea[])) AS given (chunk_id, embedding)
"""
_SUMS = (
    "DELETE FROM search_vector_sums",
    "INSERT INTO search_vector_sums SELECT project_id, '', id >> 8, count(*), 0 FROM entity GROUP BY 1, 3",
    """
        INSERT INTO search_vector_sums
        SELECT project_id, space, entity_id >> 8, count(*), sum(vectors) FROM search_vector_notes
        WHERE is_fresh GROUP BY 1, 2, 3
    """,
    "UPDATE search_vector_spaces SET last_id = (SELECT max(id) FROM search_vector_embeddings)",
)


def grow(database: PostgresDatabase, base: int, size: int) -> None:
    """Copy the rows of the first `base` notes until there are `size`; then let the server settle."""
    [(there,)] = asked(database, "SELECT count(*) FROM entity")
    [(first, last)] = asked(
        database, "SELECT min(id), max(id) FROM entity WHERE file_path !~ '^copy '"
    )
    [(vectors,)] = asked(database, "SELECT coalesce(max(id), 0) FROM search_vector_chunks")
    columns = {
        table: [str(name) for (name,) in asked(database, _COLUMNS, table)] for table in _SHIFTED
    }
    for copy in range(int(there) // base, -(-size // base)):
        database.write(partial(_copy, columns, int(first), int(last), copy))
        _copy_vectors(database, vectors, copy)
    settle(database)


def _copy(columns: dict[str, list[str]], first: int, last: int, copy: int, conn: Any) -> None:
    conn.exec_driver_sql("SET LOCAL session_replication_role = replica")
    conn.exec_driver_sql("SET LOCAL statement_timeout = 0")
    shift = copy * (last - first + 1)
    for table, ids in _SHIFTED.items():
        own = {
            **{name: f"{name} + {_shift(table, name, shift)}" for name in ids},
            **({key: f"{key} + ({shift}::bigint << {_BITS})"} if (key := _KEYS.get(table)) else {}),
            **{name: f"'copy {copy}/' || {name}" for name in _RENAMED},
            "external_id": "gen_random_uuid()::text",
        }
        if table == "note_name":
            own["key"] = f"'copy {copy} ' || key"
        if "{own}" in str(own):
            [(most,)] = conn.exec_driver_sql(f"SELECT max(id) FROM {table}").fetchall()
            own = {name: how.replace("{own}", str(most)) for name, how in own.items()}
        names = columns[table]
        values = ", ".join(own.get(name, f'"{name}"') for name in names)
        of = _OWNERS.get(table, "entity_id")
        quoted = ", ".join(map('"{}"'.format, names))
        conn.exec_driver_sql(
            f"INSERT INTO {table} ({quoted})"
            f" SELECT {values} FROM {table} WHERE {of} BETWEEN {first} AND {last}"
        )
    conn.exec_driver_sql("UPDATE search_statistics SET items = (SELECT count(*) FROM search_index)")
    for table in ("entity", "observation", "relation"):
        conn.exec_driver_sql(
            f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM {table}"
        )


def _shift(table: str, column: str, shift: int) -> str:
    return "{own}" if column == "id" and table != "entity" else str(shift)


def _copy_vectors(database: PostgresDatabase, most: int, copy: int) -> None:
    """The vectors of the first chunks once more, for the chunks that were copied just now."""
    if not most:
        return
    [(shift,)] = asked(database, "SELECT max(id) - $1 FROM search_vector_chunks", most)
    noise, last = np.random.default_rng(copy), 0
    while found := asked(database, _BASE_VECTORS, last, most, _BLOCK):
        last = found[-1][0]
        given = list(_noisy(noise, [blob for _, blob, _, _ in found]))
        chunks = [chunk + shift for chunk, _, _, _ in found]
        database.write(partial(_add, (chunks, given, found[0][2], found[0][3])))
    database.write(_sum_up)


def _noisy(noise: np.random.Generator, blobs: list[bytes]) -> Iterator[bytes]:
    vectors = np.frombuffer(b"".join(blobs), "<f4").reshape(len(blobs), -1)
    added = noise.standard_normal(vectors.shape, np.float32) * (_NOISE / vectors.shape[1] ** 0.5)
    found = vectors + added
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return (one.astype("<f4").tobytes() for one in found)


def _add(values: tuple[object, ...], conn: Any) -> None:
    conn.exec_driver_sql(_ADD_VECTORS, values)


def _sum_up(conn: Any) -> None:
    for statement in _SUMS:
        conn.exec_driver_sql(statement)


def settle(database: PostgresDatabase) -> None:
    """What autovacuum would have done by now."""
    asyncio.run(_outside(database.address.url, "VACUUM (ANALYZE)"))


async def _outside(url: str, statement: str) -> None:
    import asyncpg

    connection = await asyncpg.connect(url)
    await connection.execute(statement, timeout=7200)
    await connection.close()


def asked(database: PostgresDatabase, sql: str, *values: object) -> list[Any]:
    def ask(conn: Any) -> list[Any]:
        return list(conn.exec_driver_sql(sql, values).fetchall())

    return database.read(ask)
