from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memoranda.model.address import NotePath
from memoranda.model.sync import Deleted, FileState, KnownFile, New, Scan, SkipCause, Skipped
from memoranda.sync.diff import diff, match_moves


def state(path: str, size: int = 1, mtime: int = 1, ctime: int = 1, inode: int = 1) -> FileState:
    return FileState(NotePath(path), size, mtime, ctime, inode)


def known(path: str, checksum: str = "c", i: int = 1, size: int = 1, mtime: int = 1) -> KnownFile:
    return KnownFile(i, NotePath(path), size, mtime, 1, 1, checksum)


def test_same_state_is_no_change():
    delta = diff([known("a.md")], Scan((state("a.md"),)))
    assert (delta.new, delta.modified, delta.missing) == ((), (), ())


def test_any_difference_of_the_state_is_a_possible_change():
    for changed in (
        state("a.md", size=2),
        state("a.md", mtime=2),
        state("a.md", ctime=2),
        state("a.md", inode=2),
    ):
        delta = diff([known("a.md")], Scan((changed,)))
        assert [one.state for one in delta.modified] == [changed]


def test_new_and_missing_by_path():
    delta = diff([known("a.md")], Scan((state("b.md"),)))
    assert [one.state.path for one in delta.new] == ["b.md"]
    assert [one.known.path for one in delta.missing] == ["a.md"]


def test_what_cannot_be_read_is_not_missing():
    files = [known("dir/a.md", i=1), known("dirt.md", i=2), known("c.md", i=3)]
    scan = Scan(
        (),
        (
            Skipped("dir", "unreadable", SkipCause.UNREADABLE),
            Skipped("c.md", "unreadable", SkipCause.UNREADABLE),
        ),
    )
    assert [one.known.path for one in diff(files, scan).missing] == ["dirt.md"]


def test_what_is_left_out_on_purpose_is_missing():
    scan = Scan((), (Skipped("dir", "outside the project", SkipCause.LINK),))
    assert len(diff([known("dir/a.md")], scan).missing) == 1


def moves(missing: list[KnownFile], new: dict[str, str]) -> dict[str, str]:
    found = match_moves(
        [Deleted(one) for one in missing],
        [New(state(path)) for path in new],
        {NotePath(path): checksum for path, checksum in new.items()},
    )
    return {move.known.path: move.state.path for move in found}


def test_move_is_the_same_checksum_under_a_new_path():
    assert moves([known("a.md", "x")], {"b.md": "x", "c.md": "y"}) == {"a.md": "b.md"}


def test_equal_contents_pair_by_name_first():
    missing = [known("a/1.md", i=1), known("b/2.md", i=2), known("c/3.md", i=3)]
    found = moves(missing, {"d/2.md": "c", "e/1.md": "c", "f/9.md": "c"})
    assert found == {"a/1.md": "e/1.md", "b/2.md": "d/2.md", "c/3.md": "f/9.md"}


@given(
    st.lists(st.sampled_from("abcdefgh"), unique=True),
    st.lists(st.sampled_from("klmnopqr"), unique=True),
    st.data(),
)
def test_moves_are_one_to_one(gone, came, data):
    missing = [
        known(f"{name}.md", data.draw(st.sampled_from("xyz")), i) for i, name in enumerate(gone)
    ]
    new = {f"{name}.md": data.draw(st.sampled_from("xyz")) for name in came}
    paired = moves(missing, new)
    assert len(set(paired.values())) == len(paired)
    by_path = {one.path: one.checksum for one in missing}
    assert all(by_path[NotePath(source)] == new[target] for source, target in paired.items())
    for checksum in "xyz":
        went = sum(one.checksum == checksum for one in missing)
        arrived = sum(one == checksum for one in new.values())
        found = sum(by_path[NotePath(source)] == checksum for source in paired)
        assert found == min(went, arrived)
