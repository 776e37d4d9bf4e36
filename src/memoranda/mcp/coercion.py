"""One value from a client as the kind that its parameter holds.

The form is forgiven (a list as JSON in a string, "false" for false, 2.0 for 2) and never the meaning: a value
of another kind or out of range is an error that names the parameter. Text is never reinterpreted.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from memoranda.errors import InvalidArgument
from memoranda.mcp.parameters import Kind, Param

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}(?:\.0{1,18})?")
_KEY_AND_VALUE = re.compile(r"([A-Za-z_][\w-]{0,39})[ \t]*:[ \t]+([^\s{\[][^\r\n]{0,39})")
_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNTYPED = re.compile("[\x00\ud800-\udfff]")
_MOST_DIGITS = 300
_MOST_LEVELS = 50
_HINTS: Mapping[Kind, str] = {
    Kind.TEXT: "Give a text.",
    Kind.INTEGER: "Give a whole number, such as 2.",
    Kind.NUMBER: "Give a number, such as 0.5.",
    Kind.BOOLEAN: "Give true or false.",
    Kind.TEXTS: 'Give a list, such as ["a", "b"].',
    Kind.MAPPING: 'Give an object, such as {"status": "done"}.',
}


def coerced(param: Param, value: Any) -> Any:
    """The value as `Kind` says.

    Raises:
        InvalidArgument: it cannot be read as that, or is out of range.
    """
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
    match value:
        case str():
            shown = repr(value[:80])
        case int() if not _is_printable(value):
            shown = f"a number of more than {_MOST_DIGITS} digits"
        case bool() | int() | float():
            shown = repr(value)
        case dict():
            shown = "an object"
        case list():
            shown = "a list"
        case _:
            shown = type(value).__name__
    return InvalidArgument(
        param.name,
        f"{param.name} must be {param.kind}, not {shown[:80]}",
        hint=f"One of: {', '.join(param.choices)}." if param.choices else _HINTS[param.kind],
    )


def _is_printable(number: int) -> bool:
    """Whether it has so few digits that it can be written down (Python refuses thousands)."""
    return number.bit_length() < _MOST_DIGITS * math.log2(10)


def _text(param: Param, value: Any) -> str:
    if isinstance(value, bool | float) or (isinstance(value, int) and _is_printable(value)):
        return json.dumps(value)
    if not isinstance(value, str):
        raise _wrong(param, value)
    if len(value) > param.most_chars:
        raise InvalidArgument(
            param.name,
            f"{param.name} has {len(value):,} characters",
            hint=f"Give at most {param.most_chars:,}.",
        )
    return _UNTYPED.sub(" ", value) if param.is_query else _clean(param, value)


def _clean(param: Param, text: str) -> str:
    if "\0" in text:
        raise InvalidArgument(
            param.name,
            f"{param.name} holds a NUL character",
            hint="Leave it out: no text has one.",
        )
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
    for word, choice in param.synonyms:
        if word == wanted:
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
    if isinstance(value, str) and _INTEGER.fullmatch(
        text := value.strip().removeprefix("#")  # as note_history writes the number of a change
    ):
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
        raise _outside(param, f"at least {param.minimum:,}")
    if param.maximum is not None and number > param.maximum:
        raise _outside(param, f"at most {param.maximum:,}")
    return number


def _outside(param: Param, bound: str) -> InvalidArgument:
    least, most = (
        "" if limit is None else f"{limit:,}" for limit in (param.minimum, param.maximum)
    )
    span = f"from {least} to {most}" if least and most else bound
    return InvalidArgument(
        param.name, f"{param.name} must be {bound}", hint=f"Give {param.kind} {span}."
    )


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
    level: list[Any] = [value]
    for _ in range(_MOST_LEVELS):
        level = [inner for one in level for inner in _inside(param, one)]
        if not level:
            return value
    raise InvalidArgument(
        param.name,
        f"{param.name} is nested more than {_MOST_LEVELS} levels deep",
        hint="Give plain values and lists of them.",
    )


def _inside(param: Param, value: Any) -> Iterable[Any]:
    """What a value holds, after a look at it."""
    match value:
        case str():
            _clean(param, value)
        case dict():
            return [*value, *value.values()]
        case list():
            return value
        case float() if not math.isfinite(value):
            raise InvalidArgument(
                param.name,
                f"{param.name} holds a number that JSON cannot hold",
                hint="Give it as a text.",
            )
        case int() if not _is_printable(value):
            raise InvalidArgument(
                param.name,
                f"{param.name} holds a number of more than {_MOST_DIGITS} digits",
                hint="Give it as a text.",
            )
    return ()


def _json(param: Param, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = error.args[0] if isinstance(error, json.JSONDecodeError) else "nested too deep"
        raise InvalidArgument(
            param.name,
            f"{param.name} is not valid JSON: {reason}",
            hint=_as_json(text) or f"Give {param.kind}, not a string.",
        ) from error


def _as_json(text: str) -> str:
    """How to write a line of YAML."""
    if (line := _KEY_AND_VALUE.match(text.strip())) is None:
        return ""
    return f"Give an object, such as {json.dumps({line[1]: line[2].strip()}, ensure_ascii=False)}."
