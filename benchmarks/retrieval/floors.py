"""The least that must be found, and what we try for. Pure.

Source: `docs/explanation/retrieval.md`, "Floors and aims".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.retrieval.nonsense import PART
from benchmarks.retrieval.scores import ALL, ANSWERED, DECLINED, Row
from benchmarks.retrieval.tasks import Series


@dataclass(frozen=True, slots=True)
class Floor:
    """The least value of one figure. `aim`: what we try for, None where it is the floor."""

    series: Series
    measure: str
    least: float
    aim: float | None = None
    part: str = ALL


@dataclass(frozen=True, slots=True)
class Verdict:
    """A measured figure beside its floor."""

    floor: Floor
    value: float

    @property
    def is_under(self) -> bool:
        """Whether the run fails."""
        return self.value < self.floor.least

    @property
    def word(self) -> str:
        """`UNDER`, `floor` or, where an aim is reached, `aim`."""
        if self.is_under:
            return "UNDER"
        return "floor" if self.floor.aim and self.value < self.floor.aim else "aim"


_TURNS = Series("LoCoMo", "turns", "own")
_SESSIONS = Series("LoCoMo", "sessions", "pooled")
_SECTIONS = Series("Docs QA", "sections", "all pages")
_PAGES = Series("Docs QA", "pages", "all pages")
_MANY = Series("Multilingual", "notes", "all notes")
_SET = Series("Multilingual, language set", "notes", "all notes")

FLOORS = (
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


def verdicts(rows: Sequence[Row], floors: Sequence[Floor] = FLOORS) -> Iterator[Verdict]:
    """A verdict for each floor whose series was measured.

    Raises:
        LookupError: the series was measured, but not the part or the figure; no floor may go unseen.
    """
    measured = {row.series for row in rows}
    values = {
        (row.series, row.part, name): value for row in rows for name, value in row.figures.items()
    }
    for floor in floors:
        if floor.series in measured:
            key = (floor.series, floor.part, floor.measure)
            if key not in values:
                raise LookupError(f"nothing was measured for {floor}")
            yield Verdict(floor, values[key])
