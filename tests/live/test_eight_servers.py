"""Eight servers on one project do not disturb each other, and the end of one disturbs none of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tests.integration.conftest import Index
from tests.live.home import Home
from tests.live.storm import TIMEOUT_S, Record, crowd_in, leader_is_killed, none_yet, writes_at_once

pytestmark = [pytest.mark.slow, pytest.mark.timeout(TIMEOUT_S)]


@pytest.fixture(scope="module")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """One home for this module: eight servers take a while to start."""
    home = Home(tmp_path_factory.mktemp("eight"), none_yet)
    home.configure()
    yield home
    home.stop()


@pytest.fixture
def home(shared_home: Home, make_index: Callable[..., Index]) -> Home:
    """The same, with eight living servers that have opened the project."""
    shared_home.make_index = make_index
    crowd_in(shared_home)
    return shared_home


@pytest.mark.spec("12.2")
def test_eight_servers_write_at_once_and_all_is_there_at_once(
    home: Home, record_property: Record
) -> None:
    writes_at_once(home, record_property)


@pytest.mark.spec("12.2")
def test_another_server_leads_when_the_leader_is_killed_among_writes(
    home: Home, record_property: Record
) -> None:
    leader_is_killed(home, record_property)
