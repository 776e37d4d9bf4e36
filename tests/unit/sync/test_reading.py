from __future__ import annotations

import pytest

from memoranda.errors import (
    FileProblem,
    InvalidArgument,
    NoteNotFound,
    OutsideProject,
    RootMissing,
)
from memoranda.model.address import NotePath
from memoranda.services.reading import read_note
from memoranda.sync.reading import ReadTask, Unreadable, Vanished, read_file

TASK = ReadTask(NotePath("a.md"))


class Refusing:
    """A folder in which something happened since the scan."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def read(self, path: NotePath) -> tuple[bytes, object]:
        raise self.error


@pytest.mark.parametrize(
    "error",
    [
        NoteNotFound("a.md"),
        OutsideProject("a.md"),
        InvalidArgument("path", "a.md is left out by a rule"),
        RootMissing("/notes", "The folder is not there"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_is_no_note_of_the_project_any_more_has_vanished(error):
    assert read_file(Refusing(error), TASK, read_note) == Vanished()


def test_what_the_system_refuses_is_unreadable_and_says_why():
    refusing = Refusing(FileProblem("a.md", "a.md cannot be read: Permission denied"))
    assert read_file(refusing, TASK, read_note) == Unreadable("cannot be read: Permission denied")


def test_a_file_that_is_larger_than_the_memory_costs_only_itself():
    assert isinstance(read_file(Refusing(MemoryError()), TASK, read_note), Unreadable)
