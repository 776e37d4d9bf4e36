"""The part of a text that shows why it was found. Pure.

The window is the one with the most of the query in it (whole phrases, then different terms, then
exact forms), then the most matches, then the first. It begins and ends with a line or a sentence
where that is possible. Quiet lines (link definitions, rules, tags, images, the heading that is shown
anyway) are neither its beginning nor its end, unless only they match.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

from memoranda.services.term_matches import Match, matches
from memoranda.text.analysis import ENGLISH, Languages
from memoranda.text.graphemes import last_boundary
from memoranda.text.query import Term

Lines = Sequence[tuple[int, int]]
"""Half-open ranges in text order, without line breaks."""

WIDTH = 240
_ELLIPSIS = "…"
_MOST_WORDS = 8
_WORD_CHARS = 60
_HEADING_CHARS = 200  # what is kept of a heading in a path (`services.items`)

_QUIET = re.compile(
    r"""^(?:
      (?:[^\w\n]|_)++                                                 # signs: rules, fences, borders
    | [ ]{0,3}(?:`{3,}|~{3,})[^`\n]*+                                 # the opening of a fence
    | [ ]{0,3}\[(?!\^)[^\]\n]++\]:[ \t]*+(?:<[^>\n]*+>|[^\s<]\S*+)    # a link definition
        (?:[ \t]++(?:"[^"\n]*+"|'[^'\n]*+'|\([^)\n]*+\)))?+[ \t]*+
    | [ \t]*+(?:<(?!https?:)[^>\n]*+>[ \t]*+)++                       # tags, comments
    | [ \t]*+(?:\[?+!\[\[?+[^\]\n]*+\]\]?+(?:\([^)\n]*+\))?+(?:\]\([^)\n]*+\))?+[ \t]*+)++   # images
    )\r?$""",
    re.MULTILINE | re.VERBOSE,
)
_HEADING = re.compile(
    r"""\s*+(?:
      \#{1,6}[ \t]+(?P<atx>[^\n]*)
    | (?P<setext>[^\n]++)(?=\n[ ]{0,3}(?:=++|-++)[ \t\r]*+(?:\n|\Z))
    )""",
    re.VERBOSE,
)
_BORDER = re.compile(
    r"""(?<=[^\s\d])[.!?…]["'”’»)\]]*\s++(?![a-z]) | [。！？｡]["”』」）]* | \n[ \t]*""", re.VERBOSE
)


@dataclass(frozen=True, slots=True)
class Snippet:
    """A window of a text. Lines are counted from 0 inside the text, both inclusive.

    Attributes:
        matches: what of the query is in it, as written there, each once, at most 8.
        is_bare: it has nothing but quiet lines, for want of others.
    """

    text: str
    first_line: int
    last_line: int
    matches: tuple[str, ...] = ()
    is_bare: bool = False


def snippet(
    text: str,
    terms: Sequence[Term],
    *,
    width: int = WIDTH,
    headings: Sequence[str] = (),
    languages: Languages = ENGLISH,
) -> Snippet:
    """The window of at most `width` characters (and an ellipsis at each cut) around the best matches.

    Cut between lines, sentences or words; inside a word only if it is a third of the window or
    longer, and never inside of what a reader sees as one character.

    Args:
        text: an item as it is written.
        terms: what the query asks for; without a match the beginning is shown.
        width: > 0.
        headings: the headings shown beside the snippet; a first line that only says the last of them
            again is left out.
        languages: whose stems the index holds.
    """
    found = matches(text, terms, languages)
    heading = _shown_heading(text, headings)
    quiet = [*heading, *(match.span() for match in _QUIET.finditer(text))]
    telling = [one for one in found if not _lies_in(one, quiet)]
    if not telling:
        telling = [one for one in found if not _lies_in(one, heading)]
        quiet = [line for line in quiet if not any(_lies_in(one, [line]) for one in telling)]
    begin, end = _trimmed(text, quiet, 0, len(text))
    is_bare = begin == end
    if is_bare:
        quiet = []
        begin, end = _trimmed(text, quiet, 0, len(text))
    start, stop = _trimmed(text, quiet, *_window(text, telling, width, begin, end))
    first_line = text.count("\n", 0, start)
    return Snippet(
        (_ELLIPSIS if text[begin:start].strip() else "")
        + text[start:stop]
        + (_ELLIPSIS if text[stop:end].strip() else ""),
        first_line,
        first_line + text.count("\n", start, stop),
        _words(text, found, start, stop),
        is_bare,
    )


def _shown_heading(text: str, headings: Sequence[str]) -> Lines:
    """The first line if it is a heading and only says the last of `headings` again."""
    if not headings or (match := _HEADING.match(text)) is None:
        return ()
    written, shown = _letters(match["atx"] or match["setext"] or ""), _letters(headings[-1])
    is_cut = len(headings[-1]) >= _HEADING_CHARS
    return (match.span(),) if written == shown or (is_cut and written.startswith(shown)) else ()


def _letters(line: str) -> str:
    return "".join(filter(str.isalnum, line))


def _lies_in(match: Match, lines: Lines) -> bool:
    place = bisect_right(lines, (match.start, inf)) - 1
    return place >= 0 and match.start < lines[place][1]


def _trimmed(text: str, quiet: Lines, start: int, stop: int) -> tuple[int, int]:
    """The range without blanks and quiet lines at its edges; empty if it has nothing else."""
    start, stop = _stripped(text, start, stop)
    for first, last in quiet:
        if first <= start < last:
            start, stop = _stripped(text, min(last, stop), stop)
    for first, last in reversed(quiet):
        if first < stop <= last:
            start, stop = _stripped(text, start, max(first, start))
    return start, stop


def _stripped(text: str, start: int, stop: int) -> tuple[int, int]:
    while start < stop and text[start].isspace():
        start += 1
    while start < stop and text[stop - 1].isspace():
        stop -= 1
    return start, stop


def _words(text: str, found: Sequence[Match], start: int, stop: int) -> tuple[str, ...]:
    """What was matched in a range: the longest where matches lie over each other."""
    words: dict[str, str] = {}
    for one in found:
        if start <= one.start and one.stop <= stop:
            word = " ".join(text[one.start : one.stop].split())[:_WORD_CHARS]
            words.setdefault(word.casefold(), word)
            start = one.stop
    return tuple(words.values())[:_MOST_WORDS]


# The best window


def _window(text: str, found: Sequence[Match], width: int, begin: int, end: int) -> tuple[int, int]:
    if end - begin <= width:
        return begin, end
    chosen = _densest(found, width)
    first = chosen[0].start if chosen else begin
    last = min(max((one.stop for one in chosen), default=begin), first + width)
    lowest, highest = max(begin, last - width), min(end, first + width)
    borders = [match.end() for match in _BORDER.finditer(text, max(begin, lowest - 4), highest)]
    borders = [begin, *(at for at in borders if lowest <= at <= highest)]
    first = next((at for at in _leads(chosen) if _has_near(borders, lowest, at)), first)
    start = _start(text, borders, lowest, first, (width - (last - first)) // 3)
    stop = _stop(text, borders, start, last, min(end, start + width), end)
    return next(at for at in (*borders, start) if stop - width <= at <= start), stop


def _leads(chosen: Sequence[Match]) -> Iterator[int]:
    """Where the range may begin without the loss of anything that is not in it twice."""
    left = Counter(feature for match in chosen for feature, _ in match.worth)
    for match in chosen:
        yield match.start
        left.subtract(feature for feature, _ in match.worth)
        if any(not left[feature] for feature, _ in match.worth):
            return


def _has_near(borders: Sequence[int], lowest: int, at: int) -> bool:
    return any(lowest <= border <= at for border in borders)


def _densest(found: Sequence[Match], width: int) -> Sequence[Match]:
    """The matches of the best window, which is as wide as that or one match wider."""
    best, best_range = (-1, 0), (0, 0)
    features: Counter[str] = Counter()
    value, left = 0, 0
    for right, match in enumerate(found):
        for feature, worth in match.worth:
            features[feature] += 1
            value += worth if features[feature] == 1 else 0
        while left < right and match.stop - found[left].start > width:
            for feature, worth in found[left].worth:
                features[feature] -= 1
                value -= 0 if features[feature] else worth
            left += 1
        if (value, right - left) > best:
            best, best_range = (value, right - left), (left, right + 1)
    return found[best_range[0] : best_range[1]]


def _start(text: str, borders: Sequence[int], lowest: int, first: int, lead: int) -> int:
    """The nearest border before the first match, else a word a bit before it."""
    if near := [at for at in borders if lowest <= at <= first]:
        return near[-1]
    wanted = max(lowest, first - lead)
    for at in range(wanted, first + 1):
        if text[at - 1].isspace():
            return at
    return last_boundary(text, wanted, lowest)


def _stop(text: str, borders: Sequence[int], start: int, last: int, highest: int, end: int) -> int:
    """The last border after the last match if that fills half the window, else the end of a word."""
    if highest == end:
        return end
    least = max(last, start + (highest - start) // 2)
    if near := [at for at in borders if least <= at <= highest]:
        return near[-1]
    for at in range(highest, max(last, highest - (highest - start) // 3) - 1, -1):
        if text[at].isspace():
            return at
    at = last_boundary(text, highest, start)
    return at if at > start else highest
