from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import jsonrpc_message_adapter

from memoranda.mcp.wire import DEEPEST, UNREADABLE, MendedLines, mended


def request(**params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 7, "method": "m", "params": params}).encode() + b"\n"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("\ud83d", "\ufffd"),
        ("a\udc00b", "a\ufffdb"),
        ("\ud83d\ud83d\ude00", "\ufffd\U0001f600"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("\U0001f600", "\U0001f600"),
        ("\\ud83d", "\\ud83d"),
        ("\\\ud83d", "\\\ufffd"),
        ("\\\\ud83d\\", "\\\\ud83d\\"),
    ],
)
def test_half_of_a_pair_is_replaced_and_nothing_else(text: str, read: str) -> None:
    assert json.loads(mended(request(text=text)))["params"] == {"text": read}


@given(st.text(st.characters(exclude_categories=[])))
def test_a_message_of_any_text_can_be_read(text: str) -> None:
    jsonrpc_message_adapter.validate_json(mended(request(**{text: text})))


@given(st.text())
def test_a_message_of_unicode_stays_as_it_is(text: str) -> None:
    line = request(text=text)
    assert mended(line) == line


def test_a_byte_order_mark_before_a_message_goes() -> None:
    assert mended(b"\xef\xbb\xbf" + request(text="\ufeff")) == request(text="\ufeff")


def nested(levels: int) -> Any:
    value: Any = {"id": "inner"}
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("levels", [DEEPEST, 250, 900])
def test_what_is_nested_too_deep_is_a_request_that_is_answered_under_its_id(levels: int) -> None:
    told = json.loads(mended(request(id=[9], deep=nested(levels))))
    assert told == {"jsonrpc": "2.0", "id": 7, "method": UNREADABLE}


def test_an_id_behind_the_rest_is_found() -> None:
    deep = "[" * 20_000 + "]" * 20_000
    line = f'{{"method": "m", "params": {{"id": 1, "x": {deep}}}, "id" : "seven"}}\n'
    assert json.loads(mended(line.encode()))["id"] == "seven"


def test_brackets_in_texts_are_no_levels() -> None:
    line = request(text="[[" * 1000 + '\\"{', deep=nested(DEEPEST - 5))
    assert mended(line) == line


def test_lines_are_read_as_a_text_stream_reads_them() -> None:
    stream = io.BytesIO(
        request(text="\ud83d") + b"\n" + b"\xff no json\n" + request(text="é" * 10_000)
    )
    lines = list(io.TextIOWrapper(MendedLines(stream), "utf-8", errors="replace"))
    assert json.loads(lines[0])["params"] == {"text": "\ufffd"}
    assert lines[1:3] == ["\n", "\ufffd no json\n"]
    assert json.loads(lines[3])["params"] == {"text": "é" * 10_000}
