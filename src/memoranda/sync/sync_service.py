"""A full sync: scan, compare, apply (spec 4.2). Nothing in the folder is ever changed.

Files are read, hashed and parsed in bounded batches, the next one while the last one is written; each
batch is one write transaction of the one writer. Known files are loaded before the folder is scanned, so
that a note written by a tool meanwhile is at worst indexed twice, never taken for a deletion.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from pathlib import Path

from loguru import logger

from memoranda.errors import NoteNotFound
from memoranda.files.file_service import FileService
from memoranda.files.scan import scan_folder
from memoranda.files.scan_paths import scan_paths
from memoranda.history.store import HistoryStore
from memoranda.markdown.entity_parser import PARSER_VERSION
from memoranda.model.address import NotePath
from memoranda.model.note import NoteRef
from memoranda.model.sync import (
    Deleted,
    Hidden,
    Modified,
    Progress,
    Returned,
    Scan,
    SyncReport,
)
from memoranda.ports import Clock, ProgressSink
from memoranda.repositories.refs import NoteRefRepository
from memoranda.repositories.store import Store
from memoranda.services.entity import EntityService, forget_contents
from memoranda.services.items import ITEMS_VERSION
from memoranda.services.link_resolver import LinkResolver
from memoranda.services.note_input import Gone
from memoranda.services.reading import read_note
from memoranda.sync.applying import Applying, Plan
from memoranda.sync.brakes import Verdict, judge
from memoranda.sync.diff import Delta, changes, diff
from memoranda.sync.evidence import checksums, relatives
from memoranda.sync.kinship import LIKENESS_CHARS
from memoranda.sync.memory import Ending, Memory, recall, remember
from memoranda.sync.reading import (
    ReadOne,
)
from memoranda.sync.recorded_moves import recorded_moves
from memoranda.sync.tally import Tally, Warnings
from memoranda.sync.work import (
    unquestioned,
    work_of,
)
from memoranda.text.analysis import ANALYSIS_VERSION, ENGLISH, Languages

INDEX_VERSION = 100 * (1000 * PARSER_VERSION + ITEMS_VERSION) + ANALYSIS_VERSION
"""What the index is made with; an index of an older one is read again whole, a newer one is left."""


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
        languages: whose stems the index holds; an index of others is made again.
        history: says where tools moved notes to.

    Attributes:
        is_outdated: at the last full sync a newer version kept the index.
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
        languages: Languages = ENGLISH,
        history: HistoryStore | None = None,
    ) -> None:
        self.root = root
        self.skips = skips
        self._store = store
        self._files = files
        self._entities = entities
        self._warnings = Warnings()
        self._languages = languages
        self._history = history
        self._applying = Applying(
            root, skips, store, entities, clock, read, self._warnings, languages
        )
        self._clock = clock
        self._read = read
        self._lock = asyncio.Lock()
        self._noted = False
        self.is_outdated = False

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
            self.is_outdated = memory.version is not None and memory.version > INDEX_VERSION
            scan = await self._scan()
            if everything or self._is_other(memory):
                await self._store.write(
                    lambda tx: forget_contents(tx, INDEX_VERSION, self._languages)
                )
                memory = await self._store.read(remember)
            plan = await self._plan(memory, scan, verify=verify, accept=accept_deletions)
            self._warnings.hidden(plan.scan.skipped)
            return await self._carry_out(plan, memory, progress or _silent, started)

    async def sync_paths(self, paths: Collection[str]) -> SyncReport | None:
        """Look at these paths alone and apply what changed there.

        What the paths alone do not tell (a note that is gone, a folder, a link, an ignore file) is not
        guessed: nothing is done then.

        Args:
            paths: of files or folders that may have changed, relative POSIX.

        Returns:
            What was done; None when a full sync is needed.

        Raises:
            DatabaseProblem: or a subclass.
        """
        async with self._lock:
            started = self._clock.monotonic()
            memory = await self._store.read(lambda tx: recall(tx, paths))
            if memory is not None and memory.version is not None:
                self.is_outdated = memory.version > INDEX_VERSION
            if memory is None or self.is_outdated or memory.root is None or self._is_other(memory):
                return None
            known = {file.path for file in memory.files}
            scan = await asyncio.to_thread(scan_paths, self.root, paths, known, skips=self.skips)
            if scan is None or scan.root.inode != memory.root:
                return None
            delta = diff(memory.files, scan)
            if delta.missing or delta.hidden:
                return None
            read = await asyncio.to_thread(checksums, self._files, delta.unread)
            found = changes(delta, read)
            stands = Verdict((), (), memory.hold, memory.root)
            plan = Plan(
                scan, found, work_of(found), delta.left_out, stands, is_in_use=True, is_whole=False
            )
            return await self._carry_out(plan, memory, _silent, started)

    async def _carry_out(
        self, plan: Plan, memory: Memory, progress: ProgressSink, started: float
    ) -> SyncReport:
        tally = Tally(memory.failures)
        tally.resolved = await LinkResolver(self._store).resolve_pending()
        await self._applying.apply(plan, tally, progress)
        await self._finish(plan, memory, tally)
        elapsed = self._clock.monotonic() - started
        return tally.report(plan.scan, plan.left_out, plan.verdict, elapsed)

    async def reindex(self, *, progress: ProgressSink | None = None) -> SyncReport:
        """Read and parse every file again; ids stay (spec 8.4 reindex_all)."""
        return await self.full_sync(progress=progress, everything=True)

    async def sync_file(self, path: NotePath) -> NoteRef:
        """Index one file as it stands now (spec 8.5).

        Raises:
            NoteNotFound: there is no such file.
            FileProblem: it cannot be read.
            InvalidArgument: a rule leaves it out.
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

    def _is_other(self, memory: Memory) -> bool:
        """Whether the index is made in another way than this version, as it is configured, makes one."""
        if memory.version is None or memory.version < INDEX_VERSION:
            return True
        return memory.version == INDEX_VERSION and memory.languages != self._languages

    async def folders(self) -> tuple[str, ...]:
        """The folders that a scan looks into, relative POSIX, "" for the root. Raises RootMissing."""
        return (await self._scan()).folders

    async def _scan(self) -> Scan:
        return await asyncio.to_thread(scan_folder, self.root, skips=self.skips)

    async def _plan(self, memory: Memory, scan: Scan, *, verify: bool, accept: bool) -> Plan:
        delta = await asyncio.to_thread(diff, memory.files, scan)
        if delta.missing:  # an atomic save or a rename may have hidden a file from a single look
            scan = await self._scan()
            once, delta = set(delta.missing), await asyncio.to_thread(diff, memory.files, scan)
        else:
            once = set()
        read = await asyncio.to_thread(checksums, self._files, delta.unread)
        told = await asyncio.to_thread(self._told, delta)
        found = changes(delta, read, await self._relatives(delta), told)
        missing = [
            one.known
            for one in found
            if isinstance(one, Deleted) and not one.is_left_out and one.known in once
        ]
        verdict = judge(
            missing,
            len(memory.files),
            scan.root,
            remembered=memory.root,
            standing=memory.hold,
            now=memory.now,
            accept=accept,
        )
        work = work_of(found)
        if verify:
            work += unquestioned(scan, {file.path: file for file in memory.files}, work)
        return Plan(scan, found, work, delta.left_out, verdict, is_in_use=bool(memory.files))

    def _told(self, delta: Delta) -> dict[NotePath, NotePath]:
        """Where tools moved missing notes to."""
        if self._history is None or not delta.missing or not delta.new:
            return {}
        missing = [file.path for file in delta.missing]
        return recorded_moves(self._history, missing, {state.path for state in delta.new})

    async def _relatives(self, delta: Delta) -> set[tuple[int, NotePath]]:
        pairs = delta.maybe_kin
        if not pairs:
            return set()
        ids = [file.entity_id for file, _ in pairs]
        bodies = await self._store.read(
            lambda tx: NoteRefRepository(tx).openings(ids, LIKENESS_CHARS)
        )
        return await asyncio.to_thread(relatives, self._files, pairs, bodies)

    async def _finish(self, plan: Plan, memory: Memory, tally: Tally) -> None:
        """Remember what is not a note; an unchanged folder costs no write."""
        hidden = [one.known for one in plan.changes if isinstance(one, Hidden)]
        back = [one.known for one in plan.changes if isinstance(one, Returned)]
        back += [  # changed as well, and what is there cannot be indexed
            one.known
            for one in plan.changes
            if isinstance(one, Modified)
            and one.known.missing_since
            and one.state.path not in tally.good
        ]
        ending = Ending(
            tally,
            plan.verdict,
            missing=[one for one in (*plan.verdict.hold, *hidden) if one.missing_since is None],
            found=back,
            there={state.path for state in plan.scan.files} | {one.path for one in hidden},
            is_whole=plan.is_whole,
        )
        if not plan.is_whole:
            if ending.changes_something(memory):
                await self._store.write(ending.write)
            return
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


def _silent(progress: Progress) -> None:
    """The progress sink of who does not want to know."""
