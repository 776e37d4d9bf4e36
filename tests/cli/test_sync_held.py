"""What a person sees when a folder has lost its notes."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Cli


def empty(notes: Path, away: Path) -> None:
    away.mkdir()
    for entry in notes.iterdir():
        entry.rename(away / entry.name)


def test_an_emptied_folder_keeps_its_notes_and_says_how_to_go_on(
    ready: Cli, notes: Path, tmp_path: Path
) -> None:
    empty(notes, tmp_path / "away")
    outcome = ready("sync")
    assert outcome.code == 0
    assert "0 deleted" in outcome.out
    assert "missing   garden/Compost.md" in outcome.out
    assert "kept      4 notes although their files are missing: the folder is empty" in outcome.out
    assert "memoranda sync --accept-deletions" in outcome.out
    status = ready("status")
    assert "kept      4 notes although their files are missing: the folder is empty" in status.out
    assert "behind" not in status.out
    hits = ready("search", "heap")
    assert "its file is missing" in hits.out
    for file in (tmp_path / "away").iterdir():
        file.rename(notes / file.name)
    outcome = ready("sync")
    assert "0 new, 0 modified, 0 moved, 0 deleted" in outcome.out
    assert "kept" not in outcome.out


def test_the_user_accepts_the_deletions(ready: Cli, notes: Path, tmp_path: Path) -> None:
    empty(notes, tmp_path / "away")
    (synced,) = ready("sync", "--json").json["projects"]
    assert len(synced["held"]) == 4
    assert synced["held_reason"] == "the folder is empty"
    (project,) = ready("status", "--json").json["projects"]
    assert (project["missing_total"], project["missing_reason"]) == (4, "the folder is empty")
    (synced,) = ready("sync", "--accept-deletions", "--json").json["projects"]
    assert (len(synced["deleted"]), synced["held"], synced["held_reason"]) == (4, [], "")
    assert "Nothing found" in ready("search", "heap").out


def test_verify_reads_every_file(ready: Cli) -> None:
    (synced,) = ready("sync", "--verify", "--json").json["projects"]
    assert (synced["unchanged"], synced["modified"]) == (4, [])


def test_a_note_whose_file_is_missing_is_not_simply_unknown(
    ready: Cli, notes: Path, tmp_path: Path
) -> None:
    empty(notes, tmp_path / "away")
    ready("sync")
    outcome = ready("read", "Compost")
    assert outcome.code == 1
    assert (
        "The index knows 'Compost', but its file garden/Compost.md is not there now" in outcome.err
    )
    assert "Near" not in outcome.err


def test_the_reason_is_that_of_now(ready: Cli, notes: Path, tmp_path: Path) -> None:
    empty(notes, tmp_path / "away")
    ready("sync")
    (notes / "new.md").write_text("new\n")
    outcome = ready("sync")
    assert "kept      4 of 4 notes although their files are missing; put" in outcome.out
    assert "is empty" not in outcome.out


def test_a_note_that_a_rule_leaves_out_is_not_called_deleted(ready: Cli, notes: Path) -> None:
    (notes / ".bmignore").write_text("garden/\n")
    outcome = ready("sync")
    assert "0 deleted, 2 left out, 0 failed" in outcome.out
    assert "left out  garden/Compost.md" in outcome.out
    assert "skipped   1 path; to see all, run:" in outcome.out
    (notes / ".bmignore").write_text("garden/\n[z-\n")
    outcome = ready("sync")
    assert "trouble   .bmignore: not used: " in outcome.out


def test_an_index_without_notes_says_so(ready: Cli, notes: Path) -> None:
    (notes / ".bmignore").write_text("*\n")
    assert "The index has no notes" in ready("search", "heap").out
