"""A client of a real server process: JSON-RPC lines over its pipes, many calls under way at once.

Not the SDK's client: the tests need to kill servers, and to know of each call whether it was answered.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

PATIENCE_S = 60.0


class Gone(Exception):
    """The server ended before it answered."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool answered, as JSON. `code` is "" unless it refused."""

    data: dict[str, Any]
    code: str


class Server:
    """A server process over stdio. Any thread may call it."""

    def __init__(self, config: Path, errors: Path, name: str, **environment: str) -> None:
        """Start it.

        Args:
            config: its configuration folder.
            errors: the file that its standard error is added to.
            name: what the client calls itself.
            environment: variables beside those of this process.
        """
        self.name = name
        self._errors: IO[bytes] = errors.open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "memoranda", "mcp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=os.environ | {"BASIC_MEMORY_CONFIG_DIR": str(config)} | environment,
        )
        self._lock = threading.Lock()
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        self._asked = 0
        self._is_gone = False
        self.lines_that_are_no_json_rpc: list[str] = []
        self._reader = threading.Thread(target=self._read, name=f"answers of {name}")
        self._reader.start()

    @property
    def pid(self) -> int:
        return self.process.pid

    def ask(self, method: str, params: dict[str, Any]) -> Future[dict[str, Any]]:
        """Send a request. Its result fails with `Gone` when the server ends first."""
        answer: Future[dict[str, Any]] = Future()
        with self._lock:
            self._asked += 1
            number = self._asked
            if self._is_gone:
                answer.set_exception(Gone(self.name))
                return answer
            self._waiting[number] = answer
            self._send({"id": number, "method": method, "params": params})
        return answer

    def greet(self) -> None:
        """Shake hands, and wait for the server's part of it."""
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": self.name, "version": "1"},
        }
        assert self.ask("initialize", hello).result(PATIENCE_S)["serverInfo"]
        with self._lock:
            self._send({"method": "notifications/initialized"})

    def begin(self, tool: str, **arguments: Any) -> Future[dict[str, Any]]:
        """Call a tool without waiting; `answer_of` reads the result."""
        given = arguments | {"output_format": "json"}
        return self.ask("tools/call", {"name": tool, "arguments": given})

    def call(self, tool: str, **arguments: Any) -> Answer:
        """Call a tool and wait. Raises `Gone`."""
        return answer_of(self.begin(tool, **arguments))

    def kill(self) -> None:
        """SIGKILL, and wait until nothing of it is left. Idempotent."""
        self.process.kill()
        self._end()

    def close(self) -> int:
        """End its input, as a client does that quits; returns its exit code. Idempotent."""
        with contextlib.suppress(OSError):
            self._input().close()
        self._end()
        return self.process.returncode

    def _end(self) -> None:
        self.process.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        with contextlib.suppress(OSError):  # what could not be sent any more
            self._input().close()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self._errors.close()

    def _input(self) -> IO[bytes]:
        assert self.process.stdin is not None
        return self.process.stdin

    def _send(self, message: dict[str, Any]) -> None:
        line = json.dumps({"jsonrpc": "2.0"} | message) + "\n"
        with contextlib.suppress(OSError, ValueError):  # gone: the reader says so to all who wait
            self._input().write(line.encode())
            self._input().flush()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            try:
                message = json.loads(line)
                assert message["jsonrpc"] == "2.0"
            except (
                ValueError,
                KeyError,
                AssertionError,
            ):  # told at the end: a killed one may break off
                self.lines_that_are_no_json_rpc.append(line.decode("utf-8", "replace"))
                continue
            with self._lock:
                waiting = self._waiting.pop(message.get("id"), None)
            if waiting is not None:
                waiting.set_result(message.get("result", message))
        with self._lock:
            self._is_gone = True
            left = list(self._waiting.values())
            self._waiting.clear()
        for one in left:
            one.set_exception(Gone(self.name))


def answer_of(call: Future[dict[str, Any]]) -> Answer:
    """Wait for a tool's answer. Raises `Gone`."""
    result = call.result(PATIENCE_S)
    data = result.get("structuredContent")
    assert isinstance(data, dict), result
    return Answer(data, str(data["error"]["code"]) if result["isError"] else "")
