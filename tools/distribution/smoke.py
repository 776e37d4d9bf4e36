"""A first use of what was installed: a folder is indexed and searched, and an assistant reads and writes in it."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from benchmarks.client import Server, call, connect

from tools.distribution.installed import Clean, output

_NOTES = {
    "Pier.md": "# Pier\n\n- [material] steel on granite\n- carries [[Mount]]\n",
    "Mount.md": "---\ntags: [telescope]\n---\n# Mount\n\nTurns once a day.\n",
}
_TOOLS = {"write_note", "read_note", "edit_note", "search_notes", "build_context"}
_WRITTEN = "- [weight] 140 kg of castings"


def smoke_faults(clean: Clean, version: str) -> list[str]:
    """What of a first use does not work.

    Raises:
        RuntimeError: a command failed, with what it said.
    """
    notes = clean.home / "notes"
    notes.mkdir()
    for name, text in _NOTES.items():
        (notes / name).write_text(text, encoding="utf-8")
    seen = {
        f"memoranda {version}": output(clean, clean.command, "--version"),
        "Usage:": output(clean, clean.command, "--help"),
        "Indexed: 2 notes": output(clean, clean.command, "up", notes),
        "Pier": output(clean, clean.command, "search", "granite"),
        "Mount": output(clean, clean.command, "search", "what does an observatory have"),
        **asyncio.run(_assistant(clean)),
        "Memoranda": output(clean, clean.command, "doctor"),
    }
    faults = [
        f"{expected!r} is not in:\n{text}"
        for expected, text in seen.items()
        if expected not in text
    ]
    written = [file.read_text(encoding="utf-8") for file in (notes / "plans").glob("*.md")]
    if not any(_WRITTEN in text for text in written):
        faults.append("write_note left no note on the disk")
    return faults


def initialize_s(clean: Clean, repeat: int) -> list[float]:
    """Seconds from the start of the server's process to its answer to `initialize`, each time."""
    return [asyncio.run(_initialize(clean)) for _ in range(repeat)]


async def _assistant(clean: Clean) -> dict[str, str]:
    """What is expected -> what the tools said."""
    async with connect(_server(clean)) as (session, _):
        names = {tool.name for tool in (await session.list_tools()).tools}
        note = {"title": "Castings", "directory": "plans", "content": _WRITTEN}
        await call(session, "write_note", note)
        read = await call(session, "read_note", {"identifier": "plans/castings"})
        found = await call(session, "search_notes", {"query": "castings"})
    return {
        ", ".join(sorted(_TOOLS)): ", ".join(sorted(_TOOLS & names)),
        _WRITTEN: read.content[0].text,
        "Castings": found.content[0].text,
    }


async def _initialize(clean: Clean) -> float:
    started = time.perf_counter()
    async with connect(_server(clean)):
        return time.perf_counter() - started


def _server(clean: Clean) -> Server:
    log: Path = clean.home.parent / "server.log"
    return Server([str(clean.command), "mcp"], clean.variables, log)
