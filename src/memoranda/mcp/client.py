"""Who is on the other side of a call: what the client said of itself in `initialize`.

It belongs to the call and not to the process: one server may serve several clients. A client may say
nothing, or anything, so what it says is bounded and is a label, never a permission.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

from memoranda.model.history import NOBODY, Author

_MOST_CHARS = 200
_AUTHOR = ContextVar("author", default=NOBODY)


def author() -> Author:
    """Who asks for what is done now; `NOBODY` outside a call."""
    return _AUTHOR.get()


@contextlib.contextmanager
def acting(by: Author, tool: str) -> Iterator[None]:
    """Make a client the author of what is done in here with a tool; other tasks are not concerned."""
    token = _AUTHOR.set(Author(_label(by.client), _label(by.version), tool))
    try:
        yield
    finally:
        _AUTHOR.reset(token)


def _label(said: str) -> str:
    """One line without control or other invisible characters."""
    # Cut twice: before, because it may be huge, and after, because of the bound.
    visible = (char if char.isprintable() else " " for char in said[: 10 * _MOST_CHARS])
    return " ".join("".join(visible).split())[:_MOST_CHARS]
