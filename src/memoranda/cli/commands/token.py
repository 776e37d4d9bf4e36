"""`memoranda token`."""

from __future__ import annotations

from typing import Annotated

import typer

from memoranda.cli.options import JsonOption


def token(
    show: Annotated[
        bool, typer.Option("--show", help="Print the token that there is, and make none.")
    ] = False,
    new: Annotated[
        bool,
        typer.Option("--new", help="Make a new one; then start the server again."),
    ] = False,
    token_file: Annotated[
        str | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            help="Another file than http.token in the configuration folder.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make the token that clients of `memoranda serve` must send, and say where it is.

    It is made once and kept in a file that only you can read. A server asks for it from its next start; one
    that runs goes on asking for what it was started with.
    """
    from memoranda.cli.output import write_json, write_text
    from memoranda.config import http_token, load_settings
    from memoranda.errors import ConfigProblem
    from memoranda.http.tokens import configured_token, make_token, read_token, usual_file

    named = token_file or load_settings().http_token_file
    path = usual_file(named)
    is_set = http_token() is not None and token_file is None
    made = False
    if is_set and not new:
        value = configured_token() or ""
    else:
        try:
            value = "" if new else read_token(path)
        except FileNotFoundError:
            if show:
                raise ConfigProblem(
                    str(path),
                    "There is no token here yet",
                    hint="`memoranda token` makes one. A client of a server on another machine needs the "
                    "token of that server.",
                ) from None
            value = ""
        if not value:
            value, made = make_token(path), True
    if as_json:
        data: dict[str, object] = {"file": None if is_set and not made else str(path), "made": made}
        write_json(data | ({"token": value} if show else {}))
    elif show:
        write_text(value)
    elif is_set and not made:
        write_text("The token is in the environment variable BASIC_MEMORY_HTTP_TOKEN.")
    else:
        write_text(f"{'Made a token in' if made else 'The token is in'} {path}")
        if new:
            write_text("A server that runs takes the old one until it is started again.")
        if is_set:
            write_text("The variable BASIC_MEMORY_HTTP_TOKEN comes before it while it is set.")
