from __future__ import annotations

import pytest

from memoranda.services.nearness import Candidate, forms, nearest

NOTES = [
    Candidate("Top Bar", "docs/top-bar", "docs/Top Bar.md"),
    Candidate("CONFIG", "docs/api/config", "docs/API/CONFIG.md"),
    Candidate("CONFIG", "docs/config", "docs/CONFIG.md"),
    Candidate("PWA", "docs/pwa", "docs/PWA.md"),
    Candidate("Enforcement guide", "docs/enforcement-guide", "docs/ENF-9.md"),
    Candidate("2021-09-24 Office hours", "log/2021-09-24-office-hours", "log/2021-09-24.md"),
    Candidate("2021-05-02 Office hours", "log/2021-05-02-office-hours", "log/2021-05-02.md"),
    Candidate("Datei für alles", "docs/datei-für-alles", "docs/Datei für alles.md"),
]


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("Top Bars", "docs/top-bar"),
        ("Tpo Bar", "docs/top-bar"),
        ("topbar", "docs/top-bar"),
        ("Bar Top", "docs/top-bar"),
        ("PWA notes", "docs/pwa"),
        ("2025-03-14 PWA", "docs/pwa"),
        ("notes/2025-03-14-pwa.md", "docs/pwa"),
        ("notes/ENF-9", "docs/enforcement-guide"),
        ("api/confg", "docs/api/config"),
        ("docs/confg", "docs/config"),
        ("notes/2021-09-24 office hours", "log/2021-09-24-office-hours"),
        ("Office hours", "log/2021-05-02-office-hours"),
        ("Datei fur alles", "docs/datei-für-alles"),
        ("guide", "docs/enforcement-guide"),
    ],
)
def test_a_name_written_wrong_finds_the_note(name: str, first: str) -> None:
    assert nearest(name, NOTES, 5)[0] == first


@pytest.mark.parametrize("name", ["Zebra", "...", "", "9999"])
def test_what_is_like_nothing_finds_nothing(name: str) -> None:
    assert nearest(name, NOTES, 5) == []


def test_all_notes_of_one_name_are_near_and_no_more_than_wanted() -> None:
    assert nearest("docs/confog", NOTES, 5) == ["docs/config", "docs/api/config"]
    assert nearest("docs/confog", NOTES, 1) == ["docs/config"]


def test_a_name_stands_for_its_last_part_with_and_without_a_date() -> None:
    assert forms("a/2025-03-14 Plan.md") == ("2025-03-14-plan", "plan")
    assert forms("Plan 2025-03") == ("plan-2025-03", "plan")
    assert forms("2025-03-14") == ("2025-03-14",)
