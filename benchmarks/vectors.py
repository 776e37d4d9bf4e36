"""What the search by vectors costs and finds: made-up and real vectors in a database of their own.

Vectors are drawn around themes, as those of texts are. What is missed is missed of the ten nearest that a
comparison with every vector finds.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import insert

from benchmarks.measure import Figure, Report
from memoranda.db.engine import begin_read, begin_write, open_engine
from memoranda.db.health import prepare
from memoranda.db.tables import (
    entity,
    project,
    search_vector_chunks,
    search_vector_embeddings,
    search_vector_notes,
)
from memoranda.model.item_key import item_key
from memoranda.repositories.vector_scan import VectorCache, best_first, built
from memoranda.repositories.vectors import BlobVectorIndex

Floats = NDArray[np.float32]
T = TypeVar("T")

SIZES = (10_000, 100_000)
_DIMENSIONS = 256
_SPACE = "benchmark:themes@1/256"
_ITEMS_A_NOTE = 14
_QUERIES = 60
_MOST_STORED = 200_000
_CANDIDATES = 400
_P50_MS = {10_000: 15.0, 100_000: 30.0}
_RECALL_LOST = 0.02
_DAY = datetime(2026, 1, 1)  # noqa: DTZ001 - stored naive
_BATCH = 5000


def main(*, sizes: Sequence[int] = SIZES) -> int:
    """Measure so many vectors; returns how many figures are over."""
    report = Report("vectors")
    for count in sizes:
        vectors, queries = themed(count)
        put_scan(report, f"{count:,} around themes", vectors, queries)
        if count <= _MOST_STORED:
            with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
                put_index(report, count, Path(folder) / "memory.db", vectors, queries)
    return report.over


def themed(count: int, seed: int = 1) -> tuple[Floats, Floats]:
    """Vectors of texts and of queries: themes of different sizes, dimensions of different weight."""
    rng = np.random.default_rng(seed)
    weights = np.linspace(2, 0.5, _DIMENSIONS)
    themes = rng.normal(size=(count // 100, _DIMENSIONS))
    chosen = (len(themes) * rng.random(count + _QUERIES) ** 2).astype(np.int64)
    found = np.empty((len(chosen), _DIMENSIONS), np.float32)
    for start in range(0, len(chosen), _BATCH):
        part = chosen[start : start + _BATCH]
        noise = rng.normal(size=(len(part), _DIMENSIONS))
        found[start : start + _BATCH] = (themes[part] + noise + 0.5) * weights
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found[:count], found[count:]


def put_scan(report: Report, name: str, vectors: Floats, queries: Floats) -> None:
    """The part in NumPy alone."""
    ids = np.arange(len(vectors))
    blocks = [(ids[n : n + 4096], ids[n : n + 4096], vectors[n : n + 4096]) for n in ids[::4096]]
    took, cache = timed(lambda: built(_SPACE, vectors[::17], len(vectors), blocks))
    times, lost = [], 0
    for query in queries:
        took_ms, found = timed(partial(candidates, cache, query))
        times.append(took_ms)
        exact = vectors @ query
        least = np.partition(exact, -10)[-10]
        lost += 10 - min(10, int((exact[found] >= least).sum()))
    report.put(Figure(f"{name}: build, CPU", took / 1000, "s"))
    report.put(Figure(f"{name}: memory", cache.size_bytes / 1e6, "MB"))
    report.put(Figure(f"{name}: estimate and choose, CPU p50", statistics.median(times), "ms"))
    report.put(
        Figure(f"{name}: of the ten nearest missed", lost / 10 / len(queries), "", _RECALL_LOST)
    )


def put_index(report: Report, count: int, path: Path, vectors: Floats, queries: Floats) -> None:
    """The whole search, from a database."""
    prepare(path)
    engine = open_engine(path)
    notes = fill(path, vectors)
    index = BlobVectorIndex(1)
    everyone = np.arange(1, notes + 1)
    few = everyone[::100]
    with begin_read(engine) as conn:

        def figure(what: str, ask: Callable[[Floats], object], most: float | None = None) -> None:
            times = [timed(partial(ask, query))[0] for query in queries]
            report.put(
                Figure(
                    f"{count:,} in SQLite: {what}, CPU p50", statistics.median(times), "ms", most
                )
            )

        took, _ = timed(lambda: index.nearest(conn, _SPACE, queries[0], 10))
        report.put(Figure(f"{count:,} in SQLite: the first search, CPU", took / 1000, "s"))
        figure("10 nearest", lambda q: index.nearest(conn, _SPACE, q, 10), _P50_MS.get(count))
        figure("200 nearest", lambda q: index.nearest(conn, _SPACE, q, 200))
        figure("10 nearest of 1 %", lambda q: index.nearest(conn, _SPACE, q, 10, among=few))
        keys = index.nearest(conn, _SPACE, queries[0], 200).keys
        figure("similarities of 200", lambda q: index.similarities(conn, _SPACE, q, keys))
        figure("nothing pending", lambda _: index.pending(conn, _SPACE, 64))
        figure("progress", lambda _: index.progress(conn, _SPACE))
    engine.dispose()


def fill(path: Path, vectors: Floats) -> int:
    """Notes with these vectors; returns how many notes."""
    engine = open_engine(path)
    notes = -(-len(vectors) // _ITEMS_A_NOTE)
    stamps = {"created_at": _DAY, "updated_at": _DAY}
    with begin_write(engine) as conn:
        conn.execute(
            insert(project), {"id": 1, "external_id": "p", "name": "p", "path": "/p", **stamps}
        )
        for start in range(0, notes, _BATCH):
            ids = range(start + 1, min(start + _BATCH, notes) + 1)
            conn.execute(insert(entity), [_note(number) | stamps for number in ids])
            conn.execute(
                insert(search_vector_notes),
                [
                    {"entity_id": number, "project_id": 1, "space": _SPACE, "title": f"{number}",
                     "checksum": f"{number:064}", "indexed_at": _DAY, "vectors": _ITEMS_A_NOTE}
                    for number in ids
                ],
            )  # fmt: skip
        for start in range(0, len(vectors), _BATCH):
            part = range(start, min(start + _BATCH, len(vectors)))
            conn.execute(insert(search_vector_chunks), [_chunk(number) for number in part])
            conn.execute(
                insert(search_vector_embeddings),
                [
                    {"chunk_id": number + 1, "embedding": vectors[number].tobytes(),
                     "dimensions": _DIMENSIONS, "model": _SPACE}
                    for number in part
                ],
            )  # fmt: skip
    engine.dispose()
    return notes


def _note(number: int) -> dict[str, object]:
    return {
        "id": number, "external_id": f"{number}", "title": f"{number}", "file_path": f"{number}.md",
        "content": "words " * 500, "checksum": f"{number:064}", "project_id": 1, "mtime_ns": number,
        "ctime_ns": 0, "inode": 0, "note_created": _DAY, "note_modified": _DAY,
        "wanted_permalink": f"{number}", "permalink_class": 0, "hashed_permalink": f"{number}",
    }  # fmt: skip


def _chunk(number: int) -> dict[str, object]:
    note, ordinal = number // _ITEMS_A_NOTE + 1, number % _ITEMS_A_NOTE
    return {
        "id": number + 1, "entity_id": note, "project_id": 1, "chunk_text": "words " * 60,
        "chunk_index": ordinal, "item_key": item_key(note, ordinal, 1), "part": 0,
        "content_key": number.to_bytes(16, "big"),
    }  # fmt: skip


def candidates(cache: VectorCache, query: Floats) -> NDArray[np.int64]:
    """Places of those that a search would compare exactly."""
    return next(best_first(cache.estimates(query), _CANDIDATES))


def timed(function: Callable[[], T]) -> tuple[float, T]:
    """CPU milliseconds and the result."""
    started = time.process_time()
    result = function()
    return (time.process_time() - started) * 1000, result
