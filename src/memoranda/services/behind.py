"""The hits behind the precisely scored: in the order of what they promise. Pure, but for the order of paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from memoranda.model.item_key import NOTE_BITS
from memoranda.ranking.matching import Ids, ItemMatches, Scores


def by_promise(
    ids: Ids,
    scores: Scores,
    wanted: slice,
    shift: int,
    places: Callable[[set[int]], Mapping[int, int]],
) -> list[int]:
    """That part of the ids, best first, equal scores by path; paths are read of those alone.

    Args:
        ids: of notes, or keys of items.
        scores: what each promises.
        wanted: from 0, in the order that is made.
        shift: bits that an id has beside the note's.
        places: ids of notes -> the place of each in the order of paths.
    """
    start, stop = wanted.start, min(wanted.stop, len(ids))
    if start >= stop:
        return []
    order = np.argsort(-scores, kind="stable")
    falling = -scores[order]
    first = int(np.searchsorted(falling, falling[start], "left"))
    last = int(np.searchsorted(falling, falling[stop - 1], "right"))
    window = list(zip(falling[first:last].tolist(), ids[order[first:last]].tolist(), strict=True))
    by_path = places({one >> shift for _, one in window})
    window.sort(key=lambda pair: (pair[0], by_path.get(pair[1] >> shift, 0), pair[1]))
    return [one for _, one in window[start - first : stop - first]]


def best_items(note: int, items: ItemMatches, most: int) -> list[int]:
    """Keys of a note's items that promise most, best first."""
    first, last = np.searchsorted(items.keys, (note << NOTE_BITS, (note + 1) << NOTE_BITS))
    best = np.argsort(-items.scores[first:last], kind="stable")[:most]
    keys: list[int] = items.keys[first:last][best].tolist()
    return keys
