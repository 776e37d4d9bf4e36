"""What the settings and the command line make of a server."""

from __future__ import annotations

import pytest

from memoranda.errors import InvalidArgument
from memoranda.http.origins import Origin
from memoranda.http.plan import Asked, ServePlan, plan
from memoranda.settings import Settings

TOKEN = "correct-horse-battery-staple-0123456789"
USUAL = Asked()


def planned(
    asked: Asked = USUAL, *, token: str | None = None, is_open: bool = False, **settings: object
) -> ServePlan:
    return plan(Settings(**settings), asked, token=token, is_open=is_open)


def test_only_this_machine_reaches_it_unless_said_otherwise() -> None:
    usual = planned()
    assert (usual.host, usual.port, usual.path, usual.is_open) == ("127.0.0.1", 8765, "/mcp", False)
    assert (usual.hosts, usual.origins, usual.is_read_only) == ({"127.0.0.1"}, frozenset(), False)


def test_the_command_line_comes_before_the_settings_and_adds_to_their_lists() -> None:
    made = planned(
        Asked("::1", 0, "/notes/", ("B.example",), ("https://b.example",), is_read_only=True),
        http_host="10.0.0.1",
        http_port=1,
        http_path="/other",
        http_allowed_hosts=["a.example"],
        http_allowed_origins=["http://a.example:81"],
    )
    assert (made.host, made.port, made.path, made.is_read_only) == ("::1", 0, "/notes", True)
    assert made.hosts == {"a.example", "b.example"}  # an address in figures is known without
    assert made.origins == {Origin("http", "a.example", 81), Origin("https", "b.example", 443)}


def test_a_server_is_known_by_the_name_it_listens_at() -> None:
    made = planned(Asked(host="Notes.Local"), token=TOKEN, is_open=True)
    assert made.hosts == {"notes.local"}


def test_what_only_reads_by_its_settings_only_reads() -> None:
    assert planned(read_only=True).is_read_only


def test_limits_come_from_the_settings() -> None:
    limits = planned(http_requests_per_second=2.5, http_call_seconds=9, http_max_sessions=7).limits
    assert (limits.requests_per_s, limits.burst) == (2.5, 25)
    assert (limits.call_s, limits.sessions) == (9, 7)
    assert planned(http_requests_per_second=0.01).limits.burst == 1


def test_an_open_server_needs_a_token() -> None:
    with pytest.raises(InvalidArgument) as caught:
        planned(Asked(host="0.0.0.0"), is_open=True)
    assert caught.value.parameter == "host"
    assert "memoranda token" in caught.value.hint
    assert planned(Asked(host="0.0.0.0"), is_open=True, token=TOKEN).token == TOKEN


def test_a_plan_does_not_show_its_token() -> None:
    assert TOKEN not in repr(planned(token=TOKEN))


@pytest.mark.parametrize("path", ["/", "/mcp", "/mcp/", "/a/b-c_d.e~1"])
def test_a_path_may_be(path: str) -> None:
    assert planned(Asked(path=path)).path == (path.rstrip("/") or "/")


@pytest.mark.parametrize(
    "path",
    [
        "mcp",
        "//",
        "/a//b",
        "/../x",
        "/a/..",
        "/a?b",
        "/a#b",
        "/a b",
        "/ä",
        "/%41",
        "/health",
        "/health/",
    ],
)
def test_a_path_may_not_be(path: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        planned(Asked(path=path))
    assert caught.value.parameter == "path"


@pytest.mark.parametrize(
    "name", ["https://a.example", "a.example:80", "a.example/", "*", "", "a b"]
)
def test_a_host_is_a_name_alone(name: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        planned(Asked(hosts=(name,)))
    assert caught.value.parameter == "allowed_hosts"


@pytest.mark.parametrize(
    "origin", ["a.example", "*", "null", "https://a.example/", "ftp://a.example"]
)
def test_an_origin_is_scheme_host_and_port_alone(origin: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        planned(Asked(origins=(origin,)))
    assert caught.value.parameter == "allowed_origins"
