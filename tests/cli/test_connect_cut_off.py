"""`memoranda connect` killed, or without space, between any two steps: the next command makes it right."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memoranda.cli.clients import client_file
from memoranda.cli.clients.connecting import connect, disconnect
from memoranda.cli.clients.places import Client, Place
from memoranda.cli.clients.records import RecordStore
from memoranda.cli.clients.servers import Remote, Stdio
from memoranda.errors import MemorandaError

STDIO = Stdio(("/opt/memoranda", "mcp"), {})
REMOTE = Remote("https://notes.example.org/mcp", has_token=True)
TEXT = b'{\n  "servers": {}, // mine\n}\n'


class Killed(BaseException):
    """The process ends here: nothing after this happens."""


class Steps:
    """Counts what changes the disk, and stops at one of these steps."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, stop_at: int, failure: Callable[[], BaseException]
    ) -> None:
        self.count, self.stop_at, self.failure = 0, stop_at, failure
        self.is_on = True
        for owner, name in (
            (os, "open"), (os, "write"), (os, "link"), (Path, "replace"), (Path, "unlink"), (Path, "mkdir"), (Path, "rmdir"),
        ):  # fmt: skip
            monkeypatch.setattr(owner, name, self._counted(getattr(owner, name), name))

    def _counted(self, real: Callable[..., Any], name: str) -> Callable[..., Any]:
        def step(*arguments: Any, **options: Any) -> Any:
            is_reading = name == "open" and not arguments[1] & (os.O_CREAT | os.O_DIRECTORY)
            if self.is_on and not is_reading:
                self.count += 1
                error = self.failure()
                if name in {"unlink", "rmdir"} and not isinstance(error, Killed):
                    return real(*arguments, **options)  # needs no space
                is_dead = isinstance(error, Killed) and self.count > self.stop_at
                if self.count == self.stop_at or is_dead:
                    raise error
            return real(*arguments, **options)

        return step


def full() -> OSError:
    return OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture
def store(tmp_path: Path) -> RecordStore:
    found = RecordStore(tmp_path / "config")
    with found.locked():  # the folder and the lock file are there, as after any other command
        return found


def place_in(tmp_path: Path, data: bytes | None) -> Place:
    file = tmp_path / "client" / "User" / "mcp.json"
    if data is not None:
        file.parent.mkdir(parents=True)
        file.write_bytes(data)
    return Place(Client.VSCODE, file, "memoranda")


def files(tmp_path: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(tmp_path)): path.read_bytes() if path.is_file() else None
        for path in tmp_path.rglob("*")
        if path.name != "lock"
    }


def cut_off(
    work: Callable[[], object],
    monkeypatch: pytest.MonkeyPatch,
    stop_at: int,
    failure: Callable[[], BaseException],
) -> bool:
    """Run `work` up to that step. Returns whether it came to its end before."""
    with monkeypatch.context() as patched:
        steps = Steps(patched, stop_at, failure)
        try:
            work()
        except (Killed, MemorandaError):
            pass
        steps.is_on = False
    return steps.count < stop_at


@pytest.mark.parametrize("data", [TEXT, None])
@pytest.mark.parametrize("failure", [Killed, full])
@pytest.mark.parametrize("after", ["undo", "write"])
def test_a_write_that_is_cut_off_is_undone_or_finished(
    tmp_path: Path, store: RecordStore, monkeypatch: pytest.MonkeyPatch, data: bytes | None,
    failure: Callable[[], BaseException], after: str,
) -> None:  # fmt: skip
    place = place_in(tmp_path, data)
    before = files(tmp_path)
    stop_at, is_done = 0, False
    while not is_done:
        stop_at += 1
        is_done = cut_off(lambda: connect(place, REMOTE, store), monkeypatch, stop_at, failure)
        found = client_file.find(place.file).data
        assert found == data or (found is not None and b"notes.example.org" in found)
        if failure is full and found == data:
            assert files(tmp_path) == before  # a failure cleans up by itself
        if after == "write":
            connect(place, REMOTE, store)
            assert b"notes.example.org" in place.file.read_bytes()
        disconnect(place, store)
        assert files(tmp_path) == before
    assert stop_at > 8


@pytest.mark.parametrize("data", [TEXT, None])
@pytest.mark.parametrize("failure", [Killed, full])
def test_an_undo_that_is_cut_off_is_finished(
    tmp_path: Path, store: RecordStore, monkeypatch: pytest.MonkeyPatch, data: bytes | None,
    failure: Callable[[], BaseException],
) -> None:  # fmt: skip
    place = place_in(tmp_path, data)
    before = files(tmp_path)
    stop_at, is_done = 0, False
    while not is_done:
        stop_at += 1
        connect(place, REMOTE, store)
        written = place.file.read_bytes()
        is_done = cut_off(lambda: disconnect(place, store), monkeypatch, stop_at, failure)
        assert client_file.find(place.file).data in {data, written}
        disconnect(place, store)
        assert files(tmp_path) == before
    assert stop_at > 3


@pytest.mark.parametrize("failure", [Killed, full])
@pytest.mark.parametrize("when", ["never", "before", "after"])
def test_an_update_that_is_cut_off_can_still_be_taken_back(
    tmp_path: Path,
    store: RecordStore,
    monkeypatch: pytest.MonkeyPatch,
    failure: Callable[[], BaseException],
    when: str,
) -> None:
    place = place_in(tmp_path, TEXT)
    stop_at, is_done = 0, False
    tail = b" // by the client\n"
    while not is_done:
        stop_at += 1
        connect(place, REMOTE, store)
        if when == "before":
            place.file.write_bytes(place.file.read_bytes() + tail)
        is_done = cut_off(lambda: connect(place, STDIO, store), monkeypatch, stop_at, failure)
        if when == "after":
            place.file.write_bytes(place.file.read_bytes() + tail)
        disconnect(place, store)
        assert place.file.read_bytes() == TEXT + (b"" if when == "never" else tail)
        place.file.write_bytes(TEXT)
    assert stop_at > 3


def test_a_change_between_reading_and_writing_is_not_lost(
    tmp_path: Path, store: RecordStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = place_in(tmp_path, TEXT)
    before = files(tmp_path)
    real = client_file.make_backup

    def meanwhile(found: client_file.Found) -> Path:
        backup = real(found)
        place.file.write_bytes(b"{}")
        return backup

    monkeypatch.setattr(client_file, "make_backup", meanwhile)
    with pytest.raises(MemorandaError, match="by another program just now"):
        connect(place, STDIO, store)
    assert place.file.read_bytes() == b"{}"
    monkeypatch.undo()
    connect(place, STDIO, store)
    disconnect(place, store)
    assert place.file.read_bytes() == b"{}"
    assert set(files(tmp_path)) == {*before, "client/User/mcp.json.before-memoranda"}
