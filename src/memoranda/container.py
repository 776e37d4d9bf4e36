"""The parts of one process (the spec's McpContainer, 8.2).

Parts are chosen and joined here and in `workspace`, and nowhere else. Workspaces open on first use.
Front ends reach a project only through them, with values of `model/`.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from loguru import logger

from memoranda.config import config_file, database_path
from memoranda.errors import ConfigProblem, ProjectConflict
from memoranda.files.clock import SystemClock
from memoranda.model.project import Counts, Project
from memoranda.model.sync import SyncState
from memoranda.model.views import ProjectInfo
from memoranda.ports import Clock
from memoranda.services.projects import ProjectService
from memoranda.services.registry import ProjectRegistry
from memoranda.workspace import Workspace, is_usable, join, size_of

if TYPE_CHECKING:
    from memoranda.settings import Settings


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
        async with self._opening:
            open_one = self._workspaces.get(project.permalink)
            if open_one is not None and is_usable(open_one, project):
                return open_one
            if open_one is not None:
                del self._workspaces[project.permalink]
                await open_one.aclose()
            workspace = await asyncio.to_thread(join, project, self._clock, open_one)
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
            return ProjectInfo(project, Counts(), state, str(path), size_of(path))
        return await (await self.workspace(project)).info()
