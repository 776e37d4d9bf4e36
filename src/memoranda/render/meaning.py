"""How search by meaning stands in a project, as JSON values and as a line or two."""

from __future__ import annotations

from typing import Any, assert_never

from memoranda.model.embedding import EmbeddingProgress, ProviderPhase, ProviderState
from memoranda.render.bounds import one_line
from memoranda.render.notes import count

_MOST_CHARS = 400
_BUNDLED = "static"


def meaning_data(
    provider: ProviderState | None, embedding: EmbeddingProgress | None
) -> dict[str, Any] | None:
    """What embeds, and how many notes are embedded; None when nobody has asked.

    `notes` and what follows are null without a space that vectors could be in.
    """
    if provider is None:
        return None
    space = provider.space
    data: dict[str, Any] = {
        "state": provider.phase.value,
        "provider": provider.provider,
        "model": provider.model,
        "dimensions": space.dimensions if space else None,
        "space": space.name if space else None,
        "reason": one_line(provider.reason, _MOST_CHARS),
        "download": None if provider.progress is None else round(provider.progress, 3),
        "notes": None,
        "notes_done": None,
        "vectors": None,
        "is_complete": None,
        "error": "",
    }
    if embedding is None:
        return data
    return data | {
        "notes": embedding.notes,
        "notes_done": _done(embedding),
        "vectors": embedding.vectors,
        "is_complete": embedding.is_complete,
        "error": one_line(embedding.error, _MOST_CHARS),
    }


def meaning_texts(
    provider: ProviderState | None, embedding: EmbeddingProgress | None, *, way_on: str = ""
) -> list[str]:
    """How it stands, and below it why, if there is something to say; nothing when nobody has asked.

    Args:
        provider: what embeds.
        embedding: how many notes are embedded.
        way_on: what embeds the rest.
    """
    if provider is None:
        return []
    reason = one_line(provider.reason, _MOST_CHARS)
    match provider.phase:
        case ProviderPhase.OFF:
            return [f"off: {reason or 'the settings say so'}"]
        case ProviderPhase.FAILED:
            why = f": {reason}" if reason else ""
            return [f"{provider_name(provider)} cannot be used, searches go by words{why}"]
        case ProviderPhase.LOADING:
            return [
                f"{provider_name(provider)} {_loading(provider)}; until then searches go by words"
            ]
        case ProviderPhase.ABSENT:
            return [f"{provider_name(provider)} cannot be used yet, searches go by words: {reason}"]
        case ProviderPhase.READY:
            said = f"{provider_name(provider)}{_progress_text(embedding)}"
        case unknown:
            assert_never(unknown)
    if embedding is not None and embedding.error:
        return [said, f"stands still: {one_line(embedding.error, _MOST_CHARS)}"]
    if embedding is not None and not embedding.is_complete and way_on:
        said = f"{said}; {way_on}"
    return [said, f"why this model: {reason}"] if reason else [said]


def provider_name(provider: ProviderState) -> str:
    """`static model`, `fastembed bge-small-en-v1.5`; what is not chosen yet is `the model`."""
    if provider.provider == _BUNDLED:
        return "static model"
    return one_line(f"{provider.provider} {provider.model}", _MOST_CHARS) or "the model"


def percent(done: int, total: int) -> str:
    """Whole percents, rounded down: 100 only when all is done; `<1 %` when something is."""
    whole = 100 * done // total if total else 100
    return f"{whole} %" if whole or not done else "<1 %"


def _loading(provider: ProviderState) -> str:
    if provider.progress is None:
        return "is being loaded"
    return f"is being downloaded ({100 * provider.progress:.0f} %)"


def _progress_text(embedding: EmbeddingProgress | None) -> str:
    if embedding is None:
        return ""
    notes, done = embedding.notes, _done(embedding)
    if not notes:
        return ", no notes yet"
    if embedding.is_complete:
        which = f"all {notes:,} notes" if notes > 1 else "the one note"
        return f", {which} embedded ({count(embedding.vectors, 'vector')})"
    return f", {done:,} of {count(notes, 'note')} embedded ({percent(done, notes)})"


def _done(embedding: EmbeddingProgress) -> int:
    return max(embedding.notes - embedding.pending, 0)
