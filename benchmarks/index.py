"""What indexing costs: cold, unchanged, after small changes, and on disk, beside the bare parts of it.

Everything is one `memoranda sync` in a process of its own; the start of the process is that of a sync of an
empty folder, and is taken off where a figure says "above empty".
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from benchmarks.measure import MEMORANDA, Figure, Report, Run, environment, median_run, run
from benchmarks.vault import make_vault, shared_bench, text_bytes

_YARDSTICK_SKIPS = "markdown_it,yaml_pure,frontmatter_lib,ruamel_rt"


COLD_MS_PER_NOTE = 2.0
UNCHANGED_S = 0.4
CHANGED_MS = 30.0
LARGE = 50_000
RSS_MB = 500.0
LARGE_RATIO = 1.2


def main(*, sizes: Sequence[int] = (1000, 10000), repeat: int = 3) -> int:
    """Measure an empty folder and vaults of these sizes; returns how many figures are over."""
    report = Report("index")
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as temporary:
        empty = _Vault(report, Path(temporary), 0, repeat)
        start = empty.measure()
        cold: dict[int, float] = {}
        for size in sizes:
            vault = _Vault(report, Path(temporary), size, repeat)
            cold[size] = vault.measure(start, empty.unchanged_s)
            vault.change()
            vault.rename()
            _yardstick(report, vault.folder, size)
            shutil.rmtree(vault.folder)
    if LARGE in cold and len(sizes) > 1:
        ratio = (cold[LARGE] - start) / LARGE / ((cold[min(sizes)] - start) / min(sizes))
        what = f"a note of {LARGE} against one of {min(sizes)}: CPU"
        report.put(Figure(what, ratio, "x", LARGE_RATIO))
    return report.over


class _Vault:
    """One vault, and the figures of its syncs."""

    def __init__(self, report: Report, home: Path, size: int, repeat: int) -> None:
        self.folder = home / f"vault-{size}"
        self._generator = make_vault(self.folder, size)
        self._report, self._home, self._size, self._repeat = report, home, size, repeat
        self._env = environment(home, {"main": self.folder})
        self.unchanged_s = 0.0

    def measure(self, start_s: float = 0.0, start_again_s: float = 0.0) -> float:
        """Cold and unchanged; returns the CPU seconds of a cold sync.

        Args:
            start_s: those of a cold sync of an empty folder, and
            start_again_s: those of a second one.
        """
        colds = []
        for _ in range(self._repeat if self._size <= 1000 else 1):
            shutil.rmtree(self._home / "config", ignore_errors=True)
            colds.append(self._sync())
        cold = sorted(colds, key=lambda each: each.cpu_s)[len(colds) // 2]
        most = 2.0 if self._size == 0 else None
        self._put("cold sync: CPU", cold.cpu_s, "s", most, f"vault: {self._generator}")
        self._put("cold sync: wall", cold.wall_s, "s")
        rss_most = RSS_MB if self._size == LARGE else None
        self._put("cold sync: peak RSS", cold.peak_rss_mb, "MB", rss_most, "of the largest process")
        again = median_run(
            self._command, self._env, log=self._home / "command.log", repeat=self._repeat
        )
        self.unchanged_s = again.cpu_s
        self._put("unchanged: CPU", again.cpu_s, "s")
        if self._size:
            each = (cold.cpu_s - start_s) / self._size * 1000
            most = COLD_MS_PER_NOTE if self._size >= 10_000 else None
            self._put("cold sync above empty: CPU", each, "ms/note", most)
            most = UNCHANGED_S if self._size <= 10_000 else None
            self._put("unchanged above empty: CPU", again.cpu_s - start_again_s, "s", most)
            _database(self._report, self._database, self._size, text_bytes(self.folder))
        return cold.cpu_s

    def change(self) -> None:
        """One changed file, above an unchanged pass, the two by turns.

        A process takes a second of which the change is a few hundredths, so the lower quartiles are
        compared: what else the machine does only ever adds.
        """
        unchanged, changed = [], []
        for number, path in enumerate(sorted(self.folder.rglob("*.md"))[: 5 * self._repeat]):
            unchanged.append(self._sync().cpu_s)
            with path.open("a", encoding="utf-8") as file:
                file.write(f"\nOne more line, number {number}.\n")
            changed.append(self._sync().cpu_s)
        extra = (_lower_quartile(changed) - _lower_quartile(unchanged)) * 1000
        self._put(
            "one changed, above unchanged: CPU",
            extra,
            "ms",
            CHANGED_MS if self._size == 10_000 else None,
        )

    def rename(self) -> None:
        """One note in a hundred under another name; every one must keep its ids."""
        before = self._ids()
        renamed: dict[str, str] = {}
        for number, path in enumerate(sorted(self.folder.rglob("*.md"))):
            if number % 100 == 0:
                target = path.with_name(f"renamed {number}.md")
                path.rename(target)
                place = target.relative_to(self.folder).as_posix()
                renamed[path.relative_to(self.folder).as_posix()] = place
        cpu_s = self._sync().cpu_s - self.unchanged_s
        self._put("1 % renamed, above unchanged: CPU", cpu_s, "s")
        expected = {renamed.get(path, path): one for path, one in before.items()}
        lost = sum(one != expected[path] for path, one in self._ids().items())
        self._put("1 % renamed: notes with another id", lost, "", 0, f"of {len(renamed)} renamed")

    @property
    def _command(self) -> list[str]:
        return [*MEMORANDA, "sync", "--project", "main"]

    @property
    def _database(self) -> Path:
        return self._home / "config" / "main" / "memory.db"

    def _sync(self) -> Run:
        return run(self._command, self._env, log=self._home / "command.log")

    def _ids(self) -> dict[str, tuple[int, str]]:
        with closing(sqlite3.connect(f"file:{self._database}?mode=ro", uri=True)) as connection:
            rows = connection.execute("SELECT file_path, id, external_id FROM entity")
            return {path: (i, external_id) for path, i, external_id in rows}

    def _put(
        self, what: str, value: float, unit: str, most: float | None = None, note: str = ""
    ) -> None:
        self._report.put(Figure(f"{self._size} notes, {what}", value, unit, most, note))


def _lower_quartile(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 4]


def _database(report: Report, database: Path, size: int, text: int) -> None:
    """Size against the text, whole and per table (its indexes with it)."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        total = pages * connection.execute("PRAGMA page_size").fetchone()[0]
        owner = dict(connection.execute("SELECT name, tbl_name FROM sqlite_schema"))
        try:
            rows = connection.execute(
                "SELECT name, sum(pgsize) FROM dbstat GROUP BY name"
            ).fetchall()
        except sqlite3.OperationalError:  # this SQLite is built without dbstat
            rows = []
    report.put(Figure(f"{size} notes, database / text", total / text, "x", 7.0, f"{total:,} bytes"))
    tables: dict[str, int] = {}
    for name, n_bytes in rows:
        table = owner.get(name, name)
        tables[table] = tables.get(table, 0) + n_bytes
    for table, n_bytes in sorted(tables.items(), key=lambda item: -item[1]):
        if n_bytes >= total / 100:
            report.put(Figure(f"{size} notes, table {table} / text", n_bytes / text, "x"))


def _yardstick(report: Report, folder: Path, size: int) -> None:
    """The bare parts of indexing (read, parse, insert) on the same notes, where the bench is found."""
    bench = shared_bench()
    if bench is None:
        return
    command = [sys.executable, str(bench / "limits.py"), str(folder), "--skip", _YARDSTICK_SKIPS]
    done = subprocess.run([*command, "--repeat", "1"], check=True, capture_output=True, text=True)
    for line in done.stdout.splitlines():
        values = json.loads(line)
        report.put(Figure(f"{size} notes, {values['what']}: CPU", values["cpu_s"], "s"))
