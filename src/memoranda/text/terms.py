"""One word or phrase of a query as a `Term`: under which forms the index may hold it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memoranda.text.analysis import (
    Languages,
    emoji_terms,
    folded,
    forms,
    has_unspaced,
    pairs,
    signed_terms,
    token,
    written_words,
)
from memoranda.text.stopwords import elisions, stop_words

_MAX_WORDS = 32
_MAX_WORD_CHARS = 100
_POSSESSIVE = re.compile(r"(?<=[^\W\d_])(?:['’]s|(?<=s)['’])(?=[^\w'’]*\Z)", re.IGNORECASE)
_ELISION = re.compile(r"([^\W\d_]{1,7})['’](?=[^\W\d_]{2})")
_VERSION = re.compile(r"v?\d+(?:\.\d+)+", re.IGNORECASE | re.ASCII)
_INITIALS = re.compile(r"(?:[^\W\d_]\.){2,}")
_CAPITALS = re.compile(r"[A-Z]{2,4}")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_HYPHENED = re.compile(r"[^\W_]+-[^\W_]+")


@dataclass(frozen=True, slots=True)
class Term:
    """One thing to look for.

    Attributes:
        text: as typed, without quotes, operators and possessives.
        phrases: alternatives, the exact one first; each is words in a row, blank-separated. The later
            ones are other ways of writing it, occur only in what `analysis.index_terms` adds, or are stems.
        loose: alternatives for the case that no note has the term as it stands.
        is_prefix: the last word of the first phrase may go on.
        is_stop: a word too common to be looked for beside others.
        is_required: a note without it is no hit: it was quoted, or joined by AND.
        is_date: a part of the date in words; a note of that time need not say it.
    """

    text: str
    phrases: tuple[str, ...]
    loose: tuple[str, ...] = ()
    is_prefix: bool = False
    is_stop: bool = False
    is_required: bool = False
    is_date: bool = False


def read_term(
    text: str, languages: Languages, *, is_quoted: bool = False, is_prefix: bool = False
) -> Term | None:
    """A piece of a query as a term; None when it holds nothing to look for.

    Args:
        text: without blanks, unless it is quoted.
        languages: Snowball names.
        is_quoted: exactly as it stands, and required.
        is_prefix: its last word may go on, if that makes sense.
    """
    if not is_quoted:
        text = _core(text, languages)
    written = [word[:_MAX_WORD_CHARS] for word in written_words(text)[:_MAX_WORDS]]
    if not written:
        emoji = tuple(emoji_terms(text))
        return Term(text, emoji, is_required=is_quoted) if emoji else None
    parts = [token(word) for word in written]
    exact, is_single = " ".join(parts), len(parts) == 1
    if is_single and (signed := signed_terms(text)):
        return Term(text, tuple(signed[:1]), () if is_quoted else (exact,), is_required=is_quoted)
    phrases = [exact]
    if _VERSION.fullmatch(text):
        phrases = [*signed_terms(text), exact]
    if any(map(has_unspaced, written)):
        phrases.append(" ".join(_in_order(written)))
    elif is_quoted:
        phrases += [folded(written[0])] if is_single else [" ".join(map(folded, written))]
    else:
        phrases += forms(written[0], languages) if is_single else ()
        phrases += _other_ways(text, parts)
    stops = stop_words(languages)
    is_contraction = "'" in text or "’" in text
    is_character = is_single and len(exact) == 1 and has_unspaced(exact)
    return Term(
        text=text,
        phrases=tuple(dict.fromkeys(phrases)),
        loose=tuple(_parts(written, stops)),
        is_prefix=not is_quoted
        and (is_character or (is_prefix and len(parts[-1]) > 1 and exact not in stops)),
        is_stop=not is_quoted
        and (is_single or is_contraction)
        and all(part in stops for part in parts),
        is_required=is_quoted,
    )


def _core(text: str, languages: Languages) -> str:
    """A word without what grammar hangs on it: `Kim's` is `Kim`, `l'école` is `école`."""
    if "'" not in text and "’" not in text:
        return text
    if "english" in languages and len(core := _POSSESSIVE.sub("", text)) > 1:
        text = core
    elided = _ELISION.search(text)
    if elided and elided[1].lower() in elisions(languages):
        return text[elided.end() :]
    return text


def _other_ways(text: str, parts: list[str]) -> list[str]:
    """How notes may write the same name: `v1.2` and `1.2`, `U.S.A.` and `USA`, `ScriptBlock`."""
    if _VERSION.fullmatch(text):
        bare = " ".join(parts).removeprefix("v")
        return [f"v{bare}", bare]
    if _INITIALS.fullmatch(text) or _HYPHENED.fullmatch(text):
        return ["".join(parts)]
    if _CAPITALS.fullmatch(text):
        return [" ".join(parts[0])]
    if len(parts) == 1 and text.isascii() and _CAMEL.search(text):
        return [" ".join(written_words(_CAMEL.sub(" ", text)))]
    return []


def _parts(written: list[str], stops: frozenset[str]) -> Iterator[str]:
    """The words of a piece, of an unspaced run its pairs: where one word ends in it nobody knows."""
    for word in written:
        if has_unspaced(word):
            if len(word) > 2 or len(written) > 1:
                yield from (pair for pair in dict.fromkeys(pairs(word)) if len(pair) > 1)
        elif len(written) > 1 and (part := token(word)) not in stops:
            yield part


def _in_order(written: list[str]) -> list[str]:
    """The words as the column of pairs holds them: all but the last end where a word of the text ends."""
    *closed, last = (word if has_unspaced(word) else folded(word) for word in written)
    split = [pairs(word, closed=True) if has_unspaced(word) else [word] for word in closed]
    split.append(pairs(last) if has_unspaced(last) else [last])
    return [term for terms in split for term in terms]
