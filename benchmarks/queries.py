"""What is asked of a search: queries made of the words of an index, by how many items have them.

Deterministic: the same index and seed give the same queries. A word counts once an item (a row of
`search_index`), as it is written in the text.
"""

from __future__ import annotations

import random
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from memoranda.text.analysis import ENGLISH, written_words
from memoranda.text.stopwords import stop_words

MARK = "one-percent"
"""The tag, and the value of the key `cohort`, of one note in a hundred."""
COMMON_SHARE = 0.05
"""Of all items: a word in more of them is very common."""
MIDDLE_SHARE = 0.001
"""A word in fewer is rare."""
STOP_SHARE = 0.42
"""Of the words of a sentence, as in English."""

_WORD = re.compile(r"[^\W\d_]{3,}\Z")
_TEXTS = 2000
_STOPS = str.split("the of and a to in is that it for on with as was by at from this be we")
_ASKING = str.split("who what when where why how which")
_SENTENCES = (
    "who decided to {} the {} {} and when did it happen",
    "what did we say about the {} of the {}",
    "how do I {} a {} when the {} is not there",
    "why was the {} {} moved after the {} and not before it",
    "is there anything in my notes about {} and {} or {}",
    "where can I find the {} that we use for {} in the {}",
    "which {} did they choose instead of {} and what was the reason for it",
    "tell me what the {} looked like before we had {}",
    "does the {} still depend on {} or has that been changed by now",
    "when should the {} be {} and who has to do it",
)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of an index by how many items have them; no stop word and no empty band."""

    items: int
    rare: tuple[str, ...]
    middle: tuple[str, ...]
    common: tuple[str, ...]
    counts: Mapping[str, int]

    def word(self, choose: random.Random) -> str:
        """A word of any band, each as likely as the others."""
        return choose.choice(choose.choice((self.rare, self.middle, self.common)))


@dataclass(frozen=True, slots=True)
class Mix:
    """Queries by kind, each list of different ones in random order."""

    words: tuple[str, ...]
    sentences: tuple[str, ...]
    phrases: tuple[str, ...]
    prefixes: tuple[str, ...]

    def kinds(self) -> dict[str, tuple[str, ...]]:
        """The kinds by what a report calls them."""
        return {
            "1-3 words": self.words,
            "question sentences": self.sentences,
            "phrases": self.phrases,
            "prefixes": self.prefixes,
        }


def read_vocabulary(database: Path) -> Vocabulary:
    """Read all of an index's words."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        items = connection.execute("SELECT count(*) FROM search_index_docsize").fetchone()[0]
        connection.execute(
            "CREATE VIRTUAL TABLE temp.word USING fts5vocab ('main', 'search_index', 'col')"
        )
        rows = connection.execute("SELECT term, doc FROM temp.word WHERE col = 'content'")
        stops = stop_words(ENGLISH)
        counts = {word: n for word, n in rows if _WORD.match(word) and word not in stops}
    words = sorted(counts)

    def band(least: float, below: float) -> tuple[str, ...]:
        return tuple(w for w in words if least <= counts[w] < below) or tuple(words)

    return Vocabulary(
        items,
        rare=band(2, items * MIDDLE_SHARE),
        middle=band(items * MIDDLE_SHARE, items * COMMON_SHARE),
        common=band(items * COMMON_SHARE, items + 1),
        counts=counts,
    )


def query_mix(database: Path, count: int, seed: int = 1) -> Mix:
    """`count` queries of one to three words, as many sentences, and half as many of the others."""
    maker = _Maker(read_vocabulary(database), _texts(database), random.Random(f"queries-{seed}"))
    return Mix(
        words=_different(count, maker.words),
        sentences=_different(count, maker.sentence),
        phrases=_different(count // 2, maker.phrase),
        prefixes=_different(count // 2, maker.prefix),
    )


class _Maker:
    """Makes one query after the other; the number of a query says which form it has."""

    def __init__(
        self, vocabulary: Vocabulary, texts: Sequence[Sequence[str]], choose: random.Random
    ) -> None:
        self._vocabulary = vocabulary
        self._texts = texts
        self._choose = choose
        self._all = sorted(vocabulary.counts)
        self._sums = list(accumulate(vocabulary.counts[word] for word in self._all))

    def words(self, number: int) -> str:
        """One to three words, each of any band."""
        return " ".join(self._vocabulary.word(self._choose) for _ in range(number % 3 + 1))

    def sentence(self, number: int) -> str:
        """6 to 15 words: a question that people ask, or one worded as the notes are."""
        if number % 2:
            return self._question_of_notes()
        form = self._choose.choice(_SENTENCES)
        return form.format(*(self._slot() for _ in range(form.count("{}"))))

    def phrase(self, number: int) -> str:
        """Two or three words in a row that a note has, quoted."""
        words = self._choose.choice(self._texts)
        first = self._choose.randrange(len(words) - 2)
        return f'"{" ".join(words[first : first + 2 + number % 2])}"'

    def prefix(self, number: int) -> str:
        """The beginning of a word, alone or after another word."""
        begun = self._vocabulary.word(self._choose)[: self._choose.randint(2, 4)]
        return f"{self._vocabulary.word(self._choose)} {begun}" if number % 2 else begun

    def _question_of_notes(self) -> str:
        words = [self._choose.choice(_ASKING)]
        for _ in range(self._choose.randint(5, 14)):
            is_stop = self._choose.random() < STOP_SHARE
            words.append(self._choose.choice(_STOPS) if is_stop else self._weighted())
        return " ".join(words)

    def _slot(self) -> str:
        bands = (self._vocabulary.rare, self._vocabulary.middle, self._vocabulary.common)
        return self._choose.choice(self._choose.choices(bands, (1, 2, 2))[0])

    def _weighted(self) -> str:
        return self._choose.choices(self._all, cum_weights=self._sums)[0]


def _different(count: int, make: Callable[[int], str]) -> tuple[str, ...]:
    """So many different ones, fewer when there are not so many."""
    return tuple(dict.fromkeys(make(number) for number in range(count * 4)))[:count]


def _texts(database: Path) -> list[list[str]]:
    """The words of some items, spread over the index, three at least each."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        keys = [key for (key,) in connection.execute("SELECT id FROM search_index_docsize")]
        wanted = ",".join(map(str, keys[:: max(1, len(keys) // _TEXTS)]))
        rows = connection.execute(f"SELECT content FROM search_index WHERE rowid IN ({wanted})")
        texts = [written_words(content or "") for (content,) in rows]
    return [words for words in texts if len(words) > 2]
