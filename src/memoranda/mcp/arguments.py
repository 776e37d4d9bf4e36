"""The arguments of a call as typed values by the parameters' names.

They come from language models through many clients. Neither FastMCP nor the SDK looks at them before: an
unknown name is refused here, with the one that is meant or the nearest known one.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from memoranda.errors import InvalidArgument
from memoranda.mcp.coercion import coerced
from memoranda.mcp.other_names import Meanings
from memoranda.mcp.parameters import Param

_ALIKE = 0.7
"""How near a typing error is to the name: `tittle` to `title`, and not `heading` to `path`."""


def parse(
    params: Sequence[Param], arguments: Mapping[str, Any], meanings: Meanings | None = None
) -> dict[str, Any]:
    """Typed values by the parameters' names, defaults filled in; null counts as not given.

    So does an empty text where the parameter is optional: models send it for "none".

    Args:
        params: of the tool.
        arguments: as the client sent them.
        meanings: what is meant by names that are not taken, for the hint.

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
            _refuse_unknown(name, params, names, meanings or {})
        if value is None or (value == "" and not param.required and not param.keeps_empty):
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
            result[param.name] = coerced(param, given[param.name][1])
        elif param.required and not param.spared:
            raise InvalidArgument(
                param.name,
                f"{param.name} is missing",
                hint=f"Give {param.name}: {param.description or param.kind}",
            )
        else:
            result[param.name] = param.default
    return result


def _refuse_unknown(
    name: str, params: Sequence[Param], names: Mapping[str, Param], meanings: Meanings
) -> NoReturn:
    shown = name[:60]
    known = ", ".join(param.name for param in params)
    guess = _guess(shown.lower(), names, meanings)
    raise InvalidArgument(
        shown, f"There is no parameter {shown!r}", hint=f"{guess}Parameters: {known}."
    )


def _guess(word: str, names: Mapping[str, Param], meanings: Meanings) -> str:
    """What may be meant, "" or with a blank at its end."""
    if meant := meanings.get(word):
        return f"Did you mean {meant!r}? " if meant in names else f"{meant} "
    safe = [name for name, param in names.items() if not param.is_never_guessed]
    near = difflib.get_close_matches(word, safe, n=1, cutoff=_ALIKE)
    return f"Did you mean {names[near[0]].name!r}? " if near else ""
