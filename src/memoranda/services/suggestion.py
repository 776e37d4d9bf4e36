"""What may have been meant by words that no note has."""

from __future__ import annotations

from collections.abc import Iterable

from memoranda.ports import FullTextIndex
from memoranda.repositories.store import Tx
from memoranda.text.query import Term

_WORDS = 2
_MEANT = 3


def did_you_mean(tx: Tx, fulltext: FullTextIndex, unknown: Iterable[Term]) -> str | None:
    """Similar words of the notes for the longest of these terms; None if there are none.

    Args:
        tx: the transaction.
        fulltext: the index that knows the words.
        unknown: terms that no item has in any form.
    """
    words = {term.phrases[0]: term.text for term in unknown if " " not in term.phrases[0]}
    sentences = []
    for word in sorted(words, key=len, reverse=True)[:_WORDS]:
        if near := fulltext.similar_words(tx.conn, word, _MEANT):
            meant = " or ".join(f'"{one}" ({items:,})' for one, items in near)
            sentences.append(f'No note has "{words[word]}". Did you mean {meant}?')
    return " ".join(sentences) or None
