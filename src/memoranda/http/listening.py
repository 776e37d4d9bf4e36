"""The addresses a server listens at: found, judged and taken before anything else starts."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from memoranda.errors import InvalidArgument
from memoranda.http.origins import is_loopback

_BACKLOG: Final = 256
_NOT_HERE: Final = frozenset({errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT})
"""The machine does not have the address, or nothing of its kind."""
_LOWEST_FREE: Final = 1024


@dataclass(frozen=True, slots=True)
class Address:
    """One address in figures, and its family (`socket.AF_INET` or `AF_INET6`)."""

    text: str
    family: socket.AddressFamily

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.text.partition("%")[0])


def addresses(host: str) -> tuple[Address, ...]:
    """The addresses of a host, in the system's order, none twice.

    Raises:
        InvalidArgument: there are none.
    """
    name = host.strip().removeprefix("[").removesuffix("]")
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no name"
        raise InvalidArgument(
            "host",
            f"{host!r} is no address of this machine: {reason}",
            hint="Use 127.0.0.1, 0.0.0.0 for all addresses, or one that this machine has.",
        ) from error
    known = dict.fromkeys((str(each[4][0]), each[0]) for each in found)
    return tuple(Address(text, family) for text, family in known)


def listen(at: Sequence[Address], port: int) -> tuple[socket.socket, ...]:
    """Take the port at all these addresses; the caller closes the sockets.

    An address that this machine does not have is left out, as ::1 of `localhost` may be, if there is another.

    Raises:
        InvalidArgument: the port is taken or not for us, or no address is this machine's.
    """
    taken: list[socket.socket] = []
    problem: OSError | None = None
    refused = at[0]
    for address in at:
        try:
            taken.append(_bound(address, port))
        except OSError as error:
            problem, refused = error, address
            if error.errno not in _NOT_HERE:
                break
        else:
            port = taken[-1].getsockname()[1]  # the same at the others, if any was asked for
    if problem is None or (taken and problem.errno in _NOT_HERE):
        return tuple(taken)
    for each in taken:
        each.close()
    raise _refused(problem, refused.text, port) from problem


def _bound(address: Address, port: int) -> socket.socket:
    # asyncio sends small packets at once only for what is said to be TCP: else each answer takes 40 ms.
    made = socket.socket(address.family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":  # on Windows it would let another program take the port from us
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        elif hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # and another could take it all the same
            made.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        if address.family is socket.AF_INET6 and address.text != "::":
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        target = socket.getaddrinfo(
            address.text, port, address.family, socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST
        )
        made.bind(target[0][4])
        made.listen(_BACKLOG)
    except BaseException:
        made.close()
        raise
    return made


def _refused(error: OSError, host: str, port: int) -> InvalidArgument:
    where = f"{host}, port {port}"
    match error.errno:
        case errno.EADDRINUSE:
            return InvalidArgument(
                "port",
                f"Another program listens at {where}",
                hint="If it is another server of Memoranda, use that one; else choose another --port.",
            )
        case errno.EACCES if port < _LOWEST_FREE:
            return InvalidArgument(
                "port",
                f"Port {port} is for the system's own services",
                hint=f"Choose one from {_LOWEST_FREE} on.",
            )
        case number if number in _NOT_HERE:
            return InvalidArgument(
                "host",
                f"{host} is no address of this machine",
                hint="Use 127.0.0.1, 0.0.0.0 for all addresses, or one that this machine has.",
            )
        case _:
            return InvalidArgument("host", f"It cannot listen at {where}: {error.strerror}")
