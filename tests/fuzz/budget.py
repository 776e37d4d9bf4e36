"""CPU time of a text relative to its size: what is slow, and what grows faster than its input."""

from __future__ import annotations

import time
from collections.abc import Callable
from zlib import crc32

BASE_S = 0.05
PER_CHARACTER_S = 20e-6
"""Sixty times what ordinary notes cost, and room for the fuzzer's instrumentation."""

SMALL = 2_000
LARGE = 16_000
MAX_RATIO = 3.0 * LARGE / SMALL
QUIET_S = 0.1
"""Below this a large text is fast enough, whatever the ratio."""


class TooSlow(AssertionError):
    """A text costs more CPU time than its size allows."""


def bound_s(text: str) -> float:
    """What a text of this size may cost."""
    return BASE_S + PER_CHARACTER_S * len(text)


def check_time(run: Callable[[str], object], text: str) -> None:
    """Run once within the bound for a text of this size.

    Raises:
        TooSlow: it took longer, twice.
    """
    bound = bound_s(text)
    if _cpu_s(run, text) > bound and (again := _cpu_s(run, text)) > bound:
        raise TooSlow(f"{again:.3f} s for {len(text)} characters, {bound:.3f} s allowed")


def check_growth(run: Callable[[str], object], text: str) -> None:
    """Grow the text eightfold in three ways; the time may grow little more than that.

    What is repeated depends on the text alone, so that a finding repeats.

    Raises:
        TooSlow: the time grew three times faster than the text, twice.
    """
    for name, small, large in _grown(text):
        for attempt in (1, 2):
            short, long = _cpu_s(run, small), _cpu_s(run, large)
            if long <= QUIET_S or long <= MAX_RATIO * max(short, 1e-4):
                break
            if attempt == 2:
                raise TooSlow(
                    f"{name}: {short:.4f} s for {len(small)} characters, {long:.4f} s for {len(large)}"
                )


def _grown(text: str) -> list[tuple[str, str, str]]:
    """(what was done, the smaller text, the larger text)."""
    if not text:
        return []
    number = crc32(text.encode("utf-8", "surrogatepass"))
    first = number % len(text)
    last = min(len(text), first + 1 + (number >> 8) % 12)
    head, piece, tail = text[:first], text[first:last], text[last:]
    half = len(piece) // 2 or 1

    def whole(size: int) -> str:
        return text * (size // len(text) + 1)

    def in_place(size: int) -> str:
        return head + piece * (size // len(piece) + 1) + tail

    def around(size: int) -> str:
        count = size // len(piece) + 1
        return head + piece[:half] * count + piece[half:] * count + tail

    return [
        ("the whole text repeated", whole(SMALL), whole(LARGE)),
        (f"{piece!r} at {first} repeated", in_place(SMALL), in_place(LARGE)),
        (f"the halves of {piece!r} at {first} repeated", around(SMALL), around(LARGE)),
    ]


def _cpu_s(run: Callable[[str], object], text: str) -> float:
    start = time.process_time()
    run(text)
    return time.process_time() - start
