from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.errors import InvalidUri
from memoranda.model.address import (
    ById,
    ByName,
    NotePath,
    declared_permalink,
    hashed_permalink,
    lookup_key,
    natural_permalink,
    normalized_target,
    parse_address,
    path_hash,
    slug,
    stem,
)


@pytest.mark.spec("14.1")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Machine Learning Basics!", "machine-learning-basics"),
        ("already-a-slug", "already-a-slug"),
        ("--Two  --  dashes--", "two-dashes"),
        ("snake_case.and.dots", "snake-case-and-dots"),
        ("C++ & C#", "c-c"),
        ("Ünïcode Straße", "ünïcode-straße"),
        ("知识 图谱", "知识-图谱"),
        ("हिन्दी नोट", "हिन्दी-नोट"),
        ("ﬁle ①", "file-1"),
        ("🌱❤️", ""),
        ("∑ list", "list"),
        ("❤️ hearts", "hearts"),
        ("", ""),
    ],
)
def test_slug_keeps_letters_digits_and_marks_of_every_script(name: str, expected: str) -> None:
    assert slug(name) == expected


def test_slug_is_the_same_for_composed_and_decomposed_names() -> None:
    assert slug(unicodedata.normalize("NFD", "Résumé")) == slug("Résumé") == "résumé"


@given(st.text(max_size=40))
def test_slug_of_anything_has_no_blank_slash_or_outer_hyphen(text: str) -> None:
    result = slug(text)
    assert not result.startswith("-")
    assert not result.endswith("-")
    assert "--" not in result
    assert "/" not in result
    assert not any(c.isspace() for c in result)


@given(st.text(alphabet=st.characters(codec="ascii"), max_size=40))
def test_slug_of_ascii_is_the_algorithm_of_the_specification(text: str) -> None:
    hyphens = "".join(c if c.isalnum() else "-" for c in text.lower())
    while "--" in hyphens:
        hyphens = hyphens.replace("--", "-")
    assert slug(text) == hyphens.strip("-")


def test_natural_permalink_joins_folder_slugs_and_title_slug() -> None:
    assert natural_permalink(NotePath("Research Notes/AI/x.md"), "Deep Work") == (
        "research-notes/ai/deep-work"
    )
    assert natural_permalink(NotePath("deep.md"), "Deep Work") == "deep-work"


def test_title_of_signs_falls_back_to_file_name_then_to_hash() -> None:
    assert natural_permalink(NotePath("plan.md"), "???") == "plan"
    path = NotePath("🌱.md")
    assert natural_permalink(path, "!!!") == path_hash(path)


def test_folder_of_signs_becomes_a_hash_and_does_not_vanish() -> None:
    one = natural_permalink(NotePath("🌱/a.md"), "a")
    two = natural_permalink(NotePath("🌳/a.md"), "a")
    assert one != two
    assert one.count("/") == 1


def test_path_hash_is_the_same_on_every_platform_form_of_a_name() -> None:
    composed = NotePath("Zoë.md")
    decomposed = NotePath(unicodedata.normalize("NFD", composed))
    assert path_hash(composed) == path_hash(decomposed)
    assert len(path_hash(composed)) == 8


def test_hashed_permalink_depends_on_the_path_only() -> None:
    wanted = natural_permalink(NotePath("a/x.md"), "X")
    assert hashed_permalink(wanted, NotePath("a/x.md")) != hashed_permalink(
        wanted, NotePath("b.md")
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("docs/My Page", "docs/my-page"),
        (" /docs/page/ ", "docs/page"),
        ("", None),
        ("  ", None),
        ("a//b", None),
        ("../x", None),
        ("https://example.org/x", None),
        ("x" * 1001, None),
        ("a/!!", None),
    ],
)
def test_declared_permalink_is_cleaned_or_refused(text: str, expected: str | None) -> None:
    assert declared_permalink(text) == expected


@pytest.mark.parametrize(
    "spelling",
    ["Deep Work", "deep work", " deep   WORK ", "./Deep Work.md", "/deep work.MD", "deep work .md"],
)
def test_lookup_key_is_one_for_all_spellings(spelling: str) -> None:
    assert lookup_key(spelling) == "deep work"


def test_lookup_key_of_composed_and_decomposed_names_is_equal() -> None:
    assert lookup_key(unicodedata.normalize("NFD", "Ǆ Zoë ǰ")) == lookup_key("Ǆ Zoë ǰ")


@given(st.text(max_size=30))
def test_lookup_key_has_no_outer_blanks_and_does_not_grow_on_repeat(text: str) -> None:
    key = lookup_key(text)
    assert key == key.strip()
    assert len(lookup_key(key)) <= len(key)


@pytest.mark.spec("3.4")
def test_relation_target_is_lower_case_with_hyphens() -> None:
    assert normalized_target("Entity Name") == "entity-name"
    assert normalized_target("React [[Hooks]]") == "react-[[hooks]]"
    assert normalized_target("notes/Page.md") == "notes/page"
    assert normalized_target("Große Straße") == "große-straße"
    assert normalized_target("ΌΡΟΣ") == "όρος"


@pytest.mark.parametrize(
    ("path", "expected"),
    [("a/b.md", "b"), ("B.MD", "B"), ("a.b.md", "a.b"), ("c.markdown", "c.markdown"), (".md", "")],
)
def test_stem_drops_folder_and_md(path: str, expected: str) -> None:
    assert stem(path) == expected


@pytest.mark.spec("7.1")
def test_addresses_name_a_permalink_a_project_or_an_id() -> None:
    assert parse_address("memory://machine-learning") == ByName("machine-learning")
    assert parse_address("memory://specs/search/") == ByName("specs/search")
    assert parse_address("memory://@work/specs/x") == ByName("specs/x", "work")
    assert parse_address("memory://id/123") == ById(123)
    assert parse_address("memory://specs/*") == ByName("specs/*")
    assert parse_address("  Plain title ") == ByName("Plain title")


@pytest.mark.spec("7.3")
@pytest.mark.parametrize("rest", ["id/123.md", "id/abc", "id/-1", "id/", "id/١٢"])
def test_only_digits_after_id_are_an_internal_id(rest: str) -> None:
    assert parse_address(f"memory://{rest}") == ByName(rest.strip("/"))


@pytest.mark.spec("7.2")
@pytest.mark.parametrize(
    "rest",
    ["", "/", "  ", "memory://x", "a//b", "a<b", "a>b", 'a"b', "a|b", "a?b", "@", "@work", "@/x"],
)
def test_addresses_that_break_the_rules_are_refused(rest: str) -> None:
    with pytest.raises(InvalidUri) as caught:
        parse_address(f"memory://{rest}")
    assert caught.value.uri == f"memory://{rest}"


def test_an_id_too_large_to_exist_is_refused() -> None:
    with pytest.raises(InvalidUri):
        parse_address("memory://id/" + "9" * 40)


def test_titles_with_forbidden_signs_are_names_when_no_scheme_is_given() -> None:
    assert parse_address("What is <this>?") == ByName("What is <this>?")


@given(st.text(max_size=40))
def test_parse_address_gives_a_value_or_invalid_uri(text: str) -> None:
    for value in (text, f"memory://{text}"):
        try:
            address = parse_address(value)
        except InvalidUri:
            assert value.startswith("memory://")
        else:
            assert isinstance(address, ById | ByName)
