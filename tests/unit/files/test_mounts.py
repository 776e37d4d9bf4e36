from __future__ import annotations

import os
from pathlib import Path

import pytest

from memoranda.files import mounts
from memoranda.files.mounts import Mount, Mounts, mounts_at, mounts_of, parse

MACHINE = rb"""22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
31 27 0:40 / /mnt/nas rw,noatime shared:9 master:2 - nfs4 nas:/notes rw,vers=4.2
32 27 0:41 / /mnt/my\040share\011x rw - cifs //box/share rw
33 27 8:1 / /home rw - btrfs /dev/sda1 rw,subvol=/home
34 33 0:50 / /home/me/remote rw,nosuid - fuse.sshfs u@host: rw
35 33 0:51 / /home/me/crypt rw - fuse.gocryptfs /home/me/.crypt rw
36 27 0:52 / /c rw - 9p drvfs rw,aname=drvfs;path=C:\
"""


def kind(folder: str, text: bytes = MACHINE) -> str | None:
    holder = mounts_at(folder, parse(text)).holder
    return None if holder is None else holder.kind


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("/srv/notes", "ext4"),
        ("/mnt/nas", "nfs4"),
        ("/mnt/nas/notes", "nfs4"),
        ("/mnt/nas2/notes", "ext4"),
        ("/mnt/my share\tx/notes", "cifs"),
        ("/home/me/notes", "btrfs"),
        ("/home/me/remote/notes", "fuse.sshfs"),
        ("/c/Users", "9p"),
        ("/", "ext4"),
    ],
)
def test_a_folder_is_on_the_innermost_mount_above_it(folder: str, expected: str) -> None:
    assert kind(folder) == expected


def test_mounts_inside_a_folder_are_found_but_not_the_folders_own() -> None:
    found = mounts_at("/home", parse(MACHINE))
    assert found.holder == Mount("/home", "btrfs")
    assert [one.point for one in found.below] == ["/home/me/crypt", "/home/me/remote"]
    assert [one.point for one in found.below if one.is_silent] == ["/home/me/remote"]


def test_of_two_mounts_at_one_point_the_later_counts() -> None:
    later = MACHINE + b"40 27 0:60 / /mnt/nas rw - tmpfs tmpfs rw\n"
    assert kind("/mnt/nas/notes", later) == "tmpfs"
    automatic = b"1 0 0:1 / /net rw - autofs auto rw\n2 1 0:2 / /net rw - nfs h:/ rw\n"
    assert kind("/net/notes", automatic) == "nfs"


@pytest.mark.parametrize(
    "silent",
    [
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "9p",
        "fuse.sshfs",
        "fuse.rclone",
        "vboxsf",
        "drvfs",
        "virtiofs",
    ],
)
def test_network_and_shared_file_systems_are_silent(silent: str) -> None:
    assert Mount("/x", silent).is_silent


@pytest.mark.parametrize(
    "telling",
    ["ext4", "btrfs", "xfs", "zfs", "tmpfs", "overlay", "fuseblk", "fuse.gocryptfs", "f2fs"],
)
def test_local_file_systems_are_not_silent(telling: str) -> None:
    assert not Mount("/x", telling).is_silent


def test_names_that_are_no_text_and_lines_that_are_no_mounts_do_no_harm() -> None:
    text = b"\n1 2 3\n - ext4\n1 0 0:1 / /a\xff\\134b\\000 rw - nfs4 x rw\n1 0 0:1 / / rw -\n"
    assert parse(text) == (Mount(os.fsdecode(b"/a\xff\\b\x00"), "nfs4"),)


def test_without_a_list_of_mounts_nothing_is_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(mounts, "_MOUNTS", tmp_path / "nothing")
    assert mounts_of(tmp_path) == Mounts()


def test_the_mount_of_a_link_is_that_of_the_folder_behind_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    real = Path(os.path.realpath(tmp_path))
    (real / "nas").mkdir()
    (real / "link").symlink_to("nas")
    table = real / "mounts"
    line = f"1 0 0:1 / / rw - ext4 x rw\n2 1 0:2 / {real}/nas rw - nfs x rw\n"
    table.write_text(line)
    monkeypatch.setattr(mounts, "_MOUNTS", table)
    assert mounts_of(real / "link").holder == Mount(f"{real}/nas", "nfs")
