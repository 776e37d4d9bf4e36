"""Whether a column is one of many values, or a long text is a given one: as each back end finds it by an index.

PostgreSQL takes many values as one array: a statement may have 32,767 parameters there, and each number of them
would be another statement to prepare and to keep. Its indexes hold no long texts, so those of names are of their
hashes, and behind the number of the project: projects share names such as `readme`.
"""

from __future__ import annotations

from typing import Any, Self

from sqlalchemy import ARRAY, Boolean, ColumnElement, SelectBase, any_, bindparam, func, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement


class _Condition(FunctionElement[bool]):
    """As it is written: SQLAlchemy compares what is true or false with 1 on SQLite, which then uses no index."""

    type = Boolean()
    inherit_cache = True

    def self_group(self, against: object = None) -> Self:
        return self


class among(_Condition):
    """Whether a column is one of the values of a parameter, which is a list."""

    inherit_cache = True

    def __init__(self, column: ColumnElement[Any], values: str) -> None:
        super().__init__(column, bindparam(values, expanding=True))


class named_among(among):
    """`among` for a text that an index has as `md5(text)`; a text of the same hash counts as the same."""

    inherit_cache = True


class among_found(_Condition):
    """Whether a column is one of those that a query finds, which does not look at the column's row.

    PostgreSQL runs the query once. A planner that was told of an empty table would run it for each row.
    """

    inherit_cache = True

    def __init__(self, column: ColumnElement[Any], found: SelectBase) -> None:
        super().__init__(column, found.scalar_subquery())


class named(_Condition):
    """Whether a text that an index has as `md5(text)` is the one of a parameter."""

    inherit_cache = True

    def __init__(self, column: ColumnElement[Any], value: str) -> None:
        super().__init__(column, bindparam(value, type_=column.type))


@compiles(among)
def _in(element: among, compiler: Any, **how: Any) -> str:
    column, values = element.clauses
    return str(compiler.process(column.in_(values), **how))


@compiles(among, "postgresql")
def _in_array(element: among, compiler: Any, **how: Any) -> str:
    column, values = element.clauses
    return str(compiler.process(column == any_(_array(column, values)), **how))


@compiles(named_among, "postgresql")
def _in_hashes(element: named_among, compiler: Any, **how: Any) -> str:
    """A query and no array, which would be gone through for each row where the planner uses no index."""
    column, values = element.clauses
    value = func.unnest(_array(column, values)).column_valued()
    return str(compiler.process(func.md5(column).in_(select(func.md5(value))), **how))


@compiles(among_found)
def _in_query(element: among_found, compiler: Any, **how: Any) -> str:
    column, found = element.clauses
    return str(compiler.process(column.in_(found.element), **how))


@compiles(among_found, "postgresql")
def _in_found(element: among_found, compiler: Any, **how: Any) -> str:
    column, found = element.clauses
    return str(compiler.process(column == any_(func.array(found)), **how))


@compiles(named)
def _is(element: named, compiler: Any, **how: Any) -> str:
    column, value = element.clauses
    return str(compiler.process(column == value, **how))


@compiles(named, "postgresql")
def _has_hash(element: named, compiler: Any, **how: Any) -> str:
    column, value = element.clauses
    return str(compiler.process(func.md5(column) == func.md5(value), **how))


def _array(column: Any, values: Any) -> ColumnElement[Any]:
    return bindparam(values.key, type_=ARRAY(column.type))
