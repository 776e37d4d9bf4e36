"""Ignore files in a project: what the scan leaves out, and what tools are refused."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from memoranda.errors import InvalidArgument
from memoranda.files.file_service import FileService
from memoranda.files.ignore import MAX_IGNORE_BYTES
from memoranda.files.scan import scan_folder
from memoranda.model.address import NotePath
from memoranda.model.sync import SkipCause

N = NotePath


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    return tmp_path / "notes"


@pytest.fixture
def files(root: Path, tmp_path: Path) -> FileService:
    return FileService(root, tmp_path / "cfg" / "locks")


def make(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)


def rules(root: Path, path: str, *lines: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text("\n".join(lines) + "\n")


def found(root: Path) -> list[str]:
    return [state.path for state in scan_folder(root).files]


def left_out(root: Path) -> dict[str, tuple[str, SkipCause]]:
    return {one.path: (one.reason, one.cause) for one in scan_folder(root).skipped}


# The scan


@pytest.mark.spec("4.1")
@pytest.mark.parametrize("name", [".gitignore", ".bmignore"])
def test_notes_and_folders_of_an_ignore_file_are_left_out_and_listed(root: Path, name: str) -> None:
    make(root, "a.md", "drafts/b.md", "x/c.md", "x/d.md", "x/e.txt", "f.txt")
    rules(root, name, "drafts/", "", "c.md", "*.txt")
    assert found(root) == ["a.md", "x/d.md"]
    assert left_out(root) == {
        "drafts": (f"ignored by {name}, line 1", SkipCause.IGNORED),
        "x/c.md": (f"ignored by {name}, line 3", SkipCause.IGNORED),
    }


def test_a_folder_that_is_left_out_is_not_entered(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(root, "a.md", "big/deep/b.md")
    rules(root, ".gitignore", "big")
    listed: list[str] = []
    listing = os.scandir

    def scandir(path: str) -> object:
        listed.append(str(path))
        return listing(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert found(root) == ["a.md"]
    assert not any("big" in path for path in listed)


def test_bmignore_is_stronger_than_the_gitignore_beside_it(root: Path) -> None:
    make(root, "a.md", "b.md", "c.md")
    rules(root, ".gitignore", "a.md", "!c.md")
    rules(root, ".bmignore", "!a.md", "c.md")
    assert found(root) == ["a.md", "b.md"]


def test_the_ignore_file_of_a_deeper_folder_is_stronger_and_holds_there_alone(root: Path) -> None:
    make(root, "a.md", "x/a.md", "x/b.md", "x/y/a.md", "y/a.md")
    rules(root, ".bmignore", "a.md")
    rules(root, "x/.gitignore", "!a.md", "/b.md")
    assert found(root) == ["x/a.md", "x/y/a.md"]
    assert left_out(root)["x/b.md"][0] == "ignored by x/.gitignore, line 2"


def test_nothing_comes_back_from_a_folder_that_is_left_out(root: Path) -> None:
    make(root, "x/a.md", "y/a.md", "y/b.md")
    rules(root, ".gitignore", "x/", "!x/a.md", "y/*", "!y/a.md")
    rules(root, "x/.gitignore", "!a.md")
    assert found(root) == ["y/a.md"]


def test_a_change_of_the_rules_holds_at_the_next_scan(root: Path) -> None:
    make(root, "a.md", "b.md")
    rules(root, ".gitignore", "a.md")
    assert found(root) == ["b.md"]
    stamp = (root / ".gitignore").stat()
    rules(root, ".gitignore", "b.md")  # same size, and the same times
    os.utime(root / ".gitignore", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert found(root) == ["a.md"]
    (root / ".gitignore").unlink()
    assert found(root) == ["a.md", "b.md"]


def test_ignore_files_outside_the_project_are_not_read(root: Path, files: FileService) -> None:
    make(root, "a.md")
    rules(root.parent, ".gitignore", "*.md")
    (root.parent / "shared").write_text("*.md\n")
    (root / ".gitignore").symlink_to("../shared")
    assert found(root) == ["a.md"]
    assert left_out(root)[".gitignore"][0] == "not used: a link or no regular file"
    assert files.read(N("a.md"))[0] == b"a.md"


@pytest.mark.parametrize("kind", ["folder", "pipe", "huge", "bad line", "other encoding"])
def test_an_ignore_file_that_is_of_no_use_is_listed_and_harms_nothing(
    root: Path, files: FileService, kind: str
) -> None:
    make(root, "a.md", "b.md", "caf\xe9.md")
    place = root / ".gitignore"
    match kind:
        case "folder":
            place.mkdir()
        case "pipe":
            os.mkfifo(place)
        case "huge":
            place.write_bytes(b"*.md\n" + b"#" * MAX_IGNORE_BYTES)
        case "bad line":
            place.write_text("[z-\n[[:no:]]\n")
        case _:
            place.write_bytes("caf\xe9.md\n".encode("latin-1"))
    rules(root, ".bmignore", "b.md")
    assert found(root) == ["a.md", "caf\xe9.md"]
    reason, cause = left_out(root)[".gitignore"]
    assert (reason.startswith("not used: "), cause) == (True, SkipCause.RULE)
    assert files.read(N("a.md"))[0] == b"a.md"


def test_an_ignore_file_that_cannot_be_read_is_listed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(root, "a.md")
    rules(root, ".gitignore", "*.md")
    opening = os.open

    def refuse(path: str, *rest: int) -> int:
        if str(path).endswith(".gitignore"):
            raise PermissionError(13, "Permission denied")
        return opening(path, *rest)

    monkeypatch.setattr(os, "open", refuse)
    assert found(root) == ["a.md"]
    assert left_out(root)[".gitignore"][0] == "not used: unreadable (Permission denied)"


def test_built_in_rules_cannot_be_taken_back(root: Path) -> None:
    make(root, ".obsidian/a.md", "node_modules/b.md", ".c.md", "~$d.md", "e.md")
    rules(root, ".bmignore", "!*", "!.obsidian/", "!node_modules/", "!.c.md", "!~$d.md")
    assert found(root) == ["e.md"]


def test_odd_names_are_matched_as_they_are(root: Path) -> None:
    nfd = unicodedata.normalize("NFD", "\xe9.md")
    make(root, "a\nb.md", "a", "c .md", "c.md", nfd, "d.md ", "d.md")
    rules(root, ".gitignore", "a", "b.md", "c\\ .md", unicodedata.normalize("NFC", nfd), "d.md")
    assert found(root) == ["a\nb.md", "c.md"]


def test_the_root_may_be_a_link(root: Path) -> None:
    make(root, "a.md", "x/b.md")
    rules(root, ".gitignore", "/a.md", "x/b.md")
    link = root.with_name("link")
    link.symlink_to(root)
    assert found(link) == []
    with pytest.raises(InvalidArgument, match=r"ignored by \.gitignore, line 2"):
        FileService(link, root.with_name("locks")).read(N("x/b.md"))


# Links


def test_a_link_is_left_out_by_its_own_name(root: Path) -> None:
    make(root, "real.txt", "store.txt", ".hidden/c.md", ".other/d.md")
    (root / "out.md").symlink_to("real.txt")
    (root / "kept.md").symlink_to("store.txt")
    (root / "way").symlink_to(".hidden")
    (root / "way2").symlink_to(".other")
    (root / "dead.md").symlink_to("nowhere")
    rules(root, ".gitignore", "out.md", "way/", "real.txt", "store.txt", "dead.md")
    assert found(root) == ["kept.md", "way2/d.md"]
    assert {path for path, (_, cause) in left_out(root).items() if cause is SkipCause.IGNORED} == {
        "out.md",
        "way",
        "dead.md",
    }


def test_a_link_to_what_is_left_out_is_a_note_of_its_own(root: Path, files: FileService) -> None:
    make(root, "private/a.md", "private/b.md", "b.md")
    (root / "one.md").symlink_to("private/a.md")
    (root / "pub").symlink_to("private")
    rules(root, ".gitignore", "private/", "pub/b.md")
    assert found(root) == ["b.md", "pub/a.md"]
    assert left_out(root)["one.md"][0] == "the same file as pub/a.md"
    assert files.canonical(N("pub/a.md")) == "pub/a.md"
    assert files.read(N("pub/a.md"))[0] == b"private/a.md"
    with pytest.raises(InvalidArgument):
        files.read(N("pub/b.md"))


def test_rules_come_along_into_a_linked_folder(root: Path) -> None:
    make(root, ".store/a.md", ".store/b.md", ".store/deep/c.md")
    rules(root, ".gitignore", "b.md", "/way/deep/c.md")
    (root / "way").symlink_to(".store")
    assert found(root) == ["way/a.md"]


def test_circles_of_links_end_with_rules_too(root: Path) -> None:
    make(root, "x/a.md", "x/b.md")
    (root / "x/self").symlink_to(".")
    (root / "x/up").symlink_to("..")
    (root / "one").symlink_to("two")
    (root / "two").symlink_to("one")
    rules(root, "x/.gitignore", "b.md")
    assert found(root) == ["x/a.md"]


# Tools


@pytest.mark.parametrize("path", ["drafts/new.md", "x/drafts/old.md", "x/secret.md"])
def test_a_path_that_is_left_out_is_neither_read_nor_written(
    root: Path, files: FileService, path: str
) -> None:
    make(root, "x/drafts/old.md", "x/secret.md", "x/b.md")
    rules(root, ".gitignore", "drafts/")
    rules(root, "x/.bmignore", "secret.md")
    before = sorted(root.rglob("*"))
    calls = (
        lambda: files.read(N(path)),
        lambda: files.create(N(path), b"new"),
        lambda: files.replace(N(path), b"new", expected_checksum=None),
        lambda: files.delete(N(path)),
    )
    for call in calls:
        with pytest.raises(
            InvalidArgument, match=r"is ignored by (x/\.bm|\.git)ignore, line 1"
        ) as caught:
            call()
        assert "ignore" in caught.value.hint
    assert sorted(root.rglob("*")) == before
    assert files.read(N("x/b.md"))[0] == b"x/b.md"
    files.create(N("x/new.md"), b"")


def test_ignore_files_on_a_way_out_and_back_in_are_not_read(root: Path, files: FileService) -> None:
    make(root, "x/a.md")
    rules(root.parent, "else/.gitignore", "*")
    (root.parent / "else" / "back").symlink_to(root / "x")
    (root / "out").symlink_to("../else")
    assert files.read(N("out/back/a.md"))[0] == b"x/a.md"


def test_the_refusal_follows_the_rules_as_they_are_now(root: Path, files: FileService) -> None:
    rules(root, ".gitignore", "a.md")
    with pytest.raises(InvalidArgument):
        files.create(N("a.md"), b"")
    rules(root, ".gitignore", "b.md")
    files.create(N("a.md"), b"")
    assert found(root) == ["a.md"]


def test_what_the_scan_takes_is_what_tools_may_read(root: Path, files: FileService) -> None:
    make(root, *(f"{a}/{b}/{c}.md" for a in "xyz" for b in "xyz" for c in "xyz"))
    rules(root, ".gitignore", "x/y/", "**/z/x.md", "y.md", "/z/**/z.md")
    rules(root, "y/.bmignore", "!y.md", "x/*", "!x/z.md")
    readable = []
    for path in sorted(str(p.relative_to(root)) for p in root.rglob("*.md")):
        try:
            files.read(N(path))
        except InvalidArgument:
            continue
        readable.append(path)
    assert readable == found(root)
    assert 0 < len(readable) < 27


def test_the_reader_of_a_sync_does_not_ask_the_rules_again(root: Path, files: FileService) -> None:
    make(root, "a.md")
    rules(root, ".gitignore", "a.md")
    assert files.reader().read(N("a.md"))[0] == b"a.md"
