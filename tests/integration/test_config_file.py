from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memoranda.config import (
    ConfigFile,
    Settings,
    check_project_folder,
    config_dir,
    config_file,
    configured_projects,
    database_path,
    ensure_private_folder,
    load_settings,
)
from memoranda.errors import ConfigProblem, InvalidArgument, ProjectConflict, RootMissing


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.upper().startswith("BASIC_MEMORY_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("BASIC_MEMORY_CONFIG_DIR", str(tmp_path / "cfg"))
    (tmp_path / "cfg").mkdir()
    return tmp_path / "cfg"


def write(folder: Path, values: object) -> None:
    (folder / "config.json").write_text(json.dumps(values, indent=2))


# Where settings come from


def test_without_a_file_defaults_hold_and_nothing_is_made(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BASIC_MEMORY_CONFIG_DIR", str(folder / "new"))
    assert load_settings() == Settings()
    assert not (folder / "new").exists()


@pytest.mark.spec("9.2")
def test_environment_beats_file_beats_defaults(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, {"sync_delay": 5, "semantic_vector_k": 6})
    monkeypatch.setenv("BASIC_MEMORY_SYNC_DELAY", "9")
    settings = load_settings()
    assert (settings.sync_delay, settings.semantic_vector_k) == (9, 6)
    assert settings.watch_project_reload_interval == 300
    assert settings.model_fields_set >= {"sync_delay", "semantic_vector_k"}
    assert "watch_project_reload_interval" not in settings.model_fields_set


def test_every_setting_can_come_from_the_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {
        "PROJECTS": '{"a": "/a"}',
        "DEFAULT_PROJECT": "a",
        "DATABASE_BACKEND": "postgres",
        "DATABASE_URL": "postgresql://db",
        "DATABASE_SCHEMA": "notes",
        "DATABASE_CONNECTIONS": "8",
        "DATABASE_STATEMENT_SECONDS": "9.5",
        "SEMANTIC_SEARCH_ENABLED": "true",
        "SEMANTIC_EMBEDDING_PROVIDER": "openai",
        "SEMANTIC_EMBEDDING_MODEL": "m",
        "SEMANTIC_MODEL_PATH": "/m",
        "SEMANTIC_POOLING": "cls",
        "SEMANTIC_ALLOW_DOWNLOAD": "true",
        "SEMANTIC_BASE_URL": "http://localhost:11434/v1",
        "SEMANTIC_DIMENSIONS": "512",
        "SEMANTIC_BATCH_SIZE": "8",
        "SEMANTIC_VECTOR_K": "3",
        "SEMANTIC_MIN_SIMILARITY": "0.1",
        "SYNC_DELAY": "0",
        "WATCH_PROJECT_RELOAD_INTERVAL": "1",
        "WATCH_MODE": "polling",
        "RECONCILE_INTERVAL": "60",
        "HISTORY_DAYS": "0",
        "HISTORY_MEGABYTES": "7",
        "SEARCH_LANGUAGES": '["german"]',
        "SEARCH_HALF_LIFE": "90",
        "SEARCH_LOG": "false",
        "SERVER_NAME": "S",
        "TOOLSETS": '["admin"]',
        "READ_ONLY": "true",
        "LOG_LEVEL": "debug",
        "PROJECTS_ROOT": "/r",
        "HTTP_HOST": "::1",
        "HTTP_PORT": "0",
        "HTTP_PATH": "/m",
        "HTTP_TOKEN_FILE": "/t",
        "HTTP_ALLOWED_HOSTS": '["notes.example.org"]',
        "HTTP_ALLOWED_ORIGINS": '["https://chat.example.org"]',
        "HTTP_REQUESTS_PER_SECOND": "0",
        "HTTP_CALL_SECONDS": "5",
        "HTTP_MAX_SESSIONS": "2",
    }
    assert {name.lower() for name in values} == set(Settings.model_fields)
    for name, value in values.items():
        monkeypatch.setenv(f"BASIC_MEMORY_{name}", value)
    settings, default = load_settings(), Settings()
    for name in Settings.model_fields:
        assert getattr(settings, name) != getattr(default, name), name
    assert settings.log_level == "DEBUG"


def test_an_empty_variable_is_not_set(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, {"default_project": "a"})
    monkeypatch.setenv("BASIC_MEMORY_DEFAULT_PROJECT", "")
    monkeypatch.setenv("BASIC_MEMORY_PROJECTS", "")
    assert load_settings().default_project == "a"


def test_the_environment_alone_describes_a_server(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = tmp_path / "vault"
    monkeypatch.setenv("BASIC_MEMORY_PROJECTS", json.dumps({"main": {"path": str(vault)}}))
    monkeypatch.setenv("BASIC_MEMORY_DEFAULT_PROJECT", "main")
    (project,) = configured_projects(load_settings())
    assert (project.path, project.is_default, project.is_active) == (vault, True, True)
    assert database_path(project) == folder / "main" / "memory.db"


def test_projects_of_the_environment_are_merged_by_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, {"projects": {"a": {"path": "/a", "mode": "cloud"}, "B": "/b", "c": "/c"}})
    monkeypatch.setenv("BASIC_MEMORY_PROJECTS", '{"d": {"path": "/d"}, "a": "/new", "b": "/b2"}')
    found = {p.name: (str(p.path), p.is_active) for p in configured_projects(load_settings())}
    assert found == {
        "d": ("/d", True),
        "a": ("/new", True),
        "b": ("/b2", True),
        "c": ("/c", True),
    }
    assert next(iter(found)) == "d"


def test_the_configuration_folder_can_use_tilde_and_defaults_to_the_home(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BASIC_MEMORY_CONFIG_DIR", "~/x")
    assert config_dir() == tmp_path / "home" / "x"
    monkeypatch.delenv("BASIC_MEMORY_CONFIG_DIR")
    assert config_dir() == tmp_path / "home" / ".basic-memory"


# A file of another program

FOREIGN: dict[str, Any] = {
    "env": "dev",
    "projects": {
        "main": "/data/basic",
        "work": {
            "path": "/data/work",
            "mode": "local",
            "workspace_id": None,
            "local_sync_path": None,
            "last_sync": "2026-01-01T00:00:00",
        },
        "far": {"path": "", "mode": "cloud", "workspace_id": "w1", "extra": {"deep": [1, 2]}},
    },
    "default_project": "main",
    "semantic_search_enabled": None,
    "log_level": "INFO",
    "cloud_host": "https://example.org",
    "database_url": None,
    "permalinks": {"include": True},
    "ünïcode": "✓",
}


def test_a_file_of_another_program_is_read(folder: Path) -> None:
    write(folder, FOREIGN)
    settings = load_settings()
    found = {p.name: (p.is_active, p.is_default) for p in configured_projects(settings)}
    assert found == {"main": (True, True), "work": (True, False), "far": (False, False)}
    assert settings.semantic_search_enabled is False
    assert "semantic_search_enabled" not in settings.model_fields_set


def test_what_we_do_not_know_survives_our_writes_in_its_place(folder: Path) -> None:
    write(folder, FOREIGN)

    def add(values: dict[str, Any]) -> None:
        values["projects"]["new"] = {"path": "/data/new"}
        values["default_project"] = "new"

    config_file().update(add)
    expected = json.loads(json.dumps(FOREIGN))
    add(expected)
    written = json.loads((folder / "config.json").read_text("utf-8"))
    assert written == expected
    assert list(written) == list(FOREIGN)
    assert "✓" in (folder / "config.json").read_text("utf-8")


# Writing


def test_a_write_makes_private_file_and_folder(tmp_path: Path) -> None:
    file = ConfigFile(tmp_path / "a" / "b" / "config.json")
    file.update(lambda values: values.update(default_project="x"))
    assert file.read() == {"default_project": "x"}
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o700


def test_a_folder_that_exists_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir(mode=0o755)
    ensure_private_folder(tmp_path / "shared")
    assert stat.S_IMODE((tmp_path / "shared").stat().st_mode) == 0o755


def test_no_change_writes_nothing(folder: Path) -> None:
    (folder / "config.json").write_text('{"a":   1}')
    config_file().update(lambda values: None)
    assert (folder / "config.json").read_text() == '{"a":   1}'


def test_a_change_that_fails_writes_nothing(folder: Path) -> None:
    write(folder, {"a": 1})
    before = (folder / "config.json").read_bytes()

    def fail(values: dict[str, Any]) -> None:
        values["a"] = 2
        raise KeyError("b")

    with pytest.raises(KeyError):
        config_file().update(fail)
    assert (folder / "config.json").read_bytes() == before


def test_a_full_disk_leaves_the_old_file_and_no_other(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, {"a": 1})

    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ConfigProblem, match="No space left"):
        config_file().update(lambda values: values.update(a=2))
    assert config_file().read() == {"a": 1}
    assert [p.name for p in folder.iterdir() if p.suffix == ".tmp"] == []


def test_a_symbolic_link_stays_one(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    target = tmp_path / "dotfiles" / "memory.json"
    target.write_text("{}")
    (folder / "config.json").symlink_to(target)
    config_file().update(lambda values: values.update(a=1))
    assert (folder / "config.json").is_symlink()
    assert json.loads(target.read_text()) == {"a": 1}


def test_a_lone_surrogate_survives_a_write(folder: Path) -> None:
    (folder / "config.json").write_text('{"odd": "\\ud800"}')
    config_file().update(lambda values: values.update(a="é"))
    assert config_file().read() == {"odd": "\ud800", "a": "é"}


def test_changes_of_many_processes_all_land(folder: Path) -> None:
    code = (
        "import sys; from memoranda.config import config_file\n"
        "for i in range(5): config_file().update(lambda v: v.update({f'{sys.argv[1]}-{i}': i}))"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(n)]) for n in range(4)]
    assert [process.wait() for process in running] == [0] * 4
    assert len(config_file().read()) == 20


# Broken files


@pytest.mark.parametrize(
    ("data", "word", "line"),
    [
        (b"", "is empty", 1),
        (b" \n\n", "is empty", 1),
        (b'{\n  "a": 1,\n  "b": \n}', "line 4, column 1", 4),
        (b'{"a": 1', "is not JSON", 1),
        (b"[1, 2]", "no JSON object", 1),
        (b'"text"', "no JSON object", 1),
        (b'{\n"a": "\xff"}', "is not UTF-8", 2),
        ('{"a": 1}'.encode("utf-16"), "is not UTF-8", 1),
        (b'{"a": ' + b"[" * 100_000 + b"}", "JSON", None),
    ],
)
def test_a_broken_file_is_reported_and_never_overwritten(
    folder: Path, data: bytes, word: str, line: int | None
) -> None:
    path = folder / "config.json"
    path.write_bytes(data)
    for action in (load_settings, lambda: config_file().update(lambda v: v.update(a=1))):
        with pytest.raises(ConfigProblem, match=word) as caught:
            action()
        assert caught.value.source == str(path)
        assert line is None or caught.value.line == line
        assert caught.value.hint
    assert path.read_bytes() == data


def test_a_byte_order_mark_is_accepted(folder: Path) -> None:
    (folder / "config.json").write_bytes(b'\xef\xbb\xbf{"sync_delay": 4}')
    assert load_settings().sync_delay == 4


def test_a_folder_in_place_of_the_file_is_reported(folder: Path) -> None:
    (folder / "config.json").mkdir()
    with pytest.raises(ConfigProblem, match="cannot be read"):
        load_settings()


@pytest.mark.parametrize(
    ("values", "key", "line"),
    [
        ({"a": 1, "sync_delay": "soon"}, "'sync_delay'", 3),
        ({"sync_delay": -1}, "'sync_delay'", 2),
        ({"database_backend": "mysql"}, "'database_backend'", 2),
        ({"log_level": "LOUD"}, "'log_level'.*TRACE", 2),
        ({"projects": ["/a"]}, "'projects'", 2),
        ({"projects": {"a": "/a", "b": {"path": 5}}}, "'projects.b.path'", 4),
        ({"projects": {"a": {"mode": "local"}}}, "'projects.a.path'", 3),
        ({"x": {"sync_delay": 1}, "sync_delay": "soon"}, "'sync_delay'", None),
    ],
)
def test_a_bad_value_names_file_key_and_line(
    folder: Path, values: object, key: str, line: int | None
) -> None:
    write(folder, values)
    with pytest.raises(ConfigProblem, match=key) as caught:
        load_settings()
    assert caught.value.source == str(folder / "config.json")
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("SYNC_DELAY", "soon", "integer"),
        ("PROJECTS", '{"a": ', "not JSON"),
        ("PROJECTS", "[1]", "dictionary"),
        ("PROJECTS", '{"a": {"path": 5}}', "a.path"),
        ("DATABASE_BACKEND", "mysql", "sqlite"),
        ("SEMANTIC_MIN_SIMILARITY", "2", "less than or equal to 1"),
        ("SEMANTIC_SEARCH_ENABLED", "perhaps", "boolean"),
    ],
)
def test_a_bad_variable_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, word: str
) -> None:
    write(folder, {"projects": {"z": "/z"}})
    monkeypatch.setenv(f"BASIC_MEMORY_{name}", value)
    with pytest.raises(ConfigProblem, match=word) as caught:
        load_settings()
    assert caught.value.source == f"BASIC_MEMORY_{name}"
    assert f"BASIC_MEMORY_{name}" in caught.value.message


def test_a_bad_project_of_the_file_is_not_blamed_on_the_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, {"projects": {"z": {"path": 1}}})
    monkeypatch.setenv("BASIC_MEMORY_PROJECTS", '{"a": "/a"}')
    with pytest.raises(ConfigProblem, match=r"'projects\.z\.path'") as caught:
        load_settings()
    assert caught.value.source == str(folder / "config.json")


# Folders of projects


def test_one_folder_by_a_link_and_by_its_name_is_one_folder(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "real" / "in").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    real, link, inner = configured_projects(
        Settings.model_validate(
            {
                "projects": {
                    "real": str(tmp_path / "real"),
                    "link": str(tmp_path / "link"),
                    "inner": str(tmp_path / "link" / "in"),
                }
            }
        )
    )
    assert "'real'" in link.disabled
    assert real.skips == ("in",)
    assert inner.is_active


def test_a_good_folder_is_accepted_there_or_not(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    assert check_project_folder(str(tmp_path / "there"), Settings()) == tmp_path / "there"
    assert check_project_folder(tmp_path / "new" / "x", Settings()) == tmp_path / "new" / "x"
    assert check_project_folder("~/notes", Settings()) == tmp_path / "home" / "notes"
    assert not (tmp_path / "new").exists()
    with pytest.raises(RootMissing):
        check_project_folder(tmp_path / "new", Settings(), must_exist=True)


@pytest.mark.parametrize("path", ["", "  ", "notes", "../x", "/a\0b", "/\ud800"])
def test_an_impossible_path_is_refused(folder: Path, path: str) -> None:
    with pytest.raises(InvalidArgument):
        check_project_folder(path, Settings())


@pytest.mark.parametrize("path", ["/", "//", "~", "~/../home", "{cfg}", "{cfg}/main", "{link}"])
def test_root_home_and_configuration_folder_are_refused(
    folder: Path, tmp_path: Path, path: str
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "home")
    with pytest.raises(ProjectConflict):
        check_project_folder(path.format(cfg=folder, link=tmp_path / "link"), Settings())


def test_a_file_and_a_taken_folder_are_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "taken").mkdir()
    settings = Settings.model_validate({"projects": {"mine": str(tmp_path / "taken")}})
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(ProjectConflict, match="not a folder"):
            check_project_folder(path, settings)
    with pytest.raises(ProjectConflict, match="'mine'"):
        check_project_folder(tmp_path / "taken", settings)


def test_an_unreadable_folder_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(RootMissing, match="Permission denied"):
        check_project_folder(tmp_path / "locked", Settings())
