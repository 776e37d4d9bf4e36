"""The parts of one process (the spec's McpContainer, 8.2).

Parts are chosen and joined here and in `workspace`, and nowhere else. Workspaces open on first use.
Front ends reach a project only through them, with values of `model/`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from loguru import logger

from memoranda.config import config_file, model_caches
from memoranda.embeddings.choice import ProviderChoice, Sources
from memoranda.embeddings.plan import embedding_plan
from memoranda.errors import MemorandaError, ProjectConflict
from memoranda.files.clock import SystemClock
from memoranda.model.history import HistoryLimits
from memoranda.model.live import WatchMode, WatchPlan
from memoranda.model.project import Counts, Project
from memoranda.model.sync import SyncState
from memoranda.model.views import ProjectInfo
from memoranda.places.opened import Places
from memoranda.places.sqlite import SqlitePlaces
from memoranda.ports import Clock
from memoranda.services.projects import ProjectService
from memoranda.services.registry import ProjectRegistry
from memoranda.services.search import MeaningLimits
from memoranda.workspace import Workspace, is_usable, join

if TYPE_CHECKING:
    from memoranda.settings import Settings

T = TypeVar("T")

KEEP_S = 2.0
"""Between two looks whether every project's database is the one that was opened."""


class Container:
    """All parts of one process. Open it with `Container.open`, close it with `aclose`.

    Attributes:
        choice: the embedding provider; not started by `open`.
        places: where the indexes are.
        is_adopting: set by the owner before it opens a project whose folder shall become the index's (`reindex`).
    """

    def __init__(
        self, registry: ProjectRegistry, places: Places, clock: Clock, choice: ProviderChoice
    ) -> None:
        self._registry = registry
        self.places = places
        self.is_adopting = False
        self._clock = clock
        self.choice = choice
        self._workspaces: dict[str, Workspace] = {}
        self._opening = asyncio.Lock()
        self._underway: set[asyncio.Task[Any]] = set()
        self._troubles: dict[str, str] = {}
        self.project_service = ProjectService(registry, self._describe)

    @classmethod
    async def open(
        cls, settings: Settings, *, clock: Clock | None = None, sources: Sources | None = None
    ) -> Container:
        """Join the parts; touches no database yet.

        Raises:
            ConfigProblem: the settings ask for what this version cannot do.
        """
        places = _places(settings)
        choice = ProviderChoice(
            embedding_plan(settings), model_caches(), sources=sources or Sources()
        )
        registry = ProjectRegistry(settings, config_file())
        return cls(registry, places, clock or SystemClock(), choice)

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
        """The parts of a project; opens its database on first use, and when it is lost or damaged.

        Lost is a database that was deleted, or that another file has replaced.

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
        if open_one is not None and is_usable(open_one, project):
            if open_one.project != project:  # another name or default: nothing to open anew
                open_one = self._workspaces[project.permalink] = replace(open_one, project=project)
            return open_one
        return await self._finished(self._open(project))

    async def keep(
        self,
        *,
        only: str | None = None,
        opened: Callable[[Workspace], None] = lambda _: None,
    ) -> None:
        """For a server: keep every active project alive, until cancelled.

        Projects that are new in the configuration are opened and watched, those that are not there any
        more are closed; a database that was lost or replaced is opened anew, though nobody asks.

        Args:
            only: the permalink of the one project to keep; None: all.
            opened: told each workspace before it is started, and again and again.
        """
        self.choice.start()
        projects, read_at = self.projects(), self._clock.monotonic()
        while True:
            await self._close_all_but(projects)
            for project in projects:
                if project.is_active and only in (None, project.permalink):
                    await self._start(project, opened)
            await asyncio.sleep(KEEP_S)
            is_old = (
                self._clock.monotonic() - read_at >= self.settings.watch_project_reload_interval
            )
            if is_old:
                read_at = self._clock.monotonic()
            projects = self._registry.projects(anew=is_old)

    async def _start(self, project: Project, opened: Callable[[Workspace], None]) -> None:
        """Start a project. One that cannot be opened is logged once; its tools will say why."""
        try:
            workspace = await self.workspace(project)
            opened(workspace)
            workspace.coordinator.start()
        except MemorandaError as error:
            if self._troubles.get(project.permalink) != error.message:
                logger.error("Project {} cannot be opened: {}", project.name, error.message)
            self._troubles[project.permalink] = error.message
        except Exception as error:  # noqa: BLE001 - one project's fault must not cost the others
            if self._troubles.get(project.permalink) != repr(error):
                logger.opt(exception=error).error("Project {} cannot be opened", project.name)
            self._troubles[project.permalink] = repr(error)
        else:
            self._troubles.pop(project.permalink, None)

    async def _open(self, project: Project) -> Workspace:
        async with self._opening:
            open_one = self._workspaces.get(project.permalink)
            if open_one is not None and is_usable(open_one, project):
                return open_one
            if open_one is not None:
                del self._workspaces[project.permalink]
                await open_one.aclose()
            workspace = await asyncio.to_thread(
                join,
                project,
                self.places,
                self._clock,
                _plan(self.settings),
                HistoryLimits(self.settings.history_days, self.settings.history_megabytes),
                open_one,
                languages=tuple(self.settings.search_languages),
                half_life_days=self.settings.search_half_life,
                is_recording=self.settings.search_log,
                source=self.choice,
                limits_of_meaning=_limits_of_meaning(self.settings),
                is_read_only=self.settings.read_only,
                is_adopting=self.is_adopting,
            )
            self._workspaces[project.permalink] = workspace
            return workspace

    async def _close_all_but(self, projects: Sequence[Project]) -> None:
        wanted = {project.permalink for project in projects if project.is_active}
        for permalink in self._workspaces.keys() - wanted:
            logger.info("Project {} is not served any more", permalink)
            await self._finished(self._close(permalink))

    async def _close(self, permalink: str) -> None:
        async with self._opening:
            if (workspace := self._workspaces.pop(permalink, None)) is not None:
                await workspace.aclose()

    async def _finished(self, work: Coroutine[Any, Any, T]) -> T:
        """Open or close to the end, also when the one who asked goes away; `aclose` waits for it.

        The thread that opens a database cannot be stopped, and nobody would close what it opens.
        """
        task = asyncio.create_task(work)
        self._underway.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._underway.discard(task)
        if not task.cancelled():
            task.exception()  # seen, though nobody may wait for it any more

    async def aclose(self) -> None:
        """Close every workspace, also those being opened; idempotent (spec 18)."""
        while self._underway:
            await asyncio.wait(self._underway)
        workspaces, self._workspaces = list(self._workspaces.values()), {}
        for workspace in workspaces:
            await workspace.aclose()
        await self.choice.aclose()
        await asyncio.to_thread(self.places.close)

    async def _describe(self, project: Project) -> ProjectInfo:
        if not project.is_active:
            state = SyncState(last_error=project.disabled)
            size = await asyncio.to_thread(self.places.size, project)
            return ProjectInfo(project, Counts(), state, self.places.shown(project), size)
        return await (await self.workspace(project)).info()


def _places(settings: Settings) -> Places:
    """PostgreSQL is imported when it is wanted."""
    if settings.database_backend == "sqlite":
        return SqlitePlaces()
    from memoranda.db.postgres import address_of
    from memoranda.places.postgres import PostgresPlaces

    return PostgresPlaces(
        address_of(
            settings.database_url,
            settings.database_schema,
            settings.database_connections,
            settings.database_statement_seconds,
        )
    )


def _plan(settings: Settings) -> WatchPlan:
    return WatchPlan(
        WatchMode(settings.watch_mode), settings.sync_delay / 1000, settings.reconcile_interval
    )


def _limits_of_meaning(settings: Settings) -> MeaningLimits:
    """A similarity counts only when it was given: each model has its own."""
    given = "semantic_min_similarity" in settings.model_fields_set
    return MeaningLimits(
        settings.semantic_vector_k, settings.semantic_min_similarity if given else None
    )
