"""What an answer says besides its result: how complete the index is, and which project it is about."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memoranda.errors import AmbiguousName, NoteNotFound
from memoranda.render.projects import project_note
from memoranda.render.state import held_note, state_data, state_note

if TYPE_CHECKING:
    from memoranda.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Standing:
    """The lines below a text answer ("" for none), and the keys of a JSON answer."""

    note: str
    data: dict[str, Any]
    is_complete: bool

    def below(self, text: str) -> str:
        """A text answer with what is to be said below it."""
        return f"{text}\n{self.note}" if self.note else text


def standing(workspace: Workspace) -> Standing:
    """How things stand at the moment of the answer."""
    state = workspace.coordinator.state
    incomplete, held = state_note(state), held_note(state, workspace.project.name)
    return Standing(
        note="\n".join(filter(None, (project_note(workspace.project), incomplete, held))),
        data={"index": state_data(state)} if incomplete or held else {},
        is_complete=not incomplete,
    )


@contextlib.contextmanager
def looking_up(workspace: Workspace) -> Iterator[None]:
    """While the index is not complete, a name that finds nothing, or too much, says so."""
    try:
        yield
    except (NoteNotFound, AmbiguousName) as error:
        if incomplete := state_note(workspace.coordinator.state):
            error.hint = f"{incomplete} Repeat the call later, or: {error.hint}"
        raise
