from __future__ import annotations

from memoranda.errors import AmbiguousName, Conflict, NoteNotFound
from memoranda.mcp.errors import error_data, error_text
from memoranda.render.bounds import compact


def test_an_error_has_code_message_hint_and_its_fields() -> None:
    assert error_data(NoteNotFound("x", ["xy"])) == {
        "error": {
            "code": "NOTE_NOT_FOUND",
            "message": "There is no note 'x'",
            "hint": "Near: xy.",
            "name": "x",
            "near": ["xy"],
        }
    }
    assert error_text(NoteNotFound("x", ["xy"])) == (
        "NOTE_NOT_FOUND: There is no note 'x'\nNear: xy."
    )


def test_a_conflict_says_the_checksum_in_both_forms() -> None:
    error = Conflict("a.md", "c" * 64)
    assert "c" * 64 in error_text(error)
    assert error_data(error)["error"]["checksum"] == "c" * 64


def test_errors_are_bounded_whatever_the_caller_sent() -> None:
    for error in (NoteNotFound("x" * 100_000), AmbiguousName("x", ["y" * 1000] * 1000)):
        assert len(error_text(error)) < 1500
        assert len(compact(error_data(error))) < 8000
