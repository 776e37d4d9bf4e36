"""Every real vault through the real command: counts, completeness, and whether a byte was touched.

Then the facts of each vault (`vaults/facts.json`, counted by rules that share no code with Memoranda)
beside what its index holds, with the causes of every difference. Needs the shared vaults
(`MEMORANDA_SHARED`, default `../shared`). Ends with the number of vaults that differ from what they
should be; the tests hold the exact counts.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.integration.vault_comparison import compare
from tests.integration.vault_report import Row, report

from benchmarks.measure import MEMORANDA, environment
from benchmarks.vault import shared_folder

_COLUMNS = ("notes", "observations", "links", "relations", "unresolved", "problems")


def main() -> int:
    """Index all vaults from nothing; prints one line a vault."""
    vaults = shared_folder() / "vaults"
    if not vaults.is_dir():
        print("vaults: the shared vaults are not here")
        return 0
    wrong = 0
    totals = dict.fromkeys(("files", *_COLUMNS), 0)
    facts = json.loads((vaults / "facts.json").read_text(encoding="utf-8"))
    reports: dict[str, Sequence[Row]] = {}
    print(f"\n{'vault':<24}{'files':>7}" + "".join(f"{name:>13}" for name in _COLUMNS))
    for vault in sorted(path for path in vaults.iterdir() if path.is_dir()):
        files = sum(1 for path in vault.rglob("*") if path.name.lower().endswith(".md"))
        hidden = sum(1 for path in vault.rglob("*.md") if _is_hidden(path.relative_to(vault)))
        before = _tree_hash(vault)
        counts, reports[vault.name] = _index(vault, facts[vault.name]["facts"])
        untouched = _tree_hash(vault) == before
        complete = counts["notes"] == files - hidden
        remark = "untouched" if untouched else "TOUCHED"
        if hidden:
            remark += f", {hidden} in hidden folders"
        if not complete:
            remark += f", {files - hidden - counts['notes']} MISSING"
        wrong += not (untouched and complete)
        for name, value in {"files": files, **counts}.items():
            totals[name] += value
        print(_line(vault.name, files, counts) + f"  {remark}")
    print(_line("all", totals["files"], totals))
    for name, rows in reports.items():
        print(f"\n{name:<31}{'facts':>8}{'index':>8}  why they differ")
        for row in rows:
            print(f"  {row.what:<29}{row.facts:>8,}{row.ours:>8,}  {row.why}".rstrip())
    return wrong


def _line(name: str, files: int, counts: Mapping[str, int]) -> str:
    return f"{name:<24}{files:>7,}" + "".join(f"{counts[column]:>13,}" for column in _COLUMNS)


def _index(vault: Path, facts: Mapping[str, int]) -> tuple[dict[str, int], Sequence[Row]]:
    with tempfile.TemporaryDirectory(prefix="memoranda-vault-") as home:
        env = environment(Path(home), {"main": vault})
        synced = subprocess.run(
            [*MEMORANDA, "sync"], env=env, capture_output=True, text=True, check=False
        )
        if synced.returncode or "Traceback" in synced.stdout + synced.stderr:
            raise RuntimeError(f"{vault.name}: {synced.stdout[-2000:]}{synced.stderr[-2000:]}")
        shown = subprocess.run(
            [*MEMORANDA, "status", "--json"], env=env, capture_output=True, text=True, check=True
        )
        (project,) = json.loads(shown.stdout)["projects"]
        log = Path(home) / "config" / "memoranda.log"
        if log.exists() and "Traceback" in log.read_text(encoding="utf-8"):
            raise RuntimeError(f"{vault.name}: a traceback in the log")
        rows = _compare(vault, Path(home) / "config" / "main" / "memory.db", facts)
    counts = {
        "notes": project["entity_count"],
        "observations": project["observation_count"],
        "links": project["link_count"],
        "relations": project["relation_count"],
        "unresolved": project["unresolved_relation_count"],
        "problems": project["problems_total"],
    }
    return counts, rows


def _compare(vault: Path, database: Path, facts: Mapping[str, int]) -> Sequence[Row]:
    connection = sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)
    try:
        found = compare(vault, lambda sql: connection.execute(sql).fetchall())
    finally:
        connection.close()
    return report(found, facts)


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _tree_hash(root: Path) -> str:
    """All names, modes, times and bytes below a folder."""
    digest = hashlib.sha256()
    for folder, folders, files in os.walk(root):
        folders.sort()
        for name in sorted(files):
            path = Path(folder) / name
            stat = path.stat()
            digest.update(f"{path}|{stat.st_mode}|{stat.st_mtime_ns}|".encode("utf-8", "replace"))
            digest.update(path.read_bytes())
    return digest.hexdigest()
