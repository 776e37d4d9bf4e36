from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.relations import relation_type, wiki_spans
from memoranda.model.address import NotePath
from memoranda.model.note import Link, LinkForm

PATH = NotePath("n.md")


def links(text: str) -> tuple[Link, ...]:
    return parse_note(text, NotePath("n.md")).links


def pairs(text: str) -> list[tuple[str, str]]:
    return [(link.relation_type, link.target) for link in links(text)]


@pytest.mark.spec("13.1")
def test_explicit_relation() -> None:
    parsed = parse_note("- implements [[Machine Learning]]", NotePath("n.md"))
    (relation,) = parsed.relations
    assert (relation.relation_type, relation.to_name) == ("implements", "machine-learning")


@pytest.mark.spec("13.1")
def test_prose_link_is_links_to() -> None:
    parsed = parse_note("This relates to [[Statistics]] in many ways", NotePath("n.md"))
    (relation,) = parsed.relations
    assert (relation.relation_type, relation.to_name) == ("links_to", "statistics")


@pytest.mark.spec("13.1")
def test_nested_brackets_are_one_target() -> None:
    parsed = parse_note("- uses [[React [[Hooks]]]]", NotePath("n.md"))
    assert [r.to_name for r in parsed.relations] == ["react-[[hooks]]"]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("depends on [[A]]", [("depends_on", "A")]),
        ("**part of**: [[A]] (layer)", [("part_of", "A")]),
        ("_requires_ [[A]]", [("requires", "A")]),
        ("implements:: [[A]]", [("implements", "A")]),
        ("leads to -> [[A]]", [("leads_to", "A")]),
        ("führt zu → [[A]]", [("führt_zu", "A")]),
        ("blocked-by [[A]]", [("blocked-by", "A")]),
        ("**requires [[A]]**", [("requires", "A")]),
        ('"is a very long way of saying" [[A]]', [("is_a_very_long_way_of_saying", "A")]),
        ("«voir aussi» [[A]]", [("voir_aussi", "A")]),
        ("uses [[A]], [[B]],[[C]]", [("uses", "A"), ("uses", "B"), ("uses", "C")]),
        ("uses [[A]]: since [[B]] asks for it", [("uses", "A"), ("links_to", "B")]),
        ("uses [[A]] - because", [("uses", "A")]),
        ("uses [[A]] ^id1", [("uses", "A")]),
        ("five words are too many [[A]]", [("links_to", "A")]),
        ("see [[A]] and [[B]]", [("links_to", "A"), ("links_to", "B")]),
        ("Added [[A]] to the list", [("links_to", "A")]),
        ("[[A]]", [("links_to", "A")]),
        ("[[A]] (context)", [("links_to", "A")]),
        ("[ ] buy [[A]]", [("links_to", "A")]),
        ("[/] buy [[A]]", [("links_to", "A")]),
        ("[fact] built on [[A]]", [("links_to", "A")]),
        ("why? [[A]]", [("links_to", "A")]),
        ("approx. [[A]]", [("links_to", "A")]),
        ("--> [[A]]", [("links_to", "A")]),
        ("shows ![[A]]", [("links_to", "A")]),
        ("> is [[A]]", [("links_to", "A")]),
    ],
)
def test_types_of_list_items(item: str, expected: list[tuple[str, str]]) -> None:
    assert pairs(f"- {item}\n") == expected


@pytest.mark.parametrize(
    ("after", "context"),
    [
        (" (for model fitting)", "for model fitting"),
        (" (draft (v2))", "draft (v2)"),
        ("", None),
        (" ()", None),
        (": it is needed", "it is needed"),
        (" - it is needed", "it is needed"),
        (" — it is needed", "it is needed"),
        (" (why) ^id", "why"),
        ("\n  (on the next line)", "on the next line"),
    ],
)
def test_context_of_a_relation(after: str, context: str | None) -> None:
    (link,) = links(f"- requires [[A]]{after}\n")
    assert (link.relation_type, link.context) == ("requires", context)


@pytest.mark.parametrize(
    ("written", "target", "anchor", "label"),
    [
        ("[[A]]", "A", "", ""),
        ("[[A|shown]]", "A", "", "shown"),
        ("[[A#Part]]", "A", "Part", ""),
        ("[[A#Part|shown]]", "A", "Part", "shown"),
        ("[[A#^b1]]", "A", "^b1", ""),
        ("[[ A ]]", "A", "", ""),
        ("[[A|a|b]]", "A", "", "a|b"),
        ("[[sub/A.md]]", "sub/A.md", "", ""),
        ("[[Array[int] type]]", "Array[int] type", "", ""),
        ("[[Zoë 知]]", "Zoë 知", "", ""),
    ],
)
def test_wiki_forms(written: str, target: str, anchor: str, label: str) -> None:
    text = f"é before {written} after"
    (link,) = links(text)
    assert (link.form, link.target, link.anchor, link.label) == (
        LinkForm.WIKI,
        target,
        anchor,
        label,
    )
    assert text.encode()[link.start : link.end].decode() == written


def test_embed_has_its_sign_in_its_range() -> None:
    text = "see ![[A#x]]"
    (link,) = links(text)
    assert link.form is LinkForm.EMBED
    assert text[link.start : link.end] == "![[A#x]]"


def test_escaped_bar_in_a_table() -> None:
    (link,) = links("| a | b |\n|---|---|\n| [[A\\|shown]] | x |\n")
    assert (link.target, link.label) == ("A", "shown")


@pytest.mark.parametrize(
    "text",
    [
        "[[]]",
        "[[|x]]",
        "[[#Heading]]",
        "[[ ]]",
        "[[.md]]",
        "[[open only",
        "closed only]]",
        "[[two\nlines]]",
        "[[two\\\nlines]]",
        "\\[[escaped]]",
        "`[[code]]`",
        "``[[`code`]]``",
        "```\n[[fence]]\n```",
        "    [[indented]]",
        "<!-- [[comment]] -->",
        "<!--\n[[comment]]\n-->",
        "%% [[comment]] %%",
        "%%\n\n[[comment]]\n\n%%",
        "$[[math]]$",
        "$$\n[[math]]\n$$",
        "<div>\n[[html]]\n</div>",
        "[web](https://example.org/x.md)",
        "[web](//example.org/x.md)",
        "[mail](mailto:a@example.org)",
        "[top](#top)",
        "[dir](folder/)",
        "[script](tool.py)",
        "<https://example.org/a.md>",
        "`[code](a.md)`",
        "%% [comment](a.md) %%",
    ],
)
def test_what_is_no_link(text: str) -> None:
    assert links(text) == ()


@pytest.mark.parametrize(
    ("written", "target", "anchor", "label"),
    [
        ("[t](a.md)", "a.md", "", "t"),
        ("[t](./sub/c%20d.md#head)", "./sub/c d.md", "head", "t"),
        ("[t](../up.md 'Title')", "../up.md", "", "t"),
        ("[t](/from/root.MD)", "/from/root.MD", "", "t"),
        ("[*t* `c`](<a b.md>)", "a b.md", "", "t c"),
        ("[t](a.md?x=1#y%20z)", "a.md", "y z", "t"),
        ("[t](caf%C3%A9.md)", "café.md", "", "t"),
    ],
)
def test_markdown_links_to_notes(written: str, target: str, anchor: str, label: str) -> None:
    text = f"é {written}."
    (link,) = links(text)
    assert (link.form, link.relation_type) == (LinkForm.MARKDOWN, "links_to")
    assert (link.target, link.anchor, link.label) == (target, anchor, label)
    assert text.encode()[link.start : link.end].decode() == written
    assert not link.is_attachment


def test_reference_link_points_at_its_definition() -> None:
    assert pairs("See [the docs][d].\n\n[d]: sub/e.md\n") == [("links_to", "sub/e.md")]


def test_reference_definitions_do_not_swallow_wiki_links() -> None:
    text = (
        "See [[alpha]] and [[beta|B]].\n\n- requires [[alpha]]\n\n[alpha]: alpha.md\n[beta]: b.md\n"
    )
    assert pairs(text) == [("links_to", "alpha"), ("links_to", "beta"), ("requires", "alpha")]


@pytest.mark.parametrize(
    "text", ["![[pic.png]]", "[[board.canvas]]", "![i](i.png)", "[f](a/b.PDF)"]
)
def test_attachments_are_links_but_no_relations(text: str) -> None:
    parsed = parse_note(text, NotePath("n.md"))
    assert [link.is_attachment for link in parsed.links] == [True]
    assert parsed.relations == ()


@pytest.mark.parametrize("name", ["Node.js", "v1.2", "ASP.NET", "a.b.c"])
def test_names_with_dots_are_notes(name: str) -> None:
    assert [link.is_attachment for link in links(f"[[{name}]]")] == [False]


def test_links_are_in_order_with_their_lines() -> None:
    found = links("---\nup: '[[Z]]'\n---\n# [[A]]\n\n[b](b.md) [[C]]\r\n> [[D]]\n")
    assert [(link.target, link.line) for link in found] == [
        ("Z", 2),
        ("A", 4),
        ("b.md", 6),
        ("C", 6),
        ("D", 7),
    ]


def test_one_relation_for_two_spellings_of_a_target() -> None:
    parsed = parse_note(
        "- is [[Spec One]] (a)\n- is [[spec one]]\n- Is [[SPEC ONE.md]]\n", NotePath("n.md")
    )
    assert [(r.target, r.context) for r in parsed.relations] == [("Spec One", "a")]
    assert len(parsed.links) == 3


def test_a_markdown_link_inside_a_wiki_link_is_part_of_its_name() -> None:
    assert pairs("[[a [b](c.md)]] [d](e.md)") == [("links_to", "a [b](c.md)"), ("links_to", "e.md")]


def test_percent_signs_in_code_begin_no_comment() -> None:
    assert pairs("use `%%` around [[A]] and `%%` again") == [("links_to", "A")]


def test_of_three_brackets_the_inner_pair_is_the_link() -> None:
    assert pairs("x [[[triple]]]") == [("links_to", "triple")]


def test_a_stray_bracket_does_not_hide_a_later_link() -> None:
    assert pairs("- uses ]] closed [ [[Last]]") == [("links_to", "Last")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Depends On", "depends_on"), ("…", None), ("", None), ("x" * 201, None), ("'s", "'s")],
)
def test_relation_type_of_words(text: str, expected: str | None) -> None:
    assert relation_type(text) == expected


@given(st.text(alphabet="[]ab|!\\\n`", max_size=40))
def test_wiki_spans_are_apart_in_order_and_balanced(text: str) -> None:
    at = 0
    for span in wiki_spans(text, 0, len(text)):
        assert span.start >= at
        at = span.end
        inner = text[span.inner_start : span.inner_end]
        assert text[span.inner_start - 2 : span.inner_start] == "[["
        assert text[span.inner_end : span.end] == "]]"
        assert "\n" not in inner


@given(st.lists(st.sampled_from(["[[a]]", " ", "b", "![[c d]]", ",", "|"]), max_size=12))
def test_the_short_way_finds_what_bracket_counting_finds(parts: list[str]) -> None:
    text = "".join(parts)
    # An escaped sign elsewhere forces the long way.
    assert wiki_spans(text, 0, len(text)) == wiki_spans(text + "\\*", 0, len(text) + 2)


def relations_of(text: str) -> list[tuple[str, str, str | None]]:
    return [
        (link.relation_type, link.target, link.context) for link in parse_note(text, PATH).links
    ]


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("- requires [[Mask]] <!-- for the dust -->\n", ("requires", "Mask", None)),
        ("- requires [[Boots]] %% size 43 %%\n", ("requires", "Boots", None)),
        ("- requires [[A]] %% x %% (why)\n", ("requires", "A", "why")),
        ("- It was late. See [[Clock]]\n", ("links_to", "Clock", None)),
        ('- "old" and "new" [[Wheel]]\n', ("links_to", "Wheel", None)),
        ('- "is not the same as" [[Wheel]]\n', ("is_not_the_same_as", "Wheel", None)),
        ("- 使う [[粉]]（挽いた）\n", ("使う", "粉", "挽いた")),
        ("- 属于：[[面包]]\n", ("属于", "面包", None)),
        ("- depends\\_on [[Rain]]\n", ("depends_on", "Rain", None)),
    ],
)
def test_what_makes_a_relation_and_what_does_not(
    text: str, relation: tuple[str, str, str | None]
) -> None:
    assert relations_of(text) == [relation]


def test_targets_may_be_separated_by_the_commas_of_other_scripts() -> None:
    found = relations_of("- 関連 [[一]]、[[二]]，[[三]]\n")
    assert found == [("関連", name, None) for name in "一二三"]


def test_an_escaped_exclamation_mark_makes_no_embed() -> None:
    (link,) = parse_note("\\![[Note]]\n", PATH).links
    assert (link.form, link.start) == (LinkForm.WIKI, 2)


def test_the_range_of_a_collapsed_reference_is_the_whole_link() -> None:
    (link,) = parse_note("see [tide][] x\n\n[tide]: a.md\n", PATH).links
    assert (link.start, link.end) == (4, 12)


@pytest.mark.parametrize(
    "text",
    ["- shows [[chart.png]]\n", "- links to [[Pond]] (in summer)\n", "- part of [[#Heading]]\n"],
)
def test_an_item_that_is_no_relation_of_its_own_stays_in_the_passages(text: str) -> None:
    assert [one.text for one in parse_note(text, PATH).passages] == [text.strip()]
