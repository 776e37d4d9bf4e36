"""Making frozen values quickly: a large note has a hundred thousand of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, field, fields, make_dataclass
from typing import Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")


def maker(cls: Callable[P, T]) -> Callable[P, T]:
    """A constructor of a frozen `slots` dataclass that takes a third of the time of its own.

    The own one sets each field with `object.__setattr__`. This one fills an object of a plain class with
    the same slots, which then becomes one of `cls`: frozen, with the same fields and defaults.
    """

    def become(made: Any) -> None:
        made.__class__ = cls

    plain = make_dataclass(
        cls.__name__,
        [(one.name, Any, _copy(one)) for one in fields(cast(Any, cls))],
        namespace={"__post_init__": become},
        eq=False,
        repr=False,
        slots=True,
    )
    return cast(Callable[P, T], plain)


def _copy(one: Field[Any]) -> Any:
    return field(default=one.default, default_factory=one.default_factory)
