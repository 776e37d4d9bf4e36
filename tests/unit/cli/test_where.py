"""`memoranda search --where`."""

from __future__ import annotations

import pytest
import typer

from memoranda.cli.where import parse_where
from memoranda.model.search import MetadataCondition, MetadataOperator


@pytest.mark.parametrize(
    ("text", "key", "operator", "value"),
    [
        ("due", "due", MetadataOperator.EXISTS, "true"),
        (" due ", "due", MetadataOperator.EXISTS, "true"),
        ("status=done", "status", MetadataOperator.EQ, "done"),
        ("status == in work ", "status", MetadataOperator.EQ, "in work"),
        ("status!=done", "status", MetadataOperator.NE, "done"),
        ("priority>=2", "priority", MetadataOperator.GTE, "2"),
        ("priority > -2", "priority", MetadataOperator.GT, "-2"),
        ("due<=2026-01-05", "due", MetadataOperator.LTE, "2026-01-05"),
        ("due<2026", "due", MetadataOperator.LT, "2026"),
        ("title~a=b", "title", MetadataOperator.CONTAINS, "a=b"),
        ("source=https://x.org/?a=1&b>2", "source", MetadataOperator.EQ, "https://x.org/?a=1&b>2"),
        ("author.first name=Kim", "author.first name", MetadataOperator.EQ, "Kim"),
        ("source= <https://x.org>", "source", MetadataOperator.EQ, "<https://x.org>"),
        ("empty=", "empty", MetadataOperator.EQ, ""),
        ("lines=a\nb", "lines", MetadataOperator.EQ, "a\nb"),
    ],
)
def test_a_condition_is_read(text: str, key: str, operator: MetadataOperator, value: str) -> None:
    assert parse_where(text) == MetadataCondition(key, operator, (value,))


@pytest.mark.parametrize("text", ["priority<>2", "a=>2", "a=<2", "a===2", "a!==b", "a~=b"])
def test_an_operator_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="is no operator"):
        parse_where(text)


@pytest.mark.parametrize("text", ["", " ", "=done", ">2", "!done", "a!b"])
def test_a_condition_without_a_key_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="KEY=VALUE"):
        parse_where(text)
