from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue

import pytest
from loguru import logger
from tests.conftest import BACKEND
from tests.integration.conftest import lose_words, until
from tools.postgres_server import databases

from memoranda.config import load_settings
from memoranda.container import Container
from memoranda.db.engine import begin_read, identify, open_engine
from memoranda.db.health import reopen
from memoranda.errors import (
    ConfigProblem,
    DatabaseDamaged,
    DatabaseLost,
    DatabaseProblem,
    DiskFull,
    NotReady,
    OtherFolder,
    ProjectConflict,
    ProjectNotFound,
)
from memoranda.model.search import SearchQuery
from memoranda.model.sync import SyncPhase
from memoranda.repositories.project import ProjectRepository
from memoranda.services.root_identity import ROOT_IDENTITY
from memoranda.workspace import Workspace, join


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration folder of its own with the projects One and Two."""
    monkeypatch.setenv("BASIC_MEMORY_CONFIG_DIR", str(tmp_path / "config"))
    (tmp_path / "config").mkdir()
    projects = {}
    for name in ("One", "Two"):
        folder = tmp_path / name.lower()
        folder.mkdir()
        (folder / "note.md").write_text(f"note of {name}\n")
        projects[name] = {"path": str(folder)}
    (tmp_path / "config" / "config.json").write_text(json.dumps({"projects": projects}))
    return tmp_path


@pytest.fixture
async def container(home: Path):
    container = await Container.open(load_settings())
    yield container
    await container.aclose()


async def opened(container: Container, name: str = "One") -> Workspace:
    workspace = await container.workspace(container.find_project(name))
    await workspace.coordinator.sync_now()
    return workspace


@pytest.mark.spec("11")
async def test_projects_are_resolved_by_name_default_and_never_guessed(container):
    assert container.find_project("two").name == "Two"
    assert container.find_project("").name == "One"
    with pytest.raises(ProjectNotFound):
        container.find_project("three")


async def test_a_workspace_is_opened_once(container):
    project = container.find_project("One")
    first, second = await asyncio.gather(container.workspace(project), container.workspace(project))
    assert first is second


@pytest.fixture
def joining(monkeypatch):
    """Opening a project says that it began and goes on when it is told to."""
    asked, go, made = SimpleQueue(), threading.Event(), []

    def slow(*arguments, **options):
        asked.put(arguments)
        assert go.wait(60)
        made.append(join(*arguments, **options))
        return made[-1]

    monkeypatch.setattr("memoranda.container.join", slow)
    yield asked, go, made
    go.set()


@pytest.fixture
async def gone(container, joining):
    """One asked for a project and went away while it was being opened."""
    asked, _, _ = joining
    call = asyncio.create_task(container.workspace(container.find_project("One")))
    await asyncio.to_thread(asked.get, timeout=60)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


@pytest.mark.usefixtures("gone")
async def test_what_is_opened_for_one_who_went_away_is_closed_at_the_end(container, joining):
    _, go, made = joining
    closing = asyncio.create_task(container.aclose())
    go.set()
    await closing
    with pytest.raises(DatabaseProblem, match="just closed"):
        await made[0].browse.counts()


@pytest.mark.usefixtures("gone")
async def test_what_is_opened_for_one_who_went_away_is_there_for_the_next(container, joining):
    asked, go, made = joining
    waiting = asyncio.create_task(container.workspace(container.find_project("One")))
    go.set()
    assert await waiting is made[0]
    assert asked.empty()


@pytest.mark.sqlite
async def test_a_close_goes_on_when_the_one_who_waits_goes_away(container, monkeypatch):
    workspace = await opened(container)
    began, go = asyncio.Event(), asyncio.Event()
    stop = workspace.coordinator.stop

    async def slow() -> None:
        began.set()
        await go.wait()
        await stop()

    monkeypatch.setattr(workspace.coordinator, "stop", slow)
    for file in (workspace.folder / "memory.db").parent.glob("memory.db*"):
        file.unlink()
    call = asyncio.create_task(container.workspace(container.find_project("One")))
    await began.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    go.set()
    await container.aclose()
    with pytest.raises(DatabaseProblem, match="just closed"):
        await workspace.browse.counts()


@pytest.mark.sqlite
async def test_a_check_that_outlives_its_project_leaves_no_connection(container, monkeypatch):
    connections, go, ended = SimpleQueue(), threading.Event(), threading.Event()

    def slow(engine, _):
        with begin_read(engine) as conn:
            connections.put(conn.connection.dbapi_connection)
            assert go.wait(60)
        return []

    def told(is_abandoned):
        try:
            return check(is_abandoned)
        finally:
            ended.set()

    monkeypatch.setattr("memoranda.places.sqlite.full_check", slow)
    workspace = await container.workspace(container.find_project("One"))
    check = workspace.integrity._full_check
    monkeypatch.setattr(workspace.integrity, "_full_check", told)
    workspace.integrity.begin(is_suspected=True)
    connection = await asyncio.to_thread(connections.get, timeout=60)
    await container.aclose()
    go.set()
    await asyncio.to_thread(ended.wait, 60)
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")


@pytest.mark.sqlite
@pytest.mark.parametrize("fault", [DiskFull("memory.db"), ValueError("unforeseen")])
async def test_a_project_that_cannot_be_opened_leaves_no_connection(container, monkeypatch, fault):
    engines = []

    def remembered(path):
        engines.append(open_engine(path))
        return engines[-1]

    def fail(*_):
        raise fault

    monkeypatch.setattr("memoranda.places.sqlite.open_engine", remembered)
    monkeypatch.setattr("memoranda.places.sqlite.ensure_project", fail)
    with pytest.raises(type(fault)):
        await container.workspace(container.find_project("One"))
    assert [engine.pool.checkedin() for engine in engines] == [0]


def lose(workspace: Workspace) -> None:
    """Somebody deletes the index."""
    if BACKEND == "postgres":
        databases().execute(
            "DROP SCHEMA memoranda CASCADE", os.environ["BASIC_MEMORY_DATABASE_URL"]
        )
    for file in workspace.folder.glob("memory.db*"):
        file.unlink(missing_ok=True)


async def test_a_deleted_database_is_made_again(container, home):
    workspace = await opened(container)
    lose(workspace)
    if BACKEND == "postgres":  # there, nobody looks before asking
        with pytest.raises(DatabaseLost):
            await workspace.browse.counts()
    again = await opened(container)
    assert again is not workspace
    assert (await again.browse.counts()).notes == 1


@pytest.mark.sqlite
async def test_a_database_damaged_in_use_is_set_aside_and_made_again(container):
    workspace = await opened(container)

    def fail(tx):
        raise DatabaseDamaged("the database disk image is malformed")

    with pytest.raises(DatabaseDamaged):
        await workspace.store.read(fail)
    again = await opened(container)
    assert (await again.browse.counts()).notes == 1
    assert "kept as memory.damaged" in again.index.notice
    assert list((workspace.folder / "memory.db").parent.glob("memory.damaged*"))


@pytest.mark.sqlite
async def test_damage_that_a_raw_cursor_meets_is_told_as_damage(container):
    workspace = await opened(container)

    def fail(tx):
        error = sqlite3.DatabaseError("database disk image is malformed")
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error

    with pytest.raises(DatabaseDamaged):
        await workspace.store.read(fail)
    assert workspace.store.is_damaged


def renewed(database: Path) -> None:
    """Another process found the database damaged and made a new one."""
    reopen(database, identify(database), damage="for the test")


def copied_back(database: Path) -> None:
    """The user puts a copy into the place of the database."""
    copy = database.with_name("copy")
    shutil.copy(database, copy)
    copy.replace(database)


@pytest.mark.sqlite
@pytest.mark.parametrize("replace", [renewed, copied_back])
async def test_a_replaced_database_is_not_taken_for_the_one_that_was_synced(container, replace):
    workspace = await opened(container)
    replace(workspace.folder / "memory.db")
    again = await container.workspace(workspace.project)
    assert again is not workspace
    assert again.coordinator.state.phase is not SyncPhase.READY
    assert (await again.coordinator.fresh(patience_s=30)).phase is SyncPhase.READY
    assert (await again.browse.counts()).notes == 1
    assert await container.workspace(workspace.project) is again


@pytest.mark.sqlite
async def test_a_database_that_is_replaced_during_a_sync_gets_what_the_sync_did(container):
    workspace = await opened(container)
    (workspace.project.path / "new.md").write_text("new\n")
    with pytest.raises(DatabaseDamaged, match="replaced"):
        await workspace.sync.full_sync(progress=lambda _: renewed(workspace.folder / "memory.db"))
    again = await opened(container)
    assert (await again.browse.counts()).notes == 2


@pytest.mark.sqlite
async def test_an_old_copy_put_back_catches_up(container):
    workspace = await opened(container)
    database = workspace.folder / "memory.db"
    await container.aclose()
    old = database.with_name("old")
    shutil.copy(database, old)
    note, other = (workspace.project.path / name for name in ("note.md", "other.md"))
    note.write_text("changed words\n")
    other.write_text("other\n")
    later = await opened(container)
    note.rename(note.with_name("moved.md"))
    old.replace(database)
    again = await container.workspace(workspace.project)
    assert again is not later
    assert again.coordinator.state.phase is not SyncPhase.READY
    await again.coordinator.sync_now()
    found = await again.search.search(SearchQuery("changed words"))
    assert [hit.ref.file_path for hit in found.hits] == ["moved.md"]
    assert (await again.browse.counts()).notes == 2


@pytest.mark.sqlite
async def test_two_that_meet_one_damaged_database_set_one_file_aside(container):
    other = await Container.open(load_settings())
    workspaces = [await opened(one) for one in (container, other)]
    for workspace in workspaces:
        workspace.store.is_damaged = True
    again = [await opened(one) for one in (container, other)]
    assert [(await one.browse.counts()).notes for one in again] == [1, 1]
    assert len(list((workspaces[0].folder / "memory.db").parent.glob("memory.damaged*.db"))) == 1
    await other.aclose()


@pytest.mark.sqlite
async def test_a_damaged_full_text_index_alone_is_filled_again_under_the_same_ids(container):
    workspace = await opened(container)
    before = (await workspace.notes.read("note")).ref
    drop_words(workspace.folder / "memory.db")
    with pytest.raises(DatabaseDamaged):
        await workspace.search.search(SearchQuery("note"))
    again = await opened(container)
    assert "full-text index" in again.index.notice
    assert (await again.search.search(SearchQuery("note"))).hits
    assert (await again.notes.read("note")).ref.external_id == before.external_id
    assert list((workspace.folder / "memory.db").parent.glob("memory.*-*.db")) == []


async def test_a_reindex_heals_what_no_query_notices(container):
    workspace = await opened(container)
    lose_words(workspace)
    assert not (await workspace.search.search(SearchQuery("note"))).hits
    with pytest.raises(DatabaseDamaged):
        await workspace.reindex()
    again = await container.workspace(workspace.project)
    await again.reindex()
    assert (await again.search.search(SearchQuery("note"))).hits


@pytest.mark.sqlite
async def test_what_is_set_aside_is_counted_for_the_user_and_never_deleted(container):
    notices = []
    for _ in range(3):
        workspace = await opened(container)
        workspace.store.is_damaged = True
        notices.append((await opened(container)).index.notice)
    assert ["can be deleted" in notice for notice in notices] == [False, False, True]
    assert "3 such files" in notices[2]
    assert len(list((workspace.folder / "memory.db").parent.glob("memory.damaged*.db"))) == 3


def drop_words(database: Path) -> None:
    with closing(sqlite3.connect(database)) as db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute("DROP TABLE search_index_idx")
        db.commit()


async def test_a_project_is_added_where_the_file_says_null(container, home):
    config = home / "config" / "config.json"
    config.write_text('{"projects": null}')
    _, created = await container.project_service.create("New", str(home / "new"))
    assert created


async def test_a_call_on_a_closed_workspace_is_told_to_come_again(container):
    workspace = await opened(container)
    await workspace.aclose()
    with pytest.raises(DatabaseProblem):
        await workspace.browse.counts()


async def test_a_disabled_project_is_not_served(container, home):
    config = home / "config" / "config.json"
    values = json.loads(config.read_text())
    values["projects"]["Two"]["is_active"] = False
    config.write_text(json.dumps(values))
    with pytest.raises(ProjectConflict):
        await container.workspace(container.find_project("Two"))


async def test_a_change_of_the_configuration_is_seen_and_a_broken_one_is_not_taken(container, home):
    config = home / "config" / "config.json"
    values = json.loads(config.read_text())
    (home / "three").mkdir()
    values["projects"]["Three"] = {"path": str(home / "three")}
    config.write_text(json.dumps(values, indent=1))
    assert [project.name for project in container.projects()] == ["One", "Two", "Three"]
    config.write_text("{broken")
    assert [project.name for project in container.projects()] == ["One", "Two", "Three"]
    assert config.read_text() == "{broken"


async def test_a_new_default_is_seen_without_opening_anything_anew(container):
    workspace = await opened(container, "Two")
    assert not workspace.project.is_default
    await container.project_service.set_default("Two")
    again = await container.workspace(container.find_project(None))
    assert again.store is workspace.store
    assert (await container.project_service.info("Two")).project.is_default


async def test_a_project_inside_another_takes_its_notes_out_of_the_outer_index(container, home):
    (home / "one" / "inner").mkdir()
    (home / "one" / "inner" / "x.md").write_text("inner\n")
    assert (await (await opened(container)).browse.counts()).notes == 2
    await container.project_service.create("Inner", str(home / "one" / "inner"))
    assert (await (await opened(container)).browse.counts()).notes == 1
    assert (await (await opened(container, "Inner")).browse.counts()).notes == 1


async def test_one_projects_trouble_does_not_hide_the_others(container, monkeypatch):
    real = container.project_service._describe

    async def describe(project):
        if project.name == "One":
            raise DatabaseProblem("cannot be opened")
        return await real(project)

    monkeypatch.setattr(container.project_service, "_describe", describe)
    one, two = await container.project_service.list()
    assert one.status == "failed: cannot be opened"
    assert two.project.name == "Two"


async def test_creating_the_same_project_twice_is_no_error_but_another_folder_is(container, home):
    _, created = await container.project_service.create("New", str(home / "new"))
    assert created
    assert (home / "new").is_dir()
    _, created = await container.project_service.create("New", str(home / "new"))
    assert not created
    with pytest.raises(ProjectConflict):
        await container.project_service.create("new", str(home / "other"))
    with pytest.raises(ProjectConflict):
        await container.project_service.create("Twin", str(home / "one"))


async def test_a_project_of_the_default_is_removed_with_the_default(container, home):
    await container.project_service.set_default("Two")
    await container.project_service.remove("two")
    values = json.loads((home / "config" / "config.json").read_text())
    assert "default_project" not in values
    assert container.find_project(None).name == "One"
    assert (home / "two" / "note.md").exists()


async def test_an_address_that_is_none_is_said(home, monkeypatch):
    monkeypatch.setenv("BASIC_MEMORY_DATABASE_BACKEND", "postgres")
    monkeypatch.setenv("BASIC_MEMORY_DATABASE_URL", "mysql://me:secret@db/notes")
    with pytest.raises(ConfigProblem, match="database_url") as problem:
        await Container.open(load_settings())
    assert "secret" not in f"{problem.value}{problem.value.hint}"


async def test_a_package_that_is_not_installed_is_said(home, monkeypatch):
    monkeypatch.setenv("BASIC_MEMORY_DATABASE_BACKEND", "postgres")
    monkeypatch.setattr("memoranda.db.postgres.find_spec", lambda _: None)
    with pytest.raises(ConfigProblem, match="asyncpg") as problem:
        await Container.open(load_settings())
    assert 'pip install "memoranda[postgres]"' in problem.value.hint


async def test_syncs_asked_for_at_once_run_one_after_the_other(container):
    coordinator = (await opened(container)).coordinator
    reports = await asyncio.gather(*(coordinator.reindex() for _ in range(3)))
    assert [report.touched for report in reports] == [1, 1, 1]


async def test_after_the_end_no_sync_begins(container):
    coordinator = (await opened(container)).coordinator
    running = asyncio.create_task(coordinator.reindex())
    await asyncio.sleep(0)
    await coordinator.stop()
    with pytest.raises((asyncio.CancelledError, NotReady)):
        await running
    coordinator.start()
    with pytest.raises(NotReady):
        await coordinator.sync_now()


async def test_a_failed_look_is_said_and_repeated_soon(container, home, monkeypatch):
    coordinator = (await opened(container)).coordinator
    monkeypatch.setattr("memoranda.sync.coordinator.RETRY_S", 0.0)
    (home / "one").rename(home / "away")
    coordinator._trusted_until = 0.0
    state = await coordinator.fresh()
    assert state.phase is SyncPhase.FAILED
    assert "is not there" in (state.last_error or "") or state.last_error
    (home / "away").rename(home / "one")
    assert (await coordinator.fresh()).phase is SyncPhase.READY


async def test_a_look_is_trusted_for_a_while(container, monkeypatch):
    workspace = await opened(container)
    monkeypatch.setattr(
        workspace.sync, "full_sync", lambda **_: pytest.fail("the folder was looked at again")
    )
    assert (await workspace.coordinator.fresh()).phase is SyncPhase.READY


async def test_waiting_for_a_running_sync_is_bounded(container, monkeypatch):
    workspace = await opened(container)
    gate = asyncio.Event()

    async def slow(**_):
        await gate.wait()

    monkeypatch.setattr(workspace.sync, "full_sync", slow)
    workspace.coordinator._trusted_until = 0.0
    await asyncio.wait_for(workspace.coordinator.fresh(patience_s=0.01), 5)
    assert workspace.coordinator._running is not None
    await workspace.coordinator.stop()


@pytest.fixture
async def kept(container, monkeypatch):
    """A container that is kept alive, as in a server, with short pauses."""
    monkeypatch.setattr("memoranda.container.KEEP_S", 0.02)
    monkeypatch.setattr("memoranda.sync.coordinator.FOLLOW_S", 0.02)
    task = asyncio.create_task(container.keep())
    yield container
    task.cancel()
    await asyncio.wait({task})


def is_ready(container: Container, permalink: str) -> bool:
    workspace = container._workspaces.get(permalink)
    return workspace is not None and workspace.coordinator.state.phase is SyncPhase.READY


def rewrite(home: Path, projects: dict[str, object], **more: object) -> None:
    values = {"projects": projects, "watch_project_reload_interval": 1, **more}
    (home / "config" / "config.json").write_text(json.dumps(values))


async def test_a_server_leads_every_project_from_the_start(kept):
    await until(lambda: is_ready(kept, "one") and is_ready(kept, "two"))
    workspaces = [await kept.workspace(project) for project in kept.projects()]
    assert all(workspace.coordinator.leader.is_me for workspace in workspaces)


async def test_a_project_that_is_added_is_watched_and_one_that_is_removed_is_closed(kept, home):
    await until(lambda: is_ready(kept, "two"))
    (home / "three").mkdir()
    (home / "three" / "note.md").write_text("three\n")
    projects = {"One": {"path": str(home / "one")}, "Three": {"path": str(home / "three")}}
    rewrite(home, projects)
    kept.projects()  # a call reads it; else it is read every five minutes
    await until(lambda: is_ready(kept, "three"))
    await until(lambda: "two" not in kept._workspaces)
    assert not (home / "config" / "two" / "leader.json").exists()


async def test_the_configuration_is_read_again_though_nobody_calls(home, monkeypatch):
    rewrite(home, {"One": {"path": str(home / "one")}})
    monkeypatch.setattr("memoranda.container.KEEP_S", 0.02)
    container = await Container.open(load_settings())
    task = asyncio.create_task(container.keep())
    await until(lambda: is_ready(container, "one"))
    rewrite(home, {"One": {"path": str(home / "one")}, "Two": {"path": str(home / "two")}})
    await until(lambda: is_ready(container, "two"))
    task.cancel()
    await asyncio.wait({task})
    await container.aclose()


async def test_a_database_that_vanishes_is_made_anew_though_nobody_calls(kept, home):
    await until(lambda: is_ready(kept, "one"))
    lost = kept._workspaces["one"]
    lose(lost)
    await until(lambda: kept._workspaces.get("one") not in (None, lost))
    await until(lambda: is_ready(kept, "one"))
    workspace = kept._workspaces["one"]
    assert workspace.coordinator.leader.is_me
    assert (await workspace.info()).counts.notes == 1


async def test_a_project_that_cannot_be_opened_is_tried_again_and_said_once(kept):
    said: list[str] = []
    sink = logger.add(said.append, format="{message}")
    await until(lambda: is_ready(kept, "one"))
    real, tried = kept.workspace, []

    async def refuse(project):
        tried.append(project.name)
        raise DatabaseProblem("no way in")

    kept.workspace = refuse
    await until(lambda: tried.count("One") > 2)
    kept.workspace = real
    logger.remove(sink)
    assert said.count("Project One cannot be opened: no way in\n") == 1


async def test_an_unforeseen_fault_of_one_project_does_not_cost_the_others(kept):
    said: list[str] = []
    sink = logger.add(said.append, format="{message}", filter="memoranda.container")
    await until(lambda: is_ready(kept, "two"))
    real, tried = kept.workspace, []

    async def refuse(project):
        tried.append(project.name)
        if project.name == "One":
            raise PermissionError(13, "Permission denied")
        return await real(project)

    kept.workspace = refuse
    await until(lambda: tried.count("One") > 2 and tried.count("Two") > 2)
    kept.workspace = real
    logger.remove(sink)
    assert [line.splitlines()[0] for line in said] == ["Project One cannot be opened"]


@pytest.mark.sqlite  # a shared index does not change its folder by itself, see below
async def test_a_folder_that_is_changed_in_the_configuration_is_led_though_nobody_calls(kept, home):
    await until(lambda: is_ready(kept, "one"))
    (home / "moved").mkdir()
    (home / "moved" / "other.md").write_text("other\n")
    projects = {"One": {"path": str(home / "moved")}, "Two": {"path": str(home / "two")}}
    (home / "config" / "config.json").write_text(json.dumps({"projects": projects}))
    workspaces = kept._workspaces
    await until(lambda: "one" in workspaces and workspaces["one"].project.path == home / "moved")
    await until(lambda: is_ready(kept, "one"))
    assert workspaces["one"].coordinator.leader.is_me


@pytest.fixture
async def leading(home):
    """Another server; it leads the project One and does not notice what becomes of it."""
    container = await Container.open(load_settings())
    workspace = await container.workspace(container.find_project("One"))
    workspace.coordinator.start()
    await until(lambda: is_ready(container, "one"))
    await until(lambda: workspace.coordinator.leader.is_watching)
    yield workspace
    await container.aclose()


async def test_who_leads_a_database_that_is_gone_is_not_followed(container, leading):
    followed = await container.workspace(container.find_project("One"))
    assert (await followed.coordinator.fresh(patience_s=30)).phase is SyncPhase.READY
    assert followed.coordinator.state.report is None, "it does not look itself"
    lose(leading)
    if BACKEND == "postgres":
        with pytest.raises(DatabaseLost):
            await followed.browse.counts()
    anew = await container.workspace(container.find_project("One"))
    anew.coordinator.start()
    assert (await anew.coordinator.fresh(patience_s=30)).phase is SyncPhase.READY
    assert (await anew.browse.counts()).notes == 1


@pytest.mark.skipif(BACKEND == "sqlite", reason="is about an index that servers share")
async def test_a_shared_index_is_of_one_folder(container, leading, home):
    (home / "moved").mkdir()
    (home / "moved" / "other.md").write_text("other\n")
    rewrite(home, {"One": {"path": str(home / "moved")}})
    with pytest.raises(OtherFolder):
        await container.workspace(container.find_project("One"))
    assert (await leading.browse.counts()).notes == 1


@pytest.mark.skipif(BACKEND == "sqlite", reason="is about an index that servers share")
async def test_a_server_whose_folder_is_another_one_now_serves_nothing(container):
    """Somebody else has made another folder the project's."""
    workspace = await opened(container)
    fact = {"inode": 1_234_567}
    await workspace.store.write(lambda tx: ProjectRepository(tx).set_fact(ROOT_IDENTITY, fact))
    with pytest.raises(OtherFolder):
        await workspace.coordinator.sync_now()
    for _ in range(2):
        with pytest.raises(OtherFolder):
            await container.workspace(container.find_project("One"))
    with pytest.raises(DatabaseProblem):  # it is closed
        await workspace.browse.counts()


@pytest.mark.sqlite  # see above
async def test_who_leads_another_folder_is_not_followed(container, leading, home):
    (home / "moved").mkdir()
    for name in ("other.md", "third.md"):
        (home / "moved" / name).write_text(f"{name}\n")
    rewrite(home, {"One": {"path": str(home / "moved")}})
    moved = await container.workspace(container.find_project("One"))
    moved.coordinator.start()
    assert not moved.coordinator.leader.is_me
    assert (await moved.coordinator.fresh(patience_s=30)).phase is SyncPhase.READY
    assert (await moved.info()).counts.notes >= 2


async def test_settings_say_how_to_watch(home):
    rewrite(home, {"One": {"path": str(home / "one")}}, sync_delay=20, watch_mode="polling")
    container = await Container.open(load_settings())
    workspace = await container.workspace(container.find_project(None))
    workspace.coordinator.start()
    await until(lambda: workspace.coordinator.state.phase is SyncPhase.READY)
    watch = workspace.coordinator.leader.watch
    assert (watch.mode.value, watch.reason) == ("polling", "set so in the configuration")
    await container.aclose()
