"""Where a new list item belongs in a note."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memoranda.markdown.edit_layout import (
    Item,
    Layout,
    Reading,
    line_above,
    line_start,
    line_text_end,
)
from memoranda.markdown.relations import LINKS_TO
from memoranda.model.note import LinkForm
from memoranda.model.outline import Section, find_section, sections_of

_BULLET: Final = re.compile(rb"(?:([-+*])|(\d{1,9})([.)]))([ \t]*)")
_BLANK: Final = b" \t\r\n"
_MAX_GAP: Final = 4  # more blanks behind a bullet begin a code block
_MAX_NUMBER: Final = 999_999_999
_TITLES: Final = {False: "observations", True: "relations"}


@dataclass(frozen=True, slots=True)
class Place:
    """Where and how to write an item.

    Attributes:
        at: the end of a line, before its line ending; the item comes below.
        indent: what stands before the bullet.
        bullet: bullet or number with the blanks behind it.
        blank_lines: how many blank lines come between, 0 or 1.
        joins_list: it continues a list.
    """

    at: int
    indent: bytes = b""
    bullet: bytes = b"- "
    blank_lines: int = 1
    joins_list: bool = False


def place_for(reading: Reading, is_relation: bool, section: str | None) -> Place:
    """Where a new observation or relation goes; see `item_edits.add_item` for the rule."""
    note, layout = reading.note, reading.layout
    sections = sections_of(note)
    within = find_section(note, section) if section is not None else None
    kind = set(_items_of_kind(reading, is_relation))
    found = [index for index in sorted(kind) if _holds(within, layout.items[index].start)]
    if within is not None:
        own_end = _own_end(reading, within)
        found = [i for i in found if layout.items[i].start < own_end] or found
    if found:
        return _behind_item(reading, _outermost(layout, found[-1], kind))
    title = _TITLES[is_relation]
    named = [
        one
        for one in sections
        if one.heading.text.strip().rstrip(":").casefold() == title
        and _holds(within, one.heading.start)
    ]
    home = min(named, key=lambda one: one.heading.level, default=within)
    if home is None:
        return _at_end(reading, note.body_start, len(reading.data), note.body_start)
    return _at_end(reading, home.heading.end, _own_end(reading, home), home.heading.start)


def _holds(section: Section | None, at: int) -> bool:
    return section is None or section.heading.end <= at < section.end or at == section.heading.start


def _own_end(reading: Reading, section: Section) -> int:
    """Where the section's own text ends: at the next heading of any level."""
    starts = (one.start for one in reading.note.outline if one.start > section.heading.start)
    return min(starts, default=len(reading.data))


def _items_of_kind(reading: Reading, is_relation: bool) -> Iterator[int]:
    layout = reading.layout
    if is_relation:
        for link in reading.note.links:
            if link.form is LinkForm.WIKI and link.relation_type != LINKS_TO:
                index = layout.item_with(link.start)
                if index is not None and not layout.items[index].quoted:
                    yield index
        return
    for fact in reading.note.observations:
        index = layout.item_with(fact.end - 1)
        if index is not None and not layout.items[index].quoted:
            yield index


def _outermost(layout: Layout, index: int, kind: set[int]) -> int:
    """The item, or the one of its kind that it is nested in."""
    while layout.items[index].outer in kind:
        index = layout.items[index].outer
    return index


def _behind_item(reading: Reading, index: int) -> Place:
    layout, data = reading.layout, reading.data
    item = layout.items[index]
    siblings = layout.lists[item.in_list].items
    position = siblings.index(index)
    previous = layout.items[siblings[position - 1]] if position else None
    following = layout.items[siblings[position + 1]] if position + 1 < len(siblings) else None
    second = item if previous is not None else following
    return Place(
        _last_text_end(data, item.start, item.end),
        _indent(data, item),
        _next_bullet(data, item, previous or following),
        1 if second is not None and _has_blank_line_above(data, second) else 0,
        joins_list=True,
    )


def _at_end(reading: Reading, start: int, end: int, floor: int) -> Place:
    """Behind the last text of a stretch; behind the line of `floor` if there is none."""
    data, layout = reading.data, reading.layout
    if data[start:end].strip(_BLANK):
        at = _last_text_end(data, start, end)
        for one in reversed(layout.lists):
            if one.start < at <= one.end and not one.nested:
                if not one.numbered:
                    return _behind_item(reading, one.items[-1])
                break
    else:
        at = _last_text_end(data, 0, max(start, floor))
    return Place(at, bullet=_usual_bullet(data, layout))


def _last_text_end(data: bytes, start: int, end: int) -> int:
    """The end of the line that has the last sign that is not blank in a stretch."""
    return line_text_end(data, start + len(data[start:end].rstrip(_BLANK)))


def _indent(data: bytes, item: Item) -> bytes:
    """Blanks as wide as what stands before the bullet, which may be another item's bullet."""
    return re.sub(rb"[^ \t]", b" ", data[line_start(data, item.start) : item.start])


def _next_bullet(data: bytes, item: Item, neighbour: Item | None) -> bytes:
    match = _BULLET.match(data, item.start)
    if match is None:
        return b"- "
    sign, number, closing, gap = match.groups()
    if not gap or len(gap) > _MAX_GAP:
        gap = b" "
    if sign:
        return bytes(sign + gap)
    other = _BULLET.match(data, neighbour.start) if neighbour is not None else None
    if (other is None or other[2] != number) and int(number) < _MAX_NUMBER:
        number = str(int(number) + 1).zfill(len(number)).encode()
    return bytes(number + closing + gap)


def _has_blank_line_above(data: bytes, item: Item) -> bool:
    start = line_start(data, item.start)
    if start == 0:
        return False
    above = line_above(data, start)
    return not data[above : line_text_end(data, above)].strip(b" \t")


def _usual_bullet(data: bytes, layout: Layout) -> bytes:
    """The sign that the note's lists use most, else a hyphen."""
    bullets = (layout.items[one.items[0]].start for one in layout.lists if not one.numbered)
    signs = Counter(data[at : at + 1] for at in bullets)
    return (max(signs, key=lambda sign: signs[sign]) if signs else b"-") + b" "
