"""After a long time of random changes from all sides the index is right, and no server has grown."""

from __future__ import annotations

import os
import random
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.live.client import Server
from tests.live.editing import (
    Client,
    Names,
    User,
    copy_some,
    descriptors,
    make_some,
    resident_mb,
)
from tests.live.home import Home

SOAK = bool(os.environ.get("MEMORANDA_SOAK"))
SECONDS = float(os.environ.get("MEMORANDA_SOAK_SECONDS", "1800" if SOAK else "8"))
NOTES = 5000 if SOAK else 150
PATIENCE_S = 120
"""At the end. Many notes that are missing at once are held for a minute, in case they come back."""

CLIENTS = 3
SAMPLES = 50

MORE_DESCRIPTORS = 4
"""A read connection more, a file that is just being written: not a leak. One a minute would be 24."""

MORE_MEMORY = 1.15
"""The notes themselves grow by some percent in half an hour, and memory is handed out in large pieces."""

LONG_S = 300
"""In less time a server is still warming up: modules and caches fill its memory."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(SECONDS + 300),
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]


@dataclass(frozen=True, slots=True)
class Sample:
    """What a server uses at a moment."""

    descriptors: int
    memory_mb: float


def watch(servers: list[Server], over: threading.Event) -> list[list[Sample]]:
    """Look at the servers in equal steps until the time is over; a list for each."""
    samples: list[list[Sample]] = [[] for _ in servers]
    ends = time.monotonic() + SECONDS
    while (left := ends - time.monotonic()) > 0 and not over.wait(min(SECONDS / SAMPLES, left)):
        for server, taken in zip(servers, samples, strict=True):
            taken.append(Sample(descriptors(server.pid), resident_mb(server.pid)))
    return samples


def assert_has_not_grown(samples: list[Sample]) -> None:
    """Compare an early part, after the first fifth, with the last one."""
    part = len(samples) // 5
    early, late = samples[part : 2 * part], samples[-part:]
    fewest = min(one.descriptors for one in early)
    assert min(one.descriptors for one in late) <= fewest + MORE_DESCRIPTORS, samples
    if SECONDS >= LONG_S:
        memory = statistics.median(one.memory_mb for one in early)
        assert statistics.median(one.memory_mb for one in late) <= memory * MORE_MEMORY, samples


@pytest.mark.spec("12.2")
def test_the_index_is_right_after_a_long_time_of_changes_from_all_sides(
    home: Home, real_notes: Path | None, record_property: Callable[[str, object], None]
) -> None:
    chance = random.Random(os.environ.get("MEMORANDA_SEED", "1"))
    if real_notes is None:
        make_some(home.root, NOTES, chance)
    else:
        copy_some(real_notes, home.root, NOTES, chance)
    names = Names(home.root)
    servers = [home.start(f"client-{number}") for number in range(CLIENTS)]
    for server in servers:
        server.greet()
    for server in servers:
        assert not server.call("list_memory_projects").code  # its storage is open
    clients = [Client(server, names, random.Random(server.name)) for server in servers]
    user = User(home.root, names, chance)
    over = threading.Event()
    with ThreadPoolExecutor(CLIENTS + 1) as threads:
        work = [threads.submit(client.work, over) for client in clients]
        work.append(threads.submit(user.work, over))
        try:
            samples = watch(servers, over)
        finally:
            over.set()
    for one in work:
        one.result()
    home.assert_agrees_in_the_end(within_s=PATIENCE_S)
    assert [line for client in clients for line in client.bad] == []
    for taken in samples:
        assert_has_not_grown(taken)
    for server in servers:
        assert server.close() == 0
    home.assert_nothing_bad_was_logged()
    answers = sum((client.answers for client in clients), Counter[str]())
    record_property("answers", dict(answers))
    print(f"{dict(answers)} {dict(user.done)}")
    for taken in samples:
        print(f"{taken[len(taken) // 5]} early, {taken[-1]} late")
