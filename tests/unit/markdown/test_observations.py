from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.observations import read_fact, tags_of
from memoranda.model.address import NotePath
from memoranda.model.note import Observation


def read(text: str) -> tuple[Observation, ...]:
    return parse_note(text, NotePath("n.md")).observations


def one(text: str) -> Observation:
    (observation,) = read(text)
    return observation


@pytest.mark.spec("13.1")
def test_category_and_content() -> None:
    found = one("- [definition] AI is intelligence exhibited by machines")
    assert (found.category, found.content) == (
        "definition",
        "AI is intelligence exhibited by machines",
    )


@pytest.mark.spec("13.1")
def test_trailing_tags_leave_the_content() -> None:
    found = one("- [technique] Gradient descent #ml #optimization")
    assert (found.content, found.tags) == ("Gradient descent", ("ml", "optimization"))


@pytest.mark.spec("13.1")
def test_context_is_the_last_bracket() -> None:
    found = one("- [fact] Water boils at 100°C (at sea level)")
    assert (found.content, found.context) == ("Water boils at 100°C", "at sea level")


@pytest.mark.spec("13.1")
@pytest.mark.parametrize(
    "item",
    [
        "[x] done",
        "[ ] open",
        "[X] done",
        "[/] half",
        "[>] moved",
        "[!] urgent",
        "[i] info",
        "[ - ] wide box",
        "[click here](https://example.com)",
        "[text](a.md) more",
        "[[wiki-link]]",
        "[[wiki-link]] more",
        "[!info] callout",
        "[due:: 2024-09-01] send it",
        "[owner:: kim] [b:: c] x",
        "[^1] note",
        "[00:12] hello",
        "[01:02:03.500] hello",
        "[24:33.098 - 24:41.260] hello",
        '[author: "Kim"] other tool',
        "[Get-Thing] defined below\n\n[Get-Thing]: https://example.org",
        "[docs][d] read\n\n[d]: ./docs.md",
        "[nospace]text",
        "[empty]",
        "[a(b)] brackets",
        "\\[fact] escaped",
        "`[fact] code`",
        "$[fact] math$ x",
        "%% [fact] comment %%",
        "<!-- [fact] --> x",
        "> [fact] a quote in a list",
        "# [fact] a heading in a list",
        "[fact] ^only-an-id",
    ],
)
def test_what_is_no_observation(item: str) -> None:
    assert read(f"- {item}\n") == ()


@pytest.mark.parametrize(
    "text",
    [
        "[fact] no list item\n",
        "-[fact] glued\n",
        "```\n- [fact] code\n```\n",
        "```\n- [fact] a fence that never ends\n",
        "    - [fact] indented code\n",
        "<div>\n- [fact] html\n</div>\n",
        "<!--\n- [fact] comment\n-->\n",
        "%%\n- [fact] comment\n\n- [fact] more\n%%\n",
        "| a |\n|---|\n| [fact] cell |\n",
    ],
)
def test_places_that_hold_no_observation(text: str) -> None:
    assert read(text) == ()


def test_text_after_a_comment_counts_again() -> None:
    assert one("%%\nhidden\n%%\n\n- [fact] shown\n").content == "shown"


def test_a_percent_pair_without_partner_hides_nothing() -> None:
    assert one("100%% sure\n\n- [fact] shown\n").content == "shown"


@pytest.mark.parametrize(
    "bullet", ["- ", "* ", "+ ", "1. ", "2) ", "-   ", "-\t", "> - ", "- a\n  - ", "1. a\n\n   - "]
)
def test_every_kind_of_list_item_counts(bullet: str) -> None:
    assert one(f"{bullet}[fact] text\n").content == "text"


@pytest.mark.parametrize(
    "category", ["2024 goals", "10:30am standup", "design: layout", "定義", "💡 idea", " spaced "]
)
def test_categories_are_words_of_the_user(category: str) -> None:
    assert one(f"- [{category}] text").category == category.strip()


def test_lists_are_read_at_any_depth() -> None:
    text = "".join(f"{'  ' * i}- [level] depth {i}\n" for i in range(60))
    assert [o.content for o in read(text)] == [f"depth {i}" for i in range(60)]


def test_continuation_lines_are_joined_and_children_are_not() -> None:
    text = "- [fact] first\n  goes on #late (why)\n  - [detail] child\n- [fact] two\n\n  more\n"
    found = read(text)
    assert [o.content for o in found] == ["first goes on", "child", "two"]
    assert (found[0].line, found[0].end_line) == (1, 2)
    assert (found[0].tags, found[0].context) == (("late",), "why")
    assert text.encode()[found[0].start : found[0].end] == b"- [fact] first\n  goes on #late (why)"


def test_lines_are_joined_by_one_blank_inside_brackets_and_around_empty_lines_too() -> None:
    assert one("- [fact] see [[a\n  b]] c").content == "see [[a b]] c"
    assert one("- [fact] a\n  \\\n  b").content == "a b"


def test_only_the_first_paragraph_of_an_item_is_its_text() -> None:
    found = parse_note("- [fact] a\n\n  [other] b\n- c\n\n  uses [[A]]\n", NotePath("n.md"))
    assert [o.category for o in found.observations] == ["fact"]
    assert [link.relation_type for link in found.links] == ["links_to"]


def test_lazy_lines_of_a_quote_lose_the_quote_sign() -> None:
    assert one("> - [fact] one\n>   two\n").content == "one two"


@pytest.mark.parametrize(
    ("item", "content", "tags"),
    [
        ("Uses #python for glue", "Uses python for glue", ("python",)),
        ("a #x b #y #x", "a x b", ("x", "y")),
        ("#only #tags", "only tags", ("only", "tags")),
        ("nested #a/b-c_d", "nested", ("a/b-c_d",)),
        ("知識 #知識 #हिन्दी #عربي", "知識", ("知識", "हिन्दी", "عربي")),
        ("emoji #💡", "emoji", ("💡",)),
        ("numbers #2024 stay", "numbers #2024 stay", ()),
        ("year #2024-goals", "year", ("2024-goals",)),
        ("colours #fff #a1b2c3", "colours #fff #a1b2c3", ()),
        ("words #facade #bad #d39", "words", ("facade", "bad", "d39")),
        ("C# and a#b and x.md#y", "C# and a#b and x.md#y", ()),
        ("url https://e.org/#frag", "url https://e.org/#frag", ()),
        ("`#code` and [[A#head]]", "`#code` and [[A#head]]", ()),
        ("end of #sentence.", "end of sentence.", ("sentence",)),
        ("(#inside) text", "(inside) text", ("inside",)),
    ],
)
def test_tags(item: str, content: str, tags: tuple[str, ...]) -> None:
    found = one(f"- [fact] {item}")
    assert (found.content, found.tags) == (content, tags)


@pytest.mark.parametrize(
    ("item", "content", "context"),
    [
        ("draft (v2 (final))", "draft", "v2 (final)"),
        ("call f(x)", "call f(x)", None),
        ("(all in brackets)", "(all in brackets)", None),
        ("open ) only )", "open ) only )", None),
        ("one (a) (b)", "one (a)", "b"),
        ("words （出典）", "words", "出典"),
        ("see (the [docs](a.md))", "see", "the [docs](a.md)"),
        ("x (a) #t", "x", "a"),
        ("x #t (a)", "x", "a"),
    ],
)
def test_contexts(item: str, content: str, context: str | None) -> None:
    found = one(f"- [fact] {item}")
    assert (found.content, found.context) == (content, context)


def test_fields_tags_context_and_block_id_are_read_in_any_order() -> None:
    found = one(
        "- [runtime] Runs on .NET 8 #infra (since March) [occurred:: 2026-03-01]"
        " [source:: PR 412] [supersedes:: [[Old#^a1]]] ^b2"
    )
    assert found.content == "Runs on .NET 8"
    assert found.tags == ("infra",)
    assert found.context == "since March"
    assert found.block_id == "b2"
    assert found.attributes == {
        "occurred": "2026-03-01",
        "source": "PR 412",
        "supersedes": "[[Old#^a1]]",
    }


def test_a_field_in_a_sentence_leaves_its_value() -> None:
    found = one("- [fact] Ships on [date:: 2026-03-01] to all (by:: kim)")
    assert found.content == "Ships on 2026-03-01 to all"
    assert found.attributes == {"date": "2026-03-01", "by": "kim"}


def test_comments_inside_leave_the_content() -> None:
    assert one("- [fact] a <!-- no --> b %% no %% c").content.split() == ["a", "b", "c"]


def test_heading_path_is_outermost_first() -> None:
    text = "# A\n\n### B\n\n- [x1] one\n\n## C\n\n- [x2] two\n\nD\n===\n- [x3] three\n"
    assert [o.heading_path for o in read(text)] == [("A", "B"), ("A", "C"), ("D",)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_and_bytes_are_those_of_the_file(end: str) -> None:
    text = end.join(["---", "title: Zoë", "---", "é", "", "- [fact] ünï #t", "- [fact] two", ""])
    first, second = read(text)
    assert (first.line, second.line) == (6, 7)
    assert text.encode()[first.start : first.end].decode() == "- [fact] ünï #t"
    assert text.encode()[second.start : second.end].decode() == "- [fact] two"


def test_form_feed_vertical_tab_and_nel_end_no_line() -> None:
    found = read("- [fact] a\x0cb\n- [fact] a\x0bb\n- [fact] a\x85b\n")
    assert [o.line for o in found] == [1, 2, 3]


@given(st.text(max_size=60))
def test_tags_are_found_where_they_stand(text: str) -> None:
    for start, end, name in tags_of(text):
        assert text[start:end] == "#" + name


@given(st.text(alphabet="ab #(){}[]^:1\\", max_size=40))
def test_content_never_starts_or_ends_with_blanks(text: str) -> None:
    for found in read(f"- [fact] {text}"):
        assert found.content
        assert found.content == found.content.strip()


@pytest.mark.parametrize(
    ("text", "content", "tags", "context"),
    [
        ("[escaped] \\#not a tag", "\\#not a tag", (), None),
        ("[fact] #alone (with a context)", "alone", ("alone",), "with a context"),
        ("[fact] [k:: v] (ctx)", "v", (), "ctx"),
        ("[fact] #a #b", "a b", ("a", "b"), None),
        ("[fact] #a (on #b)", "a", ("a", "b"), "on b"),
        ("[fact] x #/a y", "x #/a y", (), None),
    ],
)
def test_tags_and_fields_at_the_edges(
    text: str, content: str, tags: tuple[str, ...], context: str | None
) -> None:
    fact = read_fact(text, text)
    assert fact is not None
    assert (fact.content, fact.tags, fact.context) == (content, tags, context)
