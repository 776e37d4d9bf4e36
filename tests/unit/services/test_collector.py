from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from memoranda.services.collector import collector_paused


@pytest.fixture(autouse=True)
def _enabled() -> Iterator[None]:
    gc.enable()
    yield
    gc.enable()


def test_the_collector_rests_until_the_last_one_is_done():
    with collector_paused():
        with collector_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_an_error_wakes_it():
    with pytest.raises(ValueError, match="broken"), collector_paused():
        raise ValueError("broken")
    assert gc.isenabled()


def test_one_that_was_switched_off_before_stays_off():
    gc.disable()
    with collector_paused():
        pass
    assert not gc.isenabled()
