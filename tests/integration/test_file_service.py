from __future__ import annotations

import errno
import os
import stat
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memoranda.errors import (
    Conflict,
    DiskFull,
    FileProblem,
    InvalidArgument,
    NoteExists,
    NoteNotFound,
    NotReady,
    OutsideProject,
    ReadOnly,
    RootMissing,
)
from memoranda.files import locks
from memoranda.files.file_service import FileService, checksum
from memoranda.files.locks import exclusive
from memoranda.files.scan import scan_folder
from memoranda.model.address import NotePath

N = NotePath


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    return tmp_path / "notes"


@pytest.fixture
def files(root: Path, tmp_path: Path) -> FileService:
    return FileService(root, tmp_path / "cfg" / "locks")


def tree(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*"))


def failing(code: int) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    return fail


# Paths


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("a.md", "a.md"),
        ("./a/./b.md", "a/b.md"),
        ("a//b.md", "a/b.md"),
        ("a/", "a"),
        ("a\\b.md", "a\\b.md"),
        ("..a/b..md", "..a/b..md"),
        ("x/~/y.md", "x/~/y.md"),
    ],
)
def test_a_path_is_cleaned(files: FileService, given: str, path: str) -> None:
    assert files.note_path(given) == path


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "//a.md", "../a.md", "a/../b.md", "a/../../x.md", "..", "~/a.md", "~"]
)
def test_a_path_that_leaves_the_folder_is_refused(files: FileService, path: str) -> None:
    for use in (files.note_path, files.resolve):
        with pytest.raises(OutsideProject):
            use(path)


@pytest.mark.parametrize("path", ["", ".", "./", "a\0.md", "a\ud800.md"])
def test_an_impossible_path_is_refused(files: FileService, path: str) -> None:
    with pytest.raises(InvalidArgument):
        files.resolve(path)


def test_links_are_resolved_and_may_not_leave_the_folder(
    files: FileService, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret.md").write_text("s")
    (tmp_path / "notes-2").mkdir()
    (root / "sub").mkdir()
    (root / "leak.md").symlink_to(tmp_path / "secret.md")
    (root / "dead.md").symlink_to(tmp_path / "not-yet.md")
    (root / "out").symlink_to(tmp_path)
    (root / "near").symlink_to(tmp_path / "notes-2")
    (root / "in").symlink_to("sub")
    assert files.resolve("in/new.md") == root / "sub" / "new.md"
    for path in ("leak.md", "dead.md", "out/secret.md", "out/new.md", "near/x.md", "out"):
        with pytest.raises(OutsideProject):
            files.resolve(path)
        if path.endswith(".md"):
            with pytest.raises(OutsideProject):
                files.read(N(path))
            with pytest.raises(OutsideProject):
                files.create(N(path), b"x")
    with pytest.raises(OutsideProject):
        files.replace(N("leak.md"), b"x", expected_checksum=None)
    with pytest.raises(OutsideProject):
        files.delete(N("leak.md"))
    assert (tmp_path / "secret.md").read_text() == "s"
    assert not (tmp_path / "not-yet.md").exists()


def test_the_folder_of_an_inner_project_is_outside(root: Path, tmp_path: Path) -> None:
    files = FileService(root, tmp_path / "locks", skips=("a/in",))
    files.create(N("a/inner.md"), b"")
    with pytest.raises(OutsideProject):
        files.create(N("a/in/x.md"), b"")


@pytest.mark.parametrize("path", ["a.txt", ".git/hooks/x.md", ".n.md", "a/.b.md", "a"])
def test_only_visible_notes_are_read_and_written(files: FileService, root: Path, path: str) -> None:
    (root / "a.txt").write_text("x")
    for act in (
        files.read,
        files.delete,
        lambda p: files.create(p, b""),
        lambda p: files.replace(p, b"", expected_checksum=None),
    ):
        with pytest.raises(InvalidArgument):
            act(N(path))
    assert tree(root) == ["a.txt"]


# Reading


def test_read_gives_bytes_and_the_state_a_scan_sees(files: FileService, root: Path) -> None:
    (root / "a.md").write_bytes(b"\xef\xbb\xbfone\r\n\0\xff")
    data, state = files.read(N("a.md"))
    assert data == b"\xef\xbb\xbfone\r\n\0\xff"
    assert (state,) == scan_folder(root).files


def test_reading_changes_nothing(files: FileService, root: Path) -> None:
    (root / "a.md").write_text("x")
    before = (root / "a.md").stat()
    files.read(N("a.md"))
    after = (root / "a.md").stat()
    assert (before.st_mtime_ns, before.st_ctime_ns) == (after.st_mtime_ns, after.st_ctime_ns)


def test_a_missing_note_is_told_from_a_missing_folder(files: FileService, root: Path) -> None:
    with pytest.raises(NoteNotFound):
        files.read(N("a.md"))
    (root / "f.md").write_text("x")
    with pytest.raises(NoteNotFound):
        files.read(N("f.md/a.md"))
    (root / "f.md").unlink()
    root.rmdir()
    for act in (files.read, files.delete, lambda p: files.create(p, b"")):
        with pytest.raises(RootMissing):
            act(N("a.md"))
    with pytest.raises(RootMissing):
        files.replace(N("a.md"), b"", expected_checksum=None)
    assert not root.exists()


def test_folders_and_pipes_are_not_read(files: FileService, root: Path) -> None:
    (root / "d.md").mkdir()
    os.mkfifo(root / "pipe.md")
    for path in ("d.md", "pipe.md"):
        with pytest.raises(FileProblem, match="not a regular file"):
            files.read(N(path))
        with pytest.raises(FileProblem, match="not a regular file"):
            files.replace(N(path), b"", expected_checksum=None)
        assert not files.exists(N(path))


def test_the_reader_of_many_gives_what_read_gives(files: FileService, root: Path) -> None:
    paths = ["a.md", "x/b.md", "x/y/c.md", "x/empty.md", "x/d.md", "lin/b.md", "link.md"]
    (root / "x" / "y").mkdir(parents=True)
    for path in paths[:5]:
        (root / path).write_bytes(b"" if "empty" in path else path.encode() * 9)
    (root / "lin").symlink_to("x")
    (root / "link.md").symlink_to("x/y/c.md")
    reader = files.reader()
    for path in paths:
        assert reader.read(N(path)) == files.read(N(path))
        assert reader.read(N(path))[1].path == path


def test_the_reader_of_many_refuses_what_read_refuses(
    files: FileService, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "s.md").write_bytes(b"secret")
    (root / "way").symlink_to(tmp_path / "out")
    (root / "leak.md").symlink_to(tmp_path / "out" / "s.md")
    (root / "own.md").symlink_to("own.md")
    (root / "d.md").mkdir()
    os.mkfifo(root / "pipe.md")
    (root / "to-pipe.md").symlink_to("pipe.md")
    (root / "t.txt").write_bytes(b"text")
    (root / "file").write_bytes(b"")
    reader = files.reader()
    for path, kind in {
        "way/s.md": OutsideProject,
        "leak.md": OutsideProject,
        "../out/s.md": OutsideProject,
        "/etc/x.md": OutsideProject,
        "own.md": FileProblem,
        "d.md": FileProblem,
        "pipe.md": FileProblem,
        "to-pipe.md": FileProblem,
        "none.md": NoteNotFound,
        "none/none.md": NoteNotFound,
        "file/none.md": NoteNotFound,
        "t.txt": InvalidArgument,
        ".h.md": InvalidArgument,
        "": InvalidArgument,
    }.items():
        for read in (files.read, reader.read):
            with pytest.raises(kind):
                read(N(path))


def test_the_reader_of_many_does_not_follow_what_became_a_link_out(
    files: FileService, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret.md").write_bytes(b"secret")
    (root / "a.md").write_bytes(b"mine")
    reader = files.reader()
    assert reader.read(N("a.md"))[0] == b"mine"
    (root / "a.md").unlink()
    (root / "a.md").symlink_to(tmp_path / "secret.md")
    with pytest.raises(OutsideProject):
        reader.read(N("a.md"))


def test_the_reader_of_many_says_when_the_root_is_gone(files: FileService, root: Path) -> None:
    reader = files.reader()
    root.rmdir()
    with pytest.raises(RootMissing):
        reader.read(N("a.md"))


def test_the_path_of_a_link_to_what_is_no_note_by_name_is_its_own(
    files: FileService, root: Path
) -> None:
    (root / "text.txt").write_bytes(b"text")
    (root / "n.md").symlink_to("text.txt")
    (root / "a.md").write_bytes(b"note")
    (root / "b.md").symlink_to("a.md")
    assert (files.canonical(N("n.md")), files.canonical(N("b.md"))) == ("n.md", "a.md")


def test_a_file_written_in_place_meanwhile_is_read_again(
    files: FileService, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a.md").write_bytes(b"old!")
    reading, changes = os.read, [b"same", b"size", b"longer"]

    def read(fd: int, size: int) -> bytes:
        data = reading(fd, size)
        if data and changes:
            (root / "a.md").write_bytes(changes.pop(0))
            os.utime(root / "a.md", ns=(0, len(changes)))
        return data

    monkeypatch.setattr(os, "read", read)
    data, state = files.read(N("a.md"))
    assert (data, state.size) == (b"longer", 6)


def test_a_file_that_comes_in_pieces_is_read_whole(
    files: FileService, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a.md").write_bytes(b"in pieces")
    reading = os.read
    monkeypatch.setattr(os, "read", lambda fd, size: reading(fd, min(size, 2)))
    assert files.read(N("a.md"))[0] == b"in pieces"


def test_a_file_that_was_cut_for_a_moment_is_read_again(
    files: FileService, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a.md").write_bytes(b"whole")
    reading, answers = os.read, [b"wh", b""]
    monkeypatch.setattr(
        os, "read", lambda fd, size: answers.pop(0) if answers else reading(fd, size)
    )
    assert files.read(N("a.md"))[0] == b"whole"


def test_a_file_that_never_stops_changing_is_a_problem(
    files: FileService, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a.md").write_bytes(b"old")
    reading = os.read

    def read(fd: int, size: int) -> bytes:
        with (root / "a.md").open("ab") as file:
            file.write(b"x")
        return reading(fd, 3)

    monkeypatch.setattr(os, "read", lambda fd, size: read(fd, size)[:0])
    with pytest.raises(FileProblem, match="being written"):
        files.read(N("a.md"))


def test_a_read_beside_replaces_gives_one_whole_version(files: FileService, root: Path) -> None:
    versions = [bytes([65 + i]) * (1000 + 7000 * i) for i in range(4)]
    files.create(N("a.md"), versions[0])
    done = threading.Event()

    def write() -> None:
        for i in range(60):
            files.replace(N("a.md"), versions[i % 4], expected_checksum=None)
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    reads = 0
    while not done.is_set() or reads < 50:
        data, state = files.read(N("a.md"))
        assert data in versions
        assert state.size == len(data)
        reads += 1
    writer.join()


@pytest.mark.parametrize("code", [errno.EIO, errno.EACCES, errno.ELOOP])
def test_a_read_error_names_the_note_and_no_absolute_path(
    files: FileService, root: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    (root / "a.md").write_text("x")
    monkeypatch.setattr(os, "open", failing(code))
    with pytest.raises(FileProblem) as caught:
        files.read(N("a.md"))
    assert caught.value.path == "a.md"
    assert os.strerror(code) in caught.value.message
    assert str(root) not in caught.value.message


# Creating


def test_create_makes_folders_and_exactly_one_file(files: FileService, root: Path) -> None:
    state = files.create(N("x/y/a.md"), b"text")
    assert (root / "x/y/a.md").read_bytes() == b"text"
    assert tree(root) == ["x", "x/y", "x/y/a.md"]
    assert (state,) == scan_folder(root).files


def test_a_new_file_has_the_usual_mode(files: FileService, root: Path) -> None:
    old = os.umask(0o027)
    try:
        files.create(N("a.md"), b"")
    finally:
        os.umask(old)
    assert stat.S_IMODE((root / "a.md").stat().st_mode) == 0o640
    assert (root / "a.md").stat().st_nlink == 1


@pytest.mark.spec("13.4")
def test_create_never_touches_what_is_there(files: FileService, root: Path) -> None:
    (root / "a.md").write_text("old")
    (root / "d.md").mkdir()
    (root / "dead.md").symlink_to("nothing.txt")
    for path in ("a.md", "d.md"):
        with pytest.raises(NoteExists):
            files.create(N(path), b"new")
    assert (root / "a.md").read_text() == "old"
    assert tree(root) == ["a.md", "d.md", "dead.md"]


def test_a_case_variant_is_another_file_or_taken_but_never_overwritten(
    files: FileService, root: Path
) -> None:
    (root / "Ideas.md").write_text("hand made")
    try:
        files.create(N("ideas.md"), b"new")
    except NoteExists:
        assert (root / "ideas.md").exists()  # a file system that ignores case
    else:
        assert tree(root) == ["Ideas.md", "ideas.md"]
    assert (root / "Ideas.md").read_text() == "hand made"


def test_one_of_many_creators_wins(files: FileService, root: Path) -> None:
    outcomes: list[str] = []
    start = threading.Barrier(8)

    def create(number: int) -> None:
        start.wait()
        try:
            files.create(N("x/same.md"), b"%d" % number * 1000)
            outcomes.append("won")
        except NoteExists:
            outcomes.append("refused")

    threads = [threading.Thread(target=create, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["refused"] * 7 + ["won"]
    assert len(set((root / "x/same.md").read_bytes())) == 1
    assert tree(root) == ["x", "x/same.md"]


@pytest.mark.parametrize("code", [errno.EPERM, errno.EOPNOTSUPP])
def test_without_hard_links_create_still_never_overwrites(
    files: FileService, root: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    monkeypatch.setattr(os, "link", failing(code))
    files.create(N("a.md"), b"one")
    with pytest.raises(NoteExists):
        files.create(N("a.md"), b"two")
    assert (root / "a.md").read_bytes() == b"one"
    assert tree(root) == ["a.md"]


def test_a_file_in_place_of_a_folder_is_the_callers_mistake(files: FileService, root: Path) -> None:
    (root / "a.md").write_text("x")
    with pytest.raises(InvalidArgument, match="is a file"):
        files.create(N("a.md/b/c.md"), b"")
    assert tree(root) == ["a.md"]


def test_a_name_too_long_is_the_callers_mistake(files: FileService, root: Path) -> None:
    for path in ("x" * 253 + ".md", "y/" + "x" * 253 + ".md", "x" * 300 + "/y.md"):
        with pytest.raises(InvalidArgument):
            files.create(N(path), b"")
    with pytest.raises(InvalidArgument):
        files.read(N("x" * 300 + ".md"))
    assert tree(root) == []


# Replacing


def test_replace_keeps_mode_and_swaps_whole_bytes(files: FileService, root: Path) -> None:
    (root / "a.md").write_text("a much longer old text")
    (root / "a.md").chmod(0o604)
    inode = (root / "a.md").stat().st_ino
    state = files.replace(N("a.md"), b"new", expected_checksum=None)
    assert (root / "a.md").read_bytes() == b"new"
    assert stat.S_IMODE((root / "a.md").stat().st_mode) == 0o604
    assert (root / "a.md").stat().st_ino != inode
    assert tree(root) == ["a.md"]
    assert (state,) == scan_folder(root).files


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_replace_as_root_keeps_the_owner(files: FileService, root: Path) -> None:
    (root / "a.md").write_text("x")
    os.chown(root / "a.md", 1234, 2345)
    (root / "a.md").chmod(0o640)
    files.replace(N("a.md"), b"new", expected_checksum=None)
    status = (root / "a.md").stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (1234, 2345, 0o640)


def test_replace_with_the_expected_checksum(files: FileService, root: Path) -> None:
    (root / "a.md").write_bytes(b"seen")
    files.replace(N("a.md"), b"next", expected_checksum=checksum(b"seen"))
    with pytest.raises(Conflict) as caught:
        files.replace(N("a.md"), b"lost", expected_checksum=checksum(b"seen"))
    assert caught.value.checksum == checksum(b"next")
    assert (root / "a.md").read_bytes() == b"next"
    assert tree(root) == ["a.md"]


def test_a_change_while_the_new_bytes_are_written_is_a_conflict(
    files: FileService, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a.md").write_bytes(b"seen")
    syncing = os.fsync

    def fsync(fd: int) -> None:
        syncing(fd)
        (root / "a.md").write_bytes(b"by an editor")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(Conflict):
        files.replace(N("a.md"), b"lost", expected_checksum=checksum(b"seen"))
    assert (root / "a.md").read_bytes() == b"by an editor"
    assert tree(root) == ["a.md"]


def test_a_save_after_the_last_look_at_the_bytes_is_a_conflict(
    files: FileService, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a.md").write_bytes(b"seen")
    saved = iter([b"by an editor"])

    def checksum_of(data: bytes) -> str:
        for text in saved:
            (root / "a.md").write_bytes(text)
        return checksum(data)

    monkeypatch.setattr("memoranda.files.file_service.checksum", checksum_of)
    with pytest.raises(Conflict):
        files.replace(N("a.md"), b"lost", expected_checksum=checksum(b"seen"))
    saved = iter([b"seen"])
    with pytest.raises(Conflict):
        files.delete(N("a.md"), expected_checksum=checksum(b"by an editor"))
    assert (root / "a.md").read_bytes() == b"seen"
    assert tree(root) == ["a.md"]


def test_a_token_names_the_temporary_file(
    files: FileService, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    syncing = os.fsync

    def fsync(fd: int) -> None:
        seen.extend(path.name for path in root.iterdir() if path.suffix == ".tmp")
        syncing(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    files.create(N("a.md"), b"one", token="0123456789abcdef")
    files.replace(N("a.md"), b"two", expected_checksum=None, token="fedcba9876543210")
    assert seen == [".0123456789abcdef.tmp", ".fedcba9876543210.tmp"]


def test_a_leftover_is_removed_by_its_token_beside_the_note_it_was_for(
    files: FileService, root: Path
) -> None:
    (root / "store").mkdir()
    (root / "store" / "real.md").write_bytes(b"x")
    (root / "a.md").symlink_to("store/real.md")
    for token in ("one", "two"):
        (root / "store" / f".{token}.tmp").write_bytes(b"half")
    files.remove_leftover(N("a.md"), "one")
    files.remove_leftover(N("a.md"), "none")
    files.remove_leftover(N("no/such/folder.md"), "two")
    assert tree(root) == ["a.md", "store", "store/.two.tmp", "store/real.md"]


def test_every_write_is_on_the_disk_before_it_takes_effect_and_its_name_after(
    files: FileService, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []

    def noted(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*given: Any, **how: Any) -> Any:
            if name == "flush":
                is_folder = stat.S_ISDIR(os.fstat(given[0]).st_mode)
                steps.append("flush folder" if is_folder else "flush file")
            elif name != "remove" or given[0].suffix != ".tmp":
                steps.append(name)
            return real(*given, **how)

        return step

    monkeypatch.setattr(os, "fsync", noted("flush", os.fsync))
    monkeypatch.setattr(os, "link", noted("link", os.link))
    monkeypatch.setattr(Path, "replace", noted("rename", Path.replace))
    monkeypatch.setattr(Path, "unlink", noted("remove", Path.unlink))
    files.create(N("a.md"), b"one")
    assert steps == ["flush file", "link", "flush folder"]
    steps.clear()
    files.replace(N("a.md"), b"two", expected_checksum=checksum(b"one"))
    assert steps == ["flush file", "rename", "flush folder"]
    steps.clear()
    files.delete(N("a.md"), expected_checksum=checksum(b"two"))
    assert steps == ["remove", "flush folder"]
    steps.clear()
    files.create(N("x/y/a.md"), b"one")
    assert steps == ["flush folder", "flush folder", "flush file", "link", "flush folder"]


def test_replace_of_a_missing_note_makes_none(files: FileService, root: Path) -> None:
    for expected in (None, checksum(b"")):
        with pytest.raises(NoteNotFound):
            files.replace(N("a.md"), b"x", expected_checksum=expected)
    assert tree(root) == []


@pytest.fixture
def attributes(root: Path) -> dict[str, bytes]:
    """What a note is marked with: a mark of the user and an access list for user 1000."""
    entries = [(1, 6, -1), (2, 4, 1000), (4, 4, -1), (16, 4, -1), (32, 0, -1)]
    access = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
    wanted = {"user.xdg.tags": b"important", "system.posix_acl_access": access}
    (root / "a.md").write_bytes(b"old")
    try:
        for name, value in wanted.items():
            os.setxattr(root / "a.md", name, value)
    except (OSError, AttributeError):
        pytest.skip("no extended attributes or access lists here")
    return wanted


def attributes_of(file: Path) -> dict[str, bytes]:
    return {name: os.getxattr(file, name) for name in os.listxattr(file)}


def test_replace_keeps_extended_attributes_and_access_lists(
    files: FileService, root: Path, attributes: dict[str, bytes]
) -> None:
    mode = (root / "a.md").stat().st_mode
    files.replace(N("a.md"), b"new", expected_checksum=None)
    assert (root / "a.md").read_bytes() == b"new"
    assert attributes_of(root / "a.md") == attributes
    assert (root / "a.md").stat().st_mode == mode


@pytest.mark.parametrize("code", [errno.EPERM, errno.ENOTSUP, errno.EACCES])
def test_attributes_that_only_the_system_may_set_are_left_out(
    files: FileService,
    root: Path,
    attributes: dict[str, bytes],
    monkeypatch: pytest.MonkeyPatch,
    code: int,
) -> None:
    setting = os.setxattr

    def setxattr(file: Any, name: str, value: bytes) -> None:
        if not name.startswith("user."):
            raise OSError(code, os.strerror(code))
        setting(file, name, value)

    monkeypatch.setattr(os, "setxattr", setxattr)
    files.replace(N("a.md"), b"new", expected_checksum=None)
    assert list(attributes_of(root / "a.md")) == ["user.xdg.tags"]


@pytest.mark.parametrize(("code", "kind"), [(errno.ENOSPC, DiskFull), (errno.EPERM, ReadOnly)])
def test_a_mark_of_the_user_that_cannot_be_kept_refuses_the_write(
    files: FileService,
    root: Path,
    attributes: dict[str, bytes],
    monkeypatch: pytest.MonkeyPatch,
    code: int,
    kind: type[Exception],
) -> None:
    monkeypatch.setattr(os, "setxattr", failing(code))
    with pytest.raises(kind):
        files.replace(N("a.md"), b"new", expected_checksum=None)
    assert attributes_of(root / "a.md") == attributes
    assert (root / "a.md").read_bytes() == b"old"
    assert tree(root) == ["a.md"]


@pytest.mark.skipif(not hasattr(os, "listxattr"), reason="no extended attributes here")
def test_attributes_that_vouch_for_the_bytes_are_not_given_to_other_bytes(
    files: FileService, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a.md").write_bytes(b"old")
    names = ["security.ima", "security.selinux", "user.gone"]
    given: list[str] = []

    def getxattr(_file: Any, name: str) -> bytes:
        if name == "user.gone":
            raise OSError(errno.ENODATA, "removed just now")
        return b"value"

    monkeypatch.setattr(os, "listxattr", lambda _: names)
    monkeypatch.setattr(os, "getxattr", getxattr)
    monkeypatch.setattr(os, "setxattr", lambda _file, name, _value: given.append(name))
    files.replace(N("a.md"), b"new", expected_checksum=None)
    assert given == ["security.selinux"]


@pytest.mark.skipif(not hasattr(os, "listxattr"), reason="no extended attributes here")
def test_replace_works_where_there_are_no_attributes(
    files: FileService, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a.md").write_bytes(b"old")
    monkeypatch.setattr(os, "listxattr", failing(errno.ENOTSUP))
    files.replace(N("a.md"), b"new", expected_checksum=None)
    assert (root / "a.md").read_bytes() == b"new"


def test_replace_through_a_link_writes_its_target(files: FileService, root: Path) -> None:
    (root / "store").mkdir()
    (root / "store/real.md").write_text("old")
    (root / "a.md").symlink_to("store/real.md")
    state = files.replace(N("a.md"), b"new", expected_checksum=checksum(b"old"))
    assert (root / "a.md").is_symlink()
    assert (root / "store/real.md").read_bytes() == b"new"
    assert state.path == "a.md"
    assert tree(root) == ["a.md", "store", "store/real.md"]


def test_a_read_only_note_is_not_written(
    files: FileService, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a.md").write_text("old")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(ReadOnly):
        files.replace(N("a.md"), b"new", expected_checksum=None)
    assert (root / "a.md").read_text() == "old"


# Failures


@pytest.mark.parametrize("call", ["write", "fsync", "open"])
@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (errno.ENOSPC, DiskFull),
        (errno.EDQUOT, DiskFull),
        (errno.EROFS, ReadOnly),
        (errno.EACCES, ReadOnly),
        (errno.EIO, FileProblem),
    ],
)
def test_a_failed_write_leaves_the_folder_as_it_was(
    files: FileService,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    call: str,
    code: int,
    kind: type[Exception],
) -> None:
    (root / "a.md").write_text("keep me")
    before = (root / "a.md").stat()
    monkeypatch.setattr(os, call, failing(code))
    with pytest.raises(kind):
        files.replace(N("a.md"), b"new", expected_checksum=None)
    with pytest.raises(kind):
        files.create(N("new/folder/b.md"), b"new")
    monkeypatch.undo()
    assert tree(root) == ["a.md"]
    assert (root / "a.md").stat() == before
    files.replace(N("a.md"), b"works again", expected_checksum=None)


def test_short_writes_are_continued(
    files: FileService, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: writing(fd, bytes(data)[:3]))
    files.create(N("a.md"), b"0123456789")
    assert (root / "a.md").read_bytes() == b"0123456789"


@pytest.mark.parametrize("step", ["rename", "link"])
def test_a_failure_at_the_last_step_leaves_no_temporary_file(
    files: FileService, root: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    (root / "a.md").write_text("keep me")
    if step == "rename":
        monkeypatch.setattr(Path, "replace", failing(errno.EIO))
        with pytest.raises(FileProblem):
            files.replace(N("a.md"), b"new", expected_checksum=None)
        monkeypatch.setattr(os, "link", failing(errno.EPERM))
    else:
        monkeypatch.setattr(os, "link", failing(errno.EIO))
    with pytest.raises(FileProblem):
        files.create(N("x/b.md"), b"new")
    assert tree(root) == ["a.md"]
    assert (root / "a.md").read_text() == "keep me"


def test_a_killed_writer_leaves_the_old_note_and_nothing_a_scan_sees(
    files: FileService, root: Path, tmp_path: Path
) -> None:
    (root / "a.md").write_text("keep me")
    code = (
        "import os, sys; from pathlib import Path\n"
        "from memoranda.files.file_service import FileService\n"
        "os.fsync = lambda fd: os._exit(9)\n"
        "FileService(Path(sys.argv[1]), Path(sys.argv[2])).replace('a.md', b'new', "
        "expected_checksum=None)"
    )
    process = subprocess.run([sys.executable, "-c", code, root, tmp_path / "locks"])
    assert process.returncode == 9
    assert (root / "a.md").read_text() == "keep me"
    assert [state.path for state in scan_folder(root).files] == ["a.md"]
    assert scan_folder(root).skipped == ()


# Deleting


def test_delete_removes_the_file_and_keeps_the_folder(files: FileService, root: Path) -> None:
    files.create(N("x/a.md"), b"")
    files.delete(N("x/a.md"))
    assert tree(root) == ["x"]
    with pytest.raises(NoteNotFound):
        files.delete(N("x/a.md"))


def test_delete_of_a_link_removes_the_link_alone(files: FileService, root: Path) -> None:
    (root / "real.md").write_text("x")
    (root / "a.md").symlink_to("real.md")
    files.delete(N("a.md"))
    assert tree(root) == ["real.md"]


def test_delete_with_the_expected_checksum(files: FileService, root: Path) -> None:
    (root / "a.md").write_bytes(b"now")
    with pytest.raises(Conflict) as caught:
        files.delete(N("a.md"), expected_checksum=checksum(b"seen"))
    assert caught.value.checksum == checksum(b"now")
    assert files.current(N("a.md")) == b"now"
    files.delete(N("a.md"), expected_checksum=checksum(b"now"))
    assert files.current(N("a.md")) is None
    with pytest.raises(NoteNotFound):
        files.delete(N("a.md"), expected_checksum=checksum(b"now"))


def test_delete_of_a_folder_is_refused(files: FileService, root: Path) -> None:
    (root / "d.md").mkdir()
    with pytest.raises(FileProblem):
        files.delete(N("d.md"))


# Locks


def test_the_lock_excludes_threads(files: FileService) -> None:
    files.create(N("a.md"), b"")

    def append() -> None:
        for _ in range(5):
            with files.locked(N("a.md")):
                data, _state = files.read(N("a.md"))
                files.replace(N("a.md"), data + b"x", expected_checksum=None)

    threads = [threading.Thread(target=append) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert files.read(N("a.md"))[0] == b"x" * 20


def test_the_lock_excludes_processes_and_ends_with_them(
    files: FileService, root: Path, tmp_path: Path
) -> None:
    locks = tmp_path / "cfg" / "locks"
    code = (
        "import os, sys; from pathlib import Path\n"
        "from memoranda.files.file_service import FileService\n"
        "with FileService(Path(sys.argv[1]), Path(sys.argv[2])).locked('a.md'):\n"
        "    print('held', flush=True); sys.stdin.read(1); os._exit(0)"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, root, locks], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert holder.stdin is not None
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(NotReady), exclusive("a.md", locks, timeout_s=0):
        pass
    with files.locked(N("b.md")):
        pass
    holder.communicate(b"x")
    with files.locked(N("a.md")):
        pass


def test_spellings_of_one_file_share_a_lock(files: FileService, root: Path, tmp_path: Path) -> None:
    (root / "Café.md").write_text("x")
    (root / "link.md").symlink_to("Café.md")
    with files.locked(N("link.md")):
        for path in ("Café.md", "cafe\u0301.md", "CAFÉ.MD"):
            with pytest.raises(NotReady), exclusive(path, tmp_path / "cfg/locks", timeout_s=0):
                pass


def test_a_lock_can_be_released_by_another_thread(files: FileService) -> None:
    lock = files.locked(N("a.md"))
    taker = threading.Thread(target=lock.__enter__)
    taker.start()
    taker.join()
    lock.__exit__(None, None, None)
    with files.locked(N("a.md")):
        pass


def test_who_waits_for_a_lock_whose_file_is_removed_takes_the_new_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, waits = tmp_path / "locks", threading.Event()
    sleeping = time.sleep

    def sleep(seconds: float) -> None:
        waits.set()
        sleeping(seconds)

    def wait() -> None:
        with exclusive("a.md", folder):
            (file,) = folder.iterdir()
            inode.append(file.stat().st_ino)
            with pytest.raises(NotReady), exclusive("a.md", folder, timeout_s=0):
                pass

    monkeypatch.setattr("memoranda.files.locks.time.sleep", sleep)
    inode: list[int] = []
    waiter = threading.Thread(target=wait)
    with exclusive("a.md", folder):
        waiter.start()
        assert waits.wait(20)
        (file,) = folder.iterdir()
        file.unlink()
    waiter.join()
    (file,) = folder.iterdir()
    assert inode == [file.stat().st_ino]


def test_a_lock_is_given_back_while_a_child_still_has_its_descriptor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening, copies = locks._opened, []

    def opened(file: Path) -> int:
        fd = opening(file)
        copies.append(os.dup(fd))
        return fd

    monkeypatch.setattr(locks, "_opened", opened)
    for _ in range(2):
        with exclusive("a.md", tmp_path, timeout_s=0):
            pass
    for fd in copies:
        os.close(fd)


def test_a_lock_waits_no_longer_than_it_is_told(files: FileService) -> None:
    with files.locked(N("a.md")):
        for timeout_s in (0, 0.01):
            with pytest.raises(NotReady), files.locked(N("a.md"), timeout_s=timeout_s):
                pass


def test_locks_leave_the_notes_folder_alone(files: FileService, root: Path, tmp_path: Path) -> None:
    with files.locked(N("x/a.md")):
        assert tree(root) == []
    assert stat.S_IMODE((tmp_path / "cfg" / "locks").stat().st_mode) == 0o700
