"""The example notes keep the promises that they make about themselves."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

Cli = Callable[..., Any]  # the fixture of conftest.py
VAULT = Path(__file__).resolve().parents[2] / "examples" / "vault"


def test_the_notes_that_answer_the_questions_of_the_start_page_come_first(cli: Cli) -> None:
    page = (VAULT / "Start here.md").read_text("utf-8")
    questions = re.findall(r"^- \*(.+\?)\* .*?\[\[(.+?)\]\]", page, flags=re.MULTILINE)
    assert len(questions) == 5
    assert cli("up", VAULT).code == 0
    first = {
        question: cli("search", question, "--json").json["results"][0]["title"]
        for question, _ in questions
    }
    assert first == dict(questions)
