"""A vault and a server over it, driven as its user and a client drive them.

Whatever the product does, the folder is compared before and after: no byte, name, mode or time may
change but at the places a writing tool was asked to change.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import stat
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
)
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from loguru import logger
from sqlalchemy import text
from tests.integration.conftest import make_index, until
from tests.live.conftest import home as live_home

from memoranda.container import Container
from memoranda.embeddings.choice import Sources
from memoranda.errors import MemorandaError
from memoranda.files.clock import SystemClock
from memoranda.mcp.server import build_server
from memoranda.mcp.session import Session
from memoranda.model.live import LeaderState
from memoranda.model.sync import SyncPhase, SyncReport, SyncState
from memoranda.services.calibration import read_calibration
from memoranda.workspace import Workspace

__all__ = ["live_home", "make_index"]

PATIENCE_S = 50
MARK = "mark.md"
ALL_CHARS = 1_000_000

Ask = Callable[..., Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Fact:
    """An observation as the index holds it."""

    category: str
    content: str
    tags: tuple[str, ...]
    context: str | None
    line: int
    permalink: str
    external_id: str
    attributes: dict[str, str]


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """A relation as the index holds it; `to` is the path of the target, "" while it is unresolved."""

    kind: str
    to: str
    name: str
    context: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """What the folder shows at one path, links not followed."""

    mode: int
    mtime_ns: int
    content: bytes


@dataclass
class Vault:
    """A project's folder, and the product over it (opened by the first call that needs it)."""

    root: Path
    _logged: list[tuple[str, str]]
    _known: dict[str, Entry] = field(default_factory=dict)
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    _session: Session | None = None
    _client: Client[Any] | None = None
    _workspace: Workspace | None = None
    _expected: list[str] = field(default_factory=list)
    _marks: int = 0
    sources: Sources | None = None
    """Where the next server has its embedding provider from; None: as the product has it."""

    # What the user does by hand.

    def write(self, path: str, content: str | bytes) -> None:
        """Save a file."""
        self.check()
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        before = file.stat().st_mtime_ns if file.exists() else 0
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        if file.stat().st_mtime_ns == before:  # faster than the clock of the file system
            os.utime(file, ns=(before + 1_000_000, before + 1_000_000))
        self._accept(path)

    def write_all(self, files: dict[str, str]) -> None:
        """Save several files."""
        for path, content in files.items():
            self.write(path, content)

    def append(self, path: str, content: str) -> None:
        """Add to the end of a file."""
        self.write(path, self.bytes(path) + content.encode())

    def delete(self, path: str) -> None:
        """Delete a file."""
        self.check()
        (self.root / path).unlink()
        self._accept(path)

    def link(self, path: str, target: str | Path) -> None:
        """Make a symbolic link."""
        self.check()
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)
        self._accept(path)

    def bytes(self, path: str) -> bytes:
        """A file as it stands."""
        return (self.root / path).read_bytes()

    def paths(self) -> set[str]:
        """Every name in the folder."""
        return set(self._look())

    def adopt(self, folder: Path) -> None:
        """Copy a whole folder of notes, times included, and forbid to write into the copy."""
        self.check()
        shutil.copytree(folder, self.root, symlinks=True, dirs_exist_ok=True)
        for place in (self.root, *self.root.rglob("*")):
            if not place.is_symlink():
                place.chmod(0o555 if place.is_dir() else 0o444)
        self._known = self._look()

    def by_hand(self, change: Callable[[Path], object]) -> None:
        """Change the folder in any way."""
        self.check()
        change(self.root)
        self._known = self._look() if self.root.exists() else {}

    # What the product does.

    async def sync(self) -> SyncReport:
        """A full sync of what is in the folder now; no file may fail."""
        report = await self.scan()
        assert report.failures == ()
        return report

    async def scan(self, *, is_readable: bool = True) -> SyncReport:
        """A full sync of what is in the folder now, whatever becomes of it."""
        report = await (await self._opened()).coordinator.sync_now()
        if is_readable:
            self.check()
        return report

    async def watch(self) -> None:
        """Serve the folder until changes are noticed as they come; the test syncs nothing itself."""
        coordinator = (await self._opened()).coordinator

        def is_watching() -> bool:
            leader = coordinator.leader
            return leader is not None and leader.is_me and leader.is_watching

        await until(is_watching)
        await until(lambda: coordinator.state.phase is SyncPhase.READY)

    def leader_now(self) -> LeaderState:
        """What the server says of its watching; nothing is looked at for it."""
        assert self._workspace is not None
        found = self._workspace.coordinator.leader
        assert found is not None
        return found

    def state_now(self) -> SyncState:
        """Where the sync stands; nothing is looked at for it."""
        assert self._workspace is not None
        return self._workspace.coordinator.state

    async def quiet(self) -> None:
        """Wait until all that was done by hand is seen: what is saved after it is in the index.

        Twice, because a scan that was under way may have seen the first mark and missed what came before.
        """
        for _ in range(2):
            self._marks += 1
            text = f"mark {self._marks}\n"
            self.by_hand(lambda root: (root / MARK).write_text(text))  # noqa: B023 - called at once
            await until(lambda: self._text(MARK) == text)  # noqa: B023 - and so is this

    async def restart(self) -> None:
        """End the server; the next call starts another one."""
        stack, self._stack = self._stack, AsyncExitStack()
        self._session = self._client = self._workspace = None
        await stack.aclose()
        self.check()

    async def rebuild(self) -> None:
        """Lose the database and sync."""
        database = (await self._opened()).folder / "memory.db"
        await self.restart()
        for file in database.parent.glob(f"{database.name}*"):
            file.unlink()
        await self.sync()

    async def embedded(self) -> None:
        """Wait until every note has its vectors, and it is known what their similarities mean."""
        workspace = await self._opened()

        async def is_done() -> bool:
            progress, provider = await workspace.coordinator.embedding(), workspace.source.provider
            if progress is None or provider is None or not progress.is_complete:
                return False
            space = provider.space.name
            known = await workspace.store.read(lambda tx: read_calibration(tx, space))
            return known is not None and known.vectors * 1.5 > progress.vectors

        async with asyncio.timeout(PATIENCE_S):
            while not await is_done():  # noqa: ASYNC110 - another process may do it
                await asyncio.sleep(0.01)

    async def search(self, query: str, **filters: Any) -> list[str]:
        """The paths of the notes with its words, sorted."""
        data = await self.tool(
            "search_notes", query=query, search_type="fts", page_size=100, **filters
        )
        assert not data["has_more"]
        return sorted(hit["file_path"] for hit in data["results"])

    async def read(self, name: str) -> dict[str, Any]:
        """What read_note says as JSON; the observations must be those of the index."""
        data = await self.tool("read_note", path=name, max_chars=ALL_CHARS)
        said = [(one["category"], one["content"]) for one in data["observations"]]
        assert said == [(one.category, one.content) for one in self.facts(data["file_path"])]
        return data

    async def tool(
        self, name: str, /, changes: tuple[str, ...] = (), **arguments: Any
    ) -> dict[str, Any]:
        """A call that must succeed; only the files in `changes` may be made or changed by it."""
        is_error, data = await self._call(name, arguments)
        assert not is_error, data
        self._accept(*changes)
        self.check()
        return data

    async def ask(self, name: str, /, *calls: dict[str, Any]) -> list[dict[str, Any]]:
        """Calls that must succeed, without a look at the folder between them."""
        answers = []
        for arguments in calls:
            is_error, data = await self._call(name, arguments)
            assert not is_error, data
            answers.append(data)
        return answers

    async def failed(self, name: str, /, *changed: str, **arguments: Any) -> dict[str, Any]:
        """The error of a call that fails after it has changed these files, and no others."""
        is_error, data = await self._call(name, arguments)
        assert is_error, data
        self._accept(*changed)
        self.check()
        return dict(data["error"])

    async def make(self, folder: str, name: str, /, **arguments: Any) -> tuple[str, dict[str, Any]]:
        """A call that must make one file directly in a folder; its path and the answer."""
        before = self.paths() | {folder}
        is_error, data = await self._call(name, arguments)
        assert not is_error, data
        [path] = self.paths() - before
        assert str(Path(path).parent) == folder
        self._accept(path)
        self.check()
        return path, data

    async def refused(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """The error of a call that must be refused with a reason, not fail, and change nothing."""
        is_error, data = await self._call(name, arguments)
        assert is_error, data
        error: dict[str, Any] = data["error"]
        assert error["code"] != "INTERNAL"
        assert error["message"]
        self.check()
        return error

    async def _call(self, name: str, arguments: dict[str, Any]) -> tuple[bool, dict[str, Any]]:
        if self._client is None:
            await self._opened()
        assert self._client is not None
        result = await self._client.call_tool(
            name, arguments | {"output_format": "json"}, raise_on_error=False
        )
        await (await self._opened()).coordinator.fresh(patience_s=PATIENCE_S)
        return result.is_error, dict(result.structured_content or {})

    async def _open_container(self) -> Container:
        return await _open_container(self.sources)

    async def _opened(self) -> Workspace:
        """The workspace that the server uses now: it opens another one when the index is lost."""
        if self._session is None:
            self._session = Session(self._open_container, SystemClock())
            server = build_server(self._session)
            self._client = await self._stack.enter_async_context(Client(server))
        workspace = await self._session.workspace(None)
        if workspace is not self._workspace:
            self._workspace = workspace
            await workspace.coordinator.fresh(patience_s=PATIENCE_S)
        return workspace

    # The index as a file.

    async def database(self) -> Path:
        """The place of the index."""
        return (await self._opened()).folder / "memory.db"

    async def check_index(self) -> None:
        """The whole check that a server makes once a day."""
        workspace = await self._opened()
        workspace.integrity.begin(is_suspected=True)
        await workspace.integrity.done()

    async def notice(self) -> str:
        """What the server says became of the index that was there."""
        return (await self._opened()).index.notice

    async def state(self) -> SyncState:
        """Where the sync stands after another look at the folder."""
        workspace = await self._opened()
        with contextlib.suppress(MemorandaError):
            await workspace.coordinator.sync_now()
        return workspace.coordinator.state

    async def full_history(self) -> AbstractContextManager[None]:
        """While the context is open, the file of what can be taken back cannot grow."""
        history = (await self._opened()).history

        def limit(pages: int) -> None:
            history._file.outside(
                lambda conn: conn.execute(f"PRAGMA max_page_count = {pages}"), None
            )

        @contextlib.contextmanager
        def full() -> Iterator[None]:
            limit(1)  # as many as it has
            yield
            limit(2**30)

        return full()

    # What the index holds.

    def rows(self, sql: str, **values: object) -> list[tuple[Any, ...]]:
        """What the database holds, asked in SQL."""
        assert self._workspace is not None
        return self._workspace.store.read_now(
            lambda tx: [tuple(row) for row in tx.conn.execute(text(sql), values)]
        )

    def notes(self) -> dict[str, str]:
        """Path -> title of every note."""
        return dict(self.rows("SELECT file_path, title FROM entity ORDER BY file_path"))

    def permalinks(self) -> dict[str, str]:
        """Path -> permalink of every note; no two alike."""
        found = dict(self.rows("SELECT file_path, permalink FROM entity ORDER BY file_path"))
        assert all(found.values())
        assert len(set(found.values())) == len(found)
        return found

    def body(self, path: str) -> str:
        """The text after the header."""
        content = self._text(path)
        assert content is not None
        return content

    def _text(self, path: str) -> str | None:
        rows = self.rows("SELECT content FROM entity WHERE file_path = :path", path=path)
        return str(rows[0][0]) if rows else None

    def metadata(self, path: str) -> dict[str, Any]:
        """The header's keys and values."""
        return dict(self._json("entity_metadata", path))

    def tags(self, path: str) -> list[str]:
        """The tags of the header."""
        return list(self._json("tags", path))

    def problems(self, path: str) -> list[str]:
        """What is said about a header that is broken."""
        return list(self._json("problems", path))

    def _json(self, column: str, path: str) -> Any:
        [(value,)] = self.rows(f"SELECT {column} FROM entity WHERE file_path = :path", path=path)
        return json.loads(value)

    def facts(self, path: str) -> list[Fact]:
        """The observations of a note in file order."""
        rows = self.rows(
            """SELECT category, o.content, o.tags, context, line, o.permalink, o.external_id,
            coalesce(attributes, '{}') FROM observation o JOIN entity e ON e.id = o.entity_id
            WHERE e.file_path = :path ORDER BY ordinal""",
            path=path,
        )
        return [
            Fact(
                category, content, tuple(json.loads(tags)), context, line, permalink, external_id,
                json.loads(attributes),
            )
            for category, content, tags, context, line, permalink, external_id, attributes in rows
        ]  # fmt: skip

    def edges(self, path: str) -> list[Edge]:
        """The relations of a note, sorted."""
        rows = self.rows(
            """SELECT relation_type, coalesce(t.file_path, ''), to_name, context FROM relation r
            JOIN entity s ON s.id = r.from_id LEFT JOIN entity t ON t.id = r.to_id
            WHERE s.file_path = :path""",
            path=path,
        )
        return sorted(Edge(*row) for row in rows)

    def attachments(self, path: str) -> list[str]:
        """The targets of a note's links that are files, not notes."""
        rows = self.rows(
            """SELECT target FROM link l JOIN entity e ON e.id = l.entity_id
            WHERE is_attachment AND to_id IS NULL AND e.file_path = :path ORDER BY ordinal""",
            path=path,
        )
        return [target for (target,) in rows]

    def expect_error(self, word: str) -> None:
        """The log must hold an error that names this, and may."""
        self._expected.append(word)

    def warnings(self, word: str) -> list[str]:
        """The warnings of the log that name something, from the first one on."""
        return [
            message for level, message in self._logged if level == "WARNING" and word in message
        ]

    # The folder.

    def check(self) -> None:
        """The folder is as its user, or the tool that was asked, left it."""
        now = self._look() if self.root.exists() else {}
        assert sorted(now) == sorted(self._known)
        assert [path for path, entry in now.items() if entry != self._known[path]] == []

    def close_check(self) -> None:
        """Nothing is changed, and nothing failed that should not."""
        self.check()
        errors = [said for level, said in self._logged if level in ("ERROR", "CRITICAL")]
        assert [word for word in self._expected if not any(word in said for said in errors)] == []
        assert [e for e in errors if not any(word in e for word in self._expected)] == []

    def _accept(self, *paths: str) -> None:
        """What stands at these paths, and the folders above them, is right."""
        now = self._look()
        for path in paths:
            for place in (path, *(str(parent) for parent in Path(path).parents)):
                if place in now:
                    self._known[place] = now[place]
                else:
                    self._known.pop(place, None)

    def _look(self) -> dict[str, Entry]:
        return {
            str(place.relative_to(self.root)): _entry(place)
            for place in (self.root, *self.root.rglob("*"))
        }


def _entry(place: Path) -> Entry:
    status = place.lstat()
    if stat.S_ISLNK(status.st_mode):
        content = os.fsencode(place.readlink())
    else:
        content = place.read_bytes() if stat.S_ISREG(status.st_mode) else b""
    return Entry(status.st_mode, status.st_mtime_ns, content)


async def _open_container(sources: Sources | None = None) -> Container:
    from memoranda.config import load_settings

    return await Container.open(load_settings(), sources=sources)


@pytest.fixture
async def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Vault]:
    """An empty project folder. When the test ends, the folder is compared once more."""
    root, config = tmp_path / "notes", tmp_path / "config"
    root.mkdir()
    config.mkdir()
    settings = {"projects": {"notes": {"path": str(root)}}, "default_project": "notes"}
    (config / "config.json").write_text(json.dumps(settings), "utf-8")
    monkeypatch.setenv("BASIC_MEMORY_CONFIG_DIR", str(config))
    logged: list[tuple[str, str]] = []
    sink = logger.add(
        lambda message: logged.append((message.record["level"].name, message.record["message"])),
        level="WARNING",
    )
    one = Vault(root, logged)
    one._accept(".")
    yield one
    await one.restart()
    logger.remove(sink)
    one.close_check()


@pytest.fixture
def serve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[dict[str, Path]], AbstractAsyncContextManager[Ask]]:
    """A server over several projects: a context that gives a function for its calls."""

    @asynccontextmanager
    async def run(projects: dict[str, Path]) -> AsyncIterator[Ask]:
        config = tmp_path / "config"
        config.mkdir()
        entries = {name: {"path": str(path)} for name, path in projects.items()}
        (config / "config.json").write_text(json.dumps({"projects": entries}), "utf-8")
        monkeypatch.setenv("BASIC_MEMORY_CONFIG_DIR", str(config))
        session = Session(_open_container, SystemClock())
        async with Client(build_server(session)) as client:

            async def ask(name: str, **arguments: Any) -> dict[str, Any]:
                if project := arguments.get("project"):
                    workspace = await session.workspace(project)
                    await workspace.coordinator.fresh(patience_s=PATIENCE_S)
                result = await client.call_tool(name, arguments | {"output_format": "json"})
                return dict(result.structured_content or {})

            yield ask

    return run
