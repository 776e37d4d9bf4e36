"""How likely a hit is what was asked for. Pure.

Two things speak for a hit: the part of the query's words that it has (rare words count more), and its
meaning: where its similarity lies between what queries that fit nothing reach (0) and what a text reaches
that is asked for (1). Its evidence is three fifths of the one and two fifths of the other. What similarities
mean differs from model to model and from project to project, so both ends are measured (`calibrated`), and
so is how much nearer a long query is to everything: as much is taken off. Without vectors, or in a model that
does not tell the two ends apart, the words alone are the evidence.

Shares and thresholds were chosen on LoCoMo and Docs QA with two models; `benchmarks/retrieval/confidence.py`
measures them on queries of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from memoranda.model.search import Confidence

_HIGH: Final = 0.65
_MEDIUM: Final = 0.3
_LOW: Final = 0.15
"""The least evidence of each; an answer whose hits all have less than `_MEDIUM` is weak."""
_OF_WORDS: Final = 0.6
_UNFITTING: Final = 0.8
"""Most of the queries that fit nothing are no nearer than this one of them: some do fit a project of theirs."""
_FITTING: Final = 0.7
"""Seven in ten queries made of a text come no nearer to it than this."""
_FLOOR: Final = 0.25
"""Lower still: a floor hides texts, and right ones are often no nearer than the nearest wrong one."""
_LEAST_GAP: Final = 0.05
_SHORT_WORDS: Final = 9
_LONG_WORDS: Final = 25
"""How many words the short and the long questions of a calibration have."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What similarities mean in one space and one project.

    Attributes:
        space: `EmbeddingSpace.name`.
        floor: what is less similar is not shown for its meaning alone; 0..1, at most `unfitting`.
        unfitting: similarity of the nearest text to a query that fits nothing.
        fitting: similarity of a text to a query for it.
        long_gain: how much nearer everything is to a query of 25 words than to one of 9; not negative.
        vectors: how many the project had.
        made_at: aware UTC.
    """

    space: str
    floor: float
    unfitting: float
    fitting: float
    long_gain: float
    vectors: int
    made_at: datetime

    @property
    def tells_apart(self) -> bool:
        """Whether what fits is nearer than what does not; else similarities say nothing."""
        return self.fitting - self.unfitting >= _LEAST_GAP

    def meaning(self, similarity: float, words: int) -> float:
        """Where a similarity to a query of so many words lies between `unfitting` and `fitting`, 0..1."""
        length = (words - _SHORT_WORDS) / (_LONG_WORDS - _SHORT_WORDS)
        similarity -= self.long_gain * min(1.0, max(0.0, length))
        place = (similarity - self.unfitting) / (self.fitting - self.unfitting)
        return min(1.0, max(0.0, place))


@dataclass(frozen=True, slots=True)
class Probes:
    """Similarities that were measured; each may be empty.

    Attributes:
        unfitting: of each short query that fits nothing, that of the nearest text.
        short_questions: of those, the questions.
        long_questions: the same of long questions.
        fitting: of each query for a text, that of this text.
    """

    unfitting: Sequence[float]
    short_questions: Sequence[float]
    long_questions: Sequence[float]
    fitting: Sequence[float]


def label(
    similarity: float | None, coverage: float, words: int, calibration: Calibration | None
) -> Confidence:
    """The label of a hit; it never falls when similarity or coverage rises.

    Args:
        similarity: cosine of its nearest chunk; None: it has no vector.
        coverage: the part of the query's words that its note has, 0..1.
        words: how many words the query has.
        calibration: of the space of the similarity; None: words alone count.
    """
    found = evidence(similarity, coverage, words, calibration)
    if found >= _HIGH:
        return Confidence.HIGH
    if found >= _MEDIUM:
        return Confidence.MEDIUM
    return Confidence.LOW if found >= _LOW else Confidence.NONE


def evidence(
    similarity: float | None, coverage: float, words: int, calibration: Calibration | None
) -> float:
    """What speaks for a hit, 0..1; the arguments are those of `label`."""
    if similarity is None or calibration is None or not calibration.tells_apart:
        return coverage
    meaning = calibration.meaning(similarity, words)
    return _OF_WORDS * coverage + (1 - _OF_WORDS) * meaning


def calibrated(space: str, probes: Probes, *, vectors: int, made_at: datetime) -> Calibration:
    """What the similarities of probes say."""
    gain = _quantile(probes.long_questions, 0.5) - _quantile(probes.short_questions, 0.5)
    return Calibration(
        space,
        floor=max(0.0, _quantile(probes.unfitting, _FLOOR)),
        unfitting=max(0.0, _quantile(probes.unfitting, _UNFITTING)),
        fitting=max(0.0, _quantile(probes.fitting, _FITTING)),
        long_gain=max(0.0, gain),
        vectors=vectors,
        made_at=made_at,
    )


def _quantile(values: Sequence[float], part: float) -> float:
    """The value that this part of the values is not above, between two neighbours in proportion; 0 of none."""
    if not values:
        return 0.0
    ordered = sorted(values)
    place = part * (len(ordered) - 1)
    before = int(place)
    after = min(before + 1, len(ordered) - 1)
    return ordered[before] + (place - before) * (ordered[after] - ordered[before])
