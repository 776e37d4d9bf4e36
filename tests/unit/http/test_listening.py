"""Which addresses are listened at, and what is said when that cannot be."""

from __future__ import annotations

import errno
import socket
from contextlib import ExitStack

import pytest

from memoranda.errors import InvalidArgument
from memoranda.http import listening
from memoranda.http.listening import Address, addresses, listen

FOUR = Address("127.0.0.1", socket.AF_INET)
SIX = Address("::1", socket.AF_INET6)


def failing(monkeypatch: pytest.MonkeyPatch, at: Address, number: int) -> list[socket.socket]:
    """No socket can be had for an address; returns those that were made for others."""
    made, bound = [], listening._bound

    def bind(address: Address, port: int) -> socket.socket:
        if address == at:
            raise OSError(number, "it says so")
        made.append(bound(address, port))
        return made[-1]

    monkeypatch.setattr(listening, "_bound", bind)
    return made


@pytest.mark.parametrize("number", [errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT])
@pytest.mark.parametrize("at", [(SIX, FOUR), (FOUR, SIX)])
def test_an_address_that_the_machine_does_not_have_is_left_out_if_there_is_another(
    monkeypatch: pytest.MonkeyPatch, number: int, at: tuple[Address, Address]
) -> None:
    failing(monkeypatch, SIX, number)
    (only,) = listen(at, 0)
    with only:
        assert only.getsockname()[0] == "127.0.0.1"
    with pytest.raises(InvalidArgument, match="::1 is no address of this machine"):
        listen([SIX], 0)


def test_the_address_that_is_taken_is_named_and_the_others_are_let_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = failing(monkeypatch, SIX, errno.EADDRINUSE)
    with pytest.raises(InvalidArgument, match="listens at ::1, port"):
        listen([FOUR, SIX], 0)
    assert [each.fileno() for each in made] == [-1]


def test_a_port_that_is_not_for_us_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, FOUR, errno.EACCES)
    with pytest.raises(InvalidArgument, match="Port 80 is for the system's own"):
        listen([FOUR], 80)
    with pytest.raises(
        InvalidArgument, match=r"cannot listen at 127\.0\.0\.1, port 8765: it says so"
    ):
        listen([FOUR], 8765)


def test_the_port_is_the_same_at_all_addresses() -> None:
    with ExitStack() as open_:
        taken = listen([FOUR, Address("127.0.0.2", socket.AF_INET)], 0)
        for each in taken:
            open_.enter_context(each)
        assert len({each.getsockname()[1] for each in taken}) == 1


def test_no_address_is_listened_at_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    found = socket.getaddrinfo("127.0.0.1", None, type=socket.SOCK_STREAM)
    monkeypatch.setattr(listening.socket, "getaddrinfo", lambda *_, **__: found * 2)
    assert addresses("localhost") == (FOUR,)
