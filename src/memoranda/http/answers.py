"""What the gate itself answers: short JSON that repeats nothing of the request.

It is an error of JSON-RPC that belongs to no request, as the SDK's own refusals are: clients show its message,
of any other document they say that the server answered with an error.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from starlette.types import Send

_INVALID_REQUEST: Final = -32_600
_INTERNAL_ERROR: Final = -32_603
_HEADERS: Final = {
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
}


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a request is not served.

    Attributes:
        status: of HTTP.
        code: for programs.
        message: a sentence without full stop; it is logged as well.
        hint: what to do.
        headers: further ones.
        is_final: the connection is closed, because the rest of the request is not read.
    """

    status: int
    code: str
    message: str
    hint: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    is_final: bool = False

    async def send(self, send: Send) -> None:
        """Answer with it."""
        error = {
            "code": _INVALID_REQUEST if self.status < 500 else _INTERNAL_ERROR,
            "message": f"{self.message}. {self.hint}".rstrip(),
            "data": {"code": self.code, "hint": self.hint},
        }
        headers = {**self.headers, **({"connection": "close"} if self.is_final else {})}
        document = {"jsonrpc": "2.0", "id": None, "error": error}
        await send_json(send, self.status, document, headers)


HOST_UNKNOWN: Final = Refused(
    421,
    "HOST_UNKNOWN",
    "This server is not known by that name",
    "Use the address that `memoranda serve` prints, or start it with --allow-host NAME.",
)
ORIGIN_FOREIGN: Final = Refused(
    403,
    "ORIGIN_FOREIGN",
    "Scripts of that web page may not call this server",
    "Start it with --allow-origin ORIGIN if they shall.",
)
NO_SUCH_PATH: Final = Refused(
    404,
    "NO_SUCH_PATH",
    "There is nothing at this path",
    # Clients ask here how to sign in when the token is missing or wrong, and show what they are answered.
    "Use the address that `memoranda serve` prints. If it asks for a token, send it as: Authorization: "
    "Bearer TOKEN; there is no other way to sign in.",
)
NO_SUCH_METHOD: Final = Refused(
    405, "NO_SUCH_METHOD", "Only GET, POST and DELETE", headers={"allow": "GET, POST, DELETE"}
)
NO_TOKEN: Final = Refused(
    401,
    "UNAUTHORIZED",
    "The token is missing",
    "Send it as: Authorization: Bearer TOKEN.",
    {"www-authenticate": 'Bearer realm="memoranda"'},
)
WRONG_TOKEN: Final = Refused(
    401,
    "UNAUTHORIZED",
    "The token is not the right one",
    "`memoranda token` says on the server where it is.",
    {"www-authenticate": 'Bearer realm="memoranda", error="invalid_token"'},
)
NO_SUCH_EVENT: Final = Refused(
    404,  # as of a session that has ended: nothing can be sent again, and a new one helps
    "NO_SUCH_EVENT",
    "What followed that event is not kept any more",
    "Begin a new session, and look whether the call was carried out before you repeat it.",
)
AMBIGUOUS_LENGTH: Final = Refused(
    400,
    "AMBIGUOUS_LENGTH",
    "The request says in two ways how long it is",
    "A proxy could read it otherwise than this server: send Content-Length or chunks.",
    is_final=True,
)
TOO_LARGE: Final = Refused(
    413,
    "TOO_LARGE",
    "The body of the request is too large",
    "Write a long note in pieces of 100,000 characters: what follows the first one with edit_note.",
)
TOO_SLOW: Final = Refused(408, "TOO_SLOW", "The request came too slowly", is_final=True)
TOO_LONG: Final = Refused(
    504,
    "TOO_LONG",
    "The request took too long",
    "What it had begun to write is finished; look before you repeat it.",
    is_final=True,
)
ENDING: Final = Refused(
    503, "ENDING", "The server is shutting down", headers={"retry-after": "5"}, is_final=True
)


def too_many(wait_s: float) -> Refused:
    """A client has sent too many requests; after so long the next one may be sent."""
    wait = str(max(1, math.ceil(wait_s)))
    return Refused(
        429,
        "TOO_MANY_REQUESTS",
        "Too many requests from this client",
        f"Seconds to wait: {wait}.",
        {"retry-after": wait},
    )


async def send_json(
    send: Send, status: int, value: object, headers: Mapping[str, str] | None = None
) -> None:
    """Answer with a JSON document."""
    body = json.dumps(value).encode()
    lines = {**_HEADERS, "content-length": str(len(body)), **(headers or {})}
    encoded = [(name.encode("latin-1"), text.encode("latin-1")) for name, text in lines.items()]
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})
