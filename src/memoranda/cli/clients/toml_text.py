"""The statements of a TOML text and where they stand, and values written as TOML. Pure.

Works on a text that `tomllib` has read without a complaint, so it need not find faults.
"""

from __future__ import annotations

import datetime
import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*|.',
    re.DOTALL,
)
_BLANK = re.compile(r"[ \t]*")
_BETWEEN = re.compile(r"(?:[ \t\r\n,]|#[^\n]*)*")
_LEADING = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")


@dataclass(frozen=True, slots=True)
class Statement:
    """A table header or a key with its value.

    Attributes:
        path: of the table, or of the key with that of its table in front.
        start: where its text begins.
        end: behind its last sign; a comment behind it is not part of it.
        value: where its value begins; None for a header.
    """

    path: tuple[str, ...]
    start: int
    end: int
    value: int | None


def statements(text: str) -> Iterator[Statement]:
    """All statements in their order; those of an array of tables have its path."""
    at = 1 if text.startswith("\ufeff") else 0
    table: tuple[str, ...] = ()
    while (at := _behind(text, at, _LEADING)) < len(text):
        if text[at] == "[":
            is_array = text.startswith("[[", at)
            inner, end = _until(text, at + 1 + is_array, "]")
            end += is_array
            table = key_path(inner)
            yield Statement(table, at, end, None)
        else:
            key, value = _until(text, at, "=")
            value = _behind(text, value, _BLANK)
            end = _value_end(text, value)
            yield Statement((*table, *key_path(key)), at, end, value)
        at = end


def inline_members(text: str, start: int) -> list[Statement]:
    """The members of the inline table whose brace is at `start`, with paths relative to it."""
    at = start + 1
    members: list[Statement] = []
    while True:
        at = _behind(text, at, _BETWEEN)
        if text[at] == "}":
            return members
        key, value = _until(text, at, "=")
        value = _behind(text, value, _BLANK)
        end = _value_end(text, value)
        members.append(Statement(key_path(key), at, end, value))
        at = end


def key_path(key: str) -> tuple[str, ...]:
    """The parts of a dotted key."""
    value: object = tomllib.loads(f"{key.strip()} = 0")
    path = []
    while isinstance(value, dict):
        [(name, value)] = value.items()
        path.append(name)
    return tuple(path)


def key_text(path: tuple[str, ...]) -> str:
    """A path as a dotted key."""
    return ".".join(part if _BARE.fullmatch(part) else _quoted(part) for part in path)


def value_text(value: object) -> str:
    """A value in one line.

    Raises:
        ValueError: TOML has no such value.
    """
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _quoted(value)
        case int() | float():
            return repr(value)
        case datetime.datetime() | datetime.date() | datetime.time():
            return value.isoformat()
        case list():
            return f"[{', '.join(map(value_text, value))}]"
        case dict() if value:
            members = (f"{key_text((key,))} = {value_text(each)}" for key, each in value.items())
            return f"{{ {', '.join(members)} }}"
        case dict():
            return "{}"
        case _:
            raise ValueError(f"TOML has no {type(value).__name__}")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _until(text: str, start: int, sign: str) -> tuple[str, int]:
    """The text up to a sign that is in no string, and the place behind the sign."""
    for token in _TOKEN.finditer(text, start):
        if token[0] == sign:
            return text[start : token.start()], token.end()
    raise ValueError(f"{sign} is missing")


def _value_end(text: str, start: int) -> int:
    """Behind the value that begins here."""
    depth, end = 0, start
    for token in _TOKEN.finditer(text, start):
        sign = token[0]
        if sign in {"[", "{"}:
            depth += 1
        elif sign in {"]", "}", ","} and depth == 0:
            break  # the end of what holds an inline table
        elif sign in {"]", "}"}:
            depth -= 1
        elif depth == 0 and (sign == "\n" or sign.startswith("#")):
            break
        if not sign.isspace():
            end = token.end()
    return end


def _behind(text: str, start: int, pattern: re.Pattern[str]) -> int:
    found = pattern.match(text, start)
    return found.end() if found else start
