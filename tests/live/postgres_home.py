"""Servers on one project and one PostgreSQL, each with a configuration folder of its own, as on other machines."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import asyncpg
from tests.integration.conftest import Index
from tests.live.client import Server
from tests.live.home import Content, Home

_SCHEMA = "memoranda"
_CONNECT_S = 10.0
_AWAY_S = 60.0
_LEADER = "SELECT (said::json->>'pid')::int FROM project_leader"
_CONTENT = "SELECT content FROM entity WHERE file_path = $1"
_CUT = (
    OSError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.OperatorInterventionError,
)


class PostgresHome(Home):
    """As `Home`; what the index says is asked of the database.

    `url`: of the database.
    """

    def __init__(self, place: Path, make_index: Callable[..., Index], url: str) -> None:
        super().__init__(place, make_index)
        self.url = url

    def configure(self) -> None:
        """Every server gets its configuration when it starts."""
        self.root.mkdir(exist_ok=True)
        self.config.mkdir()

    def start(self, name: str = "test", **environment: str) -> Server:
        """A server with a configuration folder of its own."""
        folder = self.config / f"server {len(list(self.config.iterdir()))}"
        folder.mkdir()
        settings = {
            "projects": {"Main": {"path": str(self.root)}},
            "default_project": "Main",
            "database_backend": "postgres",
            "database_url": self.url,
        } | self.settings
        (folder / "config.json").write_text(json.dumps(settings))
        server = Server(folder, self.errors, name, **environment)
        self.servers.append(server)
        return server

    def logged(self) -> str:
        """All logs and the standard error of all servers."""
        files = [self.errors, *self.config.glob("*/memoranda.log*")]
        return "".join(file.read_text("utf-8", "replace") for file in files if file.is_file())

    def leader(self) -> int:
        """The process that leads the project now, 0 if none says so."""
        found = self.rows(_LEADER)
        return int(str(found[0][0])) if found and found[0][0] is not None else 0

    def content(self) -> Content:
        """A connection of its own."""
        return PostgresContent(self.url)

    def _ask(
        self, questions: dict[str, tuple[str, tuple[object, ...]]]
    ) -> dict[str, list[tuple[object, ...]]]:
        async def ask() -> dict[str, list[tuple[object, ...]]]:
            connection = await connected(self.url)
            try:
                async with connection.transaction(isolation="repeatable_read"):
                    return {
                        name: [tuple(row) for row in await connection.fetch(sql, *values)]
                        for name, (sql, values) in questions.items()
                    }
            finally:
                await connection.close()

        return asyncio.run(ask())


class PostgresContent:
    """The texts in an index on PostgreSQL; while it is away, what they are when it is back."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._runner = asyncio.Runner()
        self._connection: Any = None

    def of(self, path: str) -> str | None:
        found: str | None = self._runner.run(self._fetched(path))
        return found

    def close(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
        self._runner.close()

    async def _fetched(self, path: str) -> str | None:
        async with asyncio.timeout(_AWAY_S):
            while True:
                try:
                    if self._connection is None:
                        self._connection = await connected(self._url)
                    content: str | None = await self._connection.fetchval(_CONTENT, path)
                except _CUT:
                    self._connection = None
                    await asyncio.sleep(0.1)
                else:
                    return content


async def connected(url: str) -> Any:
    """A connection whose names are those of the schema."""
    return await asyncpg.connect(
        url,
        timeout=_CONNECT_S,
        server_settings={"search_path": _SCHEMA, "application_name": "test"},
    )
