"""Listing, creating, removing and describing projects (spec 6.2.9, 6.2.10, 6.3)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from memoranda.errors import MemorandaError
from memoranda.model.project import Counts, Project, ProjectSummary
from memoranda.model.views import ProjectInfo
from memoranda.services.project_places import projects_root
from memoranda.services.registry import ProjectRegistry

Describe = Callable[[Project], Awaitable[ProjectInfo]]


class ProjectService:
    """The use cases on projects. `describe` looks into a project's index."""

    def __init__(self, registry: ProjectRegistry, describe: Describe) -> None:
        self._registry = registry
        self._describe = describe

    async def list(self) -> tuple[ProjectSummary, ...]:
        """All configured projects in the order of the configuration, disabled ones included."""
        return tuple([await self._summary(project) for project in self._registry.projects()])

    async def create(
        self, name: str, path: str, *, set_default: bool = False, is_remote: bool = False
    ) -> tuple[ProjectSummary, bool]:
        """Register a folder; see `ProjectRegistry.add`. Of a client over HTTP only below `projects_root`."""
        below = await asyncio.to_thread(self._below, is_remote)
        project, created = await asyncio.to_thread(
            self._registry.add, name, path, set_default=set_default, below=below
        )
        return await self._summary(project), created

    async def remove(self, name: str, *, is_remote: bool = False) -> Project:
        """Take a project out of the configuration; its notes are never touched. See `ProjectRegistry.remove`."""
        below = await asyncio.to_thread(self._below, is_remote)
        return await asyncio.to_thread(self._registry.remove, name, below=below)

    async def set_default(self, name: str) -> Project:
        """Make a project the default."""
        return await asyncio.to_thread(self._registry.set_default, name)

    async def info(self, name: str | None) -> ProjectInfo:
        """Counts, sync status and trouble of one project.

        Raises:
            ProjectNotFound: no such project.
        """
        return await self._describe(self._registry.find(name))

    def _below(self, is_remote: bool) -> Path | None:
        """The bound of a client over HTTP, by the configuration as it is now; None for the others."""
        if not is_remote:
            return None
        self._registry.projects()
        return projects_root(self._registry.settings)

    async def _summary(self, project: Project) -> ProjectSummary:
        try:
            info = await self._describe(project)
        except MemorandaError as error:  # one project's trouble must not hide the others
            return ProjectSummary(project, Counts(), f"failed: {error.message}")
        return ProjectSummary(project, info.counts, info.status)


def nesting(new: Project, projects: Sequence[Project]) -> list[str]:
    """A sentence for each project whose folder lies around or inside the new one's."""
    folder = new.path.resolve()
    notes = []
    for other in projects:
        if not other.is_active or other.name == new.name:
            continue
        path = other.path.resolve()
        if path in folder.parents:
            notes.append(
                f"{folder} lies inside the project {other.name}, which leaves it out from now on"
            )
        elif folder in path.parents:
            notes.append(
                f"{path} is the project {other.name}, so {new.name} leaves that folder out"
            )
    return notes
