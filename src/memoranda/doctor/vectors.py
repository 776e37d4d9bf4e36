"""A project's vectors: are they complete, who makes the rest, and what takes room for nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memoranda.db.dialects import both
from memoranda.db.migrate import State
from memoranda.doctor.words import command, counted, size, some
from memoranda.errors import MemorandaError
from memoranda.model.embedding import EmbeddingProgress, ProviderPhase, ProviderState
from memoranda.model.health import Check, ok, problem, warning
from memoranda.model.project import Project
from memoranda.render.bounds import one_line
from memoranda.render.meaning import percent

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from memoranda.doctor.sources import Source

_MOST_CHARS = 300
_SPACES = both(
    """
    SELECT v.model, sum(length(v.embedding)) FROM search_vector_embeddings AS v
    JOIN search_vector_chunks AS c ON c.id = v.chunk_id
    WHERE c.project_id = ? GROUP BY v.model ORDER BY v.model
    """
)


@dataclass(frozen=True, slots=True)
class VectorFacts:
    """What was found of the vectors of a project.

    Attributes:
        phase: of the embedding provider.
        progress: how far the vectors of its space are; None: it has no space, or there is no index.
        size_bytes: of these vectors.
        others: spaces of other vectors, with `other_bytes`.
        trouble: why nobody knows.
    """

    project: str
    phase: ProviderPhase
    progress: EmbeddingProgress | None = None
    size_bytes: int = 0
    others: Sequence[str] = ()
    other_bytes: int = 0
    trouble: str = ""


def look(project: Project, source: Source, provider: ProviderState, *, error: str) -> VectorFacts:
    """Look at the vectors of a project's index, if it has one that can be used; it stays as it is.

    Args:
        project: whose.
        source: where its index is.
        provider: what embeds, as it was found.
        error: why the server embeds nothing, as it says itself; "" when it does or there is none.
    """
    facts = VectorFacts(project.name, provider.phase)
    try:
        if source.finding().state is not State.CURRENT:
            return facts
        return source.read(lambda conn: _read(facts, conn, project, provider, error))
    except MemorandaError as failure:
        return replace(facts, trouble=failure.message)


def judge(facts: VectorFacts, *, is_kept_up: bool) -> list[Check]:
    """The checks of a project's vectors.

    Args:
        facts: what was found.
        is_kept_up: a server embeds what is not embedded yet.
    """
    if facts.trouble:
        return [problem("vectors", facts.trouble, "See what is said of the index.")]
    if facts.progress is None:
        return _unused(facts)
    return [_own(facts, facts.progress, is_kept_up=is_kept_up), *_others(facts, facts.progress)]


def _own(facts: VectorFacts, progress: EmbeddingProgress, *, is_kept_up: bool) -> Check:
    vectors = f", {counted(progress.vectors, 'vector')} in {size(facts.size_bytes)}"
    vectors = vectors if progress.vectors else ""
    if progress.is_complete:
        if not progress.notes:
            return ok("vectors", "there is nothing to embed")
        return ok("vectors", f"all of {counted(progress.notes, 'note')} embedded{vectors}")
    done = max(progress.notes - progress.pending, 0)
    share = percent(done, progress.notes)
    said = f"{done:,} of {counted(progress.notes, 'note')} embedded ({share}){vectors}"
    sync = command("sync", project=facts.project)
    if progress.error:
        error = one_line(progress.error, _MOST_CHARS)
        return warning(
            "vectors",
            f"{said}; it stands still: {error}",
            f"It is tried again; to see it fail, run {sync}.",
        )
    if is_kept_up:
        return ok("vectors", f"{said}; the server embeds the rest")
    return warning("vectors", f"{said}; no server embeds the rest", f"Embed it now: {sync}.")


def _others(facts: VectorFacts, progress: EmbeddingProgress) -> list[Check]:
    if not facts.other_bytes:
        return []
    said = f"{size(facts.other_bytes)} are vectors of another model ({some(facts.others)})"
    reindex = command("reindex", project=facts.project)
    return [ok("old vectors", f"{said}, kept in case it comes back; {reindex} removes them")]


def _unused(facts: VectorFacts) -> list[Check]:
    """Without a space: they are kept, as the model may come back."""
    if not facts.other_bytes:
        return []
    why = "search by meaning is off" if facts.phase is ProviderPhase.OFF else "there is no model"
    said = f"{size(facts.other_bytes)} are kept and not used, as {why} ({some(facts.others)})"
    return [ok("vectors", said)]


def _read(
    facts: VectorFacts, conn: Connection, project: Project, provider: ProviderState, error: str
) -> VectorFacts:
    from memoranda.repositories.driver import rows
    from memoranda.repositories.project_rows import id_of
    from memoranda.repositories.vectors import BlobVectorIndex

    project_id, space = id_of(conn, project.permalink), provider.space
    if project_id is None:
        return facts
    sizes = {str(name): int(n_bytes) for name, n_bytes in rows(conn, _SPACES, project_id)}
    own = 0
    if space is not None:
        own = sizes.pop(space.name, 0)
        progress = BlobVectorIndex(project_id).progress(conn, space.name)
        facts = replace(facts, progress=replace(progress, error=error))
    return replace(facts, size_bytes=own, others=tuple(sizes), other_bytes=sum(sizes.values()))
