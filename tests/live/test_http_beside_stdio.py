"""One server over HTTP and two over stdio on one project: a write of each is found by all at once."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.live.client import Server
from tests.live.home import Home, until
from tests.live.http_client import HttpServer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

Either = Server | HttpServer


def serve(home: Home, port: int = 0) -> HttpServer:
    """A server over HTTP that ends with the home."""
    server = HttpServer(home.config, home.errors, "web", port=port)
    home.servers.append(server)  # type: ignore[arg-type]
    return server


def assert_each_finds_what_each_writes(servers: Sequence[Either], turn: str) -> None:
    """All write at once; then each is asked for the words of all, and for what the last change was."""
    words = {server.name: f"word{turn}{number}" for number, server in enumerate(servers)}

    def write(server: Either) -> None:
        title = f"{turn} {server.name}"
        answer = server.call("write_note", title=title, content=f"It says {words[server.name]}.")
        assert not answer.code, answer

    with ThreadPoolExecutor(len(servers)) as threads:
        list(threads.map(write, servers))
    for asked in servers:
        for writer, word in words.items():
            found = asked.call("search_notes", query=word, search_type="fts")
            assert [each["title"] for each in found.data["results"]] == [f"{turn} {writer}"]
            history = asked.call("note_history", path=f"{turn} {writer}")
            assert [each["client"] for each in history.data["changes"]] == [writer]


@pytest.mark.spec("12.2")
def test_http_and_stdio_servers_are_one_and_outlive_the_leader_over_http(home: Home) -> None:
    pipes = [home.start(f"pipe{number}") for number in range(2)]  # they open nothing yet
    web = serve(home)
    assert not web.call("list_directory").code
    until(lambda: home.leader() == web.pid, "the first that was asked leads")
    for pipe in pipes:
        pipe.greet()
    assert_each_finds_what_each_writes([web, *pipes], "first")

    web.kill()
    until(lambda: home.leader() in {pipe.pid for pipe in pipes}, "a server over stdio leads")
    assert_each_finds_what_each_writes(pipes, "second")

    again = serve(home, web.port)
    assert_each_finds_what_each_writes([again, *pipes], "third")
    home.assert_agrees_now()
    assert len(home.rows("SELECT 1 FROM entity")) == 8
    assert again.end() == 0
    home.assert_nothing_bad_was_logged()
