"""How answers stay short: what fits, what is cut, and how to go on.

A model pays for every character of an answer, so each one has a limit (`ANSWER_CHARS`). A page
that does not fit is made smaller in a way that the next page still begins where this one ends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from itertools import accumulate

ANSWER_CHARS = 20_000

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")


def compact(value: object) -> str:
    """JSON on one line, as it is sent."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def lines_of(text: str) -> list[str]:
    """The lines of a note with their line breaks: LF, CR LF or CR, no other character."""
    return _LINE.findall(text)


def one_line(text: str, limit: int) -> str:
    """The text with blanks and line breaks folded, cut at a word with an ellipsis.

    Never longer than `limit` (>= 2).
    """
    text = " ".join(text.split())
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    word, _, rest = head.rpartition(" ")
    return (word if word and len(rest) < limit // 4 else head).rstrip() + "…"


def page_that_fits(lengths: Sequence[int], offset: int, limit: int) -> int:
    """How many of a page's items to show, at least one if there are any.

    Args:
        lengths: characters of each item as it would be shown.
        offset: how many items come before this page.
        limit: characters for all of them.

    Returns:
        A number that divides `offset`: read as a new page size, this page begins at the same item
        and the next page at the first item left out.
    """
    fitting = sum(1 for total in accumulate(lengths) if total <= limit)
    if fitting == len(lengths):
        return fitting
    return next(size for size in range(max(fitting, 1), 0, -1) if offset % size == 0)


def lines_that_fit(lines: Sequence[str], limit: int, *, as_json: bool = False) -> tuple[str, int]:
    """The first lines (each with its line break) that fit, and how many they are.

    A first line that is longer than the limit is cut, so that there is always progress.
    """
    total = 0
    for number, line in enumerate(lines):
        length = len(compact(line)) - 2 if as_json else len(line)
        if total + length > limit:
            if number == 0:
                return _cut(line, limit, as_json=as_json), 1
            return "".join(lines[:number]), number
        total += length
    return "".join(lines), len(lines)


def first_that_fit(lengths: Iterable[int], limit: int) -> int:
    """How many items fit when there is no next page."""
    return sum(1 for total in accumulate(lengths) if total <= limit)


def _cut(line: str, limit: int, *, as_json: bool) -> str:
    cut = line[: max(limit, 0)]
    if as_json:
        while cut and len(compact(cut)) - 2 > limit:
            cut = cut[: len(cut) - max(1, (len(compact(cut)) - 2 - limit) // 6)]
    return cut
