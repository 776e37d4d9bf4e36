"""Bytes <-> text without loss.

A byte order mark decides; else UTF-16 whose every second byte is zero; else UTF-8, strictly; else a
legacy encoding that is certain; else Windows-1252; else Latin-1, which takes any bytes. Whatever is
chosen gives the same bytes back. Line endings stay as they are.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import Final

from memoranda.errors import InvalidArgument
from memoranda.markdown.legacy_encoding import SMALLEST_BYTES, legacy_encoding
from memoranda.model.note import SourceText

_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def decode(data: bytes) -> SourceText:
    """Decode a file. Never raises; `encode` gives the same bytes back.

    A file with a mark that its bytes do not keep to is read without the mark's promise: a broken
    UTF-8 file as Windows-1252 after its mark, a broken UTF-16 file as one of the 8-bit encodings whole.

    Source: spec 12.1, FORMAT "Encodings".
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark) and (text := _strict(data[len(mark) :], encoding)) is not None:
            return SourceText(text, encoding, bom=True)
    bom = data.startswith(codecs.BOM_UTF8)
    rest = data[len(codecs.BOM_UTF8) :] if bom else data
    for choice in _choices(rest, bom):
        if choice is not None and (text := _strict(rest, choice)) is not None:
            return SourceText(text, choice, bom)
    return SourceText(rest.decode("latin-1"), "latin-1", bom)


def encode(source: SourceText) -> bytes:
    """The bytes of a file in the encoding it had.

    Raises:
        InvalidArgument: the text has a character that this encoding cannot write (an edit added it).
    """
    try:
        data = source.text.encode(source.encoding)
    except UnicodeEncodeError as error:
        raise InvalidArgument(
            "content",
            f"the character {error.object[error.start]!a} cannot be written in {source.encoding},"
            " the encoding of the file",
            hint="Convert the file to UTF-8 first, or leave the character out.",
        ) from error
    if not source.bom:
        return data
    for mark, encoding in _MARKS:
        if encoding == source.encoding:
            return mark + data
    return codecs.BOM_UTF8 + data


def _choices(data: bytes, bom: bool) -> Iterator[str | None]:
    """Encodings to try, in order; after a UTF-8 mark nothing is guessed."""
    if not bom:
        yield _utf16_without_mark(data)
    yield "utf-8"
    if not bom:
        yield legacy_encoding(data)
    yield "cp1252"


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _utf16_without_mark(data: bytes) -> str | None:
    """UTF-16 of a mostly Latin text: half of the bytes at one parity are zero, at the other none."""
    if len(data) < SMALLEST_BYTES or len(data) % 2 or b"\0" not in data:
        return None
    even, odd = data[::2].count(0), data[1::2].count(0)
    if odd * 4 > len(data) and not even:
        return "utf-16-le"
    if even * 4 > len(data) and not odd:
        return "utf-16-be"
    return None
