"""An answer or an error in the words of the command line; those of `render` and `errors` may name tools."""

from __future__ import annotations

import re

from memoranda.errors import (
    ChangeNotFound,
    Conflict,
    DatabaseAway,
    EditMismatch,
    FolderNotFound,
    MemorandaError,
    NameOfFolder,
    NoteExists,
    NoteNotFound,
    ProjectNotFound,
)

_PAGE = re.compile(r"^More: page=(\d+)", re.MULTILINE)
_TAKE_BACK = re.compile(r"^Take it back with undo_change, .*\Z", re.MULTILINE)
_FIRST_PAGE = re.compile(r"\bpage=1\b")
_TIMEFRAME = re.compile(r"\btimeframe=(\S+) lists it")
_TOOL_AND_COMMAND = re.compile(r"\b[a-z]+_[a-z_]+ \((`memoranda [^`]+`)\)")
_AROUND = (
    (re.compile(r"\bread_note path=(\S+) start_line=(\d+)"), r"memoranda read \1 --start-line \2"),
    (re.compile(r"\bbuild_context path=(\S+)"), r"memoranda context \1"),
    (re.compile(r"\bbuild_context\b"), "memoranda context"),
    (re.compile(r"\bdepth=(\d+)"), r"--depth \1"),
    (re.compile(r"\bmax_related=(\d+)"), r"--max-related \1"),
    (re.compile(r"\btimeframe\b"), "--since"),
)


def next_page(text: str) -> str:
    """How to go on in a list of hits; the texts of notes in it stay as they are."""
    return _PAGE.sub(r"More: --page \1", text)


def way_back(text: str, undo: str) -> str:
    """The answer of a move, with the command that takes it back in its last line."""
    text = text.replace("(output_format json lists more)", "(--json lists more)")
    return _TAKE_BACK.sub(lambda _: f"Undo: {undo}", text)


def nothing_found(text: str) -> str:
    """Why a list is empty, and what would find something."""
    return _TIMEFRAME.sub(r"`memoranda recent \1` lists it", _FIRST_PAGE.sub("--page 1", text))


def around(line: str) -> str:
    """A line of what is said about a note and its neighbours; no line of a note's own text."""
    for pattern, words in _AROUND:
        line = pattern.sub(words, line)
    return line


def message(error: MemorandaError) -> str:
    """What went wrong."""
    match error:
        case EditMismatch(path=path, found=found, expected=expected):
            there = f"{_times(found)} in {path}" if found else f"not in {path}"
            return f"The text of --find is {there}, expected {_times(expected)}"
        case _:
            return error.message


def hint(error: MemorandaError) -> str:
    """What to do next; a command stands in backquotes."""
    match error:
        case ProjectNotFound(known=()):
            return "Begin with `memoranda up PATH`."
        case FolderNotFound(is_note=True):
            return "Print it with `memoranda read NAME`, or list the folder it is in."
        case FolderNotFound(near=()):
            return "List the whole project with `memoranda ls`."
        case FolderNotFound():
            return error.hint
        case NameOfFolder():
            return "List its notes with `memoranda ls NAME`; `memoranda mv` moves it as a whole."
        case NoteNotFound(near=()):
            found = error.hint.replace("search_notes", "`memoranda search WORDS`")
            return _TOOL_AND_COMMAND.sub(r"\1", found)
        case EditMismatch(found=0):
            return "Copy it letter by letter from `memoranda read NAME`."
        case EditMismatch():
            return "Give a longer text, or with --count how often it is there."
        case NoteExists() if "overwrite=true" in error.hint:
            return "Give --overwrite to replace it, or change it with `memoranda edit NAME`."
        case Conflict():
            return "Read it again with `memoranda read NAME`, and repeat the command."
        case DatabaseAway():
            return "The notes are not concerned. Repeat the command when the database is back; `memoranda doctor` looks closer."
        case ChangeNotFound():
            return "List the changes there are with `memoranda history list`."
        case _:
            return _TOOL_AND_COMMAND.sub(r"\1", error.hint)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"
