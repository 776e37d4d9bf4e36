"""Names for a note that moved, in the style of the one a link has. Pure.

Whether a name means the right note is for resolution to say (`services.linking`); these are the ones to
try, the likeliest first.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memoranda.model.address import (
    NotePath,
    Permalink,
    folder,
    lookup_key,
    slug,
    stem,
)
from memoranda.model.note import LinkForm

RELATIVE = ("./", "../")


@dataclass(frozen=True, slots=True)
class Names:
    """What a note is called after the move; `hashed`: its permalink that no other note ever has."""

    path: NotePath
    permalink: Permalink
    hashed: Permalink


@dataclass(frozen=True, slots=True)
class Place:
    """Where a path is before and after the move."""

    before: NotePath
    after: NotePath


def names_to_try(
    target: str, form: LinkForm, source: Place, before: NotePath, after: Names
) -> tuple[str, ...]:
    """Names for the note that `target` means before the move, best first, each once.

    Args:
        target: as written, decoded.
        form: of the link.
        source: the note that has the link.
        before: where the note is that the link means.
        after: what that note is called then.
    """
    if form is LinkForm.MARKDOWN:
        names = _markdown_names(target, source, before, after)
    else:
        names = _wiki_names(target, source, before, after)
    return tuple(dict.fromkeys(names))


def _markdown_names(target: str, source: Place, before: NotePath, after: Names) -> Iterator[str]:
    relative = relative_path(after.path, folder(source.after))
    if target.startswith("/"):
        yield f"/{after.path}"
    elif target.startswith("./"):
        yield dotted(relative)
    elif target.startswith("../") or _joined(source.before, target) == lookup_key(before):
        yield relative
    else:
        yield after.path
    yield from (relative, dotted(relative), after.path, f"/{after.path}")


def _wiki_names(target: str, source: Place, before: NotePath, after: Names) -> Iterator[str]:
    has_suffix = target[-3:].lower() == ".md"

    def spelled(path: str) -> str:
        return path if has_suffix or path[-3:].lower() != ".md" else path[:-3]

    whole = spelled(after.path)
    relative = spelled(relative_path(after.path, folder(source.after)))
    if target.startswith(RELATIVE):
        yield dotted(relative)
    elif "/" in target:
        yield from map(spelled, _path_names(target, before, after))
    else:
        yield from map(spelled, _bare_names(target, before, after))
    yield from (whole, after.path, f"/{whole}", dotted(relative), after.permalink, after.hashed)


def _path_names(target: str, before: NotePath, after: Names) -> Iterable[str]:
    key, old = lookup_key(target), lookup_key(before)
    if key == old:
        return [f"/{after.path}" if target.startswith("/") else after.path]
    if old.endswith(f"/{key}"):
        return _ends(after.path, key.count("/") + 1)
    is_permalink = all(slug(part) == part for part in target.split("/"))
    return [after.permalink, after.hashed] if is_permalink else []


def _bare_names(target: str, before: NotePath, after: Names) -> Iterable[str]:
    name = stem(after.path)
    suffix = after.path[len(after.path) - 3 :]
    if slug(target) == target and lookup_key(target) != lookup_key(stem(before)):
        return [after.permalink.rpartition("/")[2], name + suffix]
    return [name + suffix]


def _ends(path: str, count: int) -> Iterator[str]:
    """The last segments of a path, so many and then more."""
    parts = path.split("/")
    for first in range(max(len(parts) - count, 0), -1, -1):
        yield "/".join(parts[first:])


def _joined(source: str, target: str) -> str:
    return lookup_key(posixpath.normpath(posixpath.join(folder(source), target)))


def relative_path(path: str, start: str) -> str:
    """A path as seen from a folder of the project ("" is its root)."""
    parts, from_parts = path.split("/"), start.split("/") if start else []
    common = 0
    while common < min(len(parts) - 1, len(from_parts)) and parts[common] == from_parts[common]:
        common += 1
    return "/".join([".."] * (len(from_parts) - common) + parts[common:])


def dotted(path: str) -> str:
    """A relative path that says that it is one."""
    return path if path.startswith("../") else f"./{path}"
