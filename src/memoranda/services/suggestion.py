"""What may have been meant by words that no note has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from memoranda.ports import FullTextIndex
from memoranda.repositories.store import Tx
from memoranda.text.query import Term

if TYPE_CHECKING:
    from memoranda.ranking.matching import TermMatches

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


def stood_in(
    tx: Tx, fulltext: FullTextIndex, asked: Sequence[Term], found: Sequence[TermMatches]
) -> str | None:
    """What is said of words that no note has and whose beginnings were looked for; None: there are none.

    Args:
        tx: the transaction.
        fulltext: the index that knows the words.
        asked: the terms of the query.
        found: what was looked for instead of them.
    """
    known = {term.phrases for term in asked}
    beginnings = [
        one.term.text for one in found if one.term.is_prefix and one.term.phrases not in known
    ]
    missing = {
        term: beginning
        for beginning in beginnings
        for term in asked
        if term.phrases[0].startswith(beginning)
    }
    if not missing:
        return None
    return did_you_mean(tx, fulltext, missing) or " ".join(
        f'No note has "{term.text}"; words that begin with "{beginning}" were looked for.'
        for term, beginning in list(missing.items())[:_WORDS]
    )
