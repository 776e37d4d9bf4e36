"""Whom a request is meant for and which page sent it."""

from __future__ import annotations

import pytest

from memoranda.http.origins import Host, Origin, Refusal, is_loopback, parse_host, refusal

PAGE = Origin("https", "chat.example.org", 443)


def decided(
    *hosts: str,
    origins: tuple[str, ...] = (),
    site: str = "",
    scheme: str = "http",
    is_open: bool = False,
    names: tuple[str, ...] = (),
) -> Refusal | None:
    return refusal(
        list(hosts),
        list(origins),
        site,
        scheme=scheme,
        is_open=is_open,
        names=frozenset(names),
        pages=frozenset({PAGE}),
    )


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST:8765",
        "localhost.:80",
        "127.0.0.1:1",
        "127.8.9.1",
        "[::1]:8765",
        "[::1]",
    ],
)
def test_this_machine_is_known_by_its_own_names_at_any_port(host: str) -> None:
    assert decided(host) is None


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "evil.example:8765",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "evil-localhost",
        "user@localhost",
        "localhost:99999",
        "localhost:",
        "localhost:80:80",
        "[::1",
        "[::1].evil.example",
        "[::1%25lo]",
        "::1",
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "127.1",
        "localhost/",
        "localhost,evil.example",
        "localhost evil",
        "ｌocalhost",
        "169.254.169.254",
        "192.168.1.5",
        "a" * 300,
    ],
)
def test_another_name_is_not_ours(host: str) -> None:
    assert decided(host) is Refusal.HOST_UNKNOWN


def test_there_is_one_host() -> None:
    assert decided() is Refusal.HOST_UNKNOWN
    assert decided("localhost", "localhost") is Refusal.HOST_UNKNOWN


def test_an_open_server_is_known_by_any_address_in_figures_but_by_no_name() -> None:
    assert decided("192.168.1.5:8765", is_open=True) is None
    assert decided("[fe80::1]:8765", is_open=True) is None
    assert decided("evil.example", is_open=True) is Refusal.HOST_UNKNOWN


def test_a_name_that_was_allowed_is_known_at_any_port() -> None:
    assert decided("notes.example.org", names=("notes.example.org",)) is None
    assert decided("Notes.Example.Org.:444", names=("notes.example.org",)) is None
    assert decided("x.notes.example.org", names=("notes.example.org",)) is Refusal.HOST_UNKNOWN


@pytest.mark.parametrize(
    "origin",
    ["http://localhost:8765", "HTTP://LOCALHOST:8765"],
)
def test_the_servers_own_pages_may_call_it(origin: str) -> None:
    assert decided("localhost:8765", origins=(origin,)) is None


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "http://localhost:3000",
        "http://localhost",
        "https://localhost:8765",
        "http://127.0.0.1:8765",
        "http://evil.example",
        "http://localhost:8765.evil.example",
        "http://localhost:8765/",
        "http://user@localhost:8765",
        "localhost:8765",
        "ftp://localhost:8765",
        "file://",
        "chrome-extension://abcdef",
        "https://x.chat.example.org",
        "https://chat.example.org:444",
        "http://chat.example.org",
        "https://chat.example.org https://evil.example",
    ],
)
def test_other_pages_may_not(origin: str) -> None:
    assert decided("localhost:8765", origins=(origin,)) is Refusal.ORIGIN_FOREIGN


def test_an_allowed_page_may() -> None:
    for origin in ("https://chat.example.org", "https://chat.example.org:443"):
        assert decided("localhost:8765", origins=(origin,), site="cross-site") is None


def test_there_is_one_origin_at_most() -> None:
    ours = "http://localhost:8765"
    assert decided("localhost:8765", origins=(ours, ours)) is Refusal.ORIGIN_FOREIGN


def test_behind_tls_a_page_of_our_own_name_is_ours() -> None:
    mine = {"names": ("notes.example.org",)}
    assert decided("notes.example.org", origins=("https://notes.example.org",), **mine) is None
    assert decided("notes.example.org", origins=("http://notes.example.org",), **mine) is None


def test_what_a_browser_fetches_for_another_site_without_an_origin_is_refused() -> None:
    assert decided("localhost", site="cross-site") is Refusal.ORIGIN_FOREIGN
    assert decided("localhost", site="Same-Site") is Refusal.ORIGIN_FOREIGN
    assert decided("localhost", site="none") is None
    assert decided("localhost", site="same-origin") is None


def test_hosts_are_read_in_one_form() -> None:
    assert parse_host("[2001:DB8:0::1]:80") == Host("2001:db8::1", 80)
    assert parse_host("A.b.") == Host("a.b")
    assert parse_host(".") is None


def test_origins_are_written_as_browsers_do() -> None:
    for text in ("https://a.b", "http://a.b:8080", "http://[::1]:1"):
        assert str(Origin.parse(text)) == text
    assert str(Origin.parse("http://a.b:80")) == "http://a.b"


def test_loopback_is_known_by_name_and_by_figures() -> None:
    assert all(map(is_loopback, ("localhost", "127.0.0.1", "127.255.0.1", "::1")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "localhost.localdomain", "10.0.0.1", "")))
