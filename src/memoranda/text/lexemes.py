"""What a tsvector of an item holds, and what a tsquery asks: words as SQLite's tokenizer finds them. Pure.

A lexeme is the number of its project, a sign for where the word stands, and the word: `12:heron` is written
somewhere in the item, `12^heron` stands in its title as well, `12+heron` was added by text analysis. So a GIN index
alone says which items have a word; labels of a tsvector would have to be read in every item. Words of a column
follow each other; the next column begins some places further, so that no phrase goes on in it.

A tsvector knows 16,383 places, 255 of one word, and a megabyte: a longer item has several, which overlap by more
words than a phrase has.

Source: https://www.postgresql.org/docs/current/textsearch-limitations.html
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from memoranda.text.analysis import has_unspaced, stored_words

TITLE: Final = "^"
WRITTEN: Final = ":"
ADDED: Final = "+"
"""What the columns hold, by the signs of lexemes; what is in a title is written as well."""

_MOST_PLACES: Final = 8_000
_MOST_OF_ONE: Final = 250
_OVERLAP: Final = 1_000
"""Words: a run of an unspaced script is a phrase with a word for each letter. Half of what a tsvector holds at most."""
_GAP: Final = 2
_MOST_CHARACTERS: Final = 180_000
"""Of all words of one tsvector, at four bytes each: a megabyte less what stands beside them."""
_LONGEST: Final = 200
"""Characters of a word that are kept; of a longer one these and a hash."""
_LONGEST_CUT: Final = _LONGEST + 65

_ALL: Final = WRITTEN + ADDED
_SIGNS: Final = {TITLE: TITLE + WRITTEN, WRITTEN: WRITTEN, ADDED: ADDED}
Columns = Sequence[tuple[str, str]]
"""Sign and text of each."""


def vectors(project_id: int, columns: Columns) -> Iterator[str]:
    """The tsvectors of an item, as PostgreSQL reads them; at least one, which may be empty."""
    places: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    place, most = 0, _most_places(columns)
    for column, text in columns:
        words = stored_words(text)
        start = 0
        while start < len(words):
            is_first = place == 0
            for at in range(start, len(words)):
                place += 1
                known = [places[sign, words[at]] for sign in _SIGNS[column]]
                if place > most or any(len(one) >= _MOST_OF_ONE for one in known):
                    break
                for one in known:
                    one.append(place)
            else:
                break
            yield _written(project_id, places)
            places, place = defaultdict(list), 0
            taken = at - start
            start = at - min(_OVERLAP, taken // 2 if is_first else taken)
        place += _GAP
    yield _written(project_id, places)


def _most_places(columns: Columns) -> int:
    """How many words a tsvector of these may have: fewer if they may be too long together."""
    if sum(len(text) * len(_SIGNS[column]) for column, text in columns) <= _MOST_CHARACTERS:
        return _MOST_PLACES
    longest = max((len(word) for _, text in columns for word in stored_words(text)), default=1)
    most_signs = max(map(len, _SIGNS.values()))
    return min(_MOST_PLACES, _MOST_CHARACTERS // (most_signs * min(longest, _LONGEST_CUT)))


def any_of(
    project_id: int, phrases: Sequence[str], *, is_prefix: bool = False, within: str = ""
) -> str:
    """A tsquery for items that have any of these phrases; "" when none has a word.

    Args:
        project_id: whose items.
        phrases: as `text.analysis` writes them.
        is_prefix: the last word of the first phrase may go on.
        within: TITLE or WRITTEN; "" is everything. A phrase of several words that is no run of an unspaced script
            is looked for where it is written, since added words stand beside each other by chance.
    """
    found = [
        one
        for number, phrase in enumerate(filter(None, phrases))
        for one in _phrase(project_id, phrase, is_prefix and not number, within)
    ]
    return " | ".join(found)


def all_of(queries: Sequence[str]) -> str:
    """A tsquery for items that fulfil all of these."""
    return " & ".join(f"({one})" for one in queries)


def _phrase(project_id: int, phrase: str, is_prefix: bool, within: str) -> Iterator[str]:
    """One for each sign that the words of the phrase may have."""
    words = stored_words(phrase)
    is_run = has_unspaced(phrase)
    # A last character alone is the first of a pair, unless its run ends.
    is_open = is_prefix or (has_unspaced(phrase[-1]) and phrase[-2:-1] == " ")
    for sign in (within or (WRITTEN if " " in phrase and not is_run else _ALL)) if words else "":
        lexemes = [_lexeme(project_id, sign, word) for word in words]
        if is_open:  # of a long word the beginning, without the hash of the rest
            lexemes[-1] = f"{project_id}{sign}{words[-1][:_LONGEST]}"
        yield " <-> ".join(f"'{one}'" for one in lexemes) + (":*" if is_open else "")


def _written(project_id: int, places: dict[tuple[str, str], list[int]]) -> str:
    return " ".join(
        f"'{_lexeme(project_id, sign, word)}':{','.join(map(str, at))}"
        for (sign, word), at in places.items()
        if at
    )


def _lexeme(project_id: int, sign: str, word: str) -> str:
    if len(word) > _LONGEST:
        digest = hashlib.sha256(word.encode("utf-8", "replace")).hexdigest()
        word = f"{word[:_LONGEST]}_{digest}"
    return f"{project_id}{sign}{word}"
