"""`memoranda serve`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from memoranda.cli.options import JsonOption

if TYPE_CHECKING:
    from memoranda.http.server import Serving

HostOption = Annotated[
    str | None,
    typer.Option("--host", metavar="ADDRESS", help="Where to listen; default 127.0.0.1."),
]
PortOption = Annotated[
    int | None,
    typer.Option("--port", min=0, max=65_535, help="Default 8765; 0 is any free one."),
]


def serve(
    host: HostOption = None,
    port: PortOption = None,
    path: Annotated[
        str | None, typer.Option("--path", metavar="PATH", help="Of the endpoint; default /mcp.")
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Only let clients read.")] = False,
    token_file: Annotated[
        str | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            help="The file with the token; default: http.token in the configuration folder, if it is there.",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="NAME",
            help="A further name of the server, as behind a reverse proxy; may be repeated.",
        ),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-origin",
            metavar="ORIGIN",
            help="A web page, such as https://chat.example.org, whose scripts may call; may be repeated.",
        ),
    ] = None,
    project: Annotated[
        str | None,
        typer.Option("--project", "-p", metavar="NAME", help="The default project for clients."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Serve the notes to assistants over MCP (HTTP), until Ctrl-C.

    Only programs on this machine can reach it, and no web page. At any other address than 127.0.0.1
    clients must send a token (see `memoranda token`); put TLS before it, for it speaks plain HTTP.
    """
    from memoranda.cli.commands.stdio import choose, ignore_env_file
    from memoranda.http.plan import Asked
    from memoranda.http.prepared import prepared

    choose(project)
    asked = Asked(
        host=host,
        port=port,
        path=path,
        hosts=tuple(allow_host or ()),
        origins=tuple(allow_origin or ()),
        is_read_only=read_only,
    )
    what = prepared(asked, token_file=token_file)
    ignore_env_file()
    from memoranda.http.server import serve as run

    run(what, lambda serving: _say(serving, as_json=as_json))


def _say(serving: Serving, *, as_json: bool) -> None:
    """Say where it serves. It serves on when nobody can be told, as without a terminal; the log says it too."""
    from loguru import logger

    from memoranda.cli.output import OutputLost, ReaderGone, write_json, write_text

    try:
        if as_json:
            write_json(_data(serving))
        else:
            write_text("\n".join(_lines(serving)))
        sys.stdout.flush()  # a program may wait for it at the other end of a pipe
    except (OSError, OutputLost, ReaderGone):
        logger.warning("Standard output takes nothing")


def _data(serving: Serving) -> dict[str, object]:
    return {
        "urls": list(serving.urls),
        "needs_token": serving.needs_token,
        "is_open": serving.is_open,
        "read_only": serving.is_read_only,
        "projects": serving.projects,
    }


def _lines(serving: Serving) -> list[str]:
    from memoranda.cli.command_line import command_line
    from memoranda.render.notes import count

    reading = ", only for reading," if serving.is_read_only else ""
    lines = [f"Serving {count(serving.projects, 'project')}{reading} at {serving.urls[0]}"]
    lines += [f"  and at {url}" for url in serving.urls[1:]]
    if not serving.projects:
        lines.append(f"  There is no project yet; make one with: {command_line('up', 'PATH')}")
    if serving.needs_token:
        lines.append(f"  Clients must send the token; where it is: {command_line('token')}")
    else:
        lines.append("  Every program on this machine may use it; no other machine, no web page.")
    if serving.is_open:
        lines.append(
            "  Other machines reach it by an address of this one in figures, or by a name that is given\n"
            "  with --allow-host; in plain text: put TLS before it."
        )
    connect = command_line("connect", "claude-code", "--write", "--url", serving.urls[0])
    lines.append(f"  Connect an assistant, for example with: {connect}")
    lines.append("  Ctrl-C ends it.")
    return lines
