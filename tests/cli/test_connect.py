"""`memoranda connect` on real files: written, taken back, refused."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from pathlib import Path

import pytest
from tests.cli.conftest import Cli

from memoranda.cli.command_line import command_line
from memoranda.cli.connect import server_command

FILES = {
    "claude-code": ".claude.json",
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
    "codex": ".codex/config.toml",
}
TEXTS = {
    "claude-code": b'{"numStartups":3,"projects":{"/home/you/x":{"mcpServers":{}}},"mcpServers":{}}',
    "claude-desktop": b'{\r\n\t"mcpServers": {\r\n\t\t"a": {"command": "x"}\r\n\t},\r\n\t"b": 1\r\n}',
    "cursor": b'\xef\xbb\xbf{\n    "mcpServers": {\n        // mine\n    },\n}\n\n',
    "vscode": b'{\n  // \xc3\xa4\n  "servers": {"a": {"command": "x"},},\n  "inputs": [],\n}\n',
    "codex": b'model = "x"\n\n[mcp_servers.a] # c\ncommand = "y"',
}
REMOTE = ("--url", "https://notes.example.org/mcp")
TOKEN = "t" * 40


@pytest.fixture
def person(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder in which no client was started yet."""
    for name in ("APPDATA", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    folder = home.parent / "home"
    folder.mkdir()
    return folder


def put(person: Path, client: str, data: bytes | None = None) -> Path:
    file = person / FILES[client]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(TEXTS[client] if data is None else data)
    return file


def everything(folder: Path) -> dict[str, bytes | None]:
    """All that lies below the folder; None stands for a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def entry_in(client: str, file: Path, name: str = "memoranda") -> dict[str, object]:
    text = file.read_text("utf-8-sig")
    if client == "codex":
        found: dict[str, object] = tomllib.loads(text)["mcp_servers"][name]
        return found
    table = "servers" if client == "vscode" else "mcpServers"
    lines = [line for line in text.splitlines() if not line.strip().startswith("//")]
    bare = "".join(lines).replace(" ", "").replace(",}", "}").replace(",}", "}")
    entry: dict[str, object] = json.loads(bare)[table][name]
    return entry


@pytest.mark.parametrize("client", FILES)
@pytest.mark.parametrize("options", [(), REMOTE])
def test_write_and_undo_leave_the_file_byte_equal(
    cli: Cli, person: Path, home: Path, client: str, options: tuple[str, ...]
) -> None:
    if client == "claude-desktop" and options:
        return
    file = put(person, client)
    file.chmod(0o640)
    before = everything(person)
    written = cli("connect", client, "--write", *options)
    assert (written.code, written.err) == (0, "")
    entry = entry_in(client, file)
    if options:
        assert entry["url"] == REMOTE[1]
    else:
        assert [entry["command"], *entry["args"]] == server_command()  # type: ignore[misc]
        assert entry["env"] == {"BASIC_MEMORY_CONFIG_DIR": str(home)}
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    backup = file.with_name(f"{file.name}.before-memoranda")
    assert backup.read_bytes() == TEXTS[client]
    assert stat.S_IMODE(backup.stat().st_mode) == 0o640
    assert str(backup) in written.out
    undone = cli("connect", client, "--undo")
    assert (undone.code, undone.err) == (0, "")
    assert "byte for byte" in undone.out
    assert everything(person) == before
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


@pytest.mark.parametrize("client", FILES)
def test_a_file_that_was_not_there_is_made_and_goes_again(
    cli: Cli, person: Path, client: str
) -> None:
    done = cli("connect", client, "--write")
    assert done.code == 0
    assert "does not seem to be installed" in done.err
    file = person / FILES[client]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert entry_in(client, file)["args"] == ["mcp"]
    assert cli("connect", client, "--undo", "--json").json["action"] == "removed"
    assert everything(person) == {}


def test_without_write_nothing_is_changed(cli: Cli, person: Path, home: Path) -> None:
    file = put(person, "claude-code")
    shown = cli("connect", "claude-code")
    assert shown.code == 0
    assert f"{file}\n" in shown.out
    assert "Connected: no\n" in shown.out
    assert '"mcpServers": {' in shown.out
    assert " connect claude-code --write\n" in shown.out
    assert everything(person) == {".claude.json": TEXTS["claude-code"]}
    assert not home.exists()


def test_of_a_client_that_is_connected_the_way_back_is_shown(cli: Cli, person: Path) -> None:
    cli("connect", "cursor", "--write")
    shown = cli("connect", "cursor").out
    assert "Connected: yes\n" in shown
    assert f"Take it back: {command_line('connect', 'cursor', '--undo')}\n" in shown
    assert "Write it" not in shown
    put(person, "cursor", b'{"mcpServers": {"memoranda": {"command": "npx"}}}')
    assert "--entry NAME" in cli("connect", "cursor").out


def test_writing_twice_does_nothing_the_second_time(cli: Cli, person: Path) -> None:
    put(person, "cursor")
    cli("connect", "cursor", "--write")
    after = everything(person)
    again = cli("connect", "cursor", "--write")
    assert again.code == 0
    assert "nothing to do" in again.out
    assert everything(person) == after
    cli("connect", "cursor", "--undo")
    before = everything(person)
    for _ in range(2):
        assert cli("connect", "cursor", "--undo", "--json").json["action"] == "unchanged"
    assert everything(person) == before


def test_other_options_bring_the_entry_up_to_date_and_undo_goes_back_to_the_beginning(
    cli: Cli, person: Path, home: Path
) -> None:
    home.mkdir()
    projects = {"projects": {"my notes": "/notes"}}
    (home / "config.json").write_text(json.dumps(projects))
    file = put(person, "vscode")
    before = everything(person)
    cli("connect", "vscode", "--write", *REMOTE)
    asked = file.read_text()
    assert '"id": "memoranda-token"' in asked
    update = cli("connect", "vscode", "--write", "--project", "MY NOTES", "--read-only")
    assert update.code == 0
    assert "brought up to date" in update.out
    arguments = entry_in("vscode", file)["args"]
    assert arguments == ["mcp", "--project", "mynotes", "--read-only"]  # blanks are dropped above
    assert cli("connect", "vscode", "--undo", "--json").json["action"] == "restored"
    assert everything(person) == before


def test_what_the_client_changed_since_stays(cli: Cli, person: Path) -> None:
    file = put(person, "claude-code")
    cli("connect", "claude-code", "--write")
    value = json.loads(file.read_bytes())
    value["numStartups"] = 4
    value["mcpServers"]["other"] = {"command": "x"}
    file.write_text(json.dumps(value, indent=2))
    undone = cli("connect", "claude-code", "--undo")
    assert undone.code == 0
    assert "only the entry memoranda was taken out" in undone.out
    assert f"{file}.before-memoranda" in undone.out
    del value["mcpServers"]["memoranda"]
    assert file.read_text() == json.dumps(value, indent=2)


def test_a_later_copy_never_replaces_an_earlier_one(cli: Cli, person: Path) -> None:
    file = put(person, "codex")
    cli("connect", "codex", "--write")
    grown = file.read_bytes() + b'\n[mcp_servers.later]\ncommand = "z"\n'
    file.write_bytes(grown)
    update = cli("connect", "codex", "--write", "--read-only", "--json").json
    assert update["action"] == "updated"
    assert update["backup"] == f"{file}.before-memoranda-2"
    assert Path(update["backup"]).read_bytes() == grown
    assert file.with_name("config.toml.before-memoranda").read_bytes() == TEXTS["codex"]
    undone = cli("connect", "codex", "--undo", "--json").json
    assert undone["action"] == "taken_out"
    assert f"{file}.before-memoranda, {file}.before-memoranda-2" in undone["reason"]
    assert file.read_bytes() == TEXTS["codex"] + b'\n\n[mcp_servers.later]\ncommand = "z"\n'


def test_a_file_that_was_made_goes_only_when_nothing_of_others_is_in_it(
    cli: Cli, person: Path
) -> None:
    file = person / FILES["cursor"]
    cli("connect", "cursor", "--write")
    file.write_bytes(file.read_bytes() + b"\n")
    assert cli("connect", "cursor", "--undo", "--json").json["action"] == "removed"
    assert everything(person) == {}
    cli("connect", "cursor", "--write")
    value = json.loads(file.read_bytes()) | {"other": 1}
    file.write_text(json.dumps(value))
    assert cli("connect", "cursor", "--write", "--read-only").code == 0
    assert cli("connect", "cursor", "--undo", "--json").json["action"] == "taken_out"
    assert json.loads(file.read_bytes()) == {"other": 1}


def test_an_entry_by_hand_is_updated_and_comes_back(cli: Cli, person: Path) -> None:
    text = b'{"mcpServers": {"memoranda": {"command": "/old/memoranda", "args": ["mcp"], "x": 1}}}'
    file = put(person, "claude-desktop", text)
    assert cli("connect", "claude-desktop", "--write", "--json").json["action"] == "updated"
    entry = entry_in("claude-desktop", file)
    assert entry["command"] == server_command()[0]
    assert entry["x"] == 1
    file.write_bytes(file.read_bytes() + b"\n")
    cli("connect", "claude-desktop", "--undo")
    assert file.read_bytes() == text + b"\n"


def test_an_entry_of_another_program_is_left_alone(cli: Cli, person: Path) -> None:
    file = put(person, "cursor", b'{"mcpServers": {"memoranda": {"command": "npx"}}}')
    before = everything(person)
    refused = cli("connect", "cursor", "--write")
    assert refused.code == 1
    assert "another program" in refused.err
    assert "--entry" in refused.err
    assert everything(person) == before
    assert cli("connect", "cursor", "--write", "--entry", "notes").code == 0
    assert json.loads(file.read_bytes())["mcpServers"]["memoranda"] == {"command": "npx"}
    file.write_bytes(b'{"mcpServers": {"notes": {"command": "npx"}}}')
    assert cli("connect", "cursor", "--undo", "--entry", "notes").code == 1
    assert cli("connect", "cursor", "--write", "--entry", "notes").code == 1
    assert file.read_bytes() == b'{"mcpServers": {"notes": {"command": "npx"}}}'


def test_an_entry_that_the_client_took_out_is_not_to_be_taken_back(cli: Cli, person: Path) -> None:
    file = put(person, "cursor", b'{"a": 1}')
    cli("connect", "cursor", "--write")
    file.write_bytes(b'{"a": 2}')
    undone = cli("connect", "cursor", "--undo")
    assert undone.code == 0
    assert "nothing to do" in undone.out
    cli("connect", "cursor", "--write")
    file.unlink()
    assert "nothing to do" in cli("connect", "cursor", "--undo").out
    assert not file.exists()


def test_undo_without_a_record_changes_nothing_and_says_why(
    cli: Cli, person: Path, home: Path
) -> None:
    put(person, "cursor")
    assert "it is not connected" in cli("connect", "cursor", "--undo").out
    cli("connect", "cursor", "--write")
    for record in (home / ".clients").glob("*.json"):
        assert stat.S_IMODE(record.stat().st_mode) == 0o600
        record.unlink()
    before = everything(person)
    undone = cli("connect", "cursor", "--undo")
    assert undone.code == 0
    assert "not written by this command" in undone.out
    assert everything(person) == before


def test_a_lost_copy_is_not_needed(cli: Cli, person: Path) -> None:
    file = put(person, "claude-desktop")
    cli("connect", "claude-desktop", "--write")
    file.with_name(f"{file.name}.before-memoranda").write_bytes(b"spoiled")
    assert cli("connect", "claude-desktop", "--undo", "--json").json["action"] == "restored"
    assert file.read_bytes() == TEXTS["claude-desktop"]


@pytest.mark.parametrize(
    ("client", "data", "reason"),
    [
        ("claude-code", b'{"a": 1,}', "line 1, is not JSON"),
        ("claude-code", b'{"a": 1}\n// c', "line 2, is not JSON"),
        ("claude-desktop", b'{"mcpServers": {}, "mcpServers": {}}', "twice"),
        ("cursor", b'{"mcpServers": []}', "not an object"),
        ("cursor", b"[]", "no JSON object"),
        ("vscode", b'{"a": "\xff"}', "line 1, is not UTF-8"),
        ("vscode", '{"a": 1}'.encode("utf-16"), "is not UTF-8"),
        ("vscode", b'{"inputs": {}}', "not an array"),
        ("codex", b"a = ", "is not TOML"),
        ("codex", b"mcp_servers = 1", "not a table"),
    ],
)
def test_a_file_that_cannot_be_changed_safely_is_left_alone(
    cli: Cli, person: Path, client: str, data: bytes, reason: str
) -> None:
    file = put(person, client, data)
    before = everything(person)
    options = REMOTE if client == "vscode" else ()
    refused = cli("connect", client, "--write", *options)
    assert refused.code == 1
    assert refused.err.startswith(f"error: {file}")
    assert reason in refused.err
    assert "hint: Nothing was changed." in refused.err
    assert everything(person) == before
    error = cli("connect", client, "--write", *options, "--json").json["error"]
    assert error["code"] == "CONFIG_ERROR"
    if reason != "not an array":
        assert "unknown" in cli("connect").out


def test_what_is_no_file_and_what_is_read_only_is_refused(cli: Cli, person: Path) -> None:
    (person / ".claude.json").mkdir()
    assert "is a folder" in cli("connect", "claude-code", "--write").err
    file = put(person, "cursor")
    file.chmod(0o444)
    before = everything(person)
    refused = cli("connect", "cursor", "--write")
    assert refused.code == 1
    assert "read-only" in refused.err
    assert everything(person) == before
    (person / ".codex").write_bytes(b"a file")
    assert cli("connect", "codex", "--write").code == 1
    os.mkfifo(person / "pipe")
    assert "not a file" in cli("connect", "vscode", "--write", "--file", person / "pipe").err
    (person / "round").symlink_to(person / "round")
    assert cli("connect", "vscode", "--write", "--file", person / "round").code == 1


def test_a_link_keeps_pointing_where_it_points(cli: Cli, person: Path) -> None:
    dotfiles = person / "dotfiles" / "cursor.json"
    dotfiles.parent.mkdir()
    dotfiles.write_bytes(TEXTS["cursor"])
    link = person / FILES["cursor"]
    link.parent.mkdir()
    link.symlink_to("../dotfiles/cursor.json")
    before = everything(person)
    assert cli("connect", "cursor", "--write").code == 0
    assert link.is_symlink()
    assert not dotfiles.is_symlink()
    assert entry_in("cursor", dotfiles)
    assert link.with_name("mcp.json.before-memoranda").read_bytes() == TEXTS["cursor"]
    assert cli("connect", "cursor", "--undo").code == 0
    assert link.is_symlink()
    assert everything(person) == before


def test_another_file_can_be_named(cli: Cli, person: Path) -> None:
    file = person / "with blanks" / "mcp.json"
    done = cli("connect", "vscode", "--write", "--file", file, "--entry", "notes")
    assert (done.code, done.err) == (0, "")
    assert f"connect vscode --undo --entry notes --file '{file}'" in done.out
    assert cli("connect", "vscode", "--undo", "--entry", "notes", "--file", file).code == 0
    assert everything(person) == {}


def test_the_list_says_which_clients_are_connected(
    cli: Cli, person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(person, "cursor")
    monkeypatch.setenv("CODEX_HOME", str(person / "c"))
    cli("connect", "cursor", "--write", "--entry", "notes")
    cli("connect", "claude-code", "--write", "--read-only")
    rows = {row["client"]: row for row in cli("connect", "--json").json["clients"]}
    assert rows["cursor"]["other_entry"] == "notes"
    assert rows["claude-code"]["connected"] == "other"
    assert rows["claude-desktop"]["connected"] == "no"
    assert rows["claude-desktop"]["installed"] is False
    assert rows["codex"]["file"] == str(person / "c" / "config.toml")
    assert rows["chatgpt"]["file"] is None
    cli("connect", "claude-code", "--write")
    text = cli("connect").out
    assert "cursor          yes, as notes " in text
    assert "claude-code     yes " in text


def test_a_token_is_asked_for_where_the_server_asks_and_is_never_written(
    cli: Cli, person: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = ("--url", "http://127.0.0.1:8765/mcp")
    assert cli("connect", "cursor", *here, "--json").json["needs_token"] is False
    assert cli("connect", "cursor", *REMOTE, "--json").json["needs_token"] is True
    named = ("--url", "http://127.example.org/mcp")
    assert cli("connect", "cursor", *named, "--json").json["needs_token"] is True
    home.mkdir()
    (home / "http.token").write_text(TOKEN)
    assert cli("connect", "cursor", *here, "--json").json["needs_token"] is True
    (home / "http.token").unlink()
    monkeypatch.setenv("BASIC_MEMORY_HTTP_TOKEN", TOKEN)
    line = f'export BASIC_MEMORY_HTTP_TOKEN="$({command_line("token", "--show")})"\n'
    assert line in cli("connect", "cursor", *here).out
    assert line in cli("connect", "cursor", "--write", *here).out
    assert "this prints it" in cli("connect", "vscode", *here).out
    assert "${env:BASIC_MEMORY_HTTP_TOKEN}" in (person / FILES["cursor"]).read_text()
    monkeypatch.delenv("BASIC_MEMORY_HTTP_TOKEN")
    monkeypatch.setenv("BASIC_MEMORY_HTTP_TOKEN_FILE", str(home / "t"))
    assert cli("connect", "codex", *here, "--json").json["needs_token"] is True
    for data in everything(home.parent).values():
        assert TOKEN.encode() not in (data or b"")


@pytest.mark.parametrize(
    "arguments", [("chatgpt",), ("chatgpt", *REMOTE), ("claude-desktop", *REMOTE)]
)
def test_what_no_file_can_do_is_told_step_by_step(
    cli: Cli, person: Path, arguments: tuple[str, ...]
) -> None:
    shown = cli("connect", *arguments)
    assert shown.code == 0
    assert "1. " in shown.out
    assert "https://notes.example.org/mcp" in shown.out
    assert " serve " in shown.out
    refused = cli("connect", *arguments, "--write")
    assert refused.code == 1
    assert refused.err.splitlines()[0].startswith("error: ")
    assert "hint: " in refused.err
    assert len(cli("connect", *arguments, "--json").json["steps"]) >= 4
    assert everything(person) == {}


@pytest.mark.parametrize(
    "arguments",
    [
        ("--write",),
        ("--undo",),
        ("--project", "x"),
        ("--read-only",),
        ("--file", "x"),
        ("cursor", "--write", "--undo"),
        ("nobody",),
        ("cursor", *REMOTE, "--project", "x"),
        ("cursor", *REMOTE, "--read-only"),
        ("cursor", "--url", "notes.example.org"),
        ("cursor", "--url", "ftp://notes.example.org/mcp"),
        ("cursor", "--url", "https://you:secret@notes.example.org/mcp"),
        ("cursor", "--url", "https://notes.example.org/mcp?token=x"),
        ("cursor", "--url", "http://[::1/mcp"),
        ("cursor", "--url", "http://127.0.0.1:8765"),
        ("cursor", "--url", "http://127.0.0.1:8765/ä"),
        ("cursor", "--entry", "two words"),
        ("cursor", "--entry", ""),
        ("cursor", "--file", " "),
    ],
)
def test_wrong_usage(cli: Cli, person: Path, arguments: tuple[str, ...]) -> None:
    refused = cli("connect", *arguments)
    assert refused.code == 2
    assert "secret" not in refused.err
    assert everything(person) == {}


def test_a_project_that_is_not_there_is_refused(cli: Cli, person: Path) -> None:
    refused = cli("connect", "cursor", "--write", "--project", "nowhere")
    assert refused.code == 1
    assert "nowhere" in refused.err
    assert everything(person) == {}


def test_a_spoiled_record_is_said(cli: Cli, person: Path, home: Path) -> None:
    put(person, "cursor")
    cli("connect", "cursor", "--write")
    [record] = (home / ".clients").glob("*.json")
    record.write_text("{}")
    before = everything(person)
    for option in ("--undo", "--write"):
        assert "does not say" in cli("connect", "cursor", option).err
    assert everything(person) == before


def test_clients_and_files_are_completed(cli: Cli) -> None:
    clients = cli("completion", "bash", "--", "connect", "c").out.split()
    assert clients == ["claude-code", "claude-desktop", "cursor", "codex", "chatgpt"]
    assert cli("completion", "bash", "--", "connect", "cursor", "--file", "").out == "\x1f\n"


def test_a_client_without_a_file_has_none_under_another_name(cli: Cli, person: Path) -> None:
    file = put(person, "cursor", b"{}")
    shown = cli("connect", "chatgpt", "--file", file).out
    assert shown.startswith("ChatGPT keeps its apps")
    assert "\n1. " in shown
    assert cli("connect", "chatgpt", "--write", "--file", file).code == 1
    assert file.read_bytes() == b"{}"


def test_a_date_in_an_entry_of_ours_stays(cli: Cli, person: Path) -> None:
    text = (
        b'[mcp_servers.memoranda]\ncommand = "/old/memoranda"\nargs = ["mcp"]\nadded = 2026-01-01\n'
    )
    file = put(person, "codex", text)
    assert cli("connect", "codex", "--write").code == 0
    assert b"added = 2026-01-01\n" in file.read_bytes()
    assert cli("connect", "codex", "--undo", "--json").json["action"] == "restored"
    assert file.read_bytes() == text


def test_an_entry_with_an_address_that_was_written_here_is_known_as_ours(
    cli: Cli, person: Path, home: Path
) -> None:
    cli("connect", "cursor", "--write", *REMOTE)
    rows = {row["client"]: row["connected"] for row in cli("connect", "--json").json["clients"]}
    assert rows["cursor"] == "other"
    shown = cli("connect", "cursor").out
    assert "yes, in another way" in shown
    assert "connect cursor --undo\n" in shown
    assert "connect cursor --write\n" in shown
    [record] = (home / ".clients").glob("*.json")
    record.write_text("{}")
    assert "does not say" in cli("connect", "cursor").out


def test_commands_that_are_shown_work_in_any_folder(
    cli: Cli, person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(person)
    done = cli("connect", "cursor", "--write", "--file", "mcp.json").out
    assert f"connect cursor --undo --file {person / 'mcp.json'}\n" in done


def test_a_file_with_a_second_name_is_left_alone(cli: Cli, person: Path) -> None:
    file = put(person, "cursor")
    (person / "dotfiles.json").hardlink_to(file)
    before = everything(person)
    refused = cli("connect", "cursor", "--write")
    assert refused.code == 1
    assert "2 names" in refused.err
    assert everything(person) == before
