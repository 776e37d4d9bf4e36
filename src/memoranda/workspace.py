"""One project in one process: its index, its services, its syncs, and how they are joined."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from memoranda.config import HISTORY_FOLDER, LOCKS_FOLDER, project_folder, search_log_file
from memoranda.files.file_service import FileService
from memoranda.files.search_log import SearchLogFile
from memoranda.history.settle import settle
from memoranda.history.store import HistoryStore
from memoranda.model.address import NotePath
from memoranda.model.history import HistoryLimits
from memoranda.model.live import WatchPlan
from memoranda.model.note import NoteRef
from memoranda.model.project import Counts, Project
from memoranda.model.sync import FileFailure, SyncReport
from memoranda.model.views import ProjectInfo
from memoranda.places.opened import OpenIndex, Places
from memoranda.ports import Clock, EmbeddingProvider, FullTextIndex, ProgressSink, SearchLog
from memoranda.repositories.entity import EntityRepository
from memoranda.repositories.failure import FailureRepository
from memoranda.repositories.project import LAST_FULL_SYNC, ProjectRepository
from memoranda.repositories.refs import NoteRefRepository
from memoranda.repositories.store import Store, Tx
from memoranda.services.browse import BrowseService
from memoranda.services.calibration import CalibrationService
from memoranda.services.context import ContextService
from memoranda.services.entity import EntityService
from memoranda.services.file_changes import FileChanges
from memoranda.services.link_resolver import LinkResolver
from memoranda.services.meaning import NO_PROVIDER, MeaningService, ProviderSource
from memoranda.services.moving import MoveService
from memoranda.services.note_history import NoteHistoryService
from memoranda.services.notes import NoteService
from memoranda.services.reading import read_note
from memoranda.services.root_identity import RootCheck
from memoranda.services.search import USUAL_LIMITS, MeaningLimits, SearchService
from memoranda.services.search_recording import SearchRecorder
from memoranda.services.torn_batches import put_back_before, put_back_torn
from memoranda.services.undo import UndoService
from memoranda.sync.breaker import is_tripped
from memoranda.sync.coordinator import SyncCoordinator
from memoranda.sync.embed_backfill import EmbedBackfill
from memoranda.sync.integrity import LAST_CHECK, IntegrityCheck
from memoranda.sync.memory import HOLD, hold_of
from memoranda.sync.reading import ReadOne
from memoranda.sync.sync_service import SyncService
from memoranda.text.analysis import ENGLISH, Languages

_MOST_MISSING = 100


@dataclass(frozen=True, slots=True)
class Workspace:
    """One project's parts.

    Attributes:
        folder: the project's in the configuration folder.
        root: whether its folder is the one of the index, which others share; None: they do not.
    """

    project: Project
    index: OpenIndex
    folder: Path
    root: RootCheck | None
    store: Store
    fulltext: FullTextIndex
    files: FileService
    entities: EntityService
    notes: NoteService
    moves: MoveService
    undo: UndoService
    note_history: NoteHistoryService
    search: SearchService
    context: ContextService
    browse: BrowseService
    links: LinkResolver
    sync: SyncService
    coordinator: SyncCoordinator
    backfill: EmbedBackfill
    source: ProviderSource
    integrity: IntegrityCheck
    history: HistoryStore

    async def reindex(self, progress: ProgressSink | None = None) -> SyncReport:
        """Read every file of the project again; ids stay.

        Raises:
            DatabaseDamaged: the index itself is damaged; the next look opens one that is made anew.
        """
        await self.integrity.require_soundness()
        return await self.coordinator.reindex(progress=progress)

    async def info(self) -> ProjectInfo:
        """What `status` says about the project."""
        look = await self.store.read(_look)
        hold = hold_of(look.facts.get(HOLD))
        return ProjectInfo(
            project=self.project,
            counts=look.counts,
            state=self.coordinator.state,
            database_path=self.index.shown,
            database_bytes=await asyncio.to_thread(self.index.size),
            last_full_sync=_time(look.facts.get(LAST_FULL_SYNC)),
            broken=look.broken,
            failures=look.failures,
            notice=self.index.notice,
            missing=look.missing,
            missing_total=look.missing_total,
            missing_reason=hold.reason if hold else "",
            last_check=_time(look.facts.get(LAST_CHECK)),
            leader=self.coordinator.leader,
            embedding=await self.coordinator.embedding(),
            provider=self.source.state,
            is_shared=self.index.is_shared,
        )

    async def aclose(self) -> None:
        """Stop syncing and checking, and close the database."""
        self.integrity.stop()
        await self.coordinator.stop()
        await self.notes.aclose()
        await self.search.aclose()
        await asyncio.to_thread(self.store.close)
        await asyncio.to_thread(self.history.close)


def is_usable(workspace: Workspace, project: Project) -> bool:
    """Whether the workspace still serves the project as it is configured, over the index it opened."""
    return (
        not workspace.store.is_damaged
        and not workspace.coordinator.is_of_another_folder
        and (workspace.project.path, workspace.project.skips) == (project.path, project.skips)
        and workspace.index.is_there()
    )


def join(
    project: Project,
    places: Places,
    clock: Clock,
    plan: WatchPlan,
    limits: HistoryLimits,
    before: Workspace | None = None,
    *,
    languages: Languages = ENGLISH,
    half_life_days: int = 0,
    is_recording: bool = True,
    source: ProviderSource = NO_PROVIDER,
    limits_of_meaning: MeaningLimits = USUAL_LIMITS,
    is_read_only: bool = False,
    is_adopting: bool = False,
) -> Workspace:
    """Open the index and build the parts; touches disk or network, so call it in a thread.

    Args:
        project: whose parts.
        places: where the index is.
        clock: for times.
        plan: how to watch its folder.
        limits: how much of its history is kept.
        before: the closed workspace that could not be used any more.
        languages: those of the notes.
        half_life_days: after how many a note counts half in a search; 0: age does not count.
        is_recording: searches go to the project's search log.
        source: of the embedding provider.
        limits_of_meaning: how much is found by its meaning.
        is_read_only: nothing in the folder is put right either.
        is_adopting: the folder may be another one than that of the index.

    Raises:
        DatabaseProblem: or a subclass: the index cannot be used.
        OtherFolder: it is of another folder.
    """
    index = places.open(
        project,
        clock,
        languages,
        before=None if before is None else before.index,
        damage="" if before is None else _damage(before),
    )
    try:
        made = assemble(
            project,
            index,
            project_folder(project),
            clock,
            plan=plan,
            limits=limits,
            languages=languages,
            half_life_days=half_life_days,
            search_log=SearchLogFile(search_log_file(project)) if is_recording else None,
            source=source,
            limits_of_meaning=limits_of_meaning,
            is_read_only=is_read_only,
        )
        if made.root is not None and not is_adopting:
            made.root.check()
    except BaseException:
        index.database.close()
        raise
    return made


def _damage(workspace: Workspace) -> str:
    if not workspace.store.is_damaged:
        return ""
    return "; ".join(workspace.integrity.findings) or "damaged while in use"


def assemble(
    project: Project,
    index: OpenIndex,
    folder: Path,
    clock: Clock,
    *,
    read: ReadOne = read_note,
    plan: WatchPlan | None = None,
    limits: HistoryLimits | None = None,
    languages: Languages = ENGLISH,
    half_life_days: int = 0,
    search_log: SearchLog | None = None,
    source: ProviderSource = NO_PROVIDER,
    limits_of_meaning: MeaningLimits = USUAL_LIMITS,
    is_read_only: bool = False,
) -> Workspace:
    """Build the parts of a project over an open index; see `join`.

    `folder` is the project's in the configuration folder, for its history and its locks; `read` lets tests
    inject faults.
    """
    store = Store(index.database, index.project_id, clock)
    fulltext, vectors = index.fulltext, index.vectors
    files = FileService(
        project.path, folder / LOCKS_FOLDER, skips=project.skips, path_locks=index.path_locks
    )
    root = RootCheck(store, project.path, project.name) if index.is_shared else None
    entities = EntityService(store, fulltext)
    history = HistoryStore(folder / HISTORY_FOLDER, project.path, clock, limits or HistoryLimits())
    notes = NoteService(store, files, fulltext, history)
    sync = SyncService(
        project.path,
        project.skips,
        store,
        files,
        entities,
        clock,
        read=read,
        languages=languages,
        history=history,
    )
    integrity = IntegrityCheck(project.name, store, index.check, clock, period=index.check_every)
    backfill = EmbedBackfill(
        project.name,
        store,
        vectors,
        lambda: source.provider,
        clock,
        finished=partial(_embedded, CalibrationService(store, vectors), index),
    )
    return Workspace(
        project=project,
        index=index,
        folder=folder,
        root=root,
        store=store,
        fulltext=fulltext,
        files=files,
        entities=entities,
        notes=notes,
        moves=MoveService(
            store,
            files,
            fulltext,
            FileChanges(files, history, prepare=partial(put_back_before, history, files)),
            notes.threads,
        ),
        undo=UndoService(store, files, fulltext, history, notes.threads),
        note_history=NoteHistoryService(store, files, history),
        search=SearchService(
            store,
            fulltext,
            languages,
            half_life_days=half_life_days,
            recorder=SearchRecorder(search_log, clock) if search_log is not None else None,
            meaning=MeaningService(source, clock),
            vectors=vectors,
            limits=limits_of_meaning,
        ),
        context=ContextService(store, notes),
        browse=BrowseService(store, files),
        links=LinkResolver(store),
        sync=sync,
        coordinator=SyncCoordinator(
            project.name,
            sync,
            integrity,
            clock,
            lease=index.lease,
            plan=plan,
            tidy=partial(_tidy, history, None if is_read_only else files),
            mend=partial(_mend, history, None if is_read_only else files),
            backfill=backfill,
            root=root,
        ),
        backfill=backfill,
        source=source,
        integrity=integrity,
        history=history,
    )


async def _embedded(
    calibration: CalibrationService, index: OpenIndex, provider: EmbeddingProvider
) -> None:
    index.embedded(provider.space.name)
    await calibration.calibrate_if_due(provider)


def _tidy(history: HistoryStore, files: FileService | None) -> None:
    """What a server does now and then: settle what dead processes left, keep the history in its bounds."""
    _mend(history, files)
    history.trim()


def _mend(history: HistoryStore, files: FileService | None) -> int:
    """Settle what dead processes left, one indexed query when there is nothing; returns the calls put right.

    Without the files nothing is settled: that may put notes back.
    """
    if files is None or not history.pending():
        return 0
    settle(history, files)
    return put_back_torn(history, files)


@dataclass(frozen=True, slots=True)
class _Look:
    """What the index says of itself."""

    counts: Counts
    facts: Mapping[str, object]
    broken: tuple[NoteRef, ...]
    failures: tuple[FileFailure, ...]
    missing: tuple[NotePath, ...]
    missing_total: int


def _look(tx: Tx) -> _Look:
    project, entities = ProjectRepository(tx), EntityRepository(tx)
    return _Look(
        project.counts(),
        project.facts(),
        tuple(NoteRefRepository(tx).with_problems()),
        tuple(
            replace(failure, tripped=is_tripped(failure, failure.checksum))
            for failure in FailureRepository(tx).all().values()
        ),
        tuple(path for path, _ in entities.missing(_MOST_MISSING)),
        entities.missing_count(),
    )


def _time(fact: object) -> datetime | None:
    return datetime.fromisoformat(fact).replace(tzinfo=UTC) if isinstance(fact, str) else None
