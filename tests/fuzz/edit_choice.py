"""Numbers and texts -> an edit that fits a note, so that a fuzzer finds edits that do something."""

from __future__ import annotations

from collections.abc import Sequence

from tests.fuzz.note_checks import PATH

from memoranda.markdown.entity_parser import parse_note
from memoranda.model.edit import (
    AddItem,
    Append,
    Edit,
    EditSection,
    FactText,
    FindReplace,
    Place,
    Prepend,
    RelationText,
    RemoveItem,
    Replace,
    ReplaceItem,
    RetargetLink,
    SetMetadata,
)
from memoranda.model.note import LinkForm
from memoranda.model.outline import sections_of


def edit_of(text: str, kind: int, number: int, arguments: Sequence[str]) -> Edit | None:
    """An edit of this text out of numbers and texts; None where the text has nothing to edit."""
    first, second, third = (*arguments, "", "", "")[:3]
    note = parse_note(text, PATH)
    item = (
        RelationText(first, second, third or None)
        if number & 1
        else FactText(first, second, tuple(third.split()))
    )
    lines = [one.line for one in note.observations]
    lines += [one.line for one in note.links if one.form is LinkForm.WIKI]
    lines.append(number)
    line = lines[number % len(lines)]
    match kind % 12:
        case 0:
            return Append(first)
        case 1:
            return Prepend(first)
        case 2:
            return Replace(first)
        case 3:
            return FindReplace(first, second, max(1, number % 3))
        case 4 | 5 | 6 as place:
            sections = sections_of(note)
            name = sections[number % len(sections)].slug if sections and number else second
            return EditSection(name, first, tuple(Place)[place - 4])
        case 7:
            values = (None, second, [second, third], number, True, {second: third}, 1.5)
            key = [*note.frontmatter, first][number % (len(note.frontmatter) + 1)]
            return SetMetadata({key: values[number % len(values)]})
        case 8:
            return AddItem(item)
        case 9:
            return ReplaceItem(line, item)
        case 10:
            return RemoveItem(line)
        case _:
            return RetargetLink(note.links[number % len(note.links)], first) if note.links else None
