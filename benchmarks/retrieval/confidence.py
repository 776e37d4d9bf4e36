"""Which confidence an answer has: 100 queries for what is there, and 100 that fit nothing.

The label of an answer is that of its best hit; none is as good as none. Of the queries for what is there
forty are written by hand and sixty made of the pages: of their titles with a heading, and of words of a
text. Of those that fit nothing seventy are written by hand (questions about other matters, words that do not belong
together, other languages) and thirty are letters that are no words.
"""

from __future__ import annotations

import asyncio
import random
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.retrieval import docs_qa
from benchmarks.retrieval.legs import LEGS, Leg
from benchmarks.retrieval.product import indexed, models
from memoranda.model.search import Confidence, SearchQuery, SearchType
from memoranda.services.search import SearchService

MOST_NONSENSE = 0.10
LEAST_KNOWN = 0.90
"""The targets: shares of answers with more than low confidence."""

_EACH = 30
_ROW = 7
_SEED = 7
_FILE = Path(__file__).with_name("data") / "confidence.toml"
_ABOVE_LOW = (Confidence.HIGH, Confidence.MEDIUM)


@dataclass(frozen=True, slots=True)
class Shares:
    """The parts of the queries, 0..1, whose answers have more than low confidence.

    Attributes:
        misjudged: the queries whose answers have the wrong one.
    """

    nonsense: float
    known: float
    misjudged: tuple[str, ...] = ()

    @property
    def is_outside(self) -> bool:
        """Whether a target is missed."""
        return self.nonsense > MOST_NONSENSE or self.known < LEAST_KNOWN


def main() -> int:
    """Ask in each way that can be asked here and print its two figures.

    Returns how many of those that know meaning miss a target; what words alone reach is shown beside them.
    """
    print("\nconfidence: answers with more than low, best hit of 100 queries each (Docs QA)")
    outside = 0
    for model in models():
        for leg, measured in asyncio.run(_measured(model)):
            print(*lines(leg.name, measured), sep="\n", flush=True)
            outside += bool(leg.model) and measured.is_outside
    return outside


async def _measured(model: str) -> list[tuple[Leg, Shares]]:
    vault = docs_qa.tasks()[0].vault
    async with indexed([vault], model=model) as services:
        search = services[vault.name]
        return [(leg, await shares(search, leg.search_type)) for leg in LEGS if leg.model == model]


def nonsense() -> list[str]:
    """100 queries that the pages of `docs_qa` say nothing about."""
    written = _written("fluent", "loose_words", "other_languages")
    draw = random.Random(_SEED)
    return [*written, *(_letters(draw) for _ in range(_EACH))]


def known_items() -> list[str]:
    """100 queries for something in those pages."""
    draw = random.Random(_SEED)
    sections = [one for one in docs_qa.rows("sections") if len(_words(one["text"])) > 4 * _ROW]
    chosen = draw.sample(sections, 2 * _EACH)
    titled = [f"{_title(one['id'])} {one['heading']}" for one in chosen[:_EACH]]
    return [*_written("known"), *titled, *(_row(one["text"], draw) for one in chosen[_EACH:])]


async def shares(search: SearchService, search_type: SearchType = SearchType.HYBRID) -> Shares:
    """Ask all of them in an index of the pages of `docs_qa`."""
    nothing, known = nonsense(), known_items()
    wrong = [text for text in nothing if await _is_above_low(search, text, search_type)]
    missed = [text for text in known if not await _is_above_low(search, text, search_type)]
    return Shares(
        len(wrong) / len(nothing), (len(known) - len(missed)) / len(known), (*wrong, *missed)
    )


def lines(name: str, measured: Shares) -> Iterator[str]:
    """The two figures of one way to ask, to print."""
    yield (
        f"  {name:<24}{measured.nonsense:>8.0%} of nonsense above low (at most {MOST_NONSENSE:.0%})"
        f"{measured.known:>8.0%} of known items (at least {LEAST_KNOWN:.0%})"
    )


async def _is_above_low(search: SearchService, text: str, search_type: SearchType) -> bool:
    results = await search.search(SearchQuery(text, search_type=search_type, limit=3))
    return any(hit.confidence in _ABOVE_LOW for hit in results.hits[:1])


def _written(*names: str) -> list[str]:
    lists = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return [text for name in names for text in lists[name]]


def _title(section: str) -> str:
    return section.partition("#")[0].rstrip("/").rpartition("/")[2].replace("-", " ")


def _row(text: str, draw: random.Random) -> str:
    words = _words(text)
    start = draw.randrange(len(words) - _ROW)
    return " ".join(words[start : start + _ROW])


def _words(text: str) -> Sequence[str]:
    """The words of a text that nothing is written beside."""
    return [word for word in text.split() if word.isalpha()]


def _letters(draw: random.Random) -> str:
    return " ".join(
        "".join(draw.choices("aeioubcdfghklmnprstvwxyz", k=draw.randint(4, 10)))
        for _ in range(draw.randint(1, 4))
    )
