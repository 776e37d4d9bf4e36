"""The container as the tools see it: opened in the background, awaited with a bound.

`initialize` must be answered in little more than the time FastMCP needs to import, so nothing here
imports storage at module level. The first thing that needs the container (or the server, right
after `initialize`) starts opening it: imports and migrations run in threads, then the projects are
watched and synced. If opening failed, the next call tries again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from memoranda.errors import InvalidArgument, NotReady, ReadOnly
from memoranda.model.address import ByName, parse_address
from memoranda.ports import Clock

if TYPE_CHECKING:
    from memoranda.container import Container
    from memoranda.workspace import Workspace

OPENING_PATIENCE_S = 20.0
CLOSING_PATIENCE_S = 1.0
_AGAIN_S = 5.0

T = TypeVar("T")
OpenContainer = Callable[[], Awaitable["Container"]]


class Session:
    """Owns the container of this process and the task that opens it.

    Attributes:
        is_read_only: whether this process never writes, whatever the settings say.
        is_remote: whether its clients come over HTTP, so that the folders of the machine are not theirs.
    """

    def __init__(
        self,
        open_container: OpenContainer,
        clock: Clock,
        *,
        patience_s: float = OPENING_PATIENCE_S,
        read_only: bool = False,
        is_remote: bool = False,
    ) -> None:
        self.is_read_only = read_only
        self.is_remote = is_remote
        self._open_container = open_container
        self._clock = clock
        self._patience_s = patience_s
        self._opening: asyncio.Task[Container] | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._calls: set[asyncio.Task[Any]] = set()
        self._closing: asyncio.Task[None] | None = None
        self._closed = False

    def now(self) -> datetime:
        """Aware UTC."""
        return self._clock.now()

    async def run(self, call: Coroutine[Any, Any, T]) -> T:
        """Carry out a call to its end, also when the one who asked goes away meanwhile.

        A write that was begun is finished and indexed; `aclose` waits for it.
        """
        return await asyncio.shield(self.begin(call))

    def begin(self, call: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """The same, for one who does not want to wait for the end."""
        task = asyncio.create_task(call)
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)
        return task

    def start(self) -> asyncio.Task[Container]:
        """Begin to open the container unless it is open or being opened.

        Raises:
            NotReady: the session is closed.
        """
        if self._closed:
            raise NotReady("The server is shutting down")
        if self._opening is None or _failed(self._opening):
            self._opening = asyncio.create_task(self._open(), name="open container")
            self._opening.add_done_callback(_seen)
        return self._opening

    async def container(self) -> Container:
        """The container.

        Raises:
            NotReady: it is not open after the bound; opening goes on.
            MemorandaError: opening failed, with the reason.
        """
        task = self.start()
        if task.done():
            return task.result()
        done, _ = await asyncio.wait({task}, timeout=self._patience_s)
        if not done:
            raise NotReady(
                "The index is still being opened", hint="Repeat the call in a few seconds."
            )
        return task.result()

    async def require_writable(self) -> None:
        """For what writes: refuse it where only reading is allowed, by this process or the settings in force.

        Raises:
            ReadOnly: it is refused.
            NotReady: see `container`.
        """
        if self.is_read_only or (await self.container()).settings.read_only:
            raise ReadOnly(
                "This server only reads: nothing was changed",
                hint="Tell the user: it is set by read_only in the configuration, or by --read-only.",
            )

    async def workspace(self, project: str | None, address: str = "") -> Workspace:
        """The workspace of a project, with its sync running.

        Args:
            project: a name; None or blank means what `address` says, else the default project.
            address: how the caller names a note; `memory://@project/...` chooses the project.

        Raises:
            InvalidArgument: `project` and `address` name different projects.
            ProjectNotFound: no such project, or none at all.
            NotReady: see `container`.
        """
        container = await self.container()
        wanted = container.find_project(project)
        parsed = parse_address(address)
        if isinstance(parsed, ByName) and parsed.project is not None:
            named = container.find_project(parsed.project)
            if project and project.strip() and named.name != wanted.name:
                raise InvalidArgument(
                    "project",
                    f"project {wanted.name!r} is not the project of {address[:200]!r}",
                    hint="Leave project out when the address has one.",
                )
            wanted = named
        workspace = await container.workspace(wanted)
        workspace.coordinator.start()
        return workspace

    async def fresh_workspace(self, project: str | None, address: str = "") -> Workspace:
        """As `workspace`, after a look at the folder if the last one is too old to be trusted."""
        workspace = await self.workspace(project, address)
        await workspace.coordinator.fresh()
        return workspace

    async def aclose(self) -> None:
        """Finish the calls under way, stop what runs in the background, close the databases.

        Idempotent: who comes second waits for the end of the first. Calls get `CLOSING_PATIENCE_S`, then
        they are cancelled.
        """
        self._closed = True
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(), name="close")
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        if self._calls:
            _, late = await asyncio.wait(self._calls, timeout=CLOSING_PATIENCE_S)
            for call in late:
                call.cancel()
        task, self._opening = self._opening, None
        if task is None:
            return
        task.cancel()
        await asyncio.wait({task})
        if (keeping := self._keeping) is not None:
            keeping.cancel()
            await asyncio.wait({keeping})
        if not _failed(task):
            await task.result().aclose()

    async def _open(self) -> Container:
        container = await self._open_container()
        self._keeping = asyncio.create_task(_keep(container), name="keep projects")
        return container


async def _keep(container: Container) -> None:
    """Keep the projects alive until cancelled, whatever goes wrong with it."""
    from loguru import logger

    while True:
        try:
            await container.keep()
        except Exception:  # noqa: BLE001 - the boundary of the task: logged, and tried again
            logger.exception("The projects are not looked after for a moment")
        await asyncio.sleep(_AGAIN_S)


def _failed(task: asyncio.Task[Container]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


def _seen(task: asyncio.Task[Container]) -> None:
    """Mark the exception as retrieved: every call that needs the container reports it."""
    if not task.cancelled():
        task.exception()
