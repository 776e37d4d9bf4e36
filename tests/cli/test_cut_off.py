"""Commands after one that was killed in the middle of changing several files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli

from memoranda.config import (
    configured_projects,
    find_project,
    history_folder,
    load_settings,
    lock_folder,
)
from memoranda.files.clock import SystemClock
from memoranda.files.file_service import FileService
from memoranda.files.locks import exclusive
from memoranda.history.store import HistoryStore
from memoranda.model.address import NotePath
from memoranda.model.file_change import NoteChange
from memoranda.model.history import Author, HistoryLimits
from memoranda.services import file_changes
from memoranda.services.file_changes import FileChanges

FROM, TO = "garden", "yard"
NAMES = ("Compost.md", "Garden beds.md")
NOTE = "a change of several files had been cut off in its middle"


class Died(BaseException):
    """The process is gone at this point."""


class LongAgo(SystemClock):
    """The command that was killed ran some time ago."""

    def now(self) -> datetime:
        return datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


@pytest.fixture
def history(ready: Cli) -> Iterator[HistoryStore]:
    """What the killed command had recorded; the notes are indexed."""
    project = find_project(configured_projects(load_settings()), None)
    store = HistoryStore(history_folder(project), project.path, LongAgo(), HistoryLimits())
    yield store
    store.close()


@pytest.fixture
def torn(history: HistoryStore, notes: Path, monkeypatch: pytest.MonkeyPatch) -> HistoryStore:
    """A folder of two notes of which one has been moved."""
    project = find_project(configured_projects(load_settings()), None)
    plan = []
    for name in NAMES:
        data = (notes / FROM / name).read_bytes()
        plan.append(NoteChange(NotePath(f"{TO}/{name}"), data, data, NotePath(f"{FROM}/{name}")))
    renamed = 0
    with monkeypatch.context() as patch:
        work = file_changes._Work
        real: Callable[..., Any] = work._rename

        def dying(*args: object) -> Any:
            nonlocal renamed
            if renamed:
                raise Died
            renamed += 1
            return real(*args)

        patch.setattr(work, "_rename", dying)
        patch.setattr(work, "put_back", lambda _: False)
        with pytest.raises(Died):
            FileChanges(FileService(project.path, lock_folder(project)), history).apply(
                plan, Author("memoranda", "1", "mv")
            )
    assert len(history.pending()) == len(NAMES)
    assert len(list((notes / FROM).glob("*.md"))) == 1
    return history


def is_whole(notes: Path) -> bool:
    return all((notes / FROM / name).is_file() for name in NAMES) and not any(
        (notes / TO).glob("*.md")
    )


@pytest.mark.parametrize(
    "command",
    [("sync",), ("up", "NOTES"), ("reindex",), ("recent",), ("search", "heap"), ("ls",)],
    ids=lambda words: words[0],
)
def test_the_next_command_puts_the_files_back_before_it_looks_at_them(
    ready: Cli, notes: Path, torn: HistoryStore, command: tuple[str, ...]
) -> None:
    done = ready(*(str(notes) if word == "NOTES" else word for word in command))
    assert (done.code, NOTE in done.err) == (0, True)
    assert is_whole(notes)
    assert not torn.pending()
    again = ready("sync", "--json")
    assert again.err == ""
    (report,) = again.json["projects"]
    assert not any(report[kind] for kind in ("new", "modified", "moved", "deleted"))


def test_where_only_reading_is_allowed_nothing_is_put_back(
    ready: Cli, notes: Path, torn: HistoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BASIC_MEMORY_READ_ONLY", "true")
    assert NOTE not in ready("sync").err
    assert not is_whole(notes)
    assert torn.pending()


def history_checks(cli: Cli) -> dict[str, tuple[str, str, str]]:
    return {
        check["name"]: (check["verdict"], check["message"], check["hint"])
        for section in cli("doctor", "--json").json["sections"]
        for check in section["checks"]
        if check["name"] in ("history", "cut off changes")
    }


def test_the_doctor_warns_of_it_and_says_what_to_run(
    ready: Cli, notes: Path, torn: HistoryStore
) -> None:
    verdict, message, hint = history_checks(ready)["cut off changes"]
    assert verdict == "warning"
    assert message.startswith("2 changes begun and not ended, and nobody works on them")
    assert "sync" in hint
    assert not is_whole(notes)
    ready("sync")
    assert set(history_checks(ready)) == {"history"}


def test_the_doctor_does_not_warn_of_what_is_still_under_way(
    ready: Cli, torn: HistoryStore
) -> None:
    project = find_project(configured_projects(load_settings()), None)
    with exclusive(f"{TO}/{NAMES[0]}", lock_folder(project)):
        assert history_checks(ready)["cut off changes"][1].startswith("1 change ")


def test_nor_of_what_has_only_just_begun(
    ready: Cli, torn: HistoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoranda.doctor.history._OLD_S", 10**9)
    assert set(history_checks(ready)) == {"history"}
