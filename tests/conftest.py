"""What holds for all tests: what is the same for all of them is made once in each process."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from tools.postgres_server import BACKEND_VARIABLE

from memoranda.db import migrate

if TYPE_CHECKING:
    from tests.postgres_lane import PostgresLane

    from memoranda.db.postgres import PostgresDatabase

# How long an example takes is no matter of right or wrong.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

BACKEND = os.environ.get(BACKEND_VARIABLE, "sqlite")
"""Where the indexes of the suites are that run on either: "sqlite" or "postgres"."""

_upgrade = migrate._upgrade
_MEMORY = Path("/dev/shm")
_ROOM_BYTES = 1_000_000_000


def pytest_collection_finish() -> None:
    """The tests stay to the end: the collector of garbage need not look through them every time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _copied_databases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A new database is a copy of one that the migrations made.

    Only in this process; a process that a test starts runs them, and so do the tests that ask for
    `real_migrations`.
    """

    @cache
    def migrated() -> bytes:
        path = tmp_path_factory.mktemp("migrated") / "memory.db"
        path.touch()
        _upgrade(path)
        return path.read_bytes()

    def upgrade(path: Path) -> None:
        if path.stat().st_size:
            _upgrade(path)
        else:
            path.write_bytes(migrated())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrate, "_upgrade", upgrade)
        yield


@pytest.fixture(scope="module")
def real_migrations() -> Iterator[None]:
    """Every database of this module is made by the migrations."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrate, "_upgrade", _upgrade)
        yield


@pytest.fixture(scope="session")
def _memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    is_worker = "PYTEST_XDIST_WORKER" in os.environ  # else someone may want to look at what is left
    if is_worker and _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _ROOM_BYTES:
        with tempfile.TemporaryDirectory(prefix="memoranda-", dir=_MEMORY) as folder:
            yield Path(folder)
    else:
        yield tmp_path_factory.mktemp("no-memory")


@pytest.fixture
def memory_path(_memory: Path) -> Iterator[Path]:
    """As `tmp_path`, in memory where there is room: for tests of which the disk is no matter.

    Every write to a database waits for the disk otherwise.
    """
    folder = Path(tempfile.mkdtemp(dir=_memory))
    yield folder
    if "PYTEST_XDIST_WORKER" in os.environ:
        shutil.rmtree(folder, ignore_errors=True)


@cache
def migrated_postgres() -> str:
    """The name of a database with the tables of the newest revision and no rows."""
    from tools.postgres_server import databases

    from memoranda.db.migrate_postgres import bring_up_schema
    from memoranda.db.postgres import PostgresDatabase, address_of

    url = databases().create()
    database = PostgresDatabase(address_of(url))
    assert bring_up_schema(database) == "created"
    database.dispose()
    return url.rpartition("/")[2]


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """The address of a database of this test's own, whose tables are made; skipped where no server can be."""
    from tools.postgres_server import databases, why_not

    if reason := why_not():
        pytest.skip(reason)
    url = databases().create(migrated_postgres())
    yield url
    databases().drop(url)


@pytest.fixture
def postgres(postgres_url: str) -> Iterator[PostgresDatabase]:
    """That database, opened."""
    from memoranda.db.postgres import PostgresDatabase, address_of

    database = PostgresDatabase(address_of(postgres_url))
    yield database
    database.dispose()


@pytest.fixture(autouse=True)
def _on_postgres(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """On PostgreSQL every test has a database of its own, which the settings name."""
    if BACKEND == "sqlite":
        return
    if request.node.get_closest_marker("sqlite"):
        pytest.skip("is about SQLite")
    monkeypatch.setenv("BASIC_MEMORY_DATABASE_BACKEND", "postgres")
    monkeypatch.setenv("BASIC_MEMORY_DATABASE_URL", request.getfixturevalue("postgres_url"))


@pytest.fixture
def lane(postgres_url: str) -> Iterator[PostgresLane]:
    """That database for a test that keeps transactions open; the test runs in a greenlet of the driver."""
    from tests.postgres_lane import opened

    with opened(postgres_url) as lane:
        yield lane


@pytest.fixture(scope="session")
def _shared_lane() -> Iterator[PostgresLane]:
    from tests.postgres_lane import PostgresLane
    from tools.postgres_server import databases, why_not

    if reason := why_not():
        pytest.skip(reason)
    url = databases().create(migrated_postgres())
    lane = PostgresLane(url)
    yield lane
    lane.close()
    databases().drop(url)


@pytest.fixture
def shared_lane(_shared_lane: PostgresLane) -> Iterator[PostgresLane]:
    """As `lane`, on a database that all tests use: they leave nothing in it (`PostgresLane.trying`)."""
    from tests.postgres_lane import entered

    with entered(_shared_lane):
        yield _shared_lane


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test in the lane that is open, if one is."""
    postgres_lane = sys.modules.get("tests.postgres_lane")
    if postgres_lane is None or not postgres_lane.current:
        return None
    names = pyfuncitem._fixtureinfo.argnames
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    postgres_lane.current[-1].run(lambda: pyfuncitem.obj(**arguments))
    return True
