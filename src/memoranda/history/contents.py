"""Contents of files in the history: each stored once, under the SHA-256 of its bytes, compressed if it helps.

All functions but `packed` and `unpacked` work in the caller's transaction.
"""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from collections.abc import Iterable
from dataclasses import dataclass

_RAW, _ZLIB = 0, 1
_LEVEL = 6
_LARGE_BYTES = 1_000_000
_LEVEL_LARGE = 1

_UNUSED = """
  DELETE FROM content WHERE checksum = :checksum
  AND NOT EXISTS (SELECT 1 FROM change WHERE before = :checksum)
  AND NOT EXISTS (SELECT 1 FROM change WHERE after = :checksum)
"""


class Unreadable(Exception):
    """A stored content that does not give the bytes of its checksum."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A content as it is stored. `checksum` has 32 bytes, `size` is that of the bytes themselves."""

    checksum: bytes
    size: int
    codec: int
    data: bytes


def digest(data: bytes) -> bytes:
    """SHA-256, 32 bytes; in hexadecimal it is `files.file_service.checksum`."""
    return hashlib.sha256(data).digest()


def packed(checksum: bytes, data: bytes) -> Packed:
    """The bytes ready to be stored. Compresses, so call it outside a transaction."""
    small = zlib.compress(data, _LEVEL if len(data) < _LARGE_BYTES else _LEVEL_LARGE)
    if len(small) < len(data):
        return Packed(checksum, len(data), _ZLIB, small)
    return Packed(checksum, len(data), _RAW, data)


def unpacked(content: Packed) -> bytes:
    """The bytes.

    Raises:
        Unreadable: they are not those of the checksum.
    """
    try:
        data = _inflated(content) if content.codec == _ZLIB else content.data
    except zlib.error as error:
        raise Unreadable(str(error)) from error
    if digest(data) != content.checksum:
        raise Unreadable("its bytes are not those that were stored")
    return data


def has(conn: sqlite3.Connection, checksum: bytes) -> bool:
    """Whether the content is stored."""
    row = conn.execute("SELECT 1 FROM content WHERE checksum = ?", (checksum,)).fetchone()
    return row is not None


def put(conn: sqlite3.Connection, content: Packed) -> int:
    """Store it, unless it is there; returns the bytes added."""
    done = conn.execute(
        "INSERT OR IGNORE INTO content VALUES (?, ?, ?, ?)",
        (content.checksum, content.size, content.codec, content.data),
    )
    return len(content.data) if done.rowcount else 0


def get(conn: sqlite3.Connection, checksum: bytes) -> Packed | None:
    """The content as it is stored, None when it is not."""
    row = conn.execute(
        "SELECT checksum, size, codec, data FROM content WHERE checksum = ?", (checksum,)
    ).fetchone()
    return None if row is None else Packed(*row)


def drop_unused(conn: sqlite3.Connection, checksums: Iterable[bytes | None]) -> None:
    """Delete those of the contents that no change has any more."""
    for checksum in {each for each in checksums if each is not None}:
        conn.execute(_UNUSED, {"checksum": checksum})


def _inflated(content: Packed) -> bytes:
    """Decompressed, but no further than the size that was stored: damage must not fill the memory."""
    return zlib.decompressobj().decompress(content.data, content.size + 1)
