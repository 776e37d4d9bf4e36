"""A full sync: scan, compare, apply (spec 4.2). Nothing in the folder is ever changed.

Files are read, hashed and parsed in a worker thread in bounded batches; each batch is one write
transaction of the one writer. Known files are loaded before the folder is scanned, so that a note
written by a tool meanwhile is at worst indexed twice, never taken for a deletion.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from loguru import logger

from memoranda.errors import INDEX_TROUBLE, FileProblem, NoteNotFound
from memoranda.files.file_service import FileService, checksum
from memoranda.files.scan import scan_folder
from memoranda.markdown.entity_parser import PARSER_VERSION
from memoranda.model.address import NotePath
from memoranda.model.note import NoteRef
from memoranda.model.sync import (
    Deleted,
    FailureKind,
    FileFailure,
    FileState,
    KnownFile,
    New,
    Progress,
    Scan,
    SyncReport,
)
from memoranda.ports import Clock, ProgressSink
from memoranda.repositories.entity import EntityRepository
from memoranda.repositories.failure import FailureRepository
from memoranda.repositories.project import INDEX_VERSION as VERSION_KEY
from memoranda.repositories.project import LAST_FULL_SYNC, ProjectRepository
from memoranda.repositories.refs import NoteRefRepository
from memoranda.repositories.store import Store, Tx
from memoranda.services.entity import EntityService, Gone, forget_contents
from memoranda.services.items import ITEMS_VERSION
from memoranda.services.link_resolver import LinkResolver
from memoranda.services.reading import ReadNote, read_note
from memoranda.sync.breaker import is_tripped, strike
from memoranda.sync.diff import diff, match_moves

BATCH_FILES = 500
BATCH_BYTES = 8 * 1024 * 1024
INDEX_VERSION = 1000 * PARSER_VERSION + ITEMS_VERSION
"""What the index is made with; an index of an older one is read again whole, a newer one is left."""

ReadOne = Callable[[bytes, FileState], ReadNote]


@dataclass(frozen=True, slots=True)
class _Work:
    """One file to read: its state, and the row it has or keeps (a move)."""

    state: FileState
    known: KnownFile | None = None

    @property
    def is_move(self) -> bool:
        return self.known is not None and self.known.path != self.state.path


@dataclass(frozen=True, slots=True)
class _Memory:
    """What the index knows at the start of a sync."""

    files: list[KnownFile]
    failures: dict[NotePath, FileFailure]
    facts: Mapping[str, object]


@dataclass(slots=True)
class _Tally:
    """What a running sync has done so far."""

    new: list[NotePath] = field(default_factory=list)
    modified: list[NotePath] = field(default_factory=list)
    moved: list[tuple[NotePath, NotePath]] = field(default_factory=list)
    failures: list[FileFailure] = field(default_factory=list)
    good: list[NotePath] = field(default_factory=list)
    touched: int = 0
    resolved: int = 0


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
        self._warned: set[tuple[NotePath, str]] = set()
        self._noted = False

    async def full_sync(
        self, *, progress: ProgressSink | None = None, everything: bool = False
    ) -> SyncReport:
        """Scan the folder and apply every change; one at a time.

        Args:
            progress: told how far it is.
            everything: read every file again, whatever its times say.

        Raises:
            RootMissing: the folder is not there or cannot be read; the index is left as it is.
            DatabaseProblem: or a subclass.
        """
        async with self._lock:
            return await self._full_sync(progress or _silent, everything=everything)

    async def _full_sync(self, progress: ProgressSink, *, everything: bool) -> SyncReport:
        started = self._clock.monotonic()
        tally = _Tally()
        memory = await self._store.read(_remember)
        scan = await asyncio.to_thread(scan_folder, self._root, skips=self._skips)
        if everything or _is_older(memory.facts.get(VERSION_KEY)):
            await self._store.write(lambda tx: forget_contents(tx, INDEX_VERSION))
            memory = await self._store.read(_remember)
        tally.resolved = await LinkResolver(self._store).resolve_pending()
        work, deleted = await asyncio.to_thread(self._plan, memory.files, scan)
        progress(Progress(0, len(work)))
        batches = list(_batches(work)) or [[]]
        done = 0
        for number, batch in enumerate(batches, 1):
            gone = deleted if number == len(batches) else []
            if batch or gone:
                await self._apply(batch, gone, memory, tally, resolve=len(batches) == 1)
            done += len(batch)
            progress(Progress(done, len(work)))
        if len(batches) > 1:
            tally.resolved += await LinkResolver(self._store).resolve_pending()
        await self._finish(scan, memory, tally, changed=bool(work or deleted))
        return SyncReport(
            new_files=tuple(sorted(tally.new)),
            modified_files=tuple(sorted(tally.modified)),
            deleted_files=tuple(sorted(one.path for one in deleted)),
            moved_files=tuple(sorted(tally.moved)),
            failures=tuple(sorted(tally.failures, key=lambda failure: failure.path)),
            skipped=scan.skipped,
            total_files=len(scan.files),
            touched=tally.touched,
            links_resolved=tally.resolved,
            duration_s=self._clock.monotonic() - started,
        )

    def _plan(self, known: Sequence[KnownFile], scan: Scan) -> tuple[list[_Work], list[Gone]]:
        """The files to read, and the rows to delete; reads a file only to recognise a move."""
        delta = diff(known, scan)
        missing = delta.missing
        if missing:  # an atomic save or a rename may have hidden a file from a single look
            again = scan_folder(self._root, skips=self._skips)
            still = {one.known.path for one in diff(known, again).missing}
            missing = tuple(one for one in missing if one.known.path in still)
        moves = {
            move.state.path: move.known
            for move in match_moves(missing, delta.new, self._checksums(missing, delta.new))
        }
        moved = {known.entity_id for known in moves.values()}
        work = [_Work(one.state, moves.get(one.state.path)) for one in delta.new]
        work += [_Work(one.state, one.known) for one in delta.modified]
        return work, [
            Gone(one.known.entity_id, one.known.path, one.known.checksum)
            for one in missing
            if one.known.entity_id not in moved
        ]

    def _checksums(self, missing: Sequence[Deleted], new: Sequence[New]) -> dict[NotePath, str]:
        """Checksums of the new files that may be a missing one: those of the same size."""
        sizes = {one.known.size for one in missing}
        found: dict[NotePath, str] = {}
        for one in new:
            if one.state.size in sizes:
                try:
                    found[one.state.path] = checksum(self._files.read(one.state.path)[0])
                except (FileProblem, NoteNotFound):
                    continue  # it fails again, and is counted, when it is to be indexed
        return found

    async def _apply(
        self,
        batch: Sequence[_Work],
        gone: Sequence[Gone],
        memory: _Memory,
        tally: _Tally,
        *,
        resolve: bool,
    ) -> None:
        """Read a batch and write it in one transaction; a note that spoils it is written off alone."""
        read = await asyncio.to_thread(self._read_all, batch, memory.failures, tally)
        inputs = [note.as_seen(work.known) for work, note in read]
        try:
            applied = await self._entities.index_many(inputs, deleted=gone, resolve=resolve)
            tally.resolved += applied.links_resolved
            for work, note in read:
                _count(tally, work, note)
        except INDEX_TROUBLE:
            raise
        except Exception as error:  # noqa: BLE001 - the batch is tried note by note, each fault counted
            logger.opt(exception=error).warning(
                "A batch of {} files failed and is tried file by file", len(read)
            )
            await self._apply_singly(read, gone, memory, tally)

    async def _apply_singly(
        self,
        read: Sequence[tuple[_Work, ReadNote]],
        gone: Sequence[Gone],
        memory: _Memory,
        tally: _Tally,
    ) -> None:
        if gone:
            await self._entities.index_many([], deleted=gone)
        for work, note in read:
            try:
                await self._entities.index_many([note.as_seen(work.known)])
                _count(tally, work, note)
            except INDEX_TROUBLE:
                raise
            except Exception as error:  # noqa: BLE001 - one file's fault must cost only itself
                self._strike(memory.failures, tally, work.state.path, note.checksum, error)

    def _read_all(
        self, batch: Sequence[_Work], struck: Mapping[NotePath, FileFailure], tally: _Tally
    ) -> list[tuple[_Work, ReadNote]]:
        """Read and parse in the calling thread; failures go to the tally."""
        notes: list[tuple[_Work, ReadNote]] = []
        for work in batch:
            path = work.state.path
            try:
                data, state = self._files.read(path)
            except NoteNotFound:
                continue  # gone since the scan; the next one sees it
            except FileProblem as problem:
                reason = problem.message.removeprefix(f"{path} ")
                failure = strike(struck.get(path), path, reason, FailureKind.IO)
                tally.failures.append(failure)
                self._warn(failure)
                continue
            sha = checksum(data)
            before = struck.get(path)
            if before is not None and is_tripped(before, sha):
                failure = replace(before, tripped=True)
                tally.failures.append(failure)
                self._warn(failure)
                continue
            try:
                note = self._read(data, state)
            except Exception as error:  # noqa: BLE001 - one file's fault must cost only itself
                self._strike(struck, tally, path, sha, error)
                continue
            notes.append((work, note))
            if note.parsed.problems:  # not which: the log holds no text of a note
                logger.warning(
                    "{} is indexed, but not read whole or not for certain; "
                    "`memoranda status` says why",
                    path,
                )
        return notes

    def _strike(
        self,
        struck: Mapping[NotePath, FileFailure],
        tally: _Tally,
        path: NotePath,
        sha: str,
        error: Exception,
    ) -> None:
        reason = f"{type(error).__name__} while indexing"
        failure = strike(struck.get(path), path, reason, FailureKind.FAULT, sha)
        tally.failures.append(failure)
        logger.opt(exception=error).debug("{} failed", path)
        self._warn(failure)

    def _warn(self, failure: FileFailure) -> None:
        """Say it once per file, content and verdict, not at every sync."""
        said = (failure.path, f"{failure.checksum}{failure.tripped}")
        if said in self._warned:
            return
        self._warned.add(said)
        if failure.tripped:
            logger.warning(
                "{} is skipped until it changes: it failed {} times ({})",
                failure.path,
                failure.count,
                failure.reason,
            )
        else:
            logger.warning("{} is not indexed: {}", failure.path, failure.reason)

    async def _finish(self, scan: Scan, memory: _Memory, tally: _Tally, *, changed: bool) -> None:
        """Remember failures and the time of this sync; an unchanged folder costs no write."""
        there = {state.path for state in scan.files}
        good = set(tally.good)
        cleared = [path for path in memory.failures if path in good or path not in there]
        if not (changed or cleared or tally.failures) and self._noted:
            return

        def finish(tx: Tx) -> None:
            FailureRepository(tx).replace(cleared, tally.failures)
            project = ProjectRepository(tx)
            project.set_fact(LAST_FULL_SYNC, tx.now.isoformat())

        await self._store.write(finish)
        self._noted = True

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

    async def reindex(self, *, progress: ProgressSink | None = None) -> SyncReport:
        """Read every file again, whatever its times say; ids stay (spec 8.4 reindex_all)."""
        return await self.full_sync(progress=progress, everything=True)


def _remember(tx: Tx) -> _Memory:
    return _Memory(
        EntityRepository(tx).known_files(),
        FailureRepository(tx).all(),
        ProjectRepository(tx).facts(),
    )


def _is_older(version: object) -> bool:
    return not isinstance(version, int) or version < INDEX_VERSION


def _silent(progress: Progress) -> None:
    """The progress sink of who does not want to know."""


def _count(tally: _Tally, work: _Work, note: ReadNote) -> None:
    path = work.state.path
    tally.good.append(path)
    if work.known is None:
        tally.new.append(path)
    elif work.is_move:
        tally.moved.append((work.known.path, path))
    elif work.known.checksum != note.checksum:
        tally.modified.append(path)
    else:
        tally.touched += 1


def _batches(work: Sequence[_Work]) -> Iterator[list[_Work]]:
    """Bounded by files and by bytes; at least one file each."""
    batch: list[_Work] = []
    size = 0
    for one in work:
        if batch and (len(batch) == BATCH_FILES or size + one.state.size > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += one.state.size
    if batch:
        yield batch
