"""Three servers that start at the same moment where nothing is yet: one makes it, the others wait."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.live.client import Server
from tests.live.home import Home

SOAK = bool(os.environ.get("MEMORANDA_SOAK"))
SERVERS = 3
WRITES = 100 if SOAK else 8

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.mark.spec("12.2")
def test_three_servers_that_start_at_once_on_an_empty_home_all_answer(bare_home: Home) -> None:
    home = bare_home
    home.root.mkdir()
    (home.root / "n.md").write_text("n\n")
    projects = json.dumps({"Main": {"path": str(home.root)}})
    servers = [
        home.start(f"client {number}", BASIC_MEMORY_PROJECTS=projects) for number in range(SERVERS)
    ]

    def use(server: Server) -> None:
        """One client: its first call comes as soon as the handshake is done. One user saves by hand."""
        server.greet()
        for turn in range(WRITES):
            title = f"{server.name} note {turn}".replace(" ", "-")
            answer = server.call("write_note", title=title, content=f"See [[n]].\n\nturn {turn}\n")
            assert not answer.code, answer
            assert not (answer := server.call("read_note", path=f"{title}.md")).code, answer
            if server is servers[0]:
                (home.root / "n.md").write_text(f"n\n\nsaved in turn {turn}\n")

    with ThreadPoolExecutor(SERVERS) as threads:
        for client in [threads.submit(use, server) for server in servers]:
            client.result()
    home.assert_agrees_in_the_end()
    assert len(home.rows("SELECT file_path FROM entity")) == SERVERS * WRITES + 1
    for server in servers:
        assert server.close() == 0
    home.assert_nothing_bad_was_logged()
