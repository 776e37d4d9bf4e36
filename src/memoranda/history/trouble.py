"""What errors of the system and of SQLite mean for the history, in our words."""

from __future__ import annotations

import contextlib
import errno
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from memoranda.errors import ConfigProblem, DiskFull, FileProblem, MemorandaError

HINT = "No note is concerned. Check the space and the permissions of the configuration folder."


@contextlib.contextmanager
def translated(path: Path) -> Iterator[None]:
    """Errors inside, about the history at `path`, as ours; broken SQL and rows are faults and pass through."""
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.IntegrityError):
        raise
    except sqlite3.Error as error:
        raise _meaning(error, path) from error
    except ConfigProblem as error:
        raise FileProblem(str(path), error.message, hint=error.hint) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(str(path)) from error
        message = f"The history {path} cannot be used: {error.strerror or error}"
        raise FileProblem(str(path), message, hint=HINT) from error


def is_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether the file itself is broken."""
    return _code(error) in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def is_busy(error: sqlite3.OperationalError) -> bool:
    """Whether another process was in the way."""
    return _code(error) == sqlite3.SQLITE_BUSY


def newer(path: Path, found: int, known: int) -> FileProblem:
    """The refusal of a file that a newer version wrote."""
    return FileProblem(
        str(path),
        f"A newer version of Memoranda wrote the history {path} "
        f"(format {found}, this version knows {known})",
        hint="Use the newer version, or move the file away to begin a new history.",
    )


def _meaning(error: sqlite3.Error, path: Path) -> MemorandaError:
    match _code(error):
        case sqlite3.SQLITE_FULL:
            return DiskFull(str(path))
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED | sqlite3.SQLITE_PROTOCOL:
            return FileProblem(
                str(path),
                f"Other processes keep writing to the history {path}",
                hint="Repeat the call in a moment.",
            )
        case _:
            return FileProblem(str(path), f"The history {path} cannot be used: {error}", hint=HINT)


def _code(error: sqlite3.Error) -> int:
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
