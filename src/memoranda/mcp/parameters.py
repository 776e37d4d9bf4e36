"""Parameters of tools as values: one declaration gives the JSON schema and the parser.

Arguments come from language models through many clients, so the parser forgives the form (a list
as JSON in a string, "false" for false, 2.0 for 2) and never the meaning: an unknown name, a value
of another kind or out of range is an error that names the parameter. Text is never reinterpreted.
Neither FastMCP nor the SDK sees the arguments before this module does.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NoReturn

from memoranda.errors import InvalidArgument

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}(?:\.0{1,18})?")
_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNTYPED = re.compile("[\x00\ud800-\udfff]")


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
        spared: if `required`, the schema asks for it, but a call without it is let through as None.
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
    spared: bool = False
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


def parse(params: Sequence[Param], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Typed values by the parameters' names, defaults filled in; null counts as not given.

    So does an empty text where the parameter is optional: models send it for "none".

    Raises:
        InvalidArgument: an unknown name, one parameter given twice (by two names), a required one
            missing, or a value that cannot be read as its kind.
    """
    names = {name: param for param in params for name in (param.name, *param.aliases)}
    # A name that is a parameter of its own is never another's alias.
    names |= {param.name: param for param in params}
    given: dict[str, tuple[str, Any]] = {}
    for name, value in arguments.items():
        param = names.get(name)
        if param is None:
            _refuse_unknown(name, params, names)
        if value is None or (value == "" and not param.required):
            continue
        if param.name in given:
            raise InvalidArgument(
                param.name,
                f"{given[param.name][0]} and {name} are two names of one parameter",
                hint=f"Give {param.name} only.",
            )
        given[param.name] = (name, value)
    result: dict[str, Any] = {}
    for param in params:
        if param.name in given:
            result[param.name] = _value(param, given[param.name][1])
        elif param.required and not param.spared:
            raise InvalidArgument(
                param.name,
                f"{param.name} is missing",
                hint=f"Give {param.name}: {param.description or param.kind}",
            )
        else:
            result[param.name] = param.default
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


def _refuse_unknown(name: str, params: Sequence[Param], names: Mapping[str, Param]) -> NoReturn:
    shown = name[:60]
    known = ", ".join(param.name for param in params)
    near = difflib.get_close_matches(shown.lower(), names, n=1, cutoff=0.5)
    guess = f"Did you mean {names[near[0]].name!r}? " if near else ""
    raise InvalidArgument(
        shown, f"There is no parameter {shown!r}", hint=f"{guess}Parameters: {known}."
    )


def _value(param: Param, value: Any) -> Any:
    match param.kind:
        case Kind.TEXT:
            text = _text(param, value)
            return _choice(param, text) if param.choices else text
        case Kind.INTEGER:
            return int(_bounded(param, _integer(param, value)))
        case Kind.NUMBER:
            return float(_bounded(param, _number(param, value)))
        case Kind.BOOLEAN:
            return _boolean(param, value)
        case Kind.TEXTS:
            return _texts(param, value)
        case Kind.MAPPING:
            return _mapping(param, value)


def _wrong(param: Param, value: Any) -> InvalidArgument:
    shown = repr(value) if isinstance(value, str | int | float | bool) else type(value).__name__
    return InvalidArgument(
        param.name,
        f"{param.name} must be {param.kind}, not {shown[:80]}",
        hint=f"One of: {', '.join(param.choices)}." if param.choices else "",
    )


def _text(param: Param, value: Any) -> str:
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    if not isinstance(value, str):
        raise _wrong(param, value)
    return _UNTYPED.sub(" ", value) if param.is_query else _clean(param, value)


def _clean(param: Param, text: str) -> str:
    if "\0" in text:
        raise InvalidArgument(param.name, f"{param.name} holds a NUL character")
    if not text.isascii() and _SURROGATE.search(text):
        raise InvalidArgument(
            param.name,
            f"{param.name} holds half of a surrogate pair, which is no character",
            hint="Send the text as UTF-8.",
        )
    return text


def _choice(param: Param, text: str) -> str:
    wanted = text.strip().casefold()
    for choice in param.choices:
        if choice.casefold() == wanted:
            return choice
    raise InvalidArgument(
        param.name,
        f"{param.name} cannot be {text[:80]!r}",
        hint=f"One of: {', '.join(param.choices)}.",
    )


def _integer(param: Param, value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and _INTEGER.fullmatch(text := value.strip()):
        return int(text.partition(".")[0])
    raise _wrong(param, value)


def _number(param: Param, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise _wrong(param, value)
    try:
        number = float(value)
    except (ValueError, OverflowError):
        raise _wrong(param, value) from None
    if not math.isfinite(number):
        raise _wrong(param, value)
    return number


def _bounded(param: Param, number: float) -> float:
    if param.minimum is not None and number < param.minimum:
        raise InvalidArgument(param.name, f"{param.name} must be at least {param.minimum}")
    if param.maximum is not None and number > param.maximum:
        raise InvalidArgument(param.name, f"{param.name} must be at most {param.maximum}")
    return number


def _boolean(param: Param, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) and value in (0, 1):
        return bool(value)
    if isinstance(value, str):
        word = value.strip().lower()
        if word in _TRUE:
            return True
        if word in _FALSE:
            return False
    raise _wrong(param, value)


def _texts(param: Param, value: Any) -> tuple[str, ...]:
    """A list, a JSON list in a string or a comma string; elements are split at commas too."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = _json(param, value)
    elements = value if isinstance(value, list | tuple) else [value]
    parts = (part.strip() for element in elements for part in _text(param, element).split(","))
    texts = dict.fromkeys(part for part in parts if part)
    return tuple(_choice(param, text) for text in texts) if param.choices else tuple(texts)


def _mapping(param: Param, value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        value = _json(param, value) if value.strip() else {}
    if not isinstance(value, dict):
        raise _wrong(param, value)
    todo: list[Any] = [value]
    while todo:
        match todo.pop():
            case str() as text:
                _clean(param, text)
            case dict() as inner:
                todo += [*inner, *inner.values()]
            case list() as inner:
                todo += inner
            case float() as number if not math.isfinite(number):
                raise InvalidArgument(param.name, f"{param.name} holds a number JSON cannot hold")
            case _:
                pass
    return value


def _json(param: Param, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = error.args[0] if isinstance(error, json.JSONDecodeError) else "nested too deep"
        raise InvalidArgument(
            param.name,
            f"{param.name} is not valid JSON: {reason}",
            hint=f"Give {param.kind}, not a string.",
        ) from error
