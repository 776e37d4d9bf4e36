"""Lines from a client, mended where the SDK could not read them and would never answer.

The SDK drops a line that its JSON parser refuses, and the client waits for ever. Three kinds of line come
from clients that mean no harm: half of a surrogate pair as an escape, which JSON can hold and Unicode
cannot, values nested deeper than the parser goes, and a byte order mark, as .NET begins a stream with.
"""

from __future__ import annotations

import codecs
import io
import re
from typing import BinaryIO, Final

DEEPEST: Final = 150
"""Levels of lists and objects in one message; the parser goes to 200."""
UNREADABLE: Final = "nested-too-deep"
"""The method of the request that takes the place of one that cannot be read; there is no such method."""

_HALF: Final = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
_TOKEN: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]|-?[0-9]++', re.DOTALL)
"""A string that has no end is one token as well: else each quote in it would be looked at to the end."""


def mended(line: bytes) -> bytes:
    r"""The line as the SDK can read it.

    A lone half of a surrogate pair becomes U+FFFD, as bytes that are no UTF-8 do. A request that is nested
    too deep becomes one that is answered with an error, under its id. A byte order mark goes.
    """
    line = line.removeprefix(codecs.BOM_UTF8)
    if b"\\ud" in line or b"\\uD" in line:
        line = _HALF.sub(lambda match: rb"\ufffd" if match[1] else match[0], line)
    if line.count(b"[") + line.count(b"{") > DEEPEST:
        depth, request_id = _shape(line)
        if depth > DEEPEST:
            return b'{"jsonrpc":"2.0","id":%b,"method":"%b"}\n' % (
                request_id,
                UNREADABLE.encode(),
            )
    return line


class MendedLines(io.BufferedIOBase):
    """The lines of a stream, mended; what `io.TextIOWrapper` needs of it, and no more."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def read1(self, size: int = -1, /) -> bytes:
        """One line, whatever the size; b"" at the end."""
        return mended(self._stream.readline())


def _shape(line: bytes) -> tuple[int, bytes]:
    """How deep the message is nested, and its id as JSON (null if it has none)."""
    depth = deepest = 0
    request_id, key = b"null", b""
    for match in _TOKEN.finditer(line):
        token = match[0]
        if token in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif token in b"]}":
            depth -= 1
        elif depth == 1:
            if key == b'"id"':
                request_id = token
            key = token if line[match.end() : match.end() + 20].lstrip()[:1] == b":" else b""
    return deepest, request_id
