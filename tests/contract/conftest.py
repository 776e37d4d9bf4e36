"""A transaction on each back end that leaves nothing, for contracts that run over both."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import insert
from sqlalchemy.engine import Connection
from tests.postgres_lane import in_lane

from memoranda.db.engine import begin_write, open_engine
from memoranda.db.health import prepare
from memoranda.db.tables import project

if TYPE_CHECKING:
    from tests.postgres_lane import PostgresLane

DAY = datetime(2026, 1, 2)  # noqa: DTZ001 - stored naive


@pytest.fixture(params=["sqlite", "postgres"])
def conn(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Connection]:
    """A transaction that writes, with the projects 1 and 2 in it."""
    if request.param == "sqlite":
        prepare(tmp_path / "memory.db")
        engine = open_engine(tmp_path / "memory.db")
        with begin_write(engine) as conn:
            _add_projects(conn)
            yield conn
        engine.dispose()
        return
    lane: PostgresLane = request.getfixturevalue("shared_lane")
    with lane.trying() as conn:
        in_lane(lambda: _add_projects(conn))
        yield conn


def _add_projects(conn: Connection) -> None:
    for number in (1, 2):
        values = {"id": number, "external_id": f"p{number}", "name": "p", "path": "/p",
                  "permalink": f"p{number}", "created_at": DAY, "updated_at": DAY}  # fmt: skip
        conn.execute(insert(project).values(**values))
