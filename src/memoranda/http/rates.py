"""How many requests a client may send: a token bucket for each, in bounded memory."""

from __future__ import annotations

from collections import OrderedDict
from ipaddress import IPv6Address, ip_address
from typing import Final

_MOST_CLIENTS: Final = 10_000
_SITE_BITS: Final = 64
"""What one household or machine gets of IPv6: its addresses are one client."""


class Rates:
    """Token buckets by client. Not for several threads."""

    def __init__(self, per_s: float, burst: float, *, most_clients: int = _MOST_CLIENTS) -> None:
        self._per_s, self._burst, self._most = per_s, burst, most_clients
        self._buckets: OrderedDict[object, tuple[float, float]] = OrderedDict()  # tokens, at

    def wait_s(self, client: object, now_s: float) -> float:
        """Take one request of a client.

        Returns:
            0 when it may be served; else after how many seconds the next one may (it is not counted).
        """
        if not self._per_s:
            return 0
        tokens, at = self._buckets.pop(client, (self._burst, now_s))
        tokens = min(self._burst, tokens + max(0.0, now_s - at) * self._per_s)
        is_served = tokens >= 1
        self._buckets[client] = (tokens - 1 if is_served else tokens, now_s)
        if len(self._buckets) > self._most:
            self._buckets.popitem(
                last=False
            )  # who was not heard of for longest: a full bucket, or nearly
        return 0 if is_served else (1 - tokens) / self._per_s


def client_network(address: str) -> str:
    """What a client is known by: its address, of IPv6 the network of its site."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
        parsed = parsed.ipv4_mapped
    if not isinstance(parsed, IPv6Address):  # this machine has sixteen million addresses
        return "127.0.0.1" if parsed.is_loopback else str(parsed)
    return f"{int(parsed) >> (128 - _SITE_BITS):x}/{_SITE_BITS}"
