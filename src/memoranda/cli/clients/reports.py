"""What `memoranda connect` says. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from memoranda.cli.clients.documents import snippet
from memoranda.cli.clients.looking import Look, State
from memoranda.cli.clients.outcomes import Action, Outcome
from memoranda.cli.clients.places import Client, Place, kind_of
from memoranda.cli.clients.servers import (
    TOKEN_VARIABLE,
    Remote,
    Server,
    client_command,
    entry_of,
    input_of,
    is_here,
)


@dataclass(frozen=True, slots=True)
class Row:
    """A client in the list; without a file when it keeps none."""

    client: Client
    file: PurePath | None
    look: Look | None
    is_installed: bool


@dataclass(frozen=True, slots=True)
class Commands:
    """Lines that a person can copy and run.

    Attributes:
        write: writes the entry.
        undo: takes it back.
        token: prints the token of the server.
    """

    write: str
    undo: str
    token: str


_STATES = {
    State.ABSENT: "no",
    State.CONNECTED: "yes",
    State.OTHER: "yes, in another way",
    State.FOREIGN: "no, an entry of that name is another program's",
    State.UNREADABLE: "unknown",
}


def list_text(rows: Sequence[Row], command: str) -> str:
    """The clients with their files and whether they are connected."""
    from memoranda.cli.output import table

    lines = table(
        ("CLIENT", "CONNECTED", "FILE"),
        [(row.client.value, _connected(row), _file(row)) for row in rows],
    )
    reasons = [row.look.reason for row in rows if row.look and row.look.reason]
    how = [f"Connect one: {command} CLIENT --write", "Take it back: the same with --undo"]
    return "\n".join([lines, *reasons, "", *how])


def list_data(rows: Sequence[Row]) -> dict[str, object]:
    """The same as JSON values."""
    return {
        "clients": [
            {
                "client": row.client.value,
                "title": kind_of(row.client).title,
                "file": str(row.file) if row.file else None,
                "connected": row.look.state.value if row.look else None,
                "other_entry": row.look.other if row.look else "",
                "reason": row.look.reason if row.look else "",
                "installed": row.is_installed,
            }
            for row in rows
        ]
    }


def plan_text(place: Place, server: Server, look: Look, commands: Commands) -> str:
    """What would be written, and the commands that write it and take it back."""
    entry = entry_of(place.client, server, place.name)
    head = [
        f"{place.kind.title}: {place.file}",
        f"Connected: {_state(look)}" + (f" ({look.reason})" if look.reason else ""),
    ]
    if look.state in {State.CONNECTED, State.OTHER}:
        head.append(f"Take it back: {commands.undo}")
    if look.state is State.CONNECTED:
        return "\n".join([*head, *_token_lines(place, server, commands)])
    if look.state is State.FOREIGN:
        head.append("Ours needs another name: --entry NAME")
    text = snippet(place.kind, place.name, entry, input_of(place.client, server, place.name))
    parts = [
        *head,
        "",
        f"Write it: {commands.write}",
        "or put this into the file yourself, beside what is there:",
        "",
        *[f"  {line}" for line in text.splitlines()],
    ]
    if line := client_command(place.client, server, place.name):
        parts += ["", "or let the client write it:", "", f"  {line}"]
    if token := _token_lines(place, server, commands):
        parts += ["", *token]
    return "\n".join(parts)


def plan_data(place: Place, server: Server, look: Look) -> dict[str, object]:
    """The same as JSON values."""
    entry = entry_of(place.client, server, place.name)
    question = input_of(place.client, server, place.name)
    return _head(place) | {
        "connected": look.state.value,
        "other_entry": look.other,
        "reason": look.reason,
        "server": entry,
        "input": question,
        "configuration": snippet(place.kind, place.name, entry, question),
        "client_command": client_command(place.client, server, place.name),
        "needs_token": isinstance(server, Remote) and server.has_token,
    }


def written_text(place: Place, outcome: Outcome, server: Server, commands: Commands) -> str:
    """What was done, what a person does next, and how it is taken back."""
    kind = place.kind
    lines = [outcome_text(place, outcome)]
    if outcome.action is not Action.UNCHANGED:
        lines += [f"Next: {kind.reload}", f"Check: {kind.check}"]
        lines += _token_lines(place, server, commands)
        lines.append(f"Take it back: {commands.undo}")
    return "\n".join(lines)


def outcome_text(place: Place, outcome: Outcome) -> str:
    """What was done."""
    copy = f"\nThe file as it was: {outcome.backup}" if outcome.backup else ""
    return _done(place, outcome) + copy


def outcome_data(place: Place, outcome: Outcome) -> dict[str, object]:
    """The same as JSON values."""
    return _head(place) | {
        "action": outcome.action.value,
        "backup": str(outcome.backup) if outcome.backup else None,
        "reason": outcome.reason,
    }


def steps_text(steps: Sequence[str], reason: str) -> str:
    """What to do by hand."""
    lines = [f"{reason}. Do this by hand:", ""]
    return "\n".join(lines + [f"{number}. {step}" for number, step in enumerate(steps, 1)])


def steps_data(client: Client, steps: Sequence[str], reason: str) -> dict[str, object]:
    """The same as JSON values."""
    return {
        "client": client.value,
        "title": kind_of(client).title,
        "reason": reason,
        "steps": list(steps),
    }


def _done(place: Place, outcome: Outcome) -> str:
    where = f"{place.kind.title}: {outcome.file}"
    match outcome.action:
        case Action.CREATED:
            return f"{where} was made, with the entry {place.name}."
        case Action.ADDED:
            return f"{where} has the entry {place.name} now; the rest is as it was."
        case Action.UPDATED:
            return f"{where}: the entry {place.name} is brought up to date; the rest is as it was."
        case Action.UNCHANGED:
            return f"{where}: nothing to do, {outcome.reason}."
        case Action.RESTORED:
            return f"{where} is as it was before, byte for byte."
        case Action.REMOVED:
            return f"{where} is removed; it was made for the entry."
        case Action.TAKEN_OUT:
            more = f"\n{outcome.reason[:1].upper()}{outcome.reason[1:]}" if outcome.reason else ""
            return (
                f"{where} had changed since, so only the entry {place.name} was taken out and the "
                f"rest is kept.{more}"
            )


def _token_lines(place: Place, server: Server, commands: Commands) -> list[str]:
    if not isinstance(server, Remote) or not server.has_token:
        return []
    where = "" if is_here(server.url) else " on the machine of the server"
    if place.client is Client.VSCODE:
        return [
            "Token: VS Code asks for it once and keeps it safe; this prints it"
            f"{where}: {commands.token if is_here(server.url) else 'memoranda token --show'}"
        ]
    if where:
        return [
            f"Token: it is not in the file; {place.kind.title} takes it from the variable "
            f"{TOKEN_VARIABLE}, to be set where it is started.",
            f"What it is, this prints{where}: memoranda token --show",
        ]
    return [
        f"Token: it is not in the file; {place.kind.title} takes it from a variable, to be set where it "
        "is started:",
        f'  export {TOKEN_VARIABLE}="$({commands.token})"',
    ]


def _connected(row: Row) -> str:
    if row.look is None:
        return "-"
    note = "" if row.is_installed else " (not installed?)"
    return f"{_state(row.look)}{note}"


def _state(look: Look) -> str:
    return f"yes, as {look.other}" if look.other else _STATES[look.state]


def _file(row: Row) -> str:
    return str(row.file) if row.file else "none, see: connect chatgpt"


def _head(place: Place) -> dict[str, object]:
    return {
        "client": place.client.value,
        "title": place.kind.title,
        "entry": place.name,
        "file": str(place.file),
    }
