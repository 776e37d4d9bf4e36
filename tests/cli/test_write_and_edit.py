"""Writing, changing and deleting notes from the command line."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Cli

from memoranda.cli.command_line import command_line
from memoranda.cli.version import version
from memoranda.sync.lease import Lease
from memoranda.sync.sync_service import INDEX_VERSION

COMPOST = "garden/Compost.md"


def changes(cli: Cli) -> list[dict[str, object]]:
    """All that is recorded, the oldest first."""
    return list(reversed(cli("history", "list", "--json").json["changes"]))


def test_a_note_has_the_header_and_the_text_that_were_given(ready: Cli, notes: Path) -> None:
    done = ready(
        "write", "Frost", "--dir", "garden", "--tag", "weather,garden", "--tag", "cold",
        "--type", "log", "--meta", "degrees=-3", "--meta", "seen_by=[Ana, 7]", "--content", "White beds.",
    )  # fmt: skip
    assert done.code == 0
    assert (notes / "garden" / "frost.md").read_text() == (
        "---\ntitle: Frost\ntype: log\ntags:\n  - weather\n  - garden\n  - cold\ndegrees: -3\n"
        "seen_by:\n  - Ana\n  - 7\n---\n\nWhite beds."
    )


def test_what_is_written_is_found_by_the_next_command_without_a_sync(ready: Cli) -> None:
    ready("write", "Frost", "--content", "Rime on the espalier.")
    found = ready("search", "espalier", "--mode", "fts", "--json").json
    assert [hit["title"] for hit in found["results"]] == ["Frost"]
    ready("edit", "Frost", "--append", "And icicles.")
    assert ready("search", "icicles", "--mode", "fts", "--json").json["total"] == 1
    ready("rm", "frost")
    assert ready("search", "espalier", "--mode", "fts", "--json").json["total"] == 0


@pytest.mark.parametrize("options", [[], ["--content", "-"], ["--file", "-"]])
def test_the_text_comes_from_standard_input(ready: Cli, notes: Path, options: list[str]) -> None:
    assert ready("write", "Frost", *options, stdin="Fünf\n").code == 0
    assert (notes / "frost.md").read_text().endswith("---\n\nFünf\n")


def test_the_text_comes_from_a_file(ready: Cli, notes: Path, tmp_path: Path) -> None:
    file = tmp_path / "draft.txt"
    file.write_bytes(b"\xef\xbb\xbfFrom a file.\n")
    assert ready("write", "Frost", "--file", file).code == 0
    assert (notes / "frost.md").read_text().endswith("---\n\nFrom a file.\n")
    missing = ready("write", "Rime", "--file", tmp_path / "missing")
    assert (missing.code, "cannot be read" in missing.err) == (1, True)
    file.write_bytes(b"\xff")
    assert "is not UTF-8: byte 0" in ready("write", "Rime", "--file", file).err
    assert "is not UTF-8: byte 0" in ready("edit", "Frost", "--append", "-", stdin=b"\xff").err
    assert not (notes / "rime.md").exists()


def test_the_history_says_that_it_was_the_command_line(ready: Cli) -> None:
    ready("write", "Frost", "--content", "x")
    ready("edit", "Frost", "--append", "y")
    ready("rm", "frost")
    said = [(each["client"], each["client_version"], each["tool"]) for each in changes(ready)]
    assert said == [("memoranda", version(), tool) for tool in ("write", "edit", "rm")]


def test_every_change_names_the_command_that_takes_it_back(ready: Cli, notes: Path) -> None:
    note = notes / "frost.md"
    ready("write", "Frost", "--content", "x")
    before = note.read_bytes()
    for number, arguments in enumerate(
        (
            ("write", "Frost", "--content", "y", "--overwrite"),
            ("edit", "Frost", "--append", "more"),
            ("rm", "frost"),
        )
    ):
        done = ready(*arguments)
        change_id = 2 * number + 2
        way_back = command_line("undo", str(change_id), project="my notes")
        assert done.out.splitlines()[-1] == f"Undo: {way_back}", arguments
        assert ready("undo", change_id).code == 0
        assert note.read_bytes() == before, arguments


def test_what_changes_nothing_has_no_way_back(ready: Cli) -> None:
    ready("edit", "Compost", "--set", "title=Compost2")
    done = ready("edit", "Compost", "--set", "title=Compost2")
    assert done.out.startswith("Unchanged: ")
    assert "Undo: " not in done.out
    assert "Undo: " not in ready("edit", "Compost", "--append", "x", "--dry-run").out


def test_a_note_that_is_there_is_replaced_only_when_asked(ready: Cli, notes: Path) -> None:
    ready("write", "Frost", "--content", "old")
    before = (notes / "frost.md").read_bytes()
    words = ("write", "Frost", "--content", "new")
    refused = ready(*words, "--json")
    assert (refused.code, refused.json["error"]["code"]) == (1, "NOTE_EXISTS")
    assert "--overwrite" in refused.json["error"]["hint"]
    assert (notes / "frost.md").read_bytes() == before
    conflict = ready(*words, "--expect-checksum", "0" * 64, "--json").json["error"]
    assert conflict["code"] == "CONFLICT"
    assert ready(*words, "--expect-checksum", conflict["checksum"]).code == 0
    assert (notes / "frost.md").read_text().endswith("\n\nnew")


@pytest.mark.parametrize(
    ("options", "old", "new"),
    [
        (["--append", "- last"], "- feeds [[Garden beds]]\n", "- feeds [[Garden beds]]\n- last\n"),
        (["--prepend", "First."], "\n# Compost\n", "First.\n\n# Compost\n"),
        (["--find", "every week", "--replace-with", "daily"], "every week", "daily"),
        (["--find", "#ratio", "--replace-with", ""], " #ratio", " "),
        (["--find", "part", "--replace-with", "share", "--count", "2"], "", ""),
        (["--set", "tags=[heap]"], "tags: [garden, soil]", "tags: [heap]"),
        (["--set", 'size="3"', "--set", "weight=3"], "soil]\n", 'soil]\nsize: "3"\nweight: 3\n'),
        (["--unset", "tags"], "tags: [garden, soil]\n", ""),
        (["--append", "- x", "--set", "tags=[a]"], "", ""),
    ],
)
def test_an_edit_changes_what_was_asked_and_no_other_byte(
    ready: Cli, notes: Path, options: list[str], old: str, new: str
) -> None:
    note = notes / COMPOST
    before = note.read_text()
    dry = ready("edit", "Compost", *options, "--dry-run", "--json")
    assert (dry.code, dry.json["dry_run"], note.read_text()) == (0, True, before)
    done = ready("edit", "Compost", *options, "--json")
    assert done.code == 0, done.out
    assert done.json.get("diff") == dry.json.get("diff")
    if old:
        assert note.read_text() == before.replace(old, new, 1)


def test_a_text_and_the_header_are_changed_in_one_edit(ready: Cli, notes: Path) -> None:
    before = (notes / COMPOST).read_text()
    ready("edit", "Compost", "--append", "- x", "--set", "tags=[a]")
    now = (notes / COMPOST).read_text()
    assert now == before.replace("[garden, soil]", "[a]") + "- x\n"
    assert len(changes(ready)) == 1


def test_an_edit_at_a_section(ready: Cli, notes: Path) -> None:
    note = notes / "plan.md"
    note.write_text("# Plan\n\n## Now\n\nDig.\n\n## Later\n\nRest.\n")
    ready("edit", "plan", "--section", "Now", "--text", "Sow.")
    assert "## Now\n\nSow.\n\n## Later" in note.read_text()
    ready("edit", "plan", "--section", "Plan > Later", "--before", "## Soon\n\nWater.\n")
    ready("edit", "plan", "--section", "later", "--after", "The end.")
    assert [line for line in note.read_text().splitlines() if line] == [
        "# Plan", "## Now", "Sow.", "## Soon", "Water.", "## Later", "Rest.", "The end.",
    ]  # fmt: skip


@pytest.mark.parametrize("option", ["--append", "--prepend", "--body"])
def test_a_text_that_is_a_minus_is_read_from_standard_input(
    ready: Cli, notes: Path, option: str
) -> None:
    assert ready("edit", "Compost", option, "-", stdin=b"\xef\xbb\xbfFrom a pipe.\n").code == 0
    text = (notes / COMPOST).read_text()
    assert "From a pipe." in text
    assert "\ufeff" not in text, "the mark belongs to the stream and not to its text"


def test_a_find_that_does_not_fit_changes_nothing_and_speaks_of_options(
    ready: Cli, notes: Path
) -> None:
    before = (notes / COMPOST).read_bytes()
    none = ready("edit", "Compost", "--find", "zebra", "--replace-with", "x")
    many = ready("edit", "Compost", "--find", "part", "--replace-with", "x", "--json")
    assert (none.code, many.code) == (1, 1)
    assert f"The text of --find is not in {COMPOST}, expected once" in none.err
    assert "find_text" not in many.out.replace('"parameter": "find_text"', "")
    assert "is 2 times in" in many.json["error"]["message"]
    assert "--count" in many.json["error"]["hint"]
    assert (notes / COMPOST).read_bytes() == before


def test_a_name_may_be_a_path_of_the_machine_or_an_address(
    ready: Cli, notes: Path, tmp_path: Path
) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "plan.md").write_text("# Plan\n")
    ready("project", "add", "work", tmp_path / "work")
    assert ready("read", notes / COMPOST).code == 0
    assert ready("edit", notes / COMPOST, "--append", "x").code == 0
    assert ready("edit", "memory://@work/plan", "--append", "more").code == 0
    assert (tmp_path / "work" / "plan.md").read_text() == "# Plan\nmore\n"
    refused = ready("edit", "memory://@work/plan", "--append", "x", "--project", "my notes")
    assert "is a note of the project work, not of my notes" in refused.err
    assert ready("rm", "memory://@work/plan").code == 0
    assert ready("read", tmp_path / "work" / "plan.md").code == 1


def test_several_notes_are_deleted_or_none(ready: Cli, notes: Path) -> None:
    done = ready("rm", "garden/compost", "no such note")
    assert done.code == 1
    assert (notes / COMPOST).exists()
    done = ready("rm", "garden/compost", "garden/garden-beds", "garden/Compost.md", "--json")
    assert [each["permalink"] for each in done.json["deleted"]] == [
        "garden/compost",
        "garden/garden-beds",
    ]
    assert not list((notes / "garden").glob("*.md"))


def test_a_title_is_no_exact_name_to_delete_by(ready: Cli, notes: Path) -> None:
    refused = ready("rm", "Compost")
    assert (refused.code, "garden/compost" in refused.err) == (1, True)
    assert (notes / COMPOST).exists()


def on_terminal(home: Path, answer: str, *arguments: str) -> tuple[int, str]:
    """Run a command in a process whose terminal answers, and what the terminal showed."""
    main_end, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "memoranda", *arguments],
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=terminal,
        env=os.environ | {"BASIC_MEMORY_CONFIG_DIR": str(home), "TERM": "dumb"},
    )
    os.close(terminal)
    asked = b""
    while b"[y/N]" not in asked:
        asked += os.read(main_end, 1000)
    os.write(main_end, answer.encode())
    process.communicate(timeout=50)
    os.close(main_end)
    return process.returncode, asked.decode()


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("\n", 1)])
def test_on_a_terminal_several_deletions_are_asked_for(
    ready: Cli, notes: Path, home: Path, answer: str, code: int
) -> None:
    done, asked = on_terminal(home, answer, "rm", "garden/compost", "garden-diary")
    assert done == code
    assert f"  {COMPOST}\r\n" in asked
    assert "Delete these 2 notes?" in asked
    assert (notes / COMPOST).exists() == (code == 1)


def test_commands_write_while_a_server_leads_the_project(
    ready: Cli, notes: Path, home: Path
) -> None:
    lease = Lease(home / "my-notes", version(), INDEX_VERSION)
    assert lease.acquire()
    try:
        assert ready("write", "Frost", "--content", "espalier").err == ""
        assert ready("edit", "Frost", "--append", "icicles").err == ""
        assert ready("mv", "frost", "garden/").err == ""
        found = ready("search", "espalier icicles", "--mode", "fts", "--json").json
        assert [hit["file_path"] for hit in found["results"]] == ["garden/frost.md"]
        assert ready("undo", "3").code == ready("undo", "2").code == ready("rm", "frost").code == 0
    finally:
        lease.release()
    assert not (notes / "frost.md").exists()


def test_the_names_that_other_commands_have_are_understood(ready: Cli, notes: Path) -> None:
    ready("edit", "Compost", "--find", "every week", "--replace", "daily")
    assert "Turn the heap daily." in (notes / "garden" / "Compost.md").read_text()
    done = ready("edit", "Compost", "--content", "x")
    assert done.code == 2
    assert done.err.splitlines()[0] == (
        "error: No such option: --content. The text goes into: --append, --prepend, --body, or with "
        "--section --text"
    )
    assert "goes into: --find\n" in ready("edit", "Compost", "--find-text", "x").err


def test_wrong_edits_are_wrong_usage(ready: Cli) -> None:
    for options, words in (
        ([], "say what to change"),
        (["--append", "x", "--body", "y"], "give one of them"),
        (["--find", "x"], "give --replace-with as well"),
        (["--replace-with", "x"], "it is for --find"),
        (["--find", "", "--replace-with", "x"], "give the text to find"),
        (["--section", "x"], "give --text, --before, --after as well"),
        (["--section", "x", "--text", "a", "--after", "b"], "give one of --text, --after as well"),
        (["--section", " ", "--text", "a"], "name a heading"),
        (["--before", "x"], "it is for --section"),
        (["--append", "x", "--count", "2"], "it is for --find"),
        (["--set", "=x"], "is not KEY=VALUE"),
        (["--set", "a=[x"], ""),
    ):
        done = ready("edit", "Compost", *options)
        assert (done.code, words in done.err) == (2 if words else 0, True), (options, done.err)
