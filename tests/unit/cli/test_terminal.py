from __future__ import annotations

from io import StringIO

import pytest
from rich.cells import cell_len
from rich.console import Console

from memoranda.cli.terminal import print_marked
from memoranda.render.search import MARKS

ON, OFF = MARKS
LONG = "word " * 40


def printed(text: str, width: int = 40, *, is_dumb: bool = False) -> str:
    file = StringIO()
    console = Console(
        file=file,
        width=width,
        force_terminal=True,
        color_system=None if is_dumb else "standard",
        legacy_windows=False,
    )
    print_marked(console, text)
    return file.getvalue()


def test_what_is_marked_is_bold() -> None:
    assert printed(f"1. a {ON}heap{OFF} of") == "1. a \x1b[1mheap\x1b[0m of\n"


def test_a_terminal_without_bold_gets_plain_letters() -> None:
    assert printed(f"1. a {ON}heap{OFF} of", is_dumb=True) == "1. a heap of\n"


def test_a_long_line_goes_on_indented() -> None:
    lines = printed(f"1. {LONG}\n   L3: {LONG}").splitlines()
    assert all(len(line) <= 40 for line in lines)
    assert lines[1].startswith("   word")
    second = next(at for at, line in enumerate(lines) if line.startswith("   L3"))
    assert all(line.startswith("      word") for line in lines[second + 1 :])
    assert " ".join(" ".join(lines).split()) == f"1. {LONG}L3: {LONG}".strip()


def test_wide_characters_take_two_columns() -> None:
    lines = printed("   L1: " + "个人知识管理" * 20).splitlines()
    assert len(lines) > 1
    assert all(cell_len(line) <= 40 for line in lines)
    assert "".join(line.strip() for line in lines) == "L1:" + "个人知识管理" * 20


def test_a_match_at_the_fold_is_bold_on_both_lines() -> None:
    text = printed(f"{ON}{LONG}{OFF}").replace("\x1b[1m", "<").replace("\x1b[0m", ">")
    assert all(line.strip().startswith("<") for line in text.splitlines())
    assert all(line.endswith(">") for line in text.splitlines())


@pytest.mark.parametrize("text", ["[bold]x[/bold]", ":smile:", "https://x.org 'a' 12", "a\\[b"])
def test_text_of_a_note_is_no_markup(text: str) -> None:
    assert printed(text) == f"{text}\n"


def test_control_characters_of_a_note_do_not_steer_the_terminal() -> None:
    assert printed("a\x1b[31mb\x07") == "a\ufffd[31mb\ufffd\n"


def test_a_very_narrow_terminal_still_shows_all() -> None:
    assert "".join(printed(LONG, width=2).split()) == "".join(LONG.split())
