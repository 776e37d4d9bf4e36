from __future__ import annotations

import pytest

from memoranda.errors import InvalidArgument
from memoranda.services.path_globs import listing_glob, names_glob, names_prefix


@pytest.mark.parametrize(
    ("pattern", "fits", "misses"),
    [
        ("x/*", ["x/a", "x/a/b", "X/A"], ["x", "xa", "y/a"]),
        ("x*", ["x", "xy", "xy/z"], ["ax", "a/x"]),
        (
            "projects/*/plan",
            ["projects/a/plan", "Projects/Ä/PLAN"],
            ["projects/a/b/plan", "projects/plan"],
        ),
        ("projects/*/plan*", ["projects/a/plan-b", "projects/a/plans/c"], ["projects/a/b/plan"]),
        ("**/plan", ["plan", "a/plan", "a/b/plan"], ["a/planx", "a/plan/b"]),
        ("a/**/z", ["a/z", "a/b/z", "a/b/c/z"], ["z", "a/zz"]),
        ("*", ["a", "a/b"], []),
        ("a*b*c", ["abc", "axbxc"], ["ab/c", "acb"]),
    ],
)
def test_a_star_in_a_name_of_notes(pattern: str, fits: list[str], misses: list[str]) -> None:
    glob = names_glob(pattern)
    assert [path for path in (*fits, *misses) if glob.fits(path)] == fits


def test_composed_and_decomposed_letters_are_the_same() -> None:
    for pattern in ("Caf\u00e9*", "cafe\u0301*"):
        assert names_glob(pattern).fits("CAFE\u0301/x")
        assert names_glob(pattern).fits("caf\u00e9s")


@pytest.mark.parametrize(
    ("pattern", "prefix"),
    [("/a/b*c*", "a/b"), ("*x", ""), ("Caf\u00e9 x*", "Caf"), ("cafe\u0301*", "caf"), ("a漢*", "")],
)
def test_what_matches_begins_with_the_prefix(pattern: str, prefix: str) -> None:
    assert names_prefix(pattern) == prefix


def test_only_the_star_is_special_in_names_of_notes() -> None:
    glob = names_glob("what?[1]\\*")
    assert glob.fits("what?[1]\\x")
    assert not glob.fits("whats1x")


@pytest.mark.parametrize(
    ("pattern", "fits", "misses"),
    [
        ("T*", ["two.md"], ["one.md", "x/two.md"]),
        ("sub/*.md", ["sub/a.md"], ["a.md", "sub/b/a.md"]),
        ("**/*.md", ["a.md", "sub/b/a.md"], ["a.txt"]),
        ("?[a-c].md", ["xa.md"], ["xd.md", "a.md"]),
    ],
)
def test_a_pattern_for_a_listing(pattern: str, fits: list[str], misses: list[str]) -> None:
    glob = listing_glob(pattern)
    assert [path for path in (*fits, *misses) if glob.fits(path)] == fits


def test_what_is_no_pattern_is_refused_by_the_parameters_name() -> None:
    with pytest.raises(InvalidArgument, match="bracket") as caught:
        listing_glob("[x")
    assert caught.value.parameter == "glob"


@pytest.mark.parametrize(("pattern", "reach"), [("a/*/c", 3), ("a/**", None), ("*.md", 1)])
def test_how_deep_a_pattern_can_match(pattern: str, reach: int | None) -> None:
    assert listing_glob(pattern).reach == reach


def test_a_pattern_made_to_be_slow_is_not() -> None:
    glob = names_glob("**/" * 200 + "*a" * 200 + "b")  # it would take years
    assert not glob.fits("a" * 250 + "/" + "/".join(["a" * 250] * 15))
