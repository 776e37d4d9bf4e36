"""`memoranda read --section`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Cli = Callable[..., Any]  # the fixtures of conftest.py


def test_read_prints_one_section(ready: Cli, notes: Path) -> None:
    (notes / "guide.md").write_text("# Install\n\n## Linux\n\napt\n\n## Mac\n\nbrew\n")
    assert ready("read", "guide", "--section", "Install > Linux").out.rstrip() == "## Linux\n\napt"
    assert ready("read", "guide", "--section", "mac").out.rstrip() == "## Mac\n\nbrew"


def test_a_section_that_is_not_there_is_refused_with_the_outline(ready: Cli, notes: Path) -> None:
    (notes / "guide.md").write_text("# Install\n")
    outcome = ready("read", "guide", "--section", "Use")
    assert (outcome.code, outcome.out) == (1, "")
    assert "no section 'Use'" in outcome.err
    assert "Install" in outcome.err
