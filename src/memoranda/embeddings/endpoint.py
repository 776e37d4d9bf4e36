"""An embedding endpoint as it is configured; nothing is sent from here."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

from memoranda.embeddings.keys import KEY_HINT
from memoranda.errors import EmbeddingProblem

OPENAI_URL = "https://api.openai.com/v1"
DEFAULT_MODEL = "text-embedding-3-small"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Whom to ask.

    Attributes:
        base_url: without `/embeddings`; an `http` or `https` address.
        model: its name there.
        dimensions: asked for, and what must come back; None: what the model gives.
        batch_size: most texts in one request.
        key: sent as a bearer token; "": none is sent.
    """

    base_url: str = OPENAI_URL
    model: str = DEFAULT_MODEL
    dimensions: int | None = None
    batch_size: int = 64
    key: str = field(default="", repr=False)


def is_local(base_url: str) -> bool:
    """Whether an address is this machine's own."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def require_usable(endpoint: Endpoint) -> None:
    """Refuse what cannot work, before anything is sent. Raises EmbeddingProblem, lasting."""
    if not endpoint.model:
        raise EmbeddingProblem(
            f"No model is named for {address_of(endpoint.base_url)}",
            is_lasting=True,
            hint="Set semantic_embedding_model to a model that the endpoint serves.",
        )
    if endpoint.base_url == OPENAI_URL and not endpoint.key:
        raise EmbeddingProblem("There is no key for OpenAI", is_lasting=True, hint=KEY_HINT)
    if not (endpoint.key.isascii() and endpoint.key.isprintable() and " " not in endpoint.key):
        raise EmbeddingProblem(
            "The key has a character that no key can have", is_lasting=True, hint=KEY_HINT
        )


def address_of(base_url: str) -> str:
    """The endpoint as it is shown and as it pins the space."""
    parts = urlsplit(base_url)
    return f"{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")
