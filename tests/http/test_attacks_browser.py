"""Web pages in the browser of the user, who all reach 127.0.0.1: nothing of theirs is served."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.http.attacks import (
    SECRET,
    answer_to,
    assert_quiet,
    assert_serves,
    head,
    logged,
    post,
)
from tests.http.conftest import TOKEN, Serve, Served, initialize

from memoranda.http.origins import Origin
from memoranda.http.plan import ServePlan

PAGE = "https://chat.example.org"
CALL = json.dumps(initialize()).encode()
# After DNS rebinding the browser still says the attacker's name. {port} is the server's.
REBOUND: tuple[str | bytes, ...] = (
    "evil.example",
    "evil.example:{port}",
    "evil.example.",
    "EVIL.EXAMPLE:{port}",
    "127.0.0.1@evil.example",
    "evil.example@127.0.0.1:{port}",
    "localhost@127.0.0.1",
    "127.0.0.1.evil.example:{port}",
    "127.0.0.1.nip.io",
    "localhost.evil.example",
    "evil-localhost",
    "xlocalhost:{port}",
    "localhost..",
    "localhost.localdomain",
    "a.localhost",
    "[::1].evil.example",
    "[::1]evil",
    "[::1",
    "::1",
    "[::1%25lo]:{port}",
    "[fe80::1%25lo]",
    "[v1.x]",
    "2130706433",
    "017700000001",
    "0177.0.0.1",
    "127.0.0.01",
    "127.1:{port}",
    "127.0.1",
    "0x7f000001",
    "0x7f.0.0.1",
    "127.0.0.1%00",
    "127.0.0.1:{port}:{port}",
    "127.0.0.1:99999",
    "127.0.0.1:-1",
    "127.0.0.1:+80",
    "127.0.0.1:",
    "127.0.0.1 evil.example",
    "127.0.0.1,evil.example",
    "127.0.0.1/evil",
    "http://127.0.0.1",
    "0.0.0.0",
    "0",
    "[::]",
    "10.0.0.5:{port}",
    "169.254.169.254",
    "[2001:db8::1]",
    "[::ffff:10.0.0.5]",
    "*",
    "null",
    ".",
    "l\u00f6calhost",
    "\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3",
    "127\u30020\u30020\u30021",
    b"localhost\xa0",
    "a" * 300,
    "localhost." + "a." * 4000,
)
OWN = (
    "127.0.0.1:{port}",
    "127.0.0.1",
    "127.0.0.1:1",  # a port that is forwarded
    "127.9.8.7",
    "localhost:{port}",
    "LOCALHOST",
    "localhost.:{port}",
    "[::1]:{port}",
    "[0:0:0:0:0:0:0:1]",
)
# Of a request with Host localhost:{port}.
FOREIGN = (
    "http://evil.example",
    "https://evil.example:{port}",
    "http://localhost.evil",
    "http://localhost.evil:{port}",
    "http://localhost:{port}.evil.example",
    "http://localhost@evil.example",
    "http://evil.example@localhost:{port}",
    "http://localhost:1",
    "http://localhost",
    "http://localhost:{port}0",
    "http://xlocalhost:{port}",
    "http://a.localhost:{port}",
    "http://127.0.0.1:{port}",
    "http://[::1]:{port}",
    "https://localhost:{port}",
    "ws://localhost:{port}",
    "file://localhost:{port}",
    "file://",
    "chrome-extension://abcdefgh",
    "vscode-webview://localhost:{port}",
    "null",
    "NULL",
    "",
    "*",
    "localhost:{port}",
    "//localhost:{port}",
    "http://localhost:{port}/",
    "http://localhost:{port}/mcp",
    "http://localhost:{port}?",
    "http://localhost:{port}#",
    "http://localhost:{port} http://evil.example",
    "http://localhost:{port}, http://evil.example",
    "http://localhost:{port};evil",
    "http://localhost:{port}\\@evil.example",
    "http:\\\\localhost:{port}",
    "http:/localhost:{port}",
    "http://l\u00f6calhost:{port}",
    f"https://{SECRET}.example",
)


def at(served: Served, text: str | bytes) -> str | bytes:
    return text.replace("{port}", str(served.port)) if isinstance(text, str) else text


async def statuses(served: Served, requests: dict[str, bytes]) -> dict[str, int]:
    return {name: (await answer_to(served, data)).status for name, data in requests.items()}


def unexpected(found: dict[str, int], status: int) -> dict[str, int]:
    return {name: seen for name, seen in found.items() if seen != status}


async def test_a_name_that_was_rebound_leads_nowhere(serving: Serve, tmp_path: Path) -> None:
    with logged(tmp_path) as log:
        async with serving() as served:
            asked = {str(host): post(served, CALL, host=at(served, host)) for host in REBOUND}
            assert unexpected(await statuses(served, asked), 421) == {}
            asked = {str(host): head(served, "GET", "/health", host=host) for host in REBOUND}
            assert unexpected(await statuses(served, asked), 421) == {}
            await assert_serves(served)
            assert_quiet(log, served)


async def test_its_own_names_with_any_port_are_served(serving: Serve) -> None:
    async with serving() as served:
        asked = {host: head(served, "GET", "/health", host=at(served, host)) for host in OWN}
        assert unexpected(await statuses(served, asked), 200) == {}


async def test_several_hosts_or_none_and_targets_that_name_another(serving: Serve) -> None:
    async with serving() as served:
        own = f"host: 127.0.0.1:{served.port}"
        asked = {
            "two": head(served, "POST", None, own, "host: evil.example"),
            "the same twice": head(served, "POST", None, own, own),
            "none": b"POST /mcp HTTP/1.1\r\ncontent-length: 0\r\n\r\n",
            "none in 1.0": b"GET /health HTTP/1.0\r\n\r\n",
            "empty": head(served, "POST", None, "host:"),
            "another name": head(served, "POST", None, own, "x-forwarded-host: evil.example"),
            "absolute": head(served, "GET", "http://evil.example/mcp"),
            "absolute and own": head(served, "GET", f"http://127.0.0.1:{served.port}/mcp"),
            "authority": head(served, "CONNECT", "evil.example:443"),
            "asterisk": head(served, "OPTIONS", "*"),
        }
        assert await statuses(served, asked) == {
            "two": 400,
            "the same twice": 400,
            "none": 400,
            "none in 1.0": 421,
            "empty": 421,
            "another name": 400,  # an empty body, from whom it may be
            "absolute": 404,
            "absolute and own": 404,
            "authority": 404,
            "asterisk": 404,
        }
        await assert_serves(served)


async def test_an_open_server_knows_figures_and_names_that_were_allowed(serving: Serve) -> None:
    plan = ServePlan(token=TOKEN, is_open=True, hosts=frozenset({"notes.example.org"}))
    async with serving(plan) as served:
        allowed = ("10.0.0.5:80", "[2001:db8::1]", "notes.example.org", "NOTES.example.org.:8443")
        asked = {host: head(served, "GET", "/health", host=host) for host in allowed}
        assert unexpected(await statuses(served, asked), 200) == {}
        foreign = (
            "evil.example",
            "a.notes.example.org",
            "notes.example.org.evil.example",
            "xnotes.example.org",
            "10.0.0.5.evil.example",
            "2130706433",
            "10.1",
        )
        asked = {host: head(served, "GET", "/health", host=host) for host in foreign}
        assert unexpected(await statuses(served, asked), 421) == {}


async def test_other_pages_may_not_call(serving: Serve, tmp_path: Path) -> None:
    with logged(tmp_path) as log:
        async with serving() as served:
            host = f"localhost:{served.port}"
            asked = {
                origin: post(served, CALL, f"origin: {at(served, origin)}", host=host)
                for origin in FOREIGN
            }
            assert unexpected(await statuses(served, asked), 403) == {}
            own = f"origin: http://{host}"
            asked = {
                "two": post(served, CALL, own, "origin: https://evil.example", host=host),
                "twice": post(served, CALL, own, own, host=host),
                "bytes": post(served, CALL, b"origin: http://localhost\xff", host=host),
                "long": post(served, CALL, "origin: http://" + "a" * 9000, host=host),
            }
            assert unexpected(await statuses(served, asked), 403) == {}
            assert served.uvicorn.server_state.total_requests == len(served.refused)
            answer = await answer_to(served, head(served, "GET", "/health", own, host=host))
            assert answer.status == 200
            assert not {name for name in answer.headers if name.startswith("access-control")}
            await assert_serves(served)
            assert_quiet(log, served)


@pytest.mark.parametrize(
    ("site", "status"),
    [
        ("cross-site", 403),
        ("same-site", 403),
        ("Cross-Site", 403),
        ("same-origin", 200),
        ("none", 200),
    ],
)
async def test_a_request_without_origin_says_where_it_comes_from(
    serving: Serve, site: str, status: int
) -> None:
    async with serving() as served:
        asked = head(served, "GET", "/health", f"sec-fetch-site: {site}", "sec-fetch-mode: no-cors")
        assert (await answer_to(served, asked)).status == status
        if status == 403:
            asked = post(served, CALL, f"sec-fetch-site: {site}")
            assert (await answer_to(served, asked)).status == status


async def test_what_a_form_can_send_is_no_request_of_the_protocol(serving: Serve) -> None:
    async with serving() as served:
        kinds = (
            "text/plain",
            "text/plain;charset=UTF-8",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=application/json",
            "text/plain, application/json",
            "",
        )
        asked = {kind: post(served, CALL, f"content-type: {kind}") for kind in kinds}
        assert unexpected(await statuses(served, asked), 400) == {}
        manager = served.uvicorn.config.app._endpoint._sessions()
        assert manager is not None
        assert manager._server_instances == {}
        await assert_serves(served)


def preflight(served: Served, origin: str, *, headers: str = "mcp-session-id") -> bytes:
    return head(
        served,
        "OPTIONS",
        None,
        f"origin: {origin}",
        "access-control-request-method: POST",
        f"access-control-request-headers: {headers}",
    )


async def test_no_page_is_allowed_unless_it_was(serving: Serve) -> None:
    async with serving() as served:
        for origin, status in ((PAGE, 403), ("null", 403), (served.origin, 405)):
            answer = await answer_to(served, preflight(served, origin))
            assert answer.status == status
            assert not {name for name in answer.headers if name.startswith("access-control")}


async def test_the_scripts_of_an_allowed_page_and_of_no_other_may_read(serving: Serve) -> None:
    origin = Origin.parse(PAGE)
    assert origin is not None
    async with serving(ServePlan(token=TOKEN, origins=frozenset({origin}))) as served:
        answer = await answer_to(served, preflight(served, PAGE))
        cors = {name: value for name, value in answer.headers.items() if "access" in name}
        methods = cors.pop("access-control-allow-methods")
        headers = cors.pop("access-control-allow-headers")
        assert answer.status == 200
        assert {each.strip() for each in methods.split(",")} == {"GET", "POST", "DELETE"}
        assert {"authorization", "mcp-session-id"} <= set(headers.lower().split(", "))
        assert cors == {"access-control-allow-origin": PAGE, "access-control-max-age": "600"}
        assert "origin" in answer.headers["vary"].lower()

        refused = await answer_to(served, preflight(served, PAGE, headers="x-anything"))
        assert refused.status == 400

        called = await answer_to(served, post(served, CALL, f"origin: {PAGE}", "authorization: x"))
        assert (called.status, called.headers["access-control-allow-origin"]) == (401, PAGE)
        assert "access-control-allow-credentials" not in called.headers

        for foreign in (
            "null",
            "http://chat.example.org",
            "https://chat.example.org:444",
            "https://a.chat.example.org",
            "https://chat.example.org.evil.example",
            "https://chat.example.org@evil.example",
        ):
            for asked in (preflight(served, foreign), post(served, CALL, f"origin: {foreign}")):
                answer = await answer_to(served, asked)
                assert (foreign, answer.status) == (foreign, 403)
                assert not {name for name in answer.headers if name.startswith("access-control")}
        await assert_serves(served)
