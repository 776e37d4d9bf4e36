"""Edits that change only what they were asked to change.

An existing header is never loaded and dumped again: edits splice text, and what they add takes the
line endings of the file.
"""

from __future__ import annotations

import re
from typing import assert_never

from memoranda.errors import EditMismatch, InvalidArgument
from memoranda.markdown.frontmatter import split_frontmatter
from memoranda.markdown.header_edits import set_metadata
from memoranda.markdown.item_edits import add_item, remove_item, replace_item
from memoranda.markdown.lines import LINE_END, adapted, closed, ends_line, line_end
from memoranda.markdown.link_edits import retarget_link
from memoranda.markdown.section_edits import edit_section
from memoranda.model.address import NotePath
from memoranda.model.edit import (
    AddItem,
    Append,
    Edit,
    EditSection,
    FindReplace,
    Prepend,
    RemoveItem,
    Replace,
    ReplaceItem,
    RetargetLink,
    SetMetadata,
)


def apply_edit(text: str, edit: Edit, path: NotePath) -> str:
    r"""The text after the edit. What the edit does not touch stays as it is, character for character.

    Added line endings are those that the file uses most. The file ends with a line ending if it did
    before or the added text does. `\n` in a text to find matches any line ending; the n-th line ending of
    a replacement is that of the n-th found, if there are so many.

    Edits of plain text are what they say, whatever Markdown makes of the result: appended text begins
    on a line of its own, so that items and rows continue a list or a table; text that is to be a
    paragraph of its own begins with a blank line. See `edit_warnings`. Edits of structure are read
    again and refused if they change anything else.

    Raises:
        EditMismatch: the text to find occurs another number of times than expected.
        SectionNotFound, AmbiguousSection: no section, or several, go by that name.
        InvalidArgument: nothing to find, a second header or one by chance would be made, or an edit of
            structure cannot be done.
    """
    match edit:
        case Append(added):
            return _append(text, added)
        case Prepend(added):
            return _prepend(text, added)
        case FindReplace(find, replacement, expected):
            return _find_replace(text, find, replacement, expected, path)
        case Replace(body):
            return _replace(text, body)
        case EditSection():
            return edit_section(text, edit, path)
        case SetMetadata(values):
            return set_metadata(text, values)
        case AddItem(item, section):
            return add_item(text, item, path, section=section)
        case ReplaceItem(line, item):
            return replace_item(text, line, item, path)
        case RemoveItem(line):
            return remove_item(text, line, path)
        case RetargetLink(link, target):
            return retarget_link(text, link, target, path)
        case _:
            assert_never(edit)


def _append(text: str, added: str) -> str:
    if not added:
        return text
    ending = line_end(text)
    added = adapted(added, ending)
    if text and not ends_line(text):
        text_and_end = text + (ending or line_end(added) or "\n")
    else:
        text_and_end = text
    result = closed(text, text_and_end + added, ending)
    if text and split_frontmatter(text).header is None:
        _refuse_header(
            split_frontmatter(result).header, "append would turn the note into frontmatter"
        )
    return result


def _prepend(text: str, added: str) -> str:
    if not added:
        return text
    ending = line_end(text) or "\n"
    cut = split_frontmatter(text)
    if cut.header is not None:
        _refuse_header(split_frontmatter(added).header, "the note already has frontmatter")
    head, body = text[: cut.body_start], text[cut.body_start :]
    added = adapted(added, ending)
    if head and not ends_line(head):
        head += ending
    if body and not ends_line(added):
        added += ending
    result = head + added + body
    if cut.header is None and split_frontmatter(added).header is None:
        _refuse_header(
            split_frontmatter(result).header, "prepend would turn the note into frontmatter"
        )
    return result


def _replace(text: str, body: str) -> str:
    ending = line_end(text)
    cut = split_frontmatter(text)
    if cut.header is not None:
        _refuse_header(split_frontmatter(body).header, "the note already has frontmatter")
    head, old = text[: cut.body_start], text[cut.body_start :]
    body = adapted(body, ending)
    if head and body and not ends_line(head):
        head += ending
    if head and (blank := LINE_END.match(old)) and body and not LINE_END.match(body):
        body = blank[0] + body
    return head + closed(old, body, ending)


def _find_replace(text: str, find: str, replacement: str, expected: int, path: NotePath) -> str:
    if not find:
        raise InvalidArgument("find_text", "the text to find is empty")
    if expected < 1:
        raise InvalidArgument("expected_replacements", "expected_replacements is below 1")
    pattern = re.compile(r"(?:\r\n|\r(?!\n)|(?<!\r)\n)".join(map(re.escape, LINE_END.split(find))))
    found = sum(1 for _ in pattern.finditer(text))
    if found != expected:
        raise EditMismatch(path, found, expected)
    usual = line_end(text) or "\n"

    def replaced(match: re.Match[str]) -> str:
        own = iter(LINE_END.findall(match[0]))
        return LINE_END.sub(lambda _: next(own, usual), replacement)

    return pattern.sub(replaced, text)


def _refuse_header(header: str | None, reason: str) -> None:
    if header is not None:
        raise InvalidArgument(
            "content",
            f"the new text has a header between --- lines, but {reason}",
            hint="Leave the header out; set its keys as metadata.",
        )
