"""The ways in which the same questions are asked: by words, by words and meaning, by meaning alone. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from memoranda.model.search import SearchType

STATIC = "static"
"""The embedding model that comes with the program."""

MINILM = "MiniLM"
"""all-MiniLM-L6-v2 as int8 ONNX through fastembed; `benchmarks.models.minilm` makes it."""


@dataclass(frozen=True, slots=True)
class Leg:
    """One way to ask.

    Attributes:
        name: as the tables have it.
        model: whose vectors it needs, "" for none.
    """

    name: str
    search_type: SearchType
    model: str = ""


WORDS = Leg("words", SearchType.FTS)
LEGS = (
    WORDS,
    Leg("words + static", SearchType.HYBRID, STATIC),
    Leg("static alone", SearchType.VECTOR, STATIC),
    Leg("words + MiniLM", SearchType.HYBRID, MINILM),
    Leg("MiniLM alone", SearchType.VECTOR, MINILM),
)
