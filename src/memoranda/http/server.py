"""`memoranda serve`: from the settings to a server that ends in order.

Everything that can be wrong is found before, see `prepared`. The process serves until a signal tells it to end: new requests are refused, streams are ended,
calls get time to finish, and the databases are closed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import uvicorn
from loguru import logger

from memoranda.config import configured_projects, log_file
from memoranda.files.clock import SystemClock
from memoranda.http.app import Application
from memoranda.http.connections import protocol_settings
from memoranda.http.patience import Patience
from memoranda.http.prepared import Prepared
from memoranda.http.refusals import RefusalLog
from memoranda.logs import configure_logging
from memoranda.mcp.server import build_server, leave, open_container, quiet_fastmcp
from memoranda.mcp.session import Session

if TYPE_CHECKING:
    from types import FrameType


_ENDING_S: Final = 7
"""What calls under way get when the server is told to end: with all else less than the ten seconds of Docker."""
_URGENT: Final = (signal.SIGINT, signal.SIGTERM)
_TERMINAL_CLOSED: Final = ("SIGHUP", "SIGBREAK")
"""Each on some systems only."""
_LOUD: Final = ("mcp", "uvicorn", "sse_starlette", "fastmcp")
"""Libraries whose warnings anybody can cause at will, some with what they sent."""


@dataclass(frozen=True, slots=True)
class Serving:
    """A server that listens.

    Attributes:
        urls: of the MCP endpoint, one for each address it listens at.
        needs_token: whether clients must send the token.
        is_open: whether other machines can reach it.
        is_read_only: whether clients may only read.
        projects: how many are served.
    """

    urls: tuple[str, ...]
    needs_token: bool
    is_open: bool
    is_read_only: bool
    projects: int


def serve(what: Prepared, ready: Callable[[Serving], None]) -> None:
    """Serve until the process is told to end, and end it with code 0. Does not return.

    Args:
        what: from `prepared`; its addresses are let go at the end.
        ready: told once, when requests are answered.
    """
    try:
        configure_logging(what.settings.log_level, log_file())
        _hush()
        asyncio.run(_serve(what, ready))
    finally:
        what.close()


async def _serve(what: Prepared, ready: Callable[[Serving], None]) -> None:
    settings, planned, sockets = what.settings, what.plan, what.sockets
    session = Session(open_container, SystemClock(), read_only=planned.is_read_only, is_remote=True)
    server = build_server(
        session,
        name=settings.server_name,
        toolsets=settings.toolsets,
        middleware=[Patience(planned.limits.call_s)],
    )
    application = Application(server, planned, tell=RefusalLog())
    serving = Serving(
        urls=tuple(_url(each, planned.path) for each in sockets),
        needs_token=planned.token is not None,
        is_open=planned.is_open,
        is_read_only=planned.is_read_only,
        projects=sum(project.is_active for project in configured_projects(settings)),
    )

    def begin() -> None:
        session.start()
        logger.info(
            "Serving at {}{}{}",
            " and ".join(serving.urls),
            ", with a token" if serving.needs_token else "",
            ", only for reading" if serving.is_read_only else "",
        )
        ready(serving)

    config = uvicorn.Config(
        application,
        lifespan="on",
        timeout_graceful_shutdown=_ENDING_S,
        **protocol_settings(planned.limits),
    )
    await HttpServer(config, begin=begin, end=application.end).serve(sockets=list(sockets))
    logger.info("The server has ended")
    leave(0)


class HttpServer(uvicorn.Server):
    """uvicorn's server, which ends with code 0 when it is asked to.

    Args:
        config: of uvicorn.
        begin: called when it listens.
        end: called when it is told to end; a second signal ends it without patience.
    """

    def __init__(
        self, config: uvicorn.Config, *, begin: Callable[[], None], end: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._begin, self._end = begin, end

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say so."""
        await super().startup(sockets)
        if not self.should_exit:
            self._begin()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams first, so that only calls are waited for."""
        self._end()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """End at a signal, and leave it at that: uvicorn would raise it again.

        That the terminal was closed ends nothing when it was switched off, as by `nohup`.
        """

        def told(
            number: int, _frame: FrameType | None
        ) -> None:  # a function: sse-starlette looks for methods
            self.force_exit = self.should_exit and number in _URGENT
            self.should_exit = True

        closed = [getattr(signal, each) for each in _TERMINAL_CLOSED if hasattr(signal, each)]
        heard = [each for each in closed if signal.getsignal(each) is not signal.SIG_IGN]
        before = {number: signal.signal(number, told) for number in (*_URGENT, *heard)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _url(listening: socket.socket, path: str) -> str:
    host, port = listening.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - shown, not bound
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{port}{path}"


def _hush() -> None:
    quiet_fastmcp()
    for name in _LOUD:
        logging.getLogger(name).setLevel(logging.ERROR)
