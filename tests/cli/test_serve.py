"""`memoranda serve`, `memoranda up --serve` and `memoranda token`."""

from __future__ import annotations

import json
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

Cli = Callable[..., Any]  # the fixtures of conftest.py
TOKEN = "correct-horse-battery-staple-0123456789"


@pytest.fixture
def listening(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What was listened at, of servers that must not begin to."""
    at: list[object] = []
    bind = socket.socket.bind

    def noted(self: socket.socket, address: object) -> None:
        at.append(address)
        bind(self, address)

    monkeypatch.setattr(socket.socket, "bind", noted)
    return at


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_a_server_for_other_machines_needs_a_token(
    cli: Cli, listening: list[object], host: str
) -> None:
    done = cli("serve", "--host", host)
    assert done.code == 1
    assert "no token" in done.err
    assert "token`" in done.err  # the command that makes one
    assert listening == []


def test_a_setting_opens_the_server_no_more_than_the_option_does(
    cli: Cli, listening: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BASIC_MEMORY_HTTP_HOST", "0.0.0.0")
    assert (cli("serve").code, listening) == (1, [])


def test_a_port_that_is_taken_is_said(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = cli("serve", "--port", port)
    assert done.code == 1
    assert f"Another program listens at 127.0.0.1, port {port}" in done.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--host", "no such host"), "no address of this machine"),
        (("--host", "192.0.2.1"), "192.0.2.1"),
        (("--path", "/health"), "whether the server lives"),
        (("--allow-host", "https://x"), "not the name of a host"),
        (("--allow-origin", "*"), "not an origin"),
        (("--project", "nowhere"), "nowhere"),
        (("--token-file", "/nowhere/token"), "/nowhere/token"),
    ],
)
def test_what_cannot_be_served_is_said(cli: Cli, options: tuple[str, str], said: str) -> None:
    done = cli("serve", *options)
    assert done.code == 1
    assert said in done.err
    assert "Traceback" not in done.err


def test_up_finds_out_before_it_indexes_that_it_could_not_serve(
    cli: Cli, notes: Path, home: Path
) -> None:
    done = cli("up", notes, "--serve", "--host", "0.0.0.0")
    assert (done.code, done.out) == (1, "")
    assert not (home / "config.json").exists()


@pytest.mark.parametrize("option", [("--host", "127.0.0.1"), ("--port", "1")])
def test_up_without_serving_takes_no_address(
    cli: Cli, notes: Path, option: tuple[str, str]
) -> None:
    assert cli("up", notes, *option).code == 2


@pytest.mark.slow
def test_up_ends_by_serving_and_a_signal_ends_that_in_order(notes: Path, home: Path) -> None:
    command = [sys.executable, "-m", "memoranda", "up", str(notes), "--serve", "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        line = next(line for line in server.stdout if line.startswith("Serving 1 project at "))
        url = line.split()[-1]
        with urlopen(url.replace("/mcp", "/health")) as answer:
            assert json.loads(answer.read()) == {"status": "ok"}
        server.send_signal(signal.SIGTERM)
        _, errors = server.communicate(timeout=30)
    assert server.returncode == 0
    assert "Traceback" not in errors
    assert "ERROR" not in errors


STUCK = """
import asyncio, threading
from memoranda.http.plan import Asked
from memoranda.http.prepared import prepared
from memoranda.http.server import serve

def ready(serving):
    asyncio.get_running_loop().run_in_executor(None, threading.Event().wait)
    print(serving.urls[0], flush=True)

serve(prepared(Asked(port=0)), ready)
"""


@pytest.mark.slow
def test_a_thread_that_waits_for_ever_does_not_keep_the_server(home: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", STUCK], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        assert server.stdout.readline().startswith(b"http://")
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=30) == 0


def test_a_token_is_made_once_for_its_owner_alone(cli: Cli, home: Path) -> None:
    made = cli("token")
    file = home / "http.token"
    value = file.read_text("ascii").strip()
    assert made.out == f"Made a token in {file}\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert len(value) >= 40
    again = cli("token")
    assert again.out == f"The token is in {file}\n"
    assert file.read_text("ascii").strip() == value


def test_a_token_is_shown_when_asked_for_only(cli: Cli, home: Path) -> None:
    cli("token")
    value = (home / "http.token").read_text("ascii").strip()
    assert cli("token", "--show").out == f"{value}\n"
    assert cli("token", "--json").json == {"file": str(home / "http.token"), "made": False}
    assert cli("token", "--json", "--show").json["token"] == value


def test_a_new_token_takes_the_place_of_the_old(cli: Cli, home: Path) -> None:
    cli("token")
    before = (home / "http.token").read_text("ascii")
    assert "takes the old one until it is started again" in cli("token", "--new").out
    assert cli("token", "--new", "--json").json["made"] is True
    assert (home / "http.token").read_text("ascii") != before
    assert [each.name for each in home.iterdir() if "token" in each.name] == ["http.token"]


def test_a_token_may_lie_in_another_file(cli: Cli, home: Path, tmp_path: Path) -> None:
    other = tmp_path / "secrets" / "notes-token"
    assert cli("token", "--token-file", other).out == f"Made a token in {other}\n"
    assert not (home / "http.token").exists()


def test_a_token_of_the_environment_comes_first(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BASIC_MEMORY_HTTP_TOKEN", TOKEN)
    assert "BASIC_MEMORY_HTTP_TOKEN" in cli("token").out
    assert cli("token", "--show").out == f"{TOKEN}\n"
    assert not (home / "http.token").exists()


def test_a_token_that_others_can_read_is_not_taken(cli: Cli, home: Path) -> None:
    cli("token")
    (home / "http.token").chmod(0o640)
    for command in (("token",), ("serve",)):
        done = cli(*command)
        assert done.code == 1
        assert "chmod 600" in done.err


def test_no_command_shows_the_token(cli: Cli, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BASIC_MEMORY_HTTP_TOKEN", TOKEN)
    cli("up", notes)
    for command in (("config", "show"), ("status",), ("doctor",), ("token",), ("connect",)):
        done = cli(*command)
        assert TOKEN not in done.out + done.err


def test_to_show_a_token_makes_none(cli: Cli, home: Path) -> None:
    done = cli("token", "--show")
    assert (done.code, done.out) == (1, "")
    assert "no token here yet" in done.err
    assert not (home / "http.token").exists()
    made = cli("token", "--new", "--show").out
    assert made == (home / "http.token").read_text("ascii")


def test_the_token_of_another_machine_is_not_looked_for_here(cli: Cli, tmp_path: Path) -> None:
    there = cli(
        "connect", "cursor", "--file", tmp_path / "c.json", "--url", "https://notes.example/mcp"
    )
    assert "on the machine of the server: memoranda token --show" in there.out
    assert "export" not in there.out
    cli("token")
    here = cli("connect", "cursor", "--file", tmp_path / "c.json", "--url", "http://[::1]:8765/mcp")
    assert "export" in here.out
