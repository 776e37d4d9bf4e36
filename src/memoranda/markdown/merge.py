r"""Three-way merge of files by lines. Pure; works on bytes, so that any encoding based on ASCII will do.

Two sides changed a common base. Every line of the base belongs to whoever changed it: what both changed
in another way, and what both added at one place, is a clash. Changes that only touch (one side changed a
line, the other the next, or added something behind it) are both taken: no line has two owners, their order
is that of the base, and nothing is lost. Refusing them would refuse the most frequent wish of all, to take
back one of two additions at the end of a note.

Which lines belong together is found first by the lines that occur once on both sides (patience diff), which
takes `n log n`: blank lines and repeated bullets are no anchors. A short stretch without such lines is
compared line by line; a long one counts as replaced as a whole. That can only make a change look larger
than it is, which leads to a clash and never to a wrong merge.
"""

from __future__ import annotations

import difflib
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

MAX_MERGE_BYTES: Final = 4_000_000
MAX_MERGE_LINES: Final = 100_000

_LINE: Final = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_ROUNDS: Final = 64
_STRETCH: Final = 40_000
"""Pairs of lines that are compared in one stretch without anchors."""
_STRETCHES: Final = 1_000_000
"""Pairs of lines that are so compared in one file."""

Lines = Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Merged:
    """Both changes in one file."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Clash:
    """Both changed the same.

    Attributes:
        places: first and last line of each in their file, 1-based; last = first - 1 where lines are missing
            in front of the first. Empty when nothing could be compared.
        reason: why nothing could be compared, "" when it was.
    """

    places: tuple[tuple[int, int], ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Hunk:
    """Lines `start` to `stop` of the base, replaced by `lines`."""

    start: int
    stop: int
    lines: tuple[bytes, ...]


def merge(base: bytes, mine: bytes, theirs: bytes) -> Merged | Clash:
    """What both made of the base, in one; or where they are in each other's way.

    A side that did nothing leaves the other's bytes as they are, of any kind and size.
    """
    if mine in (base, theirs):
        return Merged(theirs)
    if theirs == base:
        return Merged(mine)
    sides = (base, mine, theirs)
    if any(b"\0" in side for side in sides):
        return Clash(reason="it is not text that can be compared by lines")
    if any(len(side) > MAX_MERGE_BYTES for side in sides):
        return Clash(reason=f"it is larger than {MAX_MERGE_BYTES // 1_000_000} MB")
    old, my, their = (tuple(_LINE.findall(side)) for side in sides)
    if any(len(lines) > MAX_MERGE_LINES for lines in (old, my, their)):
        return Clash(reason=f"it has more than {MAX_MERGE_LINES:,} lines")
    return _joined(old, _hunks(old, my), _hunks(old, their))


def _joined(base: Lines, mine: Sequence[_Hunk], theirs: Sequence[_Hunk]) -> Merged | Clash:
    pieces: list[bytes] = []
    places: list[tuple[int, int]] = []
    done = shift = 0
    for my, their in _groups(mine, theirs):
        start = min(hunk.start for hunk in (*my, *their))
        stop = max(hunk.stop for hunk in (*my, *their))
        pieces += base[done:start]
        done = stop
        first = start + shift + 1
        shift += sum(len(hunk.lines) - (hunk.stop - hunk.start) for hunk in their)
        if my and their and my != their:
            places.append((first, stop + shift))
        for hunk in my or their:
            pieces += hunk.lines
    pieces += base[done:]
    if places:
        return Clash(tuple(places))
    data = b"".join(pieces)
    if _LINE.findall(data) != pieces:  # a last line without its end came to stand before another
        last = len(base) + shift
        return Clash(((last, last),))
    return Merged(data)


def _groups(
    mine: Sequence[_Hunk], theirs: Sequence[_Hunk]
) -> Iterator[tuple[tuple[_Hunk, ...], tuple[_Hunk, ...]]]:
    """Changes that overlap, together; all others alone. In the order of the base."""
    both = [*((hunk, True) for hunk in mine), *((hunk, False) for hunk in theirs)]
    both.sort(key=lambda pair: (pair[0].start, pair[0].stop))
    my: list[_Hunk] = []
    their: list[_Hunk] = []
    stop = start = -1
    for hunk, is_mine in both:
        if (my or their) and not (hunk.start < stop or hunk.start == hunk.stop == start == stop):
            yield tuple(my), tuple(their)
            my, their, stop = [], [], -1
        start = hunk.start if not (my or their) else start
        (my if is_mine else their).append(hunk)
        stop = max(stop, hunk.stop)
    if my or their:
        yield tuple(my), tuple(their)


def _hunks(base: Lines, side: Lines) -> list[_Hunk]:
    """What that side replaced, in order; never two that touch."""
    hunks: list[_Hunk] = []
    old = new = 0
    for one, other, length in [*_common(base, side), (len(base), len(side), 0)]:
        if old < one or new < other:
            hunks.append(_Hunk(old, one, tuple(side[new:other])))
        old, new = one + length, other + length
    return hunks


def _common(base: Lines, side: Lines) -> list[tuple[int, int, int]]:
    """Runs of equal lines (start in base, start in side, length), in order; none touches the next on both."""
    runs: list[tuple[int, int, int]] = []
    waiting = [(0, len(base), 0, len(side), _ROUNDS)]
    left_to_compare = _STRETCHES
    while waiting:
        low, high, left, right, rounds = waiting.pop()
        head = _same(base[low:high], side[left:right])
        low, left = low + head, left + head
        tail = _same(base[low:high][::-1], side[left:right][::-1])
        high, right = high - tail, right - tail
        runs += [(low - head, left - head, head), (high, right, tail)]
        if low == high or left == right or not rounds:
            continue
        marks = _anchors(base[low:high], side[left:right])
        pairs = (high - low) * (right - left)
        if not marks and pairs <= min(_STRETCH, left_to_compare):
            left_to_compare -= pairs
            matcher = difflib.SequenceMatcher(None, base[low:high], side[left:right], False)
            runs += [
                (low + one, left + other, n) for one, other, n in matcher.get_matching_blocks()
            ]
        elif marks:
            edges = [(-1, -1), *marks, (high - low, right - left)]
            runs += [(low + one, left + other, 1) for one, other in marks]
            waiting += [
                (low + a + 1, low + b, left + c + 1, left + d, rounds - 1)
                for (a, c), (b, d) in pairwise(edges)
            ]
    return _compact(sorted(run for run in runs if run[2]))


def _same(one: Lines, other: Lines) -> int:
    """How many lines at the beginning are equal."""
    shorter = min(len(one), len(other))
    for number in range(shorter):
        if one[number] != other[number]:
            return number
    return shorter


def _anchors(base: Lines, side: Lines) -> list[tuple[int, int]]:
    """The longest ascending run of pairs of lines that occur once on both sides."""
    counts, others = Counter(base), Counter(side)
    where = {line: number for number, line in enumerate(side) if others[line] == 1}
    pairs = [
        (number, where[line])
        for number, line in enumerate(base)
        if counts[line] == 1 and line in where
    ]
    tops: list[int] = []  # the smallest end of an ascending run of each length
    ends: list[int] = []
    before: list[int] = []
    for index, (_, other) in enumerate(pairs):
        at = bisect_left(tops, other)
        before.append(ends[at - 1] if at else -1)
        tops[at : at + 1], ends[at : at + 1] = [other], [index]
    run: list[tuple[int, int]] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        run.append(pairs[index])
        index = before[index]
    return run[::-1]


def _compact(runs: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    joined: list[tuple[int, int, int]] = []
    for one, other, length in runs:
        if joined and (joined[-1][0] + joined[-1][2], joined[-1][1] + joined[-1][2]) == (
            one,
            other,
        ):
            one, other, length = joined[-1][0], joined[-1][1], joined.pop()[2] + length
        joined.append((one, other, length))
    return joined
