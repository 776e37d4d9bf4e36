"""A call reaches its tool without FastMCP's search for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from fastmcp import FastMCP

if TYPE_CHECKING:
    from tests.mcp.conftest import Caller
else:
    Caller = Any


async def test_a_call_needs_no_search_for_its_tool(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("FastMCP looked for the tool")

    monkeypatch.setattr(FastMCP, "get_tool", refuse)

    assert "0 notes" in await caller.text("list_memory_projects")
