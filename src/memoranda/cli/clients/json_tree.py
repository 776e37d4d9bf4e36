"""JSON, with or without comments, as a tree that knows where in the text everything stands. Pure.

A tree is made to change the text at one place and to leave the rest as it is; see `json_edit`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from memoranda.cli.clients.trace import Unusable

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]

_SPACE = re.compile(r"[ \t\r\n]+")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9A-Fa-f]{4})*+"')
_PLAIN = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")
_MOST_DEEP = 200
_WHOLE_AT = 2
"""How deep values are read whole: nothing below the entries of a table is changed by itself."""


@dataclass(frozen=True, slots=True)
class Child:
    """A member of an object or an item of an array.

    Attributes:
        key: None for an item.
        start: where its text begins, which for a member is its key.
    """

    key: str | None
    start: int
    node: Node


@dataclass(frozen=True, slots=True)
class Node:
    """A value, `text[start:end]`.

    Attributes:
        opening: `{`, `[`, or "" for a plain value and for one that was read whole.
        plain: the value of these.
        children: of an object or array, in the order of the text.
    """

    start: int
    end: int
    opening: str = ""
    plain: Json = None
    children: tuple[Child, ...] = ()

    def child(self, key: str) -> Child | None:
        """The member of that key."""
        return next((child for child in self.children if child.key == key), None)

    def value(self) -> Json:
        """The whole value without its places."""
        if self.opening == "{":
            return {child.key or "": child.node.value() for child in self.children}
        if self.opening == "[":
            return [child.node.value() for child in self.children]
        return self.plain


def read_tree(text: str, *, is_strict: bool) -> Node | None:
    """The value that the text holds; None when it holds none, but blanks and comments.

    Args:
        text: all of it; a byte order mark in front is skipped.
        is_strict: no comments and no comma before a closing bracket.

    Raises:
        Unusable: it is no JSON, or a key is twice in one object.
    """
    return _Reader(text, is_strict=is_strict).whole()


def skip_blank(text: str, position: int) -> int:
    """The first place from here on that is neither blank nor in a comment."""
    while found := _SPACE.match(text, position) or _COMMENT.match(text, position):
        position = found.end()
    return position


def ends_in_line_comment(text: str, start: int, end: int) -> bool:
    """Whether the last thing before `end` is a line comment; from `start` on are blanks, comments and commas."""
    while start < end:
        found = _SPACE.match(text, start) or _COMMENT.match(text, start)
        if found is not None and found.end() >= end:
            return found[0].startswith("//")
        start = found.end() if found else start + 1
    return False


def _once(members: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(members)
    if len(found) < len(members):
        raise ValueError("a key is there twice")
    return found


def _no_json(constant: str) -> Json:
    raise ValueError(f"{constant} is no JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_json)
"""Some twenty times as fast as the reader below; it knows no comments and no places."""


class _Reader:
    def __init__(self, text: str, *, is_strict: bool) -> None:
        self._text = text
        self._is_strict = is_strict
        self._at = 1 if text.startswith("\ufeff") else 0

    def whole(self) -> Node | None:
        self._skip()
        if self._at == len(self._text):
            return None
        node = self._node(0)
        self._skip()
        if self._at < len(self._text):
            raise self._fault("something stands behind its end")
        return node

    def _skip(self) -> None:
        if not self._is_strict:
            self._at = skip_blank(self._text, self._at)
            return
        if found := _SPACE.match(self._text, self._at):
            self._at = found.end()
        if _COMMENT.match(self._text, self._at):
            raise self._fault("it has a comment, which this client cannot read")

    def _node(self, depth: int) -> Node:
        if depth > _MOST_DEEP:
            raise self._fault("it is nested too deeply")
        start = self._at
        if depth == _WHOLE_AT:
            try:
                plain, self._at = _DECODER.raw_decode(self._text, start)
            except (ValueError, RecursionError):
                pass  # a comment, or a fault whose place is to be told
            else:
                return Node(start, self._at, plain=plain)
        first = self._text[start : start + 1]
        if first in {"{", "["}:
            self._at += 1
            children = self._children(first, depth)
            return Node(start, self._at, first, None, children)
        found = _STRING.match(self._text, start) or _PLAIN.match(self._text, start)
        if found is None:
            raise self._fault("a value is missing or not written as JSON")
        try:
            plain = json.loads(found[0])
        except ValueError as error:  # a number of thousands of digits
            raise self._fault("a value cannot be read") from error
        self._at = found.end()
        return Node(start, self._at, plain=plain)

    def _children(self, opening: str, depth: int) -> tuple[Child, ...]:
        closing = "}" if opening == "{" else "]"
        children: list[Child] = []
        keys: set[str] = set()
        self._skip()
        while not self._takes(closing):
            if children:
                if not self._takes(","):
                    raise self._fault(f"a comma or {closing} is missing")
                self._skip()
                if self._takes(closing):
                    if self._is_strict:
                        raise self._fault(f"a comma stands before {closing}")
                    break
            start = self._at
            key = self._key() if opening == "{" else None
            if key is not None:
                if key in keys:
                    raise self._fault(f"the key {key!r} is there twice")
                keys.add(key)
            children.append(Child(key, start, self._node(depth + 1)))
            self._skip()
        return tuple(children)

    def _key(self) -> str:
        found = _STRING.match(self._text, self._at)
        if found is None:
            raise self._fault("a key in quotes is missing")
        self._at = found.end()
        self._skip()
        if not self._takes(":"):
            raise self._fault("a colon is missing")
        self._skip()
        return str(json.loads(found[0]))

    def _takes(self, sign: str) -> bool:
        if self._text.startswith(sign, self._at):
            self._at += 1
            return True
        return False

    def _fault(self, reason: str) -> Unusable:
        line = self._text.count("\n", 0, self._at) + 1
        return Unusable(f"is not JSON that can be changed safely: {reason}", line)
