"""Bytes <-> text without loss.

A byte order mark decides; else UTF-8, strictly; else Windows-1252; else Latin-1, which takes any bytes.
Line endings stay as they are. There is no statistical detector: a wrong guess would be written back.
"""

from __future__ import annotations

import codecs

from memoranda.errors import InvalidArgument
from memoranda.model.note import SourceText

_UTF16_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def decode(data: bytes) -> SourceText:
    """Decode a file. Never raises; `encode` gives the same bytes back.

    A file with a mark that its bytes do not keep to is read without the mark's promise: a broken
    UTF-8 file as Windows-1252 after its mark, a broken UTF-16 file as one of the 8-bit encodings whole.

    Source: spec 12.1, FORMAT "Encodings".
    """
    if encoding := _UTF16_MARKS.get(data[:2]):
        try:
            return SourceText(data[2:].decode(encoding), encoding, bom=True)
        except UnicodeDecodeError:
            return _decode_8_bit(data, bom=False)
    bom = data.startswith(codecs.BOM_UTF8)
    rest = data[len(codecs.BOM_UTF8) :] if bom else data
    try:
        return SourceText(rest.decode("utf-8"), "utf-8", bom)
    except UnicodeDecodeError:
        return _decode_8_bit(rest, bom=bom)


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
    for mark, encoding in _UTF16_MARKS.items():
        if encoding == source.encoding:
            return mark + data
    return codecs.BOM_UTF8 + data


def _decode_8_bit(data: bytes, *, bom: bool) -> SourceText:
    try:
        return SourceText(data.decode("cp1252"), "cp1252", bom)
    except UnicodeDecodeError:
        return SourceText(data.decode("latin-1"), "latin-1", bom)
