"""The keys of items that have words, on PostgreSQL: all that is asked of the table `search_terms`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoranda.repositories.driver import rows

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from memoranda.ports import Keys

_KEYS: Final = "SELECT search_keys(CAST($1 AS tsquery), $2)"


def keys_with(conn: Connection, query: str, most: int | None = None) -> Keys:
    """Keys of the items that fulfil a tsquery of `text.lexemes`, ascending, each once; none for "".

    Args:
        conn: the transaction's.
        query: whose lexemes say which project is meant.
        most: rows that are looked at, in no order; None: all.
    """
    import numpy as np

    found = rows(conn, _KEYS, query, most)[0][0] if query else None
    keys = np.frombuffer(found or b"", ">i8").astype(np.int64)
    # Nearly in order as they come; a long item has several rows.
    keys.sort(kind="stable")
    once: Keys = keys[np.diff(keys, prepend=-1) != 0]
    return once
