"""The lines of a note that a reader wants: a section, a range, as much as fits. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from memoranda.errors import InvalidArgument
from memoranda.markdown.lines import LINE
from memoranda.model.note import ParsedNote
from memoranda.model.outline import find_section


@dataclass(frozen=True, slots=True)
class Window:
    """What is asked for.

    Attributes:
        start_line, end_line: 1-based lines of the file, inclusive; None for the first and the last.
        max_chars: at least 1.
        section: as `model.outline.find_section` takes it; the lines are looked for inside it.
    """

    start_line: int | None = None
    end_line: int | None = None
    max_chars: int = 20_000
    section: str | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """What is there: lines `first` to `last` (`last` < `first` when empty).

    Attributes:
        text: cut at a line end, a longer single line inside it.
        next_line: where to go on when `text` was cut.
        total: lines of the whole file.
    """

    text: str
    first: int
    last: int
    next_line: int | None
    total: int


def shown(text: str, note: ParsedNote, window: Window) -> Shown:
    """The lines of a file's text that a window shows.

    Raises:
        SectionNotFound, AmbiguousSection: no section, or several, go by that name.
        InvalidArgument: a number below 1, or lines that the note or its section does not have.
    """
    for parameter, value in (
        ("start_line", window.start_line),
        ("end_line", window.end_line),
        ("max_chars", window.max_chars),
    ):
        if value is not None and value < 1:
            raise InvalidArgument(parameter, f"{parameter} must be at least 1, not {value}")
    lines = LINE.findall(text)
    first, last, place = 1, len(lines), "note"
    if window.section is not None:
        section = find_section(note, window.section)
        first, last, place = section.heading.line, section.end_line, "section"
    start, end = window.start_line or first, window.end_line
    if not first <= start <= max(first, last) or (end is not None and end < start):
        raise InvalidArgument(
            "end_line" if first <= start <= max(first, last) else "start_line",
            f"There are no lines {start} to {end or last}{' in the section' * (place != 'note')}",
            hint=_extent(first, last, place),
        )
    wanted = lines[start - 1 : last if end is None else min(end, last)]
    taken: list[str] = []
    room = window.max_chars
    for line in wanted:
        if len(line) > room:
            if not taken:
                taken.append(line[:room])
            break
        taken.append(line)
        room -= len(line)
    stop = start + len(taken) - 1
    following = stop + 1 if len(taken) < len(wanted) else None
    return Shown("".join(taken), start, stop, following, len(lines))


def _extent(first: int, last: int, place: str) -> str:
    if place == "note":
        return f"The note has {last} {'line' if last == 1 else 'lines'}."
    return f"The section is lines {first} to {last}."
