"""What a query costs: CPU of searches in a process of their own, over generated vaults.

Queries are drawn from the words of the vault itself (`benchmarks.queries`). One note in a hundred carries
a tag and a metadata value, by which the same queries are filtered: no hit may get lost, and a filter may
not cost more than it saves.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from benchmarks.measure import MEMORANDA, Figure, Report, environment, run
from benchmarks.queries import MARK
from benchmarks.vault import ROOT, make_vault, text_bytes

SIZES = (700, 7000)
HUGE = 100_000
"""Notes of the vault that is measured once, by hand."""
FILTER_RATIO = 1.15
"""What a filtered query may cost against the same without: no more, and some noise."""

_STATIC = {"BASIC_MEMORY_SEMANTIC_EMBEDDING_PROVIDER": "static"}
_OFF = {"BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false"}
_QUERIES = 200
_FEWER = 60
_MANY_NOTES = 20_000
_COMPARED = 40


@dataclass(frozen=True, slots=True)
class _Targets:
    """CPU milliseconds. `hybrid_p50`: of both words and sentences."""

    words_p50: float
    sentences_p50: float
    sentences_p95: float
    hybrid_p50: float


_TARGETS: Mapping[int, _Targets] = {
    700: _Targets(words_p50=10, sentences_p50=20, sentences_p95=60, hybrid_p50=30),
    7000: _Targets(words_p50=40, sentences_p50=80, sentences_p95=200, hybrid_p50=150),
}
"""By notes: the generator writes about 14 items a note, so these are 10,000 and 100,000 items."""


class Put(Protocol):
    """Reports one figure of a vault."""

    def __call__(
        self, what: str, value: float, unit: str, most: float | None = None, note: str = ""
    ) -> None: ...


def main(*, sizes: Sequence[int] = SIZES, is_huge: bool = False) -> int:
    """Measure vaults of so many notes; returns how many figures are over."""
    report = Report("search")
    for notes in (*sizes, HUGE) if is_huge else sizes:
        with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as temporary:
            home = Path(temporary)
            folder = home / "vault"
            generator = make_vault(folder, notes)
            marked = mark(folder)
            env = environment(home, {"main": folder}) | _STATIC
            command = [*MEMORANDA, "sync", "--project", "main"]
            sync = run(command, env | _OFF, log=home / "sync.log")
            embedding = run(command, env, log=home / "embedding.log")
            note = f"{text_bytes(folder):,} bytes of text, vault: {generator}"
            shutil.rmtree(folder)  # the files are not needed to search
            folder.mkdir()
            report.put(Figure(f"{notes} notes, cold sync: CPU", sync.cpu_s, "s", note=note))
            report.put(Figure(f"{notes} notes, sync with vectors: CPU", embedding.cpu_s, "s"))
            put(report, notes, measure(home, env, marked, notes))
    return report.over


def mark(folder: Path) -> list[str]:
    """Give one note in a hundred a tag and a metadata value; returns their paths from the folder."""
    marked = sorted(folder.rglob("*.md"))[::100]
    for path in marked:
        text = path.read_text(encoding="utf-8")
        header, _, rest = text.removeprefix("---\n").partition("\n---\n")
        header = header.replace("tags:\n", f"tags:\n- {MARK}\n", 1)
        header = header.replace("tags: [", f"tags: [{MARK}, ", 1)
        path.write_text(f"---\ncohort: {MARK}\n{header}\n---\n{rest}", encoding="utf-8")
    return [path.relative_to(folder).as_posix() for path in marked]


def measure(
    home: Path, env: Mapping[str, str], marked: Sequence[str], notes: int
) -> dict[str, Any]:
    """Ask the project of this environment in a process of its own."""
    file = home / "marked.json"
    file.write_text(json.dumps(marked), encoding="utf-8")
    count = _QUERIES if notes < _MANY_NOTES else _FEWER
    arguments = [str(count), str(_COMPARED if notes < _MANY_NOTES else 0), str(file)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.search_process", *arguments],
        env=dict(env),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        check=True,
    )
    asked: dict[str, Any] = json.loads(done.stdout)
    return asked


def put(report: Report, notes: int, asked: Mapping[str, Any]) -> None:
    """All figures of one size."""
    targets = _TARGETS.get(notes)

    def figure(
        what: str, value: float, unit: str, most: float | None = None, note: str = ""
    ) -> None:
        report.put(Figure(f"{notes} notes, {what}", value, unit, most, note))

    figure("items (rows of search_index)", asked["items"], "")
    figure("the first query: CPU", asked["first_ms"], "ms")
    for kind, times in asked["ms"].items():
        p50 = p95 = None
        if targets and kind == "1-3 words":
            p50 = targets.words_p50
        elif targets and kind == "question sentences":
            p50, p95 = targets.sentences_p50, targets.sentences_p95
        figure(f"{kind}: CPU p50", statistics.median(times), "ms", p50, f"{len(times)} queries")
        figure(f"{kind}: CPU p95", quantile(times, 0.95), "ms", p95, f"most {max(times):.1f}")
    for name, pairs in asked["filtered"].items():
        without, filtered = (statistics.median(column) for column in zip(*pairs, strict=True))
        figure(f"1 % by {name}, against none: CPU p50", filtered / without, "x", FILTER_RATIO,
               f"{filtered:.1f} ms against {without:.1f}")  # fmt: skip
    figure("filters against brute force: lost hits", asked["lost"], "", 0,
           f"of {asked['compared']} queries")  # fmt: skip
    figure("filters against brute force: other hits", asked["added"], "", 0)
    figure("answers that say nothing fits", asked["weak"], "")
    put_meaning(asked["meaning"], figure, targets.hybrid_p50 if targets else None)
    figure("RSS before the first query", asked["rss_opened_mb"], "MB")
    figure("RSS after all", asked["rss_mb"], "MB", note=f"peak {asked['peak_mb']:.0f}")


def put_meaning(asked: Mapping[str, Any], figure: Put, hybrid_p50: float | None) -> None:
    """The figures of search by meaning."""
    figure("vectors", asked["vectors"], "", note=asked["space"])
    figure("the first query by meaning: CPU", asked["first_ms"], "ms")
    for kind, times in asked["ms"].items():
        most = hybrid_p50 if kind.endswith(", hybrid") else None
        figure(f"{kind}: CPU p50", statistics.median(times), "ms", most, f"{len(times)} queries")
        figure(f"{kind}: CPU p95", quantile(times, 0.95), "ms", note=f"most {max(times):.1f}")
    for name, pairs in asked["filtered"].items():
        without, filtered = (statistics.median(column) for column in zip(*pairs, strict=True))
        figure(f"vector, 1 % by {name}, against none: CPU p50", filtered / without, "x",
               note=f"{filtered:.1f} ms against {without:.1f}")  # fmt: skip
    compared = f"of {asked['compared']} queries"
    figure("recall@10 of the scan, against all vectors", asked["recall"], "", note=compared)
    figure("the same, of the worst query", asked["recall_least"], "")
    figure("filters against all vectors: other answers", asked["unequal"], "", 0, compared)
    figure("hits that the filter excludes", asked["outside"], "", 0)
    figure("RSS of vectors and model", asked["rss_mb"] - asked["rss_before_mb"], "MB",
           note=f"{asked['rss_before_mb']:.0f} before")  # fmt: skip


def quantile(values: Sequence[float], share: float) -> float:
    """The least value that so large a share of all does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
