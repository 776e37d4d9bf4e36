"""Sections: which lines they hold, and what they go by."""

from __future__ import annotations

import pytest

from memoranda.errors import AmbiguousSection, SectionNotFound
from memoranda.markdown.entity_parser import parse_note
from memoranda.model.address import NotePath
from memoranda.model.outline import find_section, sections_of

TEXT = (
    "---\ntitle: Café\n---\nintro\n\n# Install\n\nfirst\n\n## Linux\n\napt\n\n## Mac/OS\n\nbrew\n\n"
    "Use\n===\n\n## Linux\n\nrun\n\n#### Deep ####\ndeep\n## C#\n"
)


def note(text: str = TEXT):
    return parse_note(text, NotePath("n.md"))


def cut(text: str, start: int, end: int) -> str:
    return text.encode("utf-8")[start:end].decode("utf-8")


def test_a_section_ends_at_the_next_heading_of_its_level_or_above():
    found = {one.slug: cut(TEXT, one.heading.start, one.end) for one in sections_of(note())}
    assert found["linux-1"] == "## Linux\n\napt\n\n"
    assert found["install"].startswith("# Install\n\nfirst")
    assert found["install"].endswith("brew\n\n")
    assert found["linux-2"] == "## Linux\n\nrun\n\n#### Deep ####\ndeep\n"
    assert found["use"].startswith("Use\n===\n\n## Linux")
    assert found["c"] == "## C#\n"


def test_the_text_of_a_section_begins_after_its_heading():
    found = {one.slug: cut(TEXT, one.heading.end, one.end) for one in sections_of(note())}
    assert found["use"].startswith("\n## Linux")
    assert found["deep"] == "deep\n"
    assert found["c"] == ""


def test_paths_lines_and_order():
    assert [(one.path, one.heading.line, one.end_line) for one in sections_of(note())] == [
        (("Install",), 6, 17),
        (("Install", "Linux"), 10, 13),
        (("Install", "Mac/OS"), 14, 17),
        (("Use",), 18, 27),
        (("Use", "Linux"), 21, 26),
        (("Use", "Linux", "Deep"), 25, 26),
        (("Use", "C#"), 27, 27),
    ]


@pytest.mark.parametrize(
    "text", ["# A", "# A\n", "# A\nx", "# A\r\nx\r\n", "# A\rx\r", "# A\n\n\n"]
)
def test_the_last_section_ends_with_the_file(text: str):
    (one,) = sections_of(note(text))
    lines = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
    assert (one.end, one.end_line) == (len(text), len(lines))


def test_a_note_without_headings_has_no_sections():
    assert sections_of(note("text\n")) == ()
    assert sections_of(note("")) == ()


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Install", "install"),
        ("install", "install"),
        ("  # Install ", "install"),
        ("Mac/OS", "mac-os"),
        ("mac-os", "mac-os"),
        ("Install > Linux", "linux-1"),
        ("Install/Linux", "linux-1"),
        ("Install#Linux", "linux-1"),
        ("#Install#Linux", "linux-1"),
        ("## Install > Linux", "linux-1"),
        ("use>linux", None),
        ("Use > Linux", "linux-2"),
        ("linux-1", "linux-1"),
        ("LINUX-1", "linux-1"),
        ("install > mac-os", "mac-os"),
        ("Use > Deep", "deep"),
        ("Use > Linux > Deep", "deep"),
        ("C#", "c"),
        ("Install > Mac/OS", "mac-os"),
    ],
)
def test_what_a_section_goes_by(name: str, slug: str | None):
    if slug is None:
        with pytest.raises(SectionNotFound):
            find_section(note(), name)
    else:
        assert find_section(note(), name).slug == slug


def test_every_section_is_found_by_its_slug_and_by_a_path_that_is_not_shared():
    for one in sections_of(note()):
        assert find_section(note(), one.slug) == one
        assert find_section(note(), one.name) == one


def test_a_name_that_several_sections_share_is_refused_with_what_tells_them_apart():
    with pytest.raises(AmbiguousSection) as caught:
        find_section(note(), "linux")
    assert caught.value.candidates == ("Install > Linux", "Use > Linux")


def test_sections_with_one_path_are_told_apart_by_their_slugs():
    twice = note("# A\n## Log\n1\n## Log\n2\n# Log\n")
    with pytest.raises(AmbiguousSection) as caught:
        find_section(twice, "A > Log")
    assert caught.value.candidates == ("log-1", "log-2")
    assert [find_section(twice, name).heading.line for name in caught.value.candidates] == [2, 4]


def test_of_several_the_one_whose_whole_path_is_given_is_meant():
    text = "# A\n## B\n### Log\n## Log\n"
    assert find_section(note(text), "A > Log").heading.line == 4


def test_a_section_at_the_top_is_not_guessed_when_another_has_its_text():
    text = "# A\n\nouter\n\n## B\n\n### A\n\ninner\n"
    with pytest.raises(AmbiguousSection) as caught:
        find_section(note(text), "A")
    assert caught.value.candidates == ("a-1", "A > B > A")
    assert [find_section(note(text), name).heading.line for name in caught.value.candidates] == [
        1,
        7,
    ]


def test_a_missing_section_is_refused_with_the_outline():
    with pytest.raises(SectionNotFound) as caught:
        find_section(note("# A\n## B\n## B\n"), "C")
    assert caught.value.headings == ("A", "b-1", "b-2")
    assert "It has: A; b-1; b-2." in caught.value.hint
    with pytest.raises(SectionNotFound) as caught:
        find_section(note("text"), "")
    assert caught.value.hint == "It has no headings."


def test_slugs_are_unique_and_never_empty():
    headings = "# Log\n# log-1\n# Log\n# !!\n# 🌱\n# ログ\n#\n"
    slugs = [one.slug for one in sections_of(note(headings))]
    assert slugs == ["log-2", "log-1", "log-3", "section-1", "section-2", "ログ", "section-3"]


def test_unicode_forms_and_case_do_not_matter():
    assert find_section(note("# Cafe\u0301 ÄÖ\n"), "CAFÉ äö").slug == "café-äö"
