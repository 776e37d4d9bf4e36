"""What changed between what the index remembers and what the folder shows. Pure.

Two steps, because contents are read only when needed: `diff` compares names and file states; when files
both came and went, `match_moves` pairs them by checksum. Source: spec 4.2 phase 2, 8.5 (detect_moves).
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memoranda.model.address import NotePath, stem
from memoranda.model.sync import Deleted, FileState, KnownFile, Modified, Moved, New, Scan


@dataclass(frozen=True, slots=True)
class Delta:
    """Differences by name and file state, each in path order.

    Attributes:
        new: not known.
        modified: known, but the file state differs (the bytes may be the same).
        missing: known, but not in the folder and not hidden from the scan.
    """

    new: tuple[New, ...]
    modified: tuple[Modified, ...]
    missing: tuple[Deleted, ...]


def diff(known: Iterable[KnownFile], scan: Scan) -> Delta:
    """Compare the index with a scan.

    Notes below something that could not be read are not missing: nobody knows.
    """
    by_path = {file.path: file for file in known}
    new: list[New] = []
    modified: list[Modified] = []
    for state in scan.files:
        remembered = by_path.pop(state.path, None)
        if remembered is None:
            new.append(New(state))
        elif not _same(remembered, state):
            modified.append(Modified(remembered, state))
    hidden = [skipped.path for skipped in scan.skipped if skipped.holds_notes]
    missing = [
        Deleted(file) for path, file in sorted(by_path.items()) if not is_below(path, hidden)
    ]
    return Delta(tuple(new), tuple(modified), tuple(missing))


def is_below(path: str, places: Iterable[str]) -> bool:
    """Whether a path is one of these places or lies in one."""
    return any(path == place or path.startswith(f"{place}/") for place in places)


def _same(known: KnownFile, state: FileState) -> bool:
    return (
        known.mtime_ns == state.mtime_ns
        and known.size == state.size
        and known.ctime_ns == state.ctime_ns
        and known.inode == state.inode
    )


def match_moves(
    missing: Sequence[Deleted], new: Sequence[New], checksums: Mapping[NotePath, str]
) -> tuple[Moved, ...]:
    """Pair files that went with files that came, one to one, by checksum.

    Among equal contents: the same file name first, then path order.

    Args:
        missing: files that went.
        new: files that came.
        checksums: of the new files; a file without one is no move.
    """
    gone: defaultdict[str, list[KnownFile]] = defaultdict(list)
    for deleted in sorted(missing, key=lambda one: one.known.path):
        gone[deleted.known.checksum].append(deleted.known)
    arrived: defaultdict[str, list[FileState]] = defaultdict(list)
    for one in sorted(new, key=lambda one: one.state.path):
        checksum = checksums.get(one.state.path)
        if checksum is not None and checksum in gone:
            arrived[checksum].append(one.state)
    moves: list[Moved] = []
    for checksum, states in arrived.items():
        named: defaultdict[str, deque[KnownFile]] = defaultdict(deque)
        for file in gone[checksum]:
            named[stem(file.path)].append(file)
        left: list[FileState] = []
        for state in states:
            if same := named[stem(state.path)]:
                moves.append(Moved(same.popleft(), state))
            else:
                left.append(state)
        rest = sorted((file for files in named.values() for file in files), key=lambda k: k.path)
        moves += [Moved(file, state) for file, state in zip(rest, left, strict=False)]
    return tuple(sorted(moves, key=lambda move: move.state.path))
