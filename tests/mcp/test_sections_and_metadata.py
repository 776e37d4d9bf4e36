"""Sections and frontmatter keys through read_note and edit_note."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    Caller = Any

NOTE = (
    "---\r\ntitle: Plan   # mine\r\ntags: [a, 'b']\r\nstatus: open\r\n---\r\n"
    "# Plan\r\n\r\nintro\r\n\r\n## Done\r\n\r\n- [fact] one\r\n  - [fact] two\r\n\r\n"
    "## Open\r\n\r\n### Done\r\n\r\n- b\r\n"
)


@pytest.fixture
def note(caller: Caller) -> Path:
    path = caller.root / "plan.md"
    path.write_bytes(NOTE.encode())
    return path


def text_of(note: Path) -> str:
    return note.read_bytes().decode()


def put(note: Path, text: str) -> None:
    note.write_bytes(text.encode())


def changed_at(note: Path) -> int:
    return note.stat().st_mtime_ns


async def test_read_note_reads_one_section(caller: Caller, note: Path) -> None:
    data = await caller.data("read_note", path="plan", section="Open")
    assert data["content"] == "## Open\r\n\r\n### Done\r\n\r\n- b\r\n"
    assert (data["start_line"], data["end_line"], data["next_line"]) == (15, 19, None)
    assert data["observations"] == []
    data = await caller.data("read_note", path="plan", section="plan > done")
    assert data["content"].startswith("## Done\r\n\r\n- [fact] one")
    assert len(data["observations"]) == 2
    text = await caller.text("read_note", path="plan", section="Open")
    assert text.startswith("## Open\r\n")
    assert "intro" not in text


async def test_lines_of_a_section_go_on_inside_it(caller: Caller, note: Path) -> None:
    filler = "word " * 50 + "\r\n"
    put(note, NOTE + filler * 3 + "# Next\r\n\r\nafter\r\n")
    data = await caller.data("read_note", path="plan", section="Open", max_chars=300)
    assert data["next_line"] == 21
    rest = await caller.data("read_note", path="plan", section="Open", start_line=21)
    assert rest["content"] == filler * 2
    assert rest["next_line"] is None
    error = await caller.error("read_note", path="plan", section="Open", start_line=23)
    assert (error["code"], error["parameter"]) == ("INVALID_ARGUMENT", "start_line")
    assert "lines 15 to 22" in error["hint"]


@pytest.mark.parametrize("tool", ["read_note", "edit_note"])
async def test_a_missing_or_ambiguous_section_is_an_error(
    caller: Caller, note: Path, tool: str
) -> None:
    more: dict[str, Any] = {"content_updates": "x", "operation": "replace_section"}
    more = more if tool == "edit_note" else {}
    error = await caller.error(tool, path="plan", section="Missing", **more)
    assert error["code"] == "SECTION_NOT_FOUND"
    assert error["outline"] == ["Plan", "Plan > Done", "Plan > Open", "Plan > Open > Done"]
    put(note, NOTE + "### Done\r\n")
    error = await caller.error(tool, path="plan", section="Open > Done", **more)
    assert error["code"] == "AMBIGUOUS_NAME"
    assert len(error["candidates"]) == 2
    assert text_of(note) == NOTE + "### Done\r\n"


async def test_the_outline_names_sections_with_their_lines(caller: Caller, note: Path) -> None:
    data = await caller.data("read_note", path="plan")
    assert [list(entry.values()) for entry in data["outline"][:2]] == [
        [1, "Plan", 6, 19, "plan"],
        [2, "Done", 10, 14, data["outline"][1]["slug"]],
    ]
    assert list(data["outline"][0]) == ["level", "text", "line", "end_line", "slug"]
    for entry in data["outline"]:
        part = await caller.data("read_note", path="plan", section=entry["slug"])
        assert (part["start_line"], part["end_line"]) == (entry["line"], entry["end_line"])


async def test_a_nested_observation_names_its_parent(caller: Caller, note: Path) -> None:
    one, two = (await caller.data("read_note", path="plan"))["observations"]
    assert "parent" not in one
    assert (two["parent"], two["parent_line"]) == ("[fact] one", 12)


@pytest.mark.parametrize(
    ("operation", "section", "expected"),
    [
        ("replace_section", "Plan > Done", NOTE.replace("- [fact] one\r\n  - [fact] two", "x")),
        ("replace_section", "Plan > Open > Done", NOTE.replace("- b", "x")),
        ("insert_before_section", "Open", NOTE.replace("## Open", "x\r\n\r\n## Open")),
        ("insert_after_section", "Open", NOTE + "\r\nx\r\n"),
    ],
)
async def test_edit_note_edits_sections(
    caller: Caller, note: Path, operation: str, section: str, expected: str
) -> None:
    data = await caller.data(
        "edit_note", path="plan", operation=operation, section=section, content_updates="x"
    )
    assert data["action"] == "updated"
    assert "+x" in data["diff"]
    assert text_of(note) == expected


async def test_an_empty_text_empties_a_section(caller: Caller, note: Path) -> None:
    edit = {"operation": "replace_section", "section": "plan > done", "content_updates": ""}
    await caller.text("edit_note", path="plan", **edit)
    assert text_of(note) == NOTE.replace("- [fact] one\r\n  - [fact] two\r\n\r\n", "")


@pytest.mark.parametrize("more", [{}, {"content_updates": ""}, {"content_updates": None}])
async def test_metadata_is_set_and_deleted_alone(
    caller: Caller, note: Path, more: dict[str, Any]
) -> None:
    values = {"status": None, "tags": ["a", "b", "c"], "title": "The plan", "new": {"x": 1}}
    data = await caller.data("edit_note", path="plan", metadata=values, **more)
    assert data["title"] == "The plan"
    assert data["tags"] == ["a", "b", "c"]
    head = "---\r\ntitle: The plan   # mine\r\ntags: [a, 'b', c]\r\nnew:\r\n  x: 1\r\n---\r\n"
    assert text_of(note) == head + NOTE[NOTE.index("# Plan\r\n") :]
    read = await caller.data("read_note", path="plan")
    assert "status" not in read["frontmatter"]


async def test_metadata_may_come_as_json_text(caller: Caller, note: Path) -> None:
    await caller.text("edit_note", path="plan", metadata='{"status": null, "n1": 7}')
    assert text_of(note) == NOTE.replace("status: open", "n1: 7")


async def test_text_and_metadata_change_together_or_not_at_all(caller: Caller, note: Path) -> None:
    await caller.text("edit_note", path="plan", content_updates="last", metadata={"status": "done"})
    assert text_of(note) == NOTE.replace("open", "done") + "last\r\n"
    put(note, NOTE.replace("open", "a: b"))
    error = await caller.error(
        "edit_note", path="plan", content_updates="last", metadata={"status": "done"}
    )
    assert (error["code"], error["parameter"]) == ("INVALID_ARGUMENT", "metadata")
    assert text_of(note) == NOTE.replace("open", "a: b")


async def test_setting_what_is_there_changes_nothing(caller: Caller, note: Path) -> None:
    before = changed_at(note)
    data = await caller.data("edit_note", path="plan", metadata={"status": "open", "gone": None})
    assert data["action"] == "unchanged"
    assert "diff" not in data
    assert changed_at(note) == before


async def test_a_dry_run_of_metadata_shows_the_diff_only(caller: Caller, note: Path) -> None:
    text = await caller.text("edit_note", path="plan", metadata={"status": None}, dry_run=True)
    assert "-status: open" in text
    assert text_of(note) == NOTE


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({}, "content_updates"),
        ({"metadata": {}}, "content_updates"),
        ({"operation": "append"}, "content_updates"),
        ({"operation": "prepend", "metadata": {"a": 1}}, "content_updates"),
        ({"find_text": "x", "metadata": {"a": 1}}, "content_updates"),
        ({"section": "Open", "metadata": {"a": 1}}, "content_updates"),
        ({"content_updates": "x", "section": "Open"}, "section"),
        ({"content_updates": "x", "operation": "replace", "section": "Open"}, "section"),
        ({"content_updates": "x", "operation": "insert_after_section"}, "section"),
        ({"content_updates": "x", "operation": "replace_section", "section": "Open", "find_text": "b"}, "find_text"),
        ({"content_updates": "```", "operation": "replace_section", "section": "plan > done"}, "content_updates"),
        ({"metadata": {"": 1}}, "metadata"),
    ],
)  # fmt: skip
async def test_arguments_that_do_not_go_together_are_refused(
    caller: Caller, note: Path, arguments: dict[str, Any], parameter: str
) -> None:
    error = await caller.error("edit_note", path="plan", **arguments)
    assert (error["code"], error["parameter"]) == ("INVALID_ARGUMENT", parameter)
    assert text_of(note) == NOTE


async def test_edit_note_warns_of_text_in_an_open_fence(caller: Caller, note: Path) -> None:
    put(note, "```\ncode\n")
    data = await caller.data("edit_note", path="plan", content_updates="x")
    assert data["warnings"] == [
        "The text was added inside a code fence, comment or HTML that nothing closes."
    ]
    shown = await caller.text("edit_note", path="plan", content_updates="y", dry_run=True)
    assert "Warning: The text was added inside" in shown
