"""What a sync did, as JSON and as text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memoranda.cli.command_line import command_line
from memoranda.cli.output import listed
from memoranda.model.sync import FileFailure, SkipCause, Skipped, SyncReport
from memoranda.render.notes import count


def report_json(project: str, report: SyncReport) -> dict[str, object]:
    """All of a report; paths are relative to the project's folder."""
    return {
        "project": project,
        "new": list(report.new_files),
        "modified": list(report.modified_files),
        "moved": [{"from": before, "to": after} for before, after in report.moved_files],
        "deleted": list(report.deleted_files),
        "left_out": list(report.left_out_files),
        "failed": [failure_json(failure) for failure in report.failures],
        "skipped": [skipped_json(skipped) for skipped in report.skipped],
        "held": list(report.held),
        "held_reason": report.held_reason,
        "unchanged": unchanged(report),
        "total_files": report.total_files,
        "links_resolved": report.links_resolved,
        "duration_s": round(report.duration_s, 3),
    }


def failure_json(failure: FileFailure) -> dict[str, object]:
    """A file that could not be indexed."""
    return {
        "file_path": failure.path,
        "reason": failure.reason,
        "kind": failure.kind.value,
        "count": failure.count,
        "tripped": failure.tripped,
    }


def skipped_json(skipped: Skipped) -> dict[str, object]:
    """Something that is left out on purpose."""
    return {"path": skipped.path, "reason": skipped.reason, "cause": skipped.cause.value}


def report_text(project: str, report: SyncReport, *, details: bool = True) -> str:
    """One line of numbers, then the files that failed and with `details` those that changed."""
    moved = [f"{before} -> {after}" for before, after in report.moved_files]
    lines = [
        f"{project}: {len(report.new_files)} new, {len(report.modified_files)} modified, "
        f"{len(moved)} moved, {len(report.deleted_files)} deleted, "
        f"{f'{len(report.left_out_files)} left out, ' if report.left_out_files else ''}"
        f"{len(report.failures)} failed, {unchanged(report)} unchanged "
        f"({report.duration_s:.1f} s)",
    ]
    if details:
        lines += listed("new", report.new_files)
        lines += listed("modified", report.modified_files)
        lines += listed("moved", moved)
        lines += listed("deleted", report.deleted_files)
        lines += listed("left out", report.left_out_files)
    lines += _skipped_lines(report.skipped, project)
    lines += held_lines(report.held, report.held_reason, project)
    lines += failure_lines(report.failures)
    return "\n".join(lines)


def changes_text(report: SyncReport, *, most: int = 3) -> str:
    """What changed or failed, on one line, with up to `most` paths."""
    groups: list[tuple[str, Sequence[str]]] = [
        ("new", report.new_files),
        ("modified", report.modified_files),
        ("moved", [f"{before} -> {after}" for before, after in report.moved_files]),
        ("deleted", report.deleted_files),
        ("left out", report.left_out_files),
        ("failed", [f"{one.path} ({one.reason})" for one in report.failures]),
        ("kept although missing", report.held),
    ]
    counts = ", ".join(f"{len(paths):,} {what}" for what, paths in groups if paths)
    if not counts:
        return "no file is missing any more"
    paths = [" ".join(path.splitlines()) for _, group in groups for path in group]
    more = f" and {len(paths) - most:,} more" if len(paths) > most else ""
    return f"{counts}: {', '.join(paths[:most])}{more}"


def _skipped_lines(skipped: Sequence[Skipped], project: str) -> list[str]:
    """The rules and places that could not be used, and how to see all that is not indexed."""
    if not skipped:
        return []
    trouble = [one for one in skipped if one.cause in (SkipCause.RULE, SkipCause.UNREADABLE)]
    command = command_line("status", "--skipped", project=project)
    return [
        *listed("trouble", [f"{one.path}: {one.reason}" for one in trouble]),
        f"  skipped   {count(len(skipped), 'path')}; to see all, run: {command}",
    ]


def held_lines(
    paths: Sequence[str], reason: str, project: str, total: int | None = None
) -> list[str]:
    """The notes that are kept although their files are missing, why, and what to do."""
    if not paths:
        return []
    number = len(paths) if total is None else total
    files = "its file is" if number == 1 else "their files are"
    which, why = count(number, "note"), f": {reason}"
    if re.fullmatch(rf"{number:,} of [\d,]+ notes are missing", reason):
        which, why = reason.removesuffix(" are missing"), ""
    kept = f"  kept      {which} although {files} missing"
    if reason:
        command = command_line("sync", "--accept-deletions", project=project)
        kept += (
            f"{why}; put the files back, else they leave the index once they are missing for a "
            f"minute in the same folder; to delete them now, run: {command}"
        )
    else:
        kept += ": a folder cannot be read"
    return [*listed("missing", paths), kept]


def failure_lines(failures: Sequence[FileFailure]) -> list[str]:
    """One line a failure, with its reason."""
    return listed(
        "failed",
        [
            f"{failure.path}: {failure.reason}"
            + (" (left alone until it changes)" if failure.tripped else "")
            for failure in failures
        ],
    )


def unchanged(report: SyncReport) -> int:
    """Files the sync had nothing to do for (a changed time alone counts as unchanged)."""
    busy = len(report.new_files) + len(report.modified_files) + len(report.moved_files)
    known_failures = {failure.path for failure in report.failures}
    known_failures -= {*report.new_files, *report.modified_files}
    return max(0, report.total_files - busy - len(known_failures))


def nothing_read(report: SyncReport) -> bool:
    """Whether there are files and every one of them failed."""
    return report.total_files > 0 and len(report.failures) >= report.total_files
