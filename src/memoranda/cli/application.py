"""The commands, joined to one typer application.

Commands import what they work with inside their functions; importing this module costs the parser
alone. Help is plain text: typer's rich help would load rich for every `--help`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

import typer

from memoranda.cli.commands import (
    completion,
    config,
    connect,
    context,
    doctor,
    edit,
    history,
    ls,
    mcp,
    mv,
    project,
    read,
    recent,
    reindex,
    rm,
    search,
    searches,
    serve,
    status,
    sync,
    token,
    undo,
    up,
    write,
)
from memoranda.cli.errors import WRONG_USAGE, guarded, report, runnable
from memoranda.cli.output import write_note, write_text

_ABOUT = """Your notes, as a memory that every assistant shares.

Start with `memoranda up PATH`: it indexes a folder of Markdown notes and says how to connect an
assistant. Indexing never changes a note.
"""


_MEANT = {  # options that `write` or other programs have, and what does the same in a command
    ("edit", "--content"): "--append, --prepend, --body, or with --section --text",
    ("edit", "--find-text"): "--find",
}
_COMMANDS: Mapping[str, Callable[..., object] | typer.Typer] = {  # in the order of the help
    "up": up.up,
    "connect": connect.connect,
    "mcp": mcp.mcp,
    "serve": serve.serve,
    "token": token.token,
    "sync": sync.sync,
    "status": status.status,
    "doctor": doctor.doctor,
    "search": search.search,
    "searches": searches.searches,
    "read": read.read,
    "context": context.context,
    "recent": recent.recent,
    "ls": ls.ls,
    "write": write.write,
    "edit": edit.edit,
    "mv": mv.mv,
    "rm": rm.rm,
    "undo": undo.undo,
    "reindex": reindex.reindex,
    "completion": completion.completion,
    "project": project.commands,
    "history": history.commands,
    "config": config.commands,
}


def application(only: str = "") -> typer.Typer:
    """The application; built once a process.

    Args:
        only: the command that is needed; of no such name, all. Typer takes a millisecond for each.
    """
    app = typer.Typer(
        name="memoranda",
        help=_ABOUT,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    app.callback()(_root)
    for name, command in _COMMANDS.items():
        if only in _COMMANDS and only != name:
            continue
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name)(command)
    return app


def run_application(arguments: Sequence[str]) -> int:
    """Parse and run one command line.

    Returns:
        The exit code; wrong usage is reported here, other errors by `errors.guarded`.
    """
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    as_json = "--json" in options

    if unreadable := [word for word in arguments if not _is_text(word)]:
        shown = ascii(unreadable[0])
        report("USAGE", f"{shown} is not text in the terminal's encoding", as_json=as_json)
        return WRONG_USAGE

    def work() -> int:
        app = application(arguments[0] if arguments else "")
        if (text := _help(app, options)) is not None:
            write_text(text)
            return 0
        try:
            result = app(args=list(arguments), prog_name="memoranda", standalone_mode=False)
        except typer.TyperException as error:
            return _report_usage(error, as_json=as_json)
        except typer.Exit as ended:
            return ended.exit_code
        return result if isinstance(result, int) else 0

    return guarded(work, as_json=as_json)


def _root(
    version: Annotated[
        bool, typer.Option("--version", "-V", help="Print the version and end.", is_eager=True)
    ] = False,
) -> None:
    if version:
        from memoranda.cli.version import version as installed_version

        write_text(f"memoranda {installed_version()}")
        raise typer.Exit


def _help(app: typer.Typer, options: Sequence[str]) -> str | None:
    """The help that is asked for, else None; made without parsing, which would load pydantic."""
    if not {"--help", "-h"} & set(options):
        return None
    command = typer.main.get_command(app)
    context = typer.Context(command, info_name="memoranda", **command.context_settings)
    for word in options:
        inner = getattr(command, "commands", None)
        if inner is None or word.startswith("-"):
            break
        if word not in inner:
            return None  # the parser says that there is no such command
        command = inner[word]
        context = typer.Context(command, parent=context, info_name=word)
    return context.get_help()


def _report_usage(error: typer.TyperException, *, as_json: bool) -> int:
    context = getattr(error, "ctx", None)
    if error.__cause__ is not None:
        error.message = _plain(error.__cause__, error.message)
    message = error.format_message()
    if context is not None and message == context.get_help():  # a command group without a command
        write_note(message)
        return WRONG_USAGE
    unknown = getattr(error, "option_name", "")
    if meant := _MEANT.get((_command_name(context), unknown)):
        message = f"No such option: {unknown}. The text goes into: {meant}"
    path = context.command_path if context is not None else "memoranda"
    hint = runnable(f"See `{path} --help`.")
    if context is not None and context.command.name == "search" and _is_unknown_option(error):
        hint += " Put -- before a query that begins with a minus."
    report("USAGE", message.rstrip("."), hint=hint, as_json=as_json)
    return WRONG_USAGE


def _command_name(context: typer.Context | None) -> str:
    return (context.command.name if context is not None else None) or ""


def _is_unknown_option(error: typer.TyperException) -> bool:
    return hasattr(error, "possibilities") and hasattr(error, "option_name")


def _plain(cause: BaseException, message: str) -> str:
    """What is wrong with a value, in our words; typer's are those of its validation library."""
    from pydantic import ValidationError

    if not isinstance(cause, ValidationError):
        return message
    first = cause.errors(include_url=False)[0]
    bounds = first.get("ctx", {})
    match first["type"]:
        case "greater_than_equal":
            return f"must be at least {bounds['ge']}"
        case "less_than_equal":
            return f"must be at most {bounds['le']}"
        case kind if kind.startswith("int_"):
            return "must be a whole number"
        case _:
            return message.removeprefix("Value error, ")


def _is_text(word: str) -> bool:
    """Whether every byte of the argument could be decoded."""
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True
