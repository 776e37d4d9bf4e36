"""Names of notes and folders that are written as absolute paths, as those of the project.

A spelling only: what comes out is checked like any other name, so nothing outside is reached by it.
"""

from __future__ import annotations

import os
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from memoranda.errors import InvalidArgument, OutsideProject

_FILE_URL = "file:"
_LONGEST = 4096


def local_name(name: str, root: str | os.PathLike[str], *, parameter: str = "path") -> str:
    """A name as it is; an absolute path below the project's folder as the path in the project.

    One `/` in front of what the project has means its folder: `/research/plan`. Everything else stays as it
    is. The folder itself is `.`, and a `/` at the end stays.

    Args:
        name: as the caller gave it.
        root: the project's folder; it may be spelled in another way, or through symbolic links.
        parameter: what the caller knows the name as.

    Raises:
        InvalidArgument: a file URL; with the path to give instead.
        OutsideProject: a file URL of something that is not in the project.
    """
    text = name.strip()
    if text[:5].lower() == _FILE_URL and "/" in text[5:6]:
        _refuse_url(text, root, parameter)
    if not text.startswith("/") or "\0" in text or len(text) > _LONGEST:
        return name
    end = "/" if text.endswith("/") else ""
    if (inside := _below(text, root)) is not None:
        return inside + end
    bare = text[1:]
    if bare[:1] not in ("", "/") and _has(root, bare.split("/", 1)[0]):
        return bare
    return name


def _refuse_url(url: str, root: str | os.PathLike[str], parameter: str) -> None:
    try:
        path = unquote(urlsplit(url).path)
    except ValueError:
        path = ""
    is_path = path.startswith("/") and "\0" not in path and len(path) <= _LONGEST
    inside = _below(path, root) if is_path else None
    if inside is None:
        raise OutsideProject(url)
    raise InvalidArgument(
        parameter,
        f"{url!r} is a file URL",
        hint=f"Give the path in the project: {inside}",
    )


def _below(path: str, root: str | os.PathLike[str]) -> str | None:
    """The path below the root, None when it is not; by letters, or because a parent is the same folder."""
    given = PurePosixPath(path)
    for folder in (given, *given.parents[:-1]):
        if folder == PurePosixPath(root) or _is_same(str(folder), root):
            return given.relative_to(folder).as_posix()
    return None


def _is_same(folder: str, root: str | os.PathLike[str]) -> bool:
    try:
        return os.path.samefile(folder, root)  # noqa: PTH121  (of texts; a call for every parent)
    except (OSError, ValueError):
        return False


def _has(root: str | os.PathLike[str], name: str) -> bool:
    try:
        return name not in (".", "..") and os.path.lexists(f"{os.fspath(root)}/{name}")
    except (OSError, ValueError):
        return False
