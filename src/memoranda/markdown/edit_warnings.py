"""What a person would want to know about an edit of plain text that went as asked.

Such edits are what they say and are never refused for what Markdown makes of them; but text that
lands in a code fence, or joins the fact above it, is rarely what was meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, Final

from memoranda.markdown.entity_parser import parse_note
from memoranda.model.address import NotePath
from memoranda.model.edit import (
    Append,
    Edit,
    EditSection,
    FindReplace,
    Place,
    Prepend,
    Replace,
)
from memoranda.model.note import ParsedNote
from memoranda.model.outline import find_section, sections_of

MAX_CHARS: Final = 1_000_000

_OPEN: Final = "a code fence, comment or HTML that nothing closes"


def edit_warnings(before: str, after: str, edit: Edit, path: NotePath) -> list[str]:
    """One sentence each.

    Edits of structure are checked, and refused rather than warned of, but for one thing: a heading in
    the new text may take the sections behind it under itself.

    Nothing is said of notes of more than `MAX_CHARS`, where the check would cost more than the edit.
    """
    if before == after or len(after) > MAX_CHARS:
        return []
    if isinstance(edit, EditSection):
        return _moved(before, after, edit, path)
    if not isinstance(edit, Append | Prepend | Replace | FindReplace):
        return []
    new = _Read(after, path)
    old = _Read(before, path)
    if new.is_open and old.is_open and isinstance(edit, Append):
        return [f"The text was added inside {_OPEN}."]
    if new.is_open and not old.is_open:
        return [f"After the edit the note ends in {_OPEN}."]
    if isinstance(edit, Append | Prepend) and (changed := _changed(old, new, edit)):
        kind, line = changed
        return [
            f"With the new text line {line} is read in another way ({kind}); "
            "a blank line between them keeps them apart."
        ]
    return []


def _moved(before: str, after: str, edit: EditSection, path: NotePath) -> list[str]:
    """The first section outside the edit that stands under other headings than before."""
    note = parse_note(before, path)
    target = find_section(note, edit.section)
    old, new = sections_of(note), sections_of(parse_note(after, path))
    start = target.end if edit.place is Place.AFTER else target.heading.start
    end = target.end if edit.place is Place.INSTEAD else start
    behind = sum(one.heading.start >= end for one in old)
    for one, now in zip(old[len(old) - behind :], new[len(new) - behind :], strict=True):
        if one.path != now.path:
            return [f"The section {one.name!r} is now {now.name!r}: a new heading stands above it."]
    return []


class _Read:
    """A text read with a heading behind it, which shows whether something is open at the end."""

    def __init__(self, text: str, path: NotePath) -> None:
        self.size = len(text.encode("utf-8", "surrogatepass"))
        self.note = parse_note(f"{text}\n\n# x\n", path)
        outline = self.note.outline
        self.is_open = not outline or outline[-1].start != self.size + 2


def _changed(old: _Read, new: _Read, edit: Edit) -> tuple[str, int] | None:
    """The first heading, observation or link that an insertion changed: what it is, its line."""
    outside, shift = range(old.size), 0
    if isinstance(edit, Prepend):
        outside = range(new.size - old.size + old.note.body_start, new.size)
        shift = new.size - old.size
    wanted = (one for one in _said(old.note) if outside.start - shift <= one[1] < old.size)
    found = (one for one in _said(new.note) if one[1] in outside)
    for one, now in zip_longest(wanted, found):
        if (
            now is None
            or one is None
            or (one[0], one[1] + shift, one[3]) != (now[0], now[1], now[3])
        ):
            kind, _, line, _ = one or now
            return kind, line
    return None


def _said(note: ParsedNote) -> Iterator[tuple[str, int, int, Any]]:
    """Kind, byte, line and content of everything the note says."""
    for heading in note.outline:
        yield "heading", heading.start, heading.line, (heading.level, heading.text)
    for fact in note.observations:
        yield (
            "observation",
            fact.start,
            fact.line,
            (fact.category, fact.content, fact.tags, fact.context, fact.block_id, fact.attributes),
        )
    for link in note.links:
        said = (link.form, link.target, link.anchor, link.relation_type, link.context)
        yield "link", link.start, link.line, said
