"""Every code of the tool contract: how it comes about, its hint, and what a program is told beside it."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from tests.mcp.conftest import Caller, open_container

from memoranda.container import Container
from memoranda.errors import DatabaseBusy
from memoranda.files.clock import SystemClock
from memoranda.mcp.server import build_server
from memoranda.mcp.session import Session
from memoranda.services.indexing import NoteIndexing

Told = dict[str, Any]
Provoke = Callable[[Caller, pytest.MonkeyPatch], Awaitable[Told]]


async def _project_not_found(caller: Caller, _: pytest.MonkeyPatch) -> Told:
    error = await caller.error("read_note", path="a", project="Mian")
    assert (error["name"], error["projects"]) == ("Mian", ["Main", "Second"])
    assert "Main, Second" in error["hint"]
    return error


async def _note_not_found(caller: Caller, _: pytest.MonkeyPatch) -> Told:
    error = await caller.error("read_note", path="plans/plna")
    assert (error["name"], error["near"]) == ("plans/plna", ["plans/plan"])
    assert "plans/plan" in error["hint"]
    return error


async def _ambiguous_name(caller: Caller, _: pytest.MonkeyPatch) -> Told:
    await caller.text("write_note", title="Plan", content="x", directory="home")
    error = await caller.error("read_note", path="Plan")
    assert (error["name"], error["candidates"]) == ("Plan", ["home/plan.md", "plans/plan.md"])
    return error


async def _note_exists(caller: Caller, _: pytest.MonkeyPatch) -> Told:
    error = await caller.error("write_note", title="Plan", content="x", directory="plans")
    assert error["file_path"] == "plans/plan.md"
    assert "overwrite" in error["hint"]
    assert "edit_note" in error["hint"]
    return error


async def _conflict(caller: Caller, _: pytest.MonkeyPatch) -> Told:
    now = (await caller.data("read_note", path="plans/plan"))["checksum"]
    arguments = {"path": "plans/plan", "content_updates": "x", "expected_checksum": "0" * 64}
    error = await caller.error("edit_note", **arguments)
    assert (error["file_path"], error["checksum"]) == ("plans/plan.md", now)
    assert now in await caller.error_text("edit_note", **arguments)
    return error


async def _section_not_found(caller: Caller, _: pytest.MonkeyPatch) -> Told:
    error = await caller.error("read_note", path="plans/plan", section="Nothing")
    assert (error["section"], error["outline"]) == ("Nothing", ["Goal", "Goal > Steps"])
    assert "Goal > Steps" in error["hint"]
    return error


async def _not_indexed(caller: Caller, patch: pytest.MonkeyPatch) -> Told:
    async def busy(*_: object) -> None:
        raise DatabaseBusy("memory.db is in use")

    patch.setattr(NoteIndexing, "bring_in", busy)
    error = await caller.error("write_note", title="New", content="safe")
    assert (error["file_path"], error["reason"]) == ("new.md", "memory.db is in use")
    assert "safe" in (caller.root / "new.md").read_text("utf-8")
    return error


async def _invalid_argument(caller: Caller, _: pytest.MonkeyPatch) -> Told:
    error = await caller.error("search_notes", query="x", page="two")
    assert error["parameter"] == "page"
    return error


async def _invalid_uri(caller: Caller, _: pytest.MonkeyPatch) -> Told:
    error = await caller.error("build_context", path="memory://plans//plan")
    assert error["parameter"] == "path"
    assert "memory://research/deep-work" in error["hint"]
    return error


async def _outside_project(caller: Caller, _: pytest.MonkeyPatch) -> Told:
    error = await caller.error("write_note", title="x", content="x", directory="../out")
    assert error["path"] == "../out/x.md"
    return error


async def _not_ready(caller: Caller, _: pytest.MonkeyPatch) -> Told:
    never = asyncio.Event()

    async def open_slowly() -> Container:
        await never.wait()
        return await open_container()

    session = Session(open_slowly, SystemClock(), patience_s=0.01)
    async with Client(build_server(session)) as client:
        return await Caller(client, session, caller.root).error("read_note", path="plans/plan")


async def _read_only(caller: Caller, _: pytest.MonkeyPatch) -> Told:
    session = Session(open_container, SystemClock(), read_only=True)
    async with Client(build_server(session)) as client:
        return await Caller(client, session, caller.root).error("delete_note", path="plans/plan")


async def _io_error(caller: Caller, _: pytest.MonkeyPatch) -> Told:
    shutil.rmtree(caller.root)
    error = await caller.error("write_note", title="x", content="x")
    assert error["path"]
    return error


PROVOKED: dict[str, Provoke] = {
    "PROJECT_NOT_FOUND": _project_not_found,
    "NOTE_NOT_FOUND": _note_not_found,
    "AMBIGUOUS_NAME": _ambiguous_name,
    "NOTE_EXISTS": _note_exists,
    "CONFLICT": _conflict,
    "SECTION_NOT_FOUND": _section_not_found,
    "NOT_INDEXED": _not_indexed,
    "INVALID_ARGUMENT": _invalid_argument,
    "INVALID_URI": _invalid_uri,
    "OUTSIDE_PROJECT": _outside_project,
    "NOT_READY": _not_ready,
    "READ_ONLY": _read_only,
    "IO_ERROR": _io_error,
}


@pytest.mark.parametrize("code", PROVOKED)
async def test_every_code_comes_with_a_hint_and_its_fields(
    caller: Caller, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    content = "intro\n\n# Goal\n\n## Steps\n\none\n"
    await caller.text("write_note", title="Plan", content=content, directory="plans")
    error = await PROVOKED[code](caller, monkeypatch)
    assert error["code"] == code
    assert error["message"]
    assert error["hint"]
    assert "Traceback" not in json.dumps(error)


def test_every_code_is_in_the_reference() -> None:
    page = Path(__file__).parents[2] / "docs/reference/errors.md"
    assert [code for code in PROVOKED if f"`{code}`" not in page.read_text("utf-8")] == []
