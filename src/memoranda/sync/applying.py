"""Carrying out what a sync has decided: read and write batch after batch, each in one transaction.

The next batch is read while the last one is written, where more cores than one make that pay. A batch that
fails is tried file by file, so that a file which makes the program fail costs only itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from loguru import logger

from memoranda.errors import INDEX_TROUBLE, FileProblem
from memoranda.model.sync import (
    Change,
    KnownFile,
    Progress,
    Scan,
)
from memoranda.ports import Clock, ProgressSink
from memoranda.repositories.store import Store, in_chunks
from memoranda.services.collector import collector_paused
from memoranda.services.entity import EntityService
from memoranda.services.link_resolver import LinkResolver
from memoranda.services.note_input import Gone
from memoranda.services.reading import ReadNote
from memoranda.sync.brakes import Verdict
from memoranda.sync.reading import (
    Faulty,
    Outcome,
    ReadOne,
    Same,
    Tripped,
    Unreadable,
    Vanished,
)
from memoranda.sync.reading_pool import ReadingPool
from memoranda.sync.tally import Tally, Warnings
from memoranda.sync.work import (
    Work,
    batches,
    most_files,
)
from memoranda.text.analysis import ENGLISH, Languages

LET_IN_S = 0.12
"""Between two batches of which the second is ready: a writer of another process tries ten times a second."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a sync is about to do; `is_in_use`: the index has notes that are asked for meanwhile."""

    scan: Scan
    changes: tuple[Change, ...]
    work: Sequence[Work]
    left_out: Sequence[KnownFile]
    verdict: Verdict
    is_in_use: bool
    is_whole: bool = True

    @property
    def gone(self) -> list[Gone]:
        """The rows that go: of deleted notes, and of those that a rule leaves out."""
        files = (*self.verdict.delete, *self.left_out)
        return [Gone(one.entity_id, one.path, one.checksum) for one in files]


class Applying:
    """Applies the plans of one project's syncs.

    Args:
        root, skips, read, languages: for reading processes, see `SyncService`.
        store: transactions on the index.
        entities: the one writer.
        clock: for the rate.
        warnings: what the log says of files that fail.
    """

    def __init__(
        self,
        root: Path,
        skips: Sequence[str],
        store: Store,
        entities: EntityService,
        clock: Clock,
        read: ReadOne,
        warnings: Warnings,
        languages: Languages = ENGLISH,
    ) -> None:
        self._root = root
        self._skips = skips
        self._store = store
        self._entities = entities
        self._clock = clock
        self._read = read
        self._warnings = warnings
        self._languages = languages

    async def apply(self, plan: Plan, tally: Tally, progress: ProgressSink) -> None:
        """Read and write batch after batch; deletions go with the last one, unless they are many."""
        most = most_files(is_in_use=plan.is_in_use)
        parts = list(batches(plan.work, most)) or [[]]
        gone = plan.gone
        last = gone[:most]
        for chunk in in_chunks(gone[most:], most):
            await self._entities.index_many([], deleted=chunk, resolve=False)
        is_one = len(parts) == 1 and len(last) == len(gone)
        total, done = len(plan.work), 0
        started = self._clock.monotonic()
        progress(Progress(0, total))
        async with (
            self._pool(plan.work) as pool,
            aclosing(_read_parts(pool, parts, tally)) as read,
        ):
            async for number, outcomes in read:
                part = parts[number]
                going = last if number + 1 == len(parts) else ()
                with collector_paused():
                    notes = self._notes(part, outcomes, tally)
                    await self._write(notes, going, tally, resolve=is_one)
                if pool.is_parallel and number + 1 < len(parts):
                    await asyncio.sleep(LET_IN_S)
                done += len(part)
                progress(Progress(done, total, self._clock.monotonic() - started))
        if not is_one:
            tally.resolved += await LinkResolver(self._store).resolve_pending()

    def _pool(self, work: Sequence[Work]) -> ReadingPool:
        """Reads the files; those that are only compared with what is known need no second core."""
        parsed = [one.state.size for one in work if one.is_changed]
        return ReadingPool(
            self._root,
            self._skips,
            self._read,
            expected_files=len(parsed),
            expected_bytes=sum(parsed),
            languages=self._languages,
        )

    def _notes(
        self, part: Sequence[Work], outcomes: Sequence[Outcome], tally: Tally
    ) -> list[tuple[Work, ReadNote]]:
        """The notes to write; everything else goes to the tally."""
        notes: list[tuple[Work, ReadNote]] = []
        for work, outcome in zip(part, outcomes, strict=True):
            path = work.state.path
            match outcome:
                case ReadNote():
                    notes.append((work, outcome))
                    if outcome.parsed.problems:  # not which: the log holds no text of a note
                        logger.warning(
                            "{} is indexed, but not read whole or not for certain; "
                            "`memoranda status` says why",
                            path,
                        )
                case Same(state):
                    tally.same(work, state)
                case Vanished():
                    pass
                case Unreadable(reason):
                    self._warnings.say(tally.unreadable(path, reason))
                case Tripped():
                    self._warnings.say(tally.tripped(path))
                case Faulty(sha, error, details):
                    logger.debug("{} failed: {}", path, details)
                    self._warnings.say(tally.faulty(path, sha, error))
                case _:
                    assert_never(outcome)
        return notes

    async def _write(
        self,
        notes: Sequence[tuple[Work, ReadNote]],
        gone: Sequence[Gone],
        tally: Tally,
        *,
        resolve: bool,
    ) -> None:
        """Write a batch in one transaction; a note that spoils it is written off alone."""
        if not notes and not gone:
            return
        inputs = [note.as_seen(work.known) for work, note in notes]
        try:
            applied = await self._entities.index_many(inputs, deleted=gone, resolve=resolve)
        except INDEX_TROUBLE:
            raise
        except Exception as error:  # noqa: BLE001 - the batch is tried note by note, each fault counted
            logger.opt(exception=error).warning(
                "A batch of {} files failed and is tried file by file", len(notes)
            )
            await self._write_singly(notes, gone, tally)
            return
        tally.resolved += applied.links_resolved
        for work, note in notes:
            if work.state.path in applied.ids:
                tally.indexed(work, note.checksum)
            else:  # another writer was faster, whose bytes may be older
                tally.late.append(work.state.path)

    async def _write_singly(
        self, notes: Sequence[tuple[Work, ReadNote]], gone: Sequence[Gone], tally: Tally
    ) -> None:
        if gone:
            await self._entities.index_many([], deleted=gone)
        for work, note in notes:
            path = work.state.path
            try:
                applied = await self._entities.index_many([note.as_seen(work.known)])
                if path in applied.ids:
                    tally.indexed(work, note.checksum)
                else:
                    tally.late.append(path)
            except INDEX_TROUBLE:
                raise
            except FileProblem as error:
                self._warnings.say(tally.unreadable(path, error.message))
            except Exception as error:  # noqa: BLE001 - one file's fault must cost only itself
                logger.opt(exception=error).debug("{} failed", path)
                self._warnings.say(tally.faulty(path, note.checksum, type(error).__name__))


async def _read_parts(
    pool: ReadingPool, parts: Sequence[Sequence[Work]], tally: Tally
) -> AsyncGenerator[tuple[int, list[Outcome]], None]:
    """The outcomes of each part by its number; other processes read the next part meanwhile.

    A thread of this process does not: the two would only wait for each other.
    """
    tasks = [[work.task(tally.struck.get(work.state.path)) for work in part] for part in parts]
    ahead: asyncio.Task[list[Outcome]] | None = None
    try:
        for number in range(len(parts)):
            outcomes = await (ahead or pool.read(tasks[number]))
            ahead = None
            if pool.is_parallel and number + 1 < len(parts):
                ahead = asyncio.create_task(pool.read(tasks[number + 1]))
            yield number, outcomes
    finally:
        if ahead is not None:
            ahead.cancel()
            await asyncio.wait({ahead})
