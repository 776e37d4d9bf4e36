"""A new value in place of an old one in a header, in the form that the old one has."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from memoranda.markdown.header_places import (
    Place,
    Style,
    after_properties,
    comment_at,
    dash_lines,
)
from memoranda.markdown.lines import line_start, line_stop, next_line
from memoranda.markdown.yaml_text import (
    flow_scalar,
    value_as_read,
    yaml_literal,
    yaml_scalar,
    yaml_text,
    yaml_value,
)
from memoranda.markdown.yaml_values import Value

Splice = tuple[int, int, str]
r"""From, to (characters), what to put there instead; its line endings are `\n`."""

_INDICATOR: Final = re.compile(r"[ \t]*[|>][-+0-9]*")
_BLANKS: Final = re.compile("[ \t]+")
_FIRST_TWO: Final = re.compile("^  ", re.MULTILINE)


def replaced(header: str, place: Place, old: Value, value: object) -> list[Splice]:
    """The splices that put a value in place of the one that stands there.

    The elements of a list that stay keep their form, and a block of text stays one where it can.

    Raises:
        Unplaced: the place is not what it seems.
    """
    elements = _elements(value)
    if elements and isinstance(old, list) and len(old) == len(place.items) > 0:
        if place.style is Style.FLOW_LIST:
            return _flow_elements(header, place, old, elements)
        if place.style is Style.LIST:
            return _block_elements(header, place, old, elements)
    if isinstance(value, str) and place.style is Style.TEXT:
        block = yaml_literal(value, place.key - place.line + 2)
        if block is not None:
            sign, lines = block
            return [(place.start, place.end, sign + _text_comment(header, place) + lines)]
    if isinstance(value, str) and place.style is Style.INLINE:
        return _inline(header, place, _quoted_like(header[place.start : place.start + 1], value))
    token = _one_line(value, place.style)
    return _block(header, place, value) if token is None else _inline(header, place, token)


def _elements(value: object) -> list[object] | None:
    """The elements of a list of scalars; None for anything else."""
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        return None
    plain = not any(_is_nested(item) for item in value)
    return list(value) if plain else None


def _is_nested(value: object) -> bool:
    return isinstance(value, Mapping) or (
        isinstance(value, Sequence) and not isinstance(value, str | bytes)
    )


def _one_line(value: object, style: Style) -> str | None:
    """The value on one line; None for a list or map that has lines of its own."""
    if isinstance(value, Mapping):
        if value and (style is not Style.FLOW_MAP or any(map(_is_nested, value.values()))):
            return None
        pairs = (f"{flow_scalar(key)}: {flow_scalar(item)}" for key, item in value.items())
        return f"{{{', '.join(pairs)}}}"
    if _is_nested(value):
        elements = _elements(value)
        if elements is None or (elements and style is not Style.FLOW_LIST):
            return None
        return f"[{', '.join(map(flow_scalar, elements))}]"
    return yaml_scalar(value)


def _quoted_like(sign: str, text: str) -> str:
    """The text in the quotes of the old value if it has some and they can hold it."""
    token = yaml_text(text)
    if token.startswith('"') or sign not in ('"', "'"):
        return token
    return f"{sign}{token}{sign}" if sign not in token else token


def _inline(header: str, place: Place, token: str) -> list[Splice]:
    start, end = place.start, place.end
    if place.style in (Style.LIST, Style.MAP):
        on_key_line = start <= line_stop(header, place.colon)
        comment = comment_at(
            header, after_properties(header, start) if on_key_line else place.colon
        )
        return [(place.colon, _last_stop(header, place), f" {token}{comment}")]
    if place.style is Style.TEXT:
        return [(start, end, token + _text_comment(header, place))]
    if start < end:
        return [(start, end, token)]
    blanks = _BLANKS.match(header, place.colon)
    if blanks is None or comment_at(header, place.colon):
        return [(place.colon, place.colon, f" {token}")]
    return [(blanks.end(), blanks.end(), token)]


def _block(header: str, place: Place, value: object) -> list[Splice]:
    """A list or a map on lines of its own, where an old one stood in its column."""
    column = place.key - place.line + 2
    below = place.start > line_stop(header, place.colon)
    if place.style in (Style.LIST, Style.MAP):
        if place.style is Style.MAP and isinstance(value, Mapping):
            first = place.items[0][0]
            column = first - line_start(header, first)
        elif place.style is Style.LIST and not isinstance(value, Mapping):
            first = dash_lines(header, place)[0]
            column = header.index("-", first) - first
        comment = "" if below else comment_at(header, after_properties(header, place.start))
        end = _last_stop(header, place)
    elif place.style is Style.TEXT:
        comment, end = _text_comment(header, place), place.end
    else:
        comment, end = comment_at(header, place.end), line_stop(header, place.end)
    lines = _FIRST_TWO.sub(" " * column, yaml_value(value, 0).strip("\n"))
    if below:
        above = f"{' ' * column}{comment.lstrip()}\n" if comment else ""
        return [(line_start(header, place.start), end, above + lines)]
    return [(place.colon, end, f"{comment}\n{lines}")]


def _flow_elements(
    header: str, place: Place, old: Sequence[Value], new: Sequence[object]
) -> list[Splice]:
    items = place.items
    same, tail = _alike(old, new)
    gone = items[same : len(items) - tail]
    comma = "," if len(items) > 1 and header[items[0][1] : items[1][0]] == "," else ", "
    come = comma.join(map(flow_scalar, new[same : len(new) - tail]))
    if gone and come:
        return [(gone[0][0], gone[-1][1], come)]
    if come:
        if same:
            return [(items[same - 1][1], items[same - 1][1], comma + come)]
        return [(items[0][0], items[0][0], come + comma)]
    if same:
        return [(items[same - 1][1], gone[-1][1], "")]
    return [(gone[0][0], items[len(gone)][0], "")]


def _block_elements(
    header: str, place: Place, old: Sequence[Value], new: Sequence[object]
) -> list[Splice]:
    items = place.items
    lines = dash_lines(header, place)
    same, tail = _alike(old, new)
    gone = range(same, len(items) - tail)
    come = new[same : len(new) - tail]
    if len(gone) == len(come) and all(items[i][0] < items[i][1] for i in gone):
        return [(*items[i], yaml_scalar(value)) for i, value in zip(gone, come, strict=True)]
    dash = header.index("-", lines[0])
    blanks = _BLANKS.fullmatch(header, dash + 1, items[0][0])
    lead = header[lines[0] : dash + 1] + (blanks[0] if blanks else " ")
    at = next_line(header, items[same - 1][1]) if same else lines[0]
    splices = [(at, at, "".join(f"{lead}{yaml_scalar(value)}\n" for value in come))]
    splices += [(lines[i], next_line(header, items[i][1]), "") for i in gone]
    return splices


def _alike(old: Sequence[Value], new: Sequence[object]) -> tuple[int, int]:
    """How many elements are the same at the start, and at the end of the rest."""
    wanted = [value_as_read(value) for value in new]
    most = min(len(old), len(wanted))
    same = 0
    while same < most and old[same] == wanted[same]:
        same += 1
    tail = 0
    while tail < most - same and old[-1 - tail] == wanted[-1 - tail]:
        tail += 1
    return same, tail


def _text_comment(header: str, place: Place) -> str:
    """The comment behind the `|` or `>` of a block of text."""
    match = _INDICATOR.match(header, after_properties(header, place.start))
    return comment_at(header, match.end()) if match else ""


def _last_stop(header: str, place: Place) -> int:
    """The end of the last line of the key, before its line ending."""
    for sign in ("\r\n", "\n", "\r"):
        if header.endswith(sign, 0, place.after):
            return place.after - len(sign)
    return place.after
