"""Notes with made-up vectors, in a transaction of a real database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import delete, insert, update
from sqlalchemy.engine import Connection

from memoranda.db.dialects import is_postgresql
from memoranda.db.tables import entity, project
from memoranda.model.embedding import EmbeddingProgress
from memoranda.model.item_key import key_parts
from memoranda.model.search import ItemType
from memoranda.ports import FullTextIndex, IndexedItem, IndexedNote, PendingNote, VectorIndex
from memoranda.repositories.driver import run
from memoranda.repositories.search_postgres import PostgresFullTextIndex
from memoranda.repositories.search_sqlite import SqliteFullTextIndex
from memoranda.repositories.vector_near import index_definition, index_name
from memoranda.repositories.vector_near_index import make_table

DAY = datetime(2026, 1, 2)  # noqa: DTZ001 - stored naive
SPACE = "test:words@1/8"
OTHER = "test:words@2/8"
DIMENSIONS = 8
Floats = NDArray[np.float32]


def vector(*values: float) -> Floats:
    """A unit vector that begins with these values."""
    one = np.zeros(DIMENSIONS, np.float32)
    one[: len(values)] = values
    return one / (np.linalg.norm(one) or 1)


def of_text(text: str) -> Floats:
    """Any unit vector, the same for the same text."""
    seed = int.from_bytes(text.encode()[-8:], "big")
    return vector(*np.random.default_rng(seed).normal(size=DIMENSIONS))


def by_words(**vectors: Floats) -> Callable[[str], Floats]:
    """The vector of the word that ends a text, of zeros for any other text."""
    return lambda text: vectors.get(text.split()[-1], vector())


def add_project(conn: Connection, project_id: int) -> None:
    values = {"id": project_id, "external_id": f"p{project_id}", "name": "p", "path": "/p",
              "permalink": f"p{project_id}", "created_at": DAY, "updated_at": DAY}  # fmt: skip
    conn.execute(insert(project).values(**values))


def add_near_indexes(conn: Connection, project_id: int) -> None:
    """Indexes of pgvector for both spaces, used however few vectors there are."""
    run(conn, "CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public")
    make_table(conn)
    for setting in ("enable_seqscan", "enable_bitmapscan", "enable_sort"):
        run(conn, f"SET LOCAL {setting} = off")
    for space in (SPACE, OTHER):
        run(
            conn,
            "INSERT INTO search_vector_spaces (project_id, space, last_id, near_index)"
            " VALUES ($1, $2, 0, $3)",
            project_id, space, index_name(project_id, space),
        )  # fmt: skip
        made = index_definition(project_id, space, DIMENSIONS)
        run(conn, made.replace(" CONCURRENTLY", ""))  # this transaction is rolled back


@dataclass
class Bench:
    """A transaction with notes in it."""

    conn: Connection
    index: VectorIndex
    project_id: int = 1
    embed: Callable[[str], Floats] = of_text
    embedded: list[str] = field(default_factory=list)

    @property
    def fulltext(self) -> FullTextIndex:
        if is_postgresql(self.conn):
            return PostgresFullTextIndex(self.project_id)
        return SqliteFullTextIndex(self.project_id)

    def add(self, *bodies: str, title: str = "Title", mtime: int = 0) -> int:
        name = f"{self.project_id}-{title}-{mtime}"
        done = self.conn.execute(
            insert(entity).values(
                external_id=name, title=title, note_type="note", file_path=name, permalink=name,
                content="", checksum=repr(bodies), project_id=self.project_id, created_at=DAY,
                updated_at=DAY, mtime_ns=mtime, ctime_ns=0, inode=0, note_created=DAY,
                note_modified=DAY, wanted_permalink=name, permalink_class=0, hashed_permalink=name,
            )
        )  # fmt: skip
        [note] = done.inserted_primary_key or [0]
        self.index_items(note, title, bodies)
        return int(note)

    def edit(self, note: int, *bodies: str, **columns: Any) -> None:
        values = {"checksum": repr(bodies)} | columns
        self.conn.execute(update(entity).where(entity.c.id == note).values(**values))
        self.index_items(note, columns.get("title", "Title"), bodies)

    def index_items(self, note: int, title: str, bodies: Sequence[str]) -> None:
        items = [IndexedItem(ItemType.NOTE, "", title=title)]
        for line, body in enumerate(bodies, 3):
            kind = ItemType.OBSERVATION if body.startswith("[") else ItemType.SECTION
            items.append(IndexedItem(kind, body, ("Head",), line, line))
        self.fulltext.replace(self.conn, [IndexedNote(note, "note", DAY, DAY, items)])

    def delete(self, note: int) -> None:
        self.fulltext.remove(self.conn, [note])
        self.conn.execute(delete(entity).where(entity.c.id == note))

    def pending(self, space: str = SPACE, limit: int = 100) -> Sequence[PendingNote]:
        return self.index.pending(self.conn, space, limit)

    def put(self, notes: Sequence[PendingNote], space: str = SPACE) -> None:
        texts = {chunk.content_key: chunk.text for note in notes for chunk in note.chunks}
        known = self.index.known(self.conn, space, texts)
        new = {key: text for key, text in texts.items() if key not in known}
        self.embedded += new.values()
        self.index.replace(
            self.conn, space, notes, {key: self.embed(text) for key, text in new.items()}
        )

    def complete(self, space: str = SPACE) -> None:
        self.put(self.pending(space), space)
        assert self.progress(space).is_complete

    def progress(self, space: str = SPACE) -> EmbeddingProgress:
        return self.index.progress(self.conn, space)

    def near(
        self, query: Floats, most: int = 50, space: str = SPACE, **options: Any
    ) -> list[tuple[int, int]]:
        """Note and ordinal of the items found."""
        found = self.index.nearest(self.conn, space, query, most, **options)
        return [key_parts(key)[:2] for key in found.keys.tolist()]
