"""The index is a pure function of the files: whatever happened on the way, it equals a fresh one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from tests.conftest import BACKEND
from tests.integration.conftest import Index
from tests.integration.folder_model import Bench, FolderModel

SOAK = bool(os.environ.get("MEMORANDA_SOAK"))


@pytest.mark.slow
@pytest.mark.timeout(7200 if SOAK else 300)
def test_index_after_any_file_operations_equals_a_fresh_one(
    make_index: Callable[..., Index], tmp_path: Path
) -> None:
    class Folder(FolderModel):
        bench = Bench(make_index, tmp_path)

    run_state_machine_as_test(
        Folder,
        settings=settings(
            max_examples=2000 if SOAK else 100 if BACKEND == "sqlite" else 50,
            stateful_step_count=16,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            derandomize=not SOAK,
        ),
    )
