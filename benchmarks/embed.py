"""What vectors cost: of a whole vault, of a second start, of one edited paragraph, and on disk.

Everything is one `memoranda sync` in a process of its own with the bundled model. What the vectors cost is
the CPU time above that of a sync of the same vault, unchanged, with meaning search switched off.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.measure import MEMORANDA, Figure, Report, Run, environment, run
from benchmarks.vault import make_vault

BACKFILL_MS_PER_NOTE = 4.0
_PARAGRAPH = "\nThe heron {number} left the reeds before the frost came.\n"
_EDITS = 5
_MOST_CHUNKS = 2
"""Of one more paragraph: its section's last part, and one more if that was full."""


def main(*, sizes: Sequence[int] = (1000, 10_000)) -> int:
    """Measure on vaults of these sizes; returns how many figures are over."""
    report = Report("embed")
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as temporary:
            _Vault(report, Path(temporary), size).measure()
    return report.over


class _Vault:
    """One vault, and the figures of its vectors."""

    def __init__(self, report: Report, home: Path, size: int) -> None:
        self._report, self._home, self._size = report, home, size
        self._folder = home / "vault"
        self._generator = make_vault(self._folder, size)
        static = {"BASIC_MEMORY_SEMANTIC_EMBEDDING_PROVIDER": "static"}
        self._env = environment(home, {"main": self._folder}) | static
        self._off = self._env | {"BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false"}

    def measure(self) -> None:
        """All figures, in the order of a vault's life."""
        self._sync(self._off)
        without = self._bytes()
        bare, _ = self._sync(self._off)
        first, done = self._sync(self._env)
        cpu_s = first.cpu_s - bare.cpu_s
        self._put("backfill: CPU", cpu_s, "s", None, f"vault: {self._generator}")
        self._put("backfill: CPU", cpu_s / self._size * 1000, "ms/note", BACKFILL_MS_PER_NOTE)
        self._put("backfill: wall", first.wall_s - bare.wall_s, "s")
        self._put(
            "backfill: peak RSS", first.peak_rss_mb, "MB", None, f"{bare.peak_rss_mb:.0f} without"
        )
        self._put("notes left", done["pending"], "", 0)
        self._put("vectors a note", done["stored"] / self._size, "")
        grown = self._bytes() - without
        self._put("database: grown by", grown / without, "x", None, f"{grown:,} bytes")
        self._put("database: bytes a vector", grown / max(1, done["stored"]), "")
        again, done = self._sync(self._env)
        self._put("second start: texts embedded", done["texts"], "", 0)
        self._put("second start: CPU", 1000 * (again.cpu_s - bare.cpu_s), "ms")
        self._edit()

    def _edit(self) -> None:
        """A paragraph more in some notes, one after the other, by turns with syncs of nothing new."""
        unchanged, changed, texts = [], [], []
        for number, file in enumerate(sorted(self._folder.rglob("*.md"))[:_EDITS]):
            unchanged.append(self._sync(self._env)[0].cpu_s)
            with file.open("a", encoding="utf-8") as text:
                text.write(_PARAGRAPH.format(number=number))
            ran, done = self._sync(self._env)
            changed.append(ran.cpu_s)
            texts.append(done["texts"])
        note = "one each of several notes"
        self._put("one more paragraph: texts embedded", max(texts), "", _MOST_CHUNKS, note)
        extra = 1000 * (median(changed) - median(unchanged))
        self._put("one more paragraph: CPU", extra, "ms", None, "with its sync, above unchanged")

    def _sync(self, env: Mapping[str, str]) -> tuple[Run, Mapping[str, Any]]:
        """A sync, and what it says of the vectors."""
        log = self._home / "sync.json"
        ran = run([*MEMORANDA, "sync", "--project", "main", "--json"], env, log=log)
        (project,) = json.loads(log.read_text(encoding="utf-8"))["projects"]
        return ran, project["vectors"]

    def _bytes(self) -> int:
        database = self._home / "config" / "main" / "memory.db"
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            return int(pages * connection.execute("PRAGMA page_size").fetchone()[0])

    def _put(
        self, what: str, value: float, unit: str, most: float | None = None, note: str = ""
    ) -> None:
        self._report.put(Figure(f"{self._size} notes, {what}", value, unit, most, note))
