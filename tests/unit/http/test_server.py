"""What a server is said to be, and where its token comes from."""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path

import pytest

from memoranda.cli.commands import serve as command
from memoranda.config import config_file
from memoranda.http.plan import Asked
from memoranda.http.prepared import prepared
from memoranda.http.server import Serving, _url
from memoranda.http.tokens import make_token, usual_file

LOCAL = Serving(("http://127.0.0.1:8765/mcp",), False, False, False, 1)
OPEN = Serving(("http://127.0.0.1:8765/mcp", "http://[::1]:8765/mcp"), True, True, True, 0)


class Nowhere:
    """A standard output that takes nothing."""

    def isatty(self) -> bool:
        return False

    def write(self, _text: str) -> int:
        raise OSError(28, "No space left on device")

    def flush(self) -> None:
        raise OSError(9, "Bad file descriptor")


def test_a_server_says_where_it_is_and_who_may_use_it(capsys: pytest.CaptureFixture[str]) -> None:
    command._say(LOCAL, as_json=False)
    local = capsys.readouterr().out
    assert local.startswith("Serving 1 project at http://127.0.0.1:8765/mcp\n")
    assert "Every program on this machine may use it" in local
    assert all(word not in local for word in ("no project", "token", "TLS"))
    command._say(OPEN, as_json=False)
    opened = capsys.readouterr().out
    assert opened.startswith("Serving 0 projects, only for reading, at http://127.0.0.1:8765/mcp\n")
    for said in ("and at http://[::1]:8765/mcp", "no project yet", "send the token", "TLS"):
        assert said in opened
    assert "Every program" not in opened


@pytest.mark.parametrize("as_json", [False, True])
def test_a_server_that_can_tell_nobody_serves_all_the_same(
    monkeypatch: pytest.MonkeyPatch, *, as_json: bool
) -> None:
    monkeypatch.setattr(sys, "stdout", Nowhere())
    command._say(LOCAL, as_json=as_json)


@pytest.mark.parametrize(("bound", "shown"), [("0.0.0.0", "127.0.0.1"), ("127.0.0.1",) * 2])
def test_the_address_that_is_shown_can_be_reached(bound: str, shown: str) -> None:
    with socket.socket() as listening:
        listening.bind((bound, 0))
        port = listening.getsockname()[1]
        assert _url(listening, "/mcp") == f"http://{shown}:{port}/mcp"


def test_the_token_may_lie_where_the_settings_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BASIC_MEMORY_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    named, other = (make_token(tmp_path / name) for name in ("named", "other"))
    config_file().path.write_text(json.dumps({"http_token_file": "~/named"}), "utf-8")
    for option, token in ((None, named), (str(tmp_path / "other"), other)):
        what = prepared(Asked(port=0), token_file=option)
        what.close()
        assert what.plan.token == token
    assert usual_file(None) == tmp_path / "http.token"
