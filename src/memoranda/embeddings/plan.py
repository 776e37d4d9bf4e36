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


@dataclass(frozen=True, slots=True)
class UnusedSettings:
    """Settings that were given and say nothing to the provider that is used.

    Attributes:
        names: of them.
        providers: to which of the providers they say something.
    """

    names: tuple[str, ...]
    providers: tuple[str, ...]

    @property
    def text(self) -> str:
        """That they are not used, as a part of a sentence."""
        are, they = ("is", "it counts") if len(self.names) == 1 else ("are", "they count")
        of = "provider" if len(self.providers) == 1 else "providers"
        return (
            f"{' and '.join(self.names)} {are} set and not used: {they} for the {of} "
            f"{' and '.join(self.providers)}"
        )

    @property
    def way_on(self) -> str:
        """What to do, as a sentence."""
        providers = " or ".join(f'"{one}"' for one in self.providers)
        return (
            f"Set semantic_embedding_provider to {providers}, or remove {' and '.join(self.names)}."
        )


def unused_settings(plan: EmbeddingPlan, provider: str) -> UnusedSettings | None:
    """What was given and is not used by the provider that was detected; None: all is, or one was named."""
    if plan.provider or not plan.is_on:
        return None
    names = []
    if plan.model and provider == "static":
        names.append("semantic_embedding_model")
    if plan.base_url and provider != "openai":
        names.append("semantic_base_url")
    if not names:
        return None
    return UnusedSettings(tuple(names), ("openai",) if plan.base_url else ("fastembed", "openai"))


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
