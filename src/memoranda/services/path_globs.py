"""Patterns for the paths of notes, as people write them in a shell. Pure, case-blind, linear in the path."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from memoranda.errors import InvalidArgument
from memoranda.files.wildmatch import Segment, split_pattern

_ASCII = re.compile(r"[\x00-\x7f]*")
_ONLY_STARS = re.compile(r"[][?\\]")


@dataclass(frozen=True, slots=True)
class PathGlob:
    """A pattern for whole paths.

    Attributes:
        parts: what each name must be; None stands for any number of folders, also none.
    """

    parts: tuple[re.Pattern[str] | None, ...]

    @property
    def reach(self) -> int | None:
        """How many levels down a match can be, None for any number."""
        return None if None in self.parts else len(self.parts)

    def fits(self, path: str) -> bool:
        """Whether it matches all of a path."""
        places = self._beyond({0})
        for name in _key(path).split("/"):
            following: set[int] = set()
            for place in places:
                if place < len(self.parts):
                    part = self.parts[place]
                    if part is None:
                        following.add(place)
                    elif part.fullmatch(name):
                        following.add(place + 1)
            places = self._beyond(following)
            if not places:
                return False
        return len(self.parts) in places

    def _beyond(self, places: set[int]) -> set[int]:
        """The same places, and those behind parts that may be left out."""
        found = set(places)
        for place in sorted(places):
            while place < len(self.parts) and self.parts[place] is None:
                place += 1
                found.add(place)
        return found


def listing_glob(pattern: str, *, parameter: str = "glob") -> PathGlob:
    """A pattern for a listing: `*`, `?` and `[a-z]` within a name, `**` for any number of folders.

    Without a slash it is for the name in whatever folder, so `**/` may be thought before it.

    Raises:
        InvalidArgument: a bracket that is not closed.
    """
    pattern = pattern.strip().strip("/")
    try:
        parts = split_pattern(_key(pattern))
    except ValueError as error:
        raise InvalidArgument(
            parameter,
            f"{parameter} {pattern[:100]!r} is no pattern: {error}",
            hint="Use *, ? and [a-z] within a name, ** for any folders, such as *.md or sub/**/plan*.",
        ) from error
    return PathGlob(_compiled(parts))


def names_glob(pattern: str) -> PathGlob:
    """A pattern for permalinks and paths of notes, where nothing but `*` is special.

    `*` is any text within a name, `**` any number of folders; a `*` at the end also takes in what is in
    folders below.
    """
    parts = split_pattern(_ONLY_STARS.sub(r"\\\g<0>", _key(pattern.strip("/"))))
    ending = (None,) if pattern.endswith("*") and parts[-1] is not None else ()
    return PathGlob((*_compiled(parts), *ending))


def names_prefix(pattern: str) -> str:
    """What every path and permalink that `names_glob` matches begins with, in ASCII; case does not matter."""
    start = unicodedata.normalize("NFD", pattern.strip("/")).partition("*")[0]
    ascii_only = _ASCII.match(start)
    whole = ascii_only[0] if ascii_only else ""
    return whole if whole == start else whole[:-1]  # a mark may belong to the last letter


def _key(path: str) -> str:
    return (path if path.isascii() else unicodedata.normalize("NFC", path)).casefold()


def _compiled(parts: Sequence[Segment | None]) -> tuple[re.Pattern[str] | None, ...]:
    return tuple(None if part is None else re.compile(part.regex, re.DOTALL) for part in parts)
