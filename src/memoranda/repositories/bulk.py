"""Statements that run once a row, for thousands of rows: compiled once, rows as tuples.

SQLAlchemy makes a dictionary of parameters for every row and looks up its conversions in it, which
costs more than the database's own work on the row. Here SQLAlchemy is asked once for a dialect: for
the SQL, the order of the parameters and the conversion of each; then whole columns are converted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Delete, Dialect, Insert, Update
from sqlalchemy.engine import Connection

_STATEMENTS = 128
_EQUAL_VALUES = 1024


def run_each(
    conn: Connection, statement: Insert | Update | Delete, rows: Sequence[Mapping[str, object]]
) -> None:
    """Run a statement once a row; no rows are no statement.

    Args:
        conn: a connection whose driver takes parameters by position.
        statement: one that is built when its module loads: what is compiled is kept.
        rows: all with the same keys, which are all the statement's parameters.
    """
    if rows:
        prepared = _prepared(statement, tuple(rows[0]), conn.dialect)
        conn.exec_driver_sql(prepared.sql, prepared.parameters(rows))


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A compiled statement: its SQL, and name and conversion of each parameter, in its order."""

    sql: str
    names: tuple[str, ...]
    conversions: tuple[Callable[[Any], Any] | None, ...]

    def parameters(self, rows: Sequence[Mapping[str, object]]) -> list[tuple[object, ...]]:
        """The rows as the driver takes them."""
        columns: list[Iterable[object]] = [[row[name] for row in rows] for name in self.names]
        for place, convert in enumerate(self.conversions):
            if convert is not None:
                columns[place] = map(convert, columns[place])
        return list(zip(*columns, strict=True))


@lru_cache(maxsize=_STATEMENTS)
def _prepared(
    statement: Insert | Update | Delete, keys: tuple[str, ...], dialect: Dialect
) -> _Prepared:
    compiled: Any = statement.compile(dialect=dialect, column_keys=keys, for_executemany=True)
    names = tuple(compiled.positiontup)
    return _Prepared(
        str(compiled), names, tuple(_conversion(compiled.binds[name], dialect) for name in names)
    )


def _conversion(parameter: Any, dialect: Dialect) -> Callable[[Any], Any] | None:
    """What the driver needs of a value; remembered, as a batch has few times and they come often."""
    convert = parameter.type.dialect_impl(dialect).bind_processor(dialect)
    return lru_cache(maxsize=_EQUAL_VALUES)(convert) if convert else None
