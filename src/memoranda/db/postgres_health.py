"""What a server of PostgreSQL says of itself and of the schema of an index. Only reads."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy.engine import Connection

from memoranda.db.migrate_postgres import revision_of
from memoranda.db.postgres import PostgresDatabase

_ROUNDS: Final = 3
_SERVER: Final = """
    SELECT current_setting('server_version'), current_setting('server_version_num')::int, getdatabaseencoding(),
           pg_is_in_recovery(), current_user::text,
           coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false),
           inet_client_addr() IS NULL OR inet_client_addr() = inet_server_addr()
               OR inet_client_addr() <<= '127.0.0.0/8'::inet,
           current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
           (SELECT sum(numbackends)::int FROM pg_stat_database),
           (SELECT count(*) FROM pg_stat_activity WHERE application_name = current_setting('application_name')),
           (SELECT extversion FROM pg_extension WHERE extname = 'vector' AND to_regtype('halfvec') IS NOT NULL),
           (SELECT default_version FROM pg_available_extensions WHERE name = 'vector'),
           has_database_privilege(current_database(), 'CREATE')
"""
_SCHEMA: Final = """
    SELECT has_schema_privilege(n.oid, 'USAGE'), has_schema_privilege(n.oid, 'CREATE')
    FROM pg_namespace AS n WHERE n.nspname = $1
"""
_TABLES: Final = """
    SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint,
           coalesce(bool_and(has_table_privilege(c.oid, 'SELECT') AND (c.relname = 'alembic_version' OR (
               has_table_privilege(c.oid, 'INSERT') AND has_table_privilege(c.oid, 'UPDATE')
               AND has_table_privilege(c.oid, 'DELETE')))), true),
           coalesce(bool_and(pg_has_role(c.relowner, 'USAGE')), true)
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relkind IN ('r', 'p')
"""

_SEQUENCES: Final = """
    SELECT coalesce(bool_and(has_sequence_privilege(c.oid, 'USAGE') AND has_sequence_privilege(c.oid, 'UPDATE')), true)
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relkind = 'S'
"""


@dataclass(frozen=True, slots=True)
class ServerState:
    """What was found of a server and a schema.

    Attributes:
        round_trip_s: how long a statement that does nothing takes, the best of some.
        version, version_number: as it shows and as it counts it.
        is_standby: it only reads.
        is_encrypted: the connection uses TLS.
        is_local: the connection does not leave this machine, as far as the server can tell.
        most_connections: those that users who are no superusers may have, of which `connections` are taken,
            `own_connections` by this program.
        vector: the version of the extension in this database; None: not made there.
        vector_available: the version that could be made; None: the server does not have it.
        may_make_schemas: in this database.
        has_schema: with `may_use` and `may_make_tables` in it.
        may_write: read and write every table of it.
        may_number: use every sequence of it.
        owns_tables: so that it may change them.
        revision: of its tables; None: there are none.
        size_bytes: of its tables with their indexes.
    """

    round_trip_s: float
    version: str
    version_number: int
    encoding: str
    is_standby: bool
    user: str
    is_encrypted: bool
    is_local: bool
    most_connections: int
    connections: int
    own_connections: int
    vector: str | None
    vector_available: str | None
    may_make_schemas: bool
    has_schema: bool = False
    may_use: bool = False
    may_make_tables: bool = False
    may_write: bool = False
    may_number: bool = False
    owns_tables: bool = False
    revision: str | None = None
    size_bytes: int = 0


def server_state(database: PostgresDatabase) -> ServerState:
    """Ask a server, in one transaction.

    Raises:
        DatabaseProblem: or a subclass: it cannot be reached, or refuses the user.
    """
    return database.read(lambda conn: _asked(conn, database.address.schema))


def _asked(conn: Connection, schema: str) -> ServerState:
    rounds = []
    for _ in range(_ROUNDS):
        begun = time.perf_counter()
        conn.exec_driver_sql("SELECT 1").scalar()
        rounds.append(time.perf_counter() - begun)
    said: Any = tuple(conn.exec_driver_sql(_SERVER).one())
    of_schema = conn.exec_driver_sql(_SCHEMA, (schema,)).first()
    server = ServerState(min(rounds), *said)
    if of_schema is None:
        return server
    may_use, may_make_tables = of_schema
    size_bytes, may_write, owns_tables = conn.exec_driver_sql(_TABLES, (schema,)).one()
    return replace(
        server,
        has_schema=True,
        may_use=may_use,
        may_make_tables=may_make_tables,
        may_write=may_write,
        may_number=conn.exec_driver_sql(_SEQUENCES, (schema,)).scalar_one(),
        owns_tables=owns_tables,
        revision=revision_of(conn, schema) if may_use and may_write else None,
        size_bytes=size_bytes,
    )
