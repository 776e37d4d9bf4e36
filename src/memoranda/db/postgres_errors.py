"""What errors of PostgreSQL, of its driver and of the way to it mean. Pure."""

from __future__ import annotations

import re
from typing import Any, Final

from sqlalchemy.exc import DBAPIError

from memoranda.errors import (
    ConfigProblem,
    DatabaseAway,
    DatabaseBusy,
    DatabaseLost,
    DatabaseProblem,
    DiskFull,
    MemorandaError,
)

TABLES: Final = frozenset({
    "alembic_version", "entity", "file_failure", "index_meta", "link", "note_filter", "note_name", "observation",
    "project", "project_leader", "relation", "search_index", "search_statistics", "search_terms",
    "search_vector_chunks", "search_vector_embeddings", "search_vector_notes", "search_vector_spaces",
    "search_vector_sums", "search_words",
})  # fmt: skip
"""The tables of the migrations."""
_LOST_FUNCTIONS: Final = ("search_keys(", "reserve_ids(", "instr(")
_NAMED: Final = re.compile(r'relation "(?:[^"]*\.)?([^".]+)" does not exist')


def meaning(error: BaseException, where: str) -> MemorandaError | None:
    """What an error of the database or of the way to it means; None: it is no condition of the database.

    `where`: what people are told of the place.
    """
    import asyncpg

    orig: Any = error.orig if isinstance(error, DBAPIError) else error
    state = getattr(orig, "sqlstate", None) or getattr(orig, "pgcode", None) or ""
    if isinstance(orig, asyncpg.exceptions.ClientConfigurationError) or isinstance(
        orig.__cause__, asyncpg.exceptions.ClientConfigurationError
    ):
        return no_address(_said(orig))
    if known := _by_state(str(state), where, _said(orig)):
        return known
    cut = OSError, TimeoutError, EOFError, asyncpg.InterfaceError, asyncpg.InternalClientError
    # SQLAlchemy wraps what the driver says; a value that cannot be sent is a bug of ours.
    is_cut = any(
        isinstance(each, cut) and not isinstance(each, ValueError)
        for each in (orig, orig.__cause__)
    )
    if is_cut or (isinstance(error, DBAPIError) and error.connection_invalidated):
        return away(where, _why(orig))
    return None


def _why(orig: BaseException) -> str:
    """The driver says of a connection that was cut what it could not do with it."""
    import asyncpg

    own = asyncpg.InterfaceError, asyncpg.InternalClientError
    if any(isinstance(each, own) for each in (orig, orig.__cause__)):
        return "the connection was cut"
    return "no answer" if isinstance(orig, TimeoutError) else _said(orig) or type(orig).__name__


def _by_state(state: str, where: str, said: str) -> MemorandaError | None:
    match state:
        case "40001" | "40P01" | "55P03":
            return DatabaseBusy(
                f"Another process is writing to {where}", hint="Repeat the call in a moment."
            )
        case "57014":
            return DatabaseProblem(
                f"{where} took too long for a statement",
                hint="Repeat the call; if that happens often, raise database_statement_seconds or give the server more.",
            )
        case "53100":
            return DiskFull(where)
        case "42P01" | "3F000" | "42883" if _is_lost(state, said):
            return DatabaseLost(
                f"The tables in {where} are gone",
                hint="The notes are not concerned; the index is built anew from them.",
            )
        case "55000" if "accepting connections" in said:  # an administrator has closed it
            return away(where, said)
        case "25006":
            return away(where, "it only reads, as a standby does, or lets this user only read")
        case "42704" if "configuration parameter" in said:
            return no_address(f"the server does not know a parameter of it ({said})")
        case "42501":
            return DatabaseProblem(
                f"{where} does not allow that: {said}",
                hint="Let an administrator give the user the rights that `memoranda doctor` names.",
            )
        case "3D000":
            return DatabaseProblem(
                f"{where}: {said}", hint="Make the database, or mend database_url."
            )
        case _ if state.startswith("28"):
            return DatabaseProblem(
                f"{where} refuses the user: {said}",
                hint="Check the user, and the password in PGPASSWORD, the password file or database_url.",
            )
        case _ if state.startswith(("08", "57P", "53")):
            return away(where, said)
        case _:
            return None


def _is_lost(state: str, said: str) -> bool:
    if state == "42883":
        return any(one in said for one in _LOST_FUNCTIONS)
    named = _NAMED.search(said)
    return state == "3F000" or (named is not None and named[1] in TABLES)


def away(where: str, why: str) -> DatabaseAway:
    """The error for a server that does not answer."""
    return DatabaseAway(
        f"{where} cannot be reached: {why}",
        hint="The notes are not concerned. Repeat the call when the database is back; nothing has to be restarted.",
    )


def _said(error: BaseException) -> str:
    """The first line of an error, as the server or the system said it."""
    text = str(error)
    if ">: " in text[:80]:  # as SQLAlchemy writes the class in front
        text = text.split(">: ", 1)[1]
    return text.splitlines()[0].rstrip(".") if text else ""


def without_secrets(error: Exception) -> Exception | None:
    """The cause that may be logged: an error of the address may repeat it."""
    return None if isinstance(error, ValueError) else error


def no_address(why: str) -> ConfigProblem:
    """The error for a `database_url` of no use; repeats nothing of it."""
    return ConfigProblem(
        "database_url",
        f"database_url cannot be used: {why}",
        hint="Write for example postgresql://memoranda@db.example.org:5432/notes, and the password into PGPASSWORD or "
        "a password file.",
    )
