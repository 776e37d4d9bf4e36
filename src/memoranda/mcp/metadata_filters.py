"""Conditions on frontmatter as a caller writes them: `{"status": "done", "priority": {"$gte": 2}}`.

A value means that the key has it, a list any of its values, null that the key is missing, an object of
operators all of them. As everywhere in arguments, JSON in a text is read where only a list or an object
makes sense.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import chain
from typing import Any

from memoranda.errors import InvalidArgument
from memoranda.model.search import MetadataCondition, MetadataOperator

_PARAMETER = "metadata_filters"
_MAX_VALUES = 100
_TRUE = ("True", "yes", "on")
_FALSE = ("False", "no", "off")
"""What the index holds of YAML's `true`, and the words that YAML of old took for it."""
_JOINTS = frozenset({"$and", "$or", "$nor", "$not"})
_ORDERING = frozenset(
    {MetadataOperator.GT, MetadataOperator.GTE, MetadataOperator.LT, MetadataOperator.LTE}
)


def metadata_conditions(values: Mapping[str, Any]) -> tuple[MetadataCondition, ...]:
    """The conditions, all of which must hold.

    Raises:
        InvalidArgument: an operator that there is not, or a value that it cannot take.
    """
    return tuple(found for key, value in values.items() for found in _of_key(key, value))


def _of_key(key: str, value: Any) -> Iterator[MetadataCondition]:
    if key in _JOINTS or key in set(MetadataOperator):
        raise _refusal(
            f"{key!r} stands where a key of the frontmatter belongs",
            'Write {"status": {"$ne": "done"}}; all conditions must hold.',
        )
    value = _parsed(value)
    if not isinstance(value, dict):
        yield from _condition(key, MetadataOperator.EQ, value)
        return
    if not value:
        raise _refusal(f"{key!r} has no condition", f"Operators: {', '.join(MetadataOperator)}.")
    for name, wanted in value.items():
        yield from _condition(key, _operator(key, name), _parsed(wanted))


def _operator(key: str, name: str) -> MetadataOperator:
    known = [each.value for each in MetadataOperator]
    wanted = name.strip().lower()
    if wanted in known:
        return MetadataOperator(wanted)
    near = difflib.get_close_matches(f"${wanted.lstrip('$')}", known, n=1, cutoff=0.5)
    guess = f"Did you mean {near[0]!r}? " if near else ""
    raise _refusal(
        f"{name[:60]!r} (of {key[:60]!r}) is not an operator",
        f"{guess}Operators: {', '.join(known)}. A key inside a map is 'author.name'.",
    )


def _condition(key: str, operator: MetadataOperator, wanted: Any) -> Iterator[MetadataCondition]:
    is_equality = operator in (MetadataOperator.EQ, MetadataOperator.NE)
    if operator is MetadataOperator.EXISTS:
        yield _exists(key, is_there=_is_true(key, wanted))
    elif wanted is None and is_equality:
        yield _exists(key, is_there=operator is MetadataOperator.NE)
    elif operator in (MetadataOperator.EQ, MetadataOperator.IN):
        values = tuple(chain.from_iterable(_spelled(key, wanted)))
        operator = MetadataOperator.EQ if len(values) == 1 else MetadataOperator.IN
        yield MetadataCondition(key, operator, values)
    elif operator in _ORDERING and isinstance(wanted, list):
        raise _refusal(f"{operator.value!r} (of {key[:60]!r}) takes one value, not a list")
    else:
        for spellings in _spelled(key, wanted):
            for value in spellings if is_equality else spellings[:1]:
                yield MetadataCondition(key, operator, (value,))


def _exists(key: str, *, is_there: bool) -> MetadataCondition:
    return MetadataCondition(key, MetadataOperator.EXISTS, ("true" if is_there else "false",))


def _is_true(key: str, wanted: Any) -> bool:
    word = str(wanted).strip().lower()
    if word in {"true", "yes", "1"}:
        return True
    if word in {"false", "no", "0"}:
        return False
    raise _refusal(f"'$exists' (of {key[:60]!r}) is true or false")


def _spelled(key: str, wanted: Any) -> list[tuple[str, ...]]:
    """One value or several as the index may hold them (spec 3.2): numbers as written, truth as a word."""
    values = wanted if isinstance(wanted, list) else [wanted]
    if not values:
        raise _refusal(
            f"{key[:60]!r} has an empty list of values", "Leave the key out, or give a value."
        )
    if len(values) > _MAX_VALUES:
        raise _refusal(f"{key[:60]!r} has more than {_MAX_VALUES} values")
    return [_spellings(key, value) for value in values]


def _spellings(key: str, value: Any) -> tuple[str, ...]:
    match value:
        case str():
            return (value,)
        case bool():
            return _TRUE if value else _FALSE
        case int():
            return (str(value),)
        case float():
            return (f"{Decimal(repr(value)):f}",)
        case _:
            raise _refusal(
                f"A value of {key[:60]!r} is not a text, a number, true or false",
                "null alone means that the key is missing; a key inside a map is 'author.name'.",
            )


def _parsed(value: Any) -> Any:
    """JSON in a text, if that is a list or an object of operators; every other text is a value."""
    if not isinstance(value, str) or not value.lstrip().startswith(("[", "{")):
        return value
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return value
    is_condition = isinstance(parsed, dict) and all(name.startswith("$") for name in parsed)
    is_values = isinstance(parsed, list) and not any(isinstance(one, list | dict) for one in parsed)
    return parsed if (is_condition and parsed) or (is_values and parsed) else value


def _refusal(message: str, hint: str = "") -> InvalidArgument:
    return InvalidArgument(_PARAMETER, message, hint=hint)
