"""The words of SQLite's full-text index: which of them a misspelt word may have meant.

The index is its own dictionary: FTS5 shows its terms in order (fts5vocab), and `text.spelling` says from
where on the next near one can be. So a few dozen jumps do, however large the vocabulary is, and no list of
words is kept. The table "instance" is asked, since the others count all places of a term before they show it.

Source: https://sqlite.org/fts5.html, "The fts5vocab Virtual Table Module".
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Final

from sqlalchemy.engine import Connection

from memoranda.db import fts
from memoranda.text.analysis import token, written_words
from memoranda.text.spelling import NearWord, Speller, allowed_edits, best

_CREATE: Final = """
    CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_vocabulary
    USING fts5vocab(main, search_index, instance)
"""
_FROM: Final = "SELECT term FROM temp.search_vocabulary WHERE term >= ? LIMIT 1"
_HAVING: Final = "FROM search_index WHERE search_index MATCH ?"
_WRITTEN: Final = '{{title content tags headings}}: "{}"'
"""Where words stand as they are written: no stem is suggested."""
_MANY: Final = 1_000
"""Items after which counting ends while near words are compared."""
_ALL: Final = -1
_MOST_JUMPS: Final = 400
"""At some 50 microseconds each: an end, whatever the vocabulary."""


def similar_words(
    conn: Connection, project_id: int, word: str, limit: int
) -> list[tuple[str, int]]:
    """The project's words that `word` may have meant, likeliest first, and in how many items each stands.

    None for a short word, a number or an unspaced script. One edit is tried before two, and the same first
    letter before others.

    Args:
        conn: the transaction.
        project_id: whose notes count.
        word: as `text.analysis.token` writes it.
        limit: how many at most.
    """
    driver = conn.connection.driver_connection
    edits = allowed_edits(word)
    if driver is None or not edits:
        return []
    driver.execute(_CREATE)
    having = _HAVING
    if driver.execute(fts.ANOTHER_PROJECT, (project_id,)).fetchone():
        having += fts.OF_PROJECT.format(project_id)
    jumps = iter(range(_MOST_JUMPS))
    spellers = [Speller(word, 1, is_start_fixed=fixed) for fixed in (True, False)]
    if edits > 1:
        spellers.append(Speller(word, edits, is_start_fixed=True))
    for speller in spellers:
        near = [
            NearWord(one, away, items)
            for one, away in _near(driver, speller, jumps)
            if away and (items := _items(driver, having, one, _MANY))
        ]
        if near:
            return [
                (_spelt(driver, having, one.word), _items(driver, having, one.word, _ALL))
                for one in best(near, limit)
            ]
    return []


def _near(
    driver: sqlite3.Connection, speller: Speller, jumps: Iterator[int]
) -> Iterator[tuple[str, int]]:
    """Terms that are near, ascending, and how many edits away."""
    start: str | None = speller.first
    for _ in jumps:
        row = None if start is None else driver.execute(_FROM, (start,)).fetchone()
        if row is None or row[0] >= speller.end:
            return
        if (away := speller.edits(row[0])) is not None:
            yield row[0], away
        start = speller.after(row[0])


def _items(driver: sqlite3.Connection, having: str, word: str, most: int) -> int:
    """In how many of the project's items a term stands as it is written, counted up to `most`."""
    sql = f"SELECT count(*) FROM (SELECT 1 {having} LIMIT ?)"  # noqa: S608 - a statement of ours
    [found] = driver.execute(sql, (_WRITTEN.format(word), most)).fetchone()
    return int(found)


def _spelt(driver: sqlite3.Connection, having: str, term: str) -> str:
    """A term as a note has it: with the accents that the index drops."""
    sql = f"SELECT title, tags, headings, content {having} LIMIT 1"
    fields = driver.execute(sql, (_WRITTEN.format(term),)).fetchone()
    words = (word for field in fields if field for word in written_words(field))
    return next((word for word in words if token(word) == term), term)
