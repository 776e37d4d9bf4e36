"""A server over a real container in a temporary folder, called in process."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client

from memoranda.config import load_settings
from memoranda.container import Container
from memoranda.files.clock import SystemClock
from memoranda.mcp.server import build_server
from memoranda.mcp.session import Session


async def open_container() -> Container:
    """The container of the settings of this moment."""
    return await Container.open(load_settings())


@dataclass(slots=True)
class Caller:
    """A client and the folder of its default project."""

    client: Client[Any]
    session: Session
    root: Path

    async def text(self, tool: str, **arguments: Any) -> str:
        """The text of a call that must succeed."""
        result = await self.client.call_tool(tool, arguments, raise_on_error=False)
        text = "\n".join(block.text for block in result.content)
        assert not result.is_error, text
        return text

    async def data(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The JSON of a call that must succeed; text and structured content must agree."""
        result = await self.client.call_tool(
            tool, arguments | {"output_format": "json"}, raise_on_error=False
        )
        assert not result.is_error, result.content[0].text
        assert json.loads(result.content[0].text) == result.structured_content
        return dict(result.structured_content)

    async def error(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The error of a call that must fail, as JSON."""
        result = await self.client.call_tool(
            tool, arguments | {"output_format": "json"}, raise_on_error=False
        )
        assert result.is_error, result.content[0].text
        assert json.loads(result.content[0].text) == result.structured_content
        return dict(result.structured_content["error"])

    async def error_text(self, tool: str, **arguments: Any) -> str:
        """The error of a call that must fail, as text."""
        result = await self.client.call_tool(tool, arguments, raise_on_error=False)
        assert result.is_error
        return str(result.content[0].text)

    async def indexed(self, project: str | None = None) -> None:
        """Wait for a whole sync of what is in the folder now."""
        await (await self.session.workspace(project)).coordinator.sync_now()


@pytest.fixture
def tmp_path(memory_path: Path) -> Path:
    """What is tested here is not the disk."""
    return memory_path


@pytest.fixture
def project_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of Main (default); Second lies beside it. The configuration is this test's own."""
    root, second, config = (tmp_path / name for name in ("main", "second", "config"))
    for folder in (root, second, config):
        folder.mkdir()
    entries = {"Main": {"path": str(root)}, "Second": {"path": str(second)}}
    (config / "config.json").write_text(
        json.dumps({"projects": entries, "default_project": "Main"}), "utf-8"
    )
    monkeypatch.setenv("BASIC_MEMORY_CONFIG_DIR", str(config))
    return root


@pytest.fixture
async def caller(project_root: Path) -> AsyncIterator[Caller]:
    """A client of a server over both projects."""

    session = Session(open_container, SystemClock())
    async with Client(build_server(session)) as client:
        yield Caller(client, session, project_root)
