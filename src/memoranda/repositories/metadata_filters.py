"""Conditions on values of frontmatter as SQL, over the JSON in `entity.entity_metadata`.

The column holds a text or a list of texts a key, a nested map as JSON text (`markdown.frontmatter`). A
key that JSON paths can name is read by SQLite; one with a dot (it may lead into a map) or with a sign
that paths cannot quote is found by `filter_values.found`, in the rows that may have it. No key becomes
part of a statement.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from operator import ge, gt, le, lt
from typing import Any, assert_never

from sqlalchemy import ColumnElement, and_, case, exists, false, func, literal, not_, or_, select

from memoranda.db.tables import entity
from memoranda.model.search import MetadataCondition, MetadataOperator
from memoranda.repositories import filter_values, sql_values
from memoranda.repositories.sql_values import bindable, is_ascii, like, plain

_COMPARE = {
    MetadataOperator.GT: gt,
    MetadataOperator.GTE: ge,
    MetadataOperator.LT: lt,
    MetadataOperator.LTE: le,
}

_FEW = 5
_ESCAPE = r"\\"
"""How a backslash inside a text of JSON is written: what comes next in it may be a letter in disguise."""

Test = Callable[[ColumnElement[Any]], ColumnElement[bool]]
"""A condition on one text."""


def fulfils(condition: MetadataCondition) -> ColumnElement[bool]:
    """Whether a note fulfils the condition (`model.search.MetadataCondition`); never null."""
    key = bindable(condition.key)
    values = tuple(map(bindable, condition.values))
    match condition.operator:
        case MetadataOperator.EXISTS:
            is_there = _value(key, lambda document, path: _kind(document, path).is_not(None))
            return is_there if values == ("true",) else not_(is_there)
        case MetadataOperator.EQ | MetadataOperator.IN:
            return _if_said(key, values, _any(key, _equals(values)))
        case MetadataOperator.NE:
            return not_(_if_said(key, values, _any(key, _equals(values))))
        case MetadataOperator.CONTAINS:
            part = filter_values.folded_value(values[0])
            found = _any(
                key,
                _equals(values),
                of_text=lambda text: func.instr(sql_values.folded_value(text), part) > 0,
            )
            return _if_said(key, values, found)
        case (
            MetadataOperator.GT
            | MetadataOperator.GTE
            | MetadataOperator.LT
            | MetadataOperator.LTE as operator
        ):
            return _any(key, _in_order(operator, values[0]))
        case _ as never:
            assert_never(never)


def _value(
    key: str, condition: Callable[[ColumnElement[Any], str], ColumnElement[bool]]
) -> ColumnElement[bool]:
    """A condition on the JSON document and the path where the value of a key is, if it is anywhere."""
    metadata = entity.c.entity_metadata
    name = json.dumps(key, ensure_ascii=False)
    if "." not in key and name == f'"{key}"':
        return and_(metadata.is_not(None), condition(metadata, f"$.{name}"))
    beginning = json.dumps(key.partition(".")[0], ensure_ascii=False)[:-1]
    return case(
        (func.instr(metadata, beginning) > 0, condition(sql_values.found(metadata, key), "$[0]")),
        else_=false(),
    )


def _kind(document: ColumnElement[Any], path: str) -> ColumnElement[Any]:
    return func.json_type(document, path)


def _any(key: str, of_element: Test, of_text: Test | None = None) -> ColumnElement[bool]:
    """Whether the value, or an element of it when it is a list, passes a test."""

    def passes(document: ColumnElement[Any], path: str) -> ColumnElement[bool]:
        element = func.json_each(document, path).table_valued("value", name="element")
        an_element = exists(
            select(literal(1)).select_from(element).where(of_element(element.c.value))
        )
        text = func.json_extract(document, path)
        return case(
            {"text": (of_text or of_element)(text), "array": an_element},
            value=_kind(document, path),
            else_=false(),
        )

    return _value(key, passes)


def _if_said(
    key: str, values: Sequence[str], condition: ColumnElement[bool]
) -> ColumnElement[bool]:
    """The same; but a header that has the letters of no value is not taken apart for it."""
    if not 1 <= len(values) <= _FEW or not all(map(filter_values.is_said_plainly, values)):
        return condition
    metadata = entity.c.entity_metadata
    said = [like(metadata, f"%{plain(filter_values.folded_value(value))}%") for value in values]
    in_disguise = [func.instr(metadata, _ESCAPE) > 0] if "." in key else []
    return case((or_(*said, *in_disguise, not_(is_ascii(metadata))), condition), else_=false())


def _equals(values: Sequence[str]) -> Test:
    """Equal to one of the values: as texts, as numbers or as moments. Equal texts are equal anyhow."""
    texts = [filter_values.folded_value(value) for value in values]
    numbers = [found for value in values if (found := filter_values.number(value)) is not None]
    spans = [span for value in values if (span := filter_values.moments(value)) is not None]

    def test(value: ColumnElement[Any]) -> ColumnElement[bool]:
        ways: list[ColumnElement[bool]] = [sql_values.folded_value(value).in_(texts)]
        if numbers:
            ways.append(func.coalesce(sql_values.number(value).in_(numbers), false()))
        ways += [
            func.coalesce(sql_values.moment(value).between(first, last), false())
            for first, last in spans
        ]
        return or_(*ways)

    return test


def _in_order(operator: MetadataOperator, wanted: str) -> Test:
    """Before or after the wanted value: by value when both look like numbers or dates, else as texts."""
    compare = _COMPARE[operator]
    is_from_start = operator in (MetadataOperator.GTE, MetadataOperator.LT)
    text = filter_values.folded_value(wanted)
    number, span = filter_values.number(wanted), filter_values.moments(wanted)

    def test(value: ColumnElement[Any]) -> ColumnElement[bool]:
        as_text: ColumnElement[bool] = compare(sql_values.folded_value(value), text)
        if number is not None:
            return func.coalesce(compare(sql_values.number(value), number), as_text)
        if span is not None:
            bound = span[0] if is_from_start else span[1]
            return func.coalesce(compare(sql_values.moment(value), bound), as_text)
        return as_text

    return test
