"""When a progress bar is drawn."""

from __future__ import annotations

import io
import sys

import pytest

from memoranda.cli.progress import progress_bar
from memoranda.model.sync import Progress


class Terminal(io.StringIO):
    """Takes what is drawn."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("total", "is_drawn"), [(0, False), (7, True)])
def test_a_bar_is_drawn_once_there_is_something_to_do(
    total: int, *, is_drawn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar("Indexing") as show:
        assert show is not None
        show(Progress(0, total))
    assert ("Indexing" in terminal.getvalue()) is is_drawn
    assert bool(terminal.getvalue()) is is_drawn, "not even the cursor is hidden"
    assert "/?" not in terminal.getvalue()


def test_without_a_terminal_there_is_no_bar() -> None:
    with progress_bar("Indexing") as show:
        assert show is None
