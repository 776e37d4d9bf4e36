"""Which history a command works on, and what it finds there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memoranda.config import (
    HISTORY_FOLDER,
    config_dir,
    configured_projects,
    find_project,
    load_settings,
    log_file,
    project_permalink,
)
from memoranda.errors import FileProblem, InvalidArgument, ProjectNotFound
from memoranda.files.clock import SystemClock
from memoranda.history.store import HistoryStore
from memoranda.logs import configure_logging
from memoranda.model.address import NotePath, declared_permalink, natural_permalink, stem
from memoranda.model.history import HistoryLimits, RecordedChange
from memoranda.model.project import Project


@dataclass(frozen=True, slots=True)
class OpenHistory:
    """A history and whose it is. `root` is None when the project is not configured any more."""

    name: str
    root: Path | None
    store: HistoryStore


@dataclass(frozen=True, slots=True)
class Missing:
    """A content that is recorded but not there: it was lost when a damaged history was read."""


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
    given = Path(path).expanduser()
    if given.is_absolute() and history.root is not None:
        for root in (history.root, history.root.resolve()):
            if given.is_relative_to(root):
                return NotePath(given.relative_to(root).as_posix())
    return NotePath(given.as_posix())


def recorded_paths(history: OpenHistory, wanted: NotePath) -> tuple[NotePath, ...]:
    """The notes of the history that a path means, the nearest meaning alone.

    First the path as it is, then without its `.md` or as a folder, then as a permalink of one of these.
    """
    known = history.store.paths()
    if wanted in known:
        return (wanted,)
    if wanted == ".":
        return tuple(known)
    found = tuple(path for path in known if path == f"{wanted}.md" or path.startswith(f"{wanted}/"))
    if found or (permalink := declared_permalink(wanted)) is None:
        return found
    spelled = {path: natural_permalink(path, stem(path)) for path in known}
    return tuple(
        path
        for path, each in spelled.items()
        if each == permalink or each.startswith(f"{permalink}/")
    )


def found_change(history: OpenHistory, change_id: int) -> RecordedChange:
    """The change of that number.

    Raises:
        InvalidArgument: there is none.
    """
    change = history.store.change(change_id)
    if change is None:
        raise InvalidArgument(
            "ID",
            f"There is no change {change_id} in the history of {history.name}",
            hint="List the changes there are with `memoranda history list`.",
        )
    return change


def content(history: OpenHistory, change: RecordedChange, *, is_before: bool) -> bytes:
    """The bytes of a note at one side of a change.

    Raises:
        InvalidArgument: there was no file.
        FileProblem: the bytes are lost.
    """
    option = "--before" if is_before else "--after"
    checksum = change.before if is_before else change.after
    if checksum is None:
        raise InvalidArgument(
            option,
            f"There was no file {change.path} {option[2:]} change {change.change_id}",
            hint="The change created it." if is_before else "The change deleted it.",
        )
    data = side(history, checksum)
    if isinstance(data, Missing):
        raise FileProblem(
            change.path,
            f"The content of {change.path} {option[2:]} change {change.change_id} is lost",
            hint="The history was damaged; `memoranda history list` says where the old file is.",
        )
    return data


def side(history: OpenHistory, checksum: str | None) -> bytes | Missing:
    """The bytes of that checksum; none at all for no file."""
    if checksum is None:
        return b""
    data = history.store.content(checksum)
    return Missing() if data is None else data


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
