from __future__ import annotations

from memoranda.markdown.entity_parser import parse_note
from memoranda.model.address import NotePath
from memoranda.model.outline import sections_of
from memoranda.render.outline import outline_text

TEXT = "# Top\n\n## One\n\n### Deep\n\n## Two\n\n### Deep\n\n## Three\n"


def outline(after: int, limit: int, text: str = TEXT) -> list[str]:
    return outline_text(sections_of(parse_note(text, NotePath("a.md"))), after, limit)


def test_the_sections_below_a_line_are_listed_with_their_lines() -> None:
    assert outline(1, 1000) == [
        "Sections further down (5), section=name reads one:",
        "line 3: One",
        "  line 5: Deep (deep-1)",
        "line 7: Two",
        "  line 9: Deep (deep-2)",
        "line 11: Three",
    ]
    assert outline(7, 1000)[1:] == ["  line 9: Deep (deep-2)", "line 11: Three"]


def test_lower_levels_give_way_to_higher_ones() -> None:
    lines = outline(1, 100)
    assert lines[0] == "Sections further down (3 of 5), section=name reads one:"
    assert lines[1:] == ["line 3: One", "line 7: Two", "line 11: Three"]


def test_what_does_not_fit_is_cut_and_nothing_is_said_where_not_even_two_fit() -> None:
    assert outline(1, 90)[-2:] == ["line 7: Two", "…"]
    assert outline(0, 90)[1:] == ["line 1: Top", "  line 3: One", "…"], "one alone says little"
    assert outline(1, 70) == []
    assert outline(11, 1000) == outline(0, 1000, "No heading.\n") == []
