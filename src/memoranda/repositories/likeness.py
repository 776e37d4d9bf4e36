"""LIKE as SQLite has it: blind to the case of ASCII letters, and of those alone."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Boolean, ColumnElement
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement


class any_case_like(FunctionElement[bool]):
    """Whether a text fits a pattern of LIKE, whose escape is the backslash."""

    type = Boolean()
    inherit_cache = True

    def __init__(self, value: ColumnElement[Any], pattern: ColumnElement[Any]) -> None:
        super().__init__(value, pattern)


@compiles(any_case_like)
def _like(element: any_case_like, compiler: Any, **how: Any) -> str:
    return _written(element, compiler, "LIKE", **how)


@compiles(any_case_like, "postgresql")
def _ilike(element: any_case_like, compiler: Any, **how: Any) -> str:
    """Texts have the collation "C", which knows the case of ASCII letters only."""
    return _written(element, compiler, "ILIKE", **how)


def _written(element: any_case_like, compiler: Any, operator: str, **how: Any) -> str:
    value, pattern = (compiler.process(one, **how) for one in element.clauses)
    return f"{value} {operator} {pattern} ESCAPE '\\'"
