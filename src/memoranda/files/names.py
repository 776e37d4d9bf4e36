"""File names for new notes. Pure."""

from __future__ import annotations

import hashlib
import re
import unicodedata

from memoranda.errors import InvalidArgument

MAX_NAME_BYTES = 255
"""What file systems allow for one name, in UTF-8 bytes."""

_SUFFIX = ".md"
# Separators and what Windows, exFAT and Android refuse; a vault must survive being synced there.
_REFUSED_SIGNS = frozenset('/\\<>:"|?*')
# Zero-width joiners spell words (Persian, emoji); other invisible characters only deceive.
_KEPT_FORMAT = frozenset("\u200c\u200d")
_REFUSED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_RESERVED = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?=\.|\Z)")


def safe_file_name(title: str) -> str:
    """The name of the file for a new note with this title, `.md` included.

    Ordinary titles follow the spec: lower case, each blank a hyphen. In other titles everything that is a
    separator, not allowed on some file system, or invisible becomes one hyphen together with its
    neighbours; leading and trailing dots, blanks and hyphens are dropped, names that Windows reserves
    get a `_`, and what is longer than 255 bytes is cut at a character border and ends with a hash of
    the title, so that long titles with one beginning stay apart. NFC. Deterministic and not injective:
    "a/b" and "a-b" share a name, so the caller creates exclusively.

    Raises:
        InvalidArgument: the title is empty, dots only, or has no character a file name can hold.

    Source: spec 6.2.1.
    """
    title = unicodedata.normalize("NFC", title)
    if not title.strip(" .\t\r\n"):
        raise InvalidArgument(
            "title", "The title is empty or only dots", hint="Give the note a title with words."
        )
    name = unicodedata.normalize("NFC", title.lower()).replace(" ", "-")
    if not _is_ordinary(title):
        name = re.sub(r"-{2,}", "-", "".join("-" if _is_refused(c) else c for c in name))
        name = name.removeprefix("~$").strip(".-")
        if not name:
            raise InvalidArgument(
                "title",
                f"The title {title!r} has no character that a file name can hold",
                hint="Give the note a title with letters or digits.",
            )
    if match := _RESERVED.match(name):
        name = f"{match[0]}_{name[match.end() :]}"
    if len(name.encode()) + len(_SUFFIX) > MAX_NAME_BYTES:
        name = _cut(name, title)
    return name + _SUFFIX


def portable_name(name: str) -> str:
    """A name of a file or folder, without what some file systems refuse; itself when all take it."""
    clean = "".join("-" if c in _REFUSED_SIGNS or ord(c) < 32 else c for c in name)
    clean = clean.rstrip(". ") or "-"
    if match := _RESERVED.match(clean.lower()):
        clean = f"{clean[: match.end()]}_{clean[match.end() :]}"
    return clean


def _is_ordinary(title: str) -> bool:
    return (
        not any(_is_refused(c) for c in title)
        and not title.startswith((".", " ", "~$"))
        and not title.endswith((".", " "))
    )


def _is_refused(character: str) -> bool:
    if character in _REFUSED_SIGNS:
        return True
    if character.isalnum() or character in _KEPT_FORMAT:
        return False
    return unicodedata.category(character) in _REFUSED_CATEGORIES


def _cut(name: str, title: str) -> str:
    """The longest beginning that fits, without a torn character or a dangling mark, and a hash."""
    digest = hashlib.sha256(title.encode("utf-8", "replace")).hexdigest()[:8]
    room = MAX_NAME_BYTES - len(_SUFFIX) - len(digest) - 1
    kept = name.encode()[:room].decode("utf-8", "ignore")
    following = name[len(kept) : len(kept) + 1]
    if unicodedata.category(following)[0] == "M":  # the cut would part a letter from its marks
        while kept and unicodedata.category(kept[-1])[0] == "M":
            kept = kept[:-1]
        kept = kept[:-1]
    return f"{kept.rstrip('-. ')}-{digest}"
