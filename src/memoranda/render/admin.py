"""How a project stands, and what was done to its index and configuration, as JSON values and as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from memoranda.model.project import Project
from memoranda.model.sync import FileFailure, SkipCause, Skipped, SyncReport, SyncState
from memoranda.model.views import ProjectInfo
from memoranda.render.bounds import ANSWER_CHARS, compact, one_line
from memoranda.render.live import Onlooker
from memoranda.render.meaning import meaning_texts
from memoranda.render.notes import bounded_lists, count, moment
from memoranda.render.projects import info_data
from memoranda.render.state import progress_text, state_data, state_note

_LISTS = ("not_indexed", "problems", "skipped", "missing")
_REASON_CHARS = 200
_MOST_EVENTS = 10
_FEW = 5


def status_data(
    info: ProjectInfo,
    onlooker: Onlooker,
    skipped: Sequence[Skipped],
    trouble: str = "",
    limit: int = ANSWER_CHARS,
) -> dict[str, Any]:
    """What `memory://project_info` says, bounded; `trouble` is why the folder cannot be looked at."""
    data = info_data(info, onlooker, skipped=skipped, most_events=_MOST_EVENTS)
    if trouble:
        data["folder_error"] = one_line(trouble, _REASON_CHARS)
    totals = {f"{name}_total": data[f"{name}_total"] for name in _LISTS}
    lists = {name: data.pop(name) for name in _LISTS}
    return data | bounded_lists(lists, limit - len(compact(data)) - 200) | totals


def status_text(
    info: ProjectInfo, skipped: Sequence[Skipped], trouble: str = "", limit: int = ANSWER_CHARS
) -> str:
    """The same in a few lines: sizes, how sync and embedding stand, and what is not indexed and why."""
    project, counts = info.project, info.counts
    default = " (default)" if project.is_default else ""
    lines = [f"{project.name}{default} · {project.path} · {info.status}"]
    if project.disabled:
        return lines[0]
    lines += [
        f"{count(counts.notes, 'note')}, {count(counts.observations, 'observation')}, "
        f"{count(counts.relations, 'relation')} ({counts.unresolved:,} unresolved)",
        f"Last synced: {moment(info.last_full_sync) or 'never'}.",
    ]
    lines += [note for note in [state_note(info.state)] if note]
    if trouble:
        lines.append(f"The folder cannot be looked at: {one_line(trouble, _REASON_CHARS)}")
    lines += [f"Meaning: {text}" for text in meaning_texts(info.provider, info.embedding)]
    lines += _failures("Not indexed", info.failures)
    lines += _few(
        "Read with a problem",
        [f"{ref.file_path}: {'; '.join(ref.problems)}" for ref in info.broken],
    )
    lines += _few("Kept although the file is missing", list(info.missing), info.missing_total)
    if skipped:
        causes = Counter(item.cause for item in skipped)
        said = ", ".join(f"{causes[cause]:,} {cause.value}" for cause in SkipCause if causes[cause])
        lines.append(f"Left out on purpose: {count(len(skipped), 'path')} ({said}).")
    return "\n".join(lines)[:limit]


def reindexed_data(project: Project, report: SyncReport) -> dict[str, Any]:
    """What a reindexing did."""
    return {
        "project": project.name,
        "done": True,
        "total_files": report.total_files,
        "new": len(report.new_files),
        "modified": len(report.modified_files),
        "moved": len(report.moved_files),
        "deleted": len(report.deleted_files),
        "left_out": len(report.left_out_files),
        "held": len(report.held),
        "failed": [_failure_data(failure) for failure in report.failures[:20]],
        "failed_total": len(report.failures),
        "links_resolved": report.links_resolved,
        "duration_s": round(report.duration_s, 3),
    }


def reindexed_text(project: Project, report: SyncReport) -> str:
    """The same in a line, and the files that failed."""
    head = (
        f"Reindexed {project.name}: {count(report.total_files, 'file')} in "
        f"{report.duration_s:.1f} s, {len(report.failures):,} failed."
    )
    return "\n".join([head, *_failures("Failed", report.failures)])


def reindexing_data(project: Project, state: SyncState) -> dict[str, Any]:
    """A reindexing that goes on after the answer."""
    return {"project": project.name, "done": False, "index": state_data(state)}


def reindexing_text(project: Project, state: SyncState) -> str:
    """The same in a line."""
    how_far = progress_text(state)
    so_far = f": {how_far}" if how_far else ""
    return f"Reindexing {project.name} goes on{so_far}. memory_status says how far it is."


def removed_data(project: Project, now: Project | None) -> dict[str, Any]:
    """A project that was taken out of the configuration, and the default project afterwards."""
    return {
        "name": project.name,
        "path": str(project.path),
        "removed": True,
        "notes_deleted": False,
        "index_deleted": False,
        "default_project": now.name if now else None,
    }


def removed_text(project: Project, now: Project | None) -> str:
    """The same in words, with the way back."""
    default = f"The default project is {now.name}." if now else "There is no default project now."
    return (
        f"Removed project {project.name} from the configuration. No note was deleted: the notes in "
        f"{project.path}, the index and the history are kept, and create_memory_project with the same "
        f"name and path brings it back. {default}"
    )


def _failures(label: str, failures: Sequence[FileFailure]) -> list[str]:
    return _few(label, [f"{one.path}: {one_line(one.reason, _REASON_CHARS)}" for one in failures])


def _failure_data(failure: FileFailure) -> dict[str, Any]:
    return {"path": failure.path, "reason": one_line(failure.reason, _REASON_CHARS)}


def _few(label: str, items: Sequence[str], total: int | None = None) -> list[str]:
    number = len(items) if total is None else total
    if not items:
        return []
    more = [f"- and {number - _FEW:,} more"] if number > _FEW else []
    return [f"{label} ({number:,}):", *(f"- {one_line(item, 400)}" for item in items[:_FEW]), *more]
