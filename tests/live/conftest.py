"""Real server processes on one project."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.integration.conftest import Index, make_index
from tests.live.home import Home

__all__ = ["make_index"]


@pytest.fixture
def home(tmp_path: Path, make_index: Callable[..., Index]) -> Iterator[Home]:
    """A project without notes; the servers that a test starts on it end with it."""
    home = Home(tmp_path / "live", make_index)
    home.place.mkdir()
    home.configure()
    yield home
    home.stop()


@pytest.fixture
def bare_home(tmp_path: Path, make_index: Callable[..., Index]) -> Iterator[Home]:
    """As `home`, but nothing was ever configured: there is no folder for it."""
    home = Home(tmp_path / "live", make_index)
    home.place.mkdir()
    yield home
    home.stop()


@pytest.fixture(scope="session")
def real_notes() -> Path | None:
    """A real vault of some thousand files, None where the shared data are missing."""
    place = os.environ.get("MEMORANDA_SHARED") or Path(__file__).parents[3] / "shared"
    folder = Path(place) / "vaults" / "powershell-docs"
    return folder if folder.is_dir() else None
