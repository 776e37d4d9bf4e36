"""One command's connection to the parts: settings, log, container, and one event loop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from memoranda.container import Container
    from memoranda.model.project import Project
    from memoranda.workspace import Workspace

T = TypeVar("T")


def with_container(task: Callable[[Container], Awaitable[T]]) -> T:
    """Open the container, run `task` with it, close it whatever happens.

    The log goes to the log file alone: what a person must know, the command says itself. At the
    levels DEBUG and TRACE it is shown on stderr as well.

    Raises:
        MemorandaError: from reading the configuration or from `task`.
    """
    import asyncio

    from memoranda.config import load_settings, log_file
    from memoranda.container import Container
    from memoranda.errors import DatabaseDamaged
    from memoranda.logs import configure_logging

    settings = load_settings()
    level = settings.log_level
    configure_logging(level, log_file(), stderr=level.upper() in {"DEBUG", "TRACE"})

    async def whole() -> T:
        container = await Container.open(settings)
        try:
            try:
                return await task(container)
            except DatabaseDamaged:  # found in use: the next look sets it aside and builds it anew
                return await task(container)
        finally:
            await container.aclose()

    return asyncio.run(whole())


async def opened(container: Container, project: Project) -> Workspace:
    """The project's workspace; what happened to its database on opening is said on stderr.

    Raises:
        ProjectConflict: the project is disabled.
        DatabaseProblem: the database cannot be used.
    """
    from memoranda.cli.output import write_note

    workspace = await container.workspace(project)
    if workspace.index.notice:
        write_note(f"note: {project.name}: {workspace.index.notice}")
    return workspace
