"""Names of notes: paths, permalinks, slugs, lookup keys and memory:// addresses. Pure.

Four ways to name a note, from most to least exact:

* `NotePath`: its file, relative to the project's folder, POSIX separators, as on disk.
* `Permalink`: folder slugs and title slug joined by `/`; unique in a project.
* a lookup key: what two spellings of one name share (`lookup_key`), for links and for people.
* a slug: the loosest form (`slug`).
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from typing import NewType

from memoranda.errors import InvalidUri

NotePath = NewType("NotePath", str)
Permalink = NewType("Permalink", str)

_LONGEST = 200
_LEAD = re.compile(r"(?:\./|/)+")
_FORBIDDEN = re.compile(r'[<>"|?]')
_ASCII_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")


def slug(text: str) -> str:
    """The slug of one name: NFKC, lower case, letters, digits and marks kept, the rest one hyphen.

    Letters and digits of every script are kept, and combining marks after them (Devanagari, Thai,
    Hebrew points), so that no name of letters becomes empty. May return "" for a name of signs only;
    the invisible variation selector after an emoji is a sign.

    Source: spec 14.1, FORMAT "Title, permalink".
    """
    if _ASCII_SLUG.match(text):
        return text
    folded = unicodedata.normalize("NFKC", text).lower()
    kept: list[str] = []
    in_word = False
    for sign in folded:
        in_word = sign.isalnum() or (in_word and unicodedata.category(sign)[0] == "M")
        kept.append(sign if in_word else "-")
    return "-".join(part for part in "".join(kept).split("-") if part)


def path_hash(path: NotePath) -> str:
    """Eight hexadecimal digits that depend on the path alone (NFC, so on every platform the same)."""
    return hashlib.sha256(
        unicodedata.normalize("NFC", path).encode("utf-8", "replace")
    ).hexdigest()[:8]


def stem(path: str) -> str:
    """The file name without folder and without `.md` (any case)."""
    name = path.rsplit("/", 1)[-1]
    return name[:-3] if name[-3:].lower() == ".md" else name


def folder(path: str) -> str:
    """The folder part of a path, "" at the root."""
    return path.rpartition("/")[0]


def natural_permalink(path: NotePath, title: str) -> Permalink:
    """Folder slugs + title slug; a title of signs falls back to the file name, then to a hash.

    Of a very long title the first 200 characters count.
    """
    last = slug(title)[:_LONGEST].strip("-") or slug(stem(path)) or path_hash(path)
    parts = [slug(part) or path_hash(NotePath(part)) for part in path.split("/")[:-1]]
    return Permalink("/".join([*parts, last]))


def declared_permalink(text: str) -> Permalink | None:
    """A permalink from frontmatter, cleaned; None when it is not usable.

    Each segment is slugged, so that case and blanks do not matter; empty segments, `..`, a scheme
    and more than 1,000 characters are not usable.
    """
    text = text.strip().strip("/")
    if not text or "://" in text or len(text) > 1000:
        return None
    parts = text.split("/")
    if any(not slug(part) for part in parts):
        return None
    return Permalink("/".join(slug(part) for part in parts))


def hashed_permalink(wanted: Permalink, path: NotePath) -> Permalink:
    """The form that names exactly one note at all times, whether or not it is in use."""
    return Permalink(f"{wanted}-{path_hash(path)}")


def lookup_key(name: str) -> str:
    """What two spellings of one name share: NFC, case-blind, without `.md`, without `./` or `/` in front.

    Blanks at both ends are dropped and inner runs of blanks are one blank.
    """
    if not name.isascii():
        name = unicodedata.normalize("NFC", name)
    return _bare(name.casefold())


def _bare(name: str) -> str:
    name = " ".join(name.split())
    if name[:1] in {"/", "."} and (lead := _LEAD.match(name)):
        name = name[lead.end() :]
    return name.removesuffix(".md").strip()


def name_and_section(text: str) -> tuple[str, str] | None:
    """A name with what follows its first `#`, when both are there."""
    name, _, section = text.partition("#")
    return (name, section) if name.strip() and section.strip() else None


def permalink_key(name: str) -> str:
    """What two spellings of one permalink share: NFC, case-blind, without `/` at the ends."""
    return unicodedata.normalize("NFC", name.strip().strip("/")).casefold()


def normalized_target(name: str) -> str:
    """`to_name` of a relation: lower case, blanks to hyphens, `.md` dropped. Source: spec 3.4.

    For people and as the spec has it; what two spellings share is `lookup_key`.
    """
    if not name.isascii():
        name = unicodedata.normalize("NFC", name)
    return _bare(name.lower()).replace(" ", "-")


@dataclass(frozen=True, slots=True)
class ById:
    """`memory://id/N`: the internal id (spec 7.3)."""

    entity_id: int


@dataclass(frozen=True, slots=True)
class ByName:
    """Anything else: a permalink, path, title, file name or alias. `project` from `memory://@name/`."""

    name: str
    project: str | None = None


Address = ById | ByName


def parse_address(text: str) -> Address:
    """Read what a caller gave as a note's name; rules of spec 7.2 hold for memory:// values only.

    Raises:
        InvalidUri: a memory:// value with an empty path, a second scheme, `//`, one of `<>"|?`,
            or an id too large to exist.
    """
    if not text.startswith("memory://"):
        return ByName(text.strip())
    rest = text.removeprefix("memory://").strip()
    if not rest.strip("/"):
        raise InvalidUri(text, "the path is empty")
    if "://" in rest:
        raise InvalidUri(text, "it has a second '://'")
    if "//" in rest:
        raise InvalidUri(text, "it has '//' in the path")
    if bad := _FORBIDDEN.search(rest):
        raise InvalidUri(text, f"it has the character {bad[0]!r}")
    project = None
    if rest.startswith("@"):
        project, _, rest = rest[1:].partition("/")
        if not project or not rest:
            raise InvalidUri(text, "after '@project' a path is missing")
    rest = rest.strip("/")
    if (
        rest.startswith("id/")
        and (number := rest[3:]).isascii()
        and number.isdigit()
        and project is None
    ):
        if len(number) > 18:
            raise InvalidUri(text, "the id is too large")
        return ById(int(number))
    return ByName(rest, project)
