"""What `doctor` asks of the machine it runs on."""

from __future__ import annotations

from pathlib import Path

import pytest

from memoranda.doctor import configuration, system


def test_space_is_that_of_the_nearest_folder_that_is_there(tmp_path: Path) -> None:
    facts = system.look(
        "1.2.0",
        [("the index", tmp_path / "not" / "there"), ("notes", tmp_path)],
        3,
        is_watching=True,
    )
    missing, there = facts.disks
    assert missing.free_bytes is not None
    assert there.free_bytes is not None
    assert missing.path.endswith("there")
    assert facts.has_fts5
    assert (facts.folders, facts.version) == (3, "1.2.0")


@pytest.mark.parametrize(("text", "found"), [("65536\n", 65_536), ("many\n", None), (None, None)])
def test_the_limit_of_watches_is_what_the_system_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, found: int | None
) -> None:
    place = tmp_path / "max_user_watches"
    if text is not None:
        place.write_text(text)
    monkeypatch.setattr(system, "_MAX_WATCHES", place)
    monkeypatch.setattr("sys.platform", "linux")
    assert system.look("1", [], 0, is_watching=True).max_watches == found
    monkeypatch.setattr("sys.platform", "darwin")
    assert system.look("1", [], 0, is_watching=True).max_watches is None


def test_a_network_drive_is_told_by_its_mount(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mountinfo"
    line = f"36 35 98:0 / {tmp_path} rw - {{}} server:/x rw\n"
    monkeypatch.setattr("memoranda.files.mounts._MOUNTS", mounts)
    monkeypatch.setenv("BASIC_MEMORY_CONFIG_DIR", str(tmp_path / "config"))
    mounts.write_text(line.format("nfs4"))
    assert configuration.look()[0].network == f"nfs4, mounted at {tmp_path}"
    mounts.write_text(line.format("ext4"))
    assert configuration.look()[0].network == ""
