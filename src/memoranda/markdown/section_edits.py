"""Text put in place of a section, before it or after it.

A section is its heading and everything up to the next heading of the same or a higher level, so its
subsections belong to it. Every result is read again before it counts: what stands outside the edit
must say what it said.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from memoranda.errors import InvalidArgument
from memoranda.markdown.edit_checks import Splice, difference, spliced
from memoranda.markdown.edit_layout import Reading, read_for_edit
from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.lines import LINE_END, adapted, ends_line, line_end, line_start
from memoranda.model.address import NotePath
from memoranda.model.edit import EditSection, Place
from memoranda.model.note import Heading
from memoranda.model.outline import Section, find_section

_BLANK_LINES: Final = re.compile(r"(?:[ \t]*(?:\r\n|\r|\n))*")


def edit_section(text: str, edit: EditSection, path: NotePath) -> str:
    """The text after the edit.

    In place of a section: its heading line stays unless the new text begins with a heading of that
    level and text; the blank lines under the heading and at the section's end stay; no text empties
    the section. Before or after it: one blank line parts the new text from what stands around it;
    blank lines that are there already are not doubled.

    Raises:
        SectionNotFound, AmbiguousSection: no section, or several, go by that name.
        InvalidArgument: what stands outside the edit would be read as something else (the new text
            leaves a code fence or a comment open), or the new text would land in an open code fence.
    """
    before = read_for_edit(text, path)
    section = find_section(before.note, edit.section)
    ending = line_end(text) or line_end(edit.text) or "\n"
    added = adapted(edit.text, ending)
    if edit.place is Place.INSTEAD:
        return _checked(before, _instead(before, section, added, ending))
    at = section.heading.start if edit.place is Place.BEFORE else section.end
    return _checked(before, _between(before, at, added, ending))


def stays_open(body: str, path: NotePath) -> bool:
    """Whether text at the end of the body lands in a code fence, a comment or HTML that nothing closes."""
    probe = "# x\n"
    text = f"\n{body}\n\n{probe}"  # the blank line: no header
    outline = parse_note(text, path).outline
    return not outline or outline[-1].start != len(_bytes(text)) - len(probe)


def _checked(before: Reading, splices: Iterable[Splice]) -> str:
    """The text after the first splice that changes nothing outside it."""
    note = before.note
    reason: str | None = None
    for splice in splices:
        result = spliced(before.data, [splice])
        kept = [one for one in note.outline if not splice.start <= one.start < splice.end]
        outside = replace(before, note=replace(note, outline=tuple(kept)))
        reason = difference(outside, read_for_edit(result, note.path), [splice])
        if reason is None:
            return result
    raise InvalidArgument(
        "content_updates",
        f"the edit would change {note.path} outside the section: {reason}",
        hint="Close what the new text opens (a code fence, a comment, HTML), and keep the link "
        "definitions that are used elsewhere.",
    )


def _instead(before: Reading, section: Section, added: str, ending: str) -> list[Splice]:
    heading = section.heading
    start = heading.end
    head = _text(before.data[heading.start : start])
    lead, content, tail = _parted(_text(before.data[start : section.end]))
    new_lead, core, new_tail = _parted(added)
    is_last = section.end == len(before.data)
    ends = ends_line(before.text)
    if not core:
        new = LINE_END.sub("", tail, count=1) or ("" if is_last else lead)
        if not content:
            new = lead
        elif is_last and not ends:
            start -= len(head) - len(head.rstrip("\r\n"))
        return [_splice(start, section.end, new)]
    if not content:
        lead, tail = _parting(lead, ending, is_last=is_last)
    if _begins_with(core, heading, before.note.path):
        start, head, lead, new_lead = heading.start, "", "", ""
    tail = _longer(tail, new_tail)
    if not tail and (ends or not is_last):
        tail = ending
    new = _longer(lead, new_lead) + core + tail
    if head and not ends_line(head):
        new = ending + new
    # The next heading may be underlined, so that a paragraph above it needs a blank line.
    variants = [new] if is_last else [new, new + ending]
    return [_splice(start, section.end, one) for one in variants]


def _between(before: Reading, at: int, added: str, ending: str) -> list[Splice]:
    _, core, tail = _parted(added)
    if not core:
        return [_splice(at, at, "")]
    above = _text(before.data[before.note.body_start : at])
    below = _text(before.data[at:])
    if not below and stays_open(above, before.note.path):
        raise InvalidArgument(
            "section",
            "the section ends in a code fence, comment or HTML that nothing closes",
            hint="Close it first, or use replace_section.",
        )
    gap = "" if not above or _ends_blank(above) else ending
    if at and not ends_line(_text(before.data[:at])):
        gap += ending
    # Below stands a heading or nothing.
    end = ending * 2 if below else ending if ends_line(before.text) or tail else ""
    return [_splice(at, at, gap + core + end)]


def _splice(start: int, end: int, new: str) -> Splice:
    return Splice(start, end, _bytes(new))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _parted(text: str) -> tuple[str, str, str]:
    """Blank lines, what stands between, and the line ending and blank lines at the end."""
    content = text.rstrip(" \t\r\n")
    if not content:
        return text, "", ""
    blank = _BLANK_LINES.match(text)
    start = blank.end() if blank else 0
    match = LINE_END.search(text, len(content))
    stop = match.start() if match else len(text)
    return text[:start], text[start:stop], text[stop:]


def _parting(blank: str, ending: str, *, is_last: bool) -> tuple[str, str]:
    """What parts a new text from its heading and from the next one, in a section of blank lines."""
    first = LINE_END.search(blank)
    if first is None:
        return "", ""
    rest = blank[first.end() :]
    return blank[: first.end()], ending + (rest if rest or is_last else ending)


def _begins_with(core: str, heading: Heading, path: NotePath) -> bool:
    """Whether a text begins with this heading."""
    outline = parse_note(f"\n{core}", path).outline  # the blank line: no header
    if not outline or outline[0].start != 1 or outline[0].level != heading.level:
        return False
    return _folded(outline[0].text) == _folded(heading.text)


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def _longer(one: str, two: str) -> str:
    """Of two runs of blank lines the longer."""
    return two if len(LINE_END.findall(two)) > len(LINE_END.findall(one)) else one


def _ends_blank(text: str) -> bool:
    """Whether the last line is blank and ended."""
    last = len(text.removesuffix("\n").removesuffix("\r"))
    return ends_line(text) and not text[line_start(text, last) : last].strip(" \t")
