"""More sessions than there is room for: who is not there any more makes room for who comes."""

from __future__ import annotations

import asyncio

from tests.http.by_hand import HANDSHAKES, Hand
from tests.http.conftest import Serve, initialize

from memoranda.http.plan import Limits, ServePlan

FULL = ServePlan(limits=Limits(sessions=2, requests_per_s=0))


async def test_the_session_that_was_idle_for_longest_makes_room_for_a_new_one(
    serving: Serve,
) -> None:
    async with serving(FULL) as served, served.web() as web:
        one, two, three = (Hand(web, served.plan.path, HANDSHAKES[-1]) for _ in range(3))
        await one.greet()
        await two.greet()
        assert (await one.ask("tools/list")).status == 200
        await three.greet()
        for hand in (one, three):
            assert (await hand.ask("tools/list")).status == 200
        gone = await web.post(served.url, **two.request("tools/list"))
        assert gone.status_code == 404


async def test_what_begins_no_session_ends_none(serving: Serve) -> None:
    async with serving(FULL) as served, served.web() as web:
        hands = [Hand(web, served.plan.path, HANDSHAKES[-1]) for _ in range(2)]
        for hand in hands:
            await hand.greet()
        for _ in range(5):
            nothing = await web.post(
                served.url, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            )
            assert nothing.status_code == 400
        for hand in hands:
            assert (await hand.ask("tools/list")).status == 200


async def test_sessions_that_clients_listen_in_are_not_ended_for_others(serving: Serve) -> None:
    async with serving(FULL) as served, served.web() as web:
        one, two = (Hand(web, served.plan.path, HANDSHAKES[-1]) for _ in range(2))
        await one.greet()
        await two.greet()
        async with one.listen(), two.listen():
            full = await web.post(served.url, json=initialize())
            assert full.status_code == 503
            assert (await one.ask("tools/list")).status == 200


async def test_many_who_come_at_once_leave_no_more_than_there_is_room_for(serving: Serve) -> None:
    async with serving(FULL) as served, served.web() as web:
        answers = await asyncio.gather(
            *(web.post(served.url, json=initialize()) for _ in range(12))
        )
        assert {answer.status_code for answer in answers} <= {200, 503}
        sessions = served.uvicorn.config.app._endpoint._sessions()._server_instances
        async with asyncio.timeout(20):
            while (await web.post(served.url, json=initialize())).status_code == 503:
                pass
            while len(sessions) > FULL.limits.sessions:
                await web.get("/health")
