"""The sections of a note, made of its headings: what reading, search and editing share. Pure.

A section is a heading and everything up to the next heading of the same or a higher level. The text
before the first heading belongs to no section.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from memoranda.errors import AmbiguousSection, SectionNotFound
from memoranda.model.address import slug
from memoranda.model.note import Heading, ParsedNote

_SEPARATORS: Final = (re.compile(r"\s+>\s+"), re.compile("#"), re.compile("/"))
_MARKS: Final = re.compile(r"#{1,6}[ \t]+")
PATH_SIGN: Final = " > "


@dataclass(frozen=True, slots=True)
class Section:
    """One heading and what stands below it.

    Attributes:
        heading: its level, text, line and place; the section's text begins at `heading.end`.
        path: the texts of the outer headings and its own, outermost first.
        slug: names it alone in its note: the slug of the text; where several have one, `-1`, `-2`, ...
            behind each of them.
        end: the byte after its last line.
        end_line: its last line.
    """

    heading: Heading
    path: tuple[str, ...]
    slug: str
    end: int
    end_line: int

    @property
    def name(self) -> str:
        """The path as a person reads it and as `find_section` takes it."""
        return PATH_SIGN.join(self.path)


def sections_of(note: ParsedNote) -> tuple[Section, ...]:
    """The sections of a note in document order, outer ones before those inside them."""
    size = note.body_start + len(note.content.encode("utf-8", "replace"))
    last_line = note.body_line + _line_count(note.content) - 1
    ends = _ends(note.outline, size, last_line)
    slugs = _slugs(note.outline)
    above: list[Heading] = []
    result: list[Section] = []
    for heading, name, (end, end_line) in zip(note.outline, slugs, ends, strict=True):
        while above and above[-1].level >= heading.level:
            above.pop()
        above.append(heading)
        path = tuple(one.text for one in above)
        result.append(Section(heading, path, name, end, end_line))
    return tuple(result)


def find_section(note: ParsedNote, name: str) -> Section:
    """The section that a person or a program means.

    A heading's text; the texts of some outer headings and its own, outermost first, separated by
    ` > `, `/` or `#` (`Install > Linux`); or a slug. Case, Unicode form, runs of blanks and `#` signs
    in front do not matter. A slug comes first, then the text as a whole before its parts; of several
    sections that a path of two or more headings fits, the one whose whole path it is is meant.

    Raises:
        SectionNotFound: there is none; the error lists the outline.
        AmbiguousSection: there are several; the error says what names each of them alone.
    """
    sections = sections_of(note)
    if (named := {one.slug: one for one in sections}.get(name.strip().lower())) is not None:
        return named
    for form in (_key, slug):
        for parts in _readings(name):
            wanted = list(filter(None, map(form, parts)))
            if not wanted:
                continue
            paths = [list(map(form, one.path)) for one in sections]
            found = [i for i, path in enumerate(paths) if _ends_with(path, wanted)]
            # One part is a heading's text: that of a section at the top is no more exact than another.
            exact = [i for i in found if paths[i] == wanted] if len(wanted) > 1 else []
            if len(best := exact if len(exact) == 1 else found) == 1:
                return sections[best[0]]
            if found:
                raise AmbiguousSection(note.path, name, _distinct_names(sections, found))
    raise SectionNotFound(note.path, name, _distinct_names(sections, range(len(sections))))


def _readings(name: str) -> Iterator[list[str]]:
    """The name as one heading's text, then as a path by each separator that it has."""
    yield [name]
    for separator in _SEPARATORS:
        if len(parts := separator.split(name.strip().lstrip("#"))) > 1:
            yield parts


def _line_count(text: str) -> int:
    ends = text.count("\n") + text.count("\r") - text.count("\r\n")
    return ends if text.endswith(("\n", "\r")) else ends + 1


def _ends(outline: Sequence[Heading], size: int, last_line: int) -> list[tuple[int, int]]:
    """(byte after it, its last line) of each section, in one pass from the end."""
    ends: list[tuple[int, int]] = []
    below: list[tuple[int, int, int]] = []  # (level, start, line) of headings further down
    for heading in reversed(outline):
        while below and below[-1][0] > heading.level:
            below.pop()
        end, line = (below[-1][1], below[-1][2] - 1) if below else (size, last_line)
        ends.append((end, line))
        below.append((heading.level, heading.start, heading.line))
    ends.reverse()
    return ends


def _slugs(outline: Sequence[Heading]) -> list[str]:
    bases = [slug(heading.text) or "section" for heading in outline]
    count = Counter(bases)
    used: Counter[str] = Counter()
    taken = set(bases)
    result: list[str] = []
    for base in bases:
        unique = base
        while count[base] > 1 and (unique == base or unique in taken):
            used[base] += 1
            unique = f"{base}-{used[base]}"
        taken.add(unique)
        result.append(unique)
    return result


def _key(text: str) -> str:
    text = text.strip()
    if match := _MARKS.match(text):
        text = text[match.end() :]
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def _ends_with(path: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether the last of the parts is the path's last and the others are above it, in order."""
    if path[-1] != parts[-1]:
        return False
    above = iter(path[:-1])
    return all(part in above for part in parts[:-1])


def _distinct_names(sections: Sequence[Section], wanted: Iterable[int]) -> list[str]:
    """Of these sections what names each alone: the path, or the slug where the path may mislead."""
    keys = [tuple(map(_key, one.path)) for one in sections]
    count = Counter(keys)
    count.update((key[-1],) for key in keys if len(key) > 1)
    return [
        sections[i].name
        if count[keys[i]] == 1 and all(key and ">" not in key and key[0] != "#" for key in keys[i])
        else sections[i].slug
        for i in wanted
    ]
