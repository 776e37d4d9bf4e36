"""Conditions on frontmatter, as models write them."""

from __future__ import annotations

from typing import Any

import pytest

from memoranda.errors import InvalidArgument
from memoranda.mcp.metadata_filters import metadata_conditions
from memoranda.model.search import MetadataCondition, MetadataOperator

Op = MetadataOperator


@pytest.mark.spec("5.5")
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("done", [(Op.EQ, "done")]),
        ("", [(Op.EQ, "")]),
        (2, [(Op.EQ, "2")]),
        (2.5, [(Op.EQ, "2.5")]),
        (1e21, [(Op.EQ, "1000000000000000000000")]),
        (True, [(Op.IN, "True", "yes", "on")]),
        (False, [(Op.IN, "False", "no", "off")]),
        (None, [(Op.EXISTS, "false")]),
        (["a", 1], [(Op.IN, "a", "1")]),
        (["a"], [(Op.EQ, "a")]),
        ('["a", "b"]', [(Op.IN, "a", "b")]),
        ("[draft]", [(Op.EQ, "[draft]")]),
        ("[]", [(Op.EQ, "[]")]),
        ('[["A", "b"]]', [(Op.EQ, '[["A", "b"]]')]),
        ('{"name": "kim"}', [(Op.EQ, '{"name": "kim"}')]),
        ('{"$gte": 2}', [(Op.GTE, "2")]),
        ({"$gte": 2, "$lt": "5"}, [(Op.GTE, "2"), (Op.LT, "5")]),
        ({"$eq": None}, [(Op.EXISTS, "false")]),
        ({"$ne": None}, [(Op.EXISTS, "true")]),
        ({"$ne": True}, [(Op.NE, "True"), (Op.NE, "yes"), (Op.NE, "on")]),
        ({"$ne": ["a", "b"]}, [(Op.NE, "a"), (Op.NE, "b")]),
        ({"$in": ["a", True]}, [(Op.IN, "a", "True", "yes", "on")]),
        ({"$in": "a"}, [(Op.EQ, "a")]),
        ({"$contains": ["a", "b"]}, [(Op.CONTAINS, "a"), (Op.CONTAINS, "b")]),
        ({"$contains": True}, [(Op.CONTAINS, "True")]),
        ({"$exists": True}, [(Op.EXISTS, "true")]),
        ({"$exists": "false"}, [(Op.EXISTS, "false")]),
        ({"$exists": 0}, [(Op.EXISTS, "false")]),
        ({" $GTE ": 2}, [(Op.GTE, "2")]),
    ],
)
def test_a_value_becomes_conditions(value: Any, expected: list[tuple[Any, ...]]) -> None:
    found = metadata_conditions({"key": value})
    assert found == tuple(
        MetadataCondition("key", operator, tuple(values)) for operator, *values in expected
    )


def test_conditions_of_all_keys_are_joined() -> None:
    found = metadata_conditions({"a": 1, "b.c": {"$exists": True}, "$": "x"})
    assert [each.key for each in found] == ["a", "b.c", "$"]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"gte": 2}, "Did you mean '$gte'?"),
        ({"$greater": 2}, "Operators: $eq, $ne"),
        ({"$contain": "x"}, "Did you mean '$contains'?"),
        ({"name": "kim"}, "A key inside a map is 'author.name'."),
        ({}, "Operators: $eq, $ne"),
        ([], "give a value"),
        ({"$in": []}, "give a value"),
        (["a", None], "null alone"),
        ([["a"]], "null alone"),
        ({"$gt": None}, "null alone"),
        ({"$eq": {"a": 1}}, "null alone"),
        ({"$gt": [1, 2]}, "takes one value"),
        ({"$exists": "maybe"}, "is true or false"),
        ({"$in": list(range(101))}, "more than 100 values"),
    ],
)
def test_what_makes_no_sense_is_refused(value: Any, told: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        metadata_conditions({"key": value})
    assert caught.value.parameter == "metadata_filters"
    assert told in f"{caught.value} {caught.value.hint}"
    assert "key" in str(caught.value)


@pytest.mark.parametrize("key", ["$and", "$or", "$not", "$eq"])
def test_an_operator_is_no_key(key: str) -> None:
    with pytest.raises(InvalidArgument, match="key of the frontmatter belongs"):
        metadata_conditions({key: [{"a": 1}]})
