"""The texts of a note that get a vector each: its items, long ones in parts. Pure.

What is embedded says where it stands, as a model sees nothing else of the note:

    Title > Heading > Heading below it
    the text of the item

Whatever is cut stays: the parts of an item have all its text between them. A part ends where a reader
would pause, at the best border in the last two thirds of its room: a blank line, a line, a sentence, a
word; between two characters only if there is none of these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from typing import Final

from memoranda.model.embedding import Chunk
from memoranda.model.item_key import KINDS, key_parts
from memoranda.model.search import ItemType
from memoranda.ports import StoredItem
from memoranda.text.graphemes import last_boundary

MAX_CHARS: Final = 900
"""Of the text in a part, without its place."""
CONTENT_KEY_BYTES: Final = 16

_LEAST_CHARS: Final = MAX_CHARS // 3
_LEAST_REST: Final = 200
"""A last part that would be shorter takes more from the one before."""
_TITLE_CHARS: Final = 200
_PLACE_CHARS: Final = 400
_BLANK_LINE: Final = re.compile(r"\n[ \t\r]*\n")
_LIST_ITEM: Final = re.compile(r"\n(?=[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t])")
_SENTENCE: Final = re.compile(r"[.!?…][\"'”’)\]]*(?=\s)|[。！？｡؟।]")
_BORDERS: Final[tuple[Callable[[str, int, int], int], ...]] = (
    lambda text, least, most: _last(_BLANK_LINE, text, least, most),
    lambda text, least, most: _last(_LIST_ITEM, text, least, most),
    lambda text, least, most: text.rfind("\n", least, most) + 1,
    lambda text, least, most: _last(_SENTENCE, text, least, most),
    lambda text, least, most: max(text.rfind(blank, least, most) for blank in " \t\u3000") + 1,
)
"""Best first: where a text may be cut, from `least` to `most`; 0 for nowhere."""
_BEFORE_CONTEXT: Final = "]] ("
"""In a relation that says why, as the index has it; no link has it inside."""
_RELATION: Final = KINDS[ItemType.RELATION]
_NOTE: Final = KINDS[ItemType.NOTE]


def chunks_of(items: Sequence[StoredItem]) -> tuple[Chunk, ...]:
    """The chunks of one note, in the order of its items; none of what has neither letter nor digit.

    Args:
        items: all of the note, ascending by key; the first is the note itself, which has the title.
    """
    title = items[0].title if items else ""
    return tuple(chunk for item in items for chunk in _chunks(item, title))


def parts(text: str) -> Iterator[str]:
    """A text in parts of at most `MAX_CHARS`, without the blanks around them; in linear time."""
    at, end = 0, len(text.rstrip())
    while end - at > MAX_CHARS:
        cut = at + _cut(text[at : at + MAX_CHARS + 1], end - at)
        if part := text[at:cut].strip():
            yield part
        at = cut
    if part := text[at:end].strip():
        yield part


def content_key(text: str) -> bytes:
    """What tells texts apart that are embedded."""
    data = text.encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=CONTENT_KEY_BYTES).digest()


def _chunks(item: StoredItem, title: str) -> Iterator[Chunk]:
    kind = key_parts(item.key).kind
    if kind == _NOTE:
        path: tuple[str, ...] = ()
        text = "\n".join(filter(None, (item.title, item.tags, item.content)))
    elif kind == _RELATION and not _has_words(item.content.partition(_BEFORE_CONTEXT)[2]):
        return
    else:
        path, text = _path(title, item.heading_path), item.content
    if not _has_words(text):
        return
    for part, piece in enumerate(parts(text)):
        here = path[:-1] if part == 0 and path and _opens_with(piece, path[-1]) else path
        said = f"{_place(here)}\n{piece}" if here else piece
        yield Chunk(item.key, part, said, content_key(said))


def _path(title: str, headings: tuple[str, ...]) -> tuple[str, ...]:
    """Title and headings; a first heading that is the title is not said twice."""
    if headings and _letters(headings[0]) == _letters(title):
        return headings
    return (title, *headings) if title else headings


def _place(path: tuple[str, ...]) -> str:
    """A path in one line. Of a long one the middle is left out: it has chunks of its own."""
    names = [_short(" ".join(name.split())) for name in path]
    while len(names) > 2 and sum(map(len, names)) > _PLACE_CHARS:
        del names[1]
    return " > ".join(names)


def _short(name: str) -> str:
    return name[: last_boundary(name, _TITLE_CHARS, 0) or _TITLE_CHARS]


def _opens_with(text: str, heading: str) -> bool:
    """Whether the first line of a text is that heading; signs are markup."""
    letters = _letters(heading)
    return bool(letters) and _letters(text.split("\n", 1)[0]).startswith(letters)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def _has_words(text: str) -> bool:
    return any(map(str.isalnum, text))


def _cut(window: str, left: int) -> int:
    """Where to cut a text of which the window is the beginning, and `left` characters are there in all."""
    most = min(MAX_CHARS, left - _LEAST_REST)
    for border in _BORDERS:
        if (cut := border(window, _LEAST_CHARS, most)) > 0:
            return cut
    return last_boundary(window, most, 0) or most


def _last(pattern: re.Pattern[str], text: str, least: int, most: int) -> int:
    """The end of the last match in the range; 0 if there is none."""
    end = 0
    for found in pattern.finditer(text, least, most):
        end = found.end()
    return end
