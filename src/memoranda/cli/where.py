"""A condition on frontmatter as a person types it: `status=done`, `priority>=2`, `due`."""

from __future__ import annotations

import re

import typer

from memoranda.model.search import MetadataCondition, MetadataOperator

_CONDITION = re.compile(r"\s*([^\s=!<>~][^=!<>~]*?)\s*(?:(!=|>=|<=|==?|>|<|~)(.*))?", re.DOTALL)
_OPERATORS = {
    "=": MetadataOperator.EQ,
    "==": MetadataOperator.EQ,
    "!=": MetadataOperator.NE,
    ">": MetadataOperator.GT,
    ">=": MetadataOperator.GTE,
    "<": MetadataOperator.LT,
    "<=": MetadataOperator.LTE,
    "~": MetadataOperator.CONTAINS,
}


def parse_where(text: str) -> MetadataCondition:
    """Read a condition; a key alone means that it is there. The first sign of an operator ends the key.

    Raises:
        typer.BadParameter: the text has no key, or two operators in a row.
    """
    found = _CONDITION.fullmatch(text)
    if found is None:
        raise typer.BadParameter(
            f"{text!r} is not KEY, KEY=VALUE, KEY!=VALUE, KEY>=VALUE or KEY~VALUE",
            param_hint="--where",
        )
    key, sign, value = found.groups()
    if value and value[0] in "=<>~":
        raise typer.BadParameter(
            f"{sign + value[0]!r} in {text!r} is no operator; there are = != > >= < <= ~",
            param_hint="--where",
        )
    if sign is None:
        return MetadataCondition(key, MetadataOperator.EXISTS, ("true",))
    return MetadataCondition(key, _OPERATORS[sign], (value.strip(),))
