"""Vectors after a sync in a command: made here, or by the server that leads the project."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memoranda.model.embedding import EmbeddingProgress, ProviderPhase, ProviderState
from memoranda.render.notes import count

if TYPE_CHECKING:
    from memoranda.embeddings.choice import ProviderChoice
    from memoranda.model.live import LeaderState
    from memoranda.ports import EmbeddingProvider
    from memoranda.sync.coordinator import SyncCoordinator
    from memoranda.sync.embed_backfill import EmbedBackfill
    from memoranda.sync.embed_notes import Embedded

_REMOTE = "openai"
_LOOK_S = 0.2
"""How often the bar of a download moves."""


@dataclass(frozen=True, slots=True)
class Vectors:
    """How the vectors of a project are after a command.

    Attributes:
        state: the provider.
        progress: how far they are; None without a provider.
        embedded: what the command did; None: it did nothing, or failed in the middle.
        leader: the process that makes them instead.
        problem: what ended the work.
        is_kept: without a provider: there are vectors of before.
    """

    state: ProviderState
    progress: EmbeddingProgress | None = None
    embedded: Embedded | None = None
    leader: LeaderState | None = None
    problem: str = ""
    is_kept: bool = False


async def embed_pending(
    name: str,
    choice: ProviderChoice,
    coordinator: SyncCoordinator,
    backfill: EmbedBackfill,
    *,
    forget_others: bool = False,
) -> Vectors:
    """Embed what is pending, unless a server leads the project and embeds: two models would undo each other.

    A model that may be downloaded is waited for. A bar shows how far it is; Ctrl-C leaves done what is done. A provider that fails is no failure of the
    command: the words of the notes are searched.

    Raises:
        DatabaseProblem, DiskFull: the index failed.
    """
    import asyncio

    from memoranda.cli.output import write_note
    from memoranda.cli.progress import progress_bar
    from memoranda.errors import EmbeddingProblem

    if await _downloaded(choice) is None:
        return Vectors(choice.state, is_kept=await backfill.has_vectors())
    leader = coordinator.leader
    if leader is not None and leader.is_alive and not leader.is_me and leader.embedding_space:
        return Vectors(choice.state, await coordinator.embedding(), leader=leader)
    try:
        with progress_bar(f"Embedding {name}", "notes") as show:
            embedded = await backfill.run_once(show, forget_others=forget_others)
    except EmbeddingProblem as problem:
        why = f"{problem.message}. {problem.hint}" if problem.hint else problem.message
        return Vectors(choice.state, await backfill.progress(), problem=why.removesuffix("."))
    except asyncio.CancelledError:
        write_note(f"{name}: what is embedded stays; the next sync or a server embeds the rest")
        raise
    return Vectors(choice.state, await backfill.progress(), embedded)


async def _downloaded(choice: ProviderChoice) -> EmbeddingProvider | None:
    """The provider; while its files come, a bar shows how far they are."""
    import asyncio

    from memoranda.cli.output import write_note
    from memoranda.cli.progress import progress_bar
    from memoranda.model.sync import Progress

    provider = await choice.ready()
    if provider is not None or choice.state.phase is not ProviderPhase.LOADING:
        return provider
    model = choice.state.model
    write_note(f"The files of the model {model} are downloaded, which may take minutes")
    waiting = asyncio.create_task(choice.ready(through_download=True))
    try:
        with progress_bar(f"Downloading {model}", "%") as show:
            while not waiting.done():
                if show is not None:
                    show(Progress(round(100 * (choice.state.progress or 0.0)), 100))
                await asyncio.wait([waiting], timeout=_LOOK_S)
    finally:
        waiting.cancel()
    return waiting.result()


def vectors_text(vectors: Vectors) -> str:
    """One line: what was done, by whom, and what is left and why."""
    return f"  vectors   {_said(vectors)}"


def vectors_json(vectors: Vectors) -> dict[str, Any]:
    """The same in figures. `notes` and `texts`: of this command; null when it did nothing."""
    state, progress, embedded = vectors.state, vectors.progress, vectors.embedded
    return {
        "provider": state.provider,
        "model": state.model,
        "notes": embedded.notes if embedded else None,
        "texts": embedded.texts if embedded else None,
        "duration_s": round(embedded.duration_s, 3) if embedded else None,
        "pending": progress.pending if progress else None,
        "stored": progress.vectors if progress else None,
        "made_by": vectors.leader.pid if vectors.leader else None,
        "reason": _reason(vectors),
    }


def _said(vectors: Vectors) -> str:
    state, progress, embedded = vectors.state, vectors.progress, vectors.embedded
    reason = _reason(vectors)
    if progress is None:
        which = "kept, nothing embedded" if vectors.is_kept else "none"
        return f"{which}: {reason}" if reason else which
    left = f"{count(progress.pending, 'note')} of {progress.notes:,} to do"
    why = f": {reason}" if reason else ""
    space = state.space.name if state.space else ""
    if vectors.leader is not None and progress.pending and vectors.leader.embedding_space == space:
        return f"process {vectors.leader.pid} makes them, {left}{why}"
    if vectors.leader is not None or (embedded is not None and not embedded.notes):
        stored = (
            f"up to date: {count(progress.vectors, 'vector')} of {count(progress.notes, 'note')}"
        )
        return f"{left}{why}" if progress.pending else stored
    if embedded is None:
        return f"stopped, {left}{why}"
    address = state.space.revision if state.space and state.provider == _REMOTE else ""
    sent = f", sent to {state.model} at {address}" if address else ""
    done = f"{count(embedded.notes, 'note')}, {count(embedded.texts, 'text')}{sent}"
    return f"{done} in {embedded.duration_s:.1f} s" + (f"; {left}{why}" if progress.pending else "")


def _reason(vectors: Vectors) -> str:
    """Why there are none, or not all."""
    if vectors.progress is None:
        is_known = vectors.state.phase is not ProviderPhase.READY
        return vectors.state.reason if is_known else ""
    if vectors.problem:
        return vectors.problem
    if vectors.embedded is not None and vectors.embedded.refused:
        return vectors.embedded.reason
    return vectors.progress.error
