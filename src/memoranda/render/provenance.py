"""What a note's OKF keys say, for an answer: only what is said, and nothing for a note that says nothing."""

from __future__ import annotations

from typing import Any

from memoranda.model.okf import Provenance, Status, Trust
from memoranda.render.bounds import one_line

_MOST = 20
_CHARS = 200


def provenance_data(found: Provenance) -> dict[str, Any]:
    """`{"provenance": {...}}`, at most `_MOST` sources and checks; {} if there is nothing to say.

    A description and a resource are plain frontmatter and stand there.
    """
    data: dict[str, Any] = {}
    if found.status is not Status.STABLE:
        data["status"] = found.status.value
    if found.stale_after is not None:
        data["stale_after"] = found.stale_after.isoformat()
    if found.generated_by:
        data["generated_by"] = one_line(found.generated_by, _CHARS)
    if found.generated_at is not None:
        data["generated_at"] = found.generated_at.isoformat()
    if found.verified:
        data["trust"] = found.trust.name.lower()
        data["verified"] = [
            {"by": one_line(one.by, _CHARS)} | ({"at": one.at.isoformat()} if one.at else {})
            for one in found.verified[:_MOST]
        ]
    if found.sources:
        names = [one.title or one.resource or one.id for one in found.sources[:_MOST]]
        data["sources"] = [one_line(name, _CHARS) for name in names if name]
    return {"provenance": data} if data else {}


def provenance_text(found: Provenance) -> list[str]:
    """One line that a reader should know before relying on the note; [] if there is nothing to say."""
    parts: list[str] = []
    if found.status is not Status.STABLE:
        parts.append(found.status.value)
    if found.stale_after is not None:
        parts.append(f"stale from {found.stale_after} on")
    if found.trust is not Trust.UNVERIFIED:
        best = next((one for one in found.verified if one.is_human), found.verified[0])
        when = f" on {best.at.astimezone():%Y-%m-%d}" if best.at else ""
        parts.append(f"verified by {one_line(best.by, 80) or 'somebody'}{when}")
    if found.generated_by:
        parts.append(f"written by {one_line(found.generated_by, 80)}")
    return [f"Provenance: {'; '.join(parts)}."] if parts else []
