"""Reading on more cores: the same outcomes, in order, whatever happens to the processes."""

from __future__ import annotations

import asyncio
import importlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from memoranda.files.file_service import FileService, checksum
from memoranda.model.address import NotePath
from memoranda.model.sync import FileState
from memoranda.services.items import note_terms
from memoranda.services.reading import ReadNote, read_note
from memoranda.sync.reading import (
    Faulty,
    Outcome,
    ReadOne,
    ReadTask,
    Same,
    Tripped,
    Unreadable,
    Vanished,
    read_file,
)
from memoranda.sync.reading_pool import MOST_WORKERS, ReadingPool, usable_cores, workers_that_pay

GOLDEN = Path(__file__).parents[1] / "vaults" / "golden"

FAULTS = '''
"""A reader of notes that does what a note asks for."""
import os, signal, threading
from pathlib import Path
from memoranda.services.reading import read_note


class Rubbish:
    def __reduce__(self):
        return int, ("rubbish",)


def read(data, state):
    if b"!kill" in data:
        os.kill(os.getpid(), signal.SIGKILL)
    if b"!first" in data and not (Path(__file__).parent / "met").exists():
        (Path(__file__).parent / "met").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if b"!hang" in data:
        (Path(__file__).parent / "met").touch()
        threading.Event().wait()
    if b"!print" in data:
        print("a library says something")
        os.write(1, b"and a library in C")
    if b"!rubbish" in data:
        return Rubbish()
    if b"!raise" in data:
        raise KeyError("as asked")
    return read_note(data, state)
'''

PARENT = """
import asyncio, signal, sys
from pathlib import Path
signal.signal(signal.SIGINT, signal.default_int_handler)  # who started us may have it ignored
sys.path.insert(0, sys.argv[1])
from reading_faults import read
from memoranda.sync.reading import ReadTask
from memoranda.sync.reading_pool import ReadingPool

async def main():
    async with ReadingPool(Path(sys.argv[2]), (), read, workers=1) as pool:
        await pool.read([ReadTask("a.md")])
        print(*pool.pids, flush=True)
        while True:
            await pool.read([ReadTask(name) for name in sys.argv[3:]])

asyncio.run(main())
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    root.mkdir()
    return root


@pytest.fixture
def faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ReadOne:
    """`FAULTS` as a module that workers find too."""
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "reading_faults.py").write_text(FAULTS)
    monkeypatch.syspath_prepend(tmp_path / "modules")
    monkeypatch.delitem(sys.modules, "reading_faults", raising=False)
    read: ReadOne = importlib.import_module("reading_faults").read
    return read


def write(root: Path, **texts: str) -> list[ReadTask]:
    """Notes and the tasks to read them."""
    for name, text in texts.items():
        (root / f"{name}.md").write_text(text)
    return [ReadTask(NotePath(f"{name}.md")) for name in texts]


def many(root: Path, count: int = 60, **texts: str) -> list[ReadTask]:
    """Good notes around the given ones."""
    good = {f"n{number:03}": f"# {number}\n\n- [fact] {number}\n" for number in range(count)}
    return write(root, **dict(sorted({**good, **texts}.items())))


def read_here(root: Path, tasks: Sequence[ReadTask], read: ReadOne = read_note) -> list[Outcome]:
    files = FileService(root, root.parent / "locks")
    return [read_file(files, task, read) for task in tasks]


def is_running(pid: int) -> bool:
    """Whether the process is there and no zombie whose new parent does not reap it."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return not Path("/proc/self").exists()


def wait_for(condition: Callable[[], object], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.01)


async def until(condition: Callable[[], object], seconds: float = 30.0) -> None:
    await asyncio.to_thread(wait_for, condition, seconds)


@pytest.mark.parametrize("workers", [0, 1, 3])
async def test_outcomes_are_those_of_reading_here_and_in_order(root: Path, workers: int) -> None:
    names = sorted(path.name for path in GOLDEN.glob("*.md"))
    for name in names:
        shutil.copy(GOLDEN / name, root / name)
    (root / "folder.md").mkdir()
    tasks = [ReadTask(NotePath(name)) for name in [*names, "gone.md", "folder.md"]]
    known = read_here(root, tasks[:2])
    same, other = (one for one in known if isinstance(one, ReadNote))
    tasks += [
        ReadTask(same.state.path, same=(same.checksum, same.state.mtime_ns)),
        ReadTask(other.state.path, tripped=other.checksum),
    ]
    expected = read_here(root, tasks)
    assert {type(one) for one in expected} == {ReadNote, Vanished, Unreadable, Same, Tripped}
    async with ReadingPool(root, (), read_note, workers=workers) as pool:
        first = await pool.read(tasks)
        second = await pool.read(tasks[::-1])
        assert len(pool.pids) == workers

    assert first == expected
    assert second == expected[::-1]
    terms = [
        note_terms(one.parsed) if workers else None for one in expected if isinstance(one, ReadNote)
    ]
    assert [one.terms for one in first if isinstance(one, ReadNote)] == terms


async def test_a_fault_of_a_file_is_told_as_if_it_were_read_here(
    root: Path, faults: ReadOne
) -> None:
    tasks = write(root, a="!raise", b="fine")
    async with ReadingPool(root, (), faults, workers=1) as pool:
        fault, fine = await pool.read(tasks)
    assert isinstance(fault, Faulty)
    assert (fault.checksum, fault.error) == (checksum(b"!raise"), "KeyError")
    assert "as asked" in fault.details
    assert isinstance(fine, ReadNote)


@pytest.mark.parametrize("fault", ["!kill", "!rubbish"])
async def test_a_file_that_takes_its_process_with_it_costs_only_itself(
    root: Path, faults: ReadOne, fault: str
) -> None:
    tasks = many(root, n030x=fault, n031x=fault)
    async with ReadingPool(root, (), faults, workers=2) as pool:
        outcomes = await pool.read(tasks)
        after = await pool.read(tasks[:3])

    lost = [one for one in outcomes if isinstance(one, Faulty)]
    assert [(one.checksum, one.error) for one in lost] == [
        (checksum(fault.encode()), "ReadingProcessLost")
    ] * 2
    good = [task for task in tasks if "x" not in task.path]
    assert [one for one in outcomes if isinstance(one, ReadNote)] == read_here(root, good)
    assert [type(one) for one in outcomes].index(Faulty) == tasks.index(
        ReadTask(NotePath("n030x.md"))
    )
    assert after == read_here(root, tasks[:3])


async def test_a_file_whose_process_is_killed_once_is_read(root: Path, faults: ReadOne) -> None:
    tasks = many(root, n030x="!first")
    async with ReadingPool(root, (), faults, workers=1) as pool:
        outcomes = await pool.read(tasks)
    assert outcomes == read_here(root, tasks)


async def test_workers_killed_between_two_batches_are_replaced(root: Path) -> None:
    tasks = many(root)
    async with ReadingPool(root, (), read_note, workers=2) as pool:
        await pool.read(tasks)
        before = pool.pids
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        assert await pool.read(tasks) == read_here(root, tasks)
        assert not set(pool.pids) & set(before)


@pytest.mark.slow
async def test_a_file_that_never_ends_costs_only_itself(root: Path, faults: ReadOne) -> None:
    tasks = write(root, a="fine", b="!hang", c="fine")
    async with ReadingPool(root, (), faults, workers=1, patience_s=1.0) as pool:
        first, hung, last = await pool.read(tasks)
    assert isinstance(hung, Faulty)
    assert hung.error == "ReadingProcessSilent", "one strike, and not all of them at once"
    assert [first, last] == read_here(root, [tasks[0], tasks[2]])


async def test_a_disk_that_does_not_answer_is_no_fault_of_the_file(
    root: Path, faults: ReadOne, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = write(root, a="fine", b="!hang")
    answered = threading.Event()
    async with ReadingPool(root, (), faults, workers=1, patience_s=1.0) as pool:
        monkeypatch.setattr(pool._files, "read", lambda path: answered.wait(30))
        try:
            first, stalled = await pool.read(tasks)
        finally:
            answered.set()
    assert isinstance(first, ReadNote)
    assert stalled == Unreadable("it cannot be read: the disk does not answer")


async def test_what_is_printed_in_a_worker_is_no_answer(root: Path, faults: ReadOne) -> None:
    tasks = write(root, a="!print", b="fine")
    async with ReadingPool(root, (), faults, workers=1) as pool:
        assert await pool.read(tasks) == read_here(root, tasks)
        assert len(pool.pids) == 1


async def test_ctrl_c_in_the_terminal_is_left_to_the_parent(root: Path) -> None:
    tasks = many(root)
    async with ReadingPool(root, (), read_note, workers=1) as pool:
        await pool.read(tasks)
        before = pool.pids
        os.kill(before[0], signal.SIGINT)
        await pool.read(tasks)
        assert pool.pids == before


async def test_workers_run_the_code_of_this_process(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the current folder nor the environment's Python settings come in between."""
    here = tmp_path / "here"
    here.mkdir()
    for name in ("yaml", "pickle", "memoranda", "sitecustomize"):
        (here / f"{name}.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(here)
    monkeypatch.setenv("PYTHONPATH", str(here))
    monkeypatch.setenv("PYTHONINSPECT", "1")
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    tasks = many(root, 3)
    async with ReadingPool(root, (), read_note, workers=1) as pool:
        assert await pool.read(tasks) == read_here(root, tasks)
        assert len(pool.pids) == 1


@pytest.mark.parametrize("program", ["/nowhere/python", shutil.which("true"), ""])
async def test_without_a_process_files_are_read_here(
    root: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.setattr(sys, "executable", program)
    tasks = many(root)
    async with ReadingPool(root, (), read_note, workers=2) as pool:
        assert await pool.read(tasks) == read_here(root, tasks)
        assert await pool.read(tasks) == read_here(root, tasks)
        assert not pool.pids


async def test_a_program_that_brings_its_own_python_along_is_not_started_again(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    tasks = many(root, 3)
    async with ReadingPool(root, (), read_note, workers=1) as pool:
        assert await pool.read(tasks) == read_here(root, tasks)
        assert not pool.pids


async def test_a_file_that_may_kill_its_process_is_never_read_here(
    root: Path, faults: ReadOne, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = many(root, 3, n001x="!kill")
    async with ReadingPool(root, (), faults, workers=1) as pool:
        await pool.read(tasks[:1])
        monkeypatch.setattr(sys, "executable", "/nowhere/python")
        outcomes = await pool.read(tasks)
    assert {type(one) for one in outcomes} == {Unreadable}


async def test_a_reader_that_no_other_process_finds_is_called_here(root: Path) -> None:
    seen: list[NotePath] = []

    def read(data: bytes, state: FileState) -> ReadNote:
        seen.append(state.path)
        return read_note(data, state)

    tasks = many(root, 3)
    async with ReadingPool(root, (), read, workers=2) as pool:
        assert await pool.read(tasks) == read_here(root, tasks)
    assert seen[:3] == [task.path for task in tasks]


async def test_a_cancelled_read_leaves_no_process_and_waits_for_none(
    root: Path, tmp_path: Path, faults: ReadOne
) -> None:
    tasks = write(root, a="!hang")
    async with ReadingPool(root, (), faults, workers=1) as pool:
        reading = asyncio.create_task(pool.read(tasks))
        await until((tmp_path / "modules" / "met").exists)
        (pid,) = pool.pids
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        await until(lambda: not is_running(pid))


async def test_closing_ends_a_running_read(root: Path, tmp_path: Path, faults: ReadOne) -> None:
    tasks = write(root, a="!hang")
    pool = ReadingPool(root, (), faults, workers=1)
    reading = asyncio.create_task(pool.read(tasks))
    await until((tmp_path / "modules" / "met").exists)
    (pid,) = pool.pids
    await pool.aclose()
    with pytest.raises(RuntimeError, match="closed"):
        await reading
    await until(lambda: not is_running(pid))
    with pytest.raises(RuntimeError, match="closed"):
        await pool.read(tasks)
    assert not pool.pids


def started_parent(root: Path, tmp_path: Path, *names: str) -> tuple[subprocess.Popen[str], int]:
    """A process that reads these files for ever, and the worker that it reads them with."""
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path / "modules"), str(root), *names],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert parent.stdout is not None
    return parent, int(parent.stdout.readline())


@pytest.mark.parametrize("busy", [True, False])
def test_no_worker_outlives_a_killed_parent(
    root: Path, tmp_path: Path, faults: ReadOne, busy: bool
) -> None:
    write(root, a="fine", b="!hang" if busy else "fine")
    parent, worker = started_parent(root, tmp_path, "a.md", "b.md")
    with parent:
        if busy:
            wait_for((tmp_path / "modules" / "met").exists)
        assert is_running(worker)
        parent.kill()
        parent.wait()
        wait_for(lambda: not is_running(worker))


def test_ctrl_c_ends_parent_and_worker_at_once(root: Path, tmp_path: Path, faults: ReadOne) -> None:
    write(root, a="fine", b="!hang")
    parent, worker = started_parent(root, tmp_path, "b.md")
    with parent:
        wait_for((tmp_path / "modules" / "met").exists)
        os.killpg(parent.pid, signal.SIGINT)
        parent.wait(30)
        wait_for(lambda: not is_running(worker))


def test_workers_pay_for_much_to_read_and_leave_half_of_the_cores() -> None:
    assert workers_that_pay(1_000_000, 10**9, cores=1) == 0
    assert workers_that_pay(1_000_000, 10**9, cores=2) == 0
    assert workers_that_pay(1_000_000, 10**9, cores=4) == 1
    assert workers_that_pay(1_000_000, 10**9, cores=64) == MOST_WORKERS
    assert workers_that_pay(500, 10**6, cores=64) == 0
    assert workers_that_pay(50_000, 0, cores=64) > 0
    assert workers_that_pay(10, 10**8, cores=64) > 0
    assert workers_that_pay(3_000, 3_000 * 2_600, cores=64) == 1
    assert usable_cores() >= 1


async def test_few_expected_files_start_no_process(root: Path) -> None:
    tasks = many(root, 3)
    async with ReadingPool(root, (), read_note, expected_files=3, expected_bytes=60) as pool:
        assert await pool.read(tasks) == read_here(root, tasks)
        assert not pool.pids
