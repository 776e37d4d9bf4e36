"""How the paths of notes make a listing: levels, patterns, and which folder a name means. Pure."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memoranda.model.address import slug
from memoranda.services.path_globs import PathGlob, listing_glob

MAX_DEPTH = 10
_NEAR = 5
_LIKE = 0.6


@dataclass(frozen=True, slots=True)
class Entries:
    """Folders with how many notes are below each, then notes; both by name, case-blind."""

    folders: Mapping[str, int]
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class Choice:
    """Which notes are listed.

    Attributes:
        depth: how many levels down.
        glob: for the names of notes; if `is_of_paths`, for their paths from the folder on.
    """

    depth: int
    glob: PathGlob | None = None
    is_of_paths: bool = False


def choice(depth: int, glob: str | None) -> Choice:
    """What a caller wants to see.

    A pattern with a slash is for paths from the folder on; it goes as deep as it can match, whatever `depth`
    is, and lists notes alone. Raises InvalidArgument for what is no pattern.
    """
    if glob is None or not glob.strip().strip("/"):
        return Choice(depth)
    compiled = listing_glob(glob)
    if "/" not in glob.strip().strip("/"):
        return Choice(depth, compiled)
    return Choice(min(compiled.reach or MAX_DEPTH, MAX_DEPTH), compiled, is_of_paths=True)


def entries(paths: Iterable[str], folder: str, wanted: Choice) -> Entries:
    """The entries of a folder ("" is the root), from the paths of all notes below it."""
    folders: Counter[str] = Counter()
    notes: list[str] = []
    start = folder.count("/") + 1 if folder else 0
    for path in paths:
        parts = path.split("/")
        if wanted.glob and not wanted.glob.fits(
            "/".join(parts[start:]) if wanted.is_of_paths else parts[-1]
        ):
            continue
        if len(parts) <= start + wanted.depth:
            notes.append(path)
        if not wanted.is_of_paths:
            for level in range(start + 1, min(len(parts), start + wanted.depth + 1)):
                folders["/".join(parts[:level])] += 1
    return in_order(folders, notes)


def in_order(folders: Mapping[str, int], notes: Iterable[str]) -> Entries:
    """The same, sorted by name."""
    return Entries(
        dict(sorted(folders.items(), key=lambda item: (item[0].casefold(), item[0]))),
        sorted(notes, key=lambda one: (one.casefold(), one)),
    )


def folders_of(paths: Iterable[str]) -> list[str]:
    """Every folder that has notes below it, sorted."""
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return sorted(found)


def folder_meant(name: str, folders: Sequence[str]) -> str | None:
    """The one folder that is meant by another spelling of it: case, slug (as permalinks have it), or its end.

    As with the names of notes a folder is also known by its last names, as long as there is one only.
    """
    for form in (str.casefold, _slugs):
        if not (key := form(name)):
            continue
        for fits in (
            [one for one in folders if form(one) == key],
            [one for one in folders if form(one).endswith(f"/{key}")],
        ):
            if len(fits) == 1:
                return fits[0]
            if fits:
                return None
    return None


def near_folders(name: str, folders: Sequence[str]) -> list[str]:
    """Up to five folders with a like last name, the likeliest first."""
    wanted = _slugs(name)
    last = wanted.rpartition("/")[2]
    if not last:
        return []
    scored = []
    for folder in folders:
        path = _slugs(folder)
        end = path.rpartition("/")[2]
        begins = bool(end) and (end.startswith(last) or last.startswith(end))
        likeness = max(_ratio(last, end), _LIKE if begins else 0.0)
        if likeness >= _LIKE:
            scored.append((-likeness - _ratio(wanted, path), folder))
    return [folder for _, folder in sorted(scored)[:_NEAR]]


def _ratio(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()


def _slugs(path: str) -> str:
    return "/".join(filter(None, map(slug, path.split("/"))))
