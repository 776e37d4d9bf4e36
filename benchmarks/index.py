"""What indexing costs: cold, unchanged, and on disk, beside the bare parts of the same work."""

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

from benchmarks.measure import MEMORANDA, Figure, Report, environment, median_run, run
from benchmarks.vault import make_vault, shared_bench, text_bytes

_YARDSTICK_SKIPS = "markdown_it,yaml_pure,frontmatter_lib,ruamel_rt"


def main(*, sizes: Sequence[int] = (1000, 10000), repeat: int = 3) -> int:
    """Measure an empty folder and vaults of these sizes; returns how many figures are over."""
    report = Report("index")
    cold: dict[int, float] = {}
    unchanged: dict[int, float] = {}
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as temporary:
        for size in (0, *sizes):
            folder = Path(temporary) / f"vault-{size}"
            generator = make_vault(folder, size)
            cold[size], unchanged[size] = _measure(
                report, Path(temporary), folder, size, generator, repeat
            )
            if size:
                _yardstick(report, folder, size)
    if len(sizes) > 1:
        low, high = min(sizes), max(sizes)
        slope = (cold[high] - cold[low]) / (high - low) * 1000
        report.put(Figure(f"cold sync, slope {low} to {high}: CPU", slope, "ms/note", 2.5))
    for size in sizes:
        extra = unchanged[size] - unchanged[0]
        most = 0.4 if size == 1000 else None
        report.put(Figure(f"{size} notes, unchanged, above empty: CPU", extra, "s", most))
    return report.over


def _measure(
    report: Report, home: Path, folder: Path, size: int, generator: str, repeat: int
) -> tuple[float, float]:
    label = f"{size} notes"
    env, log = environment(home, {"main": folder}), home / "command.log"
    database = home / "config" / "main" / "memory.db"
    command = [*MEMORANDA, "sync", "--project", "main"]
    colds = []
    for _ in range(repeat if size <= 1000 else 1):
        shutil.rmtree(home / "config", ignore_errors=True)
        colds.append(run(command, env, log=log))
    cold = sorted(colds, key=lambda each: each.cpu_s)[len(colds) // 2]
    most = 2.0 if size == 0 else None
    report.put(Figure(f"{label}, cold sync: CPU", cold.cpu_s, "s", most, f"vault: {generator}"))
    report.put(Figure(f"{label}, cold sync: wall", cold.wall_s, "s"))
    report.put(Figure(f"{label}, cold sync: peak RSS", cold.peak_rss_mb, "MB"))
    again = median_run(command, env, log=log, repeat=repeat)
    report.put(Figure(f"{label}, unchanged: CPU", again.cpu_s, "s"))
    if size:
        _database(report, database, size, text_bytes(folder))
    return cold.cpu_s, again.cpu_s


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
