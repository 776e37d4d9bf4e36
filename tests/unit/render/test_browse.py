from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import pytest

from memoranda.model.project import Counts, Project, ProjectSummary
from memoranda.model.sync import Progress, SyncPhase, SyncState
from memoranda.model.views import Activity, DirectoryEntry, DirectoryListing
from memoranda.render.browse import activity_data, activity_text, listing_data, listing_text
from memoranda.render.projects import projects_data, projects_text
from memoranda.render.state import held_note, state_data, state_note

SINCE = datetime(2025, 1, 1, tzinfo=UTC)


def test_listing_shows_folders_with_counts_and_files_with_titles() -> None:
    listing = DirectoryListing(
        "a",
        (
            DirectoryEntry("b", "a/b", True, count=2),
            DirectoryEntry("x.md", "a/x.md", False, 0, "X", "a/x", SINCE, 10),
        ),
        page=1,
        page_size=2,
        total=3,
        folder_total=1,
    )
    assert listing_text(listing).splitlines() == [
        "a: 1 folder, 2 notes",
        "a/b/ (2 notes)",
        "a/x.md · X · 2025-01-01",
        "More: page=2, page_size=2",
    ]
    data = listing_data(listing)
    assert data["entries"][0] == {"name": "b", "type": "directory", "path": "a/b", "count": 2}
    assert data["entries"][1]["type"] == "file"
    assert data["entries"][1]["size_bytes"] == 10
    assert data["next_page"] == 2


def test_an_empty_folder_says_so() -> None:
    assert listing_text(DirectoryListing("", (), 1, 100, 0)) == "/: no notes."
    none = DirectoryListing("a", (), 1, 100, 0, glob="x*")
    assert listing_text(none) == "a: no notes that match 'x*'."
    assert listing_data(none)["glob"] == "x*"
    assert "glob" not in listing_data(DirectoryListing("a", (), 1, 100, 0))


def test_a_page_behind_the_last_says_where_to_begin() -> None:
    text = listing_text(DirectoryListing("a", (), 9, 100, 5, 2))
    assert text == "a: 2 folders, 3 notes; none on this page, begin with page=1."


def test_a_title_that_the_file_name_says_is_not_said_twice() -> None:
    entry = DirectoryEntry("My Note.md", "My Note.md", False, 0, "My Note", "my-note", SINCE, 1)
    lines = listing_text(DirectoryListing("", (entry,), 1, 100, 1)).splitlines()
    assert lines == ["/: 1 note", "My Note.md · 2025-01-01"]


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine whose clocks show one hour more than UTC in winter, two in summer."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.spec("6.2.8")
def test_activity_keeps_its_order(samples: ModuleType) -> None:
    activity = Activity(SINCE, (samples.ref("new"), samples.ref("old")), 1, 20, 2)
    text = activity_text(activity)
    assert text.index("research/new") < text.index("research/old")
    data = activity_data(activity, samples.PROJECT)
    assert [item["permalink"] for item in data["results"]] == ["research/new", "research/old"]


@pytest.mark.usefixtures("berlin")
def test_activity_says_which_time_was_understood_and_when_each_file_changed(
    samples: ModuleType,
) -> None:
    at = datetime(2025, 7, 1, 22, 30, tzinfo=UTC)
    activity = Activity(SINCE, (samples.ref("new"),), 1, 20, 1, (at,))
    assert activity_text(activity).splitlines() == [
        "1 note changed since Wed 2025-01-01 01:00 (+01:00):",
        "- 2025-07-02 00:30 New — research/new · concept",
    ]
    data = activity_data(activity, samples.PROJECT)
    assert data["since"] == "2025-01-01T01:00:00+01:00"
    assert data["results"][0]["changed_at"] == "2025-07-02T00:30:00+02:00"
    ever = Activity(datetime(1678, 1, 1, tzinfo=UTC), (), 1, 20, 0)
    assert activity_text(ever) == "0 notes changed at any time. The project has no notes."
    assert activity_data(ever, samples.PROJECT)["since"] == "1678-01-01T00:00:00+00:00"


@pytest.mark.usefixtures("berlin")
def test_where_nothing_changed_it_is_said_what_would_find_something(samples: ModuleType) -> None:
    at = datetime(2025, 7, 1, 22, 30, tzinfo=UTC)
    old = Activity(SINCE, (), 1, 20, 0, newest=samples.ref("old"), newest_at=at)
    assert activity_text(old) == (
        "0 notes changed since Wed 2025-01-01 01:00 (+01:00). The last one is "
        "Old — research/old, 2025-07-02 00:30: timeframe=2025-07-02 lists it."
    )
    newest = activity_data(old, samples.PROJECT)["newest"]
    assert (newest["permalink"], newest["changed_at"]) == (
        "research/old",
        "2025-07-02T00:30:00+02:00",
    )
    unknown = Activity(
        SINCE, (), 1, 20, 0, note_types=("persons", "people"), known_types=("person", "note")
    )
    assert activity_text(unknown) == (
        "0 notes of type persons or people changed since Wed 2025-01-01 01:00 (+01:00). "
        "No note is of such a type; types there are: person, note."
    )
    data = activity_data(unknown, samples.PROJECT)
    assert (data["newest"], data["known_types"]) == (None, ["person", "note"])


@pytest.mark.spec("6.2.9")
def test_projects_show_metadata_and_counts() -> None:
    project = Project("Main", "main", Path("/notes"), is_default=True)
    summary = ProjectSummary(project, Counts(notes=3, observations=2, relations=1), "ready")
    assert projects_data([summary])["projects"] == [
        {
            "name": "Main",
            "path": "/notes",
            "permalink": "main",
            "is_active": True,
            "is_default": True,
            "entity_count": 3,
            "observation_count": 2,
            "relation_count": 1,
            "status": "ready",
        }
    ]
    assert projects_text([summary]) == "Main (default) · /notes · 3 notes · ready"
    assert "create_memory_project" in projects_text([])


def test_an_index_that_is_not_complete_says_how_far_it_is() -> None:
    indexing = SyncState(SyncPhase.INDEXING, Progress(300, 10_000))
    assert state_note(indexing) == "Index not complete: 300 of 10,000 files."
    assert state_data(indexing) == {"status": "indexing", "done": 300, "total": 10_000}
    failed = SyncState(SyncPhase.FAILED, last_error="The disk is full")
    assert "The disk is full" in state_note(failed)
    assert state_data(failed)["error"] == "The disk is full"
    looking = "Index may not be up to date: the folder is being looked at."
    assert state_note(SyncState()) == looking
    assert state_note(SyncState(SyncPhase.INDEXING)) == looking
    assert state_note(SyncState(SyncPhase.READY, Progress(2, 2))) == ""
    later = SyncState(SyncPhase.READY, Progress(1, 2))
    assert state_note(later) == "Index not up to date: 1 of 2 changed files."


def test_a_running_sync_says_how_long_it_takes() -> None:
    indexing = SyncState(SyncPhase.INDEXING, Progress(300, 900, elapsed_s=1.5))
    assert state_note(indexing) == "Index not complete: 300 of 900 files, about 3 s left."
    assert state_data(indexing)["seconds_left"] == 3
    done = SyncState(SyncPhase.INDEXING, Progress(900, 900, elapsed_s=4.5))
    assert "seconds_left" not in state_data(done)


def test_notes_that_are_kept_without_their_files_are_told() -> None:
    state = SyncState(SyncPhase.READY, held=2, held_reason="the folder is empty")
    assert state_note(state) == "", "the index is as complete as it can be"
    assert held_note(state, "my notes").startswith(
        "2 notes are kept although their files are missing (the folder is empty)"
    )
    assert held_note(state, "my notes").endswith(
        "memoranda sync --accept-deletions --project 'my notes'"
    )
    assert (state_data(state)["held"], state_data(state)["held_reason"]) == (
        2,
        "the folder is empty",
    )
    assert held_note(SyncState(SyncPhase.READY), "main") == ""
