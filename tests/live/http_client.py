"""A `memoranda serve` process and a client of it that says all with each request, over plain HTTP."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
from tests.live.client import PATIENCE_S, Answer

_VERSION = "2026-07-28"
_META = "io.modelcontextprotocol"


class HttpServer:
    """A server process on a free port, or on the one that is given, that answers requests."""

    def __init__(self, config: Path, errors: Path, name: str, *, port: int = 0) -> None:
        """Start it, and wait until it says where it listens.

        Args:
            config: its configuration folder.
            errors: the file that its standard error is added to.
            name: what the client calls itself.
            port: 0 is any free one.
        """
        self.name = name
        self.lines_that_are_no_json_rpc: list[str] = []
        self._numbers = itertools.count(1)
        with errors.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "memoranda", "serve", "--port", str(port), "--json"],
                stdout=subprocess.PIPE,
                stderr=log,
                env=os.environ | {"BASIC_MEMORY_CONFIG_DIR": str(config)},
            )
        assert self.process.stdout is not None
        said = b""
        while not said.rstrip().endswith(b"}"):
            line = self.process.stdout.readline()
            assert line, "it ended before it listened"
            said += line
        (self.url,) = json.loads(said)["urls"]
        self._web = httpx2.Client(timeout=PATIENCE_S)

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def port(self) -> int:
        return httpx2.URL(self.url).port or 0

    def call(self, tool: str, **arguments: Any) -> Answer:
        """Call a tool and wait."""
        meta = {
            f"{_META}/protocolVersion": _VERSION,
            f"{_META}/clientInfo": {"name": self.name, "version": "1"},
            f"{_META}/clientCapabilities": {},
        }
        given = arguments | {"output_format": "json"}
        params = {"name": tool, "arguments": given, "_meta": meta}
        request = {"jsonrpc": "2.0", "id": next(self._numbers), "method": "tools/call"}
        answer = self._web.post(
            self.url,
            json=request | {"params": params},
            headers={
                "accept": "application/json, text/event-stream",
                "mcp-protocol-version": _VERSION,
                "mcp-method": "tools/call",
                "mcp-name": tool,
            },
        )
        assert answer.status_code == 200, answer.text
        result = answer.json()["result"]
        data = result["structuredContent"]
        return Answer(data, str(data["error"]["code"]) if result["isError"] else "")

    def end(self) -> int:
        """SIGTERM; returns its exit code."""
        self.process.terminate()
        self.process.wait(PATIENCE_S)
        self.kill()
        return self.process.returncode

    def kill(self) -> None:
        """SIGKILL, and wait until nothing of it is left. Idempotent."""
        self.process.kill()
        self.process.wait(PATIENCE_S)
        self._web.close()
        if self.process.stdout is not None:
            self.process.stdout.close()
