"""What the writer keeps for filters on PostgreSQL is what the rows of the notes say, after any change."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select
from sqlalchemy.engine import Connection
from tests.filter_world import opened

from memoranda.db.tables import entity, note_name, observation
from memoranda.markdown.entity_parser import parse_note
from memoranda.model.address import NotePath
from memoranda.model.sync import FileState, KnownFile
from memoranda.repositories.filter_terms import Terms
from memoranda.repositories.filter_values import fold
from memoranda.repositories.store import Tx
from memoranda.services.entity import apply
from memoranda.services.note_input import Gone, NoteInput

NOW = datetime(2026, 1, 5)  # noqa: DTZ001 - stored naive
NAMES = ("a.md", "A.md", "a b.md", "a-b.md", "x/a.md", "É.md")
HEADERS = (
    "", "---\ntags: [One, two/Three]\n---\n", "---\ntype: Person\npriority: 1.0\n---\n",
    "---\npermalink: a\n---\n", "---\ntitle: Ünï\nlist: [1, É]\nmap: {b: c}\n---\n",
)  # fmt: skip
BODIES = ("text\n", "- [fact] sun #Hot\n", "- [fact] sun #Hot\n- [fact] moon #cold/very #x\n")


class NoFullText:
    """A full-text index without items."""

    def replace(self, conn: object, notes: object) -> None: ...

    def remove(self, conn: object, ids: object) -> None: ...


texts = st.tuples(st.sampled_from(HEADERS), st.sampled_from(BODIES)).map("".join)
written = st.dictionaries(st.sampled_from(NAMES), texts | st.none(), min_size=1, max_size=3)
moved = st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES))
steps = st.lists(written | moved, min_size=1, max_size=5)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with opened("postgresql", tmp_path_factory) as writing:
        yield writing


@settings(max_examples=25)
@given(steps)
def test_filters_know_what_the_rows_say(
    database: Any, done: Sequence[dict[str, str | None] | tuple[str, str]]
) -> None:
    def work(conn: Connection) -> None:
        conn.execute(note_name.delete())
        conn.execute(entity.delete())
        for number, step in enumerate(done):
            take(conn, step, number)
            assert kept(conn) == said(conn)

    database(work)


def take(conn: Connection, step: dict[str, str | None] | tuple[str, str], number: int) -> None:
    there = {path: (i, sha) for i, path, sha in conn.execute(_ROWS)}
    if isinstance(step, tuple):
        old, new = step
        if old not in there:
            return
        row, checksum = there[old]
        seen = KnownFile(row, NotePath(old), 1, 1, 1, 1, checksum, None)
        write(conn, [note(new, f"moved {number}\n", number, seen)], [])
        return
    gone = [
        Gone(there[path][0], NotePath(path), there[path][1])
        for path, text in step.items()
        if text is None and path in there
    ]
    notes = [note(path, text, number) for path, text in step.items() if text is not None]
    write(conn, notes, gone)


_ROWS = select(entity.c.id, entity.c.file_path, entity.c.checksum).where(entity.c.project_id == 1)


def note(path: str, text: str, number: int, seen: KnownFile | None = None) -> NoteInput:
    state = FileState(NotePath(path), len(text), number * 10**9, number, number)
    return NoteInput(parse_note(text, NotePath(path)), "utf-8", state, f"{number}{path}", seen)


def write(conn: Connection, notes: list[NoteInput], gone: list[Gone]) -> None:
    apply(Tx(conn, 1, NOW), NoFullText(), notes, deleted=gone, resolve=False)  # type: ignore[arg-type]


def kept(conn: Connection) -> list[tuple[Any, ...]]:
    rows = conn.exec_driver_sql(
        "SELECT entity_id, project_id, title, path, permalink, terms, CAST(metadata AS text)"
        " FROM note_filter ORDER BY entity_id"
    ).fetchall()
    return [(*row[:5], set(row[5]), json.loads(row[6])) for row in rows]


def said(conn: Connection) -> list[tuple[Any, ...]]:
    """The same, made of the rows of the notes and of their observations."""
    found = []
    for one in conn.execute(select(entity).order_by(entity.c.id)):
        tags = json.loads(one.tags)
        for (more,) in conn.execute(
            select(observation.c.tags).where(observation.c.entity_id == one.id)
        ):
            tags += json.loads(more)
        metadata = json.loads(one.entity_metadata)
        terms = Terms(one.project_id).of_note(one.file_path, one.note_type, tags, metadata)
        names = (fold(one.title), f"/{fold(one.file_path)}", fold(one.permalink))
        found.append((one.id, one.project_id, *names, set(terms), metadata))
    return found
