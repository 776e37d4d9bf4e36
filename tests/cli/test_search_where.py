"""The filters of `memoranda search`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]  # the fixtures of conftest.py


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    for name, header in {
        "one.md": "status: done\npriority: 1\ndue: 2026-01-05",
        "work/two.md": "status: open\npriority: 10\nauthor: {name: Kim}",
        "work/old/three.md": "labels: [red, blue]\ndraft: true",
    }.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"---\n{header}\n---\ncommon words\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--where", "status=DONE"], ["one.md"]),
        (["--where", "status!=done"], ["work/old/three.md", "work/two.md"]),
        (["--where", "priority>=2"], ["work/two.md"]),
        (["--where", "priority<2", "--where", "due<=2026-01-05"], ["one.md"]),
        (["--where", "labels~red"], ["work/old/three.md"]),
        (["--where", "due"], ["one.md"]),
        (["--where", "author.name=kim"], ["work/two.md"]),
        (["--where", "draft=true"], ["work/old/three.md"]),
        (["--path", "work"], ["work/old/three.md", "work/two.md"]),
        (["--path", "old/"], ["work/old/three.md"]),
        (["--path", "/old"], []),
        (["--path", "*two"], ["work/two.md"]),
    ],
)
def test_search_narrows(ready: Cli, arguments: list[str], expected: list[str]) -> None:
    for words in ([], ["common"]):
        found = ready("search", *words, *arguments, "--json").json
        assert sorted(hit["file_path"] for hit in found["results"]) == expected


def test_an_operator_of_another_language_is_wrong_usage(ready: Cli) -> None:
    outcome = ready("search", "--where", "priority<>2")
    assert outcome.code == 2
    assert "'<>' in 'priority<>2' is no operator; there are = != > >= < <= ~" in outcome.err


def test_a_condition_without_a_key_is_wrong_usage(ready: Cli) -> None:
    outcome = ready("search", "--where", "=done")
    assert outcome.code == 2
    assert "--where" in outcome.err
