"""Items as the full-text table of SQLite holds them, read for search and for vectors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, Final

from sqlalchemy.engine import Connection

from memoranda.db.dialects import Statement, both
from memoranda.model.item_key import NOTE_BITS
from memoranda.ports import StoredItem
from memoranda.repositories.driver import rows
from memoranda.repositories.store import as_json

_COLUMNS: Final = (
    "search_index.rowid, content, heading_path, start_line, end_line, title, tags, headings"
)
_BY_KEY: Final = both(
    f"SELECT {_COLUMNS} FROM search_index WHERE rowid IN ({{numbers}}) ORDER BY rowid"  # noqa: S608
)
_OF_NOTES: Final = both(f"""
    SELECT {_COLUMNS} FROM ({{numbers}}) AS note JOIN search_index
    ON search_index.rowid BETWEEN note.value << {NOTE_BITS} AND ((note.value + 1) << {NOTE_BITS}) - 1
""")  # noqa: S608 - names of ours
_LEAD: Final = both(f"""
    SELECT {_COLUMNS} FROM search_index
    WHERE rowid BETWEEN ? AND ? AND content <> '' ORDER BY rowid LIMIT 1
""")  # noqa: S608 - names of ours


def items_by_key(conn: Connection, keys: Sequence[int]) -> list[StoredItem]:
    """The items with these keys, ascending by key; unknown keys are left out."""
    return _read(conn, _BY_KEY, as_list(keys))


def items_of_notes(conn: Connection, entity_ids: Sequence[int]) -> dict[int, list[StoredItem]]:
    """All items of these notes, by note, ascending by key; one statement."""
    items = _read(conn, _OF_NOTES, as_list(entity_ids))
    items.sort(key=lambda item: item.key)
    return {note: list(found) for note, found in groupby(items, lambda item: item.key >> NOTE_BITS)}


def first_with_text(conn: Connection, first: int, last: int) -> StoredItem | None:
    """The first item of a range of keys that has a text of its own; None if there is none."""
    found = _read(conn, _LEAD, first, last)
    return found[0] if found else None


def as_list(numbers: Sequence[int]) -> str:
    """Numbers as `json_each` takes them."""
    return f"[{','.join(map(str, numbers))}]"


@lru_cache(maxsize=256)
def path_json(path: tuple[str, ...]) -> str:
    """The headings above an item, as its row has them; items of one section follow each other."""
    return as_json(path)


def _read(conn: Connection, sql: Statement, *parameters: object) -> list[StoredItem]:
    return [_stored(row) for row in rows(conn, sql, *parameters)]


def _stored(row: Any) -> StoredItem:
    key, content, heading_path, start_line, end_line, title, tags, headings = row
    return StoredItem(
        key=key,
        content=content,
        heading_path=tuple(json.loads(heading_path)) if heading_path else (),
        start_line=start_line,
        end_line=end_line,
        title=title or "",
        tags=tags or "",
        headings=headings or "",
    )
