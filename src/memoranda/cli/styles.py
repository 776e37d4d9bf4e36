"""How the lines of an answer look on a terminal. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memoranda.cli.wording import around

_DIFF = {
    "+++": "bold",
    "---": "bold",
    "@@": "cyan",
    "...": "dim",
    "\\": "dim",
    "+": "green",
    "-": "red",
}
_LABELS = {
    "error": "red",
    "disabled": "red",
    "problem": "yellow",
    "trouble": "yellow",
    "behind": "yellow",
    "failed": "yellow",
    "faulty": "yellow",
    "held": "yellow",
    "missing": "yellow",
    "notice": "yellow",
}
_VERDICTS = {"problem": "bold red", "warning": "yellow", "hint:": "cyan"}
_WARNINGS = ("Warning: ", "Problem: ")


def change_lines(text: str) -> Iterator[tuple[str, str]]:
    """What was done to a note: a line that says it, some about it, and a diff at the end."""
    lines = text.splitlines()
    at = next((i for i, line in enumerate(lines) if line.startswith("--- ")), len(lines))
    for number, line in enumerate(lines[:at]):
        if line.startswith(_WARNINGS):
            yield line, "yellow"
        else:
            yield line, "bold" if number == 0 else "dim" if number == 1 else ""
    yield from diff_lines("\n".join(lines[at:]))


def answer_lines(text: str) -> Iterator[tuple[str, str]]:
    """What was done, in a line that says it and lists below; the way back is dim."""
    for number, line in enumerate(text.splitlines()):
        if number == 0:
            yield line, "bold"
        elif line.startswith("Undo: "):
            yield line, "dim"
        else:
            yield line, "" if line.startswith("- ") else "cyan"


def diff_lines(text: str) -> Iterator[tuple[str, str]]:
    """A unified diff, or several below each other."""
    for line in text.splitlines():
        yield line, next((style for sign, style in _DIFF.items() if line.startswith(sign)), "")


def context_lines(text: str) -> Iterator[tuple[str, str]]:
    """A note and what is around it: what is said about it stands out from the note's own text."""
    is_note = False
    for line in text.splitlines():
        if line == "--- note text ends":
            is_note = False
        if is_note:
            yield line, ""
        elif line.startswith("# "):
            yield line, "bold"
        elif line.startswith("- "):  # what it says of another note stays as it is
            yield around(line) if line.startswith("- and ") else line, ""
        else:
            yield around(line), "cyan" if line.endswith(":") else "dim"
        if line == "--- note text begins":
            is_note = True


def status_lines(text: str) -> Iterator[tuple[str, str]]:
    """Projects by name, and what stands in their way in a colour."""
    yield from _labelled(text, _LABELS)


def health_lines(text: str) -> Iterator[tuple[str, str]]:
    """Subjects, and what is not well in a colour."""
    yield from _labelled(text, _VERDICTS)


def _labelled(text: str, styles: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        if line.startswith(" "):
            yield line, styles.get(line.split(maxsplit=1)[0] if line.strip() else "", "")
        else:
            yield line, "bold"
