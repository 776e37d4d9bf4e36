"""The leadership of a project among the servers of one database, on one machine or on several.

The lock is the database's and ends with the connection that took it. A leader whose connection is cut hears
of it and ends; until it does, another may have begun: two leaders for a moment do what two servers do that
both look at the folder, which every write allows for.
"""

from __future__ import annotations

import asyncio
import os
import platform
from concurrent.futures import Future
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from memoranda.db.postgres_leaders import KNOWN_S, Leadership, age_s, seen_s
from memoranda.model.live import LeaderState, WatchState
from memoranda.model.sync import SyncState
from memoranda.sync.lease import ALIVE_S, NOT_UNDERSTOOD, Itself, heard, told


class SharedLease:
    """A `ProjectLease` whose work is done by the thread of the locks.

    Args:
        leadership: its `watch` was called, so that it is known who leads.
        version: of Memoranda.
        index_version: what this process makes an index with.
        serves: the same for all who may follow each other.
    """

    def __init__(
        self, leadership: Leadership, version: str, index_version: int, *, serves: str = ""
    ) -> None:
        self.serves = serves
        self._leadership = leadership
        self._version = version
        self._index_version = index_version
        self._trying: Future[bool] | None = None
        self._itself: Itself | None = None
        self._read = ""
        self._other: LeaderState | None = None

    @property
    def is_held(self) -> bool:
        """Whether this process leads, or did until a moment ago."""
        return self._leadership.is_held

    def acquire(self) -> bool:
        """Lead, if nobody does. Only asks: the answer is there a moment later, see `answered`.

        Raises:
            MemorandaError: the database does not let anybody lead; not when it is away.
        """
        self._leadership.go_on()
        if self.is_held and not self.is_lost():
            return True
        if self._trying is not None and not self._trying.done():
            return False
        self._leadership.give_up()  # what was lost
        words = self._leadership.heard
        if words is not None and words.is_led and seen_s(words) < KNOWN_S:
            return False
        trouble, self._leadership.trouble = self._leadership.trouble, None
        if trouble is not None:
            raise trouble
        now = datetime.now(UTC)  # noqa: TID251 - shown beside the heartbeat, which is the system's
        self._itself = Itself(
            os.getpid(), self._version, self._index_version, now, self.serves, platform.node()
        )
        said = told(self._itself, SyncState(), WatchState(), "", "")
        self._trying = self._leadership.try_to_lead(_sayable(said))
        return False

    async def answered(self, timeout_s: float, /) -> bool:
        """Wait at most so long until the last `acquire` is answered; whether this process leads."""
        if self._trying is not None and not self._trying.done():
            await asyncio.wait({asyncio.wrap_future(self._trying)}, timeout=timeout_s)
        return self.is_held

    def is_lost(self) -> bool:
        """Whether the connection that had the lock is gone."""
        return self._leadership.is_lost

    def say(
        self,
        sync: SyncState,
        watch: WatchState,
        embedding_error: str = "",
        embedding_space: str = "",
        /,
    ) -> None:
        """Hand over what the others are to be told; for the leader alone."""
        assert self._itself is not None  # noqa: S101  (for the leader alone)
        said = told(self._itself, sync, watch, embedding_error, embedding_space)
        self._leadership.say(_sayable(said))

    def hush(self) -> None:
        """Take back what was said last."""
        self._leadership.hush()

    def release(self) -> None:
        """Lead no more, and do not try to any more; idempotent."""
        if self._trying is not None:
            self._trying.add_done_callback(lambda _: self._leadership.give_up())
            self._trying = None
        self._leadership.give_up()

    def leader(self) -> LeaderState | None:
        """Who leads, as it was a second ago; None also when the database is away."""
        self._leadership.go_on()
        words = self._leadership.heard
        if words is None or seen_s(words) > KNOWN_S:
            return None
        age = age_s(words)
        now = datetime.now(UTC)  # noqa: TID251 - the age is the database's, the rest is for people
        if words.said != self._read:
            self._read = words.said
            try:
                self._other = heard(words.said, 0.0)
            except NOT_UNDERSTOOD:  # of another version
                self._other = None
        if self._other is None:
            return None
        is_me = self.is_held and not self.is_lost()
        return replace(
            self._other,
            heartbeat=now - timedelta(seconds=age),
            is_alive=is_me or (words.is_led and abs(age) < ALIVE_S),
            is_me=is_me,
        )


def _sayable(said: str) -> str:
    """What a column of text takes: names of files may have what no text has."""
    return said.encode("utf-8", "replace").decode()
