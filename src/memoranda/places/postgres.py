"""Indexes on PostgreSQL: one schema for all projects, shared by servers that see the same folders."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from importlib.metadata import version
from typing import Final

from loguru import logger
from sqlalchemy.engine import Connection

from memoranda.db.migrate_postgres import bring_up_schema, revision_of
from memoranda.db.postgres import Address, PostgresDatabase
from memoranda.db.postgres_leaders import Leadership
from memoranda.db.postgres_leading import is_led, keep_leaders_away
from memoranda.db.postgres_locks import PostgresLocks
from memoranda.db.postgres_tables import Identity, TablesOf, identity_of
from memoranda.errors import DatabaseAway, DatabaseProblem, MemorandaError, ProjectConflict
from memoranda.model.project import Project
from memoranda.places.opened import OpenIndex
from memoranda.ports import Clock, Database
from memoranda.repositories.entity import EntityRepository
from memoranda.repositories.project import ensure_project, known_project
from memoranda.repositories.project_rows import id_of, remove_all
from memoranda.repositories.search_postgres import PostgresFullTextIndex
from memoranda.repositories.store import Tx
from memoranda.repositories.vector_near import retire_near
from memoranda.repositories.vector_near_index import make_index
from memoranda.repositories.vectors_pgvector import PostgresVectorIndex
from memoranda.services.root_identity import require_own_folder
from memoranda.sync.shared_lease import SharedLease
from memoranda.sync.sync_service import INDEX_VERSION
from memoranda.text.analysis import ENGLISH, Languages

_AWAY_S: Final = 1.0
"""So long a database counts as away without being asked again."""
_NO_TIME: Final = datetime(2026, 1, 1)  # noqa: DTZ001 - of a transaction that writes no time
_UNHURRIED_S: Final = 24 * 3600.0
_SIZE: Final = """
    SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class AS c
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
"""


class PostgresPlaces:
    """`places.opened.Places` in one schema. Connects when the first project is opened."""

    is_shared = True

    def __init__(self, address: Address) -> None:
        self._database = PostgresDatabase(address)
        self._locks = PostgresLocks(address)
        self._away: DatabaseAway | None = None
        self._away_at = 0.0

    def open(
        self,
        project: Project,
        clock: Clock,
        languages: Languages,
        *,
        before: OpenIndex | None = None,
        damage: str = "",
    ) -> OpenIndex:
        """Bring the schema up to date and find or make the row of the project."""
        with self._known_when_away():
            done = bring_up_schema(self._database)
        if done == "created":
            logger.info("The tables were made in {}", self._database.shown)
        index = open_in(self._database, project, clock, languages)
        if damage and _healed(index, clock):
            notice = (
                f"the full-text index could not be used ({damage}) and is built anew from the notes"
            )
            logger.warning("Project {}: {}", project.name, notice)
            index = replace(index, notice=notice)
        leadership = Leadership(self._locks, index.project_id)
        leadership.watch()
        return replace(
            index,
            lease=SharedLease(leadership, version("memoranda"), INDEX_VERSION),
            path_locks=self._locks.of_project(index.project_id),
            embedded=_NearIndexes(self._database, project.name, index.project_id).make,
        )

    def shown(self, project: Project) -> str:
        """The address without its password; the same for all projects."""
        return self._database.shown

    def size(self, project: Project) -> int:
        """Of all projects together; 0 where nobody may ask."""
        try:
            with self._known_when_away():
                return size_of(self._database)
        except DatabaseProblem:
            return 0

    def is_led(self, project: Project) -> bool:
        """By the lock of the project's leader."""

        def look(conn: Connection) -> bool:
            schema = self._database.address.schema
            if revision_of(conn, schema) is None:
                return False
            project_id = id_of(conn, project.permalink)
            return project_id is not None and is_led(conn, schema, project_id)

        with self._known_when_away():
            return self._database.read(look)

    def remove(self, project: Project) -> bool:
        """Delete the rows of a project, in one transaction, however long it takes."""
        address = replace(self._database.address, statement_s=_UNHURRIED_S)

        def look(conn: Connection) -> int | None:
            is_there = revision_of(conn, address.schema) is not None
            return id_of(conn, project.permalink) if is_there else None

        def delete(project_id: int, conn: Connection) -> None:
            require_own_folder(Tx(conn, project_id, _NO_TIME), project.path, project.name)
            if not keep_leaders_away(conn, address.schema, project_id):
                raise ProjectConflict(
                    f"The index of {project.name} is not deleted: a server keeps it up to date",
                    hint="End the servers that serve the project, on every machine, and repeat the command.",
                    parameter="project",
                )
            retire_near(conn, project_id, "")
            remove_all(conn, project_id)

        database = PostgresDatabase(address)
        try:
            found = database.read(look)
            if found is not None:
                database.write(partial(delete, found), project_id=found)
        finally:
            database.dispose()
        return found is not None

    @contextmanager
    def _known_when_away(self) -> Iterator[None]:
        """Ask nobody who was away a moment ago: commands ask for one project after the other."""
        if self._away is not None and time.monotonic() - self._away_at < _AWAY_S:
            raise DatabaseAway(self._away.message, hint=self._away.hint)
        try:
            yield
        except DatabaseAway as error:
            self._away, self._away_at = error, time.monotonic()
            raise

    def close(self) -> None:
        """Close all connections."""
        self._locks.close()
        self._database.dispose()


class _NearIndexes:
    """Makes the indexes of a project's vectors, one at a time, in a thread that nobody waits for."""

    def __init__(self, database: PostgresDatabase, name: str, project_id: int) -> None:
        self._database = database
        self._name = name
        self._project_id = project_id
        self._thread: threading.Thread | None = None

    def make(self, space: str) -> None:
        """Begin, unless one is being made."""
        if self._thread is None or not self._thread.is_alive():
            name = f"near {self._name}"
            self._thread = threading.Thread(
                target=self._make, args=(space,), name=name, daemon=True
            )
            self._thread.start()

    def _make(self, space: str) -> None:
        try:
            if make_index(self._database, self._project_id, space):
                logger.info("Project {}: the index of its vectors was made", self._name)
        except (MemorandaError, RuntimeError) as error:  # the latter when all is being closed
            logger.warning("Project {}: its vectors have no index: {}", self._name, error)


def open_in(
    database: PostgresDatabase, project: Project, clock: Clock, languages: Languages = ENGLISH
) -> OpenIndex:
    """Open the index of a project in a schema that is current, without anybody who leads."""
    project_id, identity = _project_id(database, project, clock)
    fulltext = PostgresFullTextIndex(project_id, languages)
    own = TablesOf(database, project_id, identity)
    return OpenIndex(
        own,
        project_id,
        fulltext,
        PostgresVectorIndex(project_id),
        database.shown,
        partial(_checked, own, fulltext),
        is_there=lambda: own.is_there,
        size=partial(size_of, database),
        is_led=lambda: database.read(
            lambda conn: is_led(conn, database.address.schema, project_id)
        ),
        is_shared=True,
    )


def size_of(database: PostgresDatabase) -> int:
    """Bytes of all tables of the schema with their indexes."""
    return int(database.read(lambda conn: conn.exec_driver_sql(_SIZE).scalar_one()))


def _project_id(database: PostgresDatabase, project: Project, clock: Clock) -> tuple[int, Identity]:
    """The id of the project's row, and what tells the row from others."""

    def find(conn: Connection) -> tuple[int, Identity] | None:
        known = known_project(conn, project)
        return None if known is None else (known, identity_of(conn, known))

    def make(conn: Connection) -> tuple[int, Identity]:
        made = ensure_project(conn, project, clock.now().replace(tzinfo=None), INDEX_VERSION)
        return made, identity_of(conn, made)

    return database.read(find) or database.write(make)


def _healed(index: OpenIndex, clock: Clock) -> bool:
    """Whether the full text was damaged: it is empty then, and the next sync reads all notes for it."""
    fulltext = PostgresFullTextIndex(index.project_id)

    def heal(conn: Connection) -> bool:
        if fulltext.check(conn):
            return False
        fulltext.clear(conn)
        now = clock.now().replace(tzinfo=None)
        EntityRepository(Tx(conn, index.project_id, now)).forget_contents()
        return True

    return index.database.write(heal, project_id=index.project_id)


def _checked(
    database: Database, fulltext: PostgresFullTextIndex, is_abandoned: Callable[[], bool]
) -> list[str]:
    """Pages and rows are the server's to check; whether the full text is complete is ours."""
    is_sound = is_abandoned() or database.read(fulltext.check)
    return [] if is_sound else ["the full text does not agree with its rows"]
