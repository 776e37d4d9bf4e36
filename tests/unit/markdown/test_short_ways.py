"""Where the parser has a short way for what is common, it gives what the long way gives."""

from __future__ import annotations

import re
from bisect import bisect_right

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memoranda.markdown import blocks, observations, passages
from memoranda.markdown.body import Body
from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.observations import Fact, read_fact
from memoranda.model.address import NotePath
from memoranda.model.note import ParsedNote

WORDS = st.sampled_from(
    ["word", " ", "  ", "#tag", " #tag", " #知識", " #a/b-c", " #fff", " #12", "#", "(c)", " (ctx)", "(", ")",
     "（注）", "^", " ^id", "::", " [k:: v]", "(k:: v)", "[", "]", "\\", "\x00", "\t", "\x85", "."]
)  # fmt: skip
PIECES = st.sampled_from(
    ["# H\n", "word\n", "[[A]] ", "[t](a.md) ", "- [fact] o\n", "- plain\n", "  - [fact] n\n", "- uses [[A]]\n", "\n",
     "> q\n", "> - [fact] q\n", "```\n", "| a | b |\n|-|-|\n", "| [[x]] | y |\n", "%% ", "%%\n", "<div>\n", "===\n", "\t",
     "[^1]: ", "1. x\n", "\\\n", "`[`", "***\n", "  "]
)  # fmt: skip


def read(text: str) -> ParsedNote:
    return parse_note(text, NotePath("n.md"))


@given(st.lists(WORDS, max_size=10).map("".join), st.data())
def test_plain_items(content: str, data: st.DataObject) -> None:
    text = f"[fact] {content}"
    start = data.draw(st.integers(7, max(7, len(text))))
    end = min(len(text), start + data.draw(st.integers(0, 4)))
    visible = text[:start] + "\x00" * (end - start) + text[end:]
    found = read_fact(text, visible)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(observations, "_PLAIN", re.compile("(?!)"))
        assert read_fact(text, visible) == found


def test_a_plain_item_is_read_the_short_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observations, "_read_content", None)
    text = "[fact] water boils at 100 degrees #physics #a/b (at sea level)"
    assert read_fact(text, text) == Fact(
        "fact", "water boils at 100 degrees", ("physics", "a/b"), "at sea level", None, {}
    )


@given(st.lists(PIECES, max_size=14).map("".join))
def test_blocks_that_are_passed_over(text: str) -> None:
    found = read(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "_next_sign", lambda shadow, at, has_comments: at)
        patch.setattr(blocks, "_VERBATIM", frozenset())
        if not re.search("```|<div>|\t|    ", text):  # code and HTML are always passed over
            assert read(text) == found


@given(st.lists(PIECES, max_size=20).map("".join), st.integers(10, 80))
@example("***\nlong words", 13)
def test_blocks_that_are_put_into_passages_together(text: str, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passages, "MAX_CHARS", size)
        found = read(text)
        patch.setattr(passages._Groups, "have_room", lambda *_: False)
        assert read(text) == found


@given(st.text("a\né\r", max_size=30), st.lists(st.integers(0, 30), max_size=12))
def test_rows_asked_for_in_any_order(text: str, offsets: list[int]) -> None:
    body = Body(text, 0, 1)
    for offset in offsets:
        if offset <= len(body.data):
            assert body.row(offset) == bisect_right(body.line_starts, offset) - 1
