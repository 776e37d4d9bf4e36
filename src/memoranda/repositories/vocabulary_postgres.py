"""The words of a project on PostgreSQL: which of them a misspelt word may have meant.

The terms of a GIN index cannot be read, so the words that notes were ever written with are kept. One that no item
has any more stays until the index is made anew; it is passed over when its items are counted.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from sqlalchemy.engine import Connection

from memoranda.repositories.driver import rows, run
from memoranda.repositories.word_keys import keys_with
from memoranda.text.analysis import stored_words, token, written_words
from memoranda.text.lexemes import WRITTEN, any_of
from memoranda.text.spelling import NearWord, Speller, allowed_edits, best

if TYPE_CHECKING:
    from memoranda.ports import Keys

_ADD: Final = """
    INSERT INTO search_words (project_id, word)
    SELECT $1, given.word FROM unnest(CAST($2 AS text[])) AS given (word)
    WHERE NOT EXISTS (SELECT 1 FROM search_words AS w WHERE w.project_id = $1 AND w.word = given.word)
    ON CONFLICT DO NOTHING
"""
_FROM: Final = """
    SELECT word FROM search_words
    WHERE project_id = $1 AND (word > $2 OR word = $3) AND word >= $2 AND word < $4
    ORDER BY word LIMIT $5
"""
_SPELT: Final = "SELECT title, tags, headings, content FROM search_index WHERE rowid = $1"
_BLOCK: Final = 400
_MOST_BLOCKS: Final = 100
_MANY: Final = 1_000
"""Items after which counting ends while near words are compared."""


def add_words(conn: Connection, project_id: int, texts: Iterable[str]) -> None:
    """Keep the words of these texts."""
    found = {word for text in texts for word in stored_words(text) if allowed_edits(word)}
    if found:
        run(conn, _ADD, project_id, sorted(found))


def similar_words(
    conn: Connection, project_id: int, word: str, limit: int
) -> list[tuple[str, int]]:
    """The project's words that `word` may have meant, as `repositories.vocabulary.similar_words`."""
    edits = allowed_edits(word)
    if not edits:
        return []
    words = _Words(conn, project_id)
    spellers = [Speller(word, 1, is_start_fixed=fixed) for fixed in (True, False)]
    if edits > 1:
        spellers.append(Speller(word, edits, is_start_fixed=True))
    for speller in spellers:
        near = [
            NearWord(one, away, items)
            for one, away in words.near(speller)
            if away and (items := len(_keys(conn, project_id, one, _MANY)))
        ]
        if near:
            return [
                (_spelt(conn, one.word, keys), len(keys))
                for one in best(near, limit)
                if len(keys := _keys(conn, project_id, one.word))
            ]
    return []


class _Words:
    """The words of a project in order, read some hundred at a time."""

    def __init__(self, conn: Connection, project_id: int) -> None:
        self._conn = conn
        self._project_id = project_id
        self._blocks = iter(range(_MOST_BLOCKS))

    def near(self, speller: Speller) -> Iterator[tuple[str, int]]:
        """Words that are near, ascending, and how many edits away."""
        start: str | None = speller.first
        block: list[str] = []
        while start is not None:
            at = bisect_left(block, start)
            if at == len(block):
                if (next(self._blocks, None)) is None:
                    return
                block = self._from(start, speller.end)
                at = 0
                if not block:
                    return
            word = block[at]
            if (away := speller.edits(word)) is not None:
                yield word, away
            start = speller.after(word)

    def _from(self, start: str, end: str) -> list[str]:
        """Words from `start` on; a NUL, which no text here holds, comes before every other letter."""
        bare = start.rstrip("\0")
        itself = bare if bare == start else None
        found = rows(self._conn, _FROM, self._project_id, bare, itself, end, _BLOCK)
        return [word for (word,) in found]


def _keys(conn: Connection, project_id: int, word: str, most: int | None = None) -> Keys:
    """Of the project's items where a word stands as it is written."""
    return keys_with(conn, any_of(project_id, [word], within=WRITTEN), most)


def _spelt(conn: Connection, term: str, keys: Keys) -> str:
    """A word as the first of these items has it: with the accents that are dropped."""
    [fields] = rows(conn, _SPELT, int(keys[0])) or [()]
    words = (word for field in fields if field for word in written_words(field))
    return next((word for word in words if token(word) == term), term)
