"""The time limit of a call."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fastmcp.server.middleware.middleware import MiddlewareContext

from memoranda.http.patience import Patience
from memoranda.mcp.refusal import Refusal

LISTING: Any = MiddlewareContext(message=None, method="tools/list")


async def for_ever(_: object) -> None:
    await asyncio.Event().wait()


async def late(_: object) -> None:
    raise TimeoutError("of its own")


async def test_what_is_no_call_of_a_tool_is_answered_with_an_error_of_the_protocol() -> None:
    with pytest.raises(Refusal, match="took longer than 0 seconds"):
        await Patience(0).on_request(LISTING, for_ever)


async def test_what_ran_out_of_another_time_is_no_matter_of_this_limit() -> None:
    with pytest.raises(TimeoutError, match="of its own"):
        await Patience(60).on_request(LISTING, late)
