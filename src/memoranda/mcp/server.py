"""The MCP server: tools, resources and prompts, served through FastMCP.

It, `refusal` and the `served_*` modules are the only ones that know FastMCP, and they import nothing
else that is heavy: a client waits for `initialize` as long as these imports take. Storage is imported,
migrated and synced in the background once `initialize` was answered.

Rules of stdio: standard output carries JSON-RPC and nothing else. The transport takes the real
descriptor and points descriptor 1 at standard error while it serves; `sys.stdout` is made unbuffered
here, because what a library had printed into a buffer would reach the client at exit.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import logging
import os
import select
import signal
import sys
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from fastmcp import FastMCP
from fastmcp.server.middleware.middleware import CallNext, Middleware, MiddlewareContext
from mcp_types import ServerCapabilities

from memoranda.errors import ConfigProblem, MemorandaError
from memoranda.files.clock import SystemClock
from memoranda.mcp.guide import instructions
from memoranda.mcp.served_prompts import add_prompts
from memoranda.mcp.served_resources import add_resources, with_notes
from memoranda.mcp.served_tools import add_tools
from memoranda.mcp.session import Session
from memoranda.mcp.wire import MendedLines
from memoranda.model.toolset import USUAL_TOOLSETS, Toolset

if TYPE_CHECKING:
    from memoranda.container import Container

_START_DELAY_S = 0.3
_HEARD_S = 0.25
"""Between two looks whether the client is still there."""
_IN_ORDER_S = 0.25
"""So long the transport has for an end in order, after the client has closed our input."""
_CLOSING_PATIENCE_S = 1.5


def build_server(
    session: Session,
    *,
    name: str = "Memoranda",
    toolsets: Collection[str] = USUAL_TOOLSETS,
    middleware: Sequence[Middleware] = (),
) -> FastMCP:
    """A server over a session; entering its lifespan (by any transport) owns the session.

    It offers the core and these toolsets; of a session that only reads, the tools that read.

    Args:
        session: what tools, resources and prompts ask.
        name: what clients are told.
        toolsets: see above.
        middleware: what a transport puts around every request, outermost first.
    """

    @contextlib.asynccontextmanager
    async def lifespan(_server: FastMCP) -> AsyncIterator[dict[str, Any]]:
        try:
            yield {}
        finally:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(session.aclose(), _CLOSING_PATIENCE_S)

    server = FastMCP(
        name,
        instructions(writes=not session.is_read_only, undoes=Toolset.NOTES in toolsets),
        version=version("memoranda"),
        lifespan=lifespan,
        middleware=[*middleware, _Starter(session)],
        dereference_schemas=False,
        mask_error_details=False,  # said, else FastMCP asks its own variables
        strict_input_validation=False,
    )
    add_tools(server, session, toolsets)
    add_resources(server, session)
    add_prompts(server, session)
    return server


def run_stdio() -> None:
    """Serve over standard input and output until it ends or SIGTERM comes. Does not return.

    Leaves with code 0 within two seconds of either: a thread that waits for standard input, or is
    deep in a file system that does not answer, cannot be cancelled, so the process ends without
    joining threads, after the databases are closed. A half-written batch is rolled back by SQLite at
    the next start.
    """
    wires = os.dup(0), os.dup(1)  # the transport points 0 and 1 elsewhere
    _guard_stdout()
    _mend_stdin()
    quiet_fastmcp()
    try:
        asyncio.run(_serve(*wires))
    except* (BrokenPipeError, ConnectionResetError):
        leave(0)  # the client closed its end
    except* BaseException:
        logging.getLogger(__name__).exception("the server failed")
        leave(1)


async def _serve(given: int, output: int) -> None:
    offer = _offer()
    session = Session(open_container, SystemClock(), read_only=offer.read_only)
    server = build_server(session, name=offer.name, toolsets=offer.toolsets)
    loop = asyncio.get_running_loop()
    ending: list[asyncio.Task[None]] = []

    def end() -> None:
        if not ending:
            ending.append(loop.create_task(_close(session)))

    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError):  # Windows
            loop.add_signal_handler(number, end)
    listening = loop.create_task(_until_nobody_is_there(given, output))
    listening.add_done_callback(lambda task: None if task.cancelled() else end())
    await server.run_stdio_async(show_banner=False)
    leave(0)


async def _until_nobody_is_there(given: int, output: int) -> None:
    """Until the client has closed its end of our output or of our input.

    The transport notices the first when it writes, and then waits for standard input, which may stay open;
    the second when it has read all that was sent, and then for standard output, which may be full.
    """
    if not hasattr(select, "poll"):  # Windows
        await asyncio.Event().wait()
    poll = select.poll()
    poll.register(output, 0)  # only what is told always: the end, and errors
    poll.register(given, getattr(select, "POLLRDHUP", 0))  # a socket can end in one direction
    while not (ended := poll.poll(0)):  # noqa: ASYNC110 - the loop has no event for this
        await asyncio.sleep(_HEARD_S)
    if all(fd == given for fd, _ in ended):
        await asyncio.sleep(_IN_ORDER_S)


async def _close(session: Session) -> None:
    try:
        await asyncio.wait_for(session.aclose(), _CLOSING_PATIENCE_S)
    except Exception as error:  # noqa: BLE001 - the process ends, whatever could not be closed
        logging.getLogger(__name__).warning("closing did not end well: %r", error)
    finally:
        leave(0)


def leave(code: int) -> None:
    """End the process without joining threads: one may wait for ever, as for a disk that is gone.

    What has to be closed was closed before.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


@dataclass(frozen=True, slots=True)
class _Offered:
    """What a server is called and shows; whether it only reads is asked again at every call."""

    name: str = "Memoranda"
    toolsets: Collection[str] = USUAL_TOOLSETS
    read_only: bool = False


def _offer() -> _Offered:
    """From the settings; when they cannot be read the log and every tool say so, and the server starts.

    The log says it at once, as somebody may look who has started the server by hand to see what is wrong.
    """
    from memoranda.config import configured_projects, load_settings

    try:
        settings = load_settings()
        if not configured_projects(settings):
            _log("WARNING", "No project is configured; begin with: memoranda up PATH")
    except ConfigProblem as error:
        _log("ERROR", f"{error.message}. {error.hint}".rstrip())
        return _Offered()
    return _Offered(settings.server_name, settings.toolsets, settings.read_only)


def _log(level: str, message: str) -> None:
    """One line, whether or not the log is set up by the settings."""
    from loguru import logger

    from memoranda.config import log_file
    from memoranda.logs import configure_logging

    try:
        file = log_file()
    except ConfigProblem:  # the folder itself is the problem
        file = None
    configure_logging("INFO", file)
    logger.log(level, "{}", message)


async def open_container() -> Container:
    """The container of this process, from its settings; sets up the log.

    Raises:
        ConfigProblem: they cannot be used; it is logged.
    """

    def load() -> tuple[type[Container], Any]:
        from memoranda.config import load_settings, log_file
        from memoranda.container import Container
        from memoranda.logs import configure_logging

        settings = load_settings()
        configure_logging(settings.log_level, log_file())
        return Container, settings

    container_type, settings = await asyncio.to_thread(load)
    try:
        container = await container_type.open(settings)
    except ConfigProblem as error:
        _log("ERROR", f"{error.message}. {error.hint}".rstrip())
        raise

    return container


def _guard_stdout() -> None:
    sys.stdout = io.TextIOWrapper(
        io.FileIO(1, "w", closefd=False),
        encoding="utf-8",
        errors="replace",
        write_through=True,
    )


def _mend_stdin() -> None:
    """Let the transport read mended lines; who else reads descriptor 0 finds it at its end."""
    wire = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdin = io.TextIOWrapper(MendedLines(os.fdopen(wire, "rb", closefd=False)), "utf-8")


def quiet_fastmcp() -> None:
    """FastMCP's own log goes the way of every other library's: to standard error or the log file."""
    for name in ("fastmcp", "FastMCP"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        logger.setLevel(logging.WARNING)


class _Starter(Middleware):
    """Opens the container once the client has its answer to `initialize`, and lists notes as resources."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def on_initialize(self, context: MiddlewareContext, call_next: CallNext) -> Any:
        result = await call_next(context)
        if result is not None:
            _promise_no_news(result.capabilities)
        self._later()
        return result

    async def on_discover(self, context: MiddlewareContext, call_next: CallNext) -> Any:
        result = await call_next(context)
        self._later()
        return result

    async def on_notification(self, context: MiddlewareContext, call_next: CallNext) -> Any:
        result = await call_next(context)
        if context.method == "notifications/initialized":
            self._session.start()
        return result

    async def on_list_resources(self, context: MiddlewareContext, call_next: CallNext) -> Any:
        return await with_notes(self._session, await call_next(context))

    def _later(self) -> None:
        """For clients that never say `initialized`."""
        asyncio.get_running_loop().call_later(_START_DELAY_S, self._start_unless_closed)

    def _start_unless_closed(self) -> None:
        with contextlib.suppress(MemorandaError):
            self._session.start()


def _promise_no_news(capabilities: ServerCapabilities) -> None:
    """FastMCP announces that it tells when a list has changed; nothing here ever does."""
    for lists in (capabilities.tools, capabilities.resources, capabilities.prompts):
        if lists is not None:
            lists.list_changed = False
