"""What filters on PostgreSQL look up in an index: facts that a note has or has not, as numbers. Pure.

A term is the hash, in 64 bits, of the number of the project, of what kind of fact it is and of its text, so
that one index serves all projects, each finds its own notes, and no text is too long for it. Texts are folded
(`filter_values.fold`), but for the names of keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any, Final

from memoranda.repositories.filter_values import fold, folded_value, number

_BYTES: Final = 8


class Terms:
    """The terms of one project."""

    def __init__(self, project_id: int) -> None:
        self._project = str(project_id)

    def of_note(
        self, path: str, note_type: str, tags: Iterable[str], metadata: Mapping[str, Any]
    ) -> list[int]:
        """All terms of a note, its type first.

        Args:
            path: from the root.
            note_type: as written.
            tags: of the note and of its observations, as written.
            metadata: a text or a list of texts a key.
        """
        found = {self.type(note_type): None}
        found |= dict.fromkeys(self.folders(f"/{fold(path)}"))
        for written in dict.fromkeys(tags):
            found |= dict.fromkeys(map(self.tag, _with_those_above(fold(written).lstrip("#"))))
        for key, value in metadata.items():
            found[self.key(key)] = None
            for text in [value] if isinstance(value, str) else value:
                found[self._text(key, text)] = None
                if (as_number := number(text)) is not None:
                    found[self._number(key, as_number)] = None
        return list(found)

    def type(self, name: str) -> int:
        """That a note is of a type."""
        return self._term("t", fold(name))

    def tag(self, folded: str) -> int:
        """That a note has a tag, or one below it, itself or in an observation."""
        return self._term("#", folded)

    def folders(self, path: str) -> list[int]:
        """The folders that a path, or a pattern for one, names in full; it is folded and begins with a slash."""
        return [self._term("/", name) for name in path.split("/")[:-1] if name and "*" not in name]

    def key(self, name: str) -> int:
        """That the frontmatter has a key with a value."""
        return self._term("k", name)

    def equal(self, key: str, wanted: str) -> int:
        """That a key has a value, or one in a list, that equals the wanted one, which is no moment."""
        as_number = number(wanted)
        return self._text(key, wanted) if as_number is None else self._number(key, as_number)

    def _text(self, key: str, text: str) -> int:
        return self._term("=", f"{len(key)}:{key}{folded_value(text)}")

    def _number(self, key: str, value: float) -> int:
        """Equal for equal numbers, be they whole or not."""
        exact = int(value) if value == int(value) else value
        return self._term("n", f"{len(key)}:{key}{exact!r}")

    def _term(self, kind: str, text: str) -> int:
        said = f"{self._project}{kind}{text}".encode(errors="surrogatepass")
        return int.from_bytes(blake2b(said, digest_size=_BYTES).digest(), signed=True)


def _with_those_above(tag: str) -> Iterator[str]:
    at = tag.find("/")
    while at >= 0:
        yield tag[:at]
        at = tag.find("/", at + 1)
    yield tag
