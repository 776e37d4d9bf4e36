"""A JSON file of a client keeps every other byte, whatever its layout."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.cli.clients.json_document import (
    is_empty,
    table_of,
    with_entry,
    with_item,
    without_entry,
    without_item,
)
from memoranda.cli.clients.json_tree import read_tree
from memoranda.cli.clients.trace import Trace, Unusable

ENTRY = {"command": "/opt/my notes/bin/memoranda", "args": ["mcp"], "env": {"A": 'ä"\\\n'}}
ITEM = {"type": "promptString", "id": "memoranda-token", "password": True}

_BLANKS = ["", "", " ", "\n", "\n  ", "\n\t", "\r\n    ", "  \n\n "]
_COMMENTS = ["/* c */", " // c, }\n", "\n  /* { \n */ ", "//\r\n"]
_TOKENS = [
    *'{}[],: "', '"a"', '"b"', ":", '"a":', "[]", "{}", "1", "-0.5e+3", "01", "1.", "+1", "true", "nul", "\\u00e4",
    '"\\u00e4\\n"', '"\\x"', '"\t"', "\n", "//", "/*", "*/", "\u00a0", "\x00",
]  # fmt: skip
_KEYS = st.text(st.sampled_from('abé"\\/*,{}: \u2028'), max_size=4)
_PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    _KEYS,
)
_VALUES = st.recursive(
    _PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=4,
)


class Layout:
    """Writes a value with blanks, comments and commas as they come."""

    def __init__(self, seed: int, *, is_strict: bool) -> None:
        self.is_strict = is_strict
        self.blanks = _BLANKS if is_strict else _BLANKS + _COMMENTS
        self.random = Random(seed)

    def gap(self) -> str:
        return self.random.choice(self.blanks)

    def comma(self) -> str:
        return "" if self.is_strict else self.random.choice(["", "", ","])

    def write(self, value: Any) -> str:
        if isinstance(value, dict):
            parts = [
                f"{self.gap()}{self.plain(key)}{self.gap()}:{self.gap()}{self.write(each)}{self.gap()}"
                for key, each in value.items()
            ]
            return "{" + self.joined(parts) + "}"
        if isinstance(value, list):
            return (
                "["
                + self.joined([f"{self.gap()}{self.write(each)}{self.gap()}" for each in value])
                + "]"
            )
        return self.plain(value)

    def joined(self, parts: list[str]) -> str:
        if not parts:
            return self.gap()
        comma = self.comma()
        return ",".join(parts) + comma + (self.gap() if comma else "")

    def plain(self, value: Any) -> str:
        return json.dumps(value, ensure_ascii=self.random.random() < 0.5)


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, dict[str, Any], bool]:
    """A text, what it says, and whether it is strict JSON."""
    is_strict = draw(st.booleans())
    layout = Layout(draw(st.integers(0, 2**32)), is_strict=is_strict)
    value = draw(st.dictionaries(_KEYS, _VALUES, max_size=3))
    for table, kind in (
        ("servers", st.dictionaries(_KEYS, _VALUES, max_size=3)),
        ("inputs", st.lists(_VALUES, max_size=2)),
    ):
        if draw(st.booleans()):
            value[table] = draw(kind)
    keys = sorted(value, key=lambda key: layout.random.random())
    value = {key: value[key] for key in keys}
    mark = draw(st.sampled_from(["", "", "\ufeff"]))
    return f"{mark}{layout.gap()}{layout.write(value)}{layout.gap()}", value, is_strict


def value_of(text: str, *, is_strict: bool) -> Any:
    root = read_tree(text, is_strict=is_strict)
    return None if root is None else root.value()


def is_put_in(before: str, after: str) -> bool:
    """Whether `after` is `before` with one stretch put in, and perhaps one comma in front of it."""
    same = _same(before, after)
    commas = [at for at in range(same + 1) if after[at : at + 1] == ","]
    return any(
        _is_one_stretch(before, each)
        for each in [after, *(after[:at] + after[at + 1 :] for at in commas)]
    )


def _same(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _is_one_stretch(before: str, after: str) -> bool:
    front = _same(before, after)
    back = _same(before[::-1], after[::-1])
    return front + back >= len(before)


@given(documents())
def test_tree_says_what_the_text_says(document: tuple[str, dict[str, Any], bool]) -> None:
    text, value, is_strict = document
    assert value_of(text, is_strict=is_strict) == value
    if is_strict:
        assert json.loads(text.removeprefix("\ufeff")) == value


@given(st.lists(st.sampled_from(_TOKENS), max_size=9))
def test_reads_what_json_is_and_nothing_else(tokens: list[str]) -> None:
    text = "".join(tokens)
    try:
        expected = json.loads(text, object_pairs_hook=_once)
    except ValueError:
        if text.strip():
            with pytest.raises(Unusable):
                read_tree(text, is_strict=True)
        return
    assert value_of(text, is_strict=True) == expected


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("twice")
    return dict(pairs)


@given(documents())
def test_entry_is_put_in_and_nothing_else_changes(
    document: tuple[str, dict[str, Any], bool],
) -> None:
    text, value, is_strict = document
    edited = with_entry(text, "servers", "memoranda", ENTRY, is_strict=is_strict)
    servers = {**value.get("servers", {}), "memoranda": ENTRY}
    assert value_of(edited.text, is_strict=is_strict) == {**value, "servers": servers}
    assert is_put_in(text, edited.text)
    assert table_of(edited.text, "servers", is_strict=is_strict) == servers


@given(documents())
def test_put_in_and_taken_out_gives_the_same_bytes(
    document: tuple[str, dict[str, Any], bool],
) -> None:
    text, _, is_strict = document
    edited = with_entry(text, "servers", "memoranda", ENTRY, is_strict=is_strict)
    asked = with_item(edited.text, "inputs", ITEM, is_strict=is_strict)
    assert asked is not None
    back = without_item(asked.text, "inputs", ITEM["id"], asked.trace, is_strict=is_strict)
    assert back == edited.text
    assert without_entry(back, "servers", "memoranda", edited.trace, is_strict=is_strict) == text


@given(documents(), st.data())
def test_entry_there_is_replaced_alone_and_comes_back(
    document: tuple[str, dict[str, Any], bool], data: st.DataObject
) -> None:
    text, value, is_strict = document
    names = list(value.get("servers", {}))
    if not names:
        return
    name = data.draw(st.sampled_from(names))
    edited = with_entry(text, "servers", name, ENTRY, is_strict=is_strict)
    expected = {**value, "servers": {**value["servers"], name: ENTRY}}
    assert value_of(edited.text, is_strict=is_strict) == expected
    previous = edited.trace.previous
    assert previous is not None
    start = next(
        i
        for i in range(len(text) + 1)
        if text[i:].startswith(previous)
        and edited.text.startswith(text[:i])
        and edited.text.endswith(text[i + len(previous) :])
    )
    assert text[:start] == edited.text[:start]
    assert without_entry(edited.text, "servers", name, edited.trace, is_strict=is_strict) == text


@given(documents(), documents())
def test_entry_is_taken_out_of_what_the_client_made_of_the_file(
    before: tuple[str, dict[str, Any], bool], after: tuple[str, dict[str, Any], bool]
) -> None:
    text, _, is_strict = before
    trace = with_entry(text, "servers", "memoranda", ENTRY, is_strict=is_strict).trace
    changed = with_entry(after[0], "servers", "memoranda", ENTRY, is_strict=after[2]).text
    left = without_entry(changed, "servers", "memoranda", trace, is_strict=after[2])
    value = value_of(left, is_strict=after[2]) or {}
    expected = dict(after[1])
    if not value.get("servers"):
        value.pop("servers", None)
    if not expected.get("servers"):
        expected.pop("servers", None)
    assert value == expected


@given(documents(), st.data())
def test_any_entry_can_be_taken_out(
    document: tuple[str, dict[str, Any], bool], data: st.DataObject
) -> None:
    text, value, is_strict = document
    names = list(value.get("servers", {}))
    if not names:
        return
    name = data.draw(st.sampled_from(names))
    left = without_entry(text, "servers", name, Trace(), is_strict=is_strict)
    rest = {key: each for key, each in value["servers"].items() if key != name}
    assert value_of(left, is_strict=is_strict) == {**value, "servers": rest}


@pytest.mark.parametrize(
    ("text", "result"),
    [
        (
            '{\n\t"a": 1 // note\n}\n',
            '{\n\t"a": 1, // note\n\t"servers": {\n\t\t"m": {\n\t\t\t"x": 1\n\t\t}\n\t}\n}\n',
        ),
        (
            '{\r\n    "servers": {\r\n        "a": {},\r\n    },\r\n}',
            '{\r\n    "servers": {\r\n        "a": {},\r\n        "m": {\r\n            "x": 1\r\n'
            "        },\r\n    },\r\n}",
        ),
        ('{"a":1}', '{"a":1, "servers": {"m": {"x": 1}}}'),
        ("{}", '{\n  "servers": {\n    "m": {\n      "x": 1\n    }\n  }\n}'),
        ("", '{\n  "servers": {\n    "m": {\n      "x": 1\n    }\n  }\n}\n'),
    ],
)
def test_layout_is_that_of_the_neighbours(text: str, result: str) -> None:
    assert with_entry(text, "servers", "m", {"x": 1}, is_strict=False).text == result


@pytest.mark.parametrize(
    ("text", "reason", "line"),
    [
        ('{\n"a": 1,\n"a": 2}', "twice", 3),
        ('{"b": [{"a": 1, "a": 2}]}', "twice", 1),
        ('{\n"a": 1,}', "comma", 2),
        ("// c\n{}", "comment", 1),
        ('{"a": 1\n/* c */}', "comment", 2),
        ('{"a": 01}', "comma or } is missing", 1),
        ('{"a": NaN}', "value", 1),
        ('{"a": {\n"b": [-Infinity]}}', "value", 2),
        ('{"a": {\n"b": {"c": 1, "c": 2}}}', "twice", 2),
        ('{"a": {\n"b": {"c": 1, }}}', "comma", 2),
        ("{'a': 1}", "quotes", 1),
        ('{"a" 1}', "colon", 1),
        ('{"a": "\n"}', "value", 1),
        ('{"a": 1} x', "behind its end", 1),
        ("{", "quotes", 1),
        ("[1]", "no JSON object", 1),
        ('"x"', "no JSON object", 1),
        ('{"servers": []}', "not an object", None),
        ('{"servers": null}', "not an object", None),
        ("[" * 5000, "nested", 1),
        ('{"a": ' + "9" * 5000 + "}", "cannot be read", 1),
    ],
)
def test_what_cannot_be_changed_safely_is_refused(text: str, reason: str, line: int | None) -> None:
    with pytest.raises(Unusable, match=reason) as refused:
        with_entry(text, "servers", "memoranda", ENTRY, is_strict=True)
    assert refused.value.line == line


def test_comments_and_commas_are_read_where_the_client_reads_them() -> None:
    text = '// a\n{"a": [1, /* b */ 2,], } // c'
    assert value_of(text, is_strict=False) == {"a": [1, 2]}
    with pytest.raises(Unusable):
        read_tree(text, is_strict=True)
    with pytest.raises(Unusable):
        read_tree("{} /* never closed", is_strict=False)


def test_an_item_is_put_in_once() -> None:
    text = '{"inputs": [{"id": "other"}, {"id": "memoranda-token", "description": "mine"}]}'
    assert with_item(text, "inputs", ITEM, is_strict=True) is None
    assert (
        without_item('{"inputs": [1]}', "inputs", "x", Trace(), is_strict=True) == '{"inputs": [1]}'
    )


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('{"servers": { // c\n"m": 1}}', '{"servers": { // c\n}}'),
        (
            '{"servers": {"a": 1, // c\n"m": 1 /* d */, "b": 2}}',
            '{"servers": {"a": 1, // c\n /* d */ "b": 2}}',
        ),
        ('{"servers": {"a": 1, // c\n"m": 1\n}}', '{"servers": {"a": 1 // c\n}}'),
        ('{"servers": {"m": 1, "b": 2}}', '{"servers": {"b": 2}}'),
        (
            '{"servers": {\n  "m": 1,\n  // of b\n  "b": 2\n}}',
            '{"servers": {\n  // of b\n  "b": 2\n}}',
        ),
    ],
)
def test_comments_of_others_stay_where_an_entry_is_taken_out(text: str, left: str) -> None:
    assert without_entry(text, "servers", "m", Trace(), is_strict=False) == left


def test_a_text_without_members_is_empty() -> None:
    assert all(
        is_empty(text, is_strict=False) for text in ("", "\ufeff", " // c\n", "{ }", "{\n}\n")
    )
    assert not is_empty('{"a": {}}', is_strict=False)


def test_taking_out_what_is_not_there_is_refused() -> None:
    with pytest.raises(Unusable, match="has no memoranda"):
        without_entry('{"servers": {}}', "servers", "memoranda", Trace(), is_strict=True)


def test_places_of_what_is_below_an_entry_are_not_kept() -> None:
    """So that a file of megabytes is read by the parser of the language."""
    root = read_tree('{"a": {"b": {"c": {}}}}', is_strict=True)
    assert root is not None
    [holder] = root.children
    [entry] = holder.node.children
    assert (entry.node.children, entry.node.value()) == ((), {"c": {}})


def test_a_long_text_is_read_in_one_pass() -> None:
    many = {f"key {number}": ["x" * 200] * 20 for number in range(500)}
    text = json.dumps(many)
    assert value_of(text, is_strict=True) == many
    assert len(value_of(json.dumps({"a": "\\" * 1_000_000}), is_strict=True)["a"]) == 1_000_000
