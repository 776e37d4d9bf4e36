"""Whether a note changed in its rewritten links alone, found out without the code that rewrites them."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from memoranda.model.moves import RewrittenLink


def unexplained(before: str, after: str, links: Sequence[RewrittenLink]) -> str:
    """The first place where two texts of a note differ that none of the links explains; "" if there is none.

    Each link stands for one replacement of what was written by what is written now. Of a link that is
    defined elsewhere, or in the header, only the targets are known, perhaps in another encoding.
    """
    left = [(old, new) for link in links for old, new in _spellings(link)]
    at = shift = 0
    while before[at:] != after[at + shift :]:
        first = at + _common(before[at:], after[at + shift :])
        for old, new in left:
            start = _replaced(before, after, first, shift, old, new, at)
            if start is not None:
                at = start + len(old)
                shift += len(new) - len(old)
                break
        else:
            return f"{before[first - 40 : first + 40]!r} -> {after[first + shift - 40 : first + shift + 40]!r}"
    return ""


def _spellings(link: RewrittenLink) -> list[tuple[str, str]]:
    pair = (link.before, link.after)
    pairs = [
        pair,
        (quote(pair[0]), quote(pair[1])),
        (_ascii_quoted(pair[0]), _ascii_quoted(pair[1])),
    ]
    return [(old, new) for old, _ in pairs for _, new in pairs]


def _ascii_quoted(text: str) -> str:
    return "".join(quote(sign) if sign.isascii() else sign for sign in text)


def _replaced(
    before: str, after: str, first: int, shift: int, old: str, new: str, least: int
) -> int | None:
    """Where `old` stands around the first difference, with `new` in its place."""
    for start in range(max(least, first - max(len(old), len(new))), first + 1):
        if before.startswith(old, start) and after.startswith(new, start + shift):
            return start
    return None


def _common(one: str, other: str) -> int:
    for count, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return count
    return min(len(one), len(other))
