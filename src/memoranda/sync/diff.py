"""What changed between what the index remembers and what the folder shows. Pure.

In two steps, because contents are read only when they decide: `diff` compares names and file states,
and says which files must be read (`Delta.unread`); `changes` is the answer.

Identity stays with a path. It goes along with the bytes (or with the inode, or the spelling) where the
path is gone, and where files change places: a chain of renames ends at a path that is new, a cycle is
closed. A path that is still there and is no part of either keeps its identity: that is an atomic save,
a backup made by renaming, a conflict copy, a copy that was edited.

Source: spec 4.2 phase 2, 8.5 (detect_moves).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from memoranda.model.address import NotePath, lookup_key
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
)


@dataclass(frozen=True, slots=True)
class Delta:
    """Differences by name and file state, each in path order.

    Attributes:
        new: not known.
        modified: known, but the file state differs (the bytes may be the same).
        missing: known, but neither in the folder nor below something skipped.
        left_out: known, but left out by a rule from now on.
        hidden: known, below something that cannot be read.
        returned: known, missing until now, and there again unchanged.
    """

    new: tuple[FileState, ...]
    modified: tuple[Modified, ...]
    missing: tuple[KnownFile, ...]
    left_out: tuple[KnownFile, ...]
    hidden: tuple[KnownFile, ...]
    returned: tuple[KnownFile, ...]

    @property
    def unread(self) -> tuple[FileState, ...]:
        """The files whose bytes decide what changed: those as long as a note that may have moved there."""
        if not self.missing and len(self.modified) < 2:
            return ()
        displaced = Counter(one.size for one in self.missing)
        displaced.update(one.known.size for one in self.modified)
        new = [state for state in self.new if displaced[state.size]]
        modified = [
            one.state
            for one in self.modified
            if displaced[one.state.size] > (one.known.size == one.state.size)
        ]
        return (*new, *modified)

    @property
    def maybe_kin(self) -> tuple[tuple[KnownFile, FileState], ...]:
        """A missing note and a new file with the inode that the note had: moved and edited, perhaps."""
        return tuple(_alone(self.missing, self.new, _inode, _inode))


def diff(known: Iterable[KnownFile], scan: Scan) -> Delta:
    """Compare the index with a scan."""
    by_path = {file.path: file for file in known}
    new: list[FileState] = []
    modified: list[Modified] = []
    returned: list[KnownFile] = []
    for state in scan.files:
        remembered = by_path.pop(state.path, None)
        if remembered is None:
            new.append(state)
        elif not remembered.is_as_in(state):
            modified.append(Modified(remembered, state))
        elif remembered.missing_since is not None:
            returned.append(remembered)
    missing: list[KnownFile] = []
    left_out: list[KnownFile] = []
    hidden: list[KnownFile] = []
    if by_path:
        unreadable = _Places(one.path for one in scan.skipped if one.holds_notes)
        skipped = _Places(one.path for one in scan.skipped if one.leaves_out)
        for path, file in sorted(by_path.items()):
            if path in unreadable:
                hidden.append(file)
            elif path in skipped:
                left_out.append(file)
            else:
                missing.append(file)
    return Delta(
        tuple(new),
        tuple(modified),
        tuple(missing),
        tuple(left_out),
        tuple(hidden),
        tuple(returned),
    )


def changes(
    delta: Delta,
    checksums: Mapping[NotePath, str],
    kin: Collection[tuple[int, NotePath]] = (),
    told: Mapping[NotePath, NotePath] = MappingProxyType({}),
) -> tuple[Change, ...]:
    """What has to be done, in the path order of what is there now, deletions last.

    A chain of moves comes from its end, so that each path is free when its note arrives.

    Args:
        delta: what differs.
        checksums: of `delta.unread`; a file without one has not moved.
        kin: pairs of `delta.maybe_kin` (entity id, new path) that have the same text for the most part.
        told: missing path -> new path, of notes that were moved there for certain, and perhaps changed.
    """
    moves = _moves(delta, checksums)
    moved = {known.entity_id for known in moves.values()}
    arrived = {state.path for state in delta.new} - moves.keys()
    for file in delta.missing:
        if file.entity_id not in moved and (place := told.get(file.path)) in arrived:
            moves[place] = file
            moved.add(file.entity_id)
    left = [file for file in delta.missing if file.entity_id not in moved]
    came = [state for state in delta.new if state.path not in moves]
    for file, state in _relatives(left, came, kin):
        moves[state.path] = file
        moved.add(file.entity_id)
    there: list[New | Modified] = [New(one) for one in delta.new if one.path not in moves]
    there += [one for one in delta.modified if one.state.path not in moves]
    result: list[Change] = [*sorted(there, key=lambda one: one.state.path)]
    states = {state.path: state for state in delta.new}
    states.update((one.state.path, one.state) for one in delta.modified)
    result += [Moved(moves[path], states[path]) for path in _from_their_ends(moves)]
    result += [Deleted(one) for one in delta.missing if one.entity_id not in moved]
    result += [Deleted(one, is_left_out=True) for one in delta.left_out]
    result += [Hidden(one) for one in delta.hidden]
    result += [Returned(one) for one in delta.returned]
    return tuple(result)


def _moves(delta: Delta, checksums: Mapping[NotePath, str]) -> dict[NotePath, KnownFile]:
    """New path -> the note that is there now, for files that kept their bytes."""
    if not checksums:
        return {}
    new = [state for state in delta.new if state.path in checksums]
    found = _pairs(delta.missing, new, checksums)
    gone = {file.entity_id for file in found.values()}
    displaced = [file for file in delta.missing if file.entity_id not in gone]
    arrived = [state for state in new if state.path not in found]
    taken: set[NotePath] = set()
    for one in delta.modified:
        sha = checksums.get(one.state.path)
        if sha != one.known.checksum:  # other bytes, or bytes that were no other note's
            taken.add(one.state.path)
            displaced.append(one.known)
            if sha is not None:
                arrived.append(one.state)
    pairs = _pairs(displaced, arrived, checksums)
    while True:  # a path that is there takes part only when it both gives and gets
        sources = {file.path for file in pairs.values()}
        wrong = [
            path
            for path, file in pairs.items()
            if (file.path in taken and file.path not in pairs)
            or (path in taken and path not in sources)
        ]
        if not wrong:
            return found | pairs
        for path in wrong:
            del pairs[path]


def _pairs(
    displaced: Iterable[KnownFile], arrived: Iterable[FileState], checksums: Mapping[NotePath, str]
) -> dict[NotePath, KnownFile]:
    """One to one by checksum; among equal files by what else is equal, then in path order."""
    gone = sorted(displaced, key=_path)
    came = sorted(arrived, key=_path)
    found: dict[NotePath, KnownFile] = {}
    likenesses: tuple[tuple[_Key, _Key], ...] = (
        (_inode_and_name, _inode_and_name),
        (_folder_and_name, _folder_and_name),
        (_name, _name),
        (_inode, _inode),
        (_nothing, _nothing),
    )
    for of_known, of_state in likenesses:
        waiting: defaultdict[Hashable, deque[KnownFile]] = defaultdict(deque)
        for file in gone:
            waiting[file.checksum, of_known(file)].append(file)
        rest: list[FileState] = []
        for state in came:
            if same := waiting.get((checksums[state.path], of_state(state))):
                found[state.path] = same.popleft()
            else:
                rest.append(state)
        came = rest
        if not came:
            break
        gone = sorted((file for files in waiting.values() for file in files), key=_path)
    return found


def _relatives(
    missing: Sequence[KnownFile],
    new: Sequence[FileState],
    kin: Collection[tuple[int, NotePath]],
) -> list[tuple[KnownFile, FileState]]:
    """Notes that moved and changed: the same name but for its spelling, or the same file by its inode."""
    found = list(_alone(missing, new, _spelling, _spelling))
    gone = {file.entity_id for file, _ in found}
    come = {state.path for _, state in found}
    for file, state in _alone(missing, new, _inode, _inode):
        if file.entity_id in gone or state.path in come:
            continue
        if _name(file) == _name(state) or (file.entity_id, state.path) in kin:
            found.append((file, state))
    return found


def _alone(
    missing: Iterable[KnownFile], new: Iterable[FileState], of_known: _Key, of_state: _Key
) -> Iterable[tuple[KnownFile, FileState]]:
    """Pairs of which nobody else has the key."""
    gone: defaultdict[Hashable, list[KnownFile]] = defaultdict(list)
    for file in missing:
        gone[of_known(file)].append(file)
    came: defaultdict[Hashable, list[FileState]] = defaultdict(list)
    for state in new:
        came[of_state(state)].append(state)
    for key, files in gone.items():
        states = came.get(key, ())
        if len(files) == len(states) == 1:
            yield files[0], states[0]


def _from_their_ends(moves: Mapping[NotePath, KnownFile]) -> list[NotePath]:
    """The new paths, each after the one to which the note that was there went, where there is one."""
    goes_to = {file.path: path for path, file in moves.items()}
    ordered: dict[NotePath, None] = {}
    for path in sorted(moves):
        chain = [path]
        while (further := goes_to.get(chain[-1])) is not None and further not in ordered:
            if further == path:
                break  # a cycle
            chain.append(further)
        ordered.update(dict.fromkeys(reversed(chain)))
    return list(ordered)


_File = KnownFile | FileState
_Key = Callable[[_File], Hashable]


def _path(file: _File) -> str:
    return file.path


def _name(file: _File) -> str:
    return file.path.rpartition("/")[2]


def _folder_and_name(file: _File) -> tuple[str, ...]:
    return tuple(file.path.split("/")[-2:])


def _inode(file: _File) -> int:
    return file.inode


def _inode_and_name(file: _File) -> tuple[int, str]:
    return file.inode, _name(file)


def _spelling(file: _File) -> str:
    return lookup_key(file.path)


def _nothing(file: _File) -> None:
    return None


class _Places:
    """Paths of files and folders: a path is in them if it is one of them or lies below one."""

    def __init__(self, places: Iterable[str]) -> None:
        self._folders: list[str] = []
        for place in sorted(f"{place}/" for place in places):
            if not self._folders or not place.startswith(self._folders[-1]):
                self._folders.append(place)

    def __contains__(self, path: str) -> bool:
        nearest = bisect_right(self._folders, f"{path}/") - 1
        return nearest >= 0 and f"{path}/".startswith(self._folders[nearest])
