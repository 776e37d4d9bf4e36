"""Commands when the index is on PostgreSQL: what they say, also when the database is away or refuses."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest
from tests.cli.conftest import Cli, Outcome
from tools.postgres_server import databases

from memoranda.cli.commands.config import shown_settings
from memoranda.cli.version import version
from memoranda.db import postgres as postgres_module
from memoranda.db.migrate import HEAD
from memoranda.db.postgres import PostgresDatabase
from memoranda.db.postgres_leaders import lock_class
from memoranda.model.live import WatchMode, WatchState
from memoranda.model.sync import SyncPhase, SyncState
from memoranda.settings import Settings
from memoranda.sync.lease import Itself, told
from memoranda.sync.sync_service import INDEX_VERSION

SECRET = "s3cret-pw"
SCHEMA = "memoranda"
URL = "BASIC_MEMORY_DATABASE_URL"
OK, WARNING, PROBLEM = "ok", "warning", "problem"


@pytest.fixture
def here(cli: Cli, home: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cli]:
    """Runs commands on the test's database; that nobody is shown the password is looked at after each."""
    monkeypatch.setenv("BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED", "false")
    monkeypatch.setenv("BASIC_MEMORY_DATABASE_BACKEND", "postgres")
    monkeypatch.setenv(URL, secretly(postgres_url))

    def call(*arguments: object, stdin: str | bytes = "") -> Outcome:
        outcome = cli(*arguments, stdin=stdin)
        assert SECRET not in outcome.out + outcome.err
        assert "Traceback" not in outcome.out + outcome.err
        assert "Something unexpected" not in outcome.out + outcome.err
        return outcome

    yield call
    for file in home.rglob("*"):
        assert not file.is_file() or SECRET.encode() not in file.read_bytes(), file


@pytest.fixture
def indexed(here: Cli, notes: Path) -> Cli:
    """`here` with the notes already indexed as the project `my notes`."""
    outcome = here("up", notes)
    assert (outcome.code, outcome.err) == (0, "")
    return here


def secretly(url: str, **parts: str) -> str:
    """The address with a password, and with other parts."""
    split = urlsplit(url)
    user = parts.get("user", split.username)
    password = split.password or SECRET
    port = parts.get("port", split.port)
    path = f"/{parts['database']}" if "database" in parts else split.path
    return urlunsplit(
        split._replace(netloc=f"{user}:{password}@{split.hostname}:{port}", path=path)
    )


def shown(url: str) -> str:
    split = urlsplit(url)
    return (
        f"postgresql://{split.username}@{split.hostname}:{split.port}{split.path} (schema {SCHEMA})"
    )


def checks(outcome: Outcome) -> dict[str, tuple[str, str, str]]:
    """Name of a check -> verdict, message, hint; of one project at most."""
    assert outcome.err == ""
    return {
        check["name"]: (check["verdict"], check["message"], check["hint"])
        for section in outcome.json["sections"]
        for check in section["checks"]
    }


def rows(url: str, statement: str) -> list[tuple[Any, ...]]:
    return databases().execute(statement, url)


def rows_by_project(url: str) -> dict[tuple[str, int], int]:
    """(table, id of a project) -> how many rows, where there are any."""
    tables = rows(
        url,
        "SELECT table_name FROM information_schema.columns"
        f" WHERE table_schema = '{SCHEMA}' AND column_name = 'project_id'",
    )
    return {
        (table, project): number
        for (table,) in tables
        for project, number in rows(
            url, f'SELECT project_id, count(*) FROM {SCHEMA}."{table}" GROUP BY 1'
        )
    }


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture
def away(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[], str]:
    """From when it is called, nobody listens at the address of the database; returns how it is shown."""

    def go() -> str:
        url = secretly(postgres_url, port=str(free_port()))
        monkeypatch.setenv(URL, url)
        return shown(url)

    return go


@contextmanager
def led(url: str, project_id: int) -> Iterator[None]:
    """A process that leads a project."""
    import asyncpg

    loop = asyncio.new_event_loop()
    connection = loop.run_until_complete(asyncpg.connect(url))
    numbers = lock_class(SCHEMA), project_id
    loop.run_until_complete(connection.execute("SELECT pg_advisory_lock($1, $2)", *numbers))
    try:
        yield
    finally:
        loop.run_until_complete(connection.close())
        loop.close()


def project_id(url: str, permalink: str = "my-notes") -> int:
    ((found,),) = rows(url, f"SELECT id FROM {SCHEMA}.project WHERE permalink = '{permalink}'")
    return int(found)


def say(url: str, project: int, *, host: str = "other-host", age_s: int = 0) -> None:
    """What a leader on another machine says."""
    itself = Itself(4711, version(), INDEX_VERSION, datetime.now(UTC), "served", host)
    words = told(
        itself, SyncState(SyncPhase.READY), WatchState(WatchMode.EVENTS, running=True), "", ""
    )
    quoted = words.replace("'", "''")
    rows(
        url,
        f"INSERT INTO {SCHEMA}.project_leader (project_id, said, at)"
        f" VALUES ({project}, '{quoted}', clock_timestamp() - interval '{age_s} s')",
    )


# What is said of a database that works


def test_status_says_where_the_index_is_and_what_its_size_is_of(
    indexed: Cli, postgres_url: str
) -> None:
    outcome = indexed("status")
    assert outcome.code == 0
    (line,) = [line for line in outcome.out.splitlines() if line.startswith("  index  ")]
    assert line.startswith(f"  index     {shown(postgres_url)}, ")
    assert line.endswith("B with all projects")
    (project,) = indexed("status", "--json").json["projects"]
    assert project["database_path"] == shown(postgres_url)
    assert project["database_is_shared"] is True
    assert project["database_bytes"] > 100_000
    assert project["entity_count"] == 4


def test_a_disabled_project_asks_no_database(
    indexed: Cli, home: Path, away: Callable[[], str]
) -> None:
    config = json.loads((home / "config.json").read_text())
    config["projects"]["my notes"] = {"path": "/nowhere", "is_active": False}
    (home / "config.json").write_text(json.dumps(config))
    away()
    outcome = indexed("status")
    assert outcome.code == 0
    assert "disabled" in outcome.out
    assert "cannot be reached" not in outcome.out + outcome.err


def test_whether_a_server_runs_is_asked_of_the_database(
    indexed: Cli, postgres_url: str, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    assert "Index it with" in indexed("project", "add", "one", tmp_path / "one").out
    with led(postgres_url, project_id(postgres_url)):
        assert "The server that runs" in indexed("project", "add", "two", tmp_path / "two").out


def test_what_a_killed_leader_left_is_no_leader(indexed: Cli, postgres_url: str) -> None:
    project = project_id(postgres_url)
    say(postgres_url, project, age_s=60)
    assert "no server runs" in checks(indexed("doctor", "--json"))["server"][1]
    with led(postgres_url, project):
        verdict, message, hint = checks(indexed("doctor", "--json"))["server"]
    assert verdict == PROBLEM
    assert "process 4711 on other-host" in message
    assert "gave no sign of life for 6" in message
    assert "on other-host" in hint


# Removing


def test_a_removed_project_keeps_its_rows_unless_they_are_to_go(
    indexed: Cli, postgres_url: str
) -> None:
    before = rows_by_project(postgres_url)
    outcome = indexed("project", "remove", "my notes")
    assert f"Its index in {shown(postgres_url)} is kept.\n" in outcome.out
    assert rows_by_project(postgres_url) == before


def test_delete_index_deletes_the_rows_of_that_project_and_no_other(
    indexed: Cli, postgres_url: str, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "Compost.md").write_text("# Compost\n- [a] fact\n- feeds [[Nothing]]\n")
    assert indexed("up", other).code == 0
    mine, others = project_id(postgres_url), project_id(postgres_url, "other")
    before = rows_by_project(postgres_url)
    outcome = indexed("project", "remove", "my notes", "--delete-index")
    assert outcome.code == 0
    assert f"Deleted its index in {shown(postgres_url)}.\n" in outcome.out
    assert rows_by_project(postgres_url) == {
        key: number for key, number in before.items() if key[1] == others
    }
    assert {project for _, project in before} == {mine, others}
    assert rows(postgres_url, f"SELECT id FROM {SCHEMA}.project") == [(others,)]
    outcome = indexed("project", "remove", "other", "--delete-index", "--json")
    assert outcome.json["index_deleted"] is True
    assert not rows_by_project(postgres_url)
    assert indexed("up", other).code == 0


def test_a_copy_of_the_folder_deletes_no_index(
    indexed: Cli, postgres_url: str, notes: Path, tmp_path: Path
) -> None:
    before = rows_by_project(postgres_url)
    shutil.copytree(notes, tmp_path / "copy")
    shutil.rmtree(notes)
    (tmp_path / "copy").rename(notes)
    outcome = indexed("project", "remove", "my notes", "--delete-index")
    assert outcome.code == 1
    assert "another" in outcome.err
    assert rows_by_project(postgres_url) == before


def test_a_project_without_rows_has_no_index_to_delete(
    indexed: Cli, postgres_url: str, tmp_path: Path
) -> None:
    (tmp_path / "new").mkdir()
    assert indexed("project", "add", "new", tmp_path / "new").code == 0
    rows(
        postgres_url,
        f"DELETE FROM {SCHEMA}.index_meta WHERE project_id <> {project_id(postgres_url)}",
    )
    rows(postgres_url, f"DELETE FROM {SCHEMA}.project WHERE permalink = 'new'")
    outcome = indexed("project", "remove", "new", "--delete-index", "--json")
    assert (outcome.code, outcome.json["index_deleted"]) == (0, False)


def test_an_index_is_not_deleted_under_a_server(
    indexed: Cli, postgres_url: str, home: Path
) -> None:
    before, config = rows_by_project(postgres_url), (home / "config.json").read_text()
    with led(postgres_url, project_id(postgres_url)):
        outcome = indexed("project", "remove", "my notes", "--delete-index")
        assert outcome.code == 1
        assert outcome.err.startswith(
            "error: The index of my notes cannot be deleted: a server keeps it up to date\nhint: "
        )
    assert rows_by_project(postgres_url) == before
    assert (home / "config.json").read_text() == config


def test_a_server_that_begins_to_lead_meanwhile_keeps_the_rows(
    indexed: Cli, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = rows_by_project(postgres_url)
    monkeypatch.setattr("memoranda.cli.commands.project._refuse_if_led", lambda *_: None)
    with led(postgres_url, project_id(postgres_url)):
        outcome = indexed("project", "remove", "my notes", "--delete-index")
    assert outcome.code == 1
    assert outcome.err.startswith("error: The project my notes is removed, and its index is kept: ")
    assert rows_by_project(postgres_url) == before


# A database that is away


def test_status_lists_the_projects_when_the_database_is_away(
    indexed: Cli, notes: Path, tmp_path: Path, away: Callable[[], str]
) -> None:
    (tmp_path / "other").mkdir()
    assert indexed("project", "add", "other", tmp_path / "other").code == 0
    place = away()
    outcome = indexed("status")
    assert (outcome.code, outcome.err) == (1, "")
    for name, folder in (("my notes (default)", notes), ("other", tmp_path / "other")):
        assert (
            f"{name}\n  folder    {folder}\n  index     {place}\n  error     {place} cannot be"
            in (outcome.out)
        )
    assert (
        "the notes are not concerned. Repeat the command when the database is back" in outcome.out
    )
    assert "notes  " not in outcome.out
    first, _ = indexed("status", "--json").json["projects"]
    assert first["entity_count"] is None
    assert first["file_count"] == 4
    assert first["index_error"].startswith(f"{place} cannot be reached")
    assert first["index_hint"].startswith("The notes are not concerned.")
    assert first["database_path"] == place


def test_a_list_of_projects_does_not_count_what_it_cannot_ask(
    indexed: Cli, away: Callable[[], str]
) -> None:
    place = away()
    outcome = indexed("project", "list")
    assert outcome.code == 0
    assert outcome.out.splitlines()[1].split()[3:5] == ["?", "failed"]
    assert outcome.err.startswith(f"note: {place} cannot be reached")
    assert indexed("project", "list", "--json").json["projects"][0]["status"].startswith("failed: ")


@pytest.mark.parametrize(
    "words",
    ["sync", "search garden", "read Compost", "ls", "recent 7d", "context Compost", "reindex",
     "undo 1", "mv Compost.md Heap.md", "project remove mine --delete-index", "sync --watch"],
)  # fmt: skip
def test_every_command_ends_in_a_sentence_and_a_hint(
    here: Cli, notes: Path, away: Callable[[], str], words: str
) -> None:
    assert here("project", "add", "mine", notes).code == 0
    place = away()
    outcome = here(*words.split())
    assert (outcome.code, outcome.out) == (1, "")
    error, hint = outcome.err.splitlines()
    assert error.startswith(f"error: {place} cannot be reached: ")
    assert hint.startswith("hint: The notes are not concerned. Repeat the command when")
    assert here("project", "list").out.splitlines()[1].startswith("mine *")


def test_what_needs_no_database_goes_on(
    here: Cli, notes: Path, tmp_path: Path, away: Callable[[], str]
) -> None:
    away()
    (tmp_path / "other").mkdir()
    assert here("project", "add", "other", tmp_path / "other").code == 0
    assert here("project", "add", "mine", notes).code == 0  # asks whether a server leads the other
    assert here("history", "list").code == 0
    assert here("config", "show").code == 0
    outcome = here("project", "remove", "mine")
    assert outcome.code == 0
    assert "is kept" in outcome.out


def test_one_trouble_of_several_projects_is_said_once(
    here: Cli, notes: Path, tmp_path: Path, away: Callable[[], str]
) -> None:
    (tmp_path / "other").mkdir()
    assert here("project", "add", "mine", notes).code == 0
    assert here("project", "add", "other", tmp_path / "other").code == 0
    away()
    outcome = here("sync")
    assert outcome.code == 1
    assert outcome.err.count("error: ") == 1


def test_a_server_that_does_not_answer_is_waited_for_once(
    here: Cli, notes: Path, tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").mkdir()
    assert here("project", "add", "mine", notes).code == 0
    assert here("project", "add", "other", tmp_path / "other").code == 0
    monkeypatch.setattr(postgres_module, "CONNECT_S", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        taken: list[socket.socket] = []

        def take() -> None:
            while True:
                try:
                    taken.append(silent.accept()[0])
                except OSError:
                    return

        thread = threading.Thread(target=take)
        thread.start()
        monkeypatch.setenv(URL, secretly(postgres_url, port=str(silent.getsockname()[1])))
        outcome = here("status")
        found = checks(here("doctor", "--quick", "--json", "--project", "mine"))
        silent.shutdown(socket.SHUT_RDWR)
    thread.join()
    for one in taken:
        one.close()
    assert outcome.code == 1
    assert outcome.out.count("cannot be reached: no answer") == 2
    assert found["database"][0] == PROBLEM
    assert len(taken) == 2


# A database that refuses


@pytest.mark.parametrize(
    ("change", "said", "way_on"),
    [
        ({"user": "nobody-of-that-name"}, "refuses the user: role", "the password in PGPASSWORD"),
        ({"database": "no-database"}, 'database "no-database" does not exist', "Make the database"),
    ],
)
def test_a_refusal_is_said_in_words(
    here: Cli,
    notes: Path,
    postgres_url: str,
    monkeypatch: pytest.MonkeyPatch,
    change: dict[str, str],
    said: str,
    way_on: str,
) -> None:
    assert here("project", "add", "mine", notes).code == 0
    monkeypatch.setenv(URL, secretly(postgres_url, **change))
    outcome = here("sync")
    assert outcome.code == 1
    error, hint = outcome.err.splitlines()
    assert said in error
    assert way_on in hint
    verdict, message, hint = checks(here("doctor", "--quick", "--json"))["database"]
    assert (verdict, said in message, way_on in hint) == (PROBLEM, True, True)


@pytest.fixture
def weak(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A user with no rights, whom the settings name; their name."""
    name = f"weak_{urlsplit(postgres_url).path[1:]}"
    rows(postgres_url, f'CREATE ROLE "{name}" LOGIN')
    monkeypatch.setenv(URL, secretly(postgres_url, user=name))
    yield name
    rows(postgres_url, f'DROP OWNED BY "{name}"')
    rows(postgres_url, f'DROP ROLE "{name}"')


def test_what_rights_are_missing_is_named_by_the_doctor(
    here: Cli, notes: Path, postgres_url: str, weak: str
) -> None:
    def tables() -> tuple[str, str, str]:
        return checks(here("doctor", "--quick", "--json"))["tables"]

    assert here("project", "add", "mine", notes).code == 0
    outcome = here("sync")
    assert outcome.code == 1
    assert outcome.err.splitlines()[1].endswith("doctor` names.")
    verdict, message, hint = tables()
    assert (verdict, message) == (PROBLEM, f"the user {weak} may not use the schema {SCHEMA}")
    assert f'GRANT USAGE, CREATE ON SCHEMA "{SCHEMA}" TO "{weak}"' in hint
    rows(postgres_url, f'GRANT USAGE ON SCHEMA {SCHEMA} TO "{weak}"')
    verdict, _, hint = tables()
    assert verdict == PROBLEM
    assert "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES" in hint
    rows(
        postgres_url,
        f'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {SCHEMA} TO "{weak}"',
    )
    verdict, _, hint = tables()
    assert verdict == PROBLEM
    assert "GRANT USAGE, UPDATE ON ALL SEQUENCES" in hint
    assert here("sync").code == 1
    rows(postgres_url, f'GRANT USAGE, UPDATE ON ALL SEQUENCES IN SCHEMA {SCHEMA} TO "{weak}"')
    assert tables()[0] == OK
    assert here("sync").code == 0
    assert "the owner of the tables" in checks(here("doctor", "--json"))["rights"][1]
    with led(postgres_url, 1):  # another user's connection counts as well
        left, most = re.findall(r"\d+", checks(here("doctor", "--json"))["connections"][1])[:2]
    assert int(most) - int(left) >= 2
    rows(postgres_url, f'REVOKE DELETE ON {SCHEMA}.link FROM "{weak}"')
    assert tables()[0] == PROBLEM


def test_a_database_without_tables_for_a_user_who_may_not_make_them(
    here: Cli, notes: Path, weak: str, postgres_url: str
) -> None:
    rows(postgres_url, f"DROP SCHEMA {SCHEMA} CASCADE")
    assert here("project", "add", "mine", notes).code == 0
    found = checks(here("doctor", "--quick", "--json"))
    assert found["tables"][0] == PROBLEM
    assert f'CREATE SCHEMA "{SCHEMA}" AUTHORIZATION "{weak}"' in found["tables"][2]
    assert found["index"] == (
        PROBLEM,
        "it cannot be looked at",
        "See what is said of the database.",
    )


def test_tables_of_a_newer_version_are_not_touched(indexed: Cli, postgres_url: str) -> None:
    rows(postgres_url, f"UPDATE {SCHEMA}.alembic_version SET version_num = '9999'")
    outcome = indexed("sync")
    assert outcome.code == 1
    assert "made by a newer version" in outcome.err
    found = checks(indexed("doctor", "--json"))
    assert found["tables"][0] == PROBLEM
    assert "Use that version here as well" in found["tables"][2]


# Another folder than the index is of


@pytest.mark.parametrize("words", ["sync", "up", "search garden"])
def test_a_copy_of_the_folder_does_not_get_into_the_index(
    indexed: Cli, notes: Path, home: Path, tmp_path: Path, postgres_url: str, words: str
) -> None:
    before = rows_by_project(postgres_url)
    here = moved_to_a_copy(home, notes, tmp_path)
    (here / "Garden diary.md").unlink()
    outcome = indexed(*words.split(), *([here] if words == "up" else []))
    assert outcome.code == 1
    assert f"error: The index of the project is of another folder than {here}: " in outcome.err
    assert "reindex --project 'my notes'`" in outcome.err
    assert rows_by_project(postgres_url) == before
    found = checks(indexed("doctor", "--json"))
    assert found["same folder"][0] == PROBLEM
    assert "reindex" in found["same folder"][2]


def test_reindex_makes_this_folder_the_index_s(
    indexed: Cli, notes: Path, home: Path, tmp_path: Path
) -> None:
    here = moved_to_a_copy(home, notes, tmp_path)
    (here / "new.md").write_text("new\n")
    assert indexed("reindex").code == 0
    assert "same folder" not in checks(indexed("doctor", "--json"))
    assert indexed("sync").code == 0
    assert indexed("status", "--json").json["projects"][0]["entity_count"] == 5


def moved_to_a_copy(home: Path, notes: Path, tmp_path: Path) -> Path:
    """The project's folder is a copy from now on; returns it."""
    copy = tmp_path / "a copy"
    shutil.copytree(notes, copy)
    config = json.loads((home / "config.json").read_text())
    config["projects"]["my notes"]["path"] = str(copy)
    (home / "config.json").write_text(json.dumps(config))
    return copy


# The doctor


def test_a_database_that_works_is_well(indexed: Cli, notes: Path, postgres_url: str) -> None:
    (notes / "broken header.md").unlink()
    indexed("sync")
    outcome = indexed("doctor", "--json")
    assert outcome.code == 0
    found = checks(outcome)
    assert {name: verdict for name, (verdict, _, _) in found.items() if verdict != OK} == {}
    assert found["database"][1].startswith(f"{shown(postgres_url)} answers; a round trip takes ")
    assert found["index"][1] == "3 notes, 1 fact, 3 relations"
    assert found["soundness"][1] == "the full-text index is sound"
    assert found["encryption"][1].startswith("none; the connection does not leave the machine")
    assert f"the schema {SCHEMA} are current" in found["tables"][1]
    assert [section["title"] for section in outcome.json["sections"]] == [
        "configuration", "meaning", "database", "project", "system",
    ]  # fmt: skip


def test_the_doctor_makes_nothing(
    here: Cli, notes: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert here("project", "add", "mine", notes).code == 0
    rows(postgres_url, f"DROP SCHEMA {SCHEMA} CASCADE")
    found = checks(here("doctor", "--json"))
    assert found["tables"][:2] == (OK, f"the schema {SCHEMA} is made at the next use")
    assert found["index"][:2] == (WARNING, "nothing is indexed yet")
    assert not rows(postgres_url, f"SELECT 1 FROM pg_namespace WHERE nspname = '{SCHEMA}'")
    assert here("sync").code == 0
    assert rows(postgres_url, f"SELECT version_num FROM {SCHEMA}.alembic_version") == [(HEAD,)]


def test_a_project_that_was_never_opened_is_looked_at_without_a_row(
    here: Cli, home: Path, notes: Path, postgres_url: str
) -> None:
    home.mkdir(mode=0o700)
    (home / "config.json").write_text(json.dumps({"projects": {"mine": str(notes)}}))
    found = checks(here("doctor", "--json"))
    assert found["index"][:2] == (OK, "0 notes, 0 facts, 0 relations")
    assert found["up to date"][1] == "the folder was never indexed as a whole"
    assert not rows(postgres_url, f"SELECT id FROM {SCHEMA}.project")


def test_what_the_index_has_not_yet_is_found(indexed: Cli, notes: Path) -> None:
    (notes / "new.md").write_text("new\n")
    (notes / "Garden diary.md").unlink()
    verdict, message, _ = checks(indexed("doctor", "--json"))["up to date"]
    assert verdict == WARNING
    assert "1 new (new.md)" in message
    assert "1 gone (Garden diary.md)" in message


def test_the_leader_is_named_with_its_machine_and_its_last_sign_of_life(
    indexed: Cli, notes: Path, postgres_url: str
) -> None:
    project = project_id(postgres_url)
    say(postgres_url, project, age_s=5)
    with led(postgres_url, project):
        (notes / "new.md").write_text("new\n")
        found = checks(indexed("doctor", "--json"))
    assert found["server"][0] == OK
    assert found["server"][1].startswith(f"process 4711 on other-host (version {version()}) keeps")
    assert "; last sign of life 5 s ago" in found["server"][1]
    assert found["up to date"][0] == OK
    assert "the server does it in a moment" in found["up to date"][1]


def test_full_text_that_lacks_rows_is_found(indexed: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from memoranda.repositories.search_postgres import PostgresFullTextIndex

    monkeypatch.setattr(PostgresFullTextIndex, "check", lambda self, conn: False)
    outcome = indexed("doctor", "--json")
    assert outcome.code == 1
    assert checks(outcome)["soundness"][:2] == (
        PROBLEM,
        "the index is damaged: the full text does not agree with its rows",
    )
    assert "not checked" in checks(indexed("doctor", "--json", "--quick"))["soundness"][1]


# What may not be shown


@pytest.mark.parametrize(
    ("url", "safe"),
    [
        ("postgresql://ann:pw@h/x", "postgresql://ann:***@h/x"),
        ("postgresql://ann@h/x", "postgresql://ann@h/x"),
        ("postgresql://h/x", "postgresql://h/x"),
        ("postgresql://ann:p/w@h/x", "postgresql://ann:***@h/x"),
        ("postgresql://ann:p@w@h/x", "postgresql://ann:***@h/x"),
        ("postgresql://h/x?user=a&password=pw&x=1", "postgresql://h/x?user=a&password=***&x=1"),
        ("postgresql://h/x?sslpassword=pw", "postgresql://h/x?sslpassword=***"),
        ("host=h password=pw", "***"),
    ],
)
def test_the_configuration_is_shown_without_the_password(url: str, safe: str) -> None:
    assert shown_settings(Settings(database_url=url))["database_url"] == safe


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://ann:12/{SECRET}@h/x",
        f"postgresql://ann:12?{SECRET}@h/x",
        f"postgresql://ann:12#{SECRET}@h/x",
        f"postgresql://ann:{SECRET}/x@h/x",
        f"postgresql://ann:{SECRET}@[::1/x",
        f"host=h password={SECRET}",
        f"postgresql://ann:{SECRET}@h/x?sslmode=perhaps",
    ],
)
def test_an_address_that_cannot_be_read_is_refused_without_being_repeated(
    here: Cli, notes: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    assert here("project", "add", "mine", notes).code == 0
    monkeypatch.setenv(URL, url)
    outcome = here("sync")
    assert outcome.code == 1
    error, hint = outcome.err.splitlines()
    assert error.startswith("error: database_url cannot be used: ")
    assert hint.startswith("hint: Write for example ")
    assert checks(here("doctor", "--quick", "--json"))["database"][0] == PROBLEM


def test_the_password_stays_out_of_the_log_at_every_level(
    here: Cli, notes: Path, monkeypatch: pytest.MonkeyPatch, away: Callable[[], str]
) -> None:
    monkeypatch.setenv("BASIC_MEMORY_LOG_LEVEL", "TRACE")
    assert here("up", notes).code == 0
    away()
    assert here("sync").code == 1


def test_without_its_package_it_says_how_to_install_it(
    here: Cli, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert here("project", "add", "mine", notes).code == 0
    monkeypatch.setattr(
        postgres_module, "find_spec", lambda name: None if name == "asyncpg" else object()
    )
    outcome = here("sync")
    assert outcome.code == 1
    assert outcome.err == (
        "error: PostgreSQL needs the package asyncpg, which is not installed\n"
        'hint: Install it with: pip install "memoranda[postgres]"\n'
    )
    assert checks(here("doctor", "--quick", "--json"))["database"][0] == PROBLEM


# Going away in the middle


def test_a_database_that_goes_away_in_the_middle_of_a_sync_ends_it_in_words(
    indexed: Cli, notes: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (notes / "new.md").write_text("new\n")
    write = PostgresDatabase.write

    def cut(self: PostgresDatabase, work: Any, *, project_id: int = 0) -> Any:
        rows(
            databases().address("postgres"),
            f'ALTER DATABASE "{urlsplit(postgres_url).path[1:]}" ALLOW_CONNECTIONS false',
        )
        rows(
            databases().address("postgres"),
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            f" WHERE datname = '{urlsplit(postgres_url).path[1:]}'",
        )
        return write(self, work, project_id=project_id)

    monkeypatch.setattr(PostgresDatabase, "write", cut)
    outcome = indexed("sync")
    rows(
        databases().address("postgres"),
        f'ALTER DATABASE "{urlsplit(postgres_url).path[1:]}" ALLOW_CONNECTIONS true',
    )
    assert outcome.code == 1
    assert outcome.err.startswith("error: ")
    assert "hint: " in outcome.err
    monkeypatch.undo()
