from __future__ import annotations

import pytest

from memoranda.cli.completing import Candidate
from memoranda.cli.shells import FILES, Shell, answer, plain_words, script


@pytest.mark.parametrize(
    ("shell", "typed", "plain"),
    [
        (Shell.BASH, ["--project", "=", "my"], ["--project=my"]),
        (Shell.BASH, ["--set", "a", "=", "b", ""], ["--set", "a=b", ""]),
        (Shell.BASH, ["--project", "="], ["--project="]),
        (Shell.BASH, ["my\\ notes", "'my n", '"my n'], ["my notes", "my n", "my n"]),
        (Shell.FISH, ["it's", "my\\ n"], ["it's", "my n"]),
        (Shell.ZSH, ["it's", "a\\b"], ["it's", "a\\b"]),
    ],
)
def test_words_are_as_the_program_would_get_them(
    shell: Shell, typed: list[str], plain: list[str]
) -> None:
    assert plain_words(shell, typed) == plain


def test_bash_gets_words_that_can_stand_in_a_line() -> None:
    found = [Candidate("it's a $note (1).md"), Candidate("--project=my notes", "/x")]
    assert answer(Shell.BASH, found, "i") == ["it\\'s\\ a\\ \\$note\\ \\(1\\).md", "my\\ notes"]
    assert answer(Shell.BASH, found, "'i") == ["it's a $note (1).md", "my notes"]
    assert answer(Shell.BASH, [Candidate("日記/ä.md")], "") == ["日記/ä.md"]


def test_zsh_and_fish_get_words_with_what_they_are_about() -> None:
    found = [Candidate("a b", "two\nlines"), Candidate("c")]
    assert answer(Shell.ZSH, found, "") == answer(Shell.FISH, found, "") == ["a b\ttwo lines", "c"]


def test_files_are_left_to_the_shell() -> None:
    assert {answer(shell, None, "")[0] for shell in Shell} == {FILES}


@pytest.mark.parametrize("shell", Shell)
def test_a_script_asks_the_program_that_made_it(shell: Shell) -> None:
    text = script(shell, ["/opt/my tools/memoranda", "-x"])
    assert f"'/opt/my tools/memoranda' -x completion {shell} -- " in text
    assert "PROGRAM" not in text
