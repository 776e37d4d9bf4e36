"""What was asked of servers, what they answered, and so what a note and its history must be."""

from __future__ import annotations

import random
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.live.client import Answer, Gone, Server, answer_of

from memoranda.files.file_service import checksum

_LINES = (1, 1, 3, 3, 20, 100, 1000)
"""Of a text. The longest make files of tens of KB, which are not written in one moment."""

_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Write:
    """One change that a client asks for.

    Attributes:
        before: the file's bytes that the change finds, None if there is no file.
        after: the bytes it makes of them, None if it removes the file.
    """

    client: str
    tool: str
    before: bytes | None
    after: bytes | None

    @property
    def record(self) -> tuple[str, str, str | None, str | None]:
        """As the history has it: client, tool, checksums before and after."""
        return self.client, self.tool, _checksum(self.before), _checksum(self.after)


@dataclass
class Note:
    """One note that is changed by one call after the other, so that its bytes are known.

    Attributes:
        content: what the file has when the last call was answered, None if there is none.
        pending: the call that is not answered.
        happened: the changes of the file, in order.
    """

    title: str
    folder: str
    chance: random.Random
    content: bytes | None = None
    pending: Write | None = None
    happened: list[Write] = field(default_factory=list)
    answered: int = 0
    _texts: int = 0

    @property
    def path(self) -> str:
        return f"{self.folder}/{self.title}.md"

    def change(self, server: Server) -> None:
        """Change it until the server is gone."""
        try:
            while True:
                call = self._begin(server)
                answer = answer_of(call)
                assert not answer.code, answer
                self._accept()
        except Gone:
            pass

    def check(self, root: Path) -> None:
        """The file has its old or its new bytes. What a call did that was never answered is known then."""
        file = root / self.path
        found = file.read_bytes() if file.exists() else None
        if found == self.content:
            self.pending = None
            return
        asked = self.pending
        assert asked is not None, f"{self.path}: an accepted write is lost: {found!r:.200}"
        assert found == asked.after, f"{self.path}: torn after {asked.tool}: {found!r:.200}"
        self._accept(is_answered=False)

    def _accept(self, *, is_answered: bool = True) -> None:
        assert self.pending is not None
        self.happened.append(self.pending)
        self.content = self.pending.after
        self.pending = None
        self.answered += is_answered

    def _begin(self, server: Server) -> Future[dict[str, Any]]:
        head = f"---\ntitle: {self.title}\ntype: note\n---\n\n".encode()
        text = self._text()
        made: dict[str, Any] = {"title": self.title, "directory": self.folder, "content": text}
        name: dict[str, Any] = {"path": self.path, "content_updates": text}
        kind = self.chance.choice(("overwrite", "append", "append", "replace", "delete"))
        old = self.content
        if old is None:
            tool, arguments, new = "write_note", made, head + text.encode()
        elif kind == "overwrite":
            tool, arguments, new = "write_note", made | {"overwrite": True}, head + text.encode()
        elif kind == "append":
            tool, arguments, new = "edit_note", name, old + text.encode()
        elif kind == "replace":
            tool, arguments, new = "edit_note", name | {"operation": kind}, head + text.encode()
        else:
            self.pending = Write(server.name, "delete_note", old, None)
            return server.begin("delete_note", path=self.path)
        self.pending = Write(server.name, tool, old, new)
        return server.begin(tool, **arguments)

    def _text(self) -> str:
        self._texts += 1
        lines = self.chance.choice(_LINES)
        return "".join(f"- [fact] {self.title} {self._texts} line {n}\n" for n in range(lines))


@dataclass
class SharedNote:
    """One note that gets many lines at once. In which order they come is open."""

    title: str
    answered: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)

    @property
    def path(self) -> str:
        return f"{self.title}.md"

    @property
    def head(self) -> str:
        return f"---\ntitle: {self.title}\ntype: note\n---\n\n"

    def create(self, server: Server) -> None:
        """Make it, empty."""
        assert not server.call("write_note", title=self.title, content="").code

    def append(self, server: Server) -> None:
        """Add lines until the server is gone, some at a time."""
        while True:
            calls = [self._begin(server) for _ in range(_AT_ONCE)]
            answers = [(line, _answer(call)) for line, call in calls]
            for line, answer in answers:
                if answer is not None:
                    assert not answer.code, answer
                    self.answered.append(line)
            if any(answer is None for _, answer in answers):
                return

    def check(self, root: Path) -> None:
        """Each accepted line is in the file once, each other one that was asked for once or not at all."""
        text = (root / self.path).read_text()
        assert text.startswith(self.head)
        lines = text.removeprefix(self.head).splitlines(keepends=True)
        assert len(set(lines)) == len(lines)
        assert set(self.answered) - set(lines) == set(), "accepted writes are lost"
        assert set(lines) - set(self.asked) == set(), "torn"
        assert lines[: len(self.found)] == self.found
        self.found = lines

    def _begin(self, server: Server) -> tuple[str, Future[dict[str, Any]]]:
        line = f"- [shared] line number {len(self.asked)}\n"
        self.asked.append(line)
        return line, server.begin("edit_note", path=self.path, content_updates=line)


def _answer(call: Future[dict[str, Any]]) -> Answer | None:
    try:
        return answer_of(call)
    except Gone:
        return None


def _checksum(data: bytes | None) -> str | None:
    return None if data is None else checksum(data)
