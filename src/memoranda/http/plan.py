"""What a server over HTTP is to do, as values that cannot be wrong."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from memoranda.errors import InvalidArgument
from memoranda.http.origins import Origin, parse_host

if TYPE_CHECKING:
    from memoranda.settings import Settings

HEALTH: Final = "/health"
_BURST_S: Final = 10
_PATH: Final = re.compile(r"(?:/[A-Za-z0-9._~-]+)+/?|/")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one server takes.

    Attributes:
        body_bytes: the most bytes of one request's body.
        head_s: how long a request line and its headers may take to arrive, the first byte included.
        body_s: how long a body may take to arrive, and how long a client may leave unread what it is sent.
        call_s: how long a request may take to be answered once it has arrived; streams that a client
            listens to (GET) are not concerned.
        requests_per_s: what a client may send on average; 0 is no limit.
        burst: how many requests a client may send at once.
        sessions: how many sessions may be open.
        idle_s: after how long without a request a session is closed.
        connections: how many connections may be open.
        replay_bytes: how much of past answers is kept for clients that lost their connection.
    """

    body_bytes: int = 1_000_000
    head_s: float = 10
    body_s: float = 20
    call_s: float = 60
    requests_per_s: float = 50
    burst: float = 50 * _BURST_S
    sessions: int = 100
    idle_s: float = 1800
    connections: int = 500
    replay_bytes: int = 16_000_000


@dataclass(frozen=True, slots=True)
class ServePlan:
    """A server over HTTP.

    Attributes:
        host: address or name to listen at.
        port: 0 is any free one.
        path: of the MCP endpoint, without a slash at its end unless it is the root.
        token: what clients must send; None: whoever reaches the server may use it. Never shown.
        is_open: the server listens at more than this machine's own addresses, so that any address in
            figures is taken for its own.
        hosts: further names it is reached by, lower case, without port.
        origins: web pages whose scripts may call it.
        is_read_only: clients may only read.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    path: str = "/mcp"
    token: str | None = field(default=None, repr=False)
    is_open: bool = False
    hosts: frozenset[str] = frozenset()
    origins: frozenset[Origin] = frozenset()
    is_read_only: bool = False
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says; None and () mean what the settings say."""

    host: str | None = None
    port: int | None = None
    path: str | None = None
    hosts: Sequence[str] = ()
    origins: Sequence[str] = ()
    is_read_only: bool = False


def plan(settings: Settings, asked: Asked, *, token: str | None, is_open: bool) -> ServePlan:
    """Join the settings and the command line.

    Args:
        settings: what holds where nothing is asked.
        asked: it comes first; names and origins are added to those of the settings.
        token: what clients must send.
        is_open: see `ServePlan`.

    Raises:
        InvalidArgument: a path, name or origin that cannot be one, or no token where one is needed.
    """
    host = asked.host or settings.http_host
    if is_open and token is None:
        raise InvalidArgument(
            "host",
            f"{host} can be reached from other machines, and there is no token that keeps others out",
            hint="Make one with `memoranda token`, or listen at 127.0.0.1.",
        )
    rate = settings.http_requests_per_second
    return ServePlan(
        host=host,
        port=settings.http_port if asked.port is None else asked.port,
        path=_path(asked.path or settings.http_path),
        token=token,
        is_open=is_open,
        hosts=frozenset(map(_name, [*settings.http_allowed_hosts, *asked.hosts, *_own(host)])),
        origins=frozenset(map(_origin, [*settings.http_allowed_origins, *asked.origins])),
        is_read_only=asked.is_read_only or settings.read_only,
        limits=Limits(
            call_s=settings.http_call_seconds,
            requests_per_s=rate,
            burst=max(1.0, rate * _BURST_S),
            sessions=settings.http_max_sessions,
        ),
    )


def _path(text: str) -> str:
    path = text.strip()
    if not _PATH.fullmatch(path) or ".." in path.split("/"):
        raise InvalidArgument(
            "path",
            f"{text!r} cannot be the path of the endpoint",
            hint="Write one such as /mcp: letters, digits, '-', '_', '.', '~' and '/'.",
        )
    path = path.rstrip("/") or "/"
    if path == HEALTH:
        raise InvalidArgument("path", f"{HEALTH} says whether the server lives", hint="Use /mcp.")
    return path


def _own(host: str) -> list[str]:
    """The name the server was told to listen at, if it is one."""
    named = parse_host(host)
    return [] if named is None or named.port is not None else [host]


def _name(text: str) -> str:
    host = parse_host(text.strip())
    if host is None or host.port is not None:
        raise InvalidArgument(
            "allowed_hosts",
            f"{text!r} is not the name of a host",
            hint="Write it without scheme, port and path, such as notes.example.org.",
        )
    return host.name


def _origin(text: str) -> Origin:
    origin = Origin.parse(text.strip())
    if origin is None:
        raise InvalidArgument(
            "allowed_origins",
            f"{text!r} is not an origin",
            hint="Write scheme, host and port (if it is not the usual one) alone, such as "
            "https://chat.example.org.",
        )
    return origin
