"""A sync that is killed at any moment leaves an index that the next one makes right, and no note touched.

Real processes and SIGKILL. When it comes is a part of the processor time that an undisturbed sync of
the same kind takes, so that a busy machine does not move the kills to the end.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from enum import StrEnum
from pathlib import Path

import pytest
from tests.integration.conftest import SNAPSHOT, Index

from memoranda.db import health
from memoranda.db.engine import open_engine

SOAK = bool(os.environ.get("MEMORANDA_SOAK"))
ROUNDS = 100 if SOAK else 12
NOTES = 400
PROGRAM = (
    "from memoranda.sync import work; work.BATCH_FILES = work.SMALL_BATCH_FILES = 40; "
    "from memoranda.cli.main import main; main()"
)
"""The command, with batches so small that many kills come between two of them."""

WORK_BEGINS = 0.4
"""Of a run; before that, Python loads modules."""

ATTEMPTS = 5
"""How often a kill is tried: a run that is faster than the measured one may be over before it."""

Said = dict[str, list[tuple[object, ...]]]

pytestmark = [
    pytest.mark.sqlite,
    pytest.mark.slow,
    pytest.mark.timeout(3600 if SOAK else 300),
    pytest.mark.skipif(sys.platform != "linux", reason="reads the clock of another process"),
]


class Task(StrEnum):
    """What there is to do when the kill comes."""

    EVERYTHING = "no index yet"
    CHANGES = "files were edited, moved and deleted"
    UPGRADE = "the same, and the index has an older schema"
    REREAD = "every file is read again"


class Machine:
    """A folder of notes, what its index must say, and the configuration to start each round from."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.root = place / "notes"
        self.config = place / "home"
        self.config.mkdir()
        projects = {"Main": {"path": str(self.root)}}
        settings = {"projects": projects, "default_project": "Main"}
        (self.config / "config.json").write_text(json.dumps(settings))
        self.starts = {Task.EVERYTHING: self.kept("nothing")}
        write_notes(self.root)
        self.run("sync")
        self.starts[Task.CHANGES] = self.kept("changes")
        self.starts[Task.UPGRADE] = self.kept("upgrade")
        downgrade(self.starts[Task.UPGRADE] / "main" / "memory.db")
        change_notes(self.root)
        self.run("sync")
        self.starts[Task.REREAD] = self.kept("reread")
        self.files = look(self.root)
        self.times = {task: self.measured(task) for task in Task}

    @property
    def database(self) -> Path:
        return self.config / "main" / "memory.db"

    def kept(self, name: str) -> Path:
        """A copy of the configuration and the index as they are."""
        return Path(shutil.copytree(self.config, self.place / name))

    def reset(self, task: Task) -> None:
        """Everything as it was before a run of this task."""
        shutil.rmtree(self.config)
        shutil.copytree(self.starts[task], self.config)

    def measured(self, task: Task) -> float:
        """The processor time of an undisturbed run."""
        self.reset(task)
        return self.run(command_of(task))

    def start(self, command: str) -> subprocess.Popen[bytes]:
        """A process of its own group."""
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM, command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=os.environ | {"BASIC_MEMORY_CONFIG_DIR": str(self.config)},
            start_new_session=True,
        )

    def run(self, command: str) -> float:
        """A run to the end; returns the processor time it took."""
        with self.start(command) as process:
            spent = wait(process)
            output, _ = process.communicate()
        assert process.returncode == 0, output.decode()
        return spent

    def kill(self, command: str, at_s: float) -> float | None:
        """A run that is killed after so much processor time; what it took if it was over before."""
        with self.start(command) as process:
            spent = wait(process, at_s)
            process.kill()
            process.communicate()
        assert is_gone(process.pid)
        return None if process.returncode < 0 else spent

    def kill_at(self, task: Task, part: float) -> bool:
        """A run that is killed after a part of the time that such a run takes.

        A run may take less than the one that was measured. It is then the better measure, and the
        kill is tried again, from the start. Returns whether a run was killed.
        """
        for _ in range(ATTEMPTS):
            self.reset(task)
            spent = self.kill(command_of(task), part * self.times[task])
            if spent is None:
                return True
            self.times[task] = min(self.times[task], spent)
        return False


def command_of(task: Task) -> str:
    return "reindex" if task is Task.REREAD else "sync"


def wait(process: subprocess.Popen[bytes], limit_s: float = float("inf")) -> float:
    """Until the process has ended or used so much processor time; returns what it used."""
    clock = (
        ~process.pid << 3
    ) | 2  # CPUCLOCK_SCHED of that process, as clock_getcpuclockid makes it
    spent = 0.0
    while process.poll() is None and spent < limit_s:
        with suppress(OSError):
            spent = time.clock_gettime(clock)
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.001)
    return spent


def is_gone(group: int) -> bool:
    """Whether every process of a group ends by itself within ten seconds."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        os.sched_yield()
    return False


def write_notes(root: Path) -> None:
    """Notes of all kinds, linked to each other."""
    chance = random.Random(1)
    for number in range(NOTES):
        path = root / f"{number % 7}" / f"note {number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        targets = [chance.randrange(NOTES + 20) for _ in range(4)]
        path.write_text(
            f"---\ntitle: Title {number % 300}\ntags: [t{number % 5}]\n---\n"
            f"# Note {number}\n\nSee [[note {targets[0]}]] and [[Title {targets[1]}]].\n\n"
            f"- [fact] number {number} #n{number % 3}\n- needs [[note {targets[2]}]]\n"
            f"- [up](../{targets[3] % 7}/note%20{targets[3]}.md)\n" + "words and words\n" * 20
        )


def change_notes(root: Path) -> None:
    """60 edited, 30 moved, 20 deleted, 10 new."""
    chance = random.Random(2)
    paths = chance.sample(sorted(root.rglob("*.md")), 110)
    for path in paths[:60]:
        path.write_text(path.read_text() + "\nAnother line, see [[new 3]].\n")
    for number, path in enumerate(paths[60:90]):
        path.rename(root / f"{number % 3}" / f"moved {number}.md")
    for path in paths[90:]:
        path.unlink()
    for number in range(10):
        (root / f"new {number}.md").write_text(f"New, see [[note {number}]] and [[moved 3]].\n")


def downgrade(database: Path) -> None:
    """The schema before the last migration."""
    with closing(sqlite3.connect(database)) as db:
        db.execute("ALTER TABLE entity DROP COLUMN missing_since")
        db.execute("UPDATE alembic_version SET version_num = '0002'")
        db.execute("PRAGMA user_version = 2")
        db.commit()


def look(root: Path) -> dict[str, tuple[bytes, int, int]]:
    """Every file: its bytes, its time, its inode."""
    return {
        str(path.relative_to(root)): (
            path.read_bytes(),
            path.stat().st_mtime_ns,
            path.stat().st_ino,
        )
        for path in root.rglob("*")
        if not path.is_dir()
    }


def said_by(database: Path) -> Said:
    """Everything an index says that no process has open."""
    with closing(sqlite3.connect(database)) as db:
        return {name: db.execute(sql).fetchall() for name, sql in SNAPSHOT.items()}


def progress_of(database: Path, aside: Path) -> str:
    """How much a killed run has left, read from a copy: notes with links that are resolved or not."""
    shutil.rmtree(aside, ignore_errors=True)
    shutil.copytree(database.parent, aside) if database.parent.exists() else aside.mkdir()
    if not (aside / database.name).exists():
        return "no database"
    with closing(sqlite3.connect(aside / database.name)) as db:
        try:
            found = db.execute(
                "SELECT links_dirty, count(*), sum(ctime_ns < 0) FROM entity GROUP BY links_dirty"
            ).fetchall()
        except sqlite3.OperationalError:
            return "no tables"
        return f"{found} {db.execute('PRAGMA user_version').fetchone()}"


def test_a_killed_sync_is_made_good_by_the_next_one(
    tmp_path: Path, make_index: Callable[..., Index]
) -> None:
    machine = Machine(tmp_path)
    fresh = make_index(machine.root, "fresh")
    fresh.run_sync()
    fresh.store.close()
    expected = said_by(tmp_path / "config" / "fresh" / "memory.db")
    assert len(expected["entity"]) == NOTES - 10
    chance = random.Random(3)
    killed = 0
    left: dict[Task, Counter[str]] = {task: Counter() for task in Task}
    for number in range(ROUNDS):
        task = list(Task)[number % len(Task)]
        turn, turns = number // len(Task), ROUNDS // len(Task)
        at = WORK_BEGINS + (1 - WORK_BEGINS) * (turn + chance.random()) / turns
        killed += machine.kill_at(task, at)
        left[task][progress_of(machine.database, tmp_path / "left")] += 1
        if number % 3 == 0:  # and the run that would make it good as well
            machine.kill("sync", chance.uniform(WORK_BEGINS, 1) * machine.times[task])
        machine.run("sync")
        assert said_by(machine.database) == expected, (task, at)
        engine = open_engine(machine.database)
        assert health.full_check(engine) == [], (task, at)
        engine.dispose()
        assert look(machine.root) == machine.files, (task, at)
    assert killed >= 0.7 * ROUNDS
    if SOAK:
        assert all(len(states) > 2 for states in left.values())
