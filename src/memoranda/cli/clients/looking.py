"""Whether a client is connected, read from its file; nothing is changed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from memoranda.cli.clients import client_file, documents
from memoranda.cli.clients.places import Place
from memoranda.cli.clients.records import RecordStore, may_change
from memoranda.cli.clients.servers import Server, entry_merged, entry_of, is_ours, is_same
from memoranda.cli.clients.trace import Unusable
from memoranda.errors import ConfigProblem, FileProblem


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


def look(place: Place, server: Server, store: RecordStore) -> Look:
    """Compare the entry that is there with the one that would be written."""
    try:
        found = client_file.find(place.file)
        text = documents.decoded(found.data or b"")
        servers = documents.servers_in(place.kind, text)
        record = store.load(place, found.target)
    except (FileProblem, ConfigProblem) as error:
        return Look(State.UNREADABLE, error.message)
    except Unusable as error:
        return Look(State.UNREADABLE, error.of(place.file))
    old = servers.get(place.name)
    if not may_change(old, record, server):
        other = next((name for name, entry in servers.items() if is_ours(entry, server)), "")
        return Look(State.ABSENT if old is None else State.FOREIGN, other=other)
    there = old if isinstance(old, dict) else {}
    merged = entry_merged(there, entry_of(place.client, server, place.name))
    return Look(State.CONNECTED if is_same(there, merged) else State.OTHER)
