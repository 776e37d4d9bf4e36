"""Some of a project's files, as the index knows them, spread over all its notes. SQL only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from memoranda.db.dialects import both
from memoranda.repositories.driver import rows
from memoranda.repositories.store import ProjectScoped

PLACES: Final = 8
EACH: Final = 8
"""At most so many files are taken at so many places."""

_RANGE = both("SELECT min(id), max(id) FROM entity WHERE project_id = ?")
_FILES = both(
    "SELECT id, file_path, inode, size, mtime_ns FROM entity WHERE project_id = ? AND id >= ?"
    " ORDER BY id LIMIT ?"
)


@dataclass(frozen=True, slots=True)
class SampledFile:
    """A file as it was when it was indexed."""

    path: str
    inode: int
    size: int
    mtime_ns: int


class RootSampleRepository(ProjectScoped):
    """Look-ups by primary key, whatever the size of the project."""

    def sample(self) -> tuple[SampledFile, ...]:
        """At most `PLACES * EACH` files; none when the index has no notes."""
        ((first, last),) = rows(self._conn, _RANGE, self._project_id)
        if first is None:
            return ()
        found: dict[int, SampledFile] = {}
        for place in range(PLACES):
            start = first + (last - first) * place // PLACES
            for number, *file in rows(self._conn, _FILES, self._project_id, start, EACH):
                found[number] = SampledFile(*file)
        return tuple(found.values())
