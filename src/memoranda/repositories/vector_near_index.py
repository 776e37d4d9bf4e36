"""Makes the index of a space that has many vectors (`vector_near`), beside those who read and write.

What is to be done is asked of the database, so one that was ended goes on where it stopped. Vectors are copied
in transactions of some thousand. The index is made on a connection of its own, where nobody waits for it.
"""

from __future__ import annotations

import asyncio
import zlib
from functools import partial
from typing import Final

from loguru import logger
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from memoranda.db.postgres import Address, PostgresDatabase, connect
from memoranda.db.postgres_errors import meaning
from memoranda.errors import MemorandaError
from memoranda.repositories.driver import rows, run
from memoranda.repositories.vector_near import has_index, index_definition, index_name, keep
from memoranda.repositories.vector_versions import counts

FROM_VECTORS: Final = 50_000
"""Of fewer, the scan takes no longer, and its memory is some megabytes."""

_COPIED: Final = 2000
_LONG_S: Final = 6 * 3600.0
_CLOSE_S: Final = 5.0
_LEAST_VERSION: Final = (0, 8)
_MEMORY_MB: Final = (64, 1024)
_ALLOWED_MB: Final = "SELECT pg_size_bytes(current_setting('maintenance_work_mem')) >> 20"
"""What the server gives such work anyway; a graph that is larger than its memory takes many times as long."""
_BYTES_A_VECTOR: Final = 700
"""Of a graph in memory, beside two for each dimension."""
_MAY_ENLIST: Final = """
    SELECT 1 FROM pg_available_extensions
    WHERE name = 'vector' AND has_database_privilege(current_database(), 'CREATE')
"""
_ENLIST: Final = "CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public"
_VERSION: Final = """
    SELECT extversion FROM pg_extension WHERE extname = 'vector' AND to_regtype('halfvec') IS NOT NULL
"""
_DIMENSIONS: Final = """
    SELECT dimensions FROM search_vector_embeddings WHERE project_id = $1 AND model = $2
    ORDER BY id LIMIT 1
"""
_HAS_COLUMN: Final = """
    SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('search_vector_near')
    AND attname = 'near' AND NOT attisdropped
"""
_TABLE: Final = (
    "DROP TABLE IF EXISTS search_vector_near",
    """
        CREATE TABLE search_vector_near (
            chunk_id integer NOT NULL REFERENCES search_vector_chunks (id) ON DELETE CASCADE,
            model text COLLATE "C" NOT NULL,
            project_id integer NOT NULL,
            entity_id integer NOT NULL,
            kind smallint NOT NULL,
            near halfvec NOT NULL,
            PRIMARY KEY (chunk_id, model)
        )
    """,
    "ALTER TABLE search_vector_near ALTER COLUMN near SET STORAGE PLAIN",
    """
        CREATE INDEX ix_search_vector_near_notes
        ON search_vector_near (project_id, model, entity_id)
    """,
)
_BEGIN: Final = """
    UPDATE search_vector_spaces SET near_index = $3 WHERE project_id = $1 AND space = $2
"""
_MISSING: Final = """
    SELECT v.id, v.chunk_id, v.embedding FROM search_vector_embeddings AS v
    WHERE v.project_id = $1 AND v.model = $2 AND v.id > $3
    AND length(v.embedding) = 4 * v.dimensions
    AND NOT EXISTS (
        SELECT 1 FROM search_vector_near AS n WHERE n.chunk_id = v.chunk_id AND n.model = v.model
    )
    ORDER BY v.id LIMIT $4
"""


def make_index(
    database: PostgresDatabase, project_id: int, space: str, least: int = FROM_VECTORS
) -> bool:
    """Make the index of a space if it is worth it and there is none; waits, maybe for minutes.

    Args:
        database: where the vectors are; nobody waits for this thread.
        project_id: whose.
        space: their space.
        least: so many vectors are worth it.

    Returns:
        Whether it was made now.

    Raises:
        MemorandaError: it could not be; the vectors are found without.
    """

    def look(conn: Connection) -> tuple[bool, int]:
        is_there = has_index(conn, project_id, space)
        return is_there, counts(conn, project_id, space).vectors

    is_there, vectors = database.read(look)
    if is_there or vectors < least or not _has_extension(database):
        return False
    [(dimensions,)] = database.read(lambda conn: rows(conn, _DIMENSIONS, project_id, space))
    database.write(make_table)
    database.write(
        lambda conn: run(conn, _BEGIN, project_id, space, index_name(project_id, space)),
        project_id=project_id,
    )
    last: int | None = 0
    while last is not None:
        last = database.write(
            partial(_copy, project_id=project_id, space=space, last=last), project_id=project_id
        )
    try:
        is_made = asyncio.run(_make(database.address, project_id, space, vectors, dimensions))
    except Exception as error:
        if (known := meaning(error, database.address.shown)) is None:
            raise
        raise known from error
    if is_made:
        logger.info("An index of {:,} vectors was made in {}", vectors, database.shown)
    return is_made


def _has_extension(database: PostgresDatabase) -> bool:
    """Whether it is there, or could be enlisted just now; that is the administrator's otherwise."""
    version, may = database.read(lambda conn: (rows(conn, _VERSION), rows(conn, _MAY_ENLIST)))
    if not version and may:
        try:
            database.write(lambda conn: run(conn, _ENLIST))
        except (MemorandaError, DBAPIError) as error:
            logger.debug("pgvector is not used: {}", error)
        version = database.read(lambda conn: rows(conn, _VERSION))
    numbers = tuple(map(int, version[0][0].split(".")[:2])) if version else (0,)
    return numbers >= _LEAST_VERSION


def make_table(conn: Connection) -> None:
    """Make the table, anew if the extension went away once and took the column with it."""
    if not rows(conn, _HAS_COLUMN):
        for statement in _TABLE:
            run(conn, statement)


def _copy(conn: Connection, project_id: int, space: str, last: int) -> int | None:
    """Copy some of the vectors that are missing, after an id; returns the last one, None: no more."""
    found = rows(conn, _MISSING, project_id, space, last, _COPIED)
    keep(conn, space, [(chunk, blob) for _, chunk, blob in found])
    return int(found[-1][0]) if len(found) == _COPIED else None


async def _make(
    address: Address, project_id: int, space: str, vectors: int, dimensions: int
) -> bool:
    """Make the index; returns whether this process did, and not another one at the same time."""
    name = index_name(project_id, space)
    connection = await connect(address)
    try:
        lock = zlib.crc32(f"{address.lock_class} {name}".encode())
        if not await connection.fetchval("SELECT pg_try_advisory_lock($1)", lock):
            return False
        needed = vectors * (_BYTES_A_VECTOR + 2 * dimensions) >> 20
        allowed = await connection.fetchval(_ALLOWED_MB)
        memory = max(_MEMORY_MB[0], min(max(_MEMORY_MB[1], allowed), needed))
        await connection.execute(
            "SET statement_timeout = 0; SET lock_timeout = 0;"
            f"SET maintenance_work_mem = '{memory}MB'"
        )
        # One that was cut off is there and cannot be used.
        await connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}", timeout=_LONG_S)
        await connection.execute(index_definition(project_id, space, dimensions), timeout=_LONG_S)
        await connection.execute("ANALYZE search_vector_near", timeout=_LONG_S)
    finally:
        await connection.close(timeout=_CLOSE_S)
    return True
