"""What statements over the tables of vectors are called on each back end."""

from __future__ import annotations

from typing import Final

from memoranda.db.dialects import POSTGRESQL, SQLITE, Statement, both

_SOUND: Final = "length(v.embedding) = 4 * v.dimensions"
_WORDS: Final = {
    SQLITE: {
        "sound": f"{_SOUND} AND typeof(v.embedding) = 'blob'",
        "then": "CROSS JOIN",
        "mine": "c.project_id = ?",
        "wanted": "WITH wanted (key) AS (VALUES {{}})",
    },
    POSTGRESQL: {
        "sound": _SOUND,
        "then": "JOIN",
        "mine": "c.project_id = v.project_id AND v.project_id = ?",
        "wanted": "WITH wanted (key) AS (SELECT unnest(CAST(? AS bytea[])))",
    },
}


def vector_statement(text: str) -> Statement:
    """`both`, with more words.

    Args:
        text: `{sound}` holds for a vector `v` that is not damaged; `{then}` joins, on SQLite in this order;
            `{mine}` holds for a vector of a project, with its chunk `c`; `{wanted}` begins a statement about texts, by `key`: on SQLite with a place for their list.
    """
    return Statement(both(_spoken(text, SQLITE)).sqlite, both(_spoken(text, POSTGRESQL)).postgresql)


def _spoken(text: str, back_end: str) -> str:
    for name, meaning in _WORDS[back_end].items():
        text = text.replace(f"{{{name}}}", meaning)
    return text
