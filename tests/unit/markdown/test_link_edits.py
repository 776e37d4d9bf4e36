from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.errors import InvalidArgument
from memoranda.markdown.edits import apply_edit
from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.link_edits import retarget_link, retarget_links
from memoranda.model.address import NotePath
from memoranda.model.edit import RetargetLink
from memoranda.model.note import Link, LinkForm

PATH = NotePath("n.md")


def links(text: str) -> tuple[Link, ...]:
    return parse_note(text, PATH).links


def retargeted(text: str, target: str, number: int = 0) -> str:
    return apply_edit(text, RetargetLink(links(text)[number], target), PATH)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[[A]]", "[[New é]]"),
        ("é [[A|label]] é", "é [[New é|label]] é"),
        ("[[A#H]]", "[[New é#H]]"),
        ("[[A#^b|l]]", "[[New é#^b|l]]"),
        ("![[A]]", "![[New é]]"),
        ("[[ A  # h | x ]]", "[[ New é  # h | x ]]"),
        ("[[A|a|b]]", "[[New é|a|b]]"),
        ("[[A.md]]", "[[New é]]"),
        ("| [[A\\|x]] | b |\n|--|--|\n", "| [[New é\\|x]] | b |\n|--|--|\n"),
        ("[[a [[b]]]] c", "[[New é]] c"),
        ("- uses [[A]], [[B]]: as [[A]]\n", "- uses [[New é]], [[B]]: as [[A]]\n"),
        ("- [fact] x [[A]] #t (see [[A]])\n", "- [fact] x [[New é]] #t (see [[A]])\n"),
        ("# H [[A]]\n\n- [fact] z\n", "# H [[New é]]\n\n- [fact] z\n"),
        ("- on [[A]] and\n  - [sub] x\n", "- on [[New é]] and\n  - [sub] x\n"),
        ("a\r\n\ud800 [[A]]\r\rb", "a\r\n\ud800 [[New é]]\r\rb"),
        ("![see [[A]]](b.png)", "![see [[New é]]](b.png)"),
        ("[page]: page.md\n\n[[page]]\n", "[page]: page.md\n\n[[New é]]\n"),
    ],
)
def test_wiki_links(before: str, after: str) -> None:
    assert retargeted(before, "New é") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('up: "[[A]]"', 'up: "[[New é]]"'),
        ("up: '[[A#h|l]]'", "up: '[[New é#h|l]]'"),
        ("up: [[A]]", "up: [[New é]]"),
        ("up: [[A]] # [[A]]", "up: [[New é]] # [[A]]"),
        ("up: [[A, b]] # [[A, b]]", "up: [[New é]] # [[A, b]]"),
        ('up: ["[[A]]", "[[B]]"]', 'up: ["[[New é]]", "[[B]]"]'),
        ('é: é\nup:\n  - x\n  - "[[A]]"', 'é: é\nup:\n  - x\n  - "[[New é]]"'),
        ("up: >\n  a\n  [[A]] b", "up: >\n  a\n  [[New é]] b"),
        ('up: "\\"x\\" [[A]]"', 'up: "\\"x\\" [[New é]]"'),
        ('up: {x: "[[A]]"}', 'up: {x: "[[New é]]"}'),
        ('aliases: "[[A]]"', 'aliases: "[[New é]]"'),
        ('type: "[[A]]"', 'type: "[[New é]]"'),
        ('Up To: "![[A]]"', 'Up To: "![[New é]]"'),
        ('bad: [\nup: "[[A]]"', 'bad: [\nup: "[[New é]]"'),
    ],
)
def test_links_in_the_header(before: str, after: str) -> None:
    assert retargeted(f"---\n{before}\n---\n[[A]]\n", "New é") == f"---\n{after}\n---\n[[A]]\n"


@pytest.mark.parametrize(
    ("header", "target", "said"),
    [
        ('up: "[[\\u0041]]"', "B", "escapes"),
        ('up: "[[A\n  b]]"', "B", "escapes"),
        ('up: &x "[[A]]"\nat: *x', "B", "header"),
        ("up: '[[A]]'", "it's", "header"),
        ('up: "[[A]]"', 'say "B"', "header"),
        ('up: "[[A]]"', "a\\b", ""),
        ("up: [[A]]", "a]b", ""),
    ],
)
def test_header_values_that_cannot_hold_it_are_refused(header: str, target: str, said: str) -> None:
    with pytest.raises(InvalidArgument) as raised:
        retargeted(f"---\n{header}\n---\n", target)
    assert raised.value.parameter in {"link", "target"}
    assert said in raised.value.message
    assert raised.value.hint


@pytest.mark.parametrize(
    ("before", "target", "after"),
    [
        ("[t](a.md)", "b.md", "[t](b.md)"),
        ("[t](a.md)", "../é/my b.md", "[t](../é/my%20b.md)"),
        ("[t](a.md)", "b (1).md", "[t](b%20%281%29.md)"),
        ("[t](a.md)", "100%25 #1?<>`|\"$\\.md", "[t](100%2525%20%231%3F%3C%3E%60%7C%22%24%5C.md)"),
        ("[t](a.md)", "[[b]]\x7f\x01.md", "[t](%5B%5Bb%5D%5D%7F%01.md)"),
        ("[t](a.md)", "a:b.md", "[t](a%3Ab.md)"),
        ("[t](a.md)", "a:b:c.md", "[t](a%3Ab:c.md)"),
        ("[t](a.md)", "x/a:b.md", "[t](x/a:b.md)"),
        ("[t](a.md)", "&amp;&.md", "[t](%26amp;&.md)"),
        ("[t](a.md)", "file.pdf", "[t](file.pdf)"),
        ("[t](/root.md)", "/é.md", "[t](/é.md)"),
        ('[t](a%20b.md#h%20i "ti(tle")', "c d.md", '[t](c%20d.md#h%20i "ti(tle")'),
        ("[t](a.md?x=1#h)", "b.md", "[t](b.md?x=1#h)"),
        ("[t]( a.md )", "b.md", "[t]( b.md )"),
        ("[t](\n a.md\n)", "b.md", "[t](\n b.md\n)"),
        ("> [t\n> u](\n> a.md)", "b.md", "> [t\n> u](\n> b.md)"),
        ("[](a.md)", "b.md", "[](b.md)"),
        ("![](a.png)", "b.png", "![](b.png)"),
        ("![a *b*](a.png)", "b.png", "![a *b*](b.png)"),
        ("[a `](x.md)` \\]](a.md)", "b.md", "[a `](x.md)` \\]](b.md)"),
        ("[t](a\\_b.md)", "c_d.md", "[t](c_d.md)"),
        ("[t](a&amp;b.md)", "c.md", "[t](c.md)"),
        ("[![a](b.png)](c.md)", "d.md", "[![a](b.png)](d.md)"),
        ("| [t](a.md) |\n|--|\n", "b|c.md", "| [t](b%7Cc.md) |\n|--|\n"),
        # as the old one was written
        ("[t](<my a.md>)", "my (b.md", "[t](<my (b.md>)"),
        ("[t](<a.md#h>)", "b c.md", "[t](<b c.md#h>)"),
        ("[t](<my%20a.md>)", "my b.md", "[t](<my%20b.md>)"),
        ("[t](a(1).md)", "b(2).md", "[t](b(2).md)"),
        ("[t](a(1).md)", "b)2(.md", "[t](b%292%28.md)"),
        ("[t](%E4%BD%A0.md)", "é.md", "[t](%C3%A9.md)"),
        ("[t](%e4%bd%a0.md)", "é?.md", "[t](%c3%a9%3f.md)"),
        ("[t](a%2Cb.md)", "c,d.md", "[t](c%2Cd.md)"),
        ("[t](a[1].md)", "b[2].md", "[t](b[2].md)"),
    ],
)  # fmt: skip
def test_markdown_links(before: str, target: str, after: str) -> None:
    new = retargeted(before, target)
    assert new == after
    assert links(new)[0].target == target


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('[t][r]\n\n[r]: a.md "T"\n', '[t][r]\n\n[r]: b.md "T"\n'),
        ("[r][] é\n\n[R]: <a.md#h>\n", "[r][] é\n\n[R]: <b.md#h>\n"),
        ("[r  s]\n\n> [R\n> s]:\n>   a.md\n", "[r  s]\n\n> [R\n> s]:\n>   b.md\n"),
        ("![r]\n\n- x\n\n  [r]: a.md\n", "![r]\n\n- x\n\n  [r]: b.md\n"),
        ("`[r]: c.md` [r]\n\n    [r]: c.md\n\n[r]: a.md\n[r]: c.md\n", "`[r]: c.md` [r]\n\n    [r]: c.md\n\n[r]: b.md\n[r]: c.md\n"),
        ("[r] [x][r] [s]\n\n[r]: a.md\n[s]: a.md\n", "[r] [x][r] [s]\n\n[r]: b.md\n[s]: a.md\n"),
    ],
)  # fmt: skip
def test_reference_links_are_changed_in_their_definition(before: str, after: str) -> None:
    assert retargeted(before, "b.md") == after


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("[[A|l]]", "a]]b"),
        ("[[A|l]]", "a|b"),
        ("[[A|l]]", "a#b"),
        ("[[A|l]]", "a\\"),
        ("[[A|l]]", "a\nb"),
        ("[[A|l]]", ""),
        ("[[A|l]]", " b"),
        ("[[A|l]]", "[b"),
        ("[[A|l]]", "\ud800"),
        ("[t](a.md)", "b"),
        ("[t](a.md)", "b.md "),
        ("[t](a.md)", "//b.md"),
        ("[t](a.md)", "\ud800.md"),
        ("[t](a.md)", ""),
        ("| [[A]] |\n|--|\n", "a|b"),
        ("[[A]] `x`", "b ` c"),
    ],
)
def test_targets_that_the_form_cannot_hold(text: str, target: str) -> None:
    with pytest.raises(InvalidArgument, match="nothing was changed") as raised:
        retargeted(text, target)
    assert raised.value.parameter == "target"
    assert raised.value.hint


def test_what_other_values_say_with_the_link_may_change() -> None:
    assert retargeted("- uses [[B]]: as [[A]]\n", "C", 1) == "- uses [[B]]: as [[C]]\n"
    assert retargeted("- uses [[B]] (as [[A]])\n", "C", 1) == "- uses [[B]] (as [[C]])\n"
    assert retargeted("[Features]([[A]])", "C") == "[Features]([[C]])"
    assert retargeted("[Features]([[A]])", "C d") == "[Features]([[C d]])"
    assert retargeted("[Features]([[A b]])", "C") == "[Features]([[C]])"


def test_a_link_of_another_text_is_refused() -> None:
    (link,) = links("x [[A]]")
    for text in ("xy [[A]]", "x [[B]]", "x [[A|b]]", "x", "`[[A]]`"):
        with pytest.raises(InvalidArgument) as raised:
            retarget_link(text, link, "B", PATH)
        assert raised.value.parameter == "link"
        assert "no such link to 'A' in line 1" in raised.value.message


@pytest.mark.parametrize("text", ["[t](x.md&#35;h)", "[t](a\0.md)", "![x][r][] [r][]"])
def test_a_destination_that_is_not_found_in_so_many_words_is_refused(text: str) -> None:
    for link in links(text):
        with pytest.raises(InvalidArgument) as raised:
            retarget_link(text, link, "b.md", PATH)
        assert raised.value.parameter == "link"
        assert raised.value.hint


def test_the_same_target_changes_nothing() -> None:
    text = "[t](a\\_b.md)"
    assert retargeted(text, "a_b.md") == text
    assert retarget_links(text, [], PATH) == text


def test_many_at_once() -> None:
    text = '---\nup: "[[A]]"\n---\n[[A]] [t](a.md) [r] [s][r] [[B]]\n\n[r]: a.md\n'
    pairs = [(link, {"A": "C", "a.md": "c d.md"}.get(link.target, "B")) for link in links(text)]
    assert retarget_links(text, reversed(pairs), PATH) == (
        '---\nup: "[[C]]"\n---\n[[C]] [t](c%20d.md) [r] [s][r] [[B]]\n\n[r]: c%20d.md\n'
    )
    assert retarget_links(text, pairs * 2, PATH) == retarget_links(text, pairs, PATH)


def test_links_that_share_a_place_have_one_target() -> None:
    text = "[r] [s][r] [[A]]\n\n[r]: a.md\n"
    one, two, three = links(text)
    for pairs in ([(one, "b.md"), (two, "c.md")], [(three, "B"), (three, "C")]):
        with pytest.raises(InvalidArgument, match="would point at"):
            retarget_links(text, pairs, PATH)


def test_all_or_none() -> None:
    text = "[[A]] [[B]]"
    one, two = links(text)
    with pytest.raises(InvalidArgument):
        retarget_links(text, [(one, "C"), (two, "x]]y")], PATH)


# --- properties over texts made of pieces ---------------------------------------------------------

PIECES = st.sampled_from(
    [
        "[[A]]", "[[A|l]] [[B#h]]", "![[A#^b|x]]", "- uses [[A]], [[B]] (see [[C]])", "- [fact] on [[A]] [t](a.md) #t",
        "  - [sub] [[B]]", "[t](a.md)", "[t](a%20b.md#h \"t\")", "[t](<a b.md>) [[A]]", "![i](../i.png)", "[r] [t][r] [r][]",
        "[r]: a.md", "[r]: <b c.md> 'x'", "> [[A]] [r]", "# On [[A]]", "| [[A\\|x]] | [t](a.md) |\n|---|---|", "`[[A]]`", "```",
        "%% [[A]] %%", "%%", "[[a [[b]]]]", "[![[A]]](a.md)", "![x [[A]]](i.png)", "\\[[A]]", "[[A]", "é \ud800 知", "", "- x", "$a$",
        "[t](https://x.org/a.md)", "[t](a&amp;b\\_c.md)", "<b>[[A]]</b>", "text", "[[A]](a.md)", "[x][[A]]",
    ]
)  # fmt: skip
HEADERS = st.sampled_from(
    ["", "", '---\nup: "[[A]]"\n---\n', "---\né: [[A]]\nto: ['[[A]]', [[B]]]\n---\n", '---\nup: "[[\\u0041]]"\nx: [\n---\n']
)  # fmt: skip
NOTES = st.builds(
    lambda header, lines, ending: header + ending.join(lines),
    HEADERS,
    st.lists(PIECES, min_size=1, max_size=10),
    st.sampled_from(["\n", "\r\n", "\r", "\n\n", " "]),
)
NAMES = st.sampled_from(["New", "sub/é b", "知 (1)", "x & y"]) | st.text(
    alphabet="ab é#|[]()%&:\\\"'<>`*_?$~\n", max_size=6
)


def written(text: str, link: Link) -> str:
    data = text.encode("utf-8", "surrogatepass")[link.start : link.end]
    return data.decode("utf-8", "surrogatepass")


def uses_a_definition(text: str, link: Link) -> bool:
    return link.form is LinkForm.MARKDOWN and written(text, link).endswith("]")


def facts(link: Link) -> tuple[object, ...]:
    return (link.form, link.target, link.anchor, link.relation_type)


@given(NOTES, NAMES, st.data())
def test_a_link_goes_there_and_back(text: str, name: str, data: st.DataObject) -> None:
    found = links(text)
    if not found:
        return
    number = data.draw(st.integers(0, len(found) - 1))
    link = found[number]
    target = f"{name}.md" if link.form is LinkForm.MARKDOWN else name
    try:
        after = retarget_link(text, link, target, PATH)
    except InvalidArgument:
        return
    now = links(after)
    concerned = {number}
    if uses_a_definition(text, link):  # all notes of these pieces have one label, `r`
        concerned = {i for i, one in enumerate(found) if uses_a_definition(text, one)}
    wanted = [replace(one, target=target) if i in concerned else one for i, one in enumerate(found)]
    assert [facts(one) for one in now] == [facts(one) for one in wanted]
    back = retarget_link(after, now[number], link.target, PATH)
    assert [facts(one) for one in links(back)] == [facts(one) for one in found]
    if link.target != "a&b_c.md":  # its escapes are not put back
        assert back == text


@given(NOTES, NAMES)
def test_all_links_at_once_are_as_one_after_the_other(text: str, name: str) -> None:
    found = links(text)
    aims = [f"{name}.md" if one.form is LinkForm.MARKDOWN else name for one in found]
    single = text
    try:
        for number, aim in enumerate(aims):
            single = retarget_link(single, links(single)[number], aim, PATH)
    except InvalidArgument:
        return
    assert retarget_links(text, zip(found, aims, strict=True), PATH) == single
