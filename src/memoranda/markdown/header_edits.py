"""Frontmatter keys set and deleted by splicing the header, which is never dumped anew.

Every change is read again before it counts: the keys that were set must have their values and all
others theirs. What cannot be done that way is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from memoranda.errors import InvalidArgument
from memoranda.markdown.frontmatter import split_frontmatter
from memoranda.markdown.header_places import Place, Unplaced, find_place, is_flow
from memoranda.markdown.lines import LINE_END, line_end
from memoranda.markdown.value_edits import Splice, replaced
from memoranda.markdown.yaml_text import value_as_read, yaml_entry
from memoranda.markdown.yaml_values import Entry, Value, YamlFault, load_entries, readable

_UNCLOSED: Final = re.compile(r"---[ \t]*(?:\r\n|\r|\n)[^\s#:\-][^\r\n:]*:(?:[ \t\r\n]|\Z)")
_BLANK_LINE: Final = re.compile(r"[ \t]*(?:\r\n|\r|\n)")
_NUL: Final = re.compile("\0")


def set_metadata(text: str, values: Mapping[str, object]) -> str:
    """The text with these frontmatter keys set; a key whose value is None is deleted.

    Only the characters of a value change: the comment behind it, the way other keys are written,
    their order and the blank lines stay. A list keeps its form, and its elements that stay keep
    theirs. New keys go behind the last one, so that comments at the end of the header stay there
    (they speak of the header, or are keys that were switched off). A deleted key takes its own lines
    along and leaves the comments above it and above the next key. A value that is there already
    changes nothing, and neither does deleting a key that is missing.

    Of a key that occurs twice the last one counts and is set; deleting removes them all.

    Raises:
        InvalidArgument: a value that frontmatter cannot hold; or a header that is broken, is written
            as one `{...}`, has no closing line, or would change in more than these keys.
    """
    wanted: dict[str, Value] = {}
    for key, value in values.items():
        if value is not None:
            yaml_entry(key, value)  # checks both
        wanted[key] = value_as_read(value)
    cut = split_frontmatter(text)
    if cut.header is None:
        return _with_header(text, values)
    header = cut.header
    try:
        entries = load_entries(header)
    except YamlFault as fault:
        raise InvalidArgument(
            "metadata",
            f"the frontmatter is not usable YAML (line {fault.line + 2}: {fault.reason})",
            hint="Correct that line with find_replace first.",
        ) from fault
    known = {entry.key: entry.value for entry in entries}
    edits = {
        key: values[key]
        for key, value in wanted.items()
        if (key in known if value is None else key not in known or known[key] != value)
    }
    if not edits:
        return text
    shown = _NUL.sub("\ufffd", readable(header))  # offsets are the same
    if is_flow(shown):
        raise InvalidArgument(
            "metadata",
            "the frontmatter is written as one {...}, which is not edited key by key",
            hint="Write it with one key a line first, with find_replace.",
        )
    after = {key: value for key, value in known.items() if key not in edits}
    after |= {key: wanted[key] for key in edits if wanted[key] is not None}
    ending = line_end(text[: cut.body_start]) or "\n"
    rest = text[cut.header_start + len(header) :]
    for anew in (False, True):
        try:
            splices = _splices(header, shown, entries, known, edits, anew=anew)
            new = _spliced(header, [(at, to, LINE_END.sub(ending, by)) for at, to, by in splices])
        except Unplaced:
            continue
        result = text[: cut.header_start] + new + rest
        if _reads_as(result, after, rest):
            return result
    raise _unsafe(header, list(edits))


def _with_header(text: str, values: Mapping[str, object]) -> str:
    """The text with a header made for the values; as it is if there are none."""
    given = {key: value for key, value in values.items() if value is not None}
    if not given:
        return text
    if _UNCLOSED.match(text):
        raise InvalidArgument(
            "metadata",
            "the note begins with --- like a header, but no second --- line closes it",
            hint="Close the header with find_replace first.",
        )
    head = "".join(yaml_entry(key, value) for key, value in given.items())
    gap = "\n" if text and not _BLANK_LINE.match(text) else ""
    return LINE_END.sub(line_end(text) or "\n", f"---\n{head}---\n{gap}") + text


def _splices(
    header: str,
    shown: str,
    entries: Sequence[Entry],
    known: Mapping[str, Value],
    changed: Mapping[str, object],
    *,
    anew: bool,
) -> list[Splice]:
    """What to replace, in order of place."""
    starts = sorted({entry.at for entry in entries})
    bounds = dict(pairwise([*starts, len(header)]))
    places: dict[str, list[Place]] = {key: [] for key in changed}
    for entry in entries:
        if entry.key in places:
            key = _NUL.sub("\ufffd", entry.key)
            place = find_place(shown, key, entry.at, bounds[entry.at])
            if place is not None:
                places[entry.key].append(place)
    splices: list[Splice] = []
    new: list[str] = []
    for key, value in changed.items():
        if value is None:
            splices += [(place.line, place.after, "") for place in places[key]]
        elif places[key]:
            last = max(places[key], key=lambda place: place.line)
            splices += replaced(header, last, known[key], value, anew=anew)
        else:
            new.append(yaml_entry(key, value))
    if new:
        at, column = _end_of_keys(shown, entries)
        lines = LINE_END.sub("\n" + " " * column, " " * column + "".join(new)).rstrip(" ")
        splices.append((at, at, lines))
    return sorted(splices, key=lambda splice: splice[:2])


def _end_of_keys(header: str, entries: Sequence[Entry]) -> tuple[int, int]:
    """Behind the last key, and the column of the keys."""
    if not entries:
        return len(header), 0
    last = max(entries, key=lambda entry: entry.at)
    place = find_place(header, _NUL.sub("\ufffd", last.key), last.at, len(header))
    if place is None:
        place = find_place(header, "<<", last.at, len(header))
    if place is None:
        raise Unplaced
    return place.after, place.key - place.line


def _spliced(text: str, splices: Sequence[Splice]) -> str:
    parts: list[str] = []
    at = 0
    for start, end, new in splices:
        if start < at:
            raise Unplaced
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


def _reads_as(text: str, values: Mapping[str, Value], rest: str) -> bool:
    """Whether a note has these header values, and this text from the closing line on."""
    cut = split_frontmatter(text)
    if cut.header is None or text[cut.header_start + len(cut.header) :] != rest:
        return False
    try:
        entries = load_entries(cut.header)
    except YamlFault:
        return False
    return {entry.key: entry.value for entry in entries} == values


def _unsafe(header: str, changed: Sequence[str]) -> InvalidArgument:
    names = ", ".join(repr(key) for key in changed[:5])
    reason = "the result would not read as it should"
    if "<<" in header:
        reason = "a merge key << may bring one of them in"
    elif "&" in header:
        reason = "an anchor & in it may be used by another key"
    return InvalidArgument(
        "metadata",
        f"{names} cannot be changed without changing other keys of the frontmatter: {reason}",
        hint="Change that part of the header with find_replace.",
    )
