"""Where a client over HTTP may make projects: below the one folder that the user names, and nowhere else.

Who calls over HTTP may be another person or a web page, so what holds for them is narrower than what holds
on the command line: plain names only, no link that leads out, no folder of another project. Every place
that is refused is refused in the same words, whether there is something or not: an answer tells nothing
about the rest of the disk.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path, PurePath

from memoranda.errors import InvalidArgument, ProjectConflict, ReadOnly, RootMissing
from memoranda.model.project import Project
from memoranda.settings import Settings

MOST_PROJECTS = 100
"""With so many projects configured, no more are made over HTTP: each is watched and has its own index."""
MOST_NAME_CHARS = 100
_MOST_PART_BYTES = 255
_MOST_PATH_BYTES = 2000
_MOST_SHOWN = 80


def projects_root(settings: Settings) -> Path:
    """The folder below which clients over HTTP may make and remove projects, `~` expanded.

    Raises:
        ReadOnly: it is not set, or no absolute path.
        RootMissing: it is not there. It is never made: a drive may not be mounted.
    """
    given = (settings.projects_root or "").strip()
    root = Path(os.path.expanduser(given))  # noqa: PTH111  (never raises)
    if not given or "\0" in given or not root.is_absolute():
        raise ReadOnly(
            "Projects cannot be made or removed over HTTP",
            hint="Tell the user: projects_root in the configuration must name an absolute folder, below "
            "which they may be.",
        )
    if not os.path.isdir(root):  # noqa: PTH112  (Path.is_dir may raise)
        raise RootMissing(
            "projects_root",
            "The folder that projects_root names is not there",
            hint="Tell the user: connect the drive, or make the folder.",
        )
    return root


def place_below(path: str, root: Path) -> Path:
    """The absolute place of a project that a client over HTTP asks for; nothing is made.

    Args:
        path: relative to the root, or absolute below it (also below its real path).
        root: see `projects_root`.

    Raises:
        InvalidArgument: it is not strictly below the root, directly or by a link; hidden; or no plain name.
    """
    parts = _parts(path.strip(), root)
    if not parts or any(not _is_plain(part) for part in parts):
        raise _refused(path)
    place = root.joinpath(*parts)
    require_below(place, root, given=path)
    return place


def require_below(place: Path, root: Path, *, given: str) -> None:
    """Refuse a place that is not strictly below the root once all links of both are resolved.

    Raises:
        InvalidArgument: it is elsewhere, or in a hidden folder.
    """
    if not is_below(place, root):
        raise _refused(given)


def is_below(place: Path, root: Path) -> bool:
    """Whether a place is strictly below the root and in no hidden folder, all links of both resolved."""
    real_root = os.path.realpath(root).rstrip(os.sep) + os.sep
    real = os.path.realpath(place)
    inside = real.removeprefix(real_root)
    return inside != real and not any(part[:1] == "." for part in Path(inside).parts)


def require_room(name: str, place: Path, projects: Sequence[Project]) -> None:
    """Refuse what would burden the other projects: too many, a name that is no line, a folder of theirs.

    Raises:
        InvalidArgument: the name is too long, or has a character that cannot be shown.
        ProjectConflict: there are too many, or the place is inside a project, which would lose its notes.
    """
    if len(name) > MOST_NAME_CHARS or not name.isprintable():
        raise InvalidArgument(
            "name",
            "This cannot be the name of a project",
            hint=f"Choose a short one in one line, {MOST_NAME_CHARS} characters at most.",
        )
    if len(projects) >= MOST_PROJECTS:
        raise ProjectConflict(
            f"There are {len(projects)} projects already",
            hint="Use one of them, or ask the user to remove some.",
            parameter="name",
        )
    folder = Path(os.path.realpath(place))
    for other in projects:
        if other.is_active and Path(os.path.realpath(other.path)) in folder.parents:
            raise ProjectConflict(
                f"This folder lies inside the project {other.name!r}, which would leave it out",
                hint=f"Write into the project {other.name!r}, or choose a folder beside it.",
            )


def _parts(text: str, root: Path) -> tuple[str, ...]:
    """The names below the root, () when it is elsewhere. Does not touch what the text names."""
    if not text.isprintable() or len(text.encode()) > _MOST_PATH_BYTES:
        return ()
    if text == "~" or text.startswith("~/"):
        text = os.path.expanduser(text)  # noqa: PTH111
    asked = PurePath(text)
    if not asked.is_absolute():
        return asked.parts
    for known in (root, PurePath(os.path.realpath(root))):
        if asked.is_relative_to(known):
            return asked.relative_to(known).parts
    return ()


def _is_plain(part: str) -> bool:
    """Whether it is a folder's name on every system, not hidden, and no step elsewhere."""
    return (
        part[0] not in ".~"
        and not any(letter in part for letter in "\\:")
        and len(part.encode()) <= _MOST_PART_BYTES
    )


def _refused(given: str) -> InvalidArgument:
    shown = given if len(given) <= _MOST_SHOWN else f"{given[:_MOST_SHOWN]}…"
    return InvalidArgument(
        "path",
        f"{shown!r} names no folder in which projects may be made over HTTP",
        hint="Give a path below the server's projects_root, relative to it, such as team/notes.",
    )
