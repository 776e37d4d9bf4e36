"""Vectors as BLOBs, on SQLite and PostgreSQL: rows of chunks and vectors, compared in NumPy from a cache of bits.

The write path of notes does nothing here. A note whose vectors are not of its present text is pending, and
is not found until it is replaced (`vector_versions`).

What a search returns is read from the tables in its own transaction. The cache only says what to read, so
one that is older or newer than the transaction costs no truth: vectors it does not know yet are added
first, those that are gone are not found in the table. Their ids are never used twice.

Source: spec 2.1.5, 5.1; architecture row 8.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from sqlalchemy.engine import Connection

from memoranda.db import fts
from memoranda.db.dialects import Statement, both, is_postgresql
from memoranda.model.embedding import Chunk, EmbeddingProgress
from memoranda.model.item_key import NOTE_BITS
from memoranda.ports import NearItems, PendingNote, StoredChunk
from memoranda.repositories.driver import rows, run
from memoranda.repositories.stored_items import as_list, items_of_notes
from memoranda.repositories.vector_caching import CacheKeeper, item_keys, vectors_alone
from memoranda.repositories.vector_near import retire_near
from memoranda.repositories.vector_rows import known_texts, replace_rows
from memoranda.repositories.vector_versions import (
    counts,
    fresh_among,
    fresh_notes,
    pending_versions,
    set_fresh,
    versions,
)
from memoranda.repositories.vector_words import vector_statement
from memoranda.text.chunks import chunks_of

if TYPE_CHECKING:
    from memoranda.ports import Keys, Vectors

_CANDIDATES: Final = 400
_OF_ALL: Final = 100
_MOST_CANDIDATES: Final = 2000
_FEW: Final = 1000
"""So many vectors are compared exactly, all of them."""
_MANY_STALE: Final = 0.5
"""Of the first candidates' notes: then all fresh notes are asked for, and the candidates chosen anew."""

_ANOTHER_PROJECT: Final = both(fts.ANOTHER_PROJECT)
_OF_ITEMS: Final = vector_statement(f"""
    SELECT c.item_key, v.embedding FROM ({{numbers}}) AS wanted
    {{then}} search_vector_chunks AS c
        ON c.entity_id = wanted.value >> {NOTE_BITS} AND c.item_key = wanted.value
    {{then}} search_vector_embeddings AS v ON v.chunk_id = c.id
    WHERE v.model = ? AND v.dimensions = ? AND {{sound}}
""")  # noqa: S608 - a number of ours
_AT_OF: Final = """
    SELECT c.item_key, c.part, c.chunk_text, c.content_key, v.embedding FROM {pairs}
    {{then}} search_vector_chunks AS c ON c.entity_id = {note} AND c.chunk_index = {place}
    {{then}} search_vector_embeddings AS v ON v.chunk_id = c.id AND v.model = ? AND {{sound}}
    ORDER BY wanted.key
"""
_AT: Final = Statement(
    vector_statement(
        _AT_OF.format(
            pairs="json_each(?) AS wanted",
            note="json_extract(wanted.value, '$[0]')",
            place="json_extract(wanted.value, '$[1]')",
        )
    ).sqlite,
    vector_statement(
        _AT_OF.format(
            pairs="json_array_elements(CAST(? AS json)) WITH ORDINALITY AS wanted (value, key)",
            note="CAST(wanted.value ->> 0 AS integer)",
            place="CAST(wanted.value ->> 1 AS integer)",
        )
    ).postgresql,
)
_IN_OTHERS: Final = Statement(
    "SELECT 1 FROM search_vector_notes WHERE project_id = ? AND space <> ? LIMIT 1",
    """
        SELECT 1 WHERE $2 > (SELECT min(space) FROM search_vector_notes WHERE project_id = $1)
        OR $2 < (SELECT max(space) FROM search_vector_notes WHERE project_id = $1)
    """,
)
_RETIRE_NOTES: Final = both("DELETE FROM search_vector_notes WHERE project_id = ? AND space <> ?")
_RETIRE_VECTORS: Final = vector_statement("""
    DELETE FROM search_vector_embeddings WHERE id IN (
        SELECT v.id FROM search_vector_embeddings AS v
        {then} search_vector_chunks AS c ON c.id = v.chunk_id AND {mine}
        WHERE v.model <> ? LIMIT ?
    )
""")
_RETIRE_CHUNKS: Final = both("""
    DELETE FROM search_vector_chunks WHERE project_id = ?
    AND NOT EXISTS (SELECT 1 FROM search_vector_embeddings WHERE chunk_id = search_vector_chunks.id)
""")


class BlobVectorIndex:
    """`ports.VectorIndex` over the tables alone. One for all threads of a process."""

    def __init__(self, project_id: int) -> None:
        self._project_id = project_id
        self._caches = CacheKeeper(project_id)

    def pending(self, conn: Connection, space: str, limit: int) -> Sequence[PendingNote]:
        """Notes without vectors of their present text, the last modified first; two statements."""
        found = pending_versions(conn, self._project_id, space, limit)
        items = items_of_notes(conn, [one.entity_id for one in found]) if found else {}
        return [
            PendingNote(one.entity_id, one.text, chunks_of(items.get(one.entity_id, ())))
            for one in found
        ]

    def known(
        self, conn: Connection, space: str, content_keys: Iterable[bytes]
    ) -> frozenset[bytes]:
        """Which of the texts have a vector anywhere in the project."""
        return known_texts(conn, self._project_id, space, content_keys)

    def replace(
        self,
        conn: Connection,
        space: str,
        notes: Sequence[PendingNote],
        vectors: Mapping[bytes, Vectors],
    ) -> None:
        """Make the chunks of these notes and their vectors those of the space."""
        now = versions(conn, self._project_id, [note.entity_id for note in notes])
        unchanged = {one.entity_id: one for one in now}
        notes = [
            note
            for note in notes
            if (one := unchanged.get(note.entity_id)) is not None and one.text == note.checksum
        ]
        done = replace_rows(conn, self._project_id, space, notes, vectors)
        fresh = [
            (unchanged[note.entity_id], len(note.chunks))
            for note in notes
            if note.entity_id in done
        ]
        set_fresh(conn, self._project_id, space, fresh)

    def progress(self, conn: Connection, space: str) -> EmbeddingProgress:
        """How far the vectors of the project are."""
        found = counts(conn, self._project_id, space)
        return EmbeddingProgress(found.notes, found.notes - found.fresh, found.vectors)

    def other_spaces(self, conn: Connection, space: str) -> bool:
        """Whether notes have vectors in another space."""
        asked = (self._project_id, space)
        return bool(rows(conn, _IN_OTHERS, *asked))

    def retire_others(self, conn: Connection, space: str, most: int) -> int:
        """Remove vectors of other spaces; with the last of them, chunks that have no vector then."""
        of_others = (self._project_id, space)
        run(conn, _RETIRE_NOTES, *of_others)
        removed = run(conn, _RETIRE_VECTORS, *of_others, most)
        if removed < most:
            run(conn, _RETIRE_CHUNKS, self._project_id)
            if is_postgresql(conn):
                retire_near(conn, self._project_id, space)
        return removed

    def nearest(
        self,
        conn: Connection,
        space: str,
        query: Vectors,
        most: int,
        *,
        least: float = -1.0,
        among: Keys | None = None,
        kinds: Sequence[int] | None = None,
    ) -> NearItems:
        """The items nearest to a vector: candidates by an estimate, similarities by their vectors.

        There are at least 400 candidates, one of a hundred vectors (up to 2,000), and four for each item
        wanted, all of them of notes that are fresh.
        """
        import numpy as np

        from memoranda.repositories.vector_scan import best_first, similarities_of

        cache = self._caches.current(conn, space, len(query))
        places = cache.places(among, kinds)
        if most < 1 or not len(places) or not query.any():
            return NearItems(np.empty(0, np.int64), np.empty(0, np.float32))
        wanted = max(_CANDIDATES, 4 * most, min(len(places) // _OF_ALL, _MOST_CANDIDATES))
        estimates = cache.estimates(query)[places] if len(places) > _FEW else None
        chunks, values = np.empty(0, np.int64), np.empty(0, np.float32)
        keys, similarities = np.empty(0, np.int64), np.empty(0, np.float32)
        everything = [np.arange(len(places))]
        for block in everything if estimates is None else best_first(estimates, wanted):
            ids, notes = cache.ids[places[block]], cache.keys[places[block]] >> NOTE_BITS
            of = np.unique(notes)
            fresh = self._fresh_among(conn, space, of)
            if len(fresh) < _MANY_STALE * len(of):
                self._caches.sweep(conn, space, ids[~np.isin(notes, fresh)])
                if len(block) < len(places):
                    everywhere = self._fresh(conn, space)
                    return self.nearest(
                        conn, space, query, most, least=least, kinds=kinds,
                        among=everywhere if among is None else np.intersect1d(among, everywhere),
                    )  # fmt: skip
            ids = ids[np.isin(notes, fresh)]
            found, of, vectors = vectors_alone(conn, space, len(query), ids)
            if len(found) < len(ids):
                self._caches.forget(conn, space, np.setdiff1d(ids, found))
            chunks = np.concatenate([chunks, of])
            values = np.concatenate([values, similarities_of(vectors, query)])
            if len(chunks) >= wanted:
                keys, similarities = self._nearest_items(conn, chunks, values, most)
                if len(keys) >= most:
                    break
        else:
            keys, similarities = self._nearest_items(conn, chunks, values, most)
        near = int(np.count_nonzero(similarities[:most] >= least))
        return NearItems(keys[:near], similarities[:near])

    def similarities(self, conn: Connection, space: str, query: Vectors, keys: Keys) -> Vectors:
        """Cosine of each of these items, in their order; two statements."""
        import numpy as np

        from memoranda.repositories.vector_scan import by_item, similarities_of, stacked

        wanted, place = np.unique(keys, return_inverse=True)
        found = np.zeros(len(wanted), np.float32)
        fresh = self._fresh_among(conn, space, np.unique(wanted >> NOTE_BITS))
        current = wanted[np.isin(wanted >> NOTE_BITS, fresh)]
        stored = rows(conn, _OF_ITEMS, as_list(current.tolist()), space, len(query))
        if stored:
            vectors = stacked([blob for _, blob in stored], len(query))
            items, near = by_item(
                np.array([key for key, _ in stored], np.int64), similarities_of(vectors, query)
            )
            found[np.searchsorted(wanted, items)] = near
        return found[place]

    def sample(self, conn: Connection, space: str, most: int) -> Sequence[StoredChunk]:
        """Chunks spread evenly over the project, in the order of notes and chunks."""
        import numpy as np

        from memoranda.repositories.vector_scan import stacked

        notes = np.array(fresh_notes(conn, self._project_id, space), np.int64).reshape(-1, 2)
        ends = np.cumsum(notes[:, 1])
        total = int(ends[-1]) if len(ends) else 0
        chosen = np.unique(np.linspace(0, total, min(most, total), endpoint=False).astype(np.int64))
        of = np.searchsorted(ends, chosen, side="right")
        within = chosen - (ends[of] - notes[of, 1])
        pairs = ",".join(
            f"[{note},{place}]"
            for note, place in zip(notes[of, 0].tolist(), within.tolist(), strict=True)
        )
        return [
            StoredChunk(Chunk(key, part, text, content_key), stacked([blob], len(blob) // 4)[0])
            for key, part, text, content_key, blob in rows(conn, _AT, f"[{pairs}]", space)
        ]

    def _nearest_items(
        self, conn: Connection, chunks: Keys, similarities: Vectors, most: int
    ) -> tuple[Keys, Vectors]:
        """The items of these chunks, nearest first: at least so many, or all.

        Only the nearest chunks are asked whose they are.
        """
        import numpy as np

        from memoranda.repositories.vector_scan import by_item

        wanted = most + most // 4
        while True:
            chosen = np.arange(len(chunks))
            if wanted < len(chunks):
                least = np.partition(similarities, len(chunks) - wanted)[len(chunks) - wanted]
                chosen = np.flatnonzero(similarities >= least)
            found, of_items = item_keys(conn, self._project_id, chunks[chosen])
            chosen_there = chosen[np.isin(chunks[chosen], found)]
            at = np.searchsorted(found, chunks[chosen_there])
            keys, values = by_item(of_items[at], similarities[chosen_there])
            if len(keys) >= most or len(chosen) == len(chunks):
                return keys, values
            wanted *= 4

    def _fresh_among(self, conn: Connection, space: str, notes: Keys) -> Keys:
        """Which of these notes are fresh notes of the project.

        Where all notes are, none is asked for: the vectors of one that is gone went with it.
        """
        import numpy as np

        found = counts(conn, self._project_id, space)
        if found.fresh == found.notes and not rows(conn, _ANOTHER_PROJECT, self._project_id):
            return notes
        among = fresh_among(conn, self._project_id, space, notes.tolist())
        return np.array(among, np.int64)

    def _fresh(self, conn: Connection, space: str) -> Keys:
        import numpy as np

        return np.array([note for note, _ in fresh_notes(conn, self._project_id, space)], np.int64)
