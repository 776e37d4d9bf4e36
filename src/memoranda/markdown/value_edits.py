"""A new value in place of an old one in a header, in the form that the old one has."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple, TypeGuard

from memoranda.markdown.header_places import (
    Place,
    Style,
    Unplaced,
    after_properties,
    comment_at,
    dash_lines,
    find_place,
    lone_place,
)
from memoranda.markdown.lines import LINE_END, line_start, line_stop, next_line
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

_MAX_COMPARED: Final = 500
_MAX_ALIKE: Final = 5000
"""Pairs of equal elements: the time to compare two lists is bounded by these and their lengths."""
_MAX_SHARED: Final = 50
_FLOW_BEHIND: Final = re.compile(r"(?:[ \t]*,)?(?:[ \t]+#[^\r\n]*)?[ \t]*")
_INDICATOR: Final = re.compile(r"[ \t]*[|>][-+0-9]*")
_BLANKS: Final = re.compile("[ \t]+")
_FIRST_TWO: Final = re.compile("^  ", re.MULTILINE)


class _Change(NamedTuple):
    """The elements `first:last` of the old list become `start:end` of the new one."""

    first: int
    last: int
    start: int
    end: int


def replaced(
    header: str, place: Place, old: Value, value: object, *, anew: bool = False
) -> list[Splice]:
    """The splices that put a value in place of the one that stands there.

    What stays of a list or a map is not touched, unless it is to be written `anew`; a block of text
    stays one where it can.

    Raises:
        Unplaced: the place is not what it seems.
    """
    if not anew:
        parts = _parts(header, place, old, value)
        if parts is not None:
            return parts
    if isinstance(value, str) and place.style is Style.TEXT:
        block = yaml_literal(value, place.key - place.line + 2)
        if block is not None:
            sign, lines = block
            return [(place.start, place.end, sign + _text_comment(header, place) + lines)]
    if isinstance(value, str) and place.style is Style.INLINE:
        return _inline(header, place, _quoted_like(header[place.start : place.start + 1], value))
    token = _one_line(value, place.style)
    return _block(header, place, value) if token is None else _inline(header, place, token)


def _parts(header: str, place: Place, old: Value, value: object) -> list[Splice] | None:
    """The splices for the elements or keys that differ; None if the whole is to be written anew."""
    if isinstance(old, list) and _is_list(value) and value and len(old) == len(place.items) > 0:
        if place.style is Style.LIST:
            return _block_elements(header, place, old, value)
        if place.style is Style.FLOW_LIST and _stays_flow(old, value):
            return _flow_elements(header, place.items, _changes(old, value), value)
    if isinstance(old, dict) and isinstance(value, Mapping) and value:
        if not 2 * len(old) == len(place.items) > 0:
            return None
        if place.style is Style.MAP:
            return _block_keys(header, place, old, value)
        if place.style is Style.FLOW_MAP and _stays_flow(old.values(), value.values()):
            return _flow_keys(header, place, old, value)
    return None


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _stays_flow(old: Iterable[Value], new: Iterable[object]) -> bool:
    """Whether the brackets hold lists and maps already, if any are to stand in them."""
    return any(map(_is_nested, old)) or not any(map(_is_nested, new))


def _is_nested(value: object) -> bool:
    return isinstance(value, Mapping) or _is_list(value)


def _one_line(value: object, style: Style) -> str | None:
    """The value on one line; None for a list or map that has lines of its own."""
    if isinstance(value, Mapping):
        deep = style is not Style.FLOW_MAP or any(map(_is_nested, value.values()))
        return None if value and deep else _flow(value)
    if _is_list(value):
        deep = style is not Style.FLOW_LIST or any(map(_is_nested, value))
        return None if value and deep else _flow(value)
    return yaml_scalar(value)


def _flow(value: object) -> str:
    """The value as it stands between brackets."""
    if isinstance(value, Mapping):
        pairs = (f"{flow_scalar(key)}: {_flow(item)}" for key, item in value.items())
        return f"{{{', '.join(pairs)}}}"
    return f"[{', '.join(map(_flow, value))}]" if _is_list(value) else flow_scalar(value)


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
    header: str,
    items: Sequence[tuple[int, int]],
    changes: Iterable[_Change],
    new: Sequence[object],
) -> list[Splice]:
    splices: list[Splice] = []
    comma = "," if len(items) > 1 and header[items[0][1] : items[1][0]] == "," else ", "
    for change in changes:
        first, last = change.first, change.last
        come = [_flow(value) for value in new[change.start : change.end]]
        if first == last and first:
            at = items[first - 1][1]
            splices.append((at, at, comma + comma.join(come)))
        elif first == last:
            splices.append((items[0][0], items[0][0], comma.join(come) + comma))
        elif last - first == len(come):
            splices += [(*items[first + i], text) for i, text in enumerate(come)]
        elif come:
            splices.append((items[first][0], items[last - 1][1], comma.join(come)))
        else:
            splices.append((*_flow_gone(header, items, first, last), ""))
    return splices


def _flow_gone(
    header: str, items: Sequence[tuple[int, int]], first: int, last: int
) -> tuple[int, int]:
    """The range of some elements, a comma, and their comments; others are left."""
    start = items[first][0]
    if first == 0:
        return start, items[last][0]
    above = items[first - 1][1]
    if not LINE_END.search(header, above, start):
        return above, items[last - 1][1]
    if last < len(items):
        return start, items[last][0]
    behind = _FLOW_BEHIND.match(header, items[-1][1])
    end = behind.end() if behind else items[-1][1]
    line = line_start(header, start)
    if header[line:start].strip(" \t") or not LINE_END.match(header, end):
        return above, items[-1][1]
    return line, next_line(header, end)


def _flow_keys(
    header: str, place: Place, old: Mapping[str, Value], new: Mapping[str, object]
) -> list[Splice] | None:
    items = place.items
    splices: list[Splice] = []
    for i, (key, value) in enumerate(old.items()):
        if key in new and value_as_read(new[key]) != value:
            start, end = items[2 * i + 1]
            if start == end:
                return None
            splices.append((start, end, _flow(new[key])))
    stay = [key for key in old if key in new]
    added = {key: value for key, value in new.items() if key not in old}
    if not stay:
        return None
    pairs = [(items[i][0], items[i + 1][1]) for i in range(0, len(items), 2)]
    if len(stay) < len(pairs):
        splices += _flow_elements(header, pairs, _changes(list(old), stay), stay)
    if added:
        at = pairs[list(old).index(stay[-1])][1]
        splices.append((at, at, f", {_flow(added)[1:-1]}"))
    return splices


def _block_keys(
    header: str, place: Place, old: Mapping[str, Value], new: Mapping[str, object]
) -> list[Splice] | None:
    starts = [start for start, _ in place.items[::2]]
    bounds = [*(line_start(header, start) for start in starts[1:]), place.after]
    splices: list[Splice] = []
    last: Place | None = None
    for (key, value), start, bound in zip(old.items(), starts, bounds, strict=True):
        try:
            last = find_place(header, key, start, bound)
            if last is None:
                return None
            if key not in new:
                splices.append((last.line, last.after, ""))
            elif value_as_read(new[key]) != value:
                splices += replaced(header, last, value, new[key])
        except Unplaced:
            return None
    added = {key: value for key, value in new.items() if key not in old}
    if added and last is not None:
        lines = _FIRST_TWO.sub(" " * (last.key - last.line), yaml_value(added, 0)[1:])
        splices.append((last.after, last.after, lines))
    return splices


def _block_elements(
    header: str, place: Place, old: Sequence[Value], new: Sequence[object]
) -> list[Splice]:
    items = place.items
    lines = dash_lines(header, place)
    dash = header.index("-", lines[0])
    blanks = _BLANKS.fullmatch(header, dash + 1, items[0][0])
    lead = header[lines[0] : dash + 1]
    gap = blanks[0] if blanks else " "
    nested = [i for i, value in enumerate(old) if _is_nested(value) and value]
    splices: list[Splice] = []
    for first, last, start, end in _one_by_one(_changes(old, new), old, new):
        gone, come = range(first, last), new[start:end]
        if len(gone) == len(come) == 1:
            inner = _one_element(header, place, lines[first], first, old[first], come[0])
            if inner is not None:
                splices += inner
                continue
        model = nested[max(bisect_left(nested, first + bool(gone)) - 1, 0)] if nested else None
        sign = "\n"
        if model is not None and line_start(header, items[model][0]) == lines[model]:
            sign = header[items[model][0]]
        at = next_line(header, items[first - 1][1]) if first else lines[0]
        text = "".join(f"{lead}{_behind_dash(value, lead, gap, sign)}\n" for value in come)
        splices.append((at, at, text))
        splices += [(lines[i], next_line(header, items[i][1]), "") for i in gone]
    return splices


def _one_by_one(
    changes: Iterable[_Change], old: Sequence[Value], new: Sequence[object]
) -> Iterator[_Change]:
    """Changes are parted where an element clearly becomes another: as many go as come, or parts stay."""
    for first, last, start, end in changes:
        as_many = last - first == end - start
        while (
            first < last
            and start < end
            and (as_many or _shares(old[first], value_as_read(new[start])))
        ):
            yield _Change(first, first + 1, start, start + 1)
            first, start = first + 1, start + 1
        if first < last or start < end:
            yield _Change(first, last, start, end)


def _shares(old: Value, new: Value) -> bool:
    """Whether two maps have an entry in common, or two lists an element."""
    if isinstance(old, dict) and isinstance(new, dict):
        return any(key in new and new[key] == value for key, value in old.items())
    if isinstance(old, list) and isinstance(new, list):
        return any(value in new for value in old[:_MAX_SHARED])
    return False


def _one_element(
    header: str, place: Place, line: int, index: int, old: Value, value: object
) -> list[Splice] | None:
    """The splices for an element that another takes the place of; None if they need new lines."""
    start, end = place.items[index]
    if not _is_nested(value):
        return [(start, end, yaml_scalar(value))] if start < end else None
    if not _is_nested(old):
        return None
    dash = header.index("-", line)
    chunk = " " * (dash + 1 - line) + header[dash + 1 : next_line(header, end)]
    try:
        splices = _parts(chunk, lone_place(chunk), old, value)
    except Unplaced:
        return None
    if splices is None or any(at <= dash - line for at, _, _ in splices):
        return None
    return [(line + at, line + to, text) for at, to, text in splices]


def _behind_dash(value: object, lead: str, gap: str, sign: str) -> str:
    """An element without its last line ending; `sign` is how another list or map there begins."""
    if not _is_nested(value):
        return f"{gap}{yaml_scalar(value)}"
    if sign in ("[", "{") or not value:
        return f"{gap}{_flow(value)}"
    lines = yaml_value(value, 0).rstrip("\n")
    if sign == "\n":
        return _FIRST_TWO.sub(" " * (len(lead) + 1), lines)
    return gap + _FIRST_TWO.sub(" " * (len(lead) + len(gap)), lines).lstrip("\n ")


def _changes(old: Sequence[Value], new: Sequence[object]) -> list[_Change]:
    """What is to be done to the elements, in their order; between two changes some stay."""
    before = [json.dumps(value, sort_keys=True) for value in old]
    after = [json.dumps(value_as_read(value), sort_keys=True) for value in new]
    most = min(len(before), len(after))
    same = 0
    while same < most and before[same] == after[same]:
        same += 1
    tail = 0
    while tail < most - same and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    before, after = before[same : len(before) - tail], after[same : len(after) - tail]
    if not before and not after:
        return []
    counts = Counter(before)
    alike = sum(counts[text] for text in after)
    if max(len(before), len(after)) > _MAX_COMPARED or alike > _MAX_ALIKE:
        return [_Change(same, same + len(before), same, same + len(after))]
    return [
        _Change(same + first, same + last, same + start, same + end)
        for tag, first, last, start, end in SequenceMatcher(
            None, before, after, autojunk=False
        ).get_opcodes()
        if tag != "equal"
    ]


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
