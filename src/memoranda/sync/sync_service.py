"""A full sync: scan, compare, apply (spec 4.2). Nothing in the folder is ever changed.

Files are read, hashed and parsed in bounded batches, the next one while the last one is written; each
batch is one write transaction of the one writer. Known files are loaded before the folder is scanned, so
that a note written by a tool meanwhile is at worst indexed twice, never taken for a deletion.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from loguru import logger

from memoranda.errors import INDEX_TROUBLE, FileProblem, NoteNotFound
from memoranda.files.file_service import FileService, checksum
from memoranda.files.scan import scan_folder
from memoranda.markdown.entity_parser import PARSER_VERSION
from memoranda.markdown.source import decode
from memoranda.model.address import NotePath
from memoranda.model.note import NoteRef
from memoranda.model.sync import (
    Change,
    Deleted,
    FileState,
    Hidden,
    KnownFile,
    Progress,
    Returned,
    Scan,
    SyncReport,
)
from memoranda.ports import Clock, ProgressSink
from memoranda.repositories.refs import NoteRefRepository
from memoranda.repositories.store import Store
from memoranda.services.entity import EntityService, Gone, forget_contents
from memoranda.services.items import ITEMS_VERSION
from memoranda.services.link_resolver import LinkResolver
from memoranda.services.reading import ReadNote, read_note
from memoranda.sync.brakes import Verdict, judge
from memoranda.sync.diff import Delta, changes, diff
from memoranda.sync.kinship import LIKENESS_CHARS, are_alike
from memoranda.sync.memory import Ending, Memory, remember
from memoranda.sync.reading import (
    Faulty,
    Outcome,
    ReadOne,
    Same,
    Tripped,
    Unreadable,
    Vanished,
    read_file,
)
from memoranda.sync.tally import Tally, Warnings
from memoranda.sync.work import Work, batches, unquestioned, work_of

INDEX_VERSION = 1000 * PARSER_VERSION + ITEMS_VERSION
"""What the index is made with; an index of an older one is read again whole, a newer one is left."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """What a sync is about to do."""

    scan: Scan
    changes: tuple[Change, ...]
    work: Sequence[Work]
    gone: Sequence[Gone]
    verdict: Verdict


class SyncService:
    """Brings one project's index in line with its folder.

    Args:
        root: the project's folder.
        skips: folders of other projects inside it.
        store: transactions on the index.
        files: reads the folder.
        entities: the one writer.
        clock: for durations and times.
        read: how bytes become a note; replaceable, so that faults can be injected.
    """

    def __init__(
        self,
        root: Path,
        skips: Sequence[str],
        store: Store,
        files: FileService,
        entities: EntityService,
        clock: Clock,
        *,
        read: ReadOne = read_note,
    ) -> None:
        self._root = root
        self._skips = skips
        self._store = store
        self._files = files
        self._entities = entities
        self._clock = clock
        self._read = read
        self._lock = asyncio.Lock()
        self._warnings = Warnings()
        self._noted = False

    async def full_sync(
        self,
        *,
        progress: ProgressSink | None = None,
        everything: bool = False,
        verify: bool = False,
        accept_deletions: bool = False,
    ) -> SyncReport:
        """Scan the folder and apply every change; one at a time.

        Args:
            progress: told how far it is.
            everything: read and parse every file again, whatever its times and bytes say.
            verify: read every file and compare its bytes with what the index remembers.
            accept_deletions: notes whose files are missing are gone, however many they are.

        Raises:
            RootMissing: the folder is not there or cannot be read; the index is left as it is.
            DatabaseProblem: or a subclass.
        """
        async with self._lock:
            started = self._clock.monotonic()
            memory = await self._store.read(remember)
            scan = await self._scan()
            if everything or _is_older(memory.version):
                await self._store.write(lambda tx: forget_contents(tx, INDEX_VERSION))
                memory = await self._store.read(remember)
            plan = await self._plan(memory, scan, verify=verify, accept=accept_deletions)
            tally = Tally(memory.failures)
            tally.resolved = await LinkResolver(self._store).resolve_pending()
            await self._apply(plan, tally, progress or _silent)
            await self._finish(plan, memory, tally)
            deleted = [one.path for one in plan.gone]
            elapsed = self._clock.monotonic() - started
            return tally.report(plan.scan, deleted, plan.verdict, elapsed)

    async def reindex(self, *, progress: ProgressSink | None = None) -> SyncReport:
        """Read and parse every file again; ids stay (spec 8.4 reindex_all)."""
        return await self.full_sync(progress=progress, everything=True)

    async def sync_file(self, path: NotePath) -> NoteRef:
        """Index one file as it stands now (spec 8.5).

        Raises:
            NoteNotFound: there is no such file.
            FileProblem: it cannot be read.
        """
        data, state = await asyncio.to_thread(self._files.read, path)
        note = await asyncio.to_thread(self._read, data, state)
        await self._entities.index_many([note.as_input()])
        ref = await self._store.read(lambda tx: NoteRefRepository(tx).at(path))
        if ref is None:
            raise NoteNotFound(path)
        return ref

    async def remove_file(self, path: NotePath) -> None:
        """Forget one file that is gone (spec 8.5); unknown paths are no error."""
        ref = await self._store.read(lambda tx: NoteRefRepository(tx).at(path))
        if ref is not None:
            gone = Gone(ref.entity_id, ref.file_path, ref.checksum)
            await self._entities.index_many([], deleted=[gone])

    async def _scan(self) -> Scan:
        return await asyncio.to_thread(scan_folder, self._root, skips=self._skips)

    async def _plan(self, memory: Memory, scan: Scan, *, verify: bool, accept: bool) -> _Plan:
        delta = await asyncio.to_thread(diff, memory.files, scan)
        if delta.missing:  # an atomic save or a rename may have hidden a file from a single look
            scan = await self._scan()
            delta = await asyncio.to_thread(diff, memory.files, scan)
        checksums = await asyncio.to_thread(self._checksums, delta)
        found = changes(delta, checksums, await self._kin(delta))
        missing = [one.known for one in found if isinstance(one, Deleted) and not one.is_left_out]
        verdict = judge(
            missing,
            len(memory.files),
            scan.root,
            remembered=memory.root,
            standing=memory.hold,
            now=memory.now,
            accept=accept,
        )
        gone = [*verdict.delete, *delta.left_out]
        work = work_of(found)
        if verify:
            work += unquestioned(scan, {file.path: file for file in memory.files}, work)
        return _Plan(
            scan,
            found,
            work,
            [Gone(one.entity_id, one.path, one.checksum) for one in gone],
            verdict,
        )

    def _checksums(self, delta: Delta) -> dict[NotePath, str]:
        """Of the files that may be a note that moved."""
        found: dict[NotePath, str] = {}
        for state in delta.unread:
            try:
                found[state.path] = checksum(self._files.read(state.path)[0])
            except (FileProblem, NoteNotFound):
                continue  # it fails again, and is counted, when it is to be indexed
        return found

    async def _kin(self, delta: Delta) -> set[tuple[int, NotePath]]:
        """The pairs of a missing note and a new file that have most of their lines in common."""
        pairs = delta.maybe_kin
        if not pairs:
            return set()
        ids = [file.entity_id for file, _ in pairs]
        bodies = await self._store.read(
            lambda tx: NoteRefRepository(tx).openings(ids, LIKENESS_CHARS)
        )
        return await asyncio.to_thread(self._alike, pairs, bodies)

    def _alike(
        self,
        pairs: Sequence[tuple[KnownFile, FileState]],
        bodies: Mapping[int, str],
    ) -> set[tuple[int, NotePath]]:
        found: set[tuple[int, NotePath]] = set()
        for file, state in pairs:
            try:
                text = decode(self._files.read(state.path)[0]).text
            except (FileProblem, NoteNotFound):
                continue
            if are_alike(bodies.get(file.entity_id, ""), text):
                found.add((file.entity_id, state.path))
        return found

    async def _apply(self, plan: _Plan, tally: Tally, progress: ProgressSink) -> None:
        """Read and write batch after batch; deletions go with the last one."""
        parts = list(batches(plan.work)) or [[]]
        total, done = len(plan.work), 0
        started = self._clock.monotonic()
        progress(Progress(0, total))
        reading = asyncio.create_task(self._read_all(parts[0], tally))
        try:
            for number, part in enumerate(parts, 1):
                outcomes = await reading
                if number < len(parts):
                    reading = asyncio.create_task(self._read_all(parts[number], tally))
                notes = self._notes(part, outcomes, tally)
                gone = plan.gone if number == len(parts) else ()
                await self._write(notes, gone, tally, resolve=len(parts) == 1)
                done += len(part)
                progress(Progress(done, total, self._clock.monotonic() - started))
        finally:
            reading.cancel()
        if len(parts) > 1:
            tally.resolved += await LinkResolver(self._store).resolve_pending()

    async def _read_all(self, part: Sequence[Work], tally: Tally) -> list[Outcome]:
        tasks = [work.task(tally.struck.get(work.state.path)) for work in part]
        return await asyncio.to_thread(
            lambda: [read_file(self._files, task, self._read) for task in tasks]
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
            if work.state.path in applied.ids:  # else another writer was faster
                tally.indexed(work, note.checksum)

    async def _write_singly(
        self, notes: Sequence[tuple[Work, ReadNote]], gone: Sequence[Gone], tally: Tally
    ) -> None:
        if gone:
            await self._entities.index_many([], deleted=gone)
        for work, note in notes:
            path = work.state.path
            try:
                await self._entities.index_many([note.as_seen(work.known)])
                tally.indexed(work, note.checksum)
            except INDEX_TROUBLE:
                raise
            except Exception as error:  # noqa: BLE001 - one file's fault must cost only itself
                logger.opt(exception=error).debug("{} failed", path)
                self._warnings.say(tally.faulty(path, note.checksum, type(error).__name__))

    async def _finish(self, plan: _Plan, memory: Memory, tally: Tally) -> None:
        """Remember what is not a note; an unchanged folder costs no write."""
        hidden = [one.known for one in plan.changes if isinstance(one, Hidden)]
        ending = Ending(
            tally,
            plan.verdict,
            missing=[one for one in (*plan.verdict.hold, *hidden) if one.missing_since is None],
            found=[one.known for one in plan.changes if isinstance(one, Returned)],
            there={state.path for state in plan.scan.files},
        )
        did_something = tally.good or plan.gone or ending.changes_something(memory)
        if did_something or not self._noted:
            await self._store.write(ending.write)
            self._noted = True
        if (hold := plan.verdict.standing) is not None and hold != memory.hold:
            logger.warning(
                "{} notes are kept although their files are missing: {}; "
                "`memoranda sync --accept-deletions` deletes them",
                len(plan.verdict.hold),
                hold.reason,
            )


def _is_older(version: int | None) -> bool:
    return version is None or version < INDEX_VERSION


def _silent(progress: Progress) -> None:
    """The progress sink of who does not want to know."""
