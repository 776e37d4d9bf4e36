"""The arguments of a call as typed values by the parameters' names.

They come from language models through many clients. Neither FastMCP nor the SDK looks at them before: an
unknown name is refused here, with the nearest known one.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from memoranda.errors import InvalidArgument
from memoranda.mcp.coercion import coerced
from memoranda.mcp.parameters import Param


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


def _refuse_unknown(name: str, params: Sequence[Param], names: Mapping[str, Param]) -> NoReturn:
    shown = name[:60]
    known = ", ".join(param.name for param in params)
    near = difflib.get_close_matches(shown.lower(), names, n=1, cutoff=0.5)
    guess = f"Did you mean {names[near[0]].name!r}? " if near else ""
    raise InvalidArgument(
        shown, f"There is no parameter {shown!r}", hint=f"{guess}Parameters: {known}."
    )
