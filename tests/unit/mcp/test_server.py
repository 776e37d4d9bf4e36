"""How a server ends when its end does not go well. `tests/mcp/test_stdio.py` has the ends of a process."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest

from memoranda.mcp import server


@pytest.mark.parametrize(
    "error", [None, TimeoutError(), RuntimeError("odd"), asyncio.CancelledError()], ids=repr
)
async def test_it_leaves_whatever_could_not_be_closed(
    error: BaseException | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Session:
        async def aclose(self) -> None:
            if error is not None:
                raise error

    left: list[int] = []
    monkeypatch.setattr(server, "leave", left.append)
    session: Any = Session()
    with contextlib.suppress(asyncio.CancelledError):
        await server._close(session)
    assert left == [0]


async def test_it_leaves_though_closing_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    class Session:
        async def aclose(self) -> None:
            await asyncio.Event().wait()

    left: list[int] = []
    monkeypatch.setattr(server, "leave", left.append)
    monkeypatch.setattr(server, "_CLOSING_PATIENCE_S", 0.01)
    session: Any = Session()
    await server._close(session)
    assert left == [0]
