"""What is logged of refusals."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from loguru import logger

from memoranda.http.answers import NO_TOKEN, TOO_SLOW
from memoranda.http.refusals import RefusalLog


@pytest.fixture
def lines() -> Iterator[list[str]]:
    heard: list[str] = []
    number = logger.add(lambda line: heard.append(str(line)), format="{message}")
    yield heard
    logger.remove(number)


def test_a_flood_is_a_line_a_minute_that_counts(lines: list[str]) -> None:
    now_s = 0.0
    log = RefusalLog(now_s=lambda: now_s)
    for _ in range(1000):
        log(NO_TOKEN, "10.0.0.1")
    assert len(lines) == 1
    now_s = 60.0
    log(NO_TOKEN, "10.0.0.1")
    assert lines[1].strip() == (
        "Refused a request from 10.0.0.1: The token is missing (401) (999 more since the last such line)"
    )


def test_reasons_and_clients_have_lines_of_their_own(lines: list[str]) -> None:
    log = RefusalLog(now_s=lambda: 0.0)
    for refused, address in (
        (NO_TOKEN, "10.0.0.1"),
        (TOO_SLOW, "10.0.0.1"),
        (NO_TOKEN, "10.0.0.2"),
    ):
        log(refused, address)
    assert len(lines) == 3
