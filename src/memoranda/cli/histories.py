"""Which history a command works on, and what it finds there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memoranda.cli.notes import below_root
from memoranda.config import (
    HISTORY_FOLDER,
    config_dir,
    configured_projects,
    find_project,
    load_settings,
    log_file,
    project_permalink,
)
from memoranda.errors import ProjectNotFound
from memoranda.files.clock import SystemClock
from memoranda.history.store import HistoryStore
from memoranda.logs import configure_logging
from memoranda.model.address import NotePath
from memoranda.model.history import HistoryLimits, RecordedChange
from memoranda.model.project import Project


@dataclass(frozen=True, slots=True)
class OpenHistory:
    """A history and whose it is. `root` is None when the project is not configured any more."""

    name: str
    root: Path | None
    store: HistoryStore


@contextmanager
def history_of(project: str | None) -> Iterator[OpenHistory]:
    """The history of a project, also of one that was removed; closed at the end. Opens no index.

    Raises:
        ProjectNotFound: no project of that name, and no history either.
        ConfigProblem: the configuration cannot be used.
    """
    settings = load_settings()
    configure_logging(settings.log_level, log_file(), stderr=False)
    limits = HistoryLimits(settings.history_days, settings.history_megabytes)
    found = _project(configured_projects(settings), project)
    name, root, permalink = (
        (found.name, found.path, found.permalink)
        if isinstance(found, Project)
        else (found, None, project_permalink(found))
    )
    folder = config_dir() / permalink / HISTORY_FOLDER
    store = HistoryStore(folder, root or Path(), SystemClock(), limits)
    try:
        yield OpenHistory(name, root, store)
    finally:
        store.close()


def note_path(path: str, history: OpenHistory) -> NotePath:
    """A path as a person writes it, as it is recorded: relative to the project's folder."""
    inside = path if history.root is None else below_root(path, history.root)
    return NotePath(Path(inside).expanduser().as_posix())


def current_bytes(change: RecordedChange) -> bytes | None:
    """What is now where the change left its note, None when there is no file."""
    try:
        return (Path(change.root) / change.path).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:  # nobody can tell, so be careful: as if it had been changed
        return b"\0"


def now() -> datetime:
    """Aware UTC."""
    return SystemClock().now()


def _project(projects: tuple[Project, ...], name: str | None) -> Project | str:
    """The project, or the name of one that is not configured any more but has a history."""
    try:
        return find_project(projects, name)
    except ProjectNotFound:
        kept = name and config_dir() / project_permalink(name) / HISTORY_FOLDER
        if name and kept and kept.is_dir():
            return name
        raise
