from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from memoranda.config import (
    Settings,
    configured_projects,
    database_path,
    find_project,
    lock_folder,
    log_file,
    project_permalink,
)
from memoranda.errors import ProjectNotFound
from memoranda.model.project import Project


@pytest.fixture(autouse=True)
def config_folder(monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BASIC_MEMORY_CONFIG_DIR", "/nowhere/cfg")
    monkeypatch.setenv("HOME", "/nowhere/home")
    return Path("/nowhere/cfg")


def projects(default: str | None = None, **entries: object) -> tuple[Project, ...]:
    return configured_projects(Settings(projects=entries, default_project=default))  # type: ignore[arg-type]


def disabled(**entries: object) -> dict[str, str]:
    return {p.name: p.disabled for p in projects(**entries) if p.disabled}


SPECIFIED = {
    "projects": {},
    "default_project": None,
    "database_backend": "sqlite",
    "semantic_search_enabled": False,
    "semantic_embedding_provider": "fastembed",
    "semantic_embedding_model": "bge-small-en-v1.5",
    "semantic_vector_k": 100,
    "semantic_min_similarity": 0.55,
    "sync_delay": 1000,
    "watch_project_reload_interval": 300,
}
OURS = {
    "database_url": None,
    "database_schema": "memoranda",
    "database_connections": 4,
    "database_statement_seconds": 30,
    "semantic_model_path": None,
    "semantic_pooling": None,
    "semantic_allow_download": False,
    "semantic_base_url": None,
    "semantic_dimensions": None,
    "semantic_batch_size": 64,
    "watch_mode": "auto",
    "reconcile_interval": 300,
    "history_days": 365,
    "history_megabytes": 500,
    "search_languages": ["english"],
    "search_log": True,
    "search_half_life": 0,
    "server_name": "Memoranda",
    "toolsets": ["notes"],
    "read_only": False,
    "log_level": "INFO",
    "projects_root": None,
    "http_host": "127.0.0.1",
    "http_port": 8765,
    "http_path": "/mcp",
    "http_token_file": None,
    "http_allowed_hosts": [],
    "http_allowed_origins": [],
    "http_requests_per_second": 50,
    "http_call_seconds": 60,
    "http_max_sessions": 100,
}


@pytest.mark.spec("9.1")
def test_defaults_are_those_of_the_specification() -> None:
    defaults = Settings().model_dump()
    assert {name: defaults[name] for name in SPECIFIED} == SPECIFIED


def test_settings_of_our_own_have_their_defaults() -> None:
    defaults = Settings().model_dump()
    assert {name: value for name, value in defaults.items() if name not in SPECIFIED} == OURS


def test_settings_made_in_code_do_not_see_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BASIC_MEMORY_SYNC_DELAY", "7")
    assert Settings().sync_delay == 1000


def test_importing_config_does_not_load_pydantic() -> None:
    code = "import sys, memoranda.config; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_project_may_be_a_plain_path() -> None:
    (project,) = projects(main="/data/notes")
    assert (project.name, project.path, project.is_active) == ("main", Path("/data/notes"), True)


def test_tilde_is_the_home_folder() -> None:
    (project,) = projects(main={"path": "~/notes"})
    assert project.path == Path("/nowhere/home/notes")


@pytest.mark.parametrize(
    ("entry", "word"),
    [
        ({"path": "/a", "is_active": False}, "switched off"),
        ({"path": "/a", "mode": "cloud"}, "cloud projects are not supported"),
        ({"mode": "cloud", "workspace_id": "w"}, "cloud projects are not supported"),
        ({"path": "/a", "mode": "remote"}, "'remote' is not known"),
        ({"path": ""}, "empty"),
        ({"path": "notes"}, "not absolute"),
        ({"path": "./notes"}, "not absolute"),
        ({"path": "C:\\notes"}, "not absolute"),
        ({"path": "/a\0b"}, "no path can have"),
        ({"path": "~nobody-of-that-name/x"}, "unknown user"),
        ({"path": "/"}, "root of the file system"),
        ({"path": "/a/.."}, "root of the file system"),
        ({"path": "~"}, "home folder"),
        ({"path": "~/"}, "home folder"),
        ({"path": "/nowhere/cfg"}, "configuration folder"),
        ({"path": "/nowhere/cfg/main"}, "configuration folder"),
    ],
)
def test_what_cannot_be_served_is_disabled_with_its_reason(entry: object, word: str) -> None:
    (project,) = projects(main=entry)
    assert word in project.disabled
    assert project.path.is_absolute()


def test_the_second_name_for_one_folder_is_disabled() -> None:
    assert list(disabled(first="/a/b", second="/a/./b/", third="/a/c/../b")) == ["second", "third"]
    assert "'first'" in disabled(first="/a/b", second="/a/b")["second"]


def test_the_second_name_for_one_permalink_is_disabled() -> None:
    assert list(disabled(**{"My Notes": "/a", "my-notes": "/b", "other": "/c"})) == ["my-notes"]


def test_a_disabled_project_takes_neither_folder_nor_permalink() -> None:
    off = {"path": "/a", "mode": "cloud"}
    assert list(disabled(Main=off, main="/a")) == ["Main"]


def test_the_outer_project_skips_the_folders_of_the_inner_ones() -> None:
    outer, inner, innermost, beside = projects(
        outer="/n", inner="/n/a/in", innermost="/n/a/in/deep", beside="/nn/x"
    )
    assert outer.skips == ("a/in", "a/in/deep")
    assert inner.skips == ("deep",)
    assert innermost.skips == beside.skips == ()


def test_a_disabled_inner_project_is_not_skipped() -> None:
    outer, _ = projects(outer="/n", inner={"path": "/n/in", "is_active": False})
    assert outer.skips == ()


def test_a_project_around_the_configuration_folder_skips_it() -> None:
    assert projects(main="/nowhere")[0].skips == ("cfg",)


@pytest.mark.spec("11")
def test_the_configured_default_is_marked() -> None:
    marked = [p.name for p in projects("SECOND", first="/a", second="/b") if p.is_default]
    assert marked == ["second"]


@pytest.mark.spec("11")
@pytest.mark.parametrize("default", [None, "", "  "])
def test_without_a_configured_default_the_first_active_project_is_it(default: str | None) -> None:
    off = {"path": "/a", "is_active": False}
    marked = [p.name for p in projects(default, off=off, on="/b", more="/c") if p.is_default]
    assert marked == ["on"]


@pytest.mark.spec("11")
def test_a_configured_default_that_does_not_exist_is_never_replaced() -> None:
    known = projects("nope", on="/b", more="/c")
    assert [p.name for p in known if p.is_default] == []
    with pytest.raises(ProjectNotFound) as caught:
        find_project(known, None)
    assert (caught.value.name, caught.value.known) == ("nope", ("on", "more"))
    assert "default" in caught.value.hint
    assert "on, more" in caught.value.hint
    assert find_project(known, "more").name == "more"


def test_a_default_without_any_project_says_that_there_is_none() -> None:
    with pytest.raises(ProjectNotFound) as caught:
        find_project(projects("main"), None)
    assert caught.value.name is None


def test_a_disabled_default_is_not_replaced_by_another_project() -> None:
    found = find_project(projects("off", off={"path": "/a", "mode": "cloud"}, on="/b"), None)
    assert (found.name, found.is_active) == ("off", False)


@pytest.mark.spec("11")
@pytest.mark.parametrize("name", ["Second Brain", "second brain", " SECOND BRAIN ", "second-brain"])
def test_a_project_is_found_by_name_in_any_case_and_by_permalink(name: str) -> None:
    known = projects(first="/a", **{"Second Brain": "/b"})
    assert find_project(known, name).name == "Second Brain"


@pytest.mark.parametrize("name", [None, "", "  "])
def test_no_name_means_the_default(name: str | None) -> None:
    assert find_project(projects("b", a="/a", b="/b"), name).name == "b"


def test_an_exact_name_beats_another_case_and_active_beats_disabled() -> None:
    known = projects(Main={"path": "/a", "mode": "cloud"}, main="/b")
    assert find_project(known, "main").name == "main"
    assert find_project(known, "Main").name == "Main"
    assert find_project(known, "MAIN").name == "main"


def test_composed_and_decomposed_names_are_one() -> None:
    assert find_project(projects(Café="/a"), "cafe\u0301").name == "Café"


def test_an_unknown_name_lists_the_active_projects() -> None:
    known = projects(a="/a", b={"path": "/b", "is_active": False})
    with pytest.raises(ProjectNotFound) as caught:
        find_project(known, "typo")
    assert caught.value.known == ("a",)
    assert caught.value.name == "typo"


@pytest.mark.spec("11")
def test_no_projects_is_an_error() -> None:
    with pytest.raises(ProjectNotFound) as caught:
        find_project((), None)
    assert caught.value.name is None


@pytest.mark.spec("10")
def test_databases_locks_and_log_lie_in_the_configuration_folder(config_folder: Path) -> None:
    (project,) = projects(**{"My Notes": "/a"})
    assert database_path(project) == config_folder / "my-notes" / "memory.db"
    assert lock_folder(project) == config_folder / "my-notes" / "locks"
    assert log_file().parent == config_folder


def test_every_name_has_a_permalink_that_can_name_a_folder() -> None:
    names = ["!!!", "???", "x" * 500, "x" * 501, "東" * 200]
    permalinks = [project_permalink(name) for name in names]
    assert len(set(permalinks)) == len(names)
    assert permalinks[2].startswith("x" * 100)
    assert all(0 < len(p.encode()) <= 200 and "/" not in p for p in permalinks)
