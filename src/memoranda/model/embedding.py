"""What turns text into vectors, and how far that is, as values. Source: spec 5.3, 9.3."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class EmbeddingSpace:
    """Where vectors live. Vectors of two spaces are never compared, whatever their length.

    Attributes:
        provider: "static", "fastembed" or "openai".
        model: its name, as the provider knows it.
        revision: what tells two files or services of that name apart: a checksum, an address; may be "".
        dimensions: length of a vector, > 0.
    """

    provider: str
    model: str
    revision: str
    dimensions: int

    @property
    def name(self) -> str:
        """The space in one text, as the index stores it with every vector."""
        return f"{self.provider}:{self.model}@{self.revision}/{self.dimensions}"


class ProviderPhase(StrEnum):
    """Where the embedding provider of a process stands."""

    OFF = "off"
    """The settings say so."""
    LOADING = "loading"
    """Not known yet: it is being loaded, or its files are being downloaded."""
    ABSENT = "absent"
    """Its files are not here, and this process downloads nothing; a server or a sync does."""
    READY = "ready"
    FAILED = "failed"
    """It cannot be used; texts are searched by their words alone."""


@dataclass(frozen=True, slots=True)
class ProviderState:
    """The embedding provider at one moment, for `status`, logs and answers.

    Attributes:
        provider, model: what is used, or was asked for; "" while nothing is chosen.
        reason: why this one, or why none, as a sentence without a full stop.
        space: of a provider that is READY.
        progress: 0..1 of a download that runs, else None.
        is_passing: it has FAILED and may be well again by itself; a server tries it again and again.
    """

    phase: ProviderPhase
    provider: str = ""
    model: str = ""
    reason: str = ""
    space: EmbeddingSpace | None = None
    progress: float | None = None
    is_passing: bool = False


@dataclass(frozen=True, slots=True)
class EmbeddingProgress:
    """How far the vectors of a project are in one space.

    Attributes:
        notes: of the project; `pending` of them have no vectors of their present text yet.
        vectors: stored in the space.
        error: why embedding stands still, "" when it does not.
    """

    notes: int = 0
    pending: int = 0
    vectors: int = 0
    error: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether every note has its vectors."""
        return not self.pending


@dataclass(frozen=True, slots=True)
class Chunk:
    """A text that gets one vector: an item of a note, or a part of a long one.

    Attributes:
        item_key: `model.item_key` of the item.
        part: 0 for the first part of the item.
        text: what is embedded: title and headings, then the text; never cut by us below a provider's window.
        content_key: hash of `text` (16 bytes): the same text has the same vector in a space.
    """

    item_key: int
    part: int
    text: str
    content_key: bytes
