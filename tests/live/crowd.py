"""Eight servers on one project, and clients that write through all of them at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial

from tests.live.client import Gone, Server
from tests.live.home import Content, Home

SERVERS = 8
_AWAY = frozenset({"NOT_READY", "NOT_INDEXED"})
SHARED = [f"shared-{number}" for number in range(8)]


@dataclass(frozen=True, slots=True)
class Written:
    """What one call put into a note: a word that nothing else has."""

    path: str
    word: str


@dataclass
class Crowd:
    """All that clients asked for and what became of it. Filled by many threads.

    Attributes:
        tag: begins every word and title, so that two crowds do not meet.
        writes: how many notes and how many lines each client writes.
        ask_every: after so many answers another server is asked.
        accepted: what was answered.
        unanswered: what was not, because its server was killed.
        refused: answers that were errors.
        excused: answers of an index that was away meanwhile, as they may come while `may_be_away`.
        unseen: what was not on disk or in the index, or not seen by another server, right after the answer.
    """

    home: Home
    tag: str
    writes: int
    ask_every: int
    accepted: list[Written] = field(default_factory=list)
    unanswered: list[Written] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    excused: list[Written] = field(default_factory=list)
    may_be_away: bool = False
    unseen: list[str] = field(default_factory=list)
    _began: float = 0.0
    _last_answer: float = 0.0

    @property
    def wanted(self) -> int:
        """How many calls there are in sum."""
        return SERVERS * self.writes * 2

    @property
    def rate(self) -> float:
        """Accepted writes a second, in sum."""
        return len(self.accepted) / (self._last_answer - self._began)

    def create_shared(self, server: Server) -> None:
        """The notes that all append to, empty."""
        for title in SHARED:
            answer = server.call("write_note", title=f"{self.tag}-{title}", content="")
            assert not answer.code, answer

    def run(self, servers: list[Server], meanwhile: Callable[[], None] = lambda: None) -> None:
        """Two clients a server: one writes notes, one appends to the shared ones; all at once."""
        everybody = threading.Barrier(2 * SERVERS + 1)
        with ThreadPoolExecutor(2 * SERVERS) as threads:
            clients = [
                threads.submit(self._use, servers, number, calls, everybody)
                for number in range(SERVERS)
                for calls in (self._new_notes(number), self._appends(number))
            ]
            self._began = time.monotonic()
            everybody.wait()
            meanwhile()
            for client in clients:
                client.result()

    def text_of(self, path: str) -> str:
        """A note's file."""
        file = self.home.root / path
        return file.read_text() if file.exists() else ""

    def lost(self) -> list[Written]:
        """What was accepted and is not in its file."""
        return [one for one in self.accepted if one.word not in self.text_of(one.path)]

    def doubled(self) -> list[Written]:
        """What is in its file more than once."""
        asked = self.accepted + self.unanswered + self.excused
        return [one for one in asked if self.text_of(one.path).count(one.word) > 1]

    def _new_notes(self, number: int) -> Iterator[tuple[Written, str, dict[str, str]]]:
        for turn in range(self.writes):
            title = f"{self.tag}-new-{number}-{turn}"
            word = f"{self.tag}w{number}x{turn}x"
            text = f"A note of its own.\n\n- [fact] {word} #new\n- next [[{title}0]]\n"
            given = {"title": title, "directory": f"new/{number}", "content": text}
            yield Written(f"new/{number}/{title}.md", word), "write_note", given

    def _appends(self, number: int) -> Iterator[tuple[Written, str, dict[str, str]]]:
        for turn in range(self.writes):
            path = f"{self.tag}-{SHARED[(number + turn) % len(SHARED)]}.md"
            word = f"{self.tag}a{number}x{turn}x"
            given = {"path": path, "content_updates": f"- [line] {word} #shared\n"}
            yield Written(path, word), "edit_note", given

    def _use(
        self,
        servers: list[Server],
        number: int,
        calls: Iterator[tuple[Written, str, dict[str, str]]],
        everybody: threading.Barrier,
    ) -> None:
        everybody.wait()
        with closing(self.home.content()) as index:
            for turn, (written, tool, given) in enumerate(calls):
                try:
                    answer = servers[number].call(tool, **given)
                except Gone:
                    self.unanswered.append(written)
                    return
                self._last_answer = time.monotonic()
                if self.may_be_away and answer.code in _AWAY:
                    self.excused.append(written)
                    continue
                if answer.code:
                    self.refused.append(f"{servers[number].name}: {tool} {given}: {answer.data}")
                    continue
                self.accepted.append(written)
                self._look(index, written)
                if turn % self.ask_every == 0:
                    self._ask(servers[(number + 1) % SERVERS], written)

    def _look(self, index: Content, written: Written) -> None:
        """On disk and in the index, now."""
        if written.word not in self.text_of(written.path):
            self.unseen.append(f"{written} is not on disk")
        found = index.of(written.path)
        if found is None or written.word not in found:
            self.unseen.append(f"{written} is not in the index: {found}")

    def _ask(self, server: Server, written: Written) -> None:
        """Another server finds it; one that is killed meanwhile says nothing."""
        ways = (
            partial(server.call, "search_notes", query=written.word),
            partial(server.call, "read_note", path=written.path),
        )
        for way in ways:
            try:
                answer = way()
            except Gone:
                return
            if self.may_be_away and answer.code in _AWAY:
                return
            if answer.code or written.word not in str(answer.data):
                self.unseen.append(f"{server.name} does not know {written}: {answer.data}")
