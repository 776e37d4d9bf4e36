"""How each client writes down a server of ours. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import assert_never

from memoranda.cli.clients.json_tree import Json
from memoranda.cli.clients.places import Client

USUAL_URL = "http://127.0.0.1:8765/mcp"
"""Where `memoranda serve` answers unless it is told otherwise."""
TOKEN_VARIABLE = "BASIC_MEMORY_HTTP_TOKEN"  # the name of a variable, not a token  # noqa: S105
_OUR_NAMES = frozenset({"memoranda", "memoranda.exe"})
_OUR_KEYS = frozenset({"type", "command", "args", "env", "url", "headers", "bearer_token_env_var"})
_FOLDER_VARIABLE = "BASIC_MEMORY_CONFIG_DIR"
_TOKEN_HEADER = "Authorization"  # noqa: S105  (the name of a header)

Entry = dict[str, Json]


@dataclass(frozen=True, slots=True)
class Stdio:
    """A server that the client starts itself.

    Attributes:
        command: its words, the program first, by its absolute path.
        environment: the variables that it needs beside the client's own.
    """

    command: tuple[str, ...]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Remote:
    """A server that runs already.

    Attributes:
        url: of its MCP endpoint.
        has_token: it asks for a token.
    """

    url: str
    has_token: bool


Server = Stdio | Remote


def is_here(url: str) -> bool:
    """Whether a server at this address runs on this machine for certain."""
    from ipaddress import ip_address
    from urllib.parse import urlsplit

    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:  # a name, whatever it begins with
        return False


def takes_remote(client: Client) -> bool:
    """Whether the client's file can name a server that runs already."""
    return client not in {Client.CLAUDE_DESKTOP, Client.CHATGPT}


def entry_of(client: Client, server: Server, name: str) -> Entry:
    """The server as the client's file has it. A token is never part of it.

    Args:
        client: one whose file takes such a server.
        server: what it shall reach.
        name: of the entry.
    """
    match server:
        case Stdio(command=command, environment=environment):
            entry: Entry = {"command": command[0], "args": list(command[1:])}
            if environment:
                entry["env"] = dict(environment)
            if client in {Client.CLAUDE_CODE, Client.VSCODE}:
                return {"type": "stdio", **entry}
            return entry
        case Remote(url=url, has_token=has_token):
            return _remote_entry(client, url, name, has_token=has_token)
        case _:
            assert_never(server)


def input_of(client: Client, server: Server, name: str) -> Entry | None:
    """The question by which VS Code asks for the token, once; None: nothing is to be asked."""
    if client is not Client.VSCODE or isinstance(server, Stdio) or not server.has_token:
        return None
    return {
        "type": "promptString",
        "id": _input_id(name),
        "description": "Token of Memoranda (memoranda token --show)",
        "password": True,
    }


def client_command(client: Client, server: Server, name: str) -> str:
    """The line by which the client adds the server itself, "" when it has none."""
    if client not in {Client.CLAUDE_CODE, Client.CODEX}:
        return ""
    begin = [client.value.partition("-")[0], "mcp", "add"]
    if client is Client.CLAUDE_CODE:
        begin += ["--scope", "user"]
    match server:
        case Stdio(command=command, environment=environment):
            variables = [
                word for key, value in environment.items() for word in ("--env", f"{key}={value}")
            ]
            return shlex.join([*begin, name, *variables, "--", *command])
        case Remote(url=url, has_token=has_token) if client is Client.CODEX:
            token = ["--bearer-token-env-var", TOKEN_VARIABLE] if has_token else []
            return shlex.join([*begin, name, "--url", url, *token])
        case Remote(url=url, has_token=has_token):
            header = f"Authorization: Bearer ${{{TOKEN_VARIABLE}}}"
            token = ["--header", header] if has_token else []
            return shlex.join([*begin, "--transport", "http", name, url, *token])
        case _:
            assert_never(server)


def is_ours(entry: object, server: Server | None = None) -> bool:
    """Whether an entry starts or reaches a Memoranda, of this installation or another.

    Args:
        entry: as it is in a client's file.
        server: what would be written; its URL is ours as well.
    """
    if not isinstance(entry, dict):
        return False
    if isinstance(url := entry.get("url"), str):
        return url == USUAL_URL or (isinstance(server, Remote) and url == server.url)
    command, arguments = entry.get("command"), entry.get("args", [])
    if not isinstance(command, str) or not isinstance(arguments, list):
        return False
    words = [command, *arguments]
    return any(
        isinstance(word, str)
        and re.split(r"[/\\]", word)[-1].lower() in _OUR_NAMES
        and after == "mcp"
        for word, after in pairwise(words)
    )


def entry_merged(old: Json, new: Entry) -> Entry:
    """Our entry with what a person or the client added to the one that is there.

    What says how the server is reached is ours; other keys stay, and so do variables and headers of
    other names.
    """
    if not isinstance(old, dict):
        return new
    key, own = ("env", _FOLDER_VARIABLE) if "command" in new else ("headers", _TOKEN_HEADER)
    there, wanted = old.get(key), new.get(key, {})
    if isinstance(there, dict) and isinstance(wanted, dict):
        joined = {name: value for name, value in there.items() if name != own} | wanted
        new = {**new, **({key: joined} if joined else {})}
    return new | {name: value for name, value in old.items() if name not in _OUR_KEYS}


def is_same(one: Entry, other: Entry) -> bool:
    """Whether two entries mean the same: what clients write and need not be written is left out."""
    return _bare(one) == _bare(other)


def _bare(entry: Entry) -> Entry:
    return {
        key: value
        for key, value in entry.items()
        if value not in ({}, None) and (key, value) != ("type", "stdio")
    }


def _remote_entry(client: Client, url: str, name: str, *, has_token: bool) -> Entry:
    match client:
        case Client.CODEX:
            return {"url": url, **({"bearer_token_env_var": TOKEN_VARIABLE} if has_token else {})}
        case Client.CLAUDE_CODE:
            entry: Entry = {"type": "http", "url": url}
            token = f"${{{TOKEN_VARIABLE}}}"
        case Client.CURSOR:
            entry, token = {"url": url}, f"${{env:{TOKEN_VARIABLE}}}"
        case Client.VSCODE:
            entry, token = {"type": "http", "url": url}, f"${{input:{_input_id(name)}}}"
        case Client.CLAUDE_DESKTOP | Client.CHATGPT:
            raise ValueError(f"the file of {client} takes no URL")
        case _:
            assert_never(client)
    return {**entry, "headers": {"Authorization": f"Bearer {token}"}} if has_token else entry


def _input_id(name: str) -> str:
    return f"{name}-token"
