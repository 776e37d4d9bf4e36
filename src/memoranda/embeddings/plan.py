"""What the settings ask of meaning search, as one value."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from memoranda.settings import Settings

Pooling = Literal["mean", "cls"]


@dataclass(frozen=True, slots=True)
class EmbeddingPlan:
    """Which provider, which model.

    Attributes:
        is_on: whether texts get vectors at all.
        provider: "static", "fastembed" or "openai"; "": detect one.
        model: its name; "": the provider's own default.
        folder: with the files of a model for fastembed; None: its caches are looked through.
        pooling: how that model's token vectors become one; None: its files say.
        may_download: whether fastembed may fetch the files of the model.
        base_url: of an endpoint that speaks as OpenAI's does; "": OpenAI.
        dimensions: length that a vector must have; None: what the model gives.
        batch_size: most texts in one request to an endpoint.
    """

    is_on: bool = True
    provider: str = ""
    model: str = ""
    folder: Path | None = None
    pooling: Pooling | None = None
    may_download: bool = False
    base_url: str = ""
    dimensions: int | None = None
    batch_size: int = 64


def embedding_plan(settings: Settings) -> EmbeddingPlan:
    """What settings ask for. Only a value that was given counts; a folder of a model asks for fastembed."""
    given = settings.model_fields_set
    provider = (
        settings.semantic_embedding_provider.strip().lower()
        if "semantic_embedding_provider" in given
        else ""
    )
    folder = settings.semantic_model_path
    return EmbeddingPlan(
        is_on=settings.semantic_search_enabled or "semantic_search_enabled" not in given,
        provider=provider or ("fastembed" if folder else ""),
        model=settings.semantic_embedding_model if "semantic_embedding_model" in given else "",
        folder=Path(folder) if folder else None,
        pooling=settings.semantic_pooling,
        may_download=settings.semantic_allow_download,
        base_url=settings.semantic_base_url or "",
        dimensions=settings.semantic_dimensions,
        batch_size=settings.semantic_batch_size,
    )
