"""What a server puts right: calls that were cut off in their middle, before any sync looks at the folder."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from loguru import logger

from memoranda.errors import MemorandaError

T = TypeVar("T")


class Repair:
    """The repairs of one project. What goes wrong is logged: it must not keep notes out of the index.

    Args:
        name: the project's name, for the log.
        tidy, mend: see `SyncCoordinator`; run in a thread.

    Attributes:
        task: what was found at the start is put back in it, None before that began.
    """

    def __init__(self, name: str, tidy: Callable[[], None], mend: Callable[[], int]) -> None:
        self._name = name
        self._tidy = tidy
        self._mend = mend
        self.task: asyncio.Task[int] | None = None

    def begin(self) -> None:
        """For a server: put back what dead processes left, unless that began."""
        if self.task is None:
            self.task = asyncio.create_task(self.mended(), name=f"mend {self._name}")

    async def begun_right(self, patience_s: float | None = None) -> None:
        """Until what was found at the start is put back; two at once would be in each other's way."""
        if self.task is not None and not self.task.done():
            await asyncio.wait({self.task}, timeout=patience_s)

    async def tidied_up(self) -> None:
        """Do what a server does when it starts and before it looks at the whole folder."""
        await self.begun_right()
        await self._careful(self._tidy)

    async def mended(self) -> int:
        """Put back what dead processes left; returns how many calls that were."""
        return await self._careful(self._mend) or 0

    async def _careful(self, work: Callable[[], T]) -> T | None:
        try:
            return await asyncio.to_thread(work)
        except MemorandaError as error:
            logger.warning("Project {}: {}", self._name, error.message)
        except Exception:  # noqa: BLE001 - the boundary of the task: it is logged
            logger.exception("Project {}: tidying up failed", self._name)
        return None
