"""Observations and explicit relations added, replaced and removed.

Each function tries the least change first and takes the first form after which the note says the
same as before, but for the edit. If there is none, nothing is changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from memoranda.errors import InvalidArgument
from memoranda.markdown.edit_checks import Splice, difference, spliced
from memoranda.markdown.edit_layout import (
    Item,
    Reading,
    after_line,
    line_above,
    line_start,
    line_text_end,
    read_for_edit,
)
from memoranda.markdown.item_places import Place, place_for
from memoranda.markdown.item_text import ItemLine, block_id_of, described, item_line
from memoranda.markdown.lines import line_end
from memoranda.markdown.relations import LINKS_TO
from memoranda.model.address import NotePath
from memoranda.model.edit import FactText, ItemText, RelationText
from memoranda.model.note import Link, LinkForm, Observation

_LINE_ENDS: Final = b"\r\n"
_BLANK: Final = b" \t\r\n"
_NEAR: Final = 3
_LEAD: Final = re.compile(rb"[ \t>]*")


def add_item(text: str, item: ItemText, path: NotePath, *, section: str | None = None) -> str:
    """The text with a new list item.

    It stands behind the last item of its kind (observation or relation) of the section, of the note
    where none is given: with that item's bullet and indentation, after what is nested in it, and
    after a blank line if such lines part the list. An item that is nested in one of its kind counts
    as part of that. If there is none, the new item comes at the end of the section "Observations" or
    "Relations", else at the end of the section or note, before its subsections.

    Raises:
        InvalidArgument: the item cannot be written (see `item_text`), or not there: in an open code
            block, HTML or comment.
        SectionNotFound, AmbiguousSection: see `model.outline.find_section`.
    """
    line = item_line(item)
    before = read_for_edit(text, path)
    place = place_for(before, isinstance(item, RelationText), section)
    reason = "it would not be read as that"
    size = len(line.text.encode("utf-8"))
    for splice, start in _additions(before, place, line):
        after = read_for_edit(spliced(before.data, [splice]), path)
        found = line.is_read_from(after, start, start + size)
        reason = difference(before, after, [splice]) or ("" if found else reason)
        if not reason:
            return after.text
    raise InvalidArgument(
        "section",
        f"nothing was changed, because behind line {before.line(place.at)} of {path} "
        f"the item cannot be added: {reason}",
        hint="Name another section, or write it with edit_section or find_replace.",
    )


def replace_item(text: str, line: int, item: ItemText, path: NotePath) -> str:
    """The text with the item of this line written anew.

    Bullet, indentation, what is nested in it and all line endings but those inside its own text stay.
    So does the block id, unless another is given, or "" for none.

    Args:
        text: the note.
        line: 1-based, where the item begins.
        item: an observation or a relation, whichever was there.
        path: of the note.

    Raises:
        InvalidArgument: no observation or explicit relation begins there, several relations share
            the item, or the new one cannot be written so that it alone changes.
    """
    item_line(item)  # what is wrong with it comes before what is wrong with the line
    before = read_for_edit(text, path)
    _, value, start, end = _item_at(before, line)
    if isinstance(value, Observation):
        block_id = value.block_id
    else:
        block_id = block_id_of(before.data[start:end].decode("utf-8", "replace"))
    if isinstance(item, FactText) and item.block_id is None:
        item = replace(item, block_id=block_id)
    written = item_line(item)
    new = written.text
    if isinstance(item, RelationText) and block_id is not None:
        new += f" ^{block_id}"
    splice = Splice(start, end, new.encode("utf-8"))
    after = read_for_edit(spliced(before.data, [splice]), path)
    reason = difference(before, after, [splice])
    if not written.is_read_from(after, start, start + len(splice.data)):
        reason = reason or "it would be read as something else there"
    if reason:
        raise InvalidArgument(
            "line",
            f"nothing was changed, because with the new item in line {line} of {path} {reason}",
            hint="Change it with find_replace.",
        )
    return after.text


def remove_item(text: str, line: int, path: NotePath) -> str:
    """The text without the item of this line.

    Its own lines go, and of the blank lines above and below it the smaller number, so that as many
    part its neighbours as did before.

    Raises:
        InvalidArgument: no observation or explicit relation begins there, several relations share
            the item, something is nested in it, or something else would change without it.
    """
    before = read_for_edit(text, path)
    item, _, _, end = _item_at(before, line)
    if before.data[end : item.end].strip(_BLANK + b">" if item.quoted else _BLANK):
        raise InvalidArgument(
            "line",
            f"the item in line {line} of {path} has more below it, which would mean something else",
            hint="Remove what is nested in it first, or change the lines with find_replace.",
        )
    first = line_start(before.data, item.start)
    if before.data[first : item.start].strip(b" \t>"):
        raise InvalidArgument(
            "line",
            f"the item in line {line} of {path} shares its line with another item's bullet",
            hint="Change the line with find_replace.",
        )
    reason = None
    for splice in _removals(before.data, first, end, item.quoted, _ending(before, end)):
        after = read_for_edit(spliced(before.data, [splice]), path)
        reason = difference(before, after, [splice])
        if reason is None:
            return after.text
    raise InvalidArgument(
        "line",
        f"nothing was changed, because without the item in line {line} of {path} {reason}",
        hint="Change the lines with find_replace.",
    )


def _additions(before: Reading, place: Place, line: ItemLine) -> Iterator[tuple[Splice, int]]:
    """(splice, where the item's own text begins), the least change first."""
    data, at = before.data, place.at
    end = _ending(before, at)
    text = line.text.encode("utf-8")
    if not data.strip(_BLANK):
        lead = end if data and data[-1] not in _LINE_ENDS else b""
        yield _addition(len(data), lead, place, text, end)
        return
    following = after_line(data, at)
    tails = [b""]
    if not _is_blank(data, following, quoted=False):
        tails = [b"", end] if place.joins_list else [end, b""]
    for count in (place.blank_lines, 1 - place.blank_lines):
        for tail in tails:
            yield _addition(at, end * (1 + count), place, text, tail)


def _addition(at: int, lead: bytes, place: Place, text: bytes, tail: bytes) -> tuple[Splice, int]:
    before = lead + place.indent + place.bullet
    return Splice(at, at, before + text + tail), at + len(before)


def _removals(data: bytes, first: int, end: int, quoted: bool, ending: bytes) -> Iterator[Splice]:
    """The least change that leaves no hole first; then the lines alone; then a blank line for them."""
    last = after_line(data, end)
    above, below = first, last
    over = under = 0
    while above > 0 and _is_blank(data, line_above(data, above), quoted):
        above, over = line_above(data, above), over + 1
    while below < len(data) and _is_blank(data, below, quoted):
        below, under = after_line(data, below), under + 1
    if below == len(data) and above > 0:
        yield _without(data, above, last)
    elif over and under:
        yield Splice(first, below, b"") if under <= over else Splice(above, last, b"")
    yield _without(data, first, last)
    match = _LEAD.match(data, first)
    lead = match[0].rstrip(b" \t") if match and quoted else b""
    yield Splice(first, last, lead + ending)


def _without(data: bytes, first: int, last: int) -> Splice:
    """Whole lines removed; at the end of a file without final line ending the one before them."""
    if last == len(data) and first > 0 and data[-1] not in _LINE_ENDS:
        first -= 2 if data.endswith(b"\r\n", 0, first) else 1
    return Splice(first, last, b"")


def _is_blank(data: bytes, at: int, quoted: bool) -> bool:
    return not data[at : line_text_end(data, at)].strip(b" \t>" if quoted else b" \t")


def _ending(reading: Reading, at: int) -> bytes:
    """The line ending of the line, of the file where it has none."""
    data = reading.data
    end = line_text_end(data, at)
    return data[end : after_line(data, at)] or (line_end(reading.text) or "\n").encode()


def _item_at(reading: Reading, line: int) -> tuple[Item, Observation | Link, int, int]:
    """The observation or explicit relation of this line: its item, itself, its own text's range."""
    entries = list(_entries(reading))
    start, end = reading.line_range(line)
    found = [one for one, value in entries if value.line == line or start <= one.start < end]
    if not found:
        raise InvalidArgument(
            "line",
            f"no observation and no relation begins in line {line} of {reading.note.path}",
            hint=_near(reading, entries, line),
        )
    item = found[0]
    values = [value for one, value in entries if one is item]
    if len(values) > 1:
        names = "; ".join(map(described, values))
        raise InvalidArgument(
            "line",
            f"the item in line {line} of {reading.note.path} holds {len(values)} relations: {names}",
            hint="Change the line with find_replace.",
        )
    own = item.own or (item.start, item.end)
    return item, values[0], own[0], own[1]


def _entries(reading: Reading) -> Iterator[tuple[Item, Observation | Link]]:
    """Every observation and explicit relation with its item, in order."""
    layout = reading.layout
    facts = (
        (layout.items[index], one)
        for one in reading.note.observations
        if (index := layout.item_with(one.end - 1)) is not None
    )
    links = (
        (layout.items[index], one)
        for one in reading.note.links
        if one.form is LinkForm.WIKI
        and one.relation_type != LINKS_TO
        and (index := layout.item_with(one.start)) is not None
    )
    found: Iterable[tuple[Item, Observation | Link]] = (*facts, *links)
    return iter(sorted(found, key=lambda pair: pair[1].end))


def _near(reading: Reading, entries: list[tuple[Item, Observation | Link]], line: int) -> str:
    if not entries:
        return "The note has no observations and no explicit relations."
    nearest = sorted(entries, key=lambda pair: abs(pair[1].line - line))[:_NEAR]
    named = [f"line {one.line}: {described(one)}" for _, one in nearest]
    return f"Near are {'; '.join(named)}."
