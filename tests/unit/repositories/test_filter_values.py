"""What frontmatter values are equal to, and where nested ones are."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from memoranda.repositories.filter_values import fold, found, moment, moments, number


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", 1), (" 01.00 ", 1), ("-.5", -0.5), ("+2.", 2), ("9" * 18, int("9" * 18)),
        ("9" * 19, None), ("0" * 30 + "7", 7), ("1e3", None), ("1_0", None), ("٣", None), ("", None),
        ("1 2", None), ("nan", None), (None, None),
    ],
)  # fmt: skip
def test_what_looks_like_a_number_is_one(text: str | None, expected: float | None) -> None:
    assert number(text) == expected


def test_moments_are_in_the_order_of_time() -> None:
    texts = [
        "0001-01-01T00:00:00+14:00", "2026-01-05", "2026-01-05T00:00:00.000001", "2026-01-05 10:30",
        "2026-01-05T10:30:01", "9999-12-31T23:59:59-12:00",
    ]  # fmt: skip
    stamps = [moment(text) or "" for text in texts]
    assert all(stamps)
    assert all(one < other for one, other in pairwise(stamps))


def test_zones_are_compared() -> None:
    assert moment("2026-01-05T12:00+02:00") == moment("2026-01-05T10:00Z") != None  # noqa: E711


def test_a_date_is_its_whole_day() -> None:
    first, last = moments("2026-01-05") or ("", "")
    assert (first[:19], last[:19]) == ("2026-01-05T00:00:00", "2026-01-05T23:59:59")


@pytest.mark.parametrize("text", ["2026-02-30", "2026-01-05x", "2026-01", "12:30", "", None])
def test_what_is_in_no_calendar_is_no_moment(text: str | None) -> None:
    assert moment(text) is None


@pytest.mark.parametrize(
    ("values", "key", "expected"),
    [
        ({"a.b": "own", "a": {"b": "inner"}}, "a.b", "own"),
        ({"a": {"b": "inner"}}, "a.b", "inner"),
        ({"a": {"b": {"c": "deep"}}}, "a.b.c", "deep"),
        ({"a": {"b.c": "long"}, "a.b": {"c": "longer"}}, "a.b.c", "longer"),
        ({"a": [{"b": "1"}, {"b": ["2", "3"]}, "x", {"c": "4"}]}, "a.b", ["1", "2", "3"]),
        ({"a": {"b": ["1", None, {"c": "2"}]}}, "a.b", ["1", '{"c": "2"}']),
        ({"a": {"b": None}}, "a.b", None),
        ({"a": "{not a map"}, "a.b", None),
        ({"a": "[1]"}, "a.b", None),
        ({"a": "{" * 100_000}, "a.b", None),
        ({}, "a.b", None),
    ],
)
def test_a_key_with_dots_leads_into_maps(values: dict[str, Any], key: str, expected: Any) -> None:
    nested = {
        name: json.dumps(value)
        if isinstance(value, dict)
        else [each if isinstance(each, str) else json.dumps(each) for each in value]
        if isinstance(value, list)
        else value
        for name, value in values.items()
    }
    answer = found(json.dumps(nested), key)
    assert (answer and json.loads(answer)) == ([expected] if expected is not None else None)


def test_texts_are_folded_in_every_script() -> None:
    assert fold("STRASSE É E\u0301 ΣΊΣΥΦΟΣ") == fold("straße e\u0301 é Σίσυφος")
