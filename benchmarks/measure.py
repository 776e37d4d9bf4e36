"""Processes measured from outside, and figures beside what they should be.

CPU seconds come from `wait4`, so they are those of the child alone; a shared machine changes them far
less than it changes wall time. Figures are printed as they come and kept as JSON lines.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results"
MEMORANDA = (str(Path(sys.executable).with_name("memoranda")),)


@dataclass(frozen=True, slots=True)
class Run:
    """One finished process."""

    code: int
    wall_s: float
    cpu_s: float
    peak_rss_mb: float


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured value. `most` is the target it must not exceed, None for a yardstick."""

    what: str
    value: float
    unit: str
    most: float | None = None
    note: str = ""

    @property
    def verdict(self) -> str:
        """`ok`, `OVER`, or nothing without a target."""
        if self.most is None:
            return ""
        return "ok" if self.value <= self.most else "OVER"


class Report:
    """Prints figures and appends them to one file a run."""

    def __init__(self, name: str) -> None:
        RESULTS.mkdir(exist_ok=True)
        self._file = RESULTS / f"{name}.jsonl"
        self._started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.over = 0
        print(f"\n{name}  (load {os.getloadavg()[0]:.1f}, results in {self._file})")

    def put(self, figure: Figure) -> None:
        """Print and keep a figure."""
        target = "" if figure.most is None else f"<= {figure.most:g} {figure.unit}"
        value = f"{figure.value:,.3f}".rstrip("0").rstrip(".") + f" {figure.unit}"
        line = f"  {figure.what:<46} {value:>16}  {target:<14} {figure.verdict:<5} {figure.note}"
        print(line.rstrip(), flush=True)
        self.over += figure.verdict == "OVER"
        record = asdict(figure) | {
            "verdict": figure.verdict,
            "run": self._started,
            "load": os.getloadavg()[0],
            "python": sys.version.split()[0],
        }
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")


def status_mb(name: str) -> float:
    """A line of /proc/self/status in MB; 0 where there is none."""
    status = Path("/proc/self/status")
    if status.is_file() and (found := re.search(rf"{name}:\s+(\d+)", status.read_text("ascii"))):
        return int(found[1]) / 1024
    return 0.0


def environment(home: Path, projects: Mapping[str, Path] | None = None) -> dict[str, str]:
    """A private home: nothing of the user's configuration is read or written."""
    values = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    values |= {"HOME": str(home), "BASIC_MEMORY_CONFIG_DIR": str(home / "config")}
    if projects is not None:
        entries = {name: {"path": str(path)} for name, path in projects.items()}
        values["BASIC_MEMORY_PROJECTS"] = json.dumps(entries)
    return values


def run(command: Sequence[str], env: Mapping[str, str], *, log: Path) -> Run:
    """Run to the end; raises with the log's tail when the command fails."""
    with log.open("wb") as output:
        started = time.perf_counter()
        process = subprocess.Popen(
            command, env=dict(env), stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
    process.returncode = code = os.waitstatus_to_exitcode(status)
    if code:
        tail = log.read_text(encoding="utf-8", errors="replace")[-2000:]
        raise RuntimeError(f"{' '.join(command)} ended with {code}:\n{tail}")
    return Run(code, wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def median_run(command: Sequence[str], env: Mapping[str, str], *, log: Path, repeat: int) -> Run:
    """The same command several times: medians of time, maximum of memory."""
    runs = [run(command, env, log=log) for _ in range(repeat)]
    return Run(
        0,
        statistics.median(each.wall_s for each in runs),
        statistics.median(each.cpu_s for each in runs),
        max(each.peak_rss_mb for each in runs),
    )
