"""What a move would do to links, tried out in the index and taken back.

The notes are put at their new places by the one writer, and links resolved by the one resolver, in a
transaction that is then rolled back: what a link means after the move is what the index will say, whatever
rule of names it is that decides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from memoranda.errors import NotReady
from memoranda.model.address import NotePath, Permalink, lookup_key
from memoranda.model.moves import MovedNote
from memoranda.model.note import Link, LinkForm, NoteRef
from memoranda.model.sync import KnownFile
from memoranda.ports import FullTextIndex
from memoranda.repositories.entity import EntityRepository
from memoranda.repositories.names import NameRepository
from memoranda.repositories.project import LAST_FULL_SYNC, ProjectRepository
from memoranda.repositories.refs import NoteRefRepository
from memoranda.repositories.relation import RelationRepository, StoredLink
from memoranda.repositories.store import Store, Tx
from memoranda.services.entity import apply
from memoranda.services.link_resolver import resolve_links
from memoranda.services.linking import (
    Candidate,
    LinkKeys,
    Meaning,
    NameKind,
    choose,
    link_keys,
)
from memoranda.services.move_targets import Names, Place, names_to_try
from memoranda.services.note_input import Gone, NoteInput

_MOST_WAITING = 1000


@dataclass(frozen=True, slots=True)
class BrokenLink:
    """A link that means another note after the move, or none, or that is no path of its note any more.

    Attributes:
        ordinal, line, target: of the link in its note.
        names: that would mean the right note, in the style of the old one, best first; may be none.
    """

    ordinal: int
    line: int
    target: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Simulation:
    """What the index says of a move.

    Attributes:
        moved: by their old paths.
        sources: notes that stay where they are, and have links that break, or that lead to other files
            that move.
        broken: by entity id, in document order.
        to_notes: (entity id, ordinal) of links that mean a note, before or after, in notes whose links the
            move may concern.
        readdressed: notes that stay where they are and get another permalink: path, the old one, the new one.
    """

    moved: tuple[MovedNote, ...]
    sources: tuple[KnownFile, ...]
    broken: Mapping[int, Sequence[BrokenLink]]
    to_notes: frozenset[tuple[int, int]]
    readdressed: tuple[tuple[NotePath, Permalink, Permalink], ...]


class _TakenBackError(Exception):
    """Ends the transaction; carries what was seen in it."""

    def __init__(self, seen: Simulation | None) -> None:
        super().__init__()
        self.seen = seen


async def simulate(
    store: Store, fulltext: FullTextIndex, notes: Sequence[NoteInput], files: Collection[str]
) -> Simulation | None:
    """Try out a move; the index is as before. None: it does not know a note as the caller does.

    Args:
        store: of the project.
        fulltext: of the project.
        notes: at their new paths, each with what the index knows at the old one.
        files: lookup keys of other files that move: links to them are asked for as well.

    Raises:
        NotReady: the index is not complete yet, so that nobody knows all links.
        DatabaseProblem: or a subclass.
    """

    def run(tx: Tx) -> None:
        raise _TakenBackError(_simulated(tx, fulltext, notes, files))

    try:
        await store.write(run)
    except _TakenBackError as end:
        return end.seen
    raise AssertionError("unreachable")


def _simulated(
    tx: Tx, fulltext: FullTextIndex, notes: Sequence[NoteInput], files: Collection[str]
) -> Simulation | None:
    relations, refs = RelationRepository(tx), NoteRefRepository(tx)
    _require_complete(tx, relations)
    before = {note.seen.entity_id: note.seen.path for note in notes if note.seen is not None}
    old_refs = refs.by_ids(before)
    links = relations.links_of(before)
    gone = [  # rows of files that are not there any more: their places are free
        Gone(row.entity_id, row.path, row.checksum)
        for row in EntityRepository(tx).known_at([note.state.path for note in notes])
        if row.entity_id not in before
    ]
    applied = apply(tx, fulltext, notes, deleted=gone, resolve=False)
    if before.keys() != set(applied.ids.values()):
        return None
    concerned = list(relations.dirty())
    links += relations.links_of(i for i in concerned if i not in before)
    resolve_links(tx, concerned)
    now = {(link.entity_id, link.ordinal): link for link in relations.links_of(concerned)}
    targets = _names(tx, links)
    meant = {(link.entity_id, link.ordinal): link for link in links if link.to_id in targets}
    broken = [
        link
        for at, link in meant.items()
        if at not in now
        or now[at].to_id != link.to_id
        or _loses_its_path(link, now[at], targets, before)
    ]
    sources = {link.entity_id for link in broken} | relations.sources_of_names(files)
    new_refs = refs.by_ids({*sources, *before})
    paths = {i: ref.file_path for i, ref in new_refs.items()}
    moved = [_moved(old_refs[i], ref) for i, ref in new_refs.items() if i in before]
    return Simulation(
        tuple(sorted(moved, key=lambda one: one.from_path)),
        tuple(EntityRepository(tx).known_at([paths[i] for i in sources - before.keys()])),
        _with_names(tx, broken, targets, paths, before),
        frozenset({*meant, *(at for at, link in now.items() if link.to_id is not None)}),
        tuple(sorted(applied.readdressed)),
    )


def _require_complete(tx: Tx, relations: RelationRepository) -> None:
    waiting = relations.dirty(_MOST_WAITING + 1)
    if len(waiting) > _MOST_WAITING or ProjectRepository(tx).fact(LAST_FULL_SYNC) is None:
        raise NotReady(
            "The index is not complete yet, so that links to what moves would be missed",
            hint="Repeat the call when the first sync is done.",
        )
    resolve_links(tx, list(waiting))


def _moved(old: NoteRef, new: NoteRef) -> MovedNote:
    return MovedNote(new.title, old.file_path, new.file_path, old.permalink, new.permalink)


def _names(tx: Tx, links: Iterable[StoredLink]) -> dict[int, Names]:
    """What the notes that links mean are called now."""
    ids = {link.to_id for link in links if link.to_id is not None}
    return {
        row.entity_id: Names(row.path, row.permalink, row.hashed)
        for row in EntityRepository(tx).stored(paths=(), ids=ids)
    }


def _loses_its_path(
    link: StoredLink,
    now: StoredLink,
    targets: Mapping[int, Names],
    before: Mapping[int, NotePath],
) -> bool:
    """Whether a Markdown link is the path of its note, and is not any more.

    The index would still find the note by its name alone, but no other reader of Markdown does.
    """
    if link.form != LinkForm.MARKDOWN or link.to_id is None:
        return False
    new = targets[link.to_id].path
    new_key, old_key = lookup_key(new), lookup_key(before.get(link.to_id, new))
    if link.key == old_key:
        return now.key != new_key
    return link.root_key == old_key and new_key not in (now.key, now.root_key)


def _with_names(
    tx: Tx,
    broken: Sequence[StoredLink],
    targets: Mapping[int, Names],
    paths: Mapping[int, NotePath],
    before: Mapping[int, NotePath],
) -> dict[int, list[BrokenLink]]:
    """The broken links of each note, each with the names that would do."""
    wishes: list[tuple[StoredLink, NotePath, list[tuple[str, LinkKeys]]]] = []
    for link in broken:
        if link.to_id is None:
            continue
        path, after = paths[link.entity_id], targets[link.to_id]
        form = LinkForm(link.form)
        names = names_to_try(
            link.target,
            form,
            Place(before.get(link.entity_id, path), path),
            before.get(link.to_id, after.path),
            after,
        )
        wishes.append((link, path, [(name, _keys(form, name, path)) for name in names]))
    meanings = _meanings(tx, [keys for *_, names in wishes for _, keys in names])
    found: defaultdict[int, list[BrokenLink]] = defaultdict(list)
    for link, path, tried in wishes:
        right = (name for name, keys in tried if choose(keys, name, path, meanings) == link.to_id)
        found[link.entity_id].append(BrokenLink(link.ordinal, link.line, link.target, tuple(right)))
    return dict(found)


def _keys(form: LinkForm, name: str, path: NotePath) -> LinkKeys:
    return link_keys(Link(form, name, "", 0, 0, 0), path)


def _meanings(tx: Tx, links: Sequence[LinkKeys]) -> dict[str, Meaning]:
    keys = {key for link in links for key in (link.key, link.root_key, link.slug_key) if key}
    return {
        key: Meaning([Candidate(i, NameKind(kind), NotePath(path)) for i, kind, path in found])
        for key, found in NameRepository(tx).with_keys(keys).items()
    }
