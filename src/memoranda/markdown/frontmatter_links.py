"""Wiki links in the values of a header; the relation's type is the top key. FORMAT "Frontmatter"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

from memoranda.markdown.relations import LINKS_TO, wiki_link, wiki_spans
from memoranda.markdown.yaml_values import Entry, Value, line_count
from memoranda.model.note import Link, LinkForm

_STEP: Final = 1024
_MAX_MISSES: Final = 20  # keeps a header of many such links linear
_MOST_CHARS: Final = 500_000
"""Of values with links: more than any header has."""
_NO_RELATIONS: Final = frozenset({"title", "permalink"})


def frontmatter_links(
    header: str, header_start: int, entries: Sequence[Entry]
) -> tuple[tuple[Link, ...], bool]:
    """The links in source order, and whether these are all: a header has a bound for them.

    Each is placed by looking it up in the source of its key.

    A link that is not found there (written with escapes, folded, or through an alias) stands at its key.

    Args:
        header: text between the two `---` lines.
        header_start: the character of the file where it begins; all before it is ASCII.
        entries: in source order.
    """
    place = _Place(header, header_start)
    found: list[Link] = []
    chars = 0
    for number, entry in enumerate(entries):
        value = entry.value
        if value is None or (isinstance(value, str) and "[[" not in value):
            continue
        texts = [text for text in _texts(value) if "[[" in text]
        key = entry.key.strip().lower()
        if not texts or key in _NO_RELATIONS:
            continue
        chars += sum(map(len, texts))
        if chars > _MOST_CHARS:
            return tuple(found), False
        end = entries[number + 1].at if number + 1 < len(entries) else len(header)
        _entry_links(found, place, entry, end, "_".join(key.split()) or LINKS_TO, texts)
    return tuple(found), True


def _entry_links(
    found: list[Link], place: _Place, entry: Entry, end: int, kind: str, texts: Sequence[str]
) -> None:
    header = place.header
    at = min(entry.at + len(entry.key), end)
    counted, line = entry.at, entry.line + 2
    misses = 0
    for text in texts:
        for span in wiki_spans(text, 0, len(text)):
            written = text[span.start : span.end]
            left = header.find(written, at, end) if misses < _MAX_MISSES else -1
            if left >= 0:
                at = right = left + len(written)
                line += line_count(header, counted, left)
                counted = left
            else:
                misses += 1
                left, right = entry.at, min(entry.at + len(entry.key), len(header))
            link = wiki_link(
                text[span.inner_start : span.inner_end],
                form=LinkForm.FRONTMATTER,
                relation_type=kind,
                line=line if left != entry.at else entry.line + 2,
                start=place.byte(left),
                end=place.byte(right),
            )
            if link is not None:
                found.append(link)


def _texts(value: Value) -> Iterator[str]:
    """Every text inside a value, in order, without recursion."""
    stack = [value]
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            stack.extend(reversed(value.values()))
        elif value is not None:
            stack.extend(reversed(value))


class _Place:
    """Characters of the header -> bytes of the file."""

    def __init__(self, header: str, header_start: int) -> None:
        self.header = header
        self.base = header_start
        self.marks: list[int] = []  # bytes before every _STEP characters
        if not header.isascii():
            sizes = (
                len(header[at : at + _STEP].encode("utf-8")) for at in range(0, len(header), _STEP)
            )
            self.marks = list(accumulate(sizes, initial=0))

    def byte(self, at: int) -> int:
        if not self.marks:
            return self.base + at
        step, rest = divmod(at, _STEP)
        return self.base + self.marks[step] + len(self.header[at - rest : at].encode("utf-8"))
