"""Folders as a caller names them, and as the disk spells them. Touches the disk, writes nothing."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from memoranda.files.locks import lock_key


@dataclass(frozen=True, slots=True)
class NamedFolder:
    """A folder of the project, "" for its root.

    Attributes:
        path: relative; as the disk spells it, as far as it is there.
        asked: as the caller spelled it, without blanks around its parts.
        is_respelled: whether a part was found only by ignoring the case of letters and the Unicode form.
    """

    path: str
    asked: str
    is_respelled: bool


def named_folder(root: Path, text: str) -> NamedFolder:
    """The folder that is meant by a path whose parts may have blanks around them.

    A part is what is there under exactly this name, else what is there without its blanks, else the one
    folder whose name differs in case or Unicode form alone, else itself without blanks.

    Args:
        root: of the project.
        text: a path; `..` and the like are for the caller to judge.
    """
    top = os.path.realpath(root)
    at: str | None = top
    parts: list[str] = []
    is_respelled = False
    for part in text.split("/"):
        name = part.strip() if at is None else _spelled(at, part)
        is_respelled = is_respelled or name not in (part, part.strip())
        parts.append(name)
        at = None if at is None else _inside(top, f"{at}/{name}")
    asked = "/".join(part.strip() for part in text.split("/"))
    return NamedFolder("/".join(parts), asked, is_respelled)


def same_but_for_case(folder: str, name: str) -> list[str]:
    """The names in an absolute folder that some file systems take for this one; the name itself too."""
    key = lock_key(name)
    try:
        return [one for one in os.listdir(folder) if lock_key(one) == key]  # noqa: PTH208
    except OSError:
        return []


def is_one_file(one: str | Path, other: str | Path) -> bool:
    """Whether two paths lead to one file or folder; not if one of them leads nowhere."""
    try:
        return os.path.samefile(one, other)  # noqa: PTH121
    except OSError:
        return False


def _inside(top: str, path: str) -> str | None:
    """The path if it is the top or below it, its links resolved; None when it leads out."""
    if "\0" in path:
        return None
    real = os.path.realpath(path)
    return path if real == top or real.startswith(top.rstrip("/") + "/") else None


def _spelled(folder: str, part: str) -> str:
    bare = part.strip()
    if bare in ("", ".", "..") or "\0" in part:
        return bare
    for name in (part, bare):
        if os.path.isdir(f"{folder}/{name}"):  # noqa: PTH112  (Path.is_dir may raise)
            return name
    near = [
        one
        for one in same_but_for_case(folder, bare)
        if os.path.isdir(f"{folder}/{one}")  # noqa: PTH112
    ]
    return near[0] if len(near) == 1 else bare
