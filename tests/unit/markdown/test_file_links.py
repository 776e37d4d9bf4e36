"""Links to files of any kind: which are found, and how they are pointed at other places."""

from __future__ import annotations

import pytest

from memoranda.errors import InvalidArgument
from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.file_links import file_links
from memoranda.markdown.link_edits import retarget_link, retarget_links
from memoranda.model.address import NotePath
from memoranda.model.note import Link

NOTE = NotePath("a/note.md")


def links_in(text: str) -> tuple[Link, ...]:
    return file_links(text, parse_note(text, NOTE), NOTE)


def test_links_to_paths_that_are_no_notes_and_no_known_files_are_found() -> None:
    text = (
        "---\ntitle: Ü\n---\n[a](b.md) ![p](p.png) [s](run%20it.py#L1)\n\n"
        "[t](<x y.sh?raw=1> 'T') `[c](code.py)` [w](https://x.org/a.py) [h](#part) [m](//x.org/a.py)"
        " <https://x.org> [r][d] [[wiki.py]]\n\n[d]: def.py\n"
    )
    assert [(link.target, link.line) for link in links_in(text)] == [
        ("run it.py", 4),
        ("x y.sh", 6),
        ("def.py", 6),
    ]


def test_links_by_definition_are_found_beside_those_of_the_note() -> None:
    text = "[a][1] [b][2] [c][] [d]\n\n[1]: b.md\n[2]: <x y.py> 't'\n[c]: https://x.org/a.py\n[d]: d.sh\n"
    assert [link.target for link in links_in(text)] == ["x y.py", "d.sh"]
    assert not links_in("[a][1] ![p][2]\n\n[1]: b.md\n[2]: p.png\n")


def test_all_links_of_a_definition_are_retargeted_with_it() -> None:
    text = "[a][r] and [b][R] and [c](z.py)\n\n[r]: run.py#L1 't'\n"
    first, second, _ = links_in(text)
    wanted = "[a][r] and [b][R] and [c](z.py)\n\n[r]: ../run.py#L1 't'\n"
    assert retarget_links(text, [(first, "../run.py"), (second, "../run.py")], NOTE) == wanted
    assert retarget_links(text, [(first, "../run.py")], NOTE) == wanted
    with pytest.raises(InvalidArgument, match="would point at"):
        retarget_links(text, [(first, "x.py"), (second, "y.py")], NOTE)


@pytest.mark.parametrize("text", ["", "plain", "[a](b.md) ![p](p.png)", "[w](https://x.org/a.py)"])
def test_a_note_without_them_has_none(text: str) -> None:
    assert links_in(text) == ()


def test_they_are_retargeted_with_the_others_and_nothing_else_changes() -> None:
    text = "Ü [s](run%20it.py#L1 't') and [a](b.md) and [s](<c d.sh>)\n- [fact] [s](run%20it.py)\n"
    (first, second, third), (note,) = links_in(text), parse_note(text, NOTE).links
    pairs = [(first, "../x/run it.py"), (second, "q r.sh"), (note, "c.md"), (third, "(y).py")]
    assert retarget_links(text, pairs, NOTE) == (
        "Ü [s](../x/run%20it.py#L1 't') and [a](c.md) and [s](<q r.sh>)\n- [fact] [s](%28y%29.py)\n"
    )


@pytest.mark.parametrize("target", [" x.py", "b.md", "", "//x"])
def test_a_target_that_would_be_read_as_something_else_is_refused(target: str) -> None:
    text = "[s](run.py)\n"
    (link,) = links_in(text)
    with pytest.raises(InvalidArgument):
        retarget_link(text, link, target, NOTE)


def test_a_link_of_another_text_is_refused() -> None:
    (link,) = links_in("[s](run.py)\n")
    with pytest.raises(InvalidArgument, match="no such link"):
        retarget_link("[s](other.py)\n", link, "x.py", NOTE)
