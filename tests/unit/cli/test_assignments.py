from __future__ import annotations

import pytest
import typer

from memoranda.cli.assignments import parse_assignments


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a=done", "done"),
        (" a = two words ", "two words"),
        ("a=3", 3),
        ("a=-3", -3),
        ("a=0", 0),
        ("a=07", "07"),
        ("a=2.5", 2.5),
        ("a=2.50", "2.50"),
        ("a=1e3", "1e3"),
        ("a=true", True),
        ("a=False", False),
        ("a=2026-03-01", "2026-03-01"),
        ('a="3"', "3"),
        ('a="say \\"hi\\""', 'say "hi"'),
        ("a=", ""),
        ("a=b=c", "b=c"),
        ("a=[]", []),
        ("a=[x, 3, true]", ["x", 3, True]),
        ("a={x: 1, y: [z]}", {"x": 1, "y": ["z"]}),
        ("a=[[Garden beds]]", "[[Garden beds]]"),
        ("a=[[x], 2]", [["x"], 2]),
        ("a=[x", "[x"),
        ("a=note: this", "note: this"),
        ("a=#tag", "#tag"),
        ("a=" + "9" * 30, "9" * 30),
    ],
)
def test_a_value_is_what_it_looks_like(text: str, value: object) -> None:
    (found,) = parse_assignments([text], "--set").values()
    assert found == value
    assert type(found) is type(value)


def test_of_a_key_given_twice_the_last_counts() -> None:
    assert parse_assignments(["a=1", "b=2", "a=3"], "--set") == {"a": 3, "b": 2}


@pytest.mark.parametrize("text", ["", "a", "=x", " =x", "a=[x]]", "a={x: [}", 'a="x" y"'])
def test_what_is_no_assignment_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        parse_assignments([text], "--set")
