"""A client that goes away in the middle of many calls is not waited for, and what it was told is true."""

from __future__ import annotations

import fcntl
import json
import os
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable

import pytest
from tests.live.client import PATIENCE_S, Gone, answer_of
from tests.live.home import Home, until

CALLS = 600
ENOUGH_BYTES = 20_000
"""So many wait to be read; all answers together are more than a pipe holds."""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

Record = Callable[[str, object], None]


def test_calls_under_way_are_cut_off_and_those_that_were_answered_happened(
    home: Home, record_property: Record
) -> None:
    server = home.start("hasty")
    server.greet()
    assert not server.call("list_directory").code
    calls = [
        server.begin("write_note", title=f"n{number}", content="text") for number in range(CALLS)
    ]
    answer_of(calls[0])
    began = time.monotonic()
    assert server.close() == 0
    record_property("ended_s", round(time.monotonic() - began, 2))
    told = cut_off = 0
    for number, call in enumerate(calls):
        try:
            is_cut_off = "error" in call.result(
                PATIENCE_S
            )  # the protocol's: the connection is closed
        except Gone:
            is_cut_off = True
        if is_cut_off or (code := answer_of(call).code) == "NOT_READY":  # the server is ending
            cut_off += 1
            continue
        assert code in ("", "NOT_INDEXED")
        told += 1
        assert (home.root / f"n{number}.md").exists()
    assert told
    assert cut_off
    home.start("next").greet()
    until(lambda: not home.temporary_files(), "no temporary file is left")
    home.assert_agrees_in_the_end()


def test_a_client_that_reads_no_answers_and_ends_is_not_waited_for(home: Home) -> None:
    for number in range(40):
        (home.root / f"n{number}.md").write_text("a fact\n" * 200)
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "deaf", "version": "1"},
    }
    messages = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
    ]
    reading = {"name": "read_note", "arguments": {"path": "n1.md"}}
    messages += [{"id": n, "method": "tools/call", "params": reading} for n in range(2, 202)]
    with subprocess.Popen(
        [sys.executable, "-m", "memoranda", "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"BASIC_MEMORY_CONFIG_DIR": str(home.config)},
    ) as server:
        assert server.stdin
        assert server.stdout
        lines = [json.dumps({"jsonrpc": "2.0"} | message) + "\n" for message in messages]
        server.stdin.write("".join(lines).encode())
        server.stdin.flush()
        output = server.stdout.fileno()
        until(lambda: waiting_bytes(output) > ENOUGH_BYTES, "answers come")
        server.stdin.close()
        try:
            assert server.wait(20) == 0
        finally:
            server.kill()


def waiting_bytes(descriptor: int) -> int:
    """How much is in a pipe that nobody has read."""
    return int(struct.unpack("i", fcntl.ioctl(descriptor, termios.FIONREAD, b"\0" * 4))[0])
