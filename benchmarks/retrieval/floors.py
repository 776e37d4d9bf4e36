"""The least that must be found, and what we try for. Pure.

Source: `docs/explanation/retrieval.md`, "Floors and aims".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.retrieval.legs import LEGS, MINILM, STATIC, WORDS
from benchmarks.retrieval.nonsense import PART
from benchmarks.retrieval.scores import ALL, ANSWERED, DECLINED, Row
from benchmarks.retrieval.tasks import Series
from memoranda.model.search import SearchType


@dataclass(frozen=True, slots=True)
class Floor:
    """The least value of one figure.

    Attributes:
        aim: what we try for, None where it is the floor.
        against: a leg whose figure is taken off, so that what is judged is the difference; "": none.
    """

    series: Series
    measure: str
    least: float
    aim: float | None = None
    part: str = ALL
    leg: str = WORDS.name
    against: str = ""

    @property
    def name(self) -> str:
        """What is judged, as the tables have it."""
        less = f" less {self.against}" if self.against else ""
        return f"{', '.join(self.series)}: {self.part}, {self.measure}, {self.leg}{less}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A measured figure beside its floor."""

    floor: Floor
    value: float

    @property
    def is_under(self) -> bool:
        """Whether the run fails."""
        return self.value < self.floor.least - _ROUNDING

    @property
    def word(self) -> str:
        """`UNDER`, `floor` or, where an aim is reached, `aim`."""
        if self.is_under:
            return "UNDER"
        aim = self.floor.aim
        return "floor" if aim is not None and self.value < aim - _ROUNDING else "aim"


_ROUNDING = 1e-9
"""A difference of two equal means is not always exactly nothing."""

_TURNS = Series("LoCoMo", "turns", "own")
_SESSIONS = Series("LoCoMo", "sessions", "pooled")
_SECTIONS = Series("Docs QA", "sections", "all pages")
_PAGES = Series("Docs QA", "pages", "all pages")
_MANY = Series("Multilingual", "notes", "all notes")
_SET = Series("Multilingual, language set", "notes", "all notes")

_WITH_STATIC, _WITH_MINILM = (
    next(one.name for one in LEGS if (one.search_type, one.model) == (SearchType.HYBRID, model))
    for model in (STATIC, MINILM)
)

_OF_WORDS = (
    Floor(_TURNS, "nDCG@10", 0.49, 0.52),
    Floor(_TURNS, "recall@10", 0.66, 0.70),
    Floor(_TURNS, ANSWERED, 0.94, 0.98),
    Floor(_SESSIONS, "recall@5", 0.85, 0.90),
    Floor(_SESSIONS, ANSWERED, 0.98),
    Floor(_SESSIONS, DECLINED, 0.85, 0.95, part=PART),
    Floor(_SECTIONS, "recall@5", 0.73, 0.80),
    Floor(_SECTIONS, ANSWERED, 0.97, 0.98),
    Floor(_PAGES, ANSWERED, 0.98),
    Floor(_PAGES, DECLINED, 0.85, 0.95, part=PART),
    Floor(_MANY, "MRR@10", 0.95, 0.98),
    Floor(_MANY, "hit@5", 0.95, 0.98),
    Floor(_MANY, "hit@1", 0.98, part="signs"),
    Floor(_SET, "MRR@10", 0.99, 1.0),
)

_OF_MEANING = (
    Floor(_TURNS, "nDCG@10", 0.51, 0.53, leg=_WITH_STATIC),
    Floor(_TURNS, "recall@10", 0.68, 0.71, leg=_WITH_STATIC),
    Floor(_TURNS, "nDCG@10", 0.53, 0.57, leg=_WITH_MINILM),
    Floor(_TURNS, "recall@10", 0.70, 0.75, leg=_WITH_MINILM),
)

_LOSS = {_WITH_STATIC: 0.005, _WITH_MINILM: 0.0}
"""How much less may be found with meaning than without it, in any set."""

COMPARED = (
    (_TURNS, "nDCG@10"),
    (_TURNS, "recall@10"),
    (_SESSIONS, "recall@5"),
    (_SECTIONS, "recall@5"),
    (_PAGES, "recall@5"),
    (_MANY, "MRR@10"),
)
"""By what the ways to ask are compared."""

_NO_LESS = tuple(
    Floor(series, measure, -loss, 0.0, leg=leg, against=WORDS.name)
    for leg, loss in _LOSS.items()
    for series, measure in COMPARED
)

FLOORS = (*_OF_WORDS, *_OF_MEANING, *_NO_LESS)


def verdicts(rows: Sequence[Row], floors: Sequence[Floor] = FLOORS) -> Iterator[Verdict]:
    """A verdict for each floor whose series was measured in the way that it is about.

    Raises:
        LookupError: it was, but not the part or the figure; no floor may go unseen.
    """
    measured = {(row.series, row.leg) for row in rows}
    values = {
        (row.series, row.leg, row.part, name): value
        for row in rows
        for name, value in row.figures.items()
    }
    for floor in floors:
        legs = [floor.leg, *filter(None, [floor.against])]
        if all((floor.series, leg) in measured for leg in legs):
            keys = [(floor.series, leg, floor.part, floor.measure) for leg in legs]
            if not values.keys() >= set(keys):
                raise LookupError(f"nothing was measured for {floor}")
            value, *less = (values[key] for key in keys)
            yield Verdict(floor, value - sum(less))
