"""Parameters of tools as values: one declaration gives the JSON schema and, in `arguments`, the parser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

TEXT_CHARS = 50_000_000
"""Of what a note holds, which has no other bound."""


class Kind(StrEnum):
    """What a parameter holds; the parser's result in brackets."""

    TEXT = "text"  # str
    INTEGER = "an integer"  # int
    NUMBER = "a number"  # float
    BOOLEAN = "true or false"  # bool
    TEXTS = "a list of texts"  # tuple[str, ...]
    MAPPING = "an object"  # dict[str, Any]


_SCHEMAS: Mapping[Kind, Mapping[str, Any]] = {
    Kind.TEXT: {"type": "string"},
    Kind.INTEGER: {"type": "integer"},
    Kind.NUMBER: {"type": "number"},
    Kind.BOOLEAN: {"type": "boolean"},
    Kind.TEXTS: {"type": "array"},
    Kind.MAPPING: {"type": "object"},
}


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter.

    Attributes:
        description: for the model, as short as it can be; may be "" when the name says it all.
        default: what the tool gets when it is not given; shown in the schema unless None or empty.
        aliases: other names that are accepted but not advertised.
        choices: for TEXT and the elements of TEXTS; compared case-blind.
        minimum, maximum: for INTEGER and NUMBER, inclusive.
        most_chars: of a TEXT and of each element of TEXTS.
        spared: if `required`, the schema asks for it, but a call without it is let through as None.
        keeps_empty: an empty text is given to the tool, and not taken for none.
        is_never_guessed: no unknown name is taken for a typing error of this one.
        synonyms: words for `choices`, each with the choice; accepted but not advertised.
        is_query: a NUL or half a surrogate pair, which is no character of a text, is read as a blank.
    """

    name: str
    kind: Kind = Kind.TEXT
    description: str = ""
    default: Any = None
    required: bool = False
    aliases: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    most_chars: int = 100_000
    spared: bool = False
    keeps_empty: bool = False
    is_never_guessed: bool = False
    synonyms: tuple[tuple[str, str], ...] = ()
    is_query: bool = False


def schema(params: Sequence[Param]) -> dict[str, Any]:
    """The JSON schema of an object with these parameters and no others."""
    result: dict[str, Any] = {
        "type": "object",
        "properties": {param.name: _property(param) for param in params},
        "additionalProperties": False,
    }
    if required := [param.name for param in params if param.required]:
        result["required"] = required
    return result


def _property(param: Param) -> dict[str, Any]:
    result: dict[str, Any] = dict(_SCHEMAS[param.kind])
    if param.kind is Kind.TEXTS:
        result["items"] = {"type": "string"}
    if param.choices:
        (result["items"] if param.kind is Kind.TEXTS else result)["enum"] = list(param.choices)
    if param.minimum is not None:
        result["minimum"] = param.minimum
    if param.maximum is not None:
        result["maximum"] = param.maximum
    if param.default not in (None, "", (), {}):
        result["default"] = param.default
    if param.description:
        result["description"] = param.description
    return result
