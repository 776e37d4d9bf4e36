"""The notes around a note in the graph, most relevant first, and why each of them is there.

What is relevant is told from links alone, the same way every time:

1. Fewer steps come first.
2. At one step, the strength of the bond: every kind of explicit relation (in a list item or in the
   frontmatter) weighs 8 in each direction, links in prose 1 each, three of them at most in each
   direction; so a relation comes before any number of links in passing. What the note says itself comes
   just before what others say of it.
3. Further away, the bonds along the way multiply, all ways are added up, and a way through a note
   with many links counts less, by the logarithm of their number: that two notes stand in the same
   index says little of them.
4. Of equals the one modified last, then by path.

The walk is bounded: of the first note 20,000 links in each direction are looked at, at every further step
5,000, through the nearest notes first. A note with more links than are left is passed over, and the number
of notes is then only known as "at least".

Source: L. Adamic, E. Adar, Friends and neighbors on the Web, 2003, for the logarithm.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from memoranda.model.note import NoteRef, RelatedNote
from memoranda.model.views import Neighbourhood
from memoranda.repositories.neighbours import LinkCount, NeighbourRepository
from memoranda.repositories.refs import NoteRefRepository
from memoranda.repositories.store import Tx
from memoranda.text.summary import summary

_IN_PROSE: Final = "links_to"
_RELATION = 8.0
_MOST_IN_PROSE = 3
_OWN_WORDS = 0.5
_LINKS = 20_000
_LINKS_FURTHER = 5_000
_WALKED_THROUGH = 500
_KINDS_SHOWN = 3
_TITLE = 60
_OPENING = 1000


@dataclass(frozen=True, slots=True)
class _Reached:
    """A note on the way.

    Attributes:
        score: only compared at the same distance.
        bond: the kinds of links of the last step.
        before: the note before it on the best way, None at one step.
    """

    distance: int
    score: float
    bond: str
    before: int | None


def related_notes(
    tx: Tx, *, start: NoteRef, depth: int, limit: int, since: datetime | None = None
) -> Neighbourhood:
    """The notes up to `depth` steps away in either direction, most relevant first.

    Args:
        tx: a read transaction.
        start: where the walk begins; it is never among the results.
        depth: 1 or more steps.
        limit: how many notes are wanted; 0 looks at nothing.
        since: only notes modified (note date) at or after this are given and counted; the walk goes
            through older ones.
    """
    if limit < 1:
        return Neighbourhood()
    graph = NeighbourRepository(tx)
    reached: dict[int, _Reached] = {start.entity_id: _Reached(0, 1.0, "", None)}
    frontier, given = [start.entity_id], list[int]()
    is_exact = True
    oldest = _stored(since) if since else ""
    for distance in range(1, depth + 1):
        degrees = graph.degrees(frontier) if distance > 1 else {}
        through = _affordable(frontier, degrees) if distance > 1 else frontier
        links = graph.links_around(through, _LINKS) if through else []
        is_exact &= len(through) == len(frontier) and not _is_cut(links)
        found = _step(links, reached, through, degrees, distance)
        ages = {one.to: (one.modified, one.path) for one in links if one.to in found}
        frontier = sorted(found, key=lambda i: ages[i][1])
        frontier.sort(key=lambda i: (found[i].score, ages[i][0]), reverse=True)
        reached |= found
        given += (i for i in frontier if not oldest or ages[i][0] >= oldest)
    return Neighbourhood(_described(tx, given[:limit], reached), len(given), is_exact)


def _stored(moment: datetime) -> str:
    """The first whole second that is not before a moment, as `LinkCount.modified` has it."""
    second = moment.astimezone(UTC) + timedelta(microseconds=999_999)
    return second.replace(tzinfo=None).isoformat(" ", "seconds")


def _affordable(ranked: Sequence[int], degrees: dict[int, int]) -> list[int]:
    """The notes to walk through next, nearest first, as long as there are links left to look at."""
    chosen: list[int] = []
    left = _LINKS_FURTHER
    for i in ranked:
        if len(chosen) == _WALKED_THROUGH:
            break
        if degrees[i] <= left:
            chosen.append(i)
            left -= degrees[i]
    return chosen


def _is_cut(links: Iterable[LinkCount]) -> bool:
    """Whether there may be more links in one of the directions."""
    looked_at = Counter[bool]()
    for one in links:
        looked_at[one.is_own] += one.number
    return max(looked_at.values(), default=0) >= _LINKS


def _step(
    links: Iterable[LinkCount],
    reached: dict[int, _Reached],
    through: Sequence[int],
    degrees: dict[int, int],
    distance: int,
) -> dict[int, _Reached]:
    """The notes that the links lead to and that were not reached before."""
    rank = {i: place for place, i in enumerate(through)}
    bonds: defaultdict[int, defaultdict[int, list[LinkCount]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for one in links:
        if one.to not in reached:
            bonds[one.to][one.at].append(one)
    found: dict[int, _Reached] = {}
    for to, ways in bonds.items():
        score, best, before = 0.0, 0.0, through[0]
        for at in sorted(ways, key=rank.__getitem__):
            gain = reached[at].score * _strength(ways[at])
            gain /= math.log2(2 + degrees[at]) if distance > 1 else 1.0
            score += gain
            if gain > best:
                best, before = gain, at
        bond = _words(ways[before])
        found[to] = _Reached(distance, round(score, 9), bond, before if distance > 1 else None)
    return found


def _strength(bond: Iterable[LinkCount]) -> float:
    """See the docstring of the module."""
    strength = 0.0
    for one in bond:
        own = _OWN_WORDS if one.is_own else 0.0
        if one.kind == _IN_PROSE:
            strength += min(one.number, _MOST_IN_PROSE) + own / 2
        else:
            strength += _RELATION + own
    return strength


def _words(bond: Iterable[LinkCount]) -> str:
    """`implements, <- links_to (2)`: relations before links in prose, the note's own before others'."""
    in_order = sorted(bond, key=lambda one: (one.kind == _IN_PROSE, not one.is_own, one.kind))
    kinds = [
        f"{'' if one.is_own else '<- '}{one.kind}{f' ({one.number})' if one.number > 1 else ''}"
        for one in in_order
    ]
    more = ["…"] if len(kinds) > _KINDS_SHOWN else []
    return ", ".join([*kinds[:_KINDS_SHOWN], *more])


def _described(tx: Tx, ids: Sequence[int], reached: dict[int, _Reached]) -> tuple[RelatedNote, ...]:
    ways = {i: _way(i, reached) for i in ids}
    refs = NoteRefRepository(tx).by_ids({one for way in ways.values() for one in way})
    openings = NeighbourRepository(tx).openings(ids, _OPENING)
    return tuple(
        RelatedNote(
            ref=refs[i],
            distance=reached[i].distance,
            why=_why(ways[i], refs, reached),
            summary=summary(openings[i].description, openings[i].content),
            via=tuple(refs[one].permalink for one in ways[i][:-1]),
        )
        for i in ids
    )


def _way(last: int, reached: dict[int, _Reached]) -> list[int]:
    """The notes from the first step to this one."""
    way = [last]
    while (before := reached[way[-1]].before) is not None:
        way.append(before)
    return way[::-1]


def _why(way: Sequence[int], refs: dict[int, NoteRef], reached: dict[int, _Reached]) -> str:
    """`requires`, and for two steps `requires > The note between > <- implements`."""
    parts: list[str] = []
    for i in way:
        parts += [reached[i].bond, " ".join(refs[i].title.split())[:_TITLE]]
    return " > ".join(parts[:-1])
