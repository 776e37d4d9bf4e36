"""What a resource's URI may name."""

from __future__ import annotations

import pytest

from memoranda.errors import InvalidUri
from memoranda.mcp.note_resources import parse_note_uri


@pytest.mark.spec("7.3")
@pytest.mark.parametrize(
    ("text", "project", "names"),
    [
        ("memory://a/b", None, ("a/b",)),
        ("MEMORY://A/b/", None, ("A/b",)),
        ("memory:///a", None, ("a",)),
        ("memory://a%20b", None, ("a b", "a%20b")),
        ("memory://100%", None, ("100%",)),
        ("memory://a%ff", None, ("a%ff",)),
        ("memory://@Work%20Notes/a", "Work Notes", ("a",)),
        ("memory://%40home/a", None, ("@home/a", "%40home/a")),
        ("memory://id/7", None, ("memory://id/7",)),
        ("memory://@job/id/7", "job", ("id/7",)),
    ],
)
def test_what_is_encoded_comes_first(
    text: str, project: str | None, names: tuple[str, ...]
) -> None:
    parsed = parse_note_uri(text)
    assert (parsed.project, parsed.names) == (project, names)


@pytest.mark.parametrize(
    ("text", "owner"),
    [
        ("memory://job/a/b", ("job", "a/b")),
        ("memory://%40job%2Fa", ("job", "a")),
        ("memory://a", None),
        ("memory://@job/a/b", None),
        ("memory://id/7", None),
    ],
)
def test_the_first_segment_may_be_a_project(text: str, owner: tuple[str, str] | None) -> None:
    assert parse_note_uri(text).owner == owner


@pytest.mark.spec("7.2")
@pytest.mark.parametrize("text", ["memory://", "memory://a?", "memory://a%3A%2F%2Fb", "notes/a"])
def test_what_is_no_address_says_why(text: str) -> None:
    with pytest.raises(InvalidUri) as caught:
        parse_note_uri(text)
    assert caught.value.hint.startswith("Use memory://")
