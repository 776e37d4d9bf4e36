"""A folder of notes that is full of what programs take their settings or their code from.

Clients start servers with it as the current folder. Nothing in it but notes and ignore files is read.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memoranda.cli.command_line import program
from memoranda.files.ignore import IGNORE_FILES, parse_rules
from memoranda.files.scan import scan_folder

MODULES = (
    *(
        "memoranda",
        "sitecustomize",
        "usercustomize",
        "json",
        "logging",
        "typing",
        "sqlite3",
        "asyncio",
    ),
    *(
        "fastmcp",
        "mcp",
        "mcp_types",
        "loguru",
        "pydantic",
        "pydantic_settings",
        "rich",
        "typer",
        "anyio",
    ),
    *(
        "sqlalchemy",
        "alembic",
        "numpy",
        "yaml",
        "orjson",
        "uvicorn",
        "watchfiles",
        "dotenv",
        "Stemmer",
    ),
)
FILES = {
    ".env": "FASTMCP_LOG_LEVEL=LOUD\nBASIC_MEMORY_SERVER_NAME=Evil\nBASIC_MEMORY_READ_ONLY=true\n",
    ".basic-memory/config.json": '{"server_name": "Evil", "read_only": true}',
    "config.json": '{"server_name": "Evil", "read_only": true}',
    "fastmcp.json": '{"source": {"path": "evil.py"}}',
    "pyproject.toml": "[tool.fastmcp]\nlog_level = 'LOUD'\n",
    "pyvenv.cfg": "home = /nowhere\n",
    "python311._pth": ".\n",
    "evil.pth": "import os; os.abort()\n",
    "alembic.ini": "[alembic]\nscript_location = .\n",
    "logging.conf": "[loggers]\nkeys = evil\n",
    "uvicorn.ini": "host = 0.0.0.0\n",
    ".gitignore": f"{'*a' * 2000}b\n{'**/' * 1000}x\n[{'a-' * 500}\n/*\n!*.md\n",
    "aaaa.md": "---\ntitle: Evil\nrun: !!python/object/apply:os.system ['touch PWNED']\n---\n# Note\n\nours\n",
    "bomb.md": "---\na: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n---\nours too\n",
}
_LEAVES_MARK = "import pathlib; pathlib.Path({mark!r}).touch()\n"
_WATCHED = """
import os, sys
def look(event, arguments):
    if event == "open" and isinstance(arguments[0], str):
        path = os.path.abspath(arguments[0])
        if path == {vault!r} or path.startswith({vault!r} + "/"):
            os.write(log, (path + "\\n").encode())
log = os.open({log!r}, os.O_WRONLY | os.O_CREAT)
sys.addaudithook(look)
sys.argv = ["memoranda", "mcp"]
from memoranda.cli.main import main
main()
"""
"""The console command; what it opens in the vault is written down."""
_HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    for name in MODULES:
        (folder / f"{name}.py").write_text(_LEAVES_MARK.format(mark=str(tmp_path / name)), "utf-8")
    config = tmp_path / "config"
    config.mkdir()
    settings = {"projects": {"Main": {"path": str(folder)}}}
    (config / "config.json").write_text(json.dumps(settings), "utf-8")
    return folder


def environment(vault: Path) -> dict[str, str]:
    """Of a server as a client starts it: with its own configuration folder and nothing else of ours."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return kept | {
        "HOME": str(vault.parent),
        "BASIC_MEMORY_CONFIG_DIR": str(vault.parent / "config"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def ask(command: list[str], vault: Path, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """What a server that is started in the vault answers, `initialize` first."""
    asked = [("initialize", _HELLO), *(("tools/call", _call(*each)) for each in calls)]
    with subprocess.Popen(
        command,
        cwd=vault,
        env=environment(vault),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        answers = []
        for number, (method, params) in enumerate(asked):
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
            assert line, process.communicate()[1]
            answers.append(json.loads(line)["result"])
        process.stdin.close()
        assert process.wait(20) == 0
        return answers


def _call(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"name": tool, "arguments": arguments}


def marks(vault: Path) -> list[str]:
    """The modules of the vault that were run, and what its notes have done."""
    return [name for name in (*MODULES, "PWNED", "vault/PWNED") if (vault.parent / name).exists()]


def test_clients_are_told_to_start_python_without_the_current_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")  # no script lies beside it
    assert program() == ["/nowhere/python", "-P", "-m", "memoranda"]


def test_a_server_that_is_started_in_it_is_as_any_other(vault: Path) -> None:
    log = vault.parent / "opened"
    watched = _WATCHED.format(vault=str(vault), log=str(log))
    before = sorted(path.name for path in vault.iterdir())
    hello, read, written = ask(
        [sys.executable, "-P", "-c", watched],
        vault,
        ("read_note", {"path": "aaaa.md"}),
        ("write_note", {"title": "New", "content": "x"}),
    )
    assert hello["serverInfo"]["name"] == "Memoranda"
    assert "!!python/object" in read["content"][0]["text"]
    assert written["isError"] is False
    assert marks(vault) == []
    assert [path.name for path in vault.iterdir() if path.name not in before] == ["new.md"]
    opened = {Path(line).name for line in log.read_text("utf-8").splitlines()}
    assert "aaaa.md" in opened
    assert {name for name in opened if not name.endswith((".md", ".tmp"))} <= {
        *IGNORE_FILES,
        vault.name,
    }


def test_python_with_the_folder_on_its_path_takes_no_code_from_it(vault: Path) -> None:
    (vault / "memoranda.py").unlink()  # without -P nothing can help against that
    done = subprocess.run(
        [sys.executable, "-m", "memoranda", "project", "list"],
        cwd=vault,
        env=environment(vault),
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert "Main" in done.stdout, done.stderr
    assert marks(vault) == []


def test_ignore_files_made_to_be_slow_are_not(vault: Path) -> None:
    name = "a" * 200 + ".md"
    (vault / name).write_text("x", "utf-8")
    parse_rules.cache_clear()
    # a matcher that tries every way would not come back
    assert name in {str(state.path) for state in scan_folder(vault).files}
