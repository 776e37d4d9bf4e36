"""The only place where parts are chosen and joined (the spec's McpContainer, 8.2).

A `Container` is one process; a `Workspace` is one project in it: its index, its services, its syncs.
Workspaces open on first use. Front ends reach a project only through them, with values of `model/`.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from loguru import logger

from memoranda.config import config_file, database_path, lock_folder
from memoranda.db.engine import begin_read, begin_write, open_engine
from memoranda.db.health import Prepared, prepare, rebuild
from memoranda.errors import ConfigProblem, DatabaseProblem, ProjectConflict
from memoranda.files.clock import SystemClock
from memoranda.files.file_service import FileService
from memoranda.model.note import NoteRef
from memoranda.model.project import Counts, Project
from memoranda.model.sync import FileFailure, SyncReport, SyncState
from memoranda.model.views import ProjectInfo
from memoranda.ports import Clock, FullTextIndex, ProgressSink
from memoranda.repositories.failure import FailureRepository
from memoranda.repositories.project import (
    LAST_FULL_SYNC,
    ProjectRepository,
    ensure_project,
    known_project,
)
from memoranda.repositories.refs import NoteRefRepository
from memoranda.repositories.search_sqlite import SqliteFullTextIndex
from memoranda.repositories.store import Store, Tx
from memoranda.services.browse import BrowseService
from memoranda.services.context import ContextService
from memoranda.services.entity import EntityService
from memoranda.services.link_resolver import LinkResolver
from memoranda.services.notes import NoteService
from memoranda.services.projects import ProjectService
from memoranda.services.reading import read_note
from memoranda.services.registry import ProjectRegistry
from memoranda.services.search import SearchService
from memoranda.sync.breaker import is_tripped
from memoranda.sync.coordinator import SyncCoordinator
from memoranda.sync.reading import ReadOne
from memoranda.sync.sync_service import INDEX_VERSION, SyncService

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine

    from memoranda.settings import Settings


@dataclass(frozen=True, slots=True)
class Workspace:
    """One project's parts. `notice` says what happened to its database when it was opened."""

    project: Project
    database: Path
    store: Store
    fulltext: FullTextIndex
    files: FileService
    entities: EntityService
    notes: NoteService
    search: SearchService
    context: ContextService
    browse: BrowseService
    links: LinkResolver
    sync: SyncService
    coordinator: SyncCoordinator
    notice: str = ""

    async def reindex(self, progress: ProgressSink | None = None) -> SyncReport:
        """Read every file of the project again; ids stay."""
        return await self.coordinator.reindex(progress=progress)

    async def info(self) -> ProjectInfo:
        """What `status` says about the project."""
        counts, facts, broken, failures = await self.store.read(_look)
        synced = facts.get(LAST_FULL_SYNC)
        return ProjectInfo(
            project=self.project,
            counts=counts,
            state=self.coordinator.state,
            database_path=str(self.database),
            database_bytes=await asyncio.to_thread(_bytes, self.database),
            last_full_sync=datetime.fromisoformat(str(synced)).replace(tzinfo=UTC)
            if synced
            else None,
            broken=tuple(broken),
            failures=tuple(failures),
            notice=self.notice,
        )

    async def aclose(self) -> None:
        """Stop syncing and close the database."""
        await self.coordinator.stop()
        await asyncio.to_thread(self.store.close)


class Container:
    """All parts of one process. Open it with `Container.open`, close it with `aclose`."""

    def __init__(self, registry: ProjectRegistry, clock: Clock) -> None:
        self._registry = registry
        self._clock = clock
        self._workspaces: dict[str, Workspace] = {}
        self._opening = asyncio.Lock()
        self.project_service = ProjectService(registry, self._describe)

    @classmethod
    async def open(cls, settings: Settings, *, clock: Clock | None = None) -> Container:
        """Join the parts; touches no database yet.

        Raises:
            ConfigProblem: the settings ask for what this version cannot do.
        """
        if settings.database_backend != "sqlite":
            raise ConfigProblem(
                "database_backend",
                f"The database backend {settings.database_backend!r} is not supported yet",
                hint='Set database_backend to "sqlite".',
            )
        logger.info("Embedding provider: none in this version; searches are full-text")
        return cls(ProjectRegistry(settings, config_file()), clock or SystemClock())

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._registry.settings

    def projects(self) -> tuple[Project, ...]:
        """All configured projects, disabled ones included."""
        return self._registry.projects()

    def find_project(self, name: str | None) -> Project:
        """The project of that name, or the default (spec 11).

        Raises:
            ProjectNotFound: none; it names the ones there are.
        """
        return self._registry.find(name)

    async def workspace(self, project: Project) -> Workspace:
        """The parts of a project; opens its database on first use, or when it is damaged or gone.

        Raises:
            ProjectConflict: the project is disabled.
            DatabaseProblem: or a subclass; the database cannot be used.
        """
        if not project.is_active:
            raise ProjectConflict(
                f"The project {project.name!r} is not served: {project.disabled}",
                hint="Change the configuration, see `memoranda status`.",
                parameter="project",
            )
        open_one = self._workspaces.get(project.permalink)
        if open_one is not None and _is_usable(open_one, project):
            if open_one.project != project:  # another name or default: nothing to open anew
                open_one = self._workspaces[project.permalink] = replace(open_one, project=project)
            return open_one
        async with self._opening:
            open_one = self._workspaces.get(project.permalink)
            if open_one is not None and _is_usable(open_one, project):
                return open_one
            if open_one is not None:
                del self._workspaces[project.permalink]
                await open_one.aclose()
            damaged = open_one is not None and open_one.store.is_damaged
            workspace = await asyncio.to_thread(_join, project, self._clock, damaged=damaged)
            self._workspaces[project.permalink] = workspace
            return workspace

    async def aclose(self) -> None:
        """Close every workspace; idempotent (spec 18)."""
        workspaces, self._workspaces = list(self._workspaces.values()), {}
        for workspace in workspaces:
            await workspace.aclose()

    async def _describe(self, project: Project) -> ProjectInfo:
        if not project.is_active:
            path = database_path(project)
            state = SyncState(last_error=project.disabled)
            return ProjectInfo(project, Counts(), state, str(path), _bytes(path))
        return await (await self.workspace(project)).info()


def _is_usable(workspace: Workspace, project: Project) -> bool:
    return (
        not workspace.store.is_damaged
        and (workspace.project.path, workspace.project.skips) == (project.path, project.skips)
        and workspace.database.exists()
    )


def _join(project: Project, clock: Clock, *, damaged: bool) -> Workspace:
    """Prepare the database and build the parts; runs in a thread."""
    database = database_path(project)
    prepared = rebuild(database, "damaged while in use") if damaged else prepare(database)
    notice = _notice(prepared)
    if notice:
        logger.warning("Project {}: {}", project.name, notice)
    engine = open_engine(database)
    try:
        with begin_read(engine) as conn:
            project_id = known_project(conn, project)
        if project_id is None:
            with begin_write(engine) as conn:
                now = clock.now().replace(tzinfo=None)
                project_id = ensure_project(conn, project, now, INDEX_VERSION)
    except DatabaseProblem:
        engine.dispose()
        raise
    return assemble(
        project, database, engine, project_id, lock_folder(project), clock, notice=notice
    )


def assemble(
    project: Project,
    database: Path,
    engine: Engine,
    project_id: int,
    locks: Path,
    clock: Clock,
    *,
    read: ReadOne = read_note,
    notice: str = "",
) -> Workspace:
    """Build the parts of a project over an open database; `read` lets tests inject faults."""
    store = Store(engine, project_id, clock)
    fulltext = SqliteFullTextIndex(project_id)
    files = FileService(project.path, locks, skips=project.skips)
    entities = EntityService(store, fulltext)
    notes = NoteService(store, files, fulltext)
    sync = SyncService(project.path, project.skips, store, files, entities, clock, read=read)
    return Workspace(
        project=project,
        database=database,
        store=store,
        fulltext=fulltext,
        files=files,
        entities=entities,
        notes=notes,
        search=SearchService(store, fulltext),
        context=ContextService(store, notes),
        browse=BrowseService(store, files),
        links=LinkResolver(store),
        sync=sync,
        coordinator=SyncCoordinator(project.name, sync, clock),
        notice=notice,
    )


def _notice(prepared: Prepared) -> str:
    if prepared.set_aside is None:
        return ""
    return (
        f"the index could not be used ({prepared.reason}); it is kept as "
        f"{prepared.set_aside.name} and is built anew from the notes"
    )


def _look(tx: Tx) -> tuple[Counts, dict[str, object], list[NoteRef], list[FileFailure]]:
    project = ProjectRepository(tx)
    failures = [
        replace(failure, tripped=is_tripped(failure, failure.checksum))
        for failure in FailureRepository(tx).all().values()
    ]
    return project.counts(), project.facts(), NoteRefRepository(tx).with_problems(), failures


def _bytes(database: Path) -> int:
    """Size of a database with its write-ahead log; 0 when there is none."""
    total = 0
    for name in (database.name, f"{database.name}-wal"):
        try:
            total += database.with_name(name).stat().st_size
        except OSError:
            continue
    return total
