from __future__ import annotations

import re
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.markdown.edit_checks import Shift, Splice, difference, spliced
from memoranda.markdown.edit_layout import after_line, line_above, line_start, read_for_edit
from memoranda.model.address import NotePath

PATH = NotePath("n.md")


def checked(marked: str) -> str | None:
    """The difference of a text in which `{old|new}` stands for every edit."""
    texts: list[bytes] = []
    splices: list[Splice] = []
    size = 0
    for at, part in enumerate(re.split(r"\{(.*?)\|(.*?)\}", marked, flags=re.DOTALL)):
        data = part.encode()
        if at % 3 == 2:
            splices[-1] = Splice(splices[-1].start, splices[-1].end, data)
            continue
        if at % 3 == 1:
            splices.append(Splice(size, size + len(data), b""))
        texts.append(data)
        size += len(data)
    before = b"".join(texts)
    old = read_for_edit(before.decode(), PATH)
    return difference(old, read_for_edit(spliced(before, splices), PATH), splices)


@pytest.mark.parametrize(
    "marked",
    [
        "é\n\n- [aa] x\n{|- [bb] y\n}- [cc] z\n\n# H [[A]]\n",
        "{- [aa] x\n|}- [bb] y\n  - [cc] z\n",
        "- {[aa] x\n  y|[bb] longer than before}\n  - [cc] z\n",
        "{|a\n\n}> - [aa] x\n> [[A]]\n\n{b|}\n\n[t](x.md)\n",
        "---\nup: '[[A]]'\n---\n{|new\n\n}[[A]]\n",
        "- [ ] ta{|a}sk\n- [x] done\n",
        "- a\n\t- [aa] x\n{|- b\n}- c\n",
        "a{b|}",
        "text{|\n}",
    ],
)
def test_an_edit_that_leaves_the_rest_alone(marked: str) -> None:
    assert checked(marked) is None


@pytest.mark.parametrize(
    ("marked", "said"),
    [
        ("{|---\n}a: 1\n---\nx\n", "header would change"),
        ("{|---\n---\n}x\n", "header would change"),
        ("---\na: 1{|\nb: 2}\n---\nx\n", "value of the header"),
        ("---\na: {1|2}\n---\nx\n", "value of the header"),
        ("---\n{|}a: 1\n---{|x}\n\nx\n", "header would change"),
        ("---\ntags: {a|b}\n---\n", "value of the header"),
        ("---\n{|# title\n}{|- x\n}a: 1\n---\n", "header's problems"),
        ("{|```\n}text\n", "line 1 would be read"),
        ("text\n{|```\n}\n- [aa] x\n", "line 3 would be read"),
        ("a\n{\n|}---\n", "line 1 would be read"),
        ("a\n{\n|}b\n", "line 1 would be read"),
        ("> q\n\n{|> }x\n", "line 3 would be read"),
        ("- a\n\n{|  }x\n", "line 3 would be read"),
        ("- a\n{|- b\n}\t- [aa] x\n", "line 2 would be read"),
        ("- a\n{|  }- [aa] x\n", "line 2 would be read"),
        ("- {|[ ] }a\n", ""),
        ("- {|[}x] a\n", "line 1 would be read"),
        ("# {#|} H\n", "would change"),
        ("text\n{|\nb\n}===\n", "read as something else"),
        ("# a [^1]\n\n{[^1]: x|}\n", "the heading 'a 1' would change"),
        ("{%%|}\n\n- [aa] x\n\n%%\n", "another observation would come"),
        ("{|%%}\n\n- [aa] x\n\n%%\n", "observation in line 3 would change"),
        ("- [aa] x [k:: v]\n\n{|[k:: v]: y.md\n}", "observation in line 1 would change"),
        ("- [aa] x [k #t]\n\n{|[k #t]: y.md\n}", "observation in line 1 would change"),
        ("{%%|}\n\n[[A]]\n\n%%\n", "another link, to 'A'"),
        ("{|%%}\n\n[[A]]\n\n%%\n", "link to 'A' in line 3 would change"),
        ("[t][r]\n\n{[r]: a.md|}\n", "link to 'a.md' in line 1 would change"),
        ("[t][r]\n\n[r]: {a|b}.md\n", "link to 'a.md' in line 1 would change"),
        ("[t][r]\n\n{[r]: https://x.org|}\n", "link in line 1 would change"),
        ("[t][r]\n\n[r]: https://{x|y}.org\n", "link in line 1 would change"),
        ("[t][r]\n\n{|[r]: https://x.org}\n", "more text would be read as a link"),
    ],
)
def test_what_changes_outside_the_edit_is_named(marked: str, said: str) -> None:
    reason = checked(marked)
    if not said:
        assert reason is None
        return
    assert reason is not None
    assert said in reason


@given(st.text(alphabet="ab\n", max_size=20), st.data())
def test_offsets_are_shifted_as_the_text_is(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pairs = list(zip(cuts[::2], cuts[1::2], strict=False))
    splices = [Splice(one, two, data.draw(st.binary(max_size=3))) for one, two in pairs]
    splices = [one for at, one in enumerate(splices) if not at or splices[at - 1].end < one.start]
    shift = Shift(splices)
    source = text.encode()
    begins = [one.start for one in splices]
    for at in range(len(source) + 1):
        inside = any(one.start <= at < one.end for one in splices)
        assert shift.is_gone(at) == inside
        grown = sum(len(one.data) - (one.end - one.start) for one in splices if one.end <= at)
        if not inside and at not in begins:
            assert shift.start(at) == at + grown
            assert not shift.is_new(shift.start(at))
            assert shift.end(at) == at + grown
    for start in range(len(source)):
        for end in range(start, len(source)):
            assert shift.touches(start, end) == any(start <= one < end for one in begins)
    new = list(accumulate((len(one.data) - (one.end - one.start) for one in splices), initial=0))
    for one, by in zip(splices, new, strict=False):
        assert shift.start(one.start) == one.start + by + (
            len(one.data) if one.start == one.end else 0
        )
        assert shift.end(one.start) == one.start + by
        assert all(shift.is_new(one.start + by + i) for i in range(len(one.data)))


@given(st.text(alphabet="ab\r\n", max_size=30))
def test_lines_end_as_in_markdown(text: str) -> None:
    data = text.encode()
    starts = list(accumulate(map(len, data.splitlines(keepends=True)), initial=0))
    reading = read_for_edit(text, PATH)
    for row, (start, end) in enumerate(pairwise(starts)):
        assert after_line(data, start) == end
        assert reading.line_range(row + 1) == (start, end)
        assert reading.line(start) == row + 1
        for at in range(start, end):
            if data[at - 1 : at + 1] != b"\r\n":
                assert line_start(data, at) == start
        if row:
            assert line_above(data, start) == starts[row - 1]
    assert reading.line_range(len(starts) + 1)[0] == reading.line_range(len(starts) + 1)[1]
    assert reading.line_range(0) == (0, 0)


def test_a_long_line_begins_where_it_begins() -> None:
    assert line_start(b"a\n" + b"x" * 5000, 4000) == 2
    assert line_start(b"x" * 5000, 4000) == 0
