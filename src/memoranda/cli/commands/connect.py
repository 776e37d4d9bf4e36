"""`memoranda connect`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memoranda.cli.clients.places import Client
from memoranda.cli.options import ClientProjectOption, ClientReadOnlyOption, JsonOption

if TYPE_CHECKING:
    from memoranda.cli.clients.places import Place
    from memoranda.cli.clients.records import RecordStore
    from memoranda.cli.clients.reports import Commands
    from memoranda.cli.clients.servers import Server

_NAME = r"[A-Za-z0-9_-]{1,64}"


def connect(
    client: Annotated[
        Client | None,
        typer.Argument(
            metavar="CLIENT",
            help="claude-code, claude-desktop, cursor, vscode, codex or chatgpt; left out: list them.",
        ),
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Put the entry into the client's file.")
    ] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take back what --write did.")] = False,
    project: ClientProjectOption = None,
    read_only: ClientReadOnlyOption = False,
    url: Annotated[
        str | None,
        typer.Option(
            "--url",
            metavar="URL",
            help="Reach a running `memoranda serve` there, as http://127.0.0.1:8765/mcp.",
        ),
    ] = None,
    entry: Annotated[
        str, typer.Option("--entry", metavar="NAME", help="What the client shall call the server.")
    ] = "memoranda",
    file: Annotated[
        str | None,
        typer.Option("--file", metavar="FILE", help="The client's file, when it is elsewhere."),
    ] = None,
    as_json: JsonOption = False,
) -> int:
    """Connect a client to your notes: show its configuration, write it, or take it back.

    Without --write nothing is changed: it shows what would be written, and where. With it only the entry
    is put into the client's file, every other byte stays, and a copy of the file is kept beside it. --undo
    gives the file its old bytes, or takes out the entry alone if the file has changed since. A token is
    never written into a file. Without CLIENT it lists the clients and which of them are connected.
    """
    import re

    from memoranda.cli.clients.here import file_here, server_here
    from memoranda.cli.clients.places import Place
    from memoranda.cli.clients.reports import Commands
    from memoranda.cli.clients.servers import takes_remote
    from memoranda.cli.command_line import command_line
    from memoranda.cli.connect import ENTRY

    is_about_one = (
        write or undo or read_only or any(each is not None for each in (project, url, file))
    )
    if client is None and is_about_one:
        raise typer.BadParameter("name the client", param_hint="CLIENT")
    _check_options(write=write, undo=undo, has_choice=project is not None or read_only, url=url)
    if not re.fullmatch(_NAME, entry):
        raise typer.BadParameter("use letters, digits, - and _, at most 64", param_hint="--entry")
    if file is not None and not file.strip():
        raise typer.BadParameter("name the client's file", param_hint="--file")
    if client is None:
        return _list(entry, as_json=as_json)
    path = file_here(client, file)
    if path is None or (url and not undo and not takes_remote(client)):
        return _by_hand(
            client, url, write="--undo" if undo else "--write" if write else "", as_json=as_json
        )
    place = Place(client, path, entry)
    named = [
        *(["--entry", entry] if entry != ENTRY else []),
        *(["--file", str(path)] if file else []),
    ]
    chosen = [
        *(["--project", project] if project else []),
        *(["--read-only"] if read_only else []),
        *(["--url", url] if url else []),
    ]
    if undo:
        return _undo(place, as_json=as_json)
    server = server_here(project, url, read_only=read_only)
    commands = Commands(
        write=command_line("connect", client, "--write", *chosen, *named),
        undo=command_line("connect", client, "--undo", *named),
        token=command_line("token", "--show"),
    )
    if write:
        return _write(place, server, commands, is_elsewhere=file is not None, as_json=as_json)
    return _show(place, server, commands, as_json=as_json)


def _check_options(*, write: bool, undo: bool, has_choice: bool, url: str | None) -> None:
    if write and undo:
        raise typer.BadParameter("give --write or --undo", param_hint="--undo")
    if url is None:
        return
    if has_choice:
        raise typer.BadParameter(
            "the project and --read-only are chosen where the server is started, by memoranda serve",
            param_hint="--url",
        )
    _check_url(url)


def _check_url(url: str) -> None:
    """Only an address of HTTP, without a secret in it: it is written into a file and shown."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_usable, parts = False, None
    if not is_usable or parts is None or not url.isascii() or not url.isprintable() or " " in url:
        raise typer.BadParameter("write it as http://127.0.0.1:8765/mcp", param_hint="--url")
    if not parts.path:
        raise typer.BadParameter("name the endpoint as well, usually /mcp", param_hint="--url")
    if parts.username is not None or parts.query or parts.fragment:
        raise typer.BadParameter(
            "it must have no name, password, query or fragment", param_hint="--url"
        )


def _list(entry: str, *, as_json: bool) -> int:
    from memoranda.cli.clients.here import file_here, missing_folder, server_here
    from memoranda.cli.clients.looking import look
    from memoranda.cli.clients.places import Place
    from memoranda.cli.clients.reports import Row, list_data, list_text
    from memoranda.cli.command_line import command_line

    server, store = server_here(None, None, read_only=False), _records()
    rows = []
    for client in Client:
        file = file_here(client, None)
        if file is None:
            rows.append(Row(client, None, None, is_installed=True))
            continue
        is_installed = missing_folder(client, file) is None
        seen = look(Place(client, file, entry), server, store)
        rows.append(Row(client, file, seen, is_installed))
    return _say(list_data(rows), list_text(rows, command_line("connect")), as_json)


def _by_hand(client: Client, url: str | None, *, write: str, as_json: bool) -> int:
    """Say what a person must do. `write` is the option that asks for what is not possible, "" for none."""
    from memoranda.cli.clients.reports import steps_data, steps_text
    from memoranda.cli.clients.steps import steps_for, why_not_written
    from memoranda.cli.errors import runnable
    from memoranda.errors import InvalidArgument

    reason, steps = why_not_written(client), [runnable(step) for step in steps_for(client, url)]
    if write:
        raise InvalidArgument(
            write, reason, hint=f"`memoranda connect {client} --url URL` prints the steps by hand."
        )
    return _say(steps_data(client, steps, reason), steps_text(steps, reason), as_json)


def _show(place: Place, server: Server, commands: Commands, *, as_json: bool) -> int:
    from memoranda.cli.clients.looking import look
    from memoranda.cli.clients.reports import plan_data, plan_text

    seen = look(place, server, _records())
    return _say(plan_data(place, server, seen), plan_text(place, server, seen, commands), as_json)


def _write(
    place: Place, server: Server, commands: Commands, *, is_elsewhere: bool, as_json: bool
) -> int:
    from memoranda.cli.clients.connecting import connect as put_in
    from memoranda.cli.clients.here import missing_folder
    from memoranda.cli.clients.reports import outcome_data, written_text
    from memoranda.cli.output import write_note

    missing = None if is_elsewhere else missing_folder(place.client, place.file)
    outcome = put_in(place, server, _records())
    if missing is not None:
        write_note(
            f"note: {place.kind.title} does not seem to be installed here: there is no {missing}. "
            "Once it is, it finds the entry."
        )
    text = written_text(place, outcome, server, commands)
    return _say(outcome_data(place, outcome), text, as_json)


def _undo(place: Place, *, as_json: bool) -> int:
    from memoranda.cli.clients.connecting import disconnect
    from memoranda.cli.clients.reports import outcome_data, outcome_text

    outcome = disconnect(place, _records())
    return _say(outcome_data(place, outcome), outcome_text(place, outcome), as_json)


def _records() -> RecordStore:
    from memoranda.cli.clients.records import RecordStore
    from memoranda.config import config_dir

    return RecordStore(config_dir())


def _say(data: dict[str, object], text: str, as_json: bool) -> int:
    from memoranda.cli.output import write_json, write_text

    if as_json:
        write_json(data)
    else:
        write_text(text)
    return 0
