"""Git's wildcards, one path segment at a time. Pure.

A pattern becomes one regular expression for each of its segments. Every part between two stars is matched
at its first place and never again, so that a pattern takes time linear in the name, also one made to be
slow. Source: gitignore(5); the bracket rules are those of git's `wildmatch`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r"\ \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": r"\ -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t-\r\ ",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}
_STAR = "*"


@dataclass(frozen=True, slots=True)
class Segment:
    """What one name in a path must be.

    Attributes:
        regex: matches the whole name; flags: dot matches all.
        literal: the only name it can be, None for wildcards.
    """

    regex: str
    literal: str | None = None


ANY_FOLDERS: Final = None
"""In the place of a segment: `**`, any number of folders; at the end everything below."""


def split_pattern(pattern: str) -> tuple[Segment | None, ...]:
    """The segments of a pattern with slashes; a segment of stars alone, two or more, is `ANY_FOLDERS`.

    Raises:
        ValueError: the pattern can match nothing: an open bracket, an unknown class, a final backslash.
    """
    segments: list[Segment | None] = []
    for tokens in _segments(pattern):
        if len(tokens) > 1 and all(token == _STAR for token in tokens):
            if not segments or segments[-1] is not ANY_FOLDERS:
                segments.append(ANY_FOLDERS)
        else:
            segments.append(_segment(tokens))
    return tuple(segments)


def name_pattern(pattern: str) -> Segment:
    """A pattern without slashes, for a name in any folder. Raises as `split_pattern`."""
    (tokens,) = _segments(pattern)
    return _segment(tokens)


def _segment(tokens: list[str]) -> Segment:
    parts: list[str] = [""]
    for token in tokens:
        if token != _STAR:
            parts[-1] += token
        elif parts[-1] or len(parts) == 1:
            parts.append("")
    first, *rest = parts
    if not rest:
        is_plain = (
            all(len(token) == 1 or token[0] == "\\" for token in tokens) and "." not in tokens
        )
        return Segment(first, "".join(token[-1] for token in tokens) if is_plain else None)
    return Segment(first + "".join(f"(?>.*?{part})" for part in rest[:-1]) + ".*" + rest[-1])


def _segments(pattern: str) -> Iterator[list[str]]:
    """Regular expressions of one character each, or `_STAR`, for every segment."""
    tokens: list[str] = []
    at = 0
    while at < len(pattern):
        letter = pattern[at]
        at += 1
        if letter == "\\":
            if at == len(pattern):
                raise ValueError("a backslash at the end")
            letter = pattern[at]
            at += 1
            if letter != "/":
                tokens.append(re.escape(letter))
                continue
        if letter == "/":
            yield tokens
            tokens = []
        elif letter == "*":
            tokens.append(_STAR)
        elif letter == "?":
            tokens.append(".")
        elif letter == "[":
            token, at = _bracket(pattern, at)
            tokens.append(token)
        else:
            tokens.append(re.escape(letter))
    yield tokens


def _bracket(pattern: str, at: int) -> tuple[str, int]:
    """The class that begins behind a `[`, and where the pattern goes on."""
    negation = pattern.startswith(("!", "^"), at)
    at += negation
    found = ""
    start: str | None = None  # what a range may begin with
    is_first = True
    while True:
        letter, after = _letter(pattern, at)
        if letter == "]" and not is_first:
            break
        is_first = False
        if letter == "-" and start is not None and pattern[after : after + 1] not in ("", "]"):
            end, at = _letter(pattern, after, unescape=True)
            if start <= end:
                found += f"{re.escape(start)}-{re.escape(end)}"
            start = None
        elif letter == "[" and (name := _class_name(pattern, after)) is not None:
            found += _CLASSES[name]
            at = after + len(name) + 3
            start = None
        else:
            letter, at = _letter(pattern, at, unescape=True)
            found += re.escape(letter)
            start = letter
    if not found:
        return (".", after) if negation else ("(?!)", after)
    return f"[{'^' if negation else ''}{found}]", after


def _letter(pattern: str, at: int, *, unescape: bool = False) -> tuple[str, int]:
    """The character at a place inside a bracket, and the place behind it."""
    if unescape and pattern[at : at + 1] == "\\":
        at += 1
    if at >= len(pattern):
        raise ValueError("a bracket that is not closed")
    return pattern[at], at + 1


def _class_name(pattern: str, at: int) -> str | None:
    """The name in `[:name:]` whose `:` is at this place, None when it is no class."""
    if pattern[at : at + 1] != ":":
        return None
    end = pattern.find("]", at + 1)
    if end < 0:
        raise ValueError("a bracket that is not closed")
    if end == at + 1 or pattern[end - 1] != ":":
        return None
    name = pattern[at + 1 : end - 1]
    if name not in _CLASSES:
        raise ValueError(f"no class of characters is called {name!r}")
    return name
