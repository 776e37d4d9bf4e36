"""Whether a client is connected, read from its file; nothing is changed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from memoranda.cli.clients import client_file, documents
from memoranda.cli.clients.outcomes import Place
from memoranda.cli.clients.servers import Server, entry_of, is_ours, is_same
from memoranda.cli.clients.trace import Unusable, entry_merged
from memoranda.errors import FileProblem


class State(StrEnum):
    """What the client's file says of us."""

    ABSENT = "no"
    CONNECTED = "yes"
    OTHER = "other"
    """A Memoranda, started in another way."""
    FOREIGN = "foreign"
    """An entry of that name is another program's."""
    UNREADABLE = "unknown"


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen.

    Attributes:
        reason: why the file cannot be read, else "".
        other: the name of another entry of ours, where there is none of the name asked for.
    """

    state: State
    reason: str = ""
    other: str = ""


def look(place: Place, server: Server) -> Look:
    """Compare the entry that is there with the one that would be written."""
    try:
        found = client_file.find(place.file)
        text = documents.decoded(found.data or b"")
        servers = documents.servers_in(place.kind, text)
    except FileProblem as error:
        return Look(State.UNREADABLE, error.message)
    except Unusable as error:
        line = f", line {error.line}," if error.line else ""
        return Look(State.UNREADABLE, f"{place.file}{line} {error.reason}")
    old = servers.get(place.name)
    if not is_ours(old, server):
        other = next((name for name, entry in servers.items() if is_ours(entry, server)), "")
        return Look(State.ABSENT if old is None else State.FOREIGN, other=other)
    there = old if isinstance(old, dict) else {}
    merged = entry_merged(there, entry_of(place.client, server, place.name))
    return Look(State.CONNECTED if is_same(there, merged) else State.OTHER)
