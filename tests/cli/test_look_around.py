"""Folders, recent notes and neighbourhoods on the command line, and one JSON for people and programs."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from tests.cli.conftest import Cli

from memoranda.config import load_settings
from memoranda.container import Container
from memoranda.files.clock import SystemClock
from memoranda.mcp.server import build_server
from memoranda.mcp.session import Session


def rows(text: str) -> list[list[str]]:
    """The cells of a table: two blanks part them."""
    return [re.split(" {2,}", line) for line in text.splitlines()]


def test_a_folder_is_a_table_of_folders_and_notes(ready: Cli) -> None:
    head, folder, *notes = rows(ready("ls").out)
    assert head == ["NAME", "TITLE", "UPDATED", "SIZE"]
    assert folder == ["garden/", "2 notes"]
    assert [row[0] for row in notes] == ["broken header.md", "Garden diary.md"]
    assert rows(ready("ls", "garden").out)[1][:2] == ["Compost.md", "Compost"]
    assert ready("ls", "garden").out == ready("ls", "garden/").out
    deep = ready("ls", "--depth", 2, "--glob", "*beds*").out
    assert [row[0] for row in rows(deep)[1:]] == ["garden/", "garden/Garden beds.md"]


def test_a_long_list_says_how_to_go_on(ready: Cli) -> None:
    first = ready("ls", "-n", 2)
    assert first.err == "note: 2 of 3 entries; go on with --page 2\n"
    second = ready("ls", "-n", 2, "--page", 2)
    assert (len(rows(second.out)), second.err) == (2, "")
    assert "--page 1" in ready("ls", "--page", 9).out
    assert ready("recent", "-n", 2).err.endswith("; go on with --page 2\n")
    assert ready("recent", "-n", 2, "--page", 2).err.count("--page") == 0


def test_a_folder_of_the_machine_is_one_of_the_project(ready: Cli, notes: Path) -> None:
    assert ready("ls", notes / "garden").out == ready("ls", "garden").out
    assert ready("ls", notes).out == ready("ls").out


def test_the_date_of_a_header_and_the_time_of_a_file_have_two_names(
    ready: Cli, notes: Path
) -> None:
    dated = notes / "dated" / "n.md"
    dated.parent.mkdir()
    dated.write_text("---\nmodified: 2020-02-02T10:00:00\n---\n")
    os.utime(dated, (1_000_000_000, 1_000_000_000))
    listed, recent = rows(ready("ls", "dated").out), rows(ready("recent", "2001-01-01").out)
    assert dict(zip(*listed, strict=True))["UPDATED"].startswith("2020-02-02")
    assert dict(zip(recent[0], recent[-1], strict=True))["CHANGED"].startswith("2001-09-09")


def test_recent_takes_a_time_of_several_words_and_types(ready: Cli, notes: Path) -> None:
    os.utime(notes / "garden" / "Compost.md", (1_000_000_000, 1_000_000_000))
    head, *found = rows(ready("recent", "last", "week").out)
    assert head == ["CHANGED", "TITLE", "TYPE", "NOTE"]
    assert len(found) == 3
    assert ready("recent").out == ready("recent", "--since", "7d").out
    assert [row[-1] for row in rows(ready("recent", "--type", "diary").out)[1:]] == [
        "Garden diary.md"
    ]
    assert len(rows(ready("recent", "2001-01-01").out)) == 5
    assert "not both" in ready("recent", "7d", "--since", "7d").err


def test_nothing_recent_says_what_would_find_something(ready: Cli, notes: Path) -> None:
    for note in notes.rglob("*.md"):
        os.utime(note, (1_000_000_000, 1_000_000_000))
    said = ready("recent").out
    assert said.startswith("0 notes changed since ")
    assert "`memoranda recent 2001-09-" in said
    assert "timeframe" not in said


def test_context_speaks_of_options_and_leaves_the_note_as_it_is(ready: Cli, notes: Path) -> None:
    text = "Uses max_related=1 and timeframe.\n\n- and build_context, see [[Compost]] [[Garden beds]]\n"
    (notes / "tools.md").write_text(text)
    said = ready("context", "tools", "--max-related", 1).out
    assert text in said
    below = said.partition("--- note text ends\n")[2]
    assert "memoranda context tools --max-related 2" in below
    assert "build_context" not in below


def test_context_goes_further_and_narrows(ready: Cli, notes: Path) -> None:
    (notes / "start.md").write_text("[[Compost]]\n")

    def found(*options: object) -> list[str]:
        (context,) = ready("context", "start", "--json", *options).json["contexts"]
        return [each["permalink"] for each in context["related"]]

    assert found() == ["garden/compost"]
    assert found("--depth", 2) == ["garden/compost", "garden/garden-beds"]
    assert found("--depth", 2, "-n", 1) == ["garden/compost"]
    assert found("-n", 0) == []
    assert ready("context", "garden/*", "--json").json["total"] == 2
    assert ready("context", "").code == 2


async def _asked(calls: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    async def open_container() -> Container:
        return await Container.open(load_settings())

    session = Session(open_container, SystemClock())
    async with Client(build_server(session)) as client:
        return [
            dict(
                (await client.call_tool(tool, given | {"output_format": "json"})).structured_content
            )
            for tool, given in calls
        ]


def test_the_json_is_that_of_the_tool(ready: Cli) -> None:
    ready("edit", "Compost", "--append", "- one")
    edit = {"path": "Compost", "content_updates": "- two", "operation": "append", "dry_run": True}
    same: list[tuple[list[object], str, dict[str, Any]]] = [
        (["read", "Compost"], "read_note", {"path": "Compost"}),
        (["ls", "garden"], "list_directory", {"path": "garden"}),
        (["recent", "2001-01-01"], "recent_activity", {"timeframe": "2001-01-01"}),
        (["context", "Compost"], "build_context", {"path": "Compost"}),
        (["edit", "Compost", "--append", "- two", "--dry-run"], "edit_note", edit),
        (
            ["mv", "garden", "yard", "--dry-run"],
            "move_note",
            {"path": "garden", "destination": "yard", "dry_run": True},
        ),
        (["history", "list"], "note_history", {}),
        (["history", "show", 1], "note_history", {"change_id": 1}),
        (["undo", 1, "--dry-run"], "undo_change", {"change_id": 1, "dry_run": True}),
    ]
    answers = asyncio.run(_asked([(tool, given) for _, tool, given in same]))
    for (arguments, tool, _), answer in zip(same, answers, strict=True):
        own = ready(*arguments, "--json").json
        assert {key: own.get(key) for key in answer} == answer, tool


def test_a_written_note_is_told_as_the_tool_tells_it(ready: Cli, notes: Path) -> None:
    own = ready("write", "Frost", "--content", "On [[Compost]].", "--json").json
    given = {"title": "Rime", "directory": "", "content": "On [[Compost]]."}
    (tool,) = asyncio.run(_asked([("write_note", given)]))
    assert own.keys() == tool.keys()
    assert own["action"] == tool["action"] == "created"
    deleted = ready("rm", "frost", "--json").json
    (other,) = asyncio.run(_asked([("delete_note", {"path": "rime"})]))
    assert deleted.keys() == other.keys()


@pytest.mark.parametrize(
    "command", ["ls", "recent", "context", "write", "edit", "mv", "rm", "undo"]
)
def test_an_unknown_project_is_never_replaced_by_the_default(ready: Cli, command: str) -> None:
    arguments = {"context": ["x"], "write": ["x"], "edit": ["x", "--append", "y"], "mv": ["a", "b"]}
    more = {"rm": ["x"], "undo": ["1"]}
    given = (arguments | more).get(command, [])
    done = ready(command, *given, "--project", "nope")
    assert (done.code, "There is no project 'nope'" in done.err) == (1, True)
