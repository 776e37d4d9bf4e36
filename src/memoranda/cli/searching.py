"""How a person searches who says nothing about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memoranda.model.search import SearchType

if TYPE_CHECKING:
    from memoranda.config import Settings


def usual_mode(settings: Settings) -> SearchType:
    """Words alone where search by meaning was switched off, both otherwise."""
    from memoranda.embeddings.plan import embedding_plan

    return SearchType.HYBRID if embedding_plan(settings).is_on else SearchType.FTS
