"""The arguments of a write or an edit, read together: which edits they mean, and of which bytes."""

from __future__ import annotations

from typing import Any

from memoranda.errors import InvalidArgument
from memoranda.model.edit import (
    Append,
    Edit,
    EditSection,
    FindReplace,
    Place,
    Prepend,
    Replace,
    SetMetadata,
)

PLACES = {
    "replace_section": Place.INSTEAD,
    "insert_before_section": Place.BEFORE,
    "insert_after_section": Place.AFTER,
}
"""Where the text goes, by operations on a section."""

_OF_TEXT = ("operation", "find_text", "section")


def expected_of(values: dict[str, Any], *, replaces: bool) -> str | None:
    """The checksum to look for; an empty one, of a call that would replace something, is refused."""
    checksum: str | None = values["expected_checksum"]
    if checksum is None or checksum.strip():
        return checksum
    if replaces:
        raise InvalidArgument(
            "expected_checksum",
            "expected_checksum is empty and would check nothing",
            hint="Give the checksum that read_note said, or leave it out.",
        )
    return None


def edits_of(values: dict[str, Any]) -> list[Edit]:
    """The edit of the text, then that of the header."""
    metadata = values["metadata"]
    edits: list[Edit] = []
    if values["content_updates"] is not None:
        edits.append(_edit_of_text(values, values["content_updates"]))
    elif not metadata or any(values[name] for name in _OF_TEXT):
        raise InvalidArgument(
            "content_updates",
            "content_updates is missing",
            hint="Give the new text, or metadata alone to set frontmatter keys.",
        )
    if metadata:
        edits.append(SetMetadata(metadata))
    return edits


def _edit_of_text(values: dict[str, Any], text: str) -> Edit:
    operation, find, section = values["operation"], values["find_text"], values["section"]
    if find == "":
        if operation is None and text:  # to add the text is not what was meant
            raise InvalidArgument(
                "find_text",
                "find_text is empty, so there is nothing to look for",
                hint="Give the exact text that content_updates replaces; to add text give operation "
                "append or prepend instead.",
            )
        find = None
    if operation is None:
        operation = "append" if find is None else "find_replace"
    place = PLACES.get(operation)
    if find is not None and operation != "find_replace":
        raise InvalidArgument(
            "find_text",
            f"find_text has no meaning for operation {operation}",
            hint="Use operation find_replace, or leave find_text out.",
        )
    if section is not None and place is None:
        raise InvalidArgument(
            "section",
            f"section has no meaning for operation {operation}",
            hint=f"Use one of {', '.join(PLACES)}, or leave section out.",
        )
    if place is not None:
        if section is None:
            raise InvalidArgument(
                "section", "section is missing", hint="Give a heading, heading path or slug."
            )
        return EditSection(section, text, place)
    match operation:
        case "append":
            return Append(text)
        case "prepend":
            return Prepend(text)
        case "replace":
            return Replace(text)
        case _:
            if not find:
                raise InvalidArgument(
                    "find_text",
                    "find_text is missing",
                    hint="Give the exact text that content_updates replaces.",
                )
            return FindReplace(find, text, values["expected_replacements"])
