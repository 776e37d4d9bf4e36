from __future__ import annotations

import pytest

from memoranda.errors import InvalidArgument
from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.item_text import item_line
from memoranda.model.address import NotePath
from memoranda.model.edit import FactText, RelationText


@pytest.mark.parametrize(
    ("fact", "line"),
    [
        (FactText("fact", "text"), "[fact] text"),
        (FactText(" a b ", " text ", context=" "), "[a b] text"),
        (FactText("知", "é", ("知", "a/b"), "why"), "[知] é #知 #a/b (why)"),
        (FactText("fact", "text", ("#t", "t")), "[fact] text #t"),
        (
            FactText("fact", "text", ("t",), "why", {"k": "v", "since": "2026-01-01"}, "^b1"),
            "[fact] text #t [k:: v] [since:: 2026-01-01] (why) ^b1",
        ),
        (FactText("fact", "a (b)", context="c (d)"), "[fact] a (b) (c (d))"),
        (FactText("fact", "(b)"), "[fact] (b)"),
        (FactText("fact", "a(b)"), "[fact] a(b)"),
        (FactText("fact", "text", ("t",), attributes={"k": "[[A]]"}), "[fact] text #t [k:: [[A]]]"),
        (FactText("fact", "text", attributes={"k": "a]", "j": "(x)"}), "[fact] text (k:: a]) [j:: (x)]"),
        (FactText("fact", "see `#code` and [[A#h]]"), "[fact] see `#code` and [[A#h]]"),
        (FactText("fact", "[x] text"), "[fact] [x] text"),
        (FactText("fact", "text", attributes={"k\n": " v\n"}), "[fact] text [k:: v]"),
    ],
)  # fmt: skip
def test_observations_as_they_are_written(fact: FactText, line: str) -> None:
    assert item_line(fact).text == line


@pytest.mark.parametrize(
    ("fact", "parameter", "said"),
    [
        (FactText("a]b", "text"), "category", "[a]b]"),
        (FactText("a(b)", "text"), "category", "category"),
        (FactText("x", "text"), "category", "category"),
        (FactText("", "text"), "category", "category"),
        (FactText("12:30", "text"), "category", "category"),
        (FactText("^1", "text"), "category", "category"),
        (FactText("k:: v", "text"), "category", "category"),
        (FactText("a\nb", "text"), "category", "more than one line"),
        (FactText("fact", ""), "content", "empty"),
        (FactText("fact", " "), "content", "empty"),
        (FactText("fact", "a\r\nb"), "content", "more than one line"),
        (FactText("fact", "a\rb"), "content", "more than one line"),
        (FactText("fact", "a \ud800"), "content", "Unicode"),
        (FactText("fact", "a (b)"), "content", "ends in (b)"),
        (FactText("fact", "a （b）"), "content", "ends in (b)"),
        (FactText("fact", "a ^b1"), "content", "'a'"),
        (FactText("fact", "a #b c"), "content", "#b"),
        (FactText("fact", "a #b c", ("b",)), "content", "'a b c'"),
        (FactText("fact", "a", context="see #b"), "context", "#b"),
        (FactText("fact", "a [k:: v]"), "content", "[k:: v]"),
        (FactText("fact", "a", ("12",)), "tags", "'12'"),
        (FactText("fact", "a", ("a b",)), "tags", "'a b'"),
        (FactText("fact", "a", ("ff8800",)), "tags", "'ff8800'"),
        (FactText("fact", "a", ("",)), "tags", "''"),
        (FactText("fact", "a", ("a\nb",)), "tags", "more than one line"),
        (FactText("fact", "a", context="b) c"), "context", "(b) c)"),
        (FactText("fact", "a", context="b\nc"), "context", "more than one line"),
        (FactText("fact", "a", attributes={"a:b": "v"}), "attributes", "[a:b:: v]"),
        (FactText("fact", "a", attributes={"a": "v] (w)"}), "attributes", "[a:: v] (w)]"),
        (FactText("fact", "a", attributes={"a": "v\nw"}), "attributes", "more than one line"),
        (FactText("fact", "a", attributes={"a\nb": "v"}), "attributes", "more than one line"),
        (FactText("fact", "a", block_id="b c"), "block_id", "'b c'"),
        (FactText("fact", "a", block_id="é"), "block_id", "'é'"),
        (FactText("fact", "a", block_id="b\nc"), "block_id", "more than one line"),
    ],
)  # fmt: skip
def test_observations_that_would_be_read_as_something_else(
    fact: FactText, parameter: str, said: str
) -> None:
    with pytest.raises(InvalidArgument) as raised:
        item_line(fact)
    assert raised.value.parameter == parameter
    assert said in raised.value.message
    assert raised.value.hint


def test_content_that_ends_in_brackets_is_told_to_give_them_as_context() -> None:
    with pytest.raises(InvalidArgument) as raised:
        item_line(FactText("config", "Port 80 (default)"))
    assert "'default' as context" in raised.value.hint
    assert item_line(FactText("config", "Port 80", context="default")).text == (
        "[config] Port 80 (default)"
    )


@pytest.mark.parametrize(
    ("relation", "line", "kind"),
    [
        (RelationText("uses", "A"), "uses [[A]]", "uses"),
        (RelationText(" Part  of ", " A "), "Part  of [[A]]", "part_of"),
        (RelationText("part_of", "A", "why (x)"), "part_of [[A]] (why (x))", "part_of"),
        (RelationText("**part of**:", "A"), "**part of**: [[A]]", "part_of"),
        (RelationText("one two three four", "A"), "one two three four [[A]]", "one_two_three_four"),
        (RelationText("a b c d e", "A"), '"a b c d e" [[A]]', "a_b_c_d_e"),
        (RelationText('"is not"', "A"), '"is not" [[A]]', "is_not"),
        (RelationText("why?", "A"), '"why?" [[A]]', "why?"),
        (RelationText("[x] done by", "A"), '"[x] done by" [[A]]', "[x]_done_by"),
        (RelationText("1. step", "A"), '"1. step" [[A]]', "1._step"),
        (RelationText("says “so” and “so” to", "A"), '"says “so” and “so” to" [[A]]', "says_“so”_and_“so”_to"),
        (RelationText("uses", "A", "a) b"), "uses [[A]] - a) b", "uses"),
        (RelationText("uses", "A#h|l"), "uses [[A#h|l]]", "uses"),
        (RelationText("uses", "a [[b]]"), "uses [[a [[b]]]]", "uses"),
        (RelationText("uses", "A.png.md"), "uses [[A.png.md]]", "uses"),
        (RelationText("uses", "Node.js"), "uses [[Node.js]]", "uses"),
        (RelationText("links to", "A"), "links to [[A]]", "links_to"),
        (RelationText("uses", "A", "as [[B]] says"), "uses [[A]] (as [[B]] says)", "uses"),
    ],
)  # fmt: skip
def test_relations_as_they_are_written(relation: RelationText, line: str, kind: str) -> None:
    assert item_line(relation).text == line
    found = parse_note(f"- {line}\n", NotePath("n.md")).links[0]
    assert found.relation_type == kind
    assert found.context == relation.context


@pytest.mark.parametrize(
    ("relation", "parameter", "said"),
    [
        (RelationText("", "A"), "relation_type", "''"),
        (RelationText("?", "A"), "relation_type", "'?'"),
        (RelationText("- part", "A"), "relation_type", "'- part'"),
        (RelationText("x" * 201, "A"), "relation_type", "xxx"),
        (RelationText("is [[B]] of", "A"), "relation_type", "[[B]]"),
        (RelationText("a\nb", "A"), "relation_type", "more than one line"),
        (RelationText("uses", ""), "target", "''"),
        (RelationText("uses", "#h"), "target", "'#h'"),
        (RelationText("uses", "[[A]]"), "target", "brackets around"),
        (RelationText("uses", "A.png"), "target", "'A.png'"),
        (RelationText("uses", "x/A.PDF#page=2|l"), "target", "'x/A.PDF'"),
        (RelationText("uses", "A]], [[B"), "target", "[[A]], [[B]]"),
        (RelationText("uses", "A]] (x"), "target", "[[A]] (x]]"),
        (RelationText("uses", "A\nB"), "target", "more than one line"),
        (RelationText("uses", "A \ud800"), "target", "Unicode"),
        (RelationText("uses", "A", "a\nb"), "context", "more than one line"),
        (RelationText("uses", "A", "a) ^b1"), "context", "(a) ^b1)"),
    ],
)
def test_relations_that_would_be_read_as_something_else(
    relation: RelationText, parameter: str, said: str
) -> None:
    with pytest.raises(InvalidArgument) as raised:
        item_line(relation)
    assert raised.value.parameter == parameter
    assert said in raised.value.message
    assert raised.value.hint
