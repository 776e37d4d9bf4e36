"""Rows of the table: what a series of questions scored, part by part. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.retrieval.legs import WORDS
from benchmarks.retrieval.measures import MEASURES
from benchmarks.retrieval.product import Answer
from benchmarks.retrieval.tasks import Series

ALL = "all"
ANSWERED = "answered"
"""The share of answerable questions with hits of which it was not said that nothing is relevant."""

DECLINED = "declined"
"""The share of off-topic questions without hits, or of which that was said."""


@dataclass(frozen=True, slots=True)
class Row:
    """The means of one part of a series.

    Attributes:
        part: "all" is every question that has an answer.
        leg: the name of the way in which they were asked.
        figures: name of the measure -> mean, 0..1.
        cpu_p50_ms, cpu_p95_ms: processor time of a query.
    """

    series: Series
    part: str
    questions: int
    figures: Mapping[str, float]
    cpu_p50_ms: float
    cpu_p95_ms: float
    leg: str = WORDS.name


def rows(series: Series, answers: Sequence[Answer], leg: str = WORDS.name) -> Iterator[Row]:
    """The row of each part in the order of the questions, then that of all that have an answer.

    A part whose questions have no answer has a row of its own and does not count in that of all.
    """
    parts = dict[str, list[Answer]]()
    for one in answers:
        if one.question.part:
            parts.setdefault(one.question.part, []).append(one)
    for part, some in parts.items():
        yield _row(series, part, some, leg)
    yield _row(series, ALL, [one for one in answers if one.question.gold], leg)


def _row(series: Series, part: str, answers: Sequence[Answer], leg: str) -> Row:
    answerable = [one for one in answers if one.question.gold]
    if answerable and len(answerable) != len(answers):
        raise ValueError(f"{series}, {part}: questions with and without an answer")
    cpu = sorted(one.cpu_ms for one in answers)
    return Row(
        series,
        part,
        len(answers),
        _figures(answerable) if answerable else {DECLINED: _declined(answers)},
        statistics.median(cpu),
        cpu[int(len(cpu) * 0.95)],
        leg,
    )


def _figures(answers: Sequence[Answer]) -> dict[str, float]:
    figures = {
        name: statistics.fmean(measure(one.ranked, one.question.gold) for one in answers)
        for name, measure in MEASURES.items()
    }
    return {**figures, ANSWERED: 1 - _declined(answers)}


def _declined(answers: Sequence[Answer]) -> float:
    return statistics.fmean(one.is_declined for one in answers)
