"""`memoranda completion`."""

from __future__ import annotations

from typing import Annotated

import typer

from memoranda.cli.shells import Shell


def completion(
    shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="WORD",
            help="The words that are typed so far, behind --; the script gives them.",
        ),
    ] = None,
) -> None:
    """Print what lets a shell complete commands, options, projects and notes.

    For bash put `source <(memoranda completion bash)` into ~/.bashrc; for zsh the same with zsh into
    ~/.zshrc, below compinit; for fish `memoranda completion fish | source` into its config.fish.
    """
    from memoranda.cli.command_line import program
    from memoranda.cli.output import write_text
    from memoranda.cli.shells import script

    if words:
        print_answer(shell, words)
    else:
        write_text(script(shell, program()))


def print_answer(shell: Shell, words: list[str]) -> None:
    """Print what the last of these words may become, a line each; nothing if nothing fits."""
    from memoranda.cli.output import write_text

    if lines := _answer(shell, words):
        write_text("\n".join(lines))


def _answer(shell: Shell, typed: list[str]) -> list[str]:
    """What fits, nothing where it cannot be told: a shell shows no errors while a person types."""
    from memoranda.cli.application import application
    from memoranda.cli.completing import candidates
    from memoranda.cli.shells import answer, plain_words
    from memoranda.errors import MemorandaError

    words = plain_words(shell, typed)
    try:
        app = application(words[0] if len(words) > 1 else "")
        found = candidates(typer.main.get_command(app), words)
    except (MemorandaError, OSError):
        return []
    return answer(shell, found, typed[-1])
