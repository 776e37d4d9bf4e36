from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.model.address import NotePath
from memoranda.model.sync import (
    Change,
    Deleted,
    FileState,
    Hidden,
    KnownFile,
    Modified,
    Moved,
    New,
    Returned,
    Scan,
    SkipCause,
    Skipped,
)
from memoranda.sync.diff import changes, diff


def state(path: str, size: int = 1, mtime: int = 1, ctime: int = 1, inode: int = 0) -> FileState:
    return FileState(NotePath(path), size, mtime, ctime, inode or sum(path.encode()))


def known(path: str, checksum: str = "c", i: int = 1, **state_of: int) -> KnownFile:
    one = state(path, **state_of)
    return KnownFile(i, one.path, one.size, one.mtime_ns, one.ctime_ns, one.inode, checksum)


def what(found: tuple[Change, ...]) -> set[str]:
    """Each change as a short text."""
    said: set[str] = set()
    for one in found:
        match one:
            case New(there):
                said.add(f"+{there.path}")
            case Modified(_, there):
                said.add(f"!{there.path}")
            case Moved(file, there):
                said.add(f"{file.path}>{there.path}")
            case Deleted(file, is_left_out):
                said.add(f"{'x' if is_left_out else '-'}{file.path}")
            case Hidden(file):
                said.add(f"?{file.path}")
            case Returned(file):
                said.add(f"={file.path}")
    return said


def after(
    before: Mapping[str, str],
    now: Mapping[str, str],
    *,
    inodes: Mapping[str, int] | None = None,
    kin: set[tuple[int, NotePath]] | None = None,
) -> set[str]:
    """What changed between two folders of path -> content; unequal content has an unequal time.

    `inodes` of the new state; without one a file that moved has a new inode, as git makes it.
    """
    ids = {path: i for i, path in enumerate(before, 1)}
    files = [
        known(path, text, ids[path], size=len(text), mtime=len(text) + ord(text[:1] or "_"))
        for path, text in before.items()
    ]
    states = []
    for path, text in sorted(now.items()):
        same = before.get(path) == text
        inode = (inodes or {}).get(path, 0 if same else 10_000 + sum(path.encode()))
        states.append(
            state(path, size=len(text), mtime=len(text) + ord(text[:1] or "_"), inode=inode)
        )
    delta = diff(files, Scan(tuple(states)))
    read = {one.path: now[one.path] for one in delta.unread}
    return what(changes(delta, {NotePath(path): text for path, text in read.items()}, kin or set()))


# By name and state.


def test_same_state_is_no_change():
    assert after({"a.md": "x"}, {"a.md": "x"}) == set()


@pytest.mark.parametrize("difference", ["size", "mtime", "ctime", "inode"])
def test_any_difference_of_the_state_is_a_possible_change(difference):
    changed = state("a.md", **{difference: 9999})
    delta = diff([known("a.md")], Scan((changed,)))
    assert [one.state for one in delta.modified] == [changed]


def test_new_and_missing_by_path():
    assert after({"a.md": "x"}, {"b.md": "yy"}) == {"+b.md", "-a.md"}


def test_what_cannot_be_read_is_hidden_not_missing():
    files = [known("dir/a.md", i=1), known("dirt.md", i=2), known("c.md", i=3)]
    scan = Scan(
        (),
        (
            Skipped("dir", "unreadable", SkipCause.UNREADABLE),
            Skipped("c.md", "unreadable", SkipCause.UNREADABLE),
        ),
    )
    assert what(changes(diff(files, scan), {})) == {"?dir/a.md", "?c.md", "-dirt.md"}


@pytest.mark.parametrize(
    "cause", [one for one in SkipCause if one not in (SkipCause.UNREADABLE, SkipCause.NOTHING)]
)
def test_what_a_rule_leaves_out_is_no_loss(cause):
    scan = Scan((), (Skipped("dir", "a rule", cause), Skipped("dir-b.md", "a rule", cause)))
    files = [known("dir/a.md", i=1), known("dir-b.md", i=2), known("dir-b.mdx.md", i=3)]
    assert what(changes(diff(files, scan), {})) == {"xdir/a.md", "xdir-b.md", "-dir-b.mdx.md"}


def test_what_a_link_to_nothing_was_is_missing():
    scan = Scan((), (Skipped("a.md", "a link to nothing", SkipCause.NOTHING),))
    assert what(changes(diff([known("a.md")], scan), {})) == {"-a.md"}


def test_a_rule_below_an_unreadable_folder_does_not_count():
    scan = Scan(
        (),
        (
            Skipped("dir", "unreadable", SkipCause.UNREADABLE),
            Skipped("dir/in", "ignored", SkipCause.IGNORED),
        ),
    )
    assert what(changes(diff([known("dir/in/a.md")], scan), {})) == {"?dir/in/a.md"}


def test_a_missing_file_that_is_back_unchanged_has_returned():
    file = replace(known("a.md"), missing_since=datetime.fromisoformat("2026-01-01"))
    assert what(changes(diff([file], Scan((state("a.md"),))), {})) == {"=a.md"}


# Moves.


def test_move_is_the_same_bytes_under_a_new_path():
    assert after({"a.md": "x"}, {"b.md": "x", "c.md": "y"}) == {"a.md>b.md", "+c.md"}


def test_a_copy_of_what_stays_is_new():
    assert after({"a.md": "x"}, {"a.md": "x", "b.md": "x"}) == {"+b.md"}


def test_one_of_two_equal_files_that_goes_is_no_move_to_the_other():
    assert after({"a.md": "x", "b.md": "x"}, {"b.md": "x"}) == {"-a.md"}


def test_equal_contents_pair_by_name_first():
    before = {"a/1.md": "c", "b/2.md": "c", "c/3.md": "c"}
    now = {"d/2.md": "c", "e/1.md": "c", "f/9.md": "c"}
    assert after(before, now) == {"a/1.md>e/1.md", "b/2.md>d/2.md", "c/3.md>f/9.md"}


def test_equal_names_pair_by_their_folder():
    before = {"a/x/index.md": "", "a/y/index.md": ""}
    now = {"b/y/index.md": "", "b/x/index.md": ""}
    assert after(before, now) == {"a/x/index.md>b/x/index.md", "a/y/index.md>b/y/index.md"}


def test_equal_names_and_folders_pair_by_inode():
    before = {"a/index.md": "", "b/index.md": ""}
    inodes = {"c/index.md": sum(b"b/index.md"), "d/index.md": sum(b"a/index.md")}
    found = after(before, dict.fromkeys(inodes, ""), inodes=inodes)
    assert found == {"a/index.md>d/index.md", "b/index.md>c/index.md"}


def test_a_chain_of_renames_keeps_every_note():
    before = {"a.md": "a", "b.md": "b", "c.md": "c"}
    now = {"b.md": "a", "c.md": "b", "d.md": "c"}
    assert after(before, now) == {"a.md>b.md", "b.md>c.md", "c.md>d.md"}


def test_a_chain_comes_from_its_end():
    before = {"a.md": "a", "b.md": "b", "c.md": "c"}
    files = [known(path, text, i) for i, (path, text) in enumerate(before.items(), 1)]
    states = tuple(state(path, mtime=9) for path in ("b.md", "c.md", "d.md"))
    checksums = {NotePath("b.md"): "a", NotePath("c.md"): "b", NotePath("d.md"): "c"}
    found = changes(diff(files, Scan(states)), checksums)
    assert [one.state.path for one in found if isinstance(one, Moved)] == ["d.md", "c.md", "b.md"]


@pytest.mark.parametrize("length", [2, 3, 5])
def test_files_that_change_places_take_their_notes_along(length):
    names = [f"{i}.md" for i in range(length)]
    before = {name: name[0] for name in names}
    now = {name: str((i + 1) % length) for i, name in enumerate(names)}
    assert after(before, now) == {f"{text}.md>{path}" for path, text in now.items()}


def test_an_atomic_save_through_a_note_keeps_the_note():
    """A temporary file that was seen takes the place of the note: the path decides."""
    before = {"n.md": "old", "n.new.md": "next"}
    assert after(before, {"n.md": "next"}) == {"!n.md", "-n.new.md"}


def test_a_backup_or_conflict_copy_is_the_new_note():
    """The old bytes, and the old inode, go to another name; what is at the path stays the note."""
    found = after(
        {"n.md": "old"},
        {"n.md": "from elsewhere", "n.sync-conflict-1.md": "old"},
        inodes={"n.sync-conflict-1.md": sum(b"n.md")},
    )
    assert found == {"!n.md", "+n.sync-conflict-1.md"}


def test_a_copy_over_another_note_is_a_change_of_that_note():
    assert after({"a.md": "x", "b.md": "y"}, {"a.md": "x", "b.md": "x"}) == {"!b.md"}


def test_a_copy_whose_original_was_edited_is_new():
    assert after({"a.md": "x"}, {"a.md": "xx", "b.md": "x"}) == {"!a.md", "+b.md"}


def test_a_swap_where_one_was_edited_too_is_two_changes():
    found = after({"a.md": "a", "b.md": "b"}, {"a.md": "b", "b.md": "A"})
    assert found == {"!a.md", "!b.md"}


def test_a_chain_of_equal_contents_still_takes_every_note():
    before = {"a.md": "", "b.md": "b", "c.md": ""}
    found = after(before, {"b.md": "", "c.md": "b", "d.md": ""})
    assert not any(one[0] in "+-!" for one in found)


# Moved and edited.


def test_a_rename_in_spelling_alone_keeps_the_note_whatever_it_says():
    assert after({"Note.md": "old"}, {"note.md": "new text"}) == {"Note.md>note.md"}
    assert after({"e\u0301.md": "old"}, {"é.md": "new text"}) == {"e\u0301.md>é.md"}


def test_the_same_file_and_name_in_another_folder_keeps_the_note():
    found = after({"a/n.md": "old"}, {"b/n.md": "new text"}, inodes={"b/n.md": sum(b"a/n.md")})
    assert found == {"a/n.md>b/n.md"}


def test_the_same_inode_alone_is_not_certain():
    """A system gives the inode of a file that is gone to the next one."""
    inodes = {"other.md": sum(b"n.md")}
    assert after({"n.md": "old"}, {"other.md": "new text"}, inodes=inodes) == {
        "+other.md",
        "-n.md",
    }


def test_the_same_inode_and_much_the_same_text_keep_the_note():
    found = after(
        {"n.md": "old"},
        {"other.md": "new text"},
        inodes={"other.md": sum(b"n.md")},
        kin={(1, NotePath("other.md"))},
    )
    assert found == {"n.md>other.md"}


def test_the_same_name_alone_is_not_certain():
    assert after({"a/n.md": "old"}, {"b/n.md": "new text"}) == {"+b/n.md", "-a/n.md"}


# What holds of all of it.

FOLDERS = st.dictionaries(
    st.sampled_from([f"{folder}{name}.md" for folder in ("", "x/", "y/") for name in "abA"]),
    st.sampled_from(["", "1", "2", "33", "44"]),
    max_size=7,
)


@given(FOLDERS, FOLDERS)
def test_every_file_and_every_note_has_one_part(before, now):
    found = after(before, now)
    sources = [one.partition(">")[0] for one in found if ">" in one]
    arrivals = [one.partition(">")[2] for one in found if ">" in one]
    assert max(Counter(sources).values(), default=1) == 1
    assert max(Counter(arrivals).values(), default=1) == 1
    stays = {path for path in before if now.get(path) == before[path]}
    assert not stays & {*sources, *arrivals}
    assert {one[1:] for one in found if one[0] == "+"} == {*now} - {*before} - {*arrivals}
    assert {one[1:] for one in found if one[0] == "-"} == {*before} - {*now} - {*sources}
    changed = {path for path in before if path in now and path not in stays}
    assert {one[1:] for one in found if one[0] == "!"} == changed - {*arrivals}
    for source, target in zip(sources, arrivals, strict=True):
        if before[source] != now[target]:
            assert source.casefold() == target.casefold()
        if source in now:
            assert source in arrivals
        if target in before:
            assert target in sources


@given(FOLDERS, FOLDERS)
def test_as_many_equal_contents_as_can_be_are_moves(before, now):
    """Of the contents that went from a path and came to a new one, none is left unpaired."""
    found = after(before, now)
    went = Counter(before[one[1:]] for one in found if one[0] == "-")
    came = Counter(now[one[1:]] for one in found if one[0] == "+")
    assert not went & came
