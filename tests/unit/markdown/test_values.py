from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, fields, replace

import pytest

from memoranda.markdown.values import maker
from memoranda.model.note import Heading, Link, LinkForm, Observation, Passage


@pytest.mark.parametrize(
    ("cls", "values"),
    [
        (Observation, ("fact", "a", 1, 2, 3, 4)),
        (Observation, ("fact", "a", 1, 2, 3, 4, ("t",), "c", "id", {"k": "v"}, ("H",), "p", 9)),
        (Link, (LinkForm.WIKI, "A", "links_to", 1, 2, 3)),
        (Heading, (1, "H", 1, 0, 4)),
        (Passage, ("text", ("H",), 1, 2)),
    ],
)
def test_a_made_value_is_like_any_other(
    cls: type[Observation | Link | Heading | Passage], values: tuple[object, ...]
) -> None:
    made, expected = maker(cls)(*values), cls(*values)  # type: ignore[arg-type]
    assert type(made) is cls
    assert made == expected
    assert repr(made) == repr(expected)
    assert pickle.loads(pickle.dumps(made)) == expected
    assert replace(made) == expected
    with pytest.raises(FrozenInstanceError):
        setattr(made, fields(cls)[0].name, "x")


def test_a_default_that_can_change_is_not_shared() -> None:
    make = maker(Observation)
    assert make("a", "b", 1, 1, 0, 1).attributes is not make("a", "b", 1, 1, 0, 1).attributes
