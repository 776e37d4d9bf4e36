"""Rows of chunks and their vectors, as `VectorIndex.replace` needs them: few statements for many notes.

A chunk whose text did not change keeps its row and its vector, and is only told its new place. A vector
for a text that is embedded somewhere in the project is copied.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sqlalchemy.engine import Connection

from memoranda.db.dialects import Statement, both, is_postgresql
from memoranda.model.embedding import Chunk
from memoranda.model.item_key import key_parts
from memoranda.ports import PendingNote
from memoranda.repositories.driver import rows, run_many
from memoranda.repositories.store import in_chunks
from memoranda.repositories.stored_items import as_list
from memoranda.repositories.vector_near import note_added
from memoranda.repositories.vector_words import vector_statement

if TYPE_CHECKING:
    from memoranda.ports import Vectors

_TEXTS: Final = 500
_OF_TEXT: Final = """
    FROM search_vector_chunks AS c JOIN search_vector_embeddings AS v ON v.chunk_id = c.id
    WHERE c.project_id = ? AND c.content_key = wanted.key AND v.model = ? AND {sound}
"""
_KNOWN: Final = vector_statement(f"""
    {{wanted}} SELECT key FROM wanted WHERE EXISTS (SELECT 1 {_OF_TEXT})
""")  # noqa: S608 - texts of ours
_STORED: Final = vector_statement(f"""
    {{wanted}} SELECT key, (SELECT v.embedding {_OF_TEXT} LIMIT 1) FROM wanted
""")  # noqa: S608 - texts of ours
_ROWS: Final = both("""
    SELECT c.id, c.entity_id, c.item_key, c.part, c.chunk_index, c.content_key,
        EXISTS (SELECT 1 FROM search_vector_embeddings WHERE chunk_id = c.id AND model = ?)
    FROM search_vector_chunks AS c WHERE c.entity_id IN ({numbers}) ORDER BY c.id
""")
_DELETE: Final = both("DELETE FROM search_vector_chunks WHERE id = ?")
_MOVE: Final = both("""
    UPDATE search_vector_chunks
    SET item_key = ?, part = ?, chunk_index = ?, updated_at = CURRENT_TIMESTAMP WHERE id = ?
""")
_FREE_CHUNKS: Final = Statement(
    """
        WITH RECURSIVE free (id) AS (
            SELECT coalesce(max(id), 0) + 1 FROM search_vector_chunks
            UNION ALL SELECT id + 1 FROM free
        )
        SELECT id FROM free LIMIT ?
    """,
    "SELECT nextval('search_vector_chunks_id_seq') FROM generate_series(1, $1)",
)
_ADD_CHUNK: Final = both("""
    INSERT INTO search_vector_chunks (
        id, entity_id, chunk_text, chunk_index, project_id, created_at, updated_at,
        item_key, part, content_key
    ) VALUES (?, ?, ?, ?, ?, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP, ?, ?, ?)
""")
_ADD_VECTOR: Final = Statement(
    """
        INSERT INTO search_vector_embeddings (chunk_id, embedding, dimensions, model, created_at)
        VALUES (?, ?, ?, ?, CURRENT_TIMESTAMP)
    """,
    """
        INSERT INTO search_vector_embeddings (
            chunk_id, embedding, dimensions, model, project_id, created_at
        ) VALUES (
            $1, $2, $3, $4, (SELECT project_id FROM search_vector_chunks WHERE id = $1),
            CURRENT_TIMESTAMP
        )
    """,
)


def known_texts(
    conn: Connection, project_id: int, space: str, content_keys: Iterable[bytes]
) -> frozenset[bytes]:
    """Which texts have a vector in the space."""
    found = _of_texts(conn, _KNOWN, project_id, space, content_keys)
    return frozenset(key for (key,) in found)


def replace_rows(
    conn: Connection,
    project_id: int,
    space: str,
    notes: Sequence[PendingNote],
    vectors: Mapping[bytes, Vectors],
) -> set[int]:
    """Make the chunks of these notes their only rows, each with a vector; returns the notes it did.

    Left as it was is a note with a chunk that has a vector neither here nor in `vectors`.
    """
    wanted = {chunk.content_key for note in notes for chunk in note.chunks}
    blobs = {key: _blob(vectors[key]) for key in wanted & vectors.keys()}
    stored = _of_texts(conn, _STORED, project_id, space, wanted - blobs.keys())
    blobs |= {key: blob for key, blob in stored if blob is not None}
    done = [note for note in notes if all(chunk.content_key in blobs for chunk in note.chunks)]
    _write(conn, project_id, space, blobs, _changes(done, _stored_rows(conn, space, done)))
    return {note.entity_id for note in done}


class _Row(NamedTuple):
    """A chunk that is stored. `has_vector`: in the space."""

    chunk_id: int
    entity_id: int
    item_key: int
    part: int
    place: int
    content_key: bytes
    has_vector: int


@dataclass(frozen=True, slots=True)
class _Changes:
    """What makes the stored rows those that are wanted. Places are of chunks in their notes."""

    gone: list[tuple[int]] = field(default_factory=list)
    moved: list[tuple[int, int, int, int]] = field(default_factory=list)
    without_vector: list[tuple[int, bytes]] = field(default_factory=list)
    new: list[tuple[int, int, Chunk]] = field(default_factory=list)


def _stored_rows(
    conn: Connection, space: str, notes: Sequence[PendingNote]
) -> Mapping[int, Sequence[_Row]]:
    found: dict[int, list[_Row]] = defaultdict(list)
    ids = as_list([note.entity_id for note in notes])
    for row in rows(conn, _ROWS, space, ids):
        found[row[1]].append(_Row(*row))
    return found


def _changes(notes: Sequence[PendingNote], stored: Mapping[int, Sequence[_Row]]) -> _Changes:
    """Rows are kept by text, and by kind of item, which caches rely on."""
    changes = _Changes()
    for note in notes:
        spare: dict[tuple[bytes, int], list[_Row]] = defaultdict(list)
        for row in reversed(stored.get(note.entity_id, ())):
            spare[row.content_key, key_parts(row.item_key).kind].append(row)
        for place, chunk in enumerate(note.chunks):
            same = spare.get((chunk.content_key, key_parts(chunk.item_key).kind))
            if not same:
                changes.new.append((note.entity_id, place, chunk))
                continue
            row = same.pop()
            if (row.item_key, row.part, row.place) != (chunk.item_key, chunk.part, place):
                changes.moved.append((chunk.item_key, chunk.part, place, row.chunk_id))
            if not row.has_vector:
                changes.without_vector.append((row.chunk_id, row.content_key))
        changes.gone.extend((row.chunk_id,) for same in spare.values() for row in same)
    return changes


def _write(
    conn: Connection, project_id: int, space: str, blobs: Mapping[bytes, bytes], changes: _Changes
) -> None:
    free = rows(conn, _FREE_CHUNKS, len(changes.new)) if changes.new else []
    chunks: list[tuple[object, ...]] = []
    texts = list(changes.without_vector)
    for (chunk_id,), (entity_id, place, chunk) in zip(free, changes.new, strict=True):
        key = chunk.content_key
        texts.append((chunk_id, key))
        chunks.append(
            (chunk_id, entity_id, chunk.text, place, project_id, chunk.item_key, chunk.part, key)
        )
    vectors = [(chunk, blob := blobs[key], len(blob) // 4, space) for chunk, key in texts]
    run_many(conn, _DELETE, changes.gone)
    run_many(conn, _MOVE, changes.moved)
    run_many(conn, _ADD_CHUNK, chunks)
    run_many(conn, _ADD_VECTOR, vectors)
    if vectors and is_postgresql(conn):
        note_added(conn, project_id, space, [(chunk, blob) for chunk, blob, _, _ in vectors])


def _of_texts(
    conn: Connection,
    sql: Statement,
    project_id: int,
    space: str,
    content_keys: Iterable[bytes],
) -> Iterator[Any]:
    for keys in in_chunks(content_keys, _TEXTS):
        if is_postgresql(conn):
            yield from rows(conn, sql.postgresql, keys, project_id, space)
        else:
            text = sql.sqlite.format(",".join(["(?)"] * len(keys)))
            yield from rows(conn, text, *keys, project_id, space)


def _blob(vector: Vectors) -> bytes:
    return vector.astype("<f4").tobytes()
