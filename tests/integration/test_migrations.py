"""The schema as the migrations make it, and how they are run."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.engine import Engine

from memoranda.db import fts, migrate
from memoranda.db.engine import begin_read, begin_write, open_engine
from memoranda.db.tables import metadata
from memoranda.errors import DatabaseDamaged

pytestmark = pytest.mark.usefixtures("real_migrations")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("schema") / "memory.db"
    assert migrate.migrate(path) == "created"
    return path


@pytest.fixture
def engine(path: Path) -> Iterator[Engine]:
    engine = open_engine(path)
    yield engine
    engine.dispose()


def rows(path: Path, sql: str, *values: object) -> list[Any]:
    with closing(sqlite3.connect(path)) as db:
        db.row_factory = sqlite3.Row
        return db.execute(sql, values).fetchall()


# column: (type, NOT NULL, default) as spec 2.1 has them
Columns = dict[str, tuple[str, bool, str | None]]
TIMES: Columns = {
    "created_at": ("DATETIME", True, None),
    "updated_at": ("DATETIME", True, None),
}
SPEC_2_1: dict[str, Columns] = {
    "project": {
        "id": ("INTEGER", True, None),
        "external_id": ("TEXT", True, None),
        "name": ("TEXT", True, None),
        "path": ("TEXT", True, None),
        "permalink": ("TEXT", False, None),
        "is_active": ("BOOLEAN", True, "1"),
        "is_default": ("BOOLEAN", True, "0"),
        **TIMES,
    },
    "entity": {
        "id": ("INTEGER", True, None),
        "external_id": ("TEXT", True, None),
        "title": ("TEXT", True, None),
        "note_type": ("TEXT", False, None),
        "content_type": ("TEXT", True, "'text/markdown'"),
        "file_path": ("TEXT", True, None),
        "permalink": ("TEXT", False, None),
        "entity_metadata": ("TEXT", False, None),
        "content": ("TEXT", False, None),
        "mtime": ("REAL", False, None),
        "size": ("INTEGER", False, None),
        "checksum": ("TEXT", False, None),
        "project_id": ("INTEGER", True, None),
        **TIMES,
        "created_by": ("TEXT", False, None),
        "last_updated_by": ("TEXT", False, None),
    },
    "observation": {
        "id": ("INTEGER", True, None),
        "external_id": ("TEXT", True, None),
        "content": ("TEXT", True, None),
        "category": ("TEXT", False, None),
        "context": ("TEXT", False, None),
        "tags": ("TEXT", False, None),
        "permalink": ("TEXT", False, None),
        "entity_id": ("INTEGER", True, None),
        "project_id": ("INTEGER", True, None),
        **TIMES,
    },
    "relation": {
        "id": ("INTEGER", True, None),
        "external_id": ("TEXT", True, None),
        "from_id": ("INTEGER", True, None),
        "to_id": ("INTEGER", False, None),
        "to_name": ("TEXT", True, None),
        "relation_type": ("TEXT", True, None),
        "context": ("TEXT", False, None),
        "permalink": ("TEXT", False, None),
        "project_id": ("INTEGER", True, None),
        **TIMES,
    },
    "search_vector_chunks": {
        "id": ("INTEGER", True, None),
        "entity_id": ("INTEGER", True, None),
        "chunk_text": ("TEXT", True, None),
        "chunk_index": ("INTEGER", True, None),
        "project_id": ("INTEGER", False, None),
        "created_at": ("DATETIME", False, None),
        "updated_at": ("DATETIME", False, None),
    },
    "search_vector_embeddings": {
        "id": ("INTEGER", True, None),
        "chunk_id": ("INTEGER", True, None),
        "embedding": ("BLOB", True, None),
        "dimensions": ("INTEGER", True, None),
        "model": ("TEXT", True, None),
        "created_at": ("DATETIME", False, None),
    },
}
AFFINITY = {"VARCHAR": "TEXT", "FLOAT": "REAL"}

SECTIONS = {
    "project": "2.1.1",
    "entity": "2.1.2",
    "observation": "2.1.3",
    "relation": "2.1.4",
    "search_vector_chunks": "2.1.5",
    "search_vector_embeddings": "2.1.5",
}


@pytest.mark.parametrize(
    "table",
    [pytest.param(name, marks=pytest.mark.spec(number)) for name, number in SECTIONS.items()],
)
def test_table_has_the_columns_of_the_specification(path: Path, table: str) -> None:
    found = rows(path, f"PRAGMA table_info({table})")
    wanted = SPEC_2_1[table]
    assert [row["name"] for row in found][: len(wanted)] == list(wanted), "first and in its order"
    assert {
        row["name"]: (
            AFFINITY.get(row["type"], row["type"]),
            bool(row["notnull"]),
            row["dflt_value"],
        )
        for row in found
        if row["name"] in wanted
    } == wanted
    assert [row["name"] for row in found if row["pk"]] == ["id"]


@pytest.mark.parametrize(
    "table",
    [
        pytest.param("project", marks=pytest.mark.spec("2.1.1")),
        pytest.param("entity", marks=pytest.mark.spec("2.1.2")),
        pytest.param("observation", marks=pytest.mark.spec("2.1.3")),
        pytest.param("relation", marks=pytest.mark.spec("2.1.4")),
        "search_vector_embeddings",
    ],
)
def test_an_id_is_never_used_twice(path: Path, table: str) -> None:
    (row,) = rows(path, "SELECT sql FROM sqlite_master WHERE name = ?", table)
    assert "AUTOINCREMENT" in row["sql"]


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        pytest.param("project", ["external_id"], marks=pytest.mark.spec("2.1.1")),
        pytest.param("project", ["permalink"], marks=pytest.mark.spec("2.1.1")),
        pytest.param("entity", ["external_id"], marks=pytest.mark.spec("2.1.2")),
        pytest.param("entity", ["permalink", "project_id"], marks=pytest.mark.spec("2.1.2")),
        pytest.param("entity", ["file_path", "project_id"], marks=pytest.mark.spec("2.1.2")),
        pytest.param("observation", ["external_id"], marks=pytest.mark.spec("2.1.3")),
        pytest.param("relation", ["external_id"], marks=pytest.mark.spec("2.1.4")),
    ],
)
def test_unique(path: Path, table: str, columns: list[str]) -> None:
    assert (tuple(columns), True, False) in indexes(path, table)


@pytest.mark.parametrize(
    ("table", "column"),
    [
        pytest.param("entity", "note_type", marks=pytest.mark.spec("2.1.2")),
        pytest.param("entity", "permalink", marks=pytest.mark.spec("2.1.2")),
        pytest.param("observation", "category", marks=pytest.mark.spec("2.1.3")),
        # what a deleted entity must find without reading whole tables
        ("observation", "entity_id"),
        ("relation", "from_id"),
        ("relation", "to_id"),
        ("link", "entity_id"),
        ("link", "to_id"),
        ("search_vector_chunks", "entity_id"),
        ("search_vector_embeddings", "chunk_id"),
    ],
)
def test_indexed(path: Path, table: str, column: str) -> None:
    assert any(
        columns[0] == column and not partial for columns, _unique, partial in indexes(path, table)
    )


@pytest.mark.spec("2.1.4")
def test_relation_is_unique_by_target_or_by_name(path: Path) -> None:
    partial = {
        columns for columns, unique, partial in indexes(path, "relation") if unique and partial
    }
    assert partial == {
        ("from_id", "to_id", "relation_type"),
        ("from_id", "to_name", "relation_type"),
    }


@pytest.mark.parametrize(
    ("table", "column", "target", "action"),
    [
        pytest.param("entity", "project_id", "project", None, marks=pytest.mark.spec("2.1.2")),
        pytest.param(
            "observation", "entity_id", "entity", "CASCADE", marks=pytest.mark.spec("2.1.3")
        ),
        pytest.param("observation", "project_id", "project", None, marks=pytest.mark.spec("2.1.3")),
        pytest.param("relation", "from_id", "entity", "CASCADE", marks=pytest.mark.spec("2.1.4")),
        pytest.param("relation", "to_id", "entity", "SET NULL", marks=pytest.mark.spec("2.1.4")),
        pytest.param("relation", "project_id", "project", None, marks=pytest.mark.spec("2.1.4")),
        pytest.param(
            "search_vector_chunks",
            "entity_id",
            "entity",
            "CASCADE",
            marks=pytest.mark.spec("2.1.5"),
        ),
        pytest.param(
            "search_vector_embeddings",
            "chunk_id",
            "search_vector_chunks",
            "CASCADE",
            marks=pytest.mark.spec("2.1.5"),
        ),
        ("search_vector_notes", "entity_id", "entity", "CASCADE"),
    ],
)
def test_foreign_key(path: Path, table: str, column: str, target: str, action: str | None) -> None:
    (found,) = [
        row for row in rows(path, f"PRAGMA foreign_key_list({table})") if row["from"] == column
    ]
    assert (found["table"], found["to"], found["on_delete"]) == (
        target,
        "id",
        action or "NO ACTION",
    )


@pytest.mark.spec("2.1.5")
def test_full_text_table_is_the_one_the_code_names(path: Path) -> None:
    (row,) = rows(path, "SELECT sql FROM sqlite_master WHERE name = ?", fts.TABLE)
    assert row["sql"] == fts.CREATE
    assert [row["name"] for row in rows(path, f"PRAGMA table_info({fts.TABLE})")] == list(
        fts.COLUMNS
    )


@pytest.mark.spec("2.1.5")
def test_only_text_is_searched(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        for position, column in enumerate(fts.COLUMNS):
            db.execute(
                f"INSERT INTO search_index(rowid, {column}) VALUES (?, ?)",
                (position + 1, "needle"),
            )
        found = db.execute("SELECT rowid FROM search_index WHERE search_index MATCH 'needle'")
        assert {fts.COLUMNS[rowid - 1] for (rowid,) in found} == set(fts.INDEXED)


def test_accents_are_folded(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("INSERT INTO search_index(rowid, content) VALUES (1, 'Señal DÉBIL Việt')")
        match = "SELECT rowid FROM search_index WHERE search_index MATCH ?"
        assert db.execute(match, ('"senal" "debil" "viet"',)).fetchall() == [(1,)]


@pytest.mark.spec("10")
def test_migrations_make_the_schema_of_the_code(engine: Engine) -> None:
    def is_ours(name: str | None, kind: str, _parents: object) -> bool:
        return kind != "table" or name not in {fts.TABLE, *fts.SHADOW_TABLES}

    with begin_read(engine) as conn:
        context = MigrationContext.configure(
            conn,
            opts={
                "include_name": is_ours,
                "compare_type": True,
                "compare_server_default": True,
            },
        )
        assert compare_metadata(context, metadata) == []


def test_the_newest_revision_and_its_tables_are_the_ones_the_code_names(path: Path) -> None:
    config = Config()
    config.set_main_option("script_location", migrate.SCRIPTS)
    assert ScriptDirectory.from_config(config).get_current_head() == migrate.HEAD
    found = {row["name"] for row in rows(path, "SELECT name FROM sqlite_master WHERE type='table'")}
    assert found - {"sqlite_sequence"} == migrate.TABLES
    assert set(metadata.tables) <= migrate.TABLES


def test_a_new_database_is_private_and_stamped(tmp_path: Path) -> None:
    path = tmp_path / "config" / "project" / "memory.db"
    assert migrate.migrate(path) == "created"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert path.parent.parent.stat().st_mode & 0o777 == 0o700
    assert rows(path, "PRAGMA application_id")[0][0] == migrate.APPLICATION_ID
    assert rows(path, "PRAGMA user_version")[0][0] == int(migrate.HEAD)
    assert rows(path, "PRAGMA journal_mode")[0][0] == "wal"
    assert {file.name for file in path.parent.iterdir()} <= {
        "memory.db",
        "memory.db-shm",
        "memory.db-wal",
        "memory.db.lock",
    }


@pytest.mark.spec("10")
def test_a_current_database_imports_neither_alembic_nor_sqlalchemy(path: Path) -> None:
    done = run(
        "import sys; from pathlib import Path; from memoranda.db.migrate import migrate\n"
        "print(migrate(Path(sys.argv[1])), sorted({'alembic', 'sqlalchemy'} & set(sys.modules)))",
        path,
    )
    assert done == "current []\n"


def test_migrating_writes_nothing_to_stdout_or_stderr(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    migrate.migrate(tmp_path / "memory.db")
    assert capfd.readouterr() == ("", "")


def test_two_processes_at_once_make_one_database(tmp_path: Path) -> None:
    path = tmp_path / "new" / "memory.db"
    code = (
        "import sys; from pathlib import Path; from memoranda.db.migrate import migrate\n"
        "import alembic.command, memoranda.db.engine\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "print(migrate(Path(sys.argv[1])))"
    )
    children = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for child in children:
        assert child.stdout
        assert child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin
        child.stdin.write("\n")
        child.stdin.flush()
    answers = sorted(child.communicate()[0].strip() for child in children)
    assert answers == ["created", "current", "current", "current"]
    assert migrate.read_state(path).state is migrate.State.CURRENT


HEAD = migrate.HEAD
NEXT = f"{int(HEAD) + 1:04}"


@pytest.fixture
def next_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the migrations with one more revision, which the code then takes for the newest."""
    scripts = tmp_path / "scripts 100%"
    source = Path(migrate.__file__).parent / "migrations"
    (scripts / "versions").mkdir(parents=True)
    for file in (source / "env.py", *(source / "versions").glob("0*.py")):
        (scripts / file.relative_to(source)).write_bytes(file.read_bytes())
    (scripts / "versions" / "next.py").write_text(
        "from alembic import op\n"
        "import sqlalchemy as sa\n"
        f"revision, down_revision = '{NEXT}', '{migrate.HEAD}'\n"
        "def upgrade():\n"
        "    op.add_column('project', sa.Column('colour', sa.Text))\n"
    )
    monkeypatch.setattr(migrate, "SCRIPTS", str(scripts).replace("%", "%%"))
    monkeypatch.setattr(migrate, "HEAD", NEXT)
    return scripts


ADD_PROJECT = (
    "INSERT INTO project(external_id, name, path, created_at, updated_at)"
    " VALUES ('x', 'Kept', '/notes', '2026-01-01', '2026-01-01')"
)


def older(path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrate, "HEAD", HEAD)
        patch.setattr(migrate, "SCRIPTS", "memoranda.db:migrations")
        migrate.migrate(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute(ADD_PROJECT)
        db.execute("INSERT INTO index_meta VALUES (1, 'key', 'value')")
        db.commit()


def append(scripts: Path, line: str) -> None:
    script = scripts / "versions" / "next.py"
    script.write_text(f"{script.read_text()}    {line}\n")


@pytest.mark.spec("10")
def test_an_older_database_is_upgraded_and_keeps_its_rows(
    tmp_path: Path, next_revision: Path
) -> None:
    path = tmp_path / "memory.db"
    older(path)
    assert migrate.migrate(path) == "upgraded"
    assert tuple(rows(path, "SELECT name, colour FROM project")[0]) == ("Kept", None)
    assert rows(path, "PRAGMA user_version")[0][0] == int(NEXT)
    assert migrate.migrate(path) == "current"


def test_a_failed_upgrade_leaves_the_database_as_it_was(
    tmp_path: Path, next_revision: Path
) -> None:
    path = tmp_path / "memory.db"
    older(path)
    append(next_revision, "raise RuntimeError('half way')")
    with pytest.raises(RuntimeError, match="half way"):
        migrate.migrate(path)
    assert migrate.read_state(path).state is migrate.State.OLDER
    assert "colour" not in {row["name"] for row in rows(path, "PRAGMA table_info(project)")}


def test_an_upgrade_may_rebuild_a_table_that_others_point_to(
    tmp_path: Path, next_revision: Path
) -> None:
    path = tmp_path / "memory.db"
    older(path)
    append(next_revision, "with op.batch_alter_table('project', recreate='always'): pass")
    assert migrate.migrate(path) == "upgraded"
    assert rows(path, "SELECT value FROM index_meta JOIN project ON project_id = project.id")


def test_an_upgrade_that_leaves_dangling_rows_is_undone(
    tmp_path: Path, next_revision: Path
) -> None:
    path = tmp_path / "memory.db"
    older(path)
    append(next_revision, "op.execute('DELETE FROM project')")
    with pytest.raises(DatabaseDamaged, match="dangling"):
        migrate.migrate(path)
    assert migrate.read_state(path).state is migrate.State.OLDER
    assert rows(path, "SELECT name FROM project")


def test_a_failed_creation_leaves_no_database_and_the_next_one_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memory.db"
    with monkeypatch.context() as patch:
        patch.setattr(migrate, "SCRIPTS", str(tmp_path / "missing"))
        with pytest.raises(Exception, match="doesn't exist"):
            migrate.migrate(path)
    assert not path.exists()
    assert migrate.migrate(path) == "created"


def test_a_foreign_file_is_not_migrated(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.write_text("shopping list")
    with pytest.raises(DatabaseDamaged, match="not a SQLite database"):
        migrate.migrate(path)
    assert path.read_text() == "shopping list"


def indexes(path: Path, table: str) -> set[tuple[tuple[str, ...], bool, bool]]:
    """(columns, unique, partial) of every index of a table."""
    return {
        (
            tuple(row["name"] for row in rows(path, f"PRAGMA index_info('{index['name']}')")),
            bool(index["unique"]),
            bool(index["partial"]),
        )
        for index in rows(path, f"PRAGMA index_list({table})")
    }


def run(code: str, *arguments: object) -> str:
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_a_database_without_vectors_is_upgraded_and_keeps_its_notes(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.touch()
    config = Config()
    config.set_main_option("script_location", migrate.SCRIPTS)
    engine = open_engine(path, foreign_keys=False)
    with begin_write(engine) as conn:
        config.attributes["connection"] = conn
        command.upgrade(config, "0004")
        conn.exec_driver_sql(f"PRAGMA application_id = {migrate.APPLICATION_ID}")
        conn.exec_driver_sql("PRAGMA user_version = 4")
        conn.exec_driver_sql(ADD_PROJECT)
        conn.exec_driver_sql(
            "INSERT INTO entity(id, external_id, title, file_path, project_id, created_at, updated_at,"
            " mtime_ns, ctime_ns, inode, note_created, note_modified, wanted_permalink,"
            " permalink_class, hashed_permalink) VALUES"
            " (7, 'e', 'Kept', 'kept.md', 1, '', '', 1, 1, 1, '', '', 'kept', 0, 'kept')"
        )
    engine.dispose()
    assert migrate.migrate(path) == "upgraded"
    assert [row["title"] for row in rows(path, "SELECT title FROM entity WHERE id = 7")] == ["Kept"]
    for table in ("chunks", "embeddings", "notes"):
        assert rows(path, f"SELECT * FROM search_vector_{table}") == []
    assert ("id", "project_id", "checksum", "title", "updated_at", "mtime_ns") in {
        columns for columns, _unique, _partial in indexes(path, "entity")
    }
