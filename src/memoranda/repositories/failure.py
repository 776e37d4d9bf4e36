"""Rows of files that failed (architecture row 22). SQL only."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC

from sqlalchemy import bindparam, delete, insert, select

from memoranda.db.tables import file_failure
from memoranda.model.address import NotePath
from memoranda.model.sync import FailureKind, FileFailure
from memoranda.repositories.membership import named_among
from memoranda.repositories.store import ProjectScoped, in_chunks

_FORGET = delete(file_failure).where(
    file_failure.c.project_id == bindparam("project"),
    named_among(file_failure.c.file_path, "values"),
)


class FailureRepository(ProjectScoped):
    """The file_failure table of one project."""

    def all(self) -> dict[NotePath, FileFailure]:
        """Every remembered failure by path; `tripped` is left to the breaker."""
        rows = self._conn.execute(
            select(
                file_failure.c.file_path,
                file_failure.c.reason,
                file_failure.c.kind,
                file_failure.c.checksum,
                file_failure.c.count,
                file_failure.c.failed_at,
            )
            .where(file_failure.c.project_id == self._project_id)
            .order_by(file_failure.c.file_path)
        )
        return {
            NotePath(path): FileFailure(
                NotePath(path), reason, FailureKind(kind), sha, count, at=at.replace(tzinfo=UTC)
            )
            for path, reason, kind, sha, count, at in rows
        }

    def clear(self) -> None:
        """Forget every failure."""
        self._conn.execute(
            delete(file_failure).where(file_failure.c.project_id == self._project_id)
        )

    def replace(self, cleared: Iterable[str], failures: Iterable[FileFailure]) -> None:
        """Forget the failures of these paths, then remember these."""
        failures = list(failures)
        for chunk in in_chunks([*cleared, *(failure.path for failure in failures)]):
            self._conn.execute(_FORGET, {"project": self._project_id, "values": chunk})
        if failures:
            self._conn.execute(
                insert(file_failure),
                [
                    {
                        "project_id": self._project_id,
                        "file_path": failure.path,
                        "checksum": failure.checksum,
                        "kind": failure.kind.value,
                        "reason": failure.reason,
                        "count": failure.count,
                        "failed_at": self._now,
                    }
                    for failure in failures
                ],
            )
