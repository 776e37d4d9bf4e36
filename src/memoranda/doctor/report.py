"""The whole examination: one subject after the other, whatever the others are like.

Nothing is changed. What cannot be looked at is a finding, never the end of the examination.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from memoranda.config import configured_projects, find_project
from memoranda.db.migrate import State
from memoranda.doctor import (
    configuration,
    folder,
    history,
    index,
    live,
    model,
    postgres,
    searches,
    system,
    vectors,
)
from memoranda.doctor.sources import PostgresSource, Source, SqliteSource
from memoranda.errors import MemorandaError
from memoranda.model.embedding import ProviderPhase, ProviderState
from memoranda.model.health import Check, HealthReport, Section, Verdict, problem
from memoranda.model.history import HistoryLimits
from memoranda.model.live import LeaderState, WatchMode
from memoranda.model.project import Project
from memoranda.model.search_log import SearchSummary
from memoranda.model.sync import Scan
from memoranda.ports import Clock

if TYPE_CHECKING:
    from memoranda.db.postgres import PostgresDatabase
    from memoranda.settings import Settings

_SILENT_MODES = frozenset({WatchMode.POLLING, WatchMode.OFF})


def examine(name: str | None, clock: Clock, *, is_whole: bool = True) -> HealthReport:
    """Look at everything; synchronous, reads the disk.

    Args:
        name: the one project to look at; None: all.
        clock: for times.
        is_whole: read the databases whole to check them, which takes seconds for large ones.

    Raises:
        ProjectNotFound: the configuration can be read, and has no project of that name.
    """
    facts, settings = configuration.look()
    sections = [Section("configuration", configuration.judge(facts))]
    database = _Database(settings)
    kept = "the history" if database.is_wanted else "the index"
    places = [(kept, Path(facts.folder))] if facts.folder else []
    folders = 0
    summaries: dict[str, SearchSummary] = {}
    meaning = _Meaning(settings, clock) if settings is not None else None
    if meaning is not None:
        sections.append(Section("meaning", meaning.checks()))
    if database.is_wanted:
        sections.append(Section("database", database.checks(meaning)))
    for project in _chosen(settings, name) if settings is not None else ():
        assert settings is not None  # noqa: S101 - of the line above
        assert meaning is not None  # noqa: S101 - likewise
        examined = _Project(project, settings, database, meaning.state, clock, is_whole=is_whole)
        sections.append(Section("project", examined.checks(), project.name))
        folders += examined.folders
        if project.is_active:
            places.append((f"the notes of {project.name}", project.path))
            summaries[project.name] = examined.searches
    database.close()
    mode = WatchMode.AUTO if settings is None else WatchMode(settings.watch_mode)
    is_watching = mode not in _SILENT_MODES
    installed = version("memoranda")
    found = system.look(installed, places, folders, is_watching=is_watching)
    sections.append(Section("system", system.judge(found)))
    return HealthReport(installed, tuple(sections), summaries)


def _chosen(settings: Settings, name: str | None) -> Sequence[Project]:
    projects = configured_projects(settings)
    return projects if name is None else (find_project(projects, name),)


class _Meaning:
    """The examination of what turns text into vectors; afterwards where it stands."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self.state = ProviderState(ProviderPhase.FAILED)

    def checks(self) -> list[Check]:
        """The check, or that it failed."""
        return _surely("model", self._model)

    def _model(self) -> list[Check]:
        facts = model.look(self._settings, self._clock)
        self.state = facts.state
        return model.judge(facts)


class _Database:
    """The examination of the server of PostgreSQL, where the settings name one; afterwards it can be read.

    Attributes:
        is_wanted: the index is on PostgreSQL.
        opened: where the index of each project is; None: it cannot be looked at.
        state: what is there.
    """

    def __init__(self, settings: Settings | None) -> None:
        self._settings = settings
        self.is_wanted = settings is not None and settings.database_backend == "postgres"
        self.opened: PostgresDatabase | None = None
        self.state = State.ABSENT

    def checks(self, meaning: _Meaning | None) -> list[Check]:
        """The checks, or that they failed."""
        return _surely("database", lambda: self._checks(meaning))

    def close(self) -> None:
        """Close the connections."""
        if self.opened is not None:
            self.opened.dispose()

    def _checks(self, meaning: _Meaning | None) -> list[Check]:
        from memoranda.db.postgres import PostgresDatabase, address_of

        assert self._settings is not None  # noqa: S101 - it is wanted
        settings = self._settings
        try:
            address = address_of(
                settings.database_url,
                settings.database_schema,
                settings.database_connections,
                settings.database_statement_seconds,
            )
        except MemorandaError as error:
            return [problem("database", error.message, error.hint)]
        wants_vectors = meaning is not None and meaning.state.space is not None
        facts = postgres.look(address, wants_vectors=wants_vectors)
        checks = postgres.judge(facts)
        is_well = all(check.verdict is not Verdict.PROBLEM for check in checks)
        if is_well and facts.state is not None:
            self.opened, self.state = PostgresDatabase(address), facts.state
        return checks


class _Project:
    """The examination of one project; afterwards what it found that others want to know."""

    def __init__(
        self,
        project: Project,
        settings: Settings,
        database: _Database,
        provider: ProviderState,
        clock: Clock,
        *,
        is_whole: bool,
    ) -> None:
        self._project = project
        self._settings = settings
        self._database = database
        self._provider = provider
        self._clock = clock
        self._is_whole = is_whole
        self._scan: Scan | None = None
        self._is_kept_up = False
        self._leader: LeaderState | None = None
        self.searches = SearchSummary()

    @property
    def folders(self) -> int:
        """How many folders it has."""
        return len(self._scan.folders) if self._scan is not None else 0

    def checks(self) -> list[Check]:
        """All checks; a subject that fails in a way that nobody foresaw is one that failed."""
        checks = _surely("folder", self._folder)
        if self._project.is_active:
            if self._database.is_wanted and self._database.opened is None:
                said = "it cannot be looked at"
                checks.append(problem("index", said, "See what is said of the database."))
            else:
                kept_up = _surely("server", self._live)  # before the index, which is judged by it
                checks += _surely("index", self._index)
                checks += _surely("vectors", self._vectors)
                checks += kept_up
            checks += _surely("history", self._history)
            checks += _surely("searches", self._searches)
        return checks

    @property
    def _source(self) -> Source:
        database = self._database
        if database.opened is None:
            return SqliteSource(self._project)
        return PostgresSource(self._project, database.opened, database.state)

    def _folder(self) -> list[Check]:
        entry = self._settings.projects[self._project.name]
        facts, self._scan = folder.look(self._project, is_switched_off=not entry.is_active)
        return folder.judge(facts)

    def _live(self) -> list[Check]:
        wanted, now = WatchMode(self._settings.watch_mode), self._clock.now()
        database = self._database.opened
        if database is None:
            facts = live.look(self._project, now, wanted)
        elif self._database.state is State.CURRENT:
            facts = live.look_shared(self._project, database, now, wanted)
        else:
            return []
        self._is_kept_up = facts.keeps_up
        if facts.is_led and facts.leader is not None:
            self._leader = facts.leader
        return live.judge(facts)

    def _index(self) -> list[Check]:
        facts = index.look(
            self._project,
            self._source,
            self._scan,
            self._clock.now(),
            languages=self._settings.search_languages,
            is_whole=self._is_whole,
        )
        return index.judge(facts, is_kept_up=self._is_kept_up)

    def _vectors(self) -> list[Check]:
        leader, space = self._leader, self._provider.space
        error = leader.embedding_trouble(space.name) if leader and space else ""
        facts = vectors.look(self._project, self._source, self._provider, error=error)
        return vectors.judge(facts, is_kept_up=self._is_kept_up)

    def _history(self) -> list[Check]:
        limits = HistoryLimits(self._settings.history_days, self._settings.history_megabytes)
        return history.judge(history.look(self._project, limits, is_whole=self._is_whole))

    def _searches(self) -> list[Check]:
        facts = searches.look(self._project, is_recording=self._settings.search_log)
        self.searches = searches.summary(facts.found.records)
        return searches.judge(facts, self.searches)


def _surely(name: str, look: Callable[[], list[Check]]) -> list[Check]:
    try:
        return look()
    except Exception as error:  # noqa: BLE001 - the boundary: it is told, and the others are looked at
        said = f"could not be looked at: {type(error).__name__}: {error}"
        return [problem(name, said, "This is a fault of Memoranda; please report it.")]
