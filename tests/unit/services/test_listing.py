from __future__ import annotations

import pytest

from memoranda.services.listing import choice, entries, folder_meant, folders_of, near_folders

PATHS = (
    "a.md",
    "docs/ADR/001 Plan.md",
    "docs/ADR/old/plan b.md",
    "docs/x.md",
    "docs/Y.md",
    "zoo/z.md",
)


def test_folders_come_first_with_their_counts_each_by_name() -> None:
    found = entries(PATHS, "", choice(1, None))
    assert list(found.folders.items()) == [("docs", 4), ("zoo", 1)]
    assert found.notes == ["a.md"]


def test_a_level_further_down_has_its_folders_too() -> None:
    found = entries([path for path in PATHS if path.startswith("docs/")], "docs", choice(2, None))
    assert dict(found.folders) == {"docs/ADR": 2, "docs/ADR/old": 1}
    assert found.notes == ["docs/ADR/001 Plan.md", "docs/x.md", "docs/Y.md"]


def test_a_pattern_without_a_slash_is_for_names_and_counts_what_matches() -> None:
    found = entries(PATHS, "", choice(1, "*PLAN*"))
    assert dict(found.folders) == {"docs": 2}
    assert found.notes == []


@pytest.mark.parametrize(
    ("glob", "notes"),
    [
        ("docs/*.md", ["docs/x.md", "docs/Y.md"]),
        ("/docs/*/*.md", ["docs/ADR/001 Plan.md"]),
        ("**/*plan*", ["docs/ADR/001 Plan.md", "docs/ADR/old/plan b.md"]),
    ],
)
def test_a_pattern_with_a_slash_is_for_paths_and_lists_notes_alone(
    glob: str, notes: list[str]
) -> None:
    found = entries(PATHS, "", choice(1, glob))
    assert (dict(found.folders), found.notes) == ({}, notes)


def test_a_pattern_with_a_slash_counts_from_the_folder() -> None:
    below = [path for path in PATHS if path.startswith("docs/")]
    assert entries(below, "docs", choice(1, "ADR/*")).notes == ["docs/ADR/001 Plan.md"]


@pytest.mark.parametrize("glob", ["", " ", "/", None])
def test_no_pattern_is_all(glob: str | None) -> None:
    assert choice(3, glob).glob is None


FOLDERS = ["docs", "docs/ADR", "docs/5.1", "docs/5.1/Core", "docs/7/Core", "old", "Old"]


def test_every_folder_above_a_note_is_one() -> None:
    assert folders_of(("a/b/c/x.md", "y.md", "a/z.md")) == ["a", "a/b", "a/b/c"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("DOCS/adr", "docs/ADR"),
        ("docs/5-1", "docs/5.1"),
        ("adr", "docs/ADR"),
        ("5-1/core", "docs/5.1/Core"),
        ("core", None),
        ("OLD", None),
        ("doc", None),
        ("...", None),
    ],
)
def test_a_folder_is_known_by_another_spelling_if_that_names_one_only(
    name: str, meant: str | None
) -> None:
    assert folder_meant(name, FOLDERS) == meant


def test_near_folders_have_a_like_name_the_likeliest_first() -> None:
    folders = ["docs/API", "docs/Plugs", "docs/Plugs old", "Plugin", "zoo"]
    assert near_folders("docs/Plug", folders) == ["docs/Plugs", "docs/Plugs old", "Plugin"]
    assert near_folders("docs/Plugs and all that is there", folders)[0] == "docs/Plugs"
    assert near_folders("pl", ["Planning and budgets"]) == ["Planning and budgets"]
    assert near_folders("docs/Qwerty", folders) == []
    assert near_folders("...", folders) == []
