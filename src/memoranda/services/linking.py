"""Names of notes, and which note a link means. Pure.

Every note has names of several kinds (`names_of`); a link has keys (`link_keys`); `choose` picks the
note. Both sides compare `model.address.lookup_key`, so that resolution is a join on text and the same
on every database.

Source: FORMAT "Relations and links"; architecture row 17.
"""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from memoranda.model.address import (
    NotePath,
    Permalink,
    folder,
    lookup_key,
    permalink_key,
    slug,
    stem,
)
from memoranda.model.note import Link, LinkForm


class NameKind(IntEnum):
    """The kinds of names, in the order in which links try them."""

    PATH = 0
    PERMALINK = 1
    FILE_NAME = 2
    TITLE = 3
    ALIAS = 4
    PATH_END = 5
    SLUG = 6


@dataclass(frozen=True, slots=True)
class Name:
    """One name of a note."""

    key: str
    kind: NameKind


@dataclass(frozen=True, slots=True)
class Candidate:
    """A note that has a name in question."""

    entity_id: int
    kind: NameKind
    path: NotePath


class Nearest:
    """Among notes of one name: the one in the link's own folder, else the one in the fewest folders.

    Of notes whose paths differ in case, blanks or Unicode form alone, the one spelled as in the link;
    what is left goes by the alphabet. Built once for a name, so that a link costs one look-up however
    many notes share the name.
    """

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        ordered = sorted(candidates, key=lambda c: (c.path.count("/"), c.path), reverse=True)
        self._by_folder = {folder(c.path): c.entity_id for c in ordered}
        self._best = ordered[-1].entity_id if ordered else None
        self._twins = _twins(ordered) if len(ordered) > 1 else {}

    def to(self, path: NotePath, target: str) -> int | None:
        """The note that `target`, written in the note at `path`, means; None if nobody has the name."""
        found = self._by_folder.get(folder(path), self._best)
        if self._twins and found in self._twins:
            end = f"/{_spelled(target)}"
            for twin in self._twins[found]:
                if f"/{_spelled(twin.path)}".endswith(end):
                    return twin.entity_id
        return found


def _twins(candidates: Sequence[Candidate]) -> dict[int, list[Candidate]]:
    """For each note whose path differs from another's in spelling alone: all of that spelling."""
    alike: dict[str, list[Candidate]] = {}
    for one in candidates:
        alike.setdefault(lookup_key(one.path), []).append(one)
    return {one.entity_id: twins for twins in alike.values() if len(twins) > 1 for one in twins}


def _spelled(name: str) -> str:
    """A name or path as written, without what only says where to begin and what kind of file it is."""
    name = unicodedata.normalize("NFC", name.strip()).lstrip("./")
    return name[:-3] if name[-3:].lower() == ".md" else name


class Meaning:
    """What one key means: as a path, as the best kind of name, and as a slug that is one note's alone.

    Attributes:
        kind: the best kind of name that somebody has, not counting slugs; `SLUG` if nobody has one.
    """

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        named = [c for c in candidates if c.kind is not NameKind.SLUG]
        self.kind = min((c.kind for c in named), default=NameKind.SLUG)
        self.name = Nearest([c for c in named if c.kind is self.kind])
        slugs = {c.entity_id for c in candidates if c.kind is NameKind.SLUG}
        self.slug = slugs.pop() if len(slugs) == 1 else None


_NOTHING = Meaning(())


@dataclass(frozen=True, slots=True)
class LinkKeys:
    """What resolution compares for one link.

    Attributes:
        key: the path from the note's folder (Markdown links, `./` and `../`) or the name itself.
        root_key: the path from the root, where it differs in meaning (Markdown links).
        slug_key: the slug of the name; "" if it has none.
    """

    key: str
    root_key: str | None
    slug_key: str


def names_of(
    path: NotePath, title: str, aliases: Sequence[str], permalink: Permalink, hashed: Permalink
) -> frozenset[Name]:
    """Every name by which a link may mean this note."""
    whole = lookup_key(path)
    names = {
        Name(whole, NameKind.PATH),
        Name(permalink_key(permalink), NameKind.PERMALINK),
        Name(permalink_key(hashed), NameKind.PERMALINK),
        Name(lookup_key(stem(path)), NameKind.FILE_NAME),
        Name(permalink.rpartition("/")[2], NameKind.SLUG),
    }
    if key := lookup_key(title):
        names.add(Name(key, NameKind.TITLE))
    names.update(Name(key, NameKind.ALIAS) for alias in aliases if (key := lookup_key(alias)))
    parts = whole.split("/")
    names.update(Name("/".join(parts[i:]), NameKind.PATH_END) for i in range(1, len(parts) - 1))
    return frozenset(names)


def link_keys(link: Link, path: NotePath) -> LinkKeys:
    """The keys of a link written in the note at `path`."""
    target = link.target.strip()
    slug_key = slug(stem(target)) if "/" not in target else ""
    relative = target.startswith(("./", "../"))
    if link.form is not LinkForm.MARKDOWN and not relative:
        return LinkKeys(lookup_key(target), None, slug_key)
    if target.startswith("/"):
        return LinkKeys(lookup_key(posixpath.normpath(target)), None, "")
    joined = posixpath.normpath(posixpath.join(folder(path), target))
    if joined.startswith("../") or joined == "..":
        joined = target  # leaves the folder: no note has such a path
    root_key = None if relative else lookup_key(posixpath.normpath(target))
    return LinkKeys(lookup_key(joined), root_key, slug_key)


def choose(link: LinkKeys, target: str, path: NotePath, names: Mapping[str, Meaning]) -> int | None:
    """The entity that a link to `target` in the note at `path` means, or None.

    Kinds are tried in order; within a kind: same folder as the note, then fewest folders, then
    alphabetical. A slug counts only if it is one note's alone.
    """
    meaning = names.get(link.key, _NOTHING)
    if link.root_key is not None:
        from_root = names.get(link.root_key, _NOTHING)
        if from_root.kind < meaning.kind:
            meaning = from_root
    if (found := meaning.name.to(path, target)) is not None:
        return found
    return names.get(link.slug_key, _NOTHING).slug if link.slug_key else None
