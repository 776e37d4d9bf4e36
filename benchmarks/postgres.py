"""What PostgreSQL costs: `python -m benchmarks.postgres [cold] [scale] [hybrid] ...`; hours for all of it.

A server is started from the package of the tests, with its files on disk, unless `MEMORANDA_TEST_POSTGRES` names
one. For large indexes notes of the generator are indexed by the real writer, and their rows are copied
(`benchmarks.postgres_rows`).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tools.postgres_server import Databases, Server

from benchmarks.measure import Figure, Report
from benchmarks.postgres_rows import asked, grow, settle
from benchmarks.queries import Mix, query_mix
from benchmarks.vault import make_vault
from memoranda.db.migrate_postgres import bring_up_schema
from memoranda.db.postgres import PostgresDatabase, address_of
from memoranda.embeddings.static import StaticProvider
from memoranda.files.clock import SystemClock
from memoranda.model.embedding import ProviderPhase, ProviderState
from memoranda.model.project import Project
from memoranda.model.search import SearchQuery, SearchType
from memoranda.places.opened import OpenIndex
from memoranda.places.postgres import open_in
from memoranda.places.sqlite import open_at
from memoranda.ports import EmbeddingProvider
from memoranda.repositories.vector_near_index import make_index
from memoranda.services.meaning import NO_PROVIDER, ProviderSource
from memoranda.text.analysis import ENGLISH
from memoranda.text.lexemes import any_of
from memoranda.workspace import Workspace, assemble

BASE = 20_000
"""Notes that are really indexed; larger indexes hold their rows several times."""
PAGE = 10
QUERIES = 200
WRITES = 40
COLD_RATIO = 2.0
WRITE_RATIO = 1.3
_KEYS_OF = "SELECT key FROM search_terms WHERE terms @@ CAST($1 AS tsquery)"
_SIZES = """
    SELECT c.relname, pg_relation_size(c.oid) FROM pg_class AS c
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'i')
    AND pg_relation_size(c.oid) > 8 * 1024 * 1024 ORDER BY 2 DESC LIMIT 14
"""


def main() -> int:
    """Measure what is named; returns how many figures are over."""
    parser = argparse.ArgumentParser(prog="benchmarks.postgres", description=__doc__)
    parser.add_argument("what", nargs="+", choices=("cold", "scale", "hybrid"))
    parser.add_argument("--notes", type=int, default=10_000, help="for cold")
    parser.add_argument("--sizes", default="10000,100000,1000000", help="for scale")
    parser.add_argument("--base", type=int, default=BASE, help="notes that are really indexed")
    parser.add_argument("--hybrid", type=int, default=200_000, help="notes, for hybrid")
    parser.add_argument("--repeat", type=int, default=3, help="for cold")
    given = parser.parse_args()
    over = 0
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder, _server() as databases:
        place = Path(folder)
        if "cold" in given.what:
            over += _cold(place, databases, given.notes, given.repeat)
        if "scale" in given.what:
            sizes = [int(size) for size in given.sizes.split(",")]
            over += _scale(place, databases, sizes, given.base)
        if "hybrid" in given.what:
            over += _hybrid(place, databases, given.hybrid, given.base)
    return over


@contextmanager
def _server() -> Iterator[Databases]:
    if url := os.environ.get("MEMORANDA_TEST_POSTGRES"):
        yield Databases(url)
        return
    server = Server.made(
        on_disk=True,
        fsync="on", full_page_writes="on", shared_buffers="1GB", maintenance_work_mem="512MB",
        work_mem="32MB", max_wal_size="4GB", effective_cache_size="8GB",
    )  # fmt: skip
    try:
        server.start()
        yield Databases(server.url("postgres"), server)
    finally:
        server.remove()


@dataclass(frozen=True, slots=True)
class _Opened:
    """A project on either back end, and what its server has used."""

    workspace: Workspace
    database: PostgresDatabase | None

    def close(self) -> None:
        asyncio.run(self.workspace.aclose())
        if self.database is not None:
            self.database.dispose()


def _on_sqlite(place: Path, notes: Path) -> _Opened:
    project, clock = Project("main", "main", notes), SystemClock()
    home = Path(tempfile.mkdtemp(dir=place))
    return _assembled(project, open_at(home / "memory.db", project, clock), home, None)


def _on_postgres(
    place: Path, notes: Path, url: str, source: ProviderSource = NO_PROVIDER
) -> _Opened:
    project, clock = Project("main", "main", notes), SystemClock()
    database = PostgresDatabase(address_of(url, statement_s=3600))
    bring_up_schema(database)
    index = open_in(database, project, clock, ENGLISH)
    return _assembled(project, index, Path(tempfile.mkdtemp(dir=place)), database, source)


def _assembled(
    project: Project,
    index: OpenIndex,
    home: Path,
    database: PostgresDatabase | None,
    source: ProviderSource = NO_PROVIDER,
) -> _Opened:
    return _Opened(assemble(project, index, home, SystemClock(), source=source), database)


def _cold(place: Path, databases: Databases, size: int, repeat: int) -> int:
    """CPU of this process for a cold index, the back ends by turns."""
    report = Report("postgres-cold")
    notes = place / f"vault-{size}"
    make_vault(notes, size)
    spent: dict[str, list[tuple[float, float]]] = {"SQLite": [], "PostgreSQL": []}
    for _ in range(repeat):
        for name in spent:
            url = databases.create() if name == "PostgreSQL" else ""
            opened = _on_postgres(place, notes, url) if url else _on_sqlite(place, notes)
            cpu, wall = time.process_time(), time.perf_counter()
            asyncio.run(opened.workspace.sync.full_sync())
            spent[name].append((time.process_time() - cpu, time.perf_counter() - wall))
            opened.close()
            if url:
                databases.drop(url)
    medians = {name: statistics.median(cpu for cpu, _ in runs) for name, runs in spent.items()}
    for name, runs in spent.items():
        report.put(Figure(f"cold index of {size:,} notes, {name}: client CPU", medians[name], "s"))
        wall = statistics.median(wall for _, wall in runs)
        report.put(Figure(f"cold index of {size:,} notes, {name}: wall", wall, "s"))
    ratio = medians["PostgreSQL"] / medians["SQLite"]
    report.put(Figure("client CPU of PostgreSQL against SQLite", ratio, "x", COLD_RATIO))
    return report.over


def _scale(place: Path, databases: Databases, sizes: Sequence[int], base: int) -> int:
    """Searches by words and writes while the index grows."""
    report = Report("postgres-scale")
    notes = place / "base"
    make_vault(notes, base)
    mix = _mix(place, notes)
    opened = _on_postgres(place, notes, databases.create())
    database = opened.database
    assert database is not None
    asyncio.run(opened.workspace.sync.full_sync())
    writes: dict[int, float] = {}
    for size in sorted(sizes):
        if size < base:  # an index of its own
            writes[size] = _small(place, databases, size, report)
            continue
        began = time.perf_counter()
        grow(database, base, size)
        report.put(Figure(f"{size:,} notes: rows copied", time.perf_counter() - began, "s"))
        _searches(opened, mix, size, report)
        writes[size] = _writes(opened, notes, size, report)
        for name, taken in asked(database, _SIZES):
            report.put(Figure(f"{size:,} notes: {name}", taken / 1e6, "MB"))
        _plans(database, mix, size)
    if len(writes) > 1:
        ratio = writes[max(writes)] / writes[min(writes)]
        what = f"a write at {max(writes):,} notes against {min(writes):,}"
        report.put(Figure(what, ratio, "x", WRITE_RATIO))
    opened.close()
    return report.over


def _small(place: Path, databases: Databases, size: int, report: Report) -> float:
    notes = place / f"vault-{size}"
    if not notes.exists():
        make_vault(notes, size)
    mix = _mix(place, notes)
    opened = _on_postgres(place, notes, databases.create())
    asyncio.run(opened.workspace.sync.full_sync())
    assert opened.database is not None
    settle(opened.database)
    _searches(opened, mix, size, report)
    found = _writes(opened, notes, size, report)
    opened.close()
    return found


def _hybrid(place: Path, databases: Databases, size: int, base: int) -> int:
    """Searches by words and by meaning over notes that have the vectors of the bundled model."""
    report = Report("postgres-hybrid")
    notes = place / "base"
    if not notes.exists():
        make_vault(notes, base)
    mix = _mix(place, notes)
    url = databases.create()
    with suppress(Exception):  # without pgvector the scan is measured
        databases.execute("CREATE EXTENSION vector", url)
    opened = _on_postgres(place, notes, url, _Source())
    database = opened.database
    assert database is not None
    asyncio.run(opened.workspace.sync.full_sync())
    began, used = time.perf_counter(), time.process_time()
    asyncio.run(opened.workspace.backfill.run_once())
    report.put(Figure(f"{base:,} notes embedded: client CPU", time.process_time() - used, "s"))
    report.put(Figure(f"{base:,} notes embedded: wall", time.perf_counter() - began, "s"))
    grow(database, base, size)
    [(vectors,)] = asked(database, "SELECT count(*) FROM search_vector_embeddings")
    report.put(Figure(f"{size:,} notes: vectors", vectors, ""))
    _searches(opened, mix, size, report, SearchType.HYBRID, "by a scan")
    began = time.perf_counter()
    project_id = opened.workspace.index.project_id
    made = make_index(database, project_id, _Source.provider.space.name, 1000)
    report.put(Figure(f"index of vectors made ({made})", time.perf_counter() - began, "s"))
    settle(database)
    _searches(opened, mix, size, report, SearchType.HYBRID, "by the index")
    for name, taken in asked(database, _SIZES):
        report.put(Figure(f"{size:,} notes: {name}", taken / 1e6, "MB"))
    opened.close()
    return report.over


class _Source:
    """The bundled model."""

    provider = StaticProvider()
    state = ProviderState(ProviderPhase.READY, "static", space=provider.space)

    async def ready(self) -> EmbeddingProvider | None:
        """At once."""
        return self.provider


def _mix(place: Path, notes: Path) -> Mix:
    """Queries of the words of these notes, from an index on SQLite."""
    opened = _on_sqlite(place, notes)
    asyncio.run(opened.workspace.sync.full_sync())
    mix = query_mix(Path(opened.workspace.index.shown), QUERIES)
    opened.close()
    return mix


def _searches(
    opened: _Opened,
    mix: Mix,
    size: int,
    report: Report,
    how: SearchType = SearchType.FTS,
    said: str = "by words",
) -> None:
    for kind, queries in mix.kinds().items():
        wall, cpu = [], []
        for text in queries:
            query = SearchQuery(text, how, limit=PAGE)
            began, used = time.perf_counter(), time.process_time()
            asyncio.run(opened.workspace.search.search(query))
            wall.append((time.perf_counter() - began) * 1000)
            cpu.append((time.process_time() - used) * 1000)
        for name, values in (("wall", wall), ("client CPU", cpu)):
            p95 = statistics.quantiles(values, n=20)[-1]
            what = f"{size:,} notes, {said}, {kind}: {name} p50"
            report.put(Figure(what, statistics.median(values), "ms", note=f"p95 {p95:.1f} ms"))


def _writes(opened: _Opened, notes: Path, size: int, report: Report) -> float:
    """One line more in a note, indexed: median in ms."""
    spent = []
    for number, path in enumerate(sorted(notes.rglob("*.md"))[:WRITES]):
        with path.open("a", encoding="utf-8") as file:
            file.write(f"\nOne more line, number {number} of {size}.\n")
        place = path.relative_to(notes).as_posix()
        began = time.perf_counter()
        asyncio.run(opened.workspace.sync.sync_paths({place}))
        spent.append((time.perf_counter() - began) * 1000)
    found = statistics.median(spent[5:])
    report.put(Figure(f"{size:,} notes: a changed note, indexed, p50", found, "ms"))
    return found


def _plans(database: PostgresDatabase, mix: Mix, size: int) -> None:
    """Print how the server finds a word."""
    query = any_of(1, [mix.words[0].split()[0].lower()])
    print(f"\nPlan of the items with one word, {size:,} notes:")
    for (line,) in asked(database, f"EXPLAIN (ANALYZE, BUFFERS) {_KEYS_OF}", query):
        print(f"    {line}")


if __name__ == "__main__":
    raise SystemExit(main())
