"""Whether a new file is a note that is missing, moved and edited. Pure.

Asked only of two that share an inode number, which the system gives again to any new file: so most of
the lines must be the same too.
"""

from __future__ import annotations

LIKENESS_CHARS = 20_000
"""How much of a text is compared."""

_SHARE = 0.5


def are_alike(body: str, text: str) -> bool:
    """Whether at least half of the lines of a note's body are in another text; blank lines do not count.

    Args:
        body: the beginning of the missing note's text, without its header.
        text: the beginning of the new file's text.
    """
    lines = {line.strip() for line in body[:LIKENESS_CHARS].splitlines()} - {""}
    others = {line.strip() for line in text[: 2 * LIKENESS_CHARS].splitlines()}
    return bool(lines) and len(lines & others) >= _SHARE * len(lines)
