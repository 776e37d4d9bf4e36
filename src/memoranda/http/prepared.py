"""A server that may be started: everything that can be wrong was found, and its addresses are taken.

Apart from `server`, so that a mistake is told before FastMCP is imported, which takes a second.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memoranda.config import load_settings
from memoranda.http.listening import addresses, listen
from memoranda.http.plan import Asked, ServePlan, plan
from memoranda.http.tokens import configured_token

if TYPE_CHECKING:
    from memoranda.settings import Settings


@dataclass(frozen=True, slots=True)
class Prepared:
    """What `server.serve` takes.

    Attributes:
        settings: all of them.
        plan: what they and the command line make of the server.
        sockets: listening, at least one; whoever does not serve closes them.
    """

    settings: Settings
    plan: ServePlan
    sockets: tuple[socket.socket, ...]

    def close(self) -> None:
        """Let the addresses go."""
        for each in self.sockets:
            each.close()


def prepared(asked: Asked, *, token_file: str | None = None) -> Prepared:
    """Judge what is asked for, and take the addresses.

    Args:
        asked: what the command line says.
        token_file: the file with the token; None: as the settings say.

    Raises:
        ConfigProblem: settings or token cannot be used.
        InvalidArgument: what is asked for cannot be had; nothing was taken.
    """
    settings = load_settings()
    at = addresses(asked.host or settings.http_host)
    planned = plan(
        settings,
        asked,
        token=configured_token(token_file or settings.http_token_file),
        is_open=not all(address.is_loopback for address in at),
    )
    return Prepared(settings, planned, listen(at, planned.port))
