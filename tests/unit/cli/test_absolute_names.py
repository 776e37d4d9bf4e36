from __future__ import annotations

from pathlib import Path

import pytest

from memoranda.cli.notes import below_root


def test_names_from_the_home_folder_are_those_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    root = tmp_path / "notes"
    (root / "research").mkdir(parents=True)
    (tmp_path / "way").symlink_to(root)
    assert below_root("~/notes/research/", root) == "research/"
    assert below_root("~/way/A plan.md", root) == "A plan.md"
    assert below_root(str(root / "a.md"), root) == "a.md"
    for other in ("~/secret.md", "~nobody-of-that-name/x", "/etc/hosts", "research/plan", "a~b"):
        assert below_root(other, root) == other
