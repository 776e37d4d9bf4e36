"""Whom a request is meant for, and which web page sent it: decisions on its headers, pure.

A browser lets any page send requests to this machine. Two headers that no page can forge tell such
requests from those of an assistant: `Host` names the server that the browser believes to be talking to
(after DNS rebinding still the attacker's name), and `Origin` the page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from ipaddress import IPv6Address, ip_address
from typing import Final

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_HOST: Final = re.compile(
    r"(?P<name>\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::(?P<port>\d{1,5}))?"
)
_ORIGIN: Final = re.compile(r"(?P<scheme>https?)://(?P<host>[^/?#@\s]+)", re.IGNORECASE)


class Refusal(Enum):
    """Why a request is none for this server."""

    HOST_UNKNOWN = "host"
    ORIGIN_FOREIGN = "origin"


@dataclass(frozen=True, slots=True)
class Host:
    """The value of a Host header: a name (lower case, no brackets, no dot at its end) and a port."""

    name: str
    port: int | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """Scheme, host and port, normal form."""

    scheme: str
    name: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Origin | None:
        """The value of an Origin header; None: it is none, such as "null" or a URL with a path."""
        match = _ORIGIN.fullmatch(text)
        host = parse_host(match["host"]) if match else None
        if match is None or host is None:
            return None
        scheme = match["scheme"].lower()
        return cls(scheme, host.name, _DEFAULT_PORTS[scheme] if host.port is None else host.port)

    def __str__(self) -> str:
        name = f"[{self.name}]" if ":" in self.name else self.name
        usual = _DEFAULT_PORTS[self.scheme] == self.port
        return f"{self.scheme}://{name}" + ("" if usual else f":{self.port}")


def parse_host(text: str) -> Host | None:
    """The value of a Host header; None: it is not one host with at most a port."""
    match = _HOST.fullmatch(text)
    if match is None or (match["port"] is not None and int(match["port"]) > 65_535):
        return None
    name = match["name"].lower()
    if name.startswith("["):
        try:
            name = str(IPv6Address(name[1:-1]))
        except ValueError:
            return None
    else:
        name = name.removesuffix(".")
    return Host(name, None if match["port"] is None else int(match["port"])) if name else None


def refusal(
    hosts: list[str],
    origins: list[str],
    fetch_site: str,
    *,
    scheme: str,
    is_open: bool,
    names: frozenset[str],
    pages: frozenset[Origin],
) -> Refusal | None:
    """Why a request with these headers is refused; None: it is not.

    Args:
        hosts: the values of all its Host headers.
        origins: the values of all its Origin headers.
        fetch_site: the value of Sec-Fetch-Site, "" when there is none.
        scheme: "http" or "https", as the request came.
        is_open: the server listens at more than loopback addresses: addresses in figures are its own then.
            A page under such an address is served by the server itself, so no rebinding can lead there.
        names: further names of the server.
        pages: the origins whose scripts may call it.
    """
    host = parse_host(hosts[0]) if len(hosts) == 1 else None
    if host is None or not _is_own(host.name, is_open=is_open, names=names):
        return Refusal.HOST_UNKNOWN
    if not origins:
        # A browser sends no Origin with a GET for an image or a frame, but says where it comes from.
        is_foreign = fetch_site.lower() in {"cross-site", "same-site"}
        return Refusal.ORIGIN_FOREIGN if is_foreign else None
    origin = Origin.parse(origins[0]) if len(origins) == 1 else None
    if origin is None:
        return Refusal.ORIGIN_FOREIGN
    own = {
        Origin(each, host.name, _DEFAULT_PORTS[each] if host.port is None else host.port)
        for each in ({scheme} if is_loopback(host.name) else {scheme, "https"})
    }
    return None if origin in own or origin in pages else Refusal.ORIGIN_FOREIGN


def is_loopback(name: str) -> bool:
    """Whether a name or an address in figures always means this machine."""
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def _is_own(name: str, *, is_open: bool, names: frozenset[str]) -> bool:
    if is_loopback(name) or name in names:
        return True
    if not is_open:
        return False
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
