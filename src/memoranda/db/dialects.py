"""What one statement is called on each back end. Pure.

Statements of the search path are texts, run on the driver. Where the back ends differ only in how they take
parameters, one text does for both: `both("... WHERE id IN ({numbers}) AND project_id = ?")`.
"""

from __future__ import annotations

from itertools import count
from typing import Any, Final, NamedTuple

from sqlalchemy.engine import Connection

SQLITE: Final = "sqlite"
POSTGRESQL: Final = "postgresql"

_NUMBERS: Final = {
    SQLITE: "SELECT value FROM json_each(?)",
    POSTGRESQL: "SELECT unnest(CAST(translate(?, '[]', '{{}}') AS bigint[])) AS value",
}
"""The rows of a list of numbers, which is one parameter: a text that is JSON."""


class Statement(NamedTuple):
    """A statement as each driver takes it."""

    sqlite: str
    postgresql: str

    def on(self, conn: Connection) -> str:
        """The text for the back end of a connection."""
        return self.postgresql if is_postgresql(conn) else self.sqlite


def both(text: str) -> Statement:
    """A statement that is written once.

    Args:
        text: parameters are `?`, in order, and none stands in a literal; `{numbers}` is a query for the rows
            of a list of numbers (one parameter, see `stored_items.as_list`), with the column `value`; other
            braces are doubled.
    """
    return Statement(
        text.format(numbers=_NUMBERS[SQLITE]),
        numbered(text.format(numbers=_NUMBERS[POSTGRESQL].format())),
    )


def numbered(text: str) -> str:
    """A statement with `?` as asyncpg takes it: `$1`, `$2`, ..."""
    places = count(1)
    first, *rest = text.split("?")
    return first + "".join(f"${next(places)}{part}" for part in rest)


def is_postgresql(conn: Connection) -> bool:
    """Whether a connection leads to PostgreSQL."""
    return conn.dialect.name == POSTGRESQL


def storable(parameters: Any) -> Any:
    """Parameters by position with U+FFFD for NUL, which no text of PostgreSQL has."""
    if any(type(one) is str and "\0" in one for one in parameters):
        return tuple(one.replace("\0", "\ufffd") if type(one) is str else one for one in parameters)
    return parameters
