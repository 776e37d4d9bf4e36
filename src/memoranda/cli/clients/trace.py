"""What is remembered of an edit, so that it can be taken back when the rest of the file has changed."""

from __future__ import annotations

from dataclasses import dataclass

from memoranda.cli.clients.json_tree import Json


class Unusable(Exception):
    """A text that cannot be edited; nothing was done.

    Attributes:
        line: where, counted from 1; None when it is about the whole.
    """

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason, self.line = reason, line


@dataclass(frozen=True, slots=True)
class Trace:
    """How an entry came into a text.

    Attributes:
        previous: the text of the value that it took the place of; None: there was none.
        gap: what stood between the brackets of its table when the table was empty.
        is_table_new: the table was made for it.
        table_gap: what stood between the outermost brackets when they were empty.
        blank: the whole text when it held no value.
        lead: what was put between the text and the entry (TOML).
    """

    previous: str | None = None
    gap: str | None = None
    is_table_new: bool = False
    table_gap: str | None = None
    blank: str | None = None
    lead: str = ""


@dataclass(frozen=True, slots=True)
class Edited:
    """A text with an entry, and how it came into it."""

    text: str
    trace: Trace


def entry_merged(old: Json, new: dict[str, Json]) -> dict[str, Json]:
    """Our entry with what a person or the client added to the one that is there.

    What says how the server is reached is ours; other keys stay, and so do variables and headers of
    other names.
    """
    if not isinstance(old, dict):
        return new
    merged: dict[str, Json] = {key: value for key, value in old.items() if key not in _OURS}
    for key, own in (("env", _FOLDER), ("headers", _HEADER)):
        there, wanted = old.get(key), new.get(key)
        if not isinstance(there, dict) or (key == "env") != ("command" in new):
            continue
        rest = {name: value for name, value in there.items() if name != own}
        if rest:
            new = {**new, key: {**rest, **(wanted if isinstance(wanted, dict) else {})}}
    return {**new, **merged}


_OURS = frozenset({"type", "command", "args", "env", "url", "headers", "bearer_token_env_var"})
_FOLDER = "BASIC_MEMORY_CONFIG_DIR"
_HEADER = "Authorization"
