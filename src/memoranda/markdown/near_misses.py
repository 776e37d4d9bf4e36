"""Lines that look as if they were meant as a fact or a relation, and are read as plain text.

Whether a line is one is tried, not guessed: with a small correction of it the parser must find what
was meant. So nothing is said of code, comments or task boxes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.lines import LINE
from memoranda.markdown.relations import LINKS_TO
from memoranda.model.address import NotePath
from memoranda.model.note import ParsedNote

MAX_CHARS: Final = 1_000_000
"""Of larger notes nothing is said: the check would cost more than the write."""

_MOST: Final = 50
_SHOWN: Final = 3
_SHOWN_CHARS: Final = 80
_BULLET: Final = r"[ \t>]*(?:[-*+]|[0-9]{1,9}[.)])"
_CATEGORY: Final = r"\[(?:[^\[\]()^!\r\n]{2,60}|[^\x00-\x7f])\]"
_UNCLOSED: Final = re.compile(
    rf"({_BULLET}[ \t]+\[[^\W\d][\w-]{{1,30}})[ \t]+((?:[^\[\]\s]|\[\[)(?:[^\[\]]|\[\[|\]\])*)"
)


class _Meant(StrEnum):
    """What a line was meant to be."""

    OBSERVATION = "observation"
    RELATION = "relation"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class _Miss:
    """A line with a correction. `number` counts from 1."""

    number: int
    meant: _Meant
    fixed: str


Fix = Callable[[re.Match[str]], str]
_FIXES: Final[tuple[tuple[_Meant, re.Pattern[str], Fix], ...]] = (
    (  # - [fact]text
        _Meant.OBSERVATION,
        re.compile(rf"({_BULLET}[ \t]+{_CATEGORY})([^\s(\[:\]].*)"),
        lambda match: f"{match[1]} {match[2]}",
    ),
    (  # -[fact] text
        _Meant.OBSERVATION,
        re.compile(rf"([ \t>]*[-*+])({_CATEGORY}[ \t]+\S.*)"),
        lambda match: f"{match[1]} {match[2]}",
    ),
    (  # [fact] text
        _Meant.OBSERVATION,
        re.compile(r"([ \t>]*)(\[[^\W\d][\w -]{1,30}\][ \t]+[^\s(\[:].*)"),
        lambda match: f"{match[1]}- {match[2]}",
    ),
    (  # - [fact text
        _Meant.OBSERVATION,
        _UNCLOSED,
        lambda match: f"{match[1]}] {match[2]}",
    ),
    (  # - **[fact]** text
        _Meant.OBSERVATION,
        re.compile(rf"({_BULLET}[ \t]+)([*_]{{1,3}})({_CATEGORY})\2[ \t]*(\S.*)"),
        lambda match: f"{match[1]}{match[3]} {match[4]}",
    ),
    (  # - requires [[A]] and more
        _Meant.RELATION,
        re.compile(rf"({_BULLET}[ \t]+[^\[\]\r\n]+\[\[[^\[\]\r\n]+\]\])[ \t]*(\S.*)"),
        lambda match: match[1],
    ),
    (  # - requires [[A
        _Meant.LINK,
        re.compile(r"(.*\[\[[^\[\]\r\n]{1,120})\]?"),
        lambda match: f"{match[1].rstrip()}]]",
    ),
)


def near_misses(text: str, path: NotePath, *, before: str = "") -> list[str]:
    """A sentence for each kind of line that only nearly is an observation, a relation or a link.

    Args:
        text: the note as it is now.
        path: its path.
        before: the note as it was; of lines that it had nothing is said.
    """
    if "[" not in text or len(text) > MAX_CHARS:
        return []
    lines = LINE.findall(text)
    known = set(LINE.findall(before))
    if not (found := list(_candidates(lines, known))):
        return []
    note = parse_note(text, path)
    fixes = {miss.number: miss.fixed for miss in found}
    fixed = parse_note(
        "".join(
            fixes[number] + line[len(line.rstrip("\r\n")) :] if number in fixes else line
            for number, line in enumerate(lines, start=1)
        ),
        path,
    )
    is_cut = len(found) > _MOST
    true = [miss for miss in found[:_MOST] if _is_one(miss, fixed) and not _is_one(miss, note)]
    return [
        _sentence([miss for miss in true if miss.meant is meant], lines, is_cut=is_cut)
        for meant in _Meant
        if any(miss.meant is meant for miss in true)
    ]


def _candidates(lines: Sequence[str], known: set[str]) -> Iterator[_Miss]:
    left = _MOST + 1  # one more says that there are more
    for number, line in enumerate(lines, start=1):
        if "[" not in line or line in known or len(line) > 1000:
            continue
        bare = line.rstrip("\r\n")
        for meant, pattern, fix in _FIXES:
            if match := pattern.fullmatch(bare):
                if pattern is _UNCLOSED and "]" in "".join(lines[number : number + 1]):
                    continue  # the text of a link over two lines
                yield _Miss(number, meant, fix(match))
                left -= 1
                break
        if not left:
            return


def _is_one(miss: _Miss, note: ParsedNote) -> bool:
    """Whether the note has on that line what was meant."""
    if miss.meant is _Meant.OBSERVATION:
        return any(fact.line == miss.number for fact in note.observations)
    links = [link for link in note.links if link.line == miss.number]
    if miss.meant is _Meant.LINK:
        return bool(links)
    if any(fact.line <= miss.number <= fact.end_line for fact in note.observations):
        return True
    return any(link.relation_type != LINKS_TO for link in links)


def _sentence(misses: Sequence[_Miss], lines: Sequence[str], *, is_cut: bool) -> str:
    first = misses[0]
    where = _lines([miss.number for miss in misses], is_cut=is_cut)
    is_one = len(misses) == 1
    shown = _short(first.fixed)
    match first.meant:
        case _Meant.OBSERVATION:
            return (
                f"{where} {'is not read as an observation' if is_one else 'are not read as observations'}; "
                f"write {shown!r}."
            )
        case _Meant.RELATION:
            rest = lines[first.number - 1].strip()[len(first.fixed.strip()) :].strip(" .;,()")
            return (
                f"{where}: the link is read as prose (links_to), because text follows it; "
                f"{_short(f'{first.fixed.strip()} ({rest})')!r} would be a relation."
            )
        case _Meant.LINK:
            return f"{where}: [[ is not closed, so there is no link; write {shown!r}."


def _lines(numbers: Sequence[int], *, is_cut: bool) -> str:
    """`Line 3`, `Lines 3, 5 and 2 more`; with `is_cut` there may be others."""
    named = ", ".join(map(str, numbers[:_SHOWN]))
    word = "Line" if len(numbers) == 1 else "Lines"
    more = len(numbers) - _SHOWN
    if more <= 0:
        return f"{word} {named}{' and maybe more' if is_cut else ''}"
    return f"{word} {named} and {'at least ' if is_cut else ''}{more} more"


def _short(line: str) -> str:
    line = line.strip()
    return line if len(line) <= _SHOWN_CHARS else f"{line[: _SHOWN_CHARS - 1]}…"
