"""The generated parts of the reference say what the code says."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    """docs/generate.py as a module."""
    spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["cli", "tools", "configuration"])
def test_page_is_current(generator: ModuleType, name: str) -> None:
    page = (DOCS / "reference" / f"{name}.md").read_text(encoding="utf-8")
    assert generator.filled(name, page) == page, "run: make docs"


def test_every_tool_command_and_setting_is_there(generator: ModuleType) -> None:
    from memoranda.mcp.table import TOOLS
    from memoranda.settings import Settings

    tools, settings, commands = generator.tools(), generator.configuration(), generator.cli()
    assert all(f"## `{tool.name}`" in tools for tool in TOOLS)
    assert all(f"| `{name}` |" in settings for name in Settings.model_fields)
    assert "## `memoranda project remove`" in commands


def test_only_required_arguments_stand_without_brackets(generator: ModuleType) -> None:
    text = generator.cli()
    assert "memoranda up PATH [OPTIONS]\n" in text
    assert "memoranda search [QUERY...] [OPTIONS]\n" in text
    assert "memoranda project add NAME PATH [OPTIONS]\n" in text
    assert "memoranda project info [NAME] [OPTIONS]\n" in text


def test_a_default_that_is_made_is_shown(generator: ModuleType) -> None:
    assert '| `BASIC_MEMORY_SEARCH_LANGUAGES` | `["english"]` |' in generator.configuration()


def test_a_default_that_does_not_count_is_not_shown_as_one(generator: ModuleType) -> None:
    from memoranda.cli.commands.config import DETECTED
    from memoranda.settings import Settings

    rows = [line.split(" | ") for line in generator.configuration().splitlines()[2:]]
    shown = {row[0].strip("| `"): row[2] for row in rows}
    assert shown.keys() == Settings.model_fields.keys()
    assert {name for name, default in shown.items() if default == "detected"} == set(DETECTED)
    assert shown["semantic_vector_k"] == "`100`"


def test_a_value_that_is_told_first_stays_as_it_is_typed(generator: ModuleType) -> None:
    assert "| fts: by words; vector: by meaning;" in generator.tools()


def test_every_parameter_of_a_tool_has_a_meaning(generator: ModuleType) -> None:
    rows = [line.split(" | ") for line in generator.tools().splitlines() if line.startswith("| `")]
    assert len(rows) > 50
    assert [row[0] for row in rows if not row[2].strip()] == []


def test_check_fails_on_a_stale_page(
    generator: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in generator.pages():
        (tmp_path / f"{name}.md").write_text(
            f"# Page\n\n<!-- generated: {name} -->\nstale words\n<!-- end -->\n\nBy hand.\n"
        )
    monkeypatch.setattr(generator, "REFERENCE", tmp_path)
    assert generator.main(["--check"]) == 1
    assert "stale words" in (tmp_path / "cli.md").read_text()
    assert generator.main([]) == 0
    assert generator.main(["--check"]) == 0
    text = (tmp_path / "cli.md").read_text()
    assert "stale words" not in text
    assert text.endswith("<!-- end -->\n\nBy hand.\n")


def test_page_without_its_part_is_an_error(generator: ModuleType) -> None:
    with pytest.raises(ValueError, match="needs one part"):
        generator.filled("cli", "# Page\n")
