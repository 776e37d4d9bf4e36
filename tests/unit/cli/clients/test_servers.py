"""What is written into clients' files, and what of it is ours."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from memoranda.cli.clients.documents import snippet
from memoranda.cli.clients.places import Client, kind_of
from memoranda.cli.clients.servers import (
    Remote,
    Stdio,
    client_command,
    entry_merged,
    entry_of,
    input_of,
    is_ours,
    is_same,
)
from memoranda.cli.clients.steps import steps_for

STDIO = Stdio(("/opt/memoranda", "mcp"), {})
OWN_FOLDER = Stdio(("/opt/memoranda", "mcp"), {"BASIC_MEMORY_CONFIG_DIR": "/data"})
HERE = Remote("http://127.0.0.1:8765/mcp", has_token=False)
THERE = Remote("https://notes.example.org/mcp", has_token=True)
WITH_FILE = [each for each in Client if each is not Client.CHATGPT]
WITH_URL = [each for each in WITH_FILE if each is not Client.CLAUDE_DESKTOP]


@pytest.mark.parametrize("client", WITH_FILE)
def test_a_server_that_the_client_starts(client: Client) -> None:
    entry = entry_of(client, OWN_FOLDER, "memoranda")
    has_type = client in {Client.CLAUDE_CODE, Client.VSCODE}
    assert entry == {
        **({"type": "stdio"} if has_type else {}),
        "command": "/opt/memoranda",
        "args": ["mcp"],
        "env": {"BASIC_MEMORY_CONFIG_DIR": "/data"},
    }
    assert "env" not in entry_of(client, STDIO, "memoranda")
    assert input_of(client, STDIO, "memoranda") is None


@pytest.mark.parametrize(
    ("client", "entry"),
    [
        (
            Client.CLAUDE_CODE,
            {
                "type": "http",
                "url": THERE.url,
                "headers": {"Authorization": "Bearer ${BASIC_MEMORY_HTTP_TOKEN}"},
            },
        ),
        (
            Client.CURSOR,
            {
                "url": THERE.url,
                "headers": {"Authorization": "Bearer ${env:BASIC_MEMORY_HTTP_TOKEN}"},
            },
        ),
        (
            Client.VSCODE,
            {
                "type": "http",
                "url": THERE.url,
                "headers": {"Authorization": "Bearer ${input:notes-token}"},
            },
        ),
        (
            Client.CODEX,
            {"url": THERE.url, "bearer_token_env_var": "BASIC_MEMORY_HTTP_TOKEN"},
        ),
    ],
)
def test_a_server_that_runs_already(client: Client, entry: dict[str, Any]) -> None:
    assert entry_of(client, THERE, "notes") == entry
    bare = {key: entry[key] for key in entry if key in {"type", "url"}}
    assert entry_of(client, HERE, "notes") == bare | {"url": HERE.url}


def test_vscode_asks_for_the_token_and_nobody_else_does() -> None:
    question = input_of(Client.VSCODE, THERE, "notes")
    assert question is not None
    assert (question["type"], question["id"], question["password"]) == (
        "promptString", "notes-token", True,
    )  # fmt: skip
    assert input_of(Client.VSCODE, HERE, "notes") is None
    assert input_of(Client.CURSOR, THERE, "notes") is None
    entry = entry_of(Client.VSCODE, THERE, "notes")
    assert '"inputs"' in snippet(kind_of(Client.VSCODE), "notes", entry, question)


def test_commands_of_the_clients_themselves() -> None:
    assert shlex.split(client_command(Client.CLAUDE_CODE, OWN_FOLDER, "notes")) == [
        "claude", "mcp", "add", "--scope", "user", "notes",
        "--env", "BASIC_MEMORY_CONFIG_DIR=/data", "--", "/opt/memoranda", "mcp",
    ]  # fmt: skip
    assert shlex.split(client_command(Client.CLAUDE_CODE, THERE, "notes")) == [
        "claude", "mcp", "add", "--scope", "user", "--transport", "http", "notes", THERE.url,
        "--header", "Authorization: Bearer ${BASIC_MEMORY_HTTP_TOKEN}",
    ]  # fmt: skip
    assert shlex.split(client_command(Client.CODEX, THERE, "notes")) == [
        "codex", "mcp", "add", "notes", "--url", THERE.url,
        "--bearer-token-env-var", "BASIC_MEMORY_HTTP_TOKEN",
    ]  # fmt: skip
    assert shlex.split(client_command(Client.CODEX, STDIO, "notes")) == [
        "codex", "mcp", "add", "notes", "--", "/opt/memoranda", "mcp",
    ]  # fmt: skip
    assert client_command(Client.CURSOR, STDIO, "notes") == ""


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "/other/bin/memoranda", "args": ["mcp", "--project", "x"]},
        {"command": r"C:\env\Scripts\Memoranda.exe", "args": ["mcp"]},
        {"command": "/usr/bin/python3", "args": ["-m", "memoranda", "mcp"]},
        {"command": "uvx", "args": ["memoranda", "mcp"]},
        {"url": "http://127.0.0.1:8765/mcp"},
        {"type": "http", "url": THERE.url},
    ],
)
def test_entries_of_ours(entry: dict[str, Any]) -> None:
    assert is_ours(entry, THERE)


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "npx", "args": ["-y", "memoranda-of-others", "mcp"]},
        {"command": "/opt/memoranda", "args": ["serve"]},
        {"command": "basic-memory", "args": ["mcp"]},
        {"url": "http://127.0.0.1:3845/mcp"},
        {"command": ["memoranda", "mcp"]},
        {"command": "memoranda", "args": "mcp"},
        {},
        "memoranda mcp",
        None,
    ],
)
def test_entries_of_others(entry: object) -> None:
    assert not is_ours(entry, THERE)


def test_what_a_person_added_to_our_entry_stays() -> None:
    old: dict[str, Any] = {
        "command": "/old/memoranda",
        "args": ["mcp"],
        "env": {"BASIC_MEMORY_CONFIG_DIR": "/old", "BASIC_MEMORY_LOG_LEVEL": "DEBUG"},
        "disabled": True,
    }
    assert entry_merged(old, entry_of(Client.CURSOR, STDIO, "m")) == {
        "command": "/opt/memoranda",
        "args": ["mcp"],
        "env": {"BASIC_MEMORY_LOG_LEVEL": "DEBUG"},
        "disabled": True,
    }
    remote = entry_of(Client.CURSOR, THERE, "m")
    assert entry_merged(old, remote) == {**remote, "disabled": True}
    kept = entry_merged({"url": "x", "headers": {"X": "1", "Authorization": "secret"}}, remote)
    assert kept == {**remote, "headers": {"X": "1", **remote["headers"]}}  # type: ignore[dict-item]
    assert entry_merged(None, remote) == remote


def test_what_clients_write_and_need_not_be_written_makes_no_difference() -> None:
    entry = entry_of(Client.CLAUDE_CODE, STDIO, "m")
    assert is_same({**entry, "env": {}}, entry)
    assert is_same({"command": "/opt/memoranda", "args": ["mcp"]}, entry)
    assert not is_same({**entry, "args": ["mcp", "--read-only"]}, entry)


@pytest.mark.parametrize("client", [Client.CHATGPT, Client.CLAUDE_DESKTOP])
def test_steps_name_the_address_and_the_host(client: Client) -> None:
    steps = "\n".join(steps_for(client, THERE.url))
    assert THERE.url in steps
    assert "--allow-host notes.example.org" in steps
    assert "http://127.0.0.1" not in "\n".join(steps_for(client, HERE.url))
    assert steps_for(client, HERE.url)[0].startswith("Choose a public HTTPS address")
    odd = "\n".join(steps_for(client, "https://[2001:db8::1]:8443/{mcp}"))
    assert "https://[2001:db8::1]:8443/{mcp}" in odd
    assert "--allow-host [2001:db8::1]`" in odd
    assert ("chatgpt" in steps) == (client is Client.CHATGPT)


@pytest.mark.parametrize("client", WITH_URL)
def test_no_token_is_in_any_form(client: Client) -> None:
    entry = entry_of(client, THERE, "m")
    text = snippet(kind_of(client), "m", entry, input_of(client, THERE, "m"))
    assert "Bearer $" in text or 'bearer_token_env_var = "BASIC' in text
