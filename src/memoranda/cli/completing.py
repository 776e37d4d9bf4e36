"""What may stand at the end of a command line that is being typed.

Cheap, as a shell asks at every press of Tab: it walks the commands as the parser has them, and reads no
more than the configuration and one folder of notes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

_NAMES = frozenset({"read", "context", "edit", "rm", "mv", "list"})
"""Commands whose arguments are notes or folders; `list` is that of the history."""
_FOLDERS = frozenset({"ls"})
_PROJECT_OPTIONS = frozenset({"--project"})
_FOLDER_OPTIONS = frozenset({"--dir"})
_MOST = 1000
_MOST_SEEN = 20_000


@dataclass(frozen=True, slots=True)
class Candidate:
    """A word that fits.

    Attributes:
        is_partial: it is a folder, and the word goes on behind it.
    """

    word: str
    about: str = ""
    is_partial: bool = False


@dataclass(frozen=True, slots=True)
class _Spot:
    """The place in the command line where the word stands."""

    command: Any
    given: frozenset[str]
    waiting: Any = None
    n_arguments: int = 0
    project: str | None = None


def candidates(root: Any, words: Sequence[str]) -> list[Candidate] | None:
    """What the last of these words may become, in the order of help; None: a file of the machine.

    Args:
        root: the group of all commands.
        words: behind the program's name; the last one is being typed and may be empty.
    """
    *before, word = words or ("",)
    spot = _spot(root, before)
    head, sign, value = word.partition("=")
    if spot.waiting is None and sign and (option := _option(spot.command, head)) is not None:
        found = _values(option, value, spot)
        return found and [
            Candidate(f"{head}={each.word}", each.about, each.is_partial) for each in found
        ]
    if spot.waiting is not None:
        return _values(spot.waiting, word, spot)
    if word.startswith("-"):
        return list(_options(spot, word))
    if (inner := getattr(spot.command, "commands", None)) is not None:
        return [
            Candidate(name, each.get_short_help_str(60))
            for name, each in inner.items()
            if name.startswith(word)
        ]
    return _arguments(spot, word)


def _spot(root: Any, before: Sequence[str]) -> _Spot:
    """Read the words that are complete, as the parser would."""
    command, given, waiting, n_arguments = root, set[str](), None, 0
    project: str | None = None
    is_plain = False
    for word in before:
        if waiting is not None:
            project = word if _PROJECT_OPTIONS & set(waiting.opts) else project
            waiting = None
        elif word == "--" and not is_plain:
            is_plain = True
        elif word.startswith("-") and len(word) > 1 and not is_plain:
            name, sign, value = word.partition("=")
            option = _option(command, name)
            if option is None:
                continue
            given |= set(option.opts)
            if _PROJECT_OPTIONS & set(option.opts) and sign:
                project = value
            waiting = option if not (sign or option.is_flag) else None
        elif word in getattr(command, "commands", ()):
            command = command.commands[word]
        else:
            n_arguments += 1
    return _Spot(command, frozenset(given), waiting, n_arguments, project)


def _option(command: Any, name: str) -> Any:
    for param in command.params:
        if param.param_type_name == "option" and name in param.opts:
            return param
    return None


def _options(spot: _Spot, word: str) -> Iterator[Candidate]:
    """Options that were not given yet, or may be given again."""
    for param in spot.command.params:
        if param.param_type_name != "option" or param.hidden:
            continue
        if set(param.opts) & spot.given and not param.multiple:
            continue
        for name in param.opts:
            if name.startswith("--" if word == "-" else word):
                yield Candidate(name, param.help or "")
    if "--help".startswith(word):
        yield Candidate("--help", "Show this message and exit.")


def _values(option: Any, word: str, spot: _Spot) -> list[Candidate] | None:
    """Values of an option; None: a file of the machine."""
    if choices := _choices(option):
        return [Candidate(text) for text in choices if text.startswith(word)]
    if _PROJECT_OPTIONS & set(option.opts):
        return _projects(word)
    if _FOLDER_OPTIONS & set(option.opts):
        return _in_project(spot.project, word, with_notes=False)
    return None if option.metavar in {"FILE", "PATH"} else []


def _arguments(spot: _Spot, word: str) -> list[Candidate] | None:
    arguments = [each for each in spot.command.params if each.param_type_name == "argument"]
    if not arguments or (spot.n_arguments >= len(arguments) and arguments[-1].nargs != -1):
        return []
    argument = arguments[min(spot.n_arguments, len(arguments) - 1)]
    if choices := _choices(argument):
        return [Candidate(text) for text in choices if text.startswith(word)]
    if spot.command.name in _NAMES:
        found = _in_project(spot.project, word, with_notes=True)
        is_name = word and "/" not in word and spot.command.name != "list"
        if is_name and not (spot.command.name == "mv" and spot.n_arguments):
            found += _further_down(spot.project, word)
        return found
    if spot.command.name in _FOLDERS:
        return _in_project(spot.project, word, with_notes=False)
    if spot.command.name in {"default", "remove", "info"}:  # of `project`
        return _projects(word)
    return None if argument.metavar in {"FILE", "PATH"} else []


def _choices(param: Any) -> list[str]:
    choices = getattr(param.type_descriptor, "choices", None) or ()
    return [str(each.value if isinstance(each, Enum) else each) for each in choices]


def _projects(word: str) -> list[Candidate]:
    from memoranda.config import configured_projects, load_settings

    wanted = word.casefold()
    return [
        Candidate(project.name, str(project.path))
        for project in configured_projects(load_settings())
        if project.name.casefold().startswith(wanted)
    ]


def _further_down(project: str | None, word: str) -> list[Candidate]:
    """Notes in folders whose file names begin so, by name: a command finds a note by that alone."""
    from memoranda.config import configured_projects, find_project, load_settings
    from memoranda.files.scan import is_note_path
    from memoranda.model.address import NotePath

    projects = configured_projects(load_settings())
    root = find_project(projects, project).path
    others = {str(each.path) for each in projects if each.is_active and each.path != root}
    found: dict[str, Candidate] = {}
    seen = 0
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(
            each
            for each in folders
            if f"{folder}/{each}" not in others and is_note_path(NotePath(f"{each}/note.md"))
        )
        seen += len(files) + len(folders)
        if seen > _MOST_SEEN:
            break
        for file in files if folder != str(root) else ():
            if file.casefold().startswith(word.casefold()) and is_note_path(NotePath(file)):
                name, path = Path(file).stem, os.path.relpath(f"{folder}/{file}", root)
                found.setdefault(name, Candidate(name, path))
    return [found[name] for name in sorted(found, key=str.casefold)][:_MOST]


def _in_project(project: str | None, word: str, *, with_notes: bool) -> list[Candidate]:
    """Folders and notes of the project that begin so, by name; from the disk and not from the index."""
    from memoranda.config import configured_projects, find_project, load_settings
    from memoranda.files.scan import is_note_path
    from memoranda.model.address import NotePath

    root = find_project(configured_projects(load_settings()), project).path
    folder, _, start = word.rpartition("/")
    if ".." in Path(folder).parts or word.startswith(("/", "~")):
        return []
    found: list[Candidate] = []
    for entry in sorted((root / folder).iterdir(), key=lambda each: each.name.casefold()):
        path = f"{folder}/{entry.name}" if folder else entry.name
        if not entry.name.casefold().startswith(start.casefold()):
            continue
        if entry.is_dir() and is_note_path(NotePath(f"{path}/note.md")):
            found.append(Candidate(f"{path}/", is_partial=True))
        elif with_notes and is_note_path(NotePath(path)):
            found.append(Candidate(path))
    return found[:_MOST]
