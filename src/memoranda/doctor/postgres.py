"""The server of PostgreSQL that keeps the index of every project: can it be used, by this user, in this way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from memoranda.db.migrate import HEAD, State
from memoranda.doctor.words import command, counted, size
from memoranda.errors import MemorandaError
from memoranda.model.health import Check, ok, problem, warning

if TYPE_CHECKING:
    from memoranda.db.postgres import Address
    from memoranda.db.postgres_health import ServerState

SLOW_S: Final = 0.02
_PATIENCE_S: Final = 3.0
_OLDEST_SERVER: Final = 140_000
_OTHERS: Final = 1
"""Connections of a process beside those of its transactions."""


@dataclass(frozen=True, slots=True)
class DatabaseFacts:
    """What was found of the server.

    Attributes:
        shown: the address without its password.
        schema: in which the tables are.
        per_process: the most connections that one process opens.
        server: what it says of itself; None: `trouble` says why nobody knows.
        wants_vectors: search by meaning is on.
    """

    shown: str
    schema: str
    per_process: int
    server: ServerState | None = None
    trouble: str = ""
    way_on: str = ""
    wants_vectors: bool = False

    @property
    def state(self) -> State | None:
        """What the schema has; None: nobody knows, or the user may not read it."""
        server = self.server
        if server is None or (server.has_schema and not (server.may_use and server.may_write)):
            return None
        if server.revision is None:
            return State.ABSENT
        if server.revision == HEAD:
            return State.CURRENT
        return State.NEWER if server.revision > HEAD else State.OLDER


def look(address: Address, *, wants_vectors: bool) -> DatabaseFacts:
    """Look at the server; nothing is made in it. Takes seconds when there is no answer."""
    from memoranda.db.postgres import PostgresDatabase
    from memoranda.db.postgres_health import server_state

    facts = DatabaseFacts(
        address.shown,
        address.schema,
        address.connections + _OTHERS,
        wants_vectors=wants_vectors,
    )
    database = PostgresDatabase(replace(address, statement_s=min(address.statement_s, _PATIENCE_S)))
    try:
        return replace(facts, server=server_state(database))
    except MemorandaError as error:
        return replace(facts, trouble=error.message, way_on=error.hint)
    finally:
        database.dispose()


def judge(facts: DatabaseFacts) -> list[Check]:
    """The checks of the server."""
    server = facts.server
    if server is None:
        return [problem("database", facts.trouble, facts.way_on)]
    return [
        _reached(facts, server),
        _version(server),
        _encryption(server),
        _tables(facts, server),
        *_rights(server),
        *_vectors(facts, server),
        _connections(facts, server),
    ]


def _reached(facts: DatabaseFacts, server: ServerState) -> Check:
    took = f"a round trip takes {server.round_trip_s * 1000:.1f} ms"
    if server.is_standby:
        return problem(
            "database",
            f"{facts.shown} is a standby, which only reads",
            "Set database_url to the server that takes writes.",
        )
    if server.round_trip_s >= SLOW_S:
        return warning(
            "database",
            f"{facts.shown} answers, and {took}: every statement waits as long",
            "Use a server that is nearer, or one in the same network.",
        )
    return ok("database", f"{facts.shown} answers; {took}")


def _version(server: ServerState) -> Check:
    said = f"version {server.version}, encoding {server.encoding}"
    if server.version_number >= _OLDEST_SERVER and server.encoding == "UTF8":
        return ok("PostgreSQL", said)
    return problem(
        "PostgreSQL",
        f"{said}: the index cannot be kept there",
        "Use PostgreSQL 14 or later, and a database whose encoding is UTF8.",
    )


def _encryption(server: ServerState) -> Check:
    if server.is_encrypted:
        return ok("encryption", "the connection is encrypted (TLS)")
    if server.is_local:
        return ok("encryption", "none; the connection does not leave the machine")
    return warning(
        "encryption",
        "the connection is not encrypted: who is on the way can read the notes",
        "Turn TLS on at the server, and add ?sslmode=verify-full to database_url.",
    )


def _tables(facts: DatabaseFacts, server: ServerState) -> Check:
    schema, user = facts.schema, server.user
    grant = f'GRANT USAGE, CREATE ON SCHEMA "{schema}" TO "{user}"'
    if not server.has_schema:
        if server.may_make_schemas:
            return ok("tables", f"the schema {schema} is made at the next use")
        return problem(
            "tables",
            f"there is no schema {schema}, and the user {user} may not make it",
            f'Let an administrator run: CREATE SCHEMA "{schema}" AUTHORIZATION "{user}".',
        )
    if not server.may_use:
        return problem(
            "tables",
            f"the user {user} may not use the schema {schema}",
            f"Let its owner run: {grant}.",
        )
    if not server.may_write:
        tables = f'ALL TABLES IN SCHEMA "{schema}" TO "{user}"'
        return problem(
            "tables",
            f"the user {user} may not read and write every table of the schema {schema}",
            f"Let its owner run: GRANT SELECT, INSERT, UPDATE, DELETE ON {tables}.",
        )
    if not server.may_number:
        sequences = f'ALL SEQUENCES IN SCHEMA "{schema}" TO "{user}"'
        return problem(
            "tables",
            f"the user {user} may not use every sequence of the schema {schema}",
            f"Let its owner run: GRANT USAGE, UPDATE ON {sequences}.",
        )
    if server.revision is None:
        if server.may_make_tables:
            return ok("tables", f"those of the schema {schema} are made at the next use")
        return problem(
            "tables",
            f"the schema {schema} has none, and the user {user} may not make them",
            f"Let its owner run: {grant}.",
        )
    if server.revision > HEAD:
        return problem(
            "tables",
            f"a newer version of Memoranda made those of the schema {schema}",
            "Use that version here as well, or set another database_schema.",
        )
    if server.revision == HEAD:
        said = f"those of the schema {schema} are current, {size(server.size_bytes)}"
        return ok("tables", f"{said} with all projects")
    said = f"those of the schema {schema} are of an older version"
    if server.owns_tables:
        return ok("tables", f"{said} and are upgraded at the next use")
    return problem(
        "tables",
        f"{said}, and the user {user} may not change them",
        f"Let their owner run {command('sync')} once with this version.",
    )


def _rights(server: ServerState) -> Iterator[Check]:
    """That another user has to bring the tables to a newer version, where that is so."""
    if server.revision == HEAD and server.may_write and not server.owns_tables:
        said = f"the user {server.user} may write, and a newer version has to be started first by the owner"
        yield ok("rights", f"{said} of the tables")


def _vectors(facts: DatabaseFacts, server: ServerState) -> Iterator[Check]:
    if not facts.wants_vectors:
        return
    if server.vector is not None:
        yield ok(
            "pgvector",
            f"version {server.vector}: the database compares vectors where they are many",
        )
        return
    without = "vectors are compared in this program, which reads all of them"
    if server.vector_available is None:
        yield ok("pgvector", f"the server does not have it; {without}")
        return
    yield ok(
        "pgvector",
        f"version {server.vector_available} is there and not made; {without} "
        "(an administrator makes it with: CREATE EXTENSION vector)",
    )


def _connections(facts: DatabaseFacts, server: ServerState) -> Check:
    left = max(server.most_connections - server.connections, 0)
    said = (
        f"{left:,} of {server.most_connections:,} are left; "
        f"a server takes up to {facts.per_process:,}"
    )
    if left >= facts.per_process:
        ours = counted(max(server.own_connections - 1, 0), "connection")
        return ok("connections", f"{said}, and {ours} of Memoranda are open")
    return warning(
        "connections",
        said,
        "Raise max_connections of PostgreSQL, or lower database_connections.",
    )
