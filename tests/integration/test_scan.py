from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from memoranda.errors import RootMissing
from memoranda.files.scan import scan_folder
from memoranda.model.sync import Scan


def make(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)


def paths(scan: Scan) -> list[str]:
    return [state.path for state in scan.files]


def reasons(scan: Scan) -> dict[str, str]:
    return {skipped.path: skipped.reason for skipped in scan.skipped}


@pytest.mark.spec("4.2")
def test_notes_are_found_in_all_folders_sorted_with_their_state(tmp_path: Path) -> None:
    make(tmp_path, "b.md", "a/z.md", "a/b/c.md", "a-b.md", "Ä/ö.md", "N.MD", "x.Md")
    scan = scan_folder(tmp_path)
    assert paths(scan) == sorted(["b.md", "a/z.md", "a/b/c.md", "a-b.md", "Ä/ö.md", "N.MD", "x.Md"])
    assert scan.skipped == ()
    for state in scan.files:
        status = (tmp_path / state.path).stat()
        assert (state.size, state.mtime_ns, state.ctime_ns, state.inode) == (
            status.st_size,
            status.st_mtime_ns,
            status.st_ctime_ns,
            status.st_ino,
        )


def test_hidden_temporary_and_other_files_are_left_out(tmp_path: Path) -> None:
    make(
        tmp_path,
        "n.md",
        "n.sync-conflict-20260101-120000-ABC.md",
        *(".obsidian/x.md", ".trash/y.md", ".git/z.md", "node_modules/m/README.md"),
        *("n.md~", ".n.md.swp", "#n.md#", ".n.md.icloud", "n.md.tmp", ".syncthing.n.md.tmp"),
        *("~$n.md", "._n.md", "n.markdown", "n.txt", "md", ".md", "nmd", "UPPER.MD"),
    )
    scan = scan_folder(tmp_path)
    assert paths(scan) == ["UPPER.MD", "n.md", "n.sync-conflict-20260101-120000-ABC.md"]
    assert reasons(scan) == {".md": "hidden", "node_modules": "not a folder of notes"}


def test_a_folder_whose_name_ends_like_a_note_is_a_folder(tmp_path: Path) -> None:
    make(tmp_path, "x.md/y.md")
    assert paths(scan_folder(tmp_path)) == ["x.md/y.md"]


def test_a_named_pipe_is_no_note(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    scan = scan_folder(tmp_path)
    assert (paths(scan), reasons(scan)) == ([], {"pipe.md": "not a regular file"})


def test_a_name_that_is_not_unicode_is_listed_and_harms_nothing(tmp_path: Path) -> None:
    make(tmp_path, "ok.md")
    try:
        (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("latin")
        (tmp_path / os.fsdecode(b"dir\xe9")).mkdir()
    except OSError:
        pytest.skip("the file system takes Unicode names only")
    make(tmp_path / os.fsdecode(b"dir\xe9"), "in.md")
    scan = scan_folder(tmp_path)
    assert paths(scan) == ["ok.md"]
    assert reasons(scan) == dict.fromkeys(["caf�.md", "dir�"], "the name is not valid Unicode")


def test_folders_of_other_projects_are_left_out(tmp_path: Path) -> None:
    make(tmp_path, "a/in/x.md", "a/inner/y.md", "in/z.md")
    (tmp_path / "way").symlink_to("a/in")
    (tmp_path / "one.md").symlink_to("a/in/x.md")
    scan = scan_folder(tmp_path, skips=("a/in",))
    assert paths(scan) == ["a/inner/y.md", "in/z.md"]
    assert sorted(reasons(scan)) == ["a/in", "one.md", "way"]
    assert not any(skipped.holds_notes for skipped in scan.skipped)


def test_links_lead_neither_out_of_the_folder_nor_in_circles(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    make(root, "real.md", "sub/x.md", "loop/l.md")
    make(tmp_path, "secret.md", "outside/o.md", "notes-2/other.md")
    (root / "leak.md").symlink_to(tmp_path / "secret.md")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "near").symlink_to(tmp_path / "notes-2")
    (root / "loop/self").symlink_to(root / "loop")
    (root / "sub/back").symlink_to("..")
    (root / "twin.md").symlink_to("real.md")
    (root / "dead.md").symlink_to("nowhere")
    (root / "dead-folder").symlink_to("nowhere")
    (root / ".#real.md").symlink_to("me@host.123")
    (root / "own.md").symlink_to("own.md")
    scan = scan_folder(root)
    assert paths(scan) == ["loop/l.md", "real.md", "sub/x.md"]
    assert {p: r for p, r in reasons(scan).items() if p != "own.md"} == {
        "dead.md": "a link to nothing",
        "leak.md": "a link out of the project",
        "loop/self": "the same folder as loop",
        "near": "a link out of the project",
        "out": "a link out of the project",
        "sub/back": "the same folder as the project",
        "twin.md": "the same file as real.md",
    }
    assert "own.md" in reasons(scan)


@pytest.mark.parametrize("name", ["a-link", "z-link"])
def test_the_real_place_wins_whatever_the_order(tmp_path: Path, name: str) -> None:
    make(tmp_path, "m/deep/n.md", "k.md")
    (tmp_path / name).symlink_to("m/deep")
    (tmp_path / f"{name}.md").symlink_to("k.md")
    scan = scan_folder(tmp_path)
    assert paths(scan) == ["k.md", "m/deep/n.md"]
    assert reasons(scan) == {
        name: "the same folder as m/deep",
        f"{name}.md": "the same file as k.md",
    }


def test_what_is_reached_by_links_alone_is_taken_once_by_the_first(tmp_path: Path) -> None:
    make(tmp_path, ".store/n.md", ".store/deep/o.md", "text.txt")
    (tmp_path / "b").symlink_to(".store")
    (tmp_path / "c").symlink_to(".store")
    (tmp_path / "d.md").symlink_to(".store/n.md")
    (tmp_path / "e.md").symlink_to("text.txt")
    (tmp_path / "f.md").symlink_to("text.txt")
    (tmp_path / ".store/back").symlink_to("..")
    scan = scan_folder(tmp_path)
    assert paths(scan) == ["b/deep/o.md", "b/n.md", "e.md"]
    assert reasons(scan) == {
        "b/back": "the same folder as the project",
        "c": "the same folder as b",
        "d.md": "the same file as b/n.md",
        "f.md": "the same file as e.md",
    }


def test_the_state_of_a_linked_note_is_that_of_its_target(tmp_path: Path) -> None:
    make(tmp_path, "text.txt")
    (tmp_path / "n.md").symlink_to("text.txt")
    (state,) = scan_folder(tmp_path).files
    assert state.inode == (tmp_path / "text.txt").stat().st_ino
    assert state.size == len("text.txt")


def test_hard_links_are_notes_of_their_own(tmp_path: Path) -> None:
    make(tmp_path, "a.md")
    os.link(tmp_path / "a.md", tmp_path / "b.md")
    assert paths(scan_folder(tmp_path)) == ["a.md", "b.md"]


def test_the_root_may_be_a_link(tmp_path: Path) -> None:
    make(tmp_path, "real/a.md")
    (tmp_path / "root").symlink_to("real")
    (tmp_path / "real/twin.md").symlink_to("a.md")
    (tmp_path / "real/store.md").symlink_to("store.txt")
    make(tmp_path, "real/store.txt")
    scan = scan_folder(tmp_path / "root")
    assert paths(scan) == ["a.md", "store.md"]
    assert reasons(scan) == {"twin.md": "the same file as a.md"}


def test_deep_folders_need_no_recursion(tmp_path: Path) -> None:
    folders = [tmp_path / "/".join("d" * depth) for depth in range(1, 301)]
    for folder in folders:
        folder.mkdir()
    (folders[-1] / "n.md").write_text("deep")
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(250)
    try:
        scan = scan_folder(tmp_path)
    finally:
        sys.setrecursionlimit(limit)
    assert [path.count("/") for path in paths(scan)] == [300]


@pytest.fixture
def trouble(monkeypatch: pytest.MonkeyPatch) -> dict[str, OSError]:
    """Folder name -> error that listing it raises; also without root's blindness to permissions."""
    errors: dict[str, OSError] = {}
    listing = os.scandir

    def scandir(path: Any) -> Any:
        if (error := errors.get(Path(path).name)) is not None:
            raise error
        return listing(path)

    monkeypatch.setattr(os, "scandir", scandir)
    return errors


def test_an_unreadable_folder_is_listed_as_holding_notes(
    tmp_path: Path, trouble: dict[str, OSError]
) -> None:
    make(tmp_path, "ok.md", "dir/a.md")
    trouble["dir"] = PermissionError(13, "Permission denied")
    scan = scan_folder(tmp_path)
    assert paths(scan) == ["ok.md"]
    (skipped,) = scan.skipped
    assert (skipped.path, skipped.holds_notes) == ("dir", True)
    assert "Permission denied" in skipped.reason


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind root")
def test_a_folder_without_permission_is_listed_as_holding_notes(tmp_path: Path) -> None:
    make(tmp_path, "ok.md", "dir/a.md")
    (tmp_path / "dir").chmod(0)
    try:
        scan = scan_folder(tmp_path)
    finally:
        (tmp_path / "dir").chmod(0o700)
    assert [(s.path, s.holds_notes) for s in scan.skipped] == [("dir", True)]


def test_a_folder_that_vanishes_meanwhile_is_no_problem(
    tmp_path: Path, trouble: dict[str, OSError]
) -> None:
    make(tmp_path, "ok.md", "gone/a.md")
    trouble["gone"] = FileNotFoundError(2, "No such file or directory")
    scan = scan_folder(tmp_path)
    assert [file.path for file in scan.files] == ["ok.md"]
    assert scan.skipped == ()


def test_a_file_whose_state_cannot_be_had_is_listed_as_holding_notes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Entry:
        def __init__(self, name: str, error: OSError) -> None:
            self.name, self.error = name, error

        def is_file(self, *, follow_symlinks: bool) -> bool:
            return True

        def stat(self, *, follow_symlinks: bool) -> None:
            raise self.error

    class Listing:
        def __enter__(self) -> list[Entry]:
            return [
                Entry("io.md", OSError(5, "Input/output error")),
                Entry("gone.md", FileNotFoundError(2, "No such file or directory")),
            ]

        def __exit__(self, *_: object) -> None: ...

    monkeypatch.setattr(os, "scandir", lambda path: Listing())
    scan = scan_folder(tmp_path)
    assert [(s.path, s.holds_notes) for s in scan.skipped] == [("io.md", True)]


def test_a_missing_root_is_an_error_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(RootMissing, match="is not there") as caught:
        scan_folder(tmp_path / "gone")
    assert caught.value.hint
    assert caught.value.path == str(tmp_path / "gone")


def test_a_file_as_root_is_an_error(tmp_path: Path) -> None:
    make(tmp_path, "file")
    with pytest.raises(RootMissing, match="is not a folder"):
        scan_folder(tmp_path / "file")


def test_an_unreadable_root_is_an_error(tmp_path: Path, trouble: dict[str, OSError]) -> None:
    trouble[tmp_path.name] = PermissionError(13, "Permission denied")
    with pytest.raises(RootMissing, match="cannot be read: Permission denied"):
        scan_folder(tmp_path)


def test_a_root_that_vanishes_during_the_scan_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "root/a.md")
    listing, root = os.scandir, tmp_path / "root"

    def scandir(path: Any) -> Any:
        answer = listing(path)
        monkeypatch.setattr(os, "scandir", listing)
        shutil.rmtree(root)
        return answer

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(RootMissing):
        scan_folder(root)


def test_an_empty_folder_is_an_empty_scan(tmp_path: Path) -> None:
    scan = scan_folder(tmp_path)
    assert (scan.files, scan.skipped) == ((), ())


def test_a_folder_reached_by_links_alone_comes_before_links_to_its_notes(tmp_path: Path) -> None:
    make(tmp_path, ".store/n.md")
    (tmp_path / "a.md").symlink_to(".store/n.md")
    (tmp_path / "b").symlink_to(".store")
    scan = scan_folder(tmp_path)
    assert paths(scan) == ["b/n.md"]
    assert reasons(scan) == {"a.md": "the same file as b/n.md"}


@pytest.mark.parametrize("target", ["nowhere", "note.md/x", "x/a.md", "y", "n" * 300])
def test_a_link_that_leads_nowhere_hides_no_notes(tmp_path: Path, target: str) -> None:
    make(tmp_path, "note.md")
    (tmp_path / "x").symlink_to(target)
    (tmp_path / "y").symlink_to("x")
    (tmp_path / "z.md").symlink_to("x")
    scan = scan_folder(tmp_path)
    assert [file.path for file in scan.files] == ["note.md"]
    assert [(one.path, one.reason) for one in scan.skipped] == [("z.md", "a link to nothing")]


def test_folders_without_a_number_are_told_apart_and_loops_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "a/1.md", "b/c/2.md")
    (tmp_path / "b" / "loop").symlink_to(tmp_path / "b")
    real = os.stat

    def unnumbered(path: object, *args: Any, **how: Any) -> os.stat_result:
        values = list(real(path, *args, **how))  # type: ignore[call-overload]
        values[1] = 0
        return os.stat_result(values)

    monkeypatch.setattr(os, "stat", unnumbered)
    scan = scan_folder(tmp_path)
    assert [file.path for file in scan.files] == ["a/1.md", "b/c/2.md"]
    assert [one.reason for one in scan.skipped] == ["the same folder as b"]
