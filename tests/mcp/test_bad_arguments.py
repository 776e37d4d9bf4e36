"""Every tool is called with everything that no caller should send: it says what is wrong, and does no harm."""

from __future__ import annotations

import asyncio
import json
import math
import random
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from mcp_types import CallToolResult, TextContent
from tests.mcp.conftest import Caller, open_container

from memoranda.files.clock import SystemClock
from memoranda.mcp.declarations import OUTPUT_FORMAT, Declaration
from memoranda.mcp.dispatch import call
from memoranda.mcp.server import build_server
from memoranda.mcp.session import Session
from memoranda.mcp.table import TOOLS
from memoranda.model.toolset import Toolset

pytestmark = pytest.mark.slow

CODES = {
    "PROJECT_NOT_FOUND",
    "NOTE_NOT_FOUND",
    "AMBIGUOUS_NAME",
    "NOTE_EXISTS",
    "CONFLICT",
    "SECTION_NOT_FOUND",
    "INVALID_ARGUMENT",
    "INVALID_URI",
    "OUTSIDE_PROJECT",
    "IO_ERROR",
}
MOST_CHARS = 25_000
PATIENCE_S = 20
VALID: dict[str, Any] = {
    "path": "notes/a",
    "title": "T",
    "content": "text",
    "content_updates": "more",
    "query": "text",
    "name": "Nowhere",
    "destination": "moved/a.md",
    "id": "notes/a",
}
"""What the parameters that a tool cannot do without are, beside the bad one."""


def nested(levels: int, *, is_list: bool) -> Any:
    """A value in so many lists or objects."""
    value: Any = 1
    for _ in range(levels):
        value = [value] if is_list else {"k": value}
    return value


TEXT = "# Heading\n\n- [fact] text #tag\n"
MEGABYTE = "m" * 1_000_000
BAD: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    2,
    10**6,
    10**18,
    -(2**63),
    10**400,
    10**5000,
    1.5,
    -0.0,
    1e308,
    math.nan,
    math.inf,
    "",
    " ",
    "\n\t",
    "x",
    "true",
    "two",
    "1e400",
    "9" * 400,
    "[",
    "{",
    '["a", 1, null, {}]',
    '{"a": {"$gte": "x"}}',
    '{"a": ',
    "[" * 2000,
    "null",
    "a\0b",
    "\ud83d",
    "x\udc00y",
    "\u202eabc\u200b",
    "\ufffe\uffff\U0010ffff",
    "e\u0301" * 50,
    MEGABYTE,
    "[[" * 50_000,
    "é" * 100_000,
    "../../outside",
    "/etc/passwd",
    "a/../../outside",
    "~no-such-user/outside",
    "C:\\outside",
    "memory://",
    "memory://../outside",
    "memory://@nobody/a",
    "memory://id/99999999999999999999999",
    ".",
    "*",
    "**/[",
    "%00%2e%2e/",
    "'; DROP TABLE entity; --",
    '" OR NEAR( "',
    "CON",
    ".hidden",
    "0001-01-01",
    "in 5000 years",
    [],
    [None],
    [[], {}],
    ["x", 1, True, None],
    [MEGABYTE],
    list(range(10_000)),
    ["\ud83d"],
    {},
    {"": ""},
    {"$gte": 1},
    {"k": {"$gte": [1]}},
    {"k\0": 1},
    {"\ud83d": "x"},
    {MEGABYTE: 1},
    {"k": MEGABYTE},
    {str(number): number for number in range(2000)},
    {"title": [], "type": {}, "tags": {"a": 1}, "permalink": "../x"},
    {"k": math.nan, "l": 10**400},
    nested(60, is_list=True),
    nested(60, is_list=False),
    nested(150, is_list=False),
)


def calls(tool: Declaration) -> Iterator[dict[str, Any]]:
    """One thing wrong at a time, each required parameter missing, an unknown one, and much at once."""
    needed = {param.name: VALID[param.name] for param in tool.params if param.required}
    for number, param in enumerate(tool.all_params):
        for value in BAD[number % 2 :: 2]:
            yield needed | {param.name: value}
    for name in needed:
        yield {key: value for key, value in needed.items() if key != name}
    for name in ("", "\ud83d", "unknown", MEGABYTE, "__class__", "self"):
        yield needed | {name: "x"}
    chance = random.Random(tool.name)
    names = [param.name for param in tool.all_params]
    for _ in range(30):
        yield {name: chance.choice(BAD) for name in chance.sample(names, min(3, len(names)))}


def spelled(arguments: dict[str, Any]) -> str:
    """The arguments, as far as they can be written down, for a failure."""
    return ", ".join(
        f"{name[:40]!r}={f'{value:.60}' if isinstance(value, str) else type(value).__name__!r}"
        for name, value in arguments.items()
    )


@pytest.fixture
async def everything(project_root: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Caller]:
    """A client of a server with all toolsets, in a home folder and a current folder of its own."""
    for name in ("home", "current"):
        (project_root.parent / name).mkdir()
    monkeypatch.setenv("HOME", str(project_root.parent / "home"))
    monkeypatch.chdir(project_root.parent / "current")
    (project_root / "notes").mkdir()
    for name in "ab":
        (project_root / f"notes/{name}.md").write_text(TEXT, "utf-8")
    session = Session(open_container, SystemClock())
    async with Client(build_server(session, toolsets=list(Toolset))) as client:
        yield Caller(client, session, project_root)


def outside(root: Path) -> dict[str, bytes | None]:
    """What lies beside the project, but for the folder of configuration and indexes."""
    own = {root, root.parent / "config"}
    return {
        str(path): path.read_bytes() if path.is_file() else None
        for top in root.parent.iterdir()
        if top not in own
        for path in (top, *top.rglob("*"))
    }


async def send(caller: Caller, tool: str, arguments: dict[str, Any]) -> Any:
    """A call through a client, or past it when the arguments are no Unicode, which no client can send."""
    try:
        return await caller.client.call_tool(tool, arguments, raise_on_error=False)
    except UnicodeEncodeError:
        (declared,) = (each for each in TOOLS if each.name == tool)
        reply = await call(declared, caller.session, arguments)
        blocks = [TextContent(type="text", text=block) for block in reply.blocks]
        return CallToolResult(
            content=blocks, structured_content=reply.data, is_error=reply.is_error
        )


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
async def test_whatever_is_sent_is_answered_and_does_no_harm(
    everything: Caller, tool: Declaration
) -> None:
    before = outside(everything.root)
    config = everything.root.parent / "config/config.json"
    configured = json.loads(config.read_bytes())
    for number, arguments in enumerate(calls(tool)):
        form = {} if number % 2 or tool.is_json_only else {OUTPUT_FORMAT.name: "json"}
        if not (note := everything.root / "notes/a.md").exists() or note.read_text() != TEXT:
            note.write_text(TEXT, "utf-8")  # else it would grow and grow
        async with asyncio.timeout(PATIENCE_S):
            result = await send(everything, tool.name, form | arguments)
        told = "\n".join(block.text for block in result.content)
        shown = f"call {number}, {spelled(arguments)}: {told[:300]}"
        assert len(told) < MOST_CHARS, shown
        assert "Traceback" not in told, shown
        if not result.is_error:
            continue
        assert str(everything.root.parent) not in told, shown
        if result.structured_content is None:
            code, hint = told.partition(":")[0], "\n" in told
        else:
            error = json.loads(told)["error"]
            code, hint = error["code"], bool(error["hint"])
        assert code in CODES, shown
        assert hint, shown
    assert outside(everything.root) == before
    assert json.loads(config.read_bytes()) == configured
    assert [path for path in everything.root.rglob("*") if path.name.endswith(".tmp")] == []
    assert (await everything.data("read_note", path="notes/b"))["content"] == TEXT
