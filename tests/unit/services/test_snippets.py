from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.services.snippets import Snippet, snippet
from memoranda.text.graphemes import is_boundary
from memoranda.text.query import parse_query

PROSE = "The first sentence is quite long. "


def shown(text: str, query: str, width: int = 240, headings: tuple[str, ...] = ()) -> Snippet:
    return snippet(text, parse_query(query).terms, width=width, headings=headings)


@pytest.mark.parametrize("query", ["needle", "東京", "needles", "NEEDLE"])
def test_the_line_with_the_hit_is_shown_not_the_beginning(query: str) -> None:
    found = shown("filler text line\n" * 2000 + "needle 東京カンファレンス here\n", query)
    assert "needle 東京カンファレンス here" in found.text
    assert found.last_line == 2000
    assert len(found.text) <= 242


def test_accents_stay_and_are_found_without() -> None:
    assert "café" in shown("x " * 300 + "le café noir" + " y" * 300, "cafe", width=40).text


def test_the_window_with_most_terms_wins() -> None:
    text = "alpha alpha alpha" + " x" * 200 + " alpha beta" + " y" * 200
    assert "alpha beta" in shown(text, "beta alpha", width=60).text


def test_terms_far_apart_do_not_add_up() -> None:
    far = " x" * 200
    text = f"alpha{far} beta gamma{far} delta"
    assert "beta gamma" in shown(text, "alpha beta gamma delta", width=60).text


def test_a_whole_phrase_wins_over_its_words() -> None:
    text = "deep and hard, work or deep " + "x " * 200 + "the deep work ends."
    assert "the deep work ends." in shown(text, '"deep work"', width=60).text


def test_the_exact_form_wins_over_a_stem() -> None:
    text = "about policies " + "x " * 200 + "about policy"
    assert "about policy" in shown(text, "policy", width=60).text


def test_words_are_not_cut() -> None:
    words = "wording " * 100
    found = shown(f"{words}needle {words}", "needle", width=50).text
    assert set(found.strip("…").split()) == {"wording", "needle"}
    assert found.startswith("…")
    assert found.endswith("…")


@pytest.mark.parametrize(("width", "longest"), [(60, 62), (200, 202)])
def test_an_unbroken_line_is_cut_anywhere(width: int, longest: int) -> None:
    found = shown("a" * 5000 + "/needle/" + "b" * 5000, "needle", width=width).text
    assert "needle" in found
    assert width // 2 < len(found) <= longest


def test_it_begins_and_ends_with_a_sentence() -> None:
    found = shown(PROSE * 20 + "Here is the needle you want. " + PROSE * 20, "needle", width=120)
    assert found.text == (
        "…Here is the needle you want. The first sentence is quite long. "
        "The first sentence is quite long.…"
    )


def test_it_begins_and_ends_with_a_line() -> None:
    lines = "- an item of the list\n" * 20
    found = shown(f"{lines}- the needle\n{lines}", "needle", width=60)
    assert found.text.strip("…").split("\n") == ["- the needle", *["- an item of the list"] * 2]
    assert (found.first_line, found.last_line) == (20, 22)


def test_a_sentence_of_an_unspaced_script_is_a_border_too() -> None:
    filler = "今天我们讨论很多别的事情和问题。"
    found = shown(filler * 30 + "这里有部署方案。" + filler * 30, "部署方案", width=60).text
    assert found == f"…这里有部署方案。{filler * 3}…"


def test_an_abbreviation_is_no_border() -> None:
    text = "word " * 60 + "e.g.  the needle here " + "word " * 60
    assert not shown(text, "needle", width=60).text.startswith("…the needle")


def test_a_match_in_the_middle_of_a_long_sentence_leaves_room_before_it() -> None:
    found = shown("word " * 300 + "needle " + "word " * 300, "needle", width=100).text
    assert found.startswith("…word")
    assert 20 < found.index("needle") < 60


def test_a_match_that_is_there_twice_does_not_force_a_cut_in_the_middle() -> None:
    text = "x " * 100 + "needle y. Then the needle stands here " + "z " * 100
    assert shown(text, "needle", width=60).text.startswith("…Then the needle")


def test_what_is_left_of_the_window_is_filled_from_before() -> None:
    text = PROSE * 20 + "The needle ends it."
    assert shown(text, "needle", width=120).text == f"…{PROSE * 2}The needle ends it."


def test_a_short_text_is_shown_whole() -> None:
    assert shown("one\ntwo", "two") == Snippet("one\ntwo", 0, 1, ("two",))


def test_without_a_hit_the_beginning_is_shown() -> None:
    found = shown("begin " + "x " * 300, "nothing")
    assert found.text.startswith("begin x")
    assert found.matches == ()


@pytest.mark.parametrize(
    "heading", ["## Soil & *heap*", "Soil & *heap*\n---", "\n# Soil & *heap* #"]
)
def test_the_heading_that_is_shown_anyway_is_left_out(heading: str) -> None:
    found = shown(f"{heading}\n\nTurn it every week.", "heap", headings=("Garden", "Soil & heap"))
    assert found.text == "Turn it every week."
    assert found.first_line == heading.count("\n") + 2
    assert not found.is_bare


@pytest.mark.parametrize("headings", [(), ("Another",)])
def test_another_heading_is_text(headings: tuple[str, ...]) -> None:
    assert shown("# install the heap\nmake", "heap", headings=headings).text.startswith("# install")


def test_a_heading_that_was_shortened_in_the_path_is_known_again() -> None:
    heading = "word " * 100
    found = shown(f"# {heading}\ntext", "word", headings=(heading[:200],))
    assert found.text == "text"


@pytest.mark.parametrize(
    "line",
    [
        "[a-1]: https://example.org/x",
        '[heap]: <../heap.md> "The heap"',
        "---",
        "- - -",
        "```python",
        "|---|:---:|",
        "<!-- heap: omit in toc -->",
        '<div align="center"> <br>',
        "[![Build](https://example.org/b.svg)](https://example.org) ![x](y.png)",
        "![[heap.png]]",
    ],
)
def test_a_quiet_line_is_neither_the_beginning_nor_the_end(line: str) -> None:
    found = shown(f"{line}\n\nThe heap is warm.\n{line}\n", "heap")
    assert found.text == "The heap is warm."
    assert (found.first_line, found.last_line) == (2, 2)
    assert found.matches == ("heap",)


@pytest.mark.parametrize(
    "line",
    [
        "[fact]: we decided on it",
        "[^1]: Footnote",
        "<https://example.org>",
        "a | b",
        "[x](y)",
        "--- x",
    ],
)
def test_a_line_that_tells_something_stays(line: str) -> None:
    assert shown(f"{line}\nThe heap is warm.", "heap").text.startswith(line)


def test_quiet_lines_are_left_out_at_the_edges_of_a_window_in_a_long_text() -> None:
    definitions = "".join(f"[ref-{n}]: https://example.org/{n}\n" for n in range(30))
    found = shown(f"{PROSE * 20}\n{definitions}The needle.\n{definitions}", "needle", width=120)
    assert found.text == "…The needle."
    assert shown(f"{definitions}The needle.\n{definitions}", "needle").text == "The needle."


def test_a_quiet_line_that_alone_matches_is_shown() -> None:
    text = f"{PROSE * 20}\n[docs]: https://needle.example.org/x\n"
    found = shown(text, "needle", width=120)
    assert found.text.endswith("[docs]: https://needle.example.org/x")
    assert found.last_line == 1


def test_a_text_of_quiet_lines_is_shown_and_is_bare() -> None:
    found = shown("## Heap\n\n[a]: http://x\n---", "heap", headings=("Heap",))
    assert found == Snippet("## Heap\n\n[a]: http://x\n---", 0, 3, ("Heap",), is_bare=True)
    assert not shown("## Heap\ntext", "heap", headings=("Heap",)).is_bare


def test_matches_are_as_written_each_once_the_longest_first_found() -> None:
    found = shown("Deep work is deeper than DEEP play; Works, deep work.", '"deep work"')
    assert found.matches == ("Deep work", "DEEP")
    assert len(shown(" ".join(f"word{n}" for n in range(30)), "wor").matches) == 8


def test_a_match_that_is_cut_is_not_named() -> None:
    found = shown("needle" * 12 + " x", "needle" * 12, width=50)
    assert found.text == "needle" * 8 + "ne…"
    assert found.matches == ()


def test_matches_outside_of_the_window_are_not_named() -> None:
    assert shown("alpha" + " x" * 200 + " beta gamma", "alpha beta gamma").matches == (
        "beta gamma",
    )


@given(st.text(max_size=300), st.text(max_size=20), st.integers(5, 60), st.text(max_size=5))
def test_a_snippet_is_a_part_of_the_text_on_its_lines(
    text: str, query: str, width: int, heading: str
) -> None:
    found = shown(text, query, width=width, headings=(heading,))
    inner = found.text.removeprefix("…").removesuffix("…")
    assert inner in text or found.text in text
    assert len(found.text) <= width + 2
    assert 0 <= found.first_line <= found.last_line <= text.count("\n")
    lines = text.split("\n")[found.first_line : found.last_line + 1]
    assert inner in "\n".join(lines) or found.text in "\n".join(lines)
    assert found.text.strip() or not text.strip()


@pytest.mark.parametrize(
    "cluster",
    ["e\u0301", "👩\u200d👩\u200d👧", "🇩🇪", "👍🏽", unicodedata.normalize("NFD", "한"), "ก\u0e33"],
)
@pytest.mark.parametrize("width", [50, 51, 52, 53, 54])
@pytest.mark.parametrize("needle", ["", "needle"])
def test_what_is_seen_as_one_character_is_never_cut(cluster: str, width: int, needle: str) -> None:
    text = cluster * 200 + needle + cluster * 200
    found = shown(text, needle or "zzz", width).text.strip("…")
    start = text.index(found)
    assert is_boundary(text, start)
    assert is_boundary(text, start + len(found))
    assert len(found) <= width


def test_a_single_character_longer_than_the_window_is_cut_all_the_same() -> None:
    assert len(shown("e" + "\u0301" * 500, "zzz", width=50).text.strip("…")) == 50


@pytest.mark.parametrize("sign", [" ", "#", "-", "\n", "<a", "![[a", "[a]: b ", "的", "e\u0301"])
def test_a_very_long_run_of_one_sign_is_no_trouble(sign: str) -> None:
    assert len(shown(sign * 200_000, "heap", headings=("a",)).text) <= 242
