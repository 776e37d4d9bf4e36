"""Keys of a note's header as a person types them: `status=done`, `priority=3`, `tags=[a, b]`."""

from __future__ import annotations

import re
from collections.abc import Sequence

import typer

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})", re.ASCII)
_DECIMAL = re.compile(r"-?[0-9]{1,15}\.[0-9]{1,15}", re.ASCII)


def parse_assignments(texts: Sequence[str], option: str) -> dict[str, object]:
    """Read `KEY=VALUE` texts; of one key given twice the last counts.

    A whole number, a decimal and true or false are what they look like; `[a, b]` is a list, `{a: b}` a
    map, and what stands in double quotes is text. Anything else is text as it is typed.

    Raises:
        typer.BadParameter: a text without `=`, without a key, or with brackets that hold no YAML.
    """
    found: dict[str, object] = {}
    for text in texts:
        key, sign, value = text.partition("=")
        if not (sign and key.strip()):
            raise typer.BadParameter(f"{text!r} is not KEY=VALUE", param_hint=option)
        found[key.strip()] = _value(text, value.strip(), option)
    return found


def _value(text: str, value: str, option: str) -> object:
    if value[:1] + value[-1:] in {"[]", "{}", '""'} and len(value) > 1:
        return _from_yaml(text, value, option)
    return _scalar(value)


def _from_yaml(text: str, value: str, option: str) -> object:
    from memoranda.markdown.yaml_values import YamlFault, load_entries

    try:
        (entry,) = load_entries(f"value: {value}\n")
    except (YamlFault, ValueError) as error:
        reason = error.reason if isinstance(error, YamlFault) else "it is no single value"
        raise typer.BadParameter(f"{text!r}: {reason}", param_hint=option) from error
    return entry.value if value.startswith('"') else _typed(entry.value)


def _typed(value: object) -> object:
    """The scalars of a list or a map as numbers, true and false where they look so."""
    match value:
        case list():
            return [_typed(each) for each in value]
        case dict():
            return {key: _typed(each) for key, each in value.items()}
        case str():
            return _scalar(value)
        case _:
            return value


def _scalar(text: str) -> object:
    if _INTEGER.fullmatch(text):
        return int(text)
    if _DECIMAL.fullmatch(text) and str(float(text)) == text:
        return float(text)
    return {"true": True, "false": False}.get(text.lower(), text)
