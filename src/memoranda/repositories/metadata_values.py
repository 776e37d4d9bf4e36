"""Conditions on values of frontmatter as plain functions: what `metadata_filters` says in SQL for SQLite. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import ge, gt, le, lt
from typing import Any, Final, assert_never

from memoranda.model.search import MetadataCondition, MetadataOperator
from memoranda.repositories.filter_values import (
    folded_value,
    moment,
    moments,
    number,
    value_of,
)
from memoranda.repositories.sql_values import bindable

_COMPARE: Final[Mapping[MetadataOperator, Callable[[Any, Any], bool]]] = {
    MetadataOperator.GT: gt,
    MetadataOperator.GTE: ge,
    MetadataOperator.LT: lt,
    MetadataOperator.LTE: le,
}

OfText = Callable[[str], bool]
OfNote = Callable[[Mapping[str, Any]], bool]
"""Of the metadata of a note."""


def fulfils(condition: MetadataCondition) -> OfNote:
    """Whether a note fulfils the condition (`model.search.MetadataCondition`)."""
    key = bindable(condition.key)
    values = tuple(map(bindable, condition.values))
    match condition.operator:
        case MetadataOperator.EXISTS:
            wanted = values == ("true",)
            return lambda metadata: (value_of(metadata, key) is not None) is wanted
        case MetadataOperator.EQ | MetadataOperator.IN:
            return _any(key, _equals(values))
        case MetadataOperator.NE:
            equal = _any(key, _equals(values))
            return lambda metadata: not equal(metadata)
        case MetadataOperator.CONTAINS:
            part = folded_value(values[0])
            return _any(key, _equals(values), of_text=lambda text: part in folded_value(text))
        case (
            MetadataOperator.GT
            | MetadataOperator.GTE
            | MetadataOperator.LT
            | MetadataOperator.LTE as operator
        ):
            return _any(key, _in_order(operator, values[0]))
        case _ as never:
            assert_never(never)


def _any(key: str, of_element: OfText, of_text: OfText | None = None) -> OfNote:
    """Whether the value, or an element of it when it is a list, passes a test."""

    def passes(metadata: Mapping[str, Any]) -> bool:
        value = value_of(metadata, key)
        if value is None:
            return False
        if isinstance(value, str):
            return (of_text or of_element)(value)
        return any(map(of_element, value))

    return passes


def _equals(values: Sequence[str]) -> OfText:
    """Equal to one of the values: as texts, as numbers or as moments."""
    texts = frozenset(map(folded_value, values))
    numbers = frozenset(found for value in values if (found := number(value)) is not None)
    spans = tuple(span for value in values if (span := moments(value)) is not None)

    def test(text: str) -> bool:
        if folded_value(text) in texts or (numbers and number(text) in numbers):
            return True
        at = moment(text) if spans else None
        return at is not None and any(first <= at <= last for first, last in spans)

    return test


def _in_order(operator: MetadataOperator, wanted: str) -> OfText:
    """Before or after the wanted value: by value when both look like numbers or dates, else as texts."""
    compare = _COMPARE[operator]
    is_from_start = operator in (MetadataOperator.GTE, MetadataOperator.LT)
    as_text, as_number, span = folded_value(wanted), number(wanted), moments(wanted)

    def test(text: str) -> bool:
        if as_number is not None and (found := number(text)) is not None:
            return compare(found, as_number)
        if as_number is None and span is not None and (at := moment(text)) is not None:
            return compare(at, span[0] if is_from_start else span[1])
        return compare(folded_value(text), as_text)

    return test
