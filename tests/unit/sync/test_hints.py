from __future__ import annotations

import os
from collections.abc import Collection

import pytest

from memoranda.model.live import EventKind
from memoranda.sync.hints import MANY_EVENTS, Hint, Hints, Sieve

ROOT = "/home/me/notes"
CREATED, MODIFIED, DELETED = 1, 2, 3
FOLDERS = ("", "a", "a/b", "c.md")

pytestmark = pytest.mark.skipif(os.sep != "/", reason="paths as Linux gives them")


def sift(
    *events: tuple[int, str],
    there: Collection[str] = ("new", "a", "a/b", "a/new", ".git", "node_modules", "other"),
    tells_folders: bool = True,
) -> Hints:
    sieve = Sieve(
        ROOT,
        FOLDERS,
        ("other",),
        lambda path: path in there,
        tells_folders=tells_folders,
    )
    return sieve.sift({(kind, f"{ROOT}/{path}" if path else ROOT) for kind, path in events})


def paths(hints: Hints) -> list[str]:
    return [hint.path for hint in hints.hints]


@pytest.mark.spec("4.1")
@pytest.mark.parametrize("kind", [CREATED, MODIFIED, DELETED])
@pytest.mark.parametrize("path", ["n.md", "a/N.MD", "a/b/ü 1.md", "a/.gitignore", ".bmignore"])
def test_notes_and_ignore_files_count_whatever_happened(kind: int, path: str) -> None:
    assert paths(sift((kind, path))) == [path]


@pytest.mark.parametrize("kind", [CREATED, MODIFIED, DELETED])
@pytest.mark.parametrize(
    "path",
    [
        "photo.jpg",
        "a/.0123456789abcdef.tmp",
        "n.md~",
        ".n.md.swp",
        ".hidden.md",
        "~$n.md",
        "4913",
        "sedA1b2C3",
        ".git/index.lock",
        ".git/x.md",
        ".git/.gitignore",
        ".obsidian/workspace.json",
        "a/.trash/n.md",
        "node_modules/p/README.md",
        "other/n.md",
        "other",
    ],
)
def test_what_a_scan_would_not_look_at_does_not_count(kind: int, path: str) -> None:
    assert paths(sift((kind, path))) == []


def test_the_name_of_an_event_is_that_of_what_happened() -> None:
    hints = sift((CREATED, "1.md"), (MODIFIED, "2.md"), (DELETED, "3.md"))
    assert hints.hints == (
        Hint(EventKind.CREATED, "1.md"),
        Hint(EventKind.MODIFIED, "2.md"),
        Hint(EventKind.DELETED, "3.md"),
    )
    assert not hints.are_folders_lost


def test_a_new_folder_counts_and_a_new_file_without_a_notes_name_does_not() -> None:
    assert paths(sift((CREATED, "new"), (CREATED, "a/new"), (CREATED, "data"))) == ["a/new", "new"]
    assert not sift((CREATED, "new")).are_folders_lost


def test_a_hidden_new_folder_does_not_count() -> None:
    assert paths(sift((CREATED, ".git"), (CREATED, "node_modules"))) == []


def test_a_folder_whose_permissions_changed_counts() -> None:
    assert paths(sift((MODIFIED, "a"), (MODIFIED, "new"))) == ["a", "new"]


def test_where_every_file_changes_its_folder_only_new_and_gone_folders_count() -> None:
    events = [(MODIFIED, ""), (MODIFIED, "a"), (MODIFIED, "new")]
    assert paths(sift(*events, tells_folders=False)) == []
    assert paths(sift((CREATED, "new"), (DELETED, "a"), tells_folders=False)) == ["a", "new"]


@pytest.mark.parametrize("kind", [CREATED, DELETED])
@pytest.mark.parametrize("path", ["a", "a/b", "c.md"])
def test_a_watched_folder_that_came_or_went_is_lost(kind: int, path: str) -> None:
    hints = sift((kind, path), there=())
    assert paths(hints) == [path]
    assert hints.are_folders_lost
    assert not hints.is_root_lost


def test_a_vanished_name_that_was_no_watched_folder_does_not_count() -> None:
    assert paths(sift((DELETED, "new"), (DELETED, "Makefile"))) == []


def test_the_root_counts_and_is_lost_when_it_went() -> None:
    assert sift((DELETED, "")) == Hints((Hint(EventKind.DELETED, ""),), True, True)
    assert sift((MODIFIED, "")) == Hints((Hint(EventKind.MODIFIED, ""),))


@pytest.mark.parametrize("path", ["/somewhere/n.md", ROOT + "2/n.md", f"{ROOT}/bad\ufffd.md"])
def test_a_path_that_cannot_be_placed_may_be_anything(path: str) -> None:
    sieve = Sieve(ROOT, FOLDERS, (), lambda _: False)
    hints = sieve.sift({(MODIFIED, path)})
    assert hints == Hints((Hint(EventKind.MODIFIED, ""),))


def test_the_file_systems_root_can_be_the_projects_folder() -> None:
    sieve = Sieve("/", FOLDERS, (), lambda _: False)
    assert paths(sieve.sift({(MODIFIED, "/a/n.md")})) == ["a/n.md"]


def test_a_burst_is_everything() -> None:
    """The system drops events that nobody fetches in time, without a word to us."""
    full = [(CREATED, f"a/{number}.jpg") for number in range(MANY_EVENTS)]
    assert paths(sift(*full)) == []
    hints = sift(*full, (CREATED, "one-more.jpg"))
    assert hints == Hints((Hint(EventKind.MODIFIED, ""),), are_folders_lost=True)
