"""What only a process shows: the wire, standard error, how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.client.stdio import stdio_client

from mcp import ClientSession, StdioServerParameters
from memoranda.files.clock import SystemClock
from memoranda.history.store import HistoryStore
from memoranda.model.history import Author, HistoryLimits

COMMAND = [sys.executable, "-m", "memoranda", "mcp"]
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


class Wire:
    """A server process spoken to line by line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[str] = []
        self._id = 0

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._id += 1
        self.send({"id": self._id, "method": method, "params": params})
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            message = json.loads(line)
            if message.get("id") == self._id:
                return dict(message["result"])
        raise AssertionError("the server closed its output")

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def greet(self) -> dict[str, Any]:
        result = self.ask("initialize", HELLO)
        self.send({"method": "notifications/initialized"})
        return result


@pytest.fixture
def start(project_root: Path) -> Callable[..., Any]:
    """Starts servers on the two test projects; a test that fails leaves none behind."""

    @contextmanager
    def run(*options: str, command: list[str] | None = None) -> Iterator[Wire]:
        process = subprocess.Popen(
            [*(command or COMMAND), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        try:
            yield Wire(process)
        finally:
            process.kill()
            process.communicate()

    return run


@pytest.mark.spec("6.1")
async def test_a_client_of_the_sdk_can_use_it(project_root: Path) -> None:
    server = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=dict(os.environ))
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        hello = await session.initialize()
        assert hello.server_info.name == "Memoranda"
        assert hello.instructions
        assert len((await session.list_tools()).tools) == 13
        result = await session.call_tool("write_note", {"title": "Hi", "content": "first words"})
        assert not result.is_error
        result = await session.call_tool("search_notes", {"query": "words"})
        assert "1. Hi — hi" in result.content[0].text
        result = await session.call_tool("read_note", {"path": "nothing", "output_format": "json"})
        assert result.is_error
        assert result.structured_content["error"]["code"] == "NOTE_NOT_FOUND"


def test_the_history_knows_the_client_by_what_it_said_in_initialize(
    start: Callable[..., Any], project_root: Path
) -> None:
    with start() as wire:
        wire.greet()
        assert not wire.call("write_note", title="A", content="x").get("isError")
    folder = project_root.parent / "config" / "main" / "history"
    history = HistoryStore(folder, project_root, SystemClock(), HistoryLimits())
    assert [change.author for change in history.changes()] == [Author("test", "1", "write_note")]
    history.close()


def test_standard_output_carries_json_rpc_and_nothing_else(start: Callable[..., Any]) -> None:
    with start() as wire:
        wire.greet()
        wire.call("write_note", title="A", content="x")
        wire.call("read_note", path="a")
        wire.call("read_note", path="memory://")
        wire.ask("tools/list", {})
        wire.process.stdin.write("no json\n")
        out, _ = wire.process.communicate(timeout=20)
        for line in [*wire.lines, *out.splitlines()]:
            assert json.loads(line)["jsonrpc"] == "2.0"


def test_what_a_library_prints_does_not_reach_the_client(start: Callable[..., Any]) -> None:
    noisy = (
        "import sys, memoranda.mcp.dispatch as d\n"
        "plain = d.call\n"
        "async def call(*a):\n"
        "    print('printed without a line end', end='')\n"
        "    import os; os.write(1, b'written to the descriptor')\n"
        "    return await plain(*a)\n"
        "d.call = call\n"
        "from memoranda.mcp.server import run_stdio; run_stdio()\n"
    )
    with start(command=[sys.executable, "-c", noisy]) as wire:
        wire.greet()
        assert wire.call("list_memory_projects")["isError"] is False
        out, err = wire.process.communicate(timeout=20)
        assert out == ""
        assert "printed without a line end" in err
        assert "written to the descriptor" in err


@pytest.mark.spec("18")
def test_it_ends_with_code_0_when_its_input_ends(start: Callable[..., Any]) -> None:
    with start() as wire:
        wire.greet()
        wire.call("write_note", title="A", content="x")
        _, err = wire.process.communicate(timeout=20)
        assert wire.process.returncode == 0
        assert "Traceback" not in err


@pytest.mark.spec("18")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_with_code_0_on_a_signal_though_input_is_open(
    start: Callable[..., Any], number: signal.Signals
) -> None:
    with start() as wire:
        wire.greet()
        wire.call("write_note", title="A", content="x")
        wire.process.send_signal(number)
        assert wire.process.wait(timeout=20) == 0
        assert "Traceback" not in wire.process.stderr.read()


@pytest.mark.spec("6.1")
def test_the_servers_name_is_configurable(
    start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BASIC_MEMORY_SERVER_NAME", "My Brain")
    with start() as wire:
        assert wire.greet()["serverInfo"]["name"] == "My Brain"


def test_a_broken_configuration_is_said_by_every_tool_and_can_be_mended(
    start: Callable[..., Any], project_root: Path
) -> None:
    config = project_root.parent / "config/config.json"
    good = config.read_text("utf-8")
    config.write_text("{ broken", "utf-8")
    with start() as wire:
        assert wire.greet()["serverInfo"]["name"] == "Memoranda"
        result = wire.call("list_directory")
        assert result["isError"] is True
        assert result["content"][0]["text"].startswith("CONFIG_ERROR")
        assert config.read_text("utf-8") == "{ broken"
        config.write_text(good, "utf-8")
        assert wire.call("list_directory").get("isError") is False


def test_initialize_is_answered_before_storage_is_imported(start: Callable[..., Any]) -> None:
    heavy = ("sqlalchemy", "alembic", "dateparser", "Stemmer", "pyromark")
    spying = (
        "import sys, memoranda.mcp.session as s\n"
        "plain = s.Session.start\n"
        "def start(self):\n"
        f"    loaded = [m for m in {heavy!r} if m in sys.modules]\n"
        "    sys.stderr.write(f'started with {loaded}\\n'); sys.stderr.flush()\n"
        "    return plain(self)\n"
        "s.Session.start = start\n"
        "from memoranda.mcp.server import run_stdio; run_stdio()\n"
    )
    with start(command=[sys.executable, "-c", spying]) as wire:
        wire.ask("initialize", HELLO)
        assert wire.process.stderr.readline() == "started with []\n"


@pytest.mark.parametrize(
    ("config", "level", "words"),
    [
        ("{ broken", "ERROR", "config.json"),
        (None, "WARNING", "No project is configured; begin with: memoranda up PATH"),
        (
            '{"database_backend": "postgres", "database_url": "mysql://db"}',
            "ERROR",
            "it does not begin with postgresql://",
        ),
    ],
)
def test_a_configuration_that_is_of_no_use_is_said_in_the_log_at_the_start(
    start: Callable[..., Any],
    project_root: Path,
    monkeypatch: pytest.MonkeyPatch,
    config: str | None,
    level: str,
    words: str,
) -> None:
    file = project_root.parent / "config/config.json"
    if config is None:
        file.unlink()
    else:
        file.write_text(config, "utf-8")
    monkeypatch.delenv("BASIC_MEMORY_DATABASE_URL", raising=False)
    with start() as wire:
        if config and "postgres" in config:  # this is seen when storage is opened
            wire.greet()
            wire.call("list_directory")
        out, err = wire.process.communicate(timeout=20)
        assert wire.process.returncode == 0
        assert all(json.loads(line)["jsonrpc"] == "2.0" for line in out.splitlines())
        log = (project_root.parent / "config/memoranda.log").read_text("utf-8")
        for text in (err, log):
            assert [line for line in text.splitlines() if level in line and words in line]


def test_a_configuration_that_is_well_needs_no_word(
    start: Callable[..., Any], project_root: Path
) -> None:
    with start() as wire:
        assert wire.process.communicate(timeout=20) == ("", "")
