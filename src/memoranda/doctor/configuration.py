"""The configuration: can it be read, does it say what was meant, and is it for nobody else's eyes."""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from memoranda.config import (
    config_dir,
    config_file,
    configured_projects,
    environment_variables,
    load_settings,
)
from memoranda.doctor.words import command, counted, some
from memoranda.errors import MemorandaError
from memoranda.files.mounts import mounts_of
from memoranda.model.health import Check, ok, problem, warning

if TYPE_CHECKING:
    from memoranda.settings import Settings

_MOST_FILES = 5_000
_LIKENESS = 0.8


@dataclass(frozen=True, slots=True)
class ConfigurationFacts:
    """What was found of the configuration.

    Attributes:
        folder: of the configuration, absolute.
        trouble: why it cannot be used, with `way_on`; "" when it can.
        projects: how many it has.
        missing_default: the default project when it does not exist.
        misspelled: keys and variables that are not known, with the known one that may be meant.
        unknown: other keys that are not known.
        exposed: what other users of the machine may read or change.
        refused: what this user may not read and write.
        network: the network drive that the folder is on.
    """

    folder: str
    has_folder: bool = True
    trouble: str = ""
    way_on: str = ""
    projects: int = 0
    missing_default: str = ""
    misspelled: Sequence[tuple[str, str]] = ()
    unknown: Sequence[str] = ()
    exposed: Sequence[str] = ()
    refused: Sequence[str] = ()
    network: str = ""


def look() -> tuple[ConfigurationFacts, Settings | None]:
    """Look at the configuration; the settings are None when it cannot be used."""
    try:
        folder = config_dir()
    except MemorandaError as error:
        return ConfigurationFacts("", trouble=error.message, way_on=error.hint), None
    facts = ConfigurationFacts(
        str(folder),
        has_folder=os.path.isdir(folder),  # noqa: PTH112 - a Path raises without permission
        exposed=tuple(_exposed(folder)),
        refused=tuple(_refused(folder)),
        network=_network(folder),
    )
    try:
        settings = load_settings()
        return _with_settings(facts, settings), settings
    except MemorandaError as error:
        return replace(facts, trouble=error.message, way_on=error.hint), None


def judge(facts: ConfigurationFacts) -> list[Check]:
    """The checks of the configuration."""
    if facts.trouble:
        checks = [problem("settings", facts.trouble, facts.way_on)]
    elif facts.has_folder:
        has = f"{counted(facts.projects, 'project')} in {facts.folder}"
        checks = [ok("settings", f"can be used: {has}")]
    else:
        checks = [ok("settings", f"{facts.folder} is not there yet: the defaults hold")]
    checks += _spelling(facts)
    if facts.missing_default:
        checks.append(
            problem(
                "default",
                f"the default project {facts.missing_default!r} does not exist",
                f"Choose another: {command('project', 'default', 'NAME')}.",
            )
        )
    elif not facts.projects and not facts.trouble:
        checks.append(
            warning(
                "projects",
                "no project is configured yet",
                f"Begin with {command('up', 'PATH')}, where PATH is a folder of notes.",
            )
        )
    return checks + _access(facts)


def _spelling(facts: ConfigurationFacts) -> Iterator[Check]:
    for written, meant in facts.misspelled:
        yield warning(
            "spelling",
            f"{written} is no setting and has no effect",
            f"Perhaps {meant} is meant.",
        )
    if facts.unknown:
        yield ok("other keys", f"kept and not used: {some(facts.unknown)}")


def _access(facts: ConfigurationFacts) -> list[Check]:
    if not facts.has_folder:
        return []
    checks = []
    if facts.refused:
        checks.append(
            problem(
                "access",
                f"this user may not read and write {some(facts.refused)}",
                "Correct the owner or the permissions.",
            )
        )
    if facts.exposed:
        checks.append(
            warning(
                "privacy",
                f"other users of this machine have access to {some(facts.exposed)}",
                f"Take it away with: chmod -R go-rwx '{facts.folder}'",
            )
        )
    if not checks:
        checks.append(ok("access", "for this user alone"))
    if facts.network:
        checks.append(
            warning(
                "drive",
                f"the configuration folder is on a network drive ({facts.network})",
                "SQLite is not safe there: move it to a local disk with BASIC_MEMORY_CONFIG_DIR.",
            )
        )
    return checks


def _with_settings(facts: ConfigurationFacts, settings: Settings) -> ConfigurationFacts:
    from memoranda.settings import ENV_PREFIX

    known = type(settings).model_fields
    variables = {f"{ENV_PREFIX}{name.upper()}" for name in known}
    keys = [key for key in config_file().read() if key not in known]
    odd = [name for name in environment_variables() if name.upper() not in variables]
    misspelled = [*_meant(keys, known), *_meant(odd, variables)]
    projects = configured_projects(settings)
    return replace(
        facts,
        projects=len(projects),
        missing_default=projects.missing_default,
        misspelled=tuple(misspelled),
        unknown=tuple(key for key in keys if key not in dict(misspelled)),
    )


def _meant(names: Iterable[str], known: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The names that are nearly a known one, each with that."""
    candidates = list(known)
    for name in names:
        if near := difflib.get_close_matches(name, candidates, n=1, cutoff=_LIKENESS):
            yield name, near[0]


def _exposed(folder: Path) -> Iterator[str]:
    """What other users reach: nothing below a folder that is closed to them."""
    for path, status in _walk(folder, lambda status: bool(status.st_mode & 0o077)):
        if status.st_mode & 0o077 and not stat.S_ISLNK(status.st_mode):
            yield str(path)


def _refused(folder: Path) -> Iterator[str]:
    for path, status in _walk(folder, lambda _: True):
        wanted = os.R_OK | os.W_OK | (os.X_OK if stat.S_ISDIR(status.st_mode) else 0)
        if not os.access(path, wanted):
            yield str(path)


def _walk(
    folder: Path, is_entered: Callable[[os.stat_result], bool]
) -> Iterator[tuple[Path, os.stat_result]]:
    """The folder and what is in it, in order, each with its own status; of very many the first ones."""
    waiting, seen = [folder], 0
    while waiting and seen < _MOST_FILES:
        path = waiting.pop()
        try:
            status = path.lstat()
            seen += 1
            yield path, status
            if stat.S_ISDIR(status.st_mode) and is_entered(status):
                waiting += sorted(path.iterdir(), reverse=True)
        except OSError:  # it vanished, or may not be listed, which is told of the folder
            continue


def _network(folder: Path) -> str:
    holder = mounts_of(folder).holder
    return f"{holder.kind}, mounted at {holder.point}" if holder and holder.is_silent else ""
