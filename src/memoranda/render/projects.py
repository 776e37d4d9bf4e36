"""Projects as JSON values and as short text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memoranda.model.project import Project, ProjectSummary
from memoranda.model.sync import Skipped
from memoranda.model.views import ProjectInfo
from memoranda.render.bounds import one_line
from memoranda.render.live import Onlooker, leader_data
from memoranda.render.meaning import meaning_data
from memoranda.render.notes import count, moment
from memoranda.render.state import state_data

_MOST = 50


def project_data(summary: ProjectSummary) -> dict[str, Any]:
    """A project of the tool contract."""
    project, counts = summary.project, summary.counts
    return {
        "name": project.name,
        "path": str(project.path),
        "permalink": project.permalink,
        "is_active": project.is_active,
        "is_default": project.is_default,
        "entity_count": counts.notes,
        "observation_count": counts.observations,
        "relation_count": counts.relations,
        "status": summary.status,
    }


def project_text(summary: ProjectSummary) -> str:
    """One line: name, default mark, folder, size, status."""
    project = summary.project
    default = " (default)" if project.is_default else ""
    return (
        f"{project.name}{default} · {project.path} · {count(summary.counts.notes, 'note')} · "
        f"{summary.status}"
    )


def projects_data(summaries: Sequence[ProjectSummary]) -> dict[str, Any]:
    """All projects in configured order."""
    return {"projects": [project_data(summary) for summary in summaries]}


def projects_text(summaries: Sequence[ProjectSummary]) -> str:
    """A line a project, or how to make one."""
    if not summaries:
        return "No project is configured. Make one with create_memory_project."
    return "\n".join(project_text(summary) for summary in summaries)


def project_note(project: Project) -> str:
    """How to stay in a project that is not the default; "" for the default."""
    if project.is_default:
        return ""
    return f"Project {project.name}: pass project={project.name!r} to go on in it."


def info_data(
    info: ProjectInfo,
    onlooker: Onlooker,
    *,
    skipped: Sequence[Skipped],
    most_events: int | None = None,
) -> dict[str, Any]:
    """`memory://project_info`: metadata, counts, how sync and embedding stand, what is not indexed and why.

    Args:
        info: what is known about the project.
        onlooker: this process.
        skipped: what the folder shows that is left out; the state has it only after an own sync.
        most_events: so many of the leader's last events at most, None for all.
    """
    project, counts, state = info.project, info.counts, info.state
    return {
        "name": project.name,
        "path": str(project.path),
        "permalink": project.permalink,
        "is_active": project.is_active,
        "is_default": project.is_default,
        "status": info.status,
        "entity_count": counts.notes,
        "observation_count": counts.observations,
        "relation_count": counts.relations,
        "unresolved_relation_count": counts.unresolved,
        "link_count": counts.links,
        "index": state_data(state)
        | {"last_scan": moment(state.last_scan), "last_full_sync": moment(info.last_full_sync)},
        "database_bytes": info.database_bytes,
        "database_is_shared": info.is_shared,
        "not_indexed": [
            {
                "path": failure.path,
                "reason": one_line(failure.reason, 200),
                "count": failure.count,
                "tripped": failure.tripped,
            }
            for failure in info.failures[:_MOST]
        ],
        "not_indexed_total": len(info.failures),
        "problems": [
            {"path": ref.file_path, "reasons": list(ref.problems)} for ref in info.broken[:_MOST]
        ],
        "problems_total": len(info.broken),
        "skipped": [{"path": item.path, "reason": item.reason} for item in skipped[:_MOST]],
        "skipped_total": len(skipped),
        "missing": list(info.missing[:_MOST]),
        "missing_total": info.missing_total,
        "missing_reason": info.missing_reason,
        "last_integrity_check": moment(info.last_check),
        "notice": info.notice,
        "leader": leader_data(info.leader, onlooker, most_events=most_events),
        "meaning": meaning_data(info.provider, info.embedding),
    }
