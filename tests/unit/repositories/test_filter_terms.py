"""Terms of notes, by which filters on PostgreSQL look them up."""

from __future__ import annotations

import pytest

from memoranda.repositories.filter_terms import Terms

MINE = Terms(1)


def terms(**values: object) -> set[int]:
    return set(MINE.of_note("x/Y/n.md", "Person", ("#A/b/C", "é"), values))


@pytest.mark.parametrize(
    ("wanted", "value"),
    [("1", "01.0"), ("-0.0", "0"), ("1.50", "1.5"), ("Open", " OPEN\n"), ("é", "E\u0301"), ("b", ["a", "B"])],
)  # fmt: skip
def test_equal_values_have_a_term_in_common(wanted: str, value: object) -> None:
    assert MINE.equal("k", wanted) in terms(k=value)
    assert MINE.equal("K", wanted) not in terms(k=value)


@pytest.mark.parametrize(
    ("wanted", "value"), [("1", "1a"), ("12345678901234567890", "12345678901234567891"), ("1", "11")]
)  # fmt: skip
def test_other_values_have_not(wanted: str, value: str) -> None:
    assert MINE.equal("k", wanted) not in terms(k=value)


def test_a_key_and_its_value_are_told_apart() -> None:
    assert MINE.equal("a", "bc") not in terms(ab="c")


def test_a_note_has_its_type_its_folders_and_its_tags_with_those_above() -> None:
    found = terms()
    assert {MINE.type("PERSON"), *map(MINE.tag, ("a", "a/b", "a/b/c", "é"))} <= found
    assert set(MINE.folders("/x/y/z*")) <= found
    assert not found & {MINE.tag("b"), MINE.type("A"), *MINE.folders("/n.md/")}
    assert MINE.of_note("n.md", "Person", ("a",), {})[0] == MINE.type("person")


def test_projects_share_no_term() -> None:
    facts = ("x/Y/n.md", "Person", ("a",), {"k": "1"})
    assert not set(MINE.of_note(*facts)) & set(Terms(2).of_note(*facts))
