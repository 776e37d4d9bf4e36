"""Values as SQL compares them: case of all scripts, patterns, numbers and moments. Nothing a user types is syntax.

What SQLite lacks are pure functions of `filter_values`, given to the connection by `register`. A call
of one costs as much as several rows, so texts in ASCII are folded without it.
"""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import ColumnElement, LargeBinary, case, cast, false, func
from sqlalchemy.engine import Connection

from memoranda.repositories import filter_values
from memoranda.repositories.filter_values import BLANKS, fold

_REGISTERED = "memoranda_values"
_FUNCTIONS = (
    ("memoranda_fold", 1, lambda text: text and fold(text)),
    ("memoranda_fold_value", 1, lambda text: text and filter_values.folded_value(text)),
    ("memoranda_number", 1, filter_values.number),
    ("memoranda_moment", 1, filter_values.moment),
    ("memoranda_found", 2, filter_values.found),
)
_LIKE_SIGNS = re.compile(r"[\\%_]")
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
_LONGEST_PATTERN_BYTES = 40_000
"""SQLite refuses one of 50,000. No name is as long as that."""


def register(conn: Connection) -> None:
    """Give an SQLite connection the functions that the expressions call, once."""
    driver = conn.connection.driver_connection
    if driver is None or conn.info.get(_REGISTERED):
        return
    for name, arguments, function in _FUNCTIONS:
        driver.create_function(name, arguments, function, deterministic=True)
    conn.info[_REGISTERED] = True


def bindable(text: str) -> str:
    """The text with U+FFFD, as the index has it, for what is no character: NUL, half a surrogate pair."""
    return _NO_TEXT.sub("\ufffd", text)


def is_ascii(value: ColumnElement[Any]) -> ColumnElement[bool]:
    """Whether a text takes as many bytes as it has characters; what has a NUL counts as not."""
    return func.length(value) == func.length(cast(value, LargeBinary))


def folded(value: ColumnElement[Any]) -> ColumnElement[str]:
    """`filter_values.fold` of a column."""
    return case((is_ascii(value), func.lower(value)), else_=func.memoranda_fold(value))


def folded_value(value: ColumnElement[Any]) -> ColumnElement[str]:
    """`filter_values.folded_value` of a value of frontmatter."""
    return case(
        (is_ascii(value), func.lower(func.trim(value, BLANKS))),
        else_=func.memoranda_fold_value(value),
    )


def number(value: ColumnElement[Any]) -> ColumnElement[Any]:
    """`filter_values.number` of a value of frontmatter."""
    return func.memoranda_number(value)


def moment(value: ColumnElement[Any]) -> ColumnElement[Any]:
    """`filter_values.moment` of a value of frontmatter."""
    return func.memoranda_moment(value)


def found(metadata: ColumnElement[Any], key: str) -> ColumnElement[Any]:
    """`filter_values.found`: the value of a key, in a JSON list of one."""
    return func.memoranda_found(metadata, key)


def plain(text: str) -> str:
    """Text as a part of a pattern of LIKE, every sign of it plain."""
    return _LIKE_SIGNS.sub(r"\\\g<0>", text)


def like(value: ColumnElement[Any], wanted: str) -> ColumnElement[bool]:
    """A pattern of LIKE whose escape is the backslash."""
    if len(wanted.encode()) > _LONGEST_PATTERN_BYTES:
        return false()
    return value.like(wanted, escape="\\")


def is_like(value: ColumnElement[Any], name: str, *, before: str = "") -> ColumnElement[bool]:
    """Whether a text is as the `pattern` of a name. Both are folded."""
    return like(value, pattern(name, before=before))


def pattern(name: str, *, before: str = "") -> str:
    """The pattern of LIKE for what begins with a name, or, when the name has `*` for anything, is all of it.

    Every sign but `*` is plain. `before`: a pattern of LIKE for what comes first.
    """
    found = before + re.sub(r"\*+", "%", plain(name))
    return found if "*" in name else f"{found}%"
