"""What planners need to be told: a project is most often alone in a file of SQLite, and never in PostgreSQL."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Integer
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement


class aside(FunctionElement[int]):
    """A column of integers by which SQLite shall not look for an index."""

    type = Integer()
    inherit_cache = True

    def __init__(self, column: ColumnElement[int]) -> None:
        super().__init__(column)


@compiles(aside)
def _aside(element: aside, compiler: Any, **how: Any) -> str:
    return f"{_column(element, compiler, **how)} + 0"


@compiles(aside, "postgresql")
def _plain(element: aside, compiler: Any, **how: Any) -> str:
    return _column(element, compiler, **how)


def _column(element: aside, compiler: Any, **how: Any) -> str:
    [column] = element.clauses
    return str(compiler.process(column, **how))
