from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memoranda.errors import InvalidArgument
from memoranda.markdown import item_edits
from memoranda.markdown.edits import apply_edit
from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.item_edits import add_item, remove_item, replace_item
from memoranda.model.address import NotePath
from memoranda.model.edit import AddItem, FactText, RelationText, RemoveItem, ReplaceItem

PATH = NotePath("n.md")
FACT = FactText("new", "fact")
RELATION = RelationText("part of", "B")


@pytest.mark.parametrize(
    ("before", "line", "after"),
    [
        ("- [aa] x\n  y z\n  - [bb] z\n", 1, "- [new] fact\n  - [bb] z\n"),
        ("- [aa] x\n  - [bb] z\n", 2, "- [aa] x\n  - [new] fact\n"),
        ("a\r\n\r\n 3.  [aa] x\r\n     y  \r\n\r\n     more\r\n", 3, "a\r\n\r\n 3.  [new] fact  \r\n\r\n     more\r\n"),
        ("-\n  [aa] x\n", 1, "-\n  [new] fact\n"),
        ("> - [aa] x\n> y\n> - [bb] z\n", 1, "> - [new] fact\n> - [bb] z\n"),
        ("- - [aa] x", 1, "- - [new] fact"),
        ("- a\n\t- [aa] x\n\t- b\n", 2, "- a\n\t- [new] fact\n\t- b\n"),
        ("---\nk: é\n---\n- é\n- [aa] é \ud800 [[A]] ^id\n- \ud800", 5, "---\nk: é\n---\n- é\n- [new] fact ^id\n- \ud800"),
        ("- uses [[A]]: as [[C]] says\n", 1, "- [new] fact\n"),
        ("-\n  uses [[A]]\n", 2, "-\n  [new] fact\n"),
        ("-\n  uses [[A]]\n", 1, "-\n  [new] fact\n"),
    ],
)  # fmt: skip
def test_replacing_an_item(before: str, line: int, after: str) -> None:
    assert apply_edit(before, ReplaceItem(line, FACT), PATH) == after


def test_a_relation_keeps_the_block_id_that_it_cannot_carry() -> None:
    assert replace_item("- uses [[A]] (x) ^id1\n", 1, RELATION, PATH) == "- part of [[B]] ^id1\n"
    assert replace_item("- [aa] x ^id1\n", 1, RELATION, PATH) == "- part of [[B]] ^id1\n"
    assert replace_item("- [aa] x^id1\n", 1, RELATION, PATH) == "- part of [[B]]\n"


@pytest.mark.parametrize(
    ("before", "item", "after"),
    [
        ("- [aa] x ^id1\n", FACT, "- [new] fact ^id1\n"),
        ("- [aa] x ^id1 #t (c)\n", FACT, "- [new] fact ^id1\n"),
        ("- [aa] x\n  y ^id1\n  - [bb] z ^id2\n", FACT, "- [new] fact ^id1\n  - [bb] z ^id2\n"),
        ("- uses [[A]] (x) ^id1\n", FACT, "- [new] fact ^id1\n"),
        ("- [aa] x ^id1 #t (c)\n", RELATION, "- part of [[B]] ^id1\n"),
        ("- [aa] x ^id1\n", FactText("new", "fact", block_id="^id2"), "- [new] fact ^id2\n"),
        ("- [aa] x ^id1\n", FactText("new", "fact", block_id=""), "- [new] fact\n"),
        ("- [aa] x^id1\n", FACT, "- [new] fact\n"),
    ],
)
def test_a_block_id_stays_unless_another_or_none_is_given(
    before: str, item: FactText | RelationText, after: str
) -> None:
    assert replace_item(before, 1, item, PATH) == after


@pytest.mark.parametrize(
    ("before", "line", "after"),
    [
        ("- a\n- [aa] x\n  y\n- c\n", 2, "- a\n- c\n"),
        ("- [aa] x\n- c\n", 1, "- c\n"),
        ("- [aa] x\n", 1, ""),
        ("\n\n- [aa] x\n", 3, "\n\n"),
        ("- [aa] x", 1, ""),
        ("a\n\n- [aa] x\n\nb\n", 3, "a\n\nb\n"),
        ("a\n\n\n- [aa] x\n\nb\n", 4, "a\n\n\nb\n"),
        ("a\n\n- [aa] x\n\n\nb\n", 3, "a\n\n\nb\n"),
        ("- a\n\n- [aa] x\n\n- c\n", 3, "- a\n\n- c\n"),
        ("- a\n- [aa] x\n\n- c\n", 2, "- a\n\n- c\n"),
        ("a\r\n\r\n- [aa] x\r\n\r\nb", 3, "a\r\n\r\nb"),
        ("a\r- [aa] x\r- b", 2, "a\r- b"),
        ("a\r\n- [aa] x\r\n\r\nb", 2, "a\r\n\r\nb"),
        ("# A\n\n- [aa] x\n", 3, "# A\n"),
        ("# A\n\n- [aa] x", 3, "# A"),
        ("# A\r\n\r\n- [aa] x", 3, "# A"),
        ("# A\n- [aa] x", 2, "# A"),
        ("a\n\n- [aa] x\n\n\n", 3, "a\n\n\n"),
        ("---\na: 1\n---\n- [aa] x\n", 4, "---\na: 1\n---\n"),
        ("- a\n  - [aa] x\n  - [bb] y\n", 2, "- a\n  - [bb] y\n"),
        ("- [bb] a\n\t- [aa] x\n\t- [bb] y\n", 2, "- [bb] a\n\t- [bb] y\n"),
        ("-\n  - [aa] x\n", 2, "-\n"),
        ("> a\n>\n> - [aa] x\n>\n> b\n", 3, "> a\n>\n> b\n"),
        ("> - [aa] x\n> - b\n", 1, "> - b\n"),
        # a blank line stays where the neighbours would become one
        ("a\n- [aa] x\n---\n", 2, "a\n\n---\n"),
        ("a\n1. [aa] x\n2. y\n", 2, "a\n\n2. y\n"),
        ("> a\n> 1. [aa] x\n> 2. y\n", 2, "> a\n>\n> 2. y\n"),
        ("- uses [[A]]\n- [[B]]\n", 1, "- [[B]]\n"),
    ],
)
def test_removing_an_item(before: str, line: int, after: str) -> None:
    assert apply_edit(before, RemoveItem(line), PATH) == after


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("- [aa] x\n  - y\n", 1, "more below it"),
        ("- [aa] x\n\n  more\n", 1, "more below it"),
        ("- [aa] x\n\n  [r]: more.md\n", 1, "more below it"),
        ("- [aa] x\n  <!-- x -->\n", 1, "more below it"),
        ("- - [aa] x\n", 1, "another item's bullet"),
        ("- uses [[A]], [[B]]\n", 1, "2 relations: uses [[A]]; uses [[B]]"),
    ],
)
def test_what_cannot_be_removed_alone(text: str, line: int, said: str) -> None:
    with pytest.raises(InvalidArgument) as raised:
        remove_item(text, line, PATH)
    assert raised.value.parameter == "line"
    assert said in raised.value.message


@pytest.mark.parametrize("line", [-1, 0, 2, 3, 5, 6, 7, 99])
def test_a_line_without_an_item_names_what_is_near(line: int) -> None:
    text = "- [aa] x\n  y\n- [ ] task\n- uses [[A]]\n- links to [[B]]\n- [[C]]\n"
    for edit in (RemoveItem(line), ReplaceItem(line, FACT)):
        with pytest.raises(InvalidArgument) as raised:
            apply_edit(text, edit, PATH)
        assert raised.value.parameter == "line"
        assert "line 1: [aa] x y" in raised.value.hint
        assert "line 4: uses [[A]]" in raised.value.hint


def test_the_nearest_items_are_named() -> None:
    text = "".join(f"- [aa] x{number}\n\n" for number in range(1, 9))
    with pytest.raises(InvalidArgument) as raised:
        remove_item(text, 12, PATH)
    assert raised.value.hint == "Near are line 11: [aa] x6; line 13: [aa] x7; line 9: [aa] x5."


def test_a_note_without_items_says_so() -> None:
    with pytest.raises(InvalidArgument) as raised:
        remove_item("text\n", 1, PATH)
    assert "no observations" in raised.value.hint


@pytest.mark.parametrize(
    ("definition", "item"),
    [
        ("[new]: elsewhere.md", FACT),
        ("[k:: v]: elsewhere.md", FactText("new", "fact", attributes={"k": "v"})),
        ("[x]: elsewhere.md", RelationText("[x] done by", "A")),
    ],
)
def test_what_this_note_alone_reads_as_something_else_is_refused(
    definition: str, item: FactText | RelationText
) -> None:
    text = f"- [aa] x\n\n{definition}\n"
    for edit in (AddItem(item), ReplaceItem(1, item)):
        with pytest.raises(InvalidArgument, match="nothing was changed"):
            apply_edit(text, edit, PATH)


def test_every_edit_is_checked_and_refused_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(item_edits, "difference", lambda *_: "the moon would change")
    for edit in (AddItem(FACT), ReplaceItem(1, FACT), RemoveItem(1)):
        with pytest.raises(InvalidArgument, match=r"nothing was changed.*the moon would change"):
            apply_edit("- [aa] x\n", edit, PATH)


def test_a_text_that_the_markdown_reader_fails_on_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class PanicException(BaseException):
        pass

    def panic(*_: object, **__: object) -> None:
        raise PanicException

    monkeypatch.setattr("pyromark.events_with_range", panic)
    with pytest.raises(InvalidArgument, match="cannot be read as Markdown"):
        remove_item("- [aa] x\n", 1, PATH)


# --- properties over texts made of pieces ---------------------------------------------------------

PIECES = st.sampled_from(
    [
        "- [fact] one #tag (why)", "  - [sub] two ^b1", "* [other] x [k:: v]", "1. [num] three", "2) [num] é",
        "- uses [[A]]", "- part of [[B]], [[C]] (x)", "- [[Plain]]", "- [ ] task", "- plain", "  continued",
        "    indented", "# Observations", "## Relations", "# H [[L]]", "text [[L]] [t](x.md)", "Under\n---", "---",
        "***", "```", "~~~", "> - [quoted] q", "> text", ">", "<div>", "<!-- c -->", "%% c %%", "%%", "| a | b |\n|---|---|",
        "[r]: y.md", "[r] and [fact]", "[^1]: - [note] n", "- - [deep] d", "-", "-\n  [below] b", "", "", "",
        "$$", "line \\", "- [esc] \\[x\\] \ud800",
    ]
)  # fmt: skip
NOTES = st.builds(
    lambda header, lines, ending, last: header + ending.join(lines) + last,
    st.sampled_from(["", "", '---\nup: "[[A]]"\n---\n', "---\na: [\n---\n"]),
    st.lists(PIECES, max_size=12),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(["", "\n", "\r\n"]),
)
WORDS = st.text(alphabet="ab #()[]:^`*_<>|\\%é知1\n\u2028", max_size=8)
FACTS = st.builds(
    FactText,
    st.sampled_from(["fact", "a b", "知"]) | WORDS,
    st.sampled_from(["one", "two [[L]] `c`"]) | WORDS,
    st.lists(st.sampled_from(["t", "a/b", "知", "12"]), max_size=2).map(tuple),
    st.none() | st.sampled_from(["why", "a (b)", "a) (b"]) | WORDS,
    st.dictionaries(st.sampled_from(["k", "since"]), st.sampled_from(["v", "[[L]]", "2026-01-01"])),
    st.none() | st.sampled_from(["b9", "x-1", "a b"]),
)
RELATIONS = st.builds(
    RelationText,
    st.sampled_from(["uses", "is a very long way to say it"]) | WORDS,
    st.sampled_from(["A", "a/b.md", "A#h|l"]) | WORDS,
    st.none() | st.sampled_from(["why", "a) b"]) | WORDS,
)
ITEMS = FACTS | RELATIONS


def facts(text: str) -> list[tuple[object, ...]]:
    return [
        (one.category, one.content, one.tags, one.context, dict(one.attributes), one.block_id)
        for one in parse_note(text, PATH).observations
    ]


def links(text: str) -> list[tuple[object, ...]]:
    return [
        (one.form, one.target, one.anchor, one.label, one.relation_type, one.context)
        for one in parse_note(text, PATH).links
    ]


def headings(text: str) -> list[tuple[int, str]]:
    return [(one.level, one.text) for one in parse_note(text, PATH).outline]


def without(many: list[tuple[object, ...]], few: list[tuple[object, ...]]) -> bool:
    """Whether the few are among the many, in order."""
    rest = iter(many)
    return all(one in rest for one in few)


@given(NOTES, ITEMS)
@example("a\n- [fact] x\n---\n", FACT)
def test_an_added_item_is_read_and_nothing_else_changes(
    text: str, item: FactText | RelationText
) -> None:
    try:
        after = add_item(text, item, PATH)
    except InvalidArgument:
        return
    length = len(after) - len(text)
    assert any(after[:i] + after[i + length :] == text for i in range(len(text) + 1))
    assert headings(after) == headings(text)
    assert without(links(after), links(text))
    assert without(facts(after), facts(text))
    if isinstance(item, FactText):
        assert len(facts(after)) == len(facts(text)) + 1
        (added,) = [one for one in facts(after) if facts(after).count(one) > facts(text).count(one)]
        assert added[1] == item.content.strip()
        assert added[5] == item.block_id
    else:
        assert facts(after) == facts(text)
        assert len(links(after)) > len(links(text))


@given(NOTES, ITEMS, st.data())
def test_a_replaced_item_is_read_and_nothing_else_changes(
    text: str, item: FactText | RelationText, data: st.DataObject
) -> None:
    lines = [one.line for one in parse_note(text, PATH).observations]
    if not lines:
        return
    number = data.draw(st.integers(0, len(lines) - 1))
    try:
        after = replace_item(text, lines[number], item, PATH)
    except InvalidArgument:
        return
    old = facts(text)
    rest = old[:number] + old[number + 1 :]
    assert headings(after) == headings(text)
    if isinstance(item, FactText):
        assert facts(after)[:number] + facts(after)[number + 1 :] == rest
        assert facts(after)[number][1] == item.content.strip()
    else:
        assert facts(after) == rest
    kept = parse_note(text, PATH).observations[number]
    source = text.encode("utf-8", "surrogatepass")
    assert after.encode("utf-8", "surrogatepass").startswith(source[: kept.start])
    assert after.encode("utf-8", "surrogatepass").endswith(source[kept.end :])


@given(NOTES, st.data())
def test_a_removed_item_is_gone_and_nothing_else(text: str, data: st.DataObject) -> None:
    lines = [one.line for one in parse_note(text, PATH).observations]
    if not lines:
        return
    number = data.draw(st.integers(0, len(lines) - 1))
    try:
        after = remove_item(text, lines[number], PATH)
    except InvalidArgument:
        return
    old = facts(text)
    assert facts(after) == old[:number] + old[number + 1 :]
    assert headings(after) == headings(text)
    assert without(links(text), links(after))
    assert after.endswith(("\n", "\r")) == text.endswith(("\n", "\r")) or not after.strip()


@given(NOTES, FACTS)
def test_what_was_added_can_be_removed_again(text: str, item: FactText) -> None:
    try:
        after = add_item(text, item, PATH)
    except InvalidArgument:
        return
    before = {(one.category, one.content) for one in parse_note(text, PATH).observations}
    added = [
        one
        for one in parse_note(after, PATH).observations
        if (one.category, one.content) not in before
    ]
    if added:
        again = remove_item(after, added[0].line, PATH)
        assert facts(again) == facts(text)
        assert again.split() == text.split()
