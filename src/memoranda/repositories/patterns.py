"""Notes by the beginning of their names: what a pattern may match. SQL only."""

from __future__ import annotations

from sqlalchemy import bindparam, or_, select

from memoranda.db.tables import entity
from memoranda.repositories.likeness import any_case_like
from memoranda.repositories.store import ProjectScoped

_BEGINNING = (
    select(entity.c.file_path, entity.c.permalink)
    .where(
        entity.c.project_id == bindparam("project"),
        or_(
            any_case_like(entity.c.permalink, bindparam("pattern")),
            any_case_like(entity.c.file_path, bindparam("pattern")),
        ),
    )
    .order_by(entity.c.file_path)
)


class PatternRepository(ProjectScoped):
    """The names of notes."""

    def beginning(self, text: str) -> list[tuple[str, str]]:
        """(path, permalink) of the notes whose path or permalink begins so, in path order.

        Case does not matter in ASCII letters.
        """
        rows = self._conn.execute(
            _BEGINNING, {"project": self._project_id, "pattern": f"{_escaped(text)}%"}
        )
        return [(path, permalink or "") for path, permalink in rows]


def _escaped(text: str) -> str:
    """For LIKE with a backslash as escape."""
    return text.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
