"""`sync --watch` as a process: what it says, who leads, how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from tests.cli.conftest import Cli

from memoranda.sync.lease import Lease

PATIENCE_S = 30
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="signals"),
]


def environment() -> dict[str, str]:
    """Changes are indexed at once; Python holds back what it prints, as it does for a person's pipe."""
    held_back = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return held_back | {"BASIC_MEMORY_SYNC_DELAY": "50"}


class Watcher:
    """A running command, with what it said so far."""

    def __init__(self, *options: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "memoranda", "sync", "--watch", *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env=environment(),
        )
        self.out: list[str] = []
        self.err: list[str] = []
        self._news = threading.Condition()
        self._readers = [
            threading.Thread(target=self._read, args=(self.process.stdout, self.out)),
            threading.Thread(target=self._read, args=(self.process.stderr, self.err)),
        ]
        for reader in self._readers:
            reader.start()

    @property
    def documents(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out]

    def until(self, condition: Callable[[], object]) -> None:
        """Wait until that is so; asked again with each line."""
        with self._news:
            said = self._news.wait_for(condition, PATIENCE_S)
        assert said, (self.out, self.err)

    def event(self, event: str, **fields: object) -> dict[str, Any]:
        """Wait for a document that has these fields."""

        def found() -> list[dict[str, Any]]:
            wanted = {"event": event} | fields
            return [each for each in self.documents if wanted.items() <= each.items()]

        self.until(found)
        return found()[-1]

    def end(self, number: signal.Signals) -> int:
        """Send a signal; returns the exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join()
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()

    def _read(self, stream: IO[str], lines: list[str]) -> None:
        for line in stream:
            with self._news:
                lines.append(line.rstrip("\n"))
                self._news.notify_all()


Start = Callable[..., Watcher]


@pytest.fixture
def start(home: Path) -> Iterator[Start]:
    watchers: list[Watcher] = []

    def run(*options: str) -> Watcher:
        watchers.append(Watcher(*options))
        return watchers[-1]

    yield run
    for watcher in watchers:
        watcher.close()


@pytest.fixture
def added(cli: Cli, notes: Path) -> Cli:
    """`cli` with the notes as a project that is not indexed."""
    assert cli("project", "add", "main", notes).code == 0
    return cli


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_says_what_it_indexes_until_it_is_told_to_end(
    start: Start, added: Cli, notes: Path, number: signal.Signals
) -> None:
    watcher = start()
    watcher.until(lambda: watcher.out)
    assert watcher.out[0].startswith("main: 4 new, 0 modified, 0 moved, 0 deleted, 0 failed")
    watcher.until(lambda: len(watcher.err) == 2)
    assert watcher.err[0] == "note: main: this process keeps it up to date; Ctrl-C ends it"
    (notes / "fresh.md").write_text("unheard of\n")
    watcher.until(lambda: any("fresh.md" in line for line in watcher.out))
    assert watcher.out[-1].endswith(" main: 1 new: fresh.md")
    assert watcher.end(number) == 0
    assert not (Path(os.environ["BASIC_MEMORY_CONFIG_DIR"]) / "main" / "leader.json").exists()
    watcher.close()
    assert len(watcher.out) > 1
    assert [line for line in watcher.err if not line.startswith("note: main: ")] == []


def test_json_is_one_document_a_line(start: Start, added: Cli, notes: Path) -> None:
    watcher = start("--json")
    assert len(watcher.event("sync")["new"]) == 4
    watcher.event("watch")
    assert watcher.documents[0]["event"] == "leader"
    assert watcher.documents[0]["leader"]["pid"] == watcher.process.pid
    (notes / "Garden diary.md").write_text("Second frost.\n")
    assert watcher.event("sync", modified=["Garden diary.md"])["new"] == []
    assert watcher.end(signal.SIGINT) == 0
    assert watcher.err == []


def test_one_watches_the_other_waits_and_takes_over_when_the_first_is_killed(
    start: Start, added: Cli, notes: Path
) -> None:
    first = start("--json")
    first.event("sync")
    second = start()
    second.until(lambda: second.err)
    assert second.err[0].startswith(f"note: main: process {first.process.pid} (version ")
    assert second.err[0].endswith("keeps it up to date; this one takes over when that ends")
    (notes / "one.md").write_text("one\n")
    first.event("sync", new=["one.md"])
    assert second.out == []
    first.process.kill()
    second.until(lambda: any("this process keeps it up to date" in line for line in second.err))
    (notes / "two.md").write_text("two\n")
    # Its first sync may have found it, which is reported as `sync` reports.
    second.until(lambda: any("two.md" in line or "1 new" in line for line in second.out))
    assert "gives no sign of life" not in "".join(second.err)


def test_a_folder_that_goes_and_comes_back_is_waited_for(
    start: Start, added: Cli, notes: Path
) -> None:
    watcher = start("--json")
    watcher.event("sync")
    notes.rename(notes.with_name("away"))
    assert str(notes) in watcher.event("error")["message"]
    notes.with_name("away").rename(notes)
    watcher.event("recovered")
    (notes / "again.md").write_text("again\n")
    watcher.event("sync", new=["again.md"])


def test_a_missing_folder_is_waited_for_from_the_beginning(
    start: Start, added: Cli, notes: Path
) -> None:
    notes.rename(notes.with_name("away"))
    watcher = start()
    watcher.until(lambda: any(line.startswith("error: main: ") for line in watcher.err))
    notes.with_name("away").rename(notes)
    watcher.until(lambda: watcher.out)
    assert watcher.out[0].startswith("main: 4 new")
    watcher.until(lambda: "note: main: it works again" in watcher.err)


def test_all_projects_are_watched_or_only_the_one_that_is_named(
    start: Start, added: Cli, notes: Path, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    added("project", "add", "other", tmp_path / "other")
    watcher = start("--json")
    watcher.event("sync", project="main")
    watcher.event("sync", project="other")
    assert watcher.end(signal.SIGTERM) == 0
    one = start("--json", "--project", "other")
    one.event("sync", project="other")
    assert {each["project"] for each in one.documents} == {"other"}
    leader = added("status", "--json", "--project", "main").json["projects"][0]["leader"]
    assert leader is None


def test_projects_that_come_and_go_are_noticed(
    start: Start, added: Cli, notes: Path, tmp_path: Path
) -> None:
    watcher = start("--json")
    watcher.event("sync", project="main")
    other = tmp_path / "other"
    other.mkdir()
    (other / "one.md").write_text("one\n")
    added("project", "add", "other", other)
    watcher.event("sync", project="other", new=["one.md"])
    added("project", "remove", "other")
    watcher.event("removed", project="other")
    lease = Lease(Path(os.environ["BASIC_MEMORY_CONFIG_DIR"]) / "other", "1", 1)
    deadline = time.monotonic() + PATIENCE_S
    while not lease.acquire():
        assert time.monotonic() < deadline
    lease.release()
    added("project", "add", "other", other)
    watcher.until(lambda: len([e for e in watcher.documents if e["project"] == "other"]) > 4)
    assert watcher.documents[-1]["event"] != "error"
    assert watcher.end(signal.SIGINT) == 0


def test_an_index_that_is_deleted_meanwhile_is_made_anew(
    start: Start, added: Cli, home: Path
) -> None:
    watcher = start("--json")
    assert len(watcher.event("sync")["new"]) == 4
    told = len(watcher.documents)
    for file in (home / "main").glob("memory.db*"):
        file.unlink()
    watcher.until(lambda: any(len(e.get("new", ())) == 4 for e in watcher.documents[told:]))


def test_what_a_tool_or_command_indexed_is_not_lost_on_it(
    start: Start, added: Cli, notes: Path
) -> None:
    watcher = start("--json")
    watcher.event("sync")
    (notes / "by hand.md").write_text("Quinces keep until spring.\n")
    hits = added("search", "quinces", "--json").json
    assert hits["total"] == 1
    (notes / "later.md").write_text("later\n")
    watcher.until(lambda: any("later.md" in each.get("new", ()) for each in watcher.documents))
    assert added("search", "quinces", "--json").json["total"] == 1


def test_status_names_it(start: Start, added: Cli) -> None:
    watcher = start("--json")
    watcher.event("sync")
    deadline = time.monotonic() + PATIENCE_S
    while "by events" not in (outcome := added("status")).out:  # it speaks once a second
        assert time.monotonic() < deadline, outcome
    assert outcome.code == 0
    assert f"  live      process {watcher.process.pid} (version " in outcome.out
    watcher.process.kill()
    watcher.process.wait()
    assert "  live      no server runs: " in added("status").out
    assert added("status", "--json").json["projects"][0]["leader"] is None


def test_a_reader_that_goes_away_ends_it(start: Start, added: Cli, notes: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "memoranda", "sync", "--watch", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        for line in process.stdout:
            if json.loads(line)["event"] == "sync":
                break
        process.stdout.close()
        (notes / "unread.md").write_text("unread\n")
        assert process.wait(PATIENCE_S) == 141
        assert process.stderr.read() == b""
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("option", ["--verify", "--accept-deletions"])
def test_options_of_one_sync_do_not_go_with_it(added: Cli, option: str) -> None:
    outcome = added("sync", "--watch", option)
    assert outcome.code == 2
    assert "without --watch" in outcome.err


def test_an_unknown_project_is_an_error_at_once(added: Cli) -> None:
    outcome = added("sync", "--watch", "--project", "nope")
    assert outcome.code == 1
    assert "There is no project 'nope'" in outcome.err
