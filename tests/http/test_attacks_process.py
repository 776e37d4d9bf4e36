"""`memoranda serve` as a process: what others of the machine see of it, and that its clients are remote."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from tests.http.attacks import SECRET
from tests.http.by_hand import MODERN, Hand
from tests.http.conftest import PROTOCOL

from memoranda.config import http_token_file
from memoranda.http.tokens import make_token


@dataclass(frozen=True, slots=True)
class Process:
    """A server process that answers."""

    pid: int
    url: str
    token: str
    home: Path


@pytest.fixture
def process(project_root: Path) -> Iterator[Process]:
    home = project_root.parent
    (home / "below").mkdir()
    file = home / "config/config.json"
    settings = json.loads(file.read_text("utf-8")) | {
        "projects_root": str(home / "below"),
        "log_level": "DEBUG",
    }
    file.write_text(json.dumps(settings), "utf-8")
    token = make_token(http_token_file())
    with (home / "errors").open("wb") as errors:
        running = subprocess.Popen(
            [sys.executable, "-m", "memoranda", "serve", "--port", "0", "--json"],
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=home,
            env=os.environ | {"FASTMCP_DEBUG": "true", "FASTMCP_LOG_LEVEL": "DEBUG"},
        )
    assert running.stdout is not None
    told = ""
    for line in running.stdout:
        told += line.decode()
        with contextlib.suppress(ValueError):
            json.loads(told)
            break
    try:
        yield Process(running.pid, json.loads(told)["urls"][0], token, home)
    finally:
        running.terminate()
        assert running.wait(20) == 0
        running.stdout.close()


def command_line(pid: int) -> bytes:
    """As all users of the machine see it; empty where there is no such file."""
    file = Path(f"/proc/{pid}/cmdline")
    return file.read_bytes() if file.exists() else b""


@pytest.mark.slow
async def test_a_process_keeps_its_clients_below_the_root_and_its_secrets(
    process: Process,
) -> None:
    async with httpx2.AsyncClient(
        headers=PROTOCOL | {"authorization": f"Bearer {process.token}"}, timeout=30
    ) as web:
        hand = Hand(web, process.url, MODERN)
        outside = (str(process.home / "elsewhere"), "../elsewhere", "/etc", "~/notes", "/")
        for path in outside:
            made = await hand.call("create_memory_project", name="Evil", path=path)
            assert (path, made.result["isError"]) == (path, True)
        assert not (process.home / "elsewhere").exists()
        made = await hand.call("create_memory_project", name="Team", path="team")
        assert made.result["isError"] is False
        assert (process.home / "below/team").is_dir()
        written = await hand.call("write_note", title="Pier", content=SECRET, project="Team")
        assert written.result["isError"] is False

        session = Hand(web, process.url, "2025-11-25")
        await session.greet()
        identity = session.headers["mcp-session-id"]
        for body in (b"[", b"{" + SECRET.encode(), b'{"id":[{}]}'):
            answer = await web.post(process.url, content=body, headers=session.headers)
            assert answer.status_code == 400
        secret = {"mcp-session-id": SECRET}
        assert (await web.get(process.url, headers=secret)).status_code == 404
        assert (await web.post(process.url, json={}, headers=secret)).status_code == 404
        wrong = {"authorization": f"Bearer {SECRET}"}
        assert (await web.post(f"{process.url}?{SECRET}", headers=wrong)).status_code == 401
        assert (await web.get(f"{process.url}/{SECRET}")).status_code == 404
        foreign = {"origin": f"https://{SECRET}.example"}
        assert (await web.post(process.url, json={}, headers=foreign)).status_code == 403
        assert (
            await web.get(process.url, headers={"host": f"{SECRET}.example"})
        ).status_code == 421
        assert (await web.delete(process.url, headers=session.headers)).status_code == 200

    logs = (process.home / "config/memoranda.log", process.home / "errors")
    text = "".join(file.read_text("utf-8") for file in logs)
    assert "Refused a request from 127.0.0.1" in text
    told = [each for each in (SECRET, process.token, identity, "Traceback", "POST") if each in text]
    assert told == []
    assert process.token.encode() not in command_line(process.pid)
