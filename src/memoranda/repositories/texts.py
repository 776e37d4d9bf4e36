"""The texts of notes as they are stored. SQL only."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import bindparam, func, or_, select

from memoranda.db.tables import entity
from memoranda.repositories.store import ProjectScoped

_WITH_LINKS = select(entity.c.file_path, entity.c.content).where(
    entity.c.project_id == bindparam("project"),
    or_(func.instr(entity.c.content, "](") > 0, func.instr(entity.c.content, "]:") > 0),
)


class TextRepository(ProjectScoped):
    """Bodies of notes."""

    def with_links(self) -> Iterator[tuple[str, str]]:
        """Path and body of every note that may hold a Markdown link. Reads all of them."""
        rows = self._conn.execute(_WITH_LINKS, {"project": self._project_id})
        return ((path, content) for path, content in rows)
