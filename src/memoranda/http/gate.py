"""The gate before the protocol: who may ask at all, how often, how much and how long.

Nothing of a request reaches FastMCP before all of it was let in: the cheapest checks come first, and
what is refused is answered here. Two layers, because a web page that may call the server must be able to
read why it is refused: `Gate` decides by address and headers, `Intake` asks for the token and reads the body.
Between them lies CORS, for allowed pages alone (see `app`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoranda.http.answers import (
    AMBIGUOUS_LENGTH,
    ENDING,
    HOST_UNKNOWN,
    NO_SUCH_METHOD,
    NO_SUCH_PATH,
    NO_TOKEN,
    ORIGIN_FOREIGN,
    TOO_LARGE,
    TOO_LONG,
    TOO_SLOW,
    WRONG_TOKEN,
    Refused,
    send_json,
    too_many,
)
from memoranda.http.origins import Refusal, refusal
from memoranda.http.plan import HEALTH, ServePlan
from memoranda.http.rates import Rates, client_network
from memoranda.http.tokens import Token
from memoranda.mcp.wire import mended

_METHODS: Final = frozenset({"GET", "POST", "DELETE"})
_PREFLIGHT: Final = "OPTIONS"
_LARGE_BYTES: Final = 65_536
"""A body from this size on is mended in a thread: a hostile one takes half a second."""
_GRACE_S: Final = 5.0
"""How much longer than a call its request may take: the call's own limit answers in the protocol."""

Tell = Callable[[Refused, str], None]
"""Told of each request that is refused, and whose it was."""


class Gate:
    """Rate, Host, Origin, path and method. Serves `/health` itself."""

    def __init__(
        self, inner: ASGIApp, plan: ServePlan, *, now_s: Callable[[], float], tell: Tell
    ) -> None:
        self._inner = inner
        self._plan = plan
        self._now_s = now_s
        self._tell = tell
        self._token = None if plan.token is None else Token(plan.token)
        self._rates = Rates(plan.limits.requests_per_s, plan.limits.burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._inner(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        refused = self._refusal(scope)
        if refused is not None:
            self._tell(refused, _address(scope))
            await refused.send(send)
        elif scope["path"] == HEALTH:
            await send_json(send, 200, {"status": "ok"})
        else:
            path = self._plan.path  # as it is served, should it have come with a slash at its end
            await self._inner({**scope, "path": path, "raw_path": path.encode()}, receive, send)

    def _refusal(self, scope: Scope) -> Refused | None:
        plan, address = self._plan, _address(scope)
        found = refusal(
            header_values(scope, b"host"),
            header_values(scope, b"origin"),
            (header_values(scope, b"sec-fetch-site") or [""])[0],
            scheme=scope["scheme"],
            is_open=plan.is_open,
            names=plan.hosts,
            pages=plan.origins,
        )
        # Who has the token is not slowed down by others at the same address, such as a proxy's, and nobody by
        # the pages that are open in a browser there.
        has_token = self._token is not None and token_fault(scope, self._token) is None
        client = (client_network(address), has_token, found is None)
        if wait_s := self._rates.wait_s(client, self._now_s()):
            return too_many(wait_s)
        match found:
            case Refusal.HOST_UNKNOWN:
                return HOST_UNKNOWN
            case Refusal.ORIGIN_FOREIGN:
                return ORIGIN_FOREIGN
            case None:
                pass
        if header_values(scope, b"transfer-encoding") and header_values(scope, b"content-length"):
            return AMBIGUOUS_LENGTH
        if scope["path"] == HEALTH:
            return None if scope["method"] in {"GET", "HEAD"} else NO_SUCH_METHOD
        if (scope["path"].rstrip("/") or "/") != plan.path:
            return NO_SUCH_PATH
        is_known = scope["method"] in _METHODS or (scope["method"] == _PREFLIGHT and plan.origins)
        return None if is_known else NO_SUCH_METHOD


class Intake:
    """Token, body and time. What is inside sees whole requests that may be served.

    Attributes:
        ending: when set, streams that clients listen to end and new requests are refused; requests
            under way are finished.
    """

    def __init__(self, inner: ASGIApp, plan: ServePlan, *, tell: Tell) -> None:
        self.ending = asyncio.Event()
        self._inner = inner
        self._limits = plan.limits
        self._tell = tell
        self._token = None if plan.token is None else Token(plan.token)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._inner(scope, receive, send)
            return
        match self._fault(scope) or await self._body(scope, receive):
            case None:
                pass  # the client went away
            case Refused() as refused:
                self._tell(refused, _address(scope))
                await refused.send(send)
            case body if scope["method"] == "GET":
                await self._listen(scope, _Whole(body, receive), send)
            case body:
                await self._answer(scope, _Whole(body, receive), send)

    def _fault(self, scope: Scope) -> Refused | None:
        fault = None if self._token is None else token_fault(scope, self._token)
        return fault or (ENDING if self.ending.is_set() else None)

    async def _body(self, scope: Scope, receive: Receive) -> bytes | Refused | None:
        """The body, mended where the protocol could not read it."""
        most = self._limits.body_bytes
        declared = header_values(scope, b"content-length")
        if any(not each.isdecimal() or len(each) > 12 or int(each) > most for each in declared):
            return TOO_LARGE
        parts, size = [], 0
        try:
            async with asyncio.timeout(self._limits.body_s):
                while True:
                    message = await receive()
                    if message["type"] != "http.request":
                        return None
                    part = message.get("body", b"")
                    parts.append(part)
                    size += len(part)
                    if size > most:
                        return replace(TOO_LARGE, is_final=True)  # no telling how much is to come
                    if not message.get("more_body", False):
                        break
        except TimeoutError:
            return TOO_SLOW
        body = b"".join(parts)
        return mended(body) if size < _LARGE_BYTES else await asyncio.to_thread(mended, body)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        sent = _Sent(send)
        try:
            async with asyncio.timeout(self._limits.call_s + _GRACE_S):
                await self._inner(scope, receive, sent)
        except TimeoutError:
            self._tell(TOO_LONG, _address(scope))
            await (sent.end() if sent.has_begun else TOO_LONG.send(send))

    async def _listen(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a stream until its client goes or the server ends."""
        sent = _Sent(send)
        serving = asyncio.ensure_future(self._inner(scope, receive, sent))
        ending = asyncio.ensure_future(self.ending.wait())
        try:
            await asyncio.wait({serving, ending}, return_when=asyncio.FIRST_COMPLETED)
            if serving.done():
                serving.result()
                return
            serving.cancel()
            await asyncio.wait({serving})
            await (sent.end() if sent.has_begun else ENDING.send(send))
        finally:
            ending.cancel()
            serving.cancel()


class _Whole:
    """`receive` for what is inside: the body in one piece, then what comes from the client."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        if (body := self._body) is None:
            return await self._receive()
        self._body = None
        return {"type": "http.request", "body": body, "more_body": False}


class _Sent:
    """`send`, and how far the answer is."""

    def __init__(self, send: Send) -> None:
        self.has_begun = False
        self._has_ended = False
        self._send = send

    async def __call__(self, message: Message) -> None:
        self.has_begun = True
        if message["type"] == "http.response.body":
            self._has_ended = not message.get("more_body", False)
        await self._send(message)

    async def end(self) -> None:
        """End an answer that has begun, unless it has ended."""
        if not self._has_ended:
            await self._send({"type": "http.response.body", "body": b""})


def header_values(scope: Scope, name: bytes) -> list[str]:
    """The values of all headers of that name."""
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def token_fault(scope: Scope, token: Token) -> Refused | None:
    """What is wrong with the token of a request; None: nothing.

    It counts in the header alone: an address with a token in it would be logged and remembered by others.
    """
    given = header_values(scope, b"authorization")
    if not given:
        return NO_TOKEN
    scheme, _, value = given[0].partition(" ")
    is_right = token.matches(value.strip().encode("latin-1"))
    return None if is_right and scheme.lower() == "bearer" and len(given) == 1 else WRONG_TOKEN


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else ""
