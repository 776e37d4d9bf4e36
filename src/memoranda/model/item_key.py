"""The key of an item: which note it belongs to, where it stands in it and what it is, in one integer. Pure.

    entity_id << 24 | ordinal << 2 | kind

Full-text rows have it as their row id; ranking works on keys and scores alone. All items of a note are one
range, and items of one kind that follow each other in a note are four apart.
"""

from __future__ import annotations

from typing import NamedTuple

from memoranda.model.search import ItemType

KINDS: dict[ItemType, int] = {
    ItemType.NOTE: 0,
    ItemType.SECTION: 1,
    ItemType.OBSERVATION: 2,
    ItemType.RELATION: 3,
}
ITEM_TYPES: tuple[ItemType, ...] = tuple(KINDS)
"""Item type by kind."""

KIND_BITS = 2
NOTE_BITS = 24
MAX_ORDINAL = (1 << (NOTE_BITS - KIND_BITS)) - 1
MAX_ENTITY_ID = (1 << (63 - NOTE_BITS)) - 1


class ItemKey(NamedTuple):
    """What a key says. `ordinal` is the place of the item in the note, 0 for the note itself."""

    entity_id: int
    ordinal: int
    kind: int


def item_key(entity_id: int, ordinal: int, kind: int) -> int:
    """The key of one item, a positive 64-bit integer.

    Raises:
        ValueError: a part does not fit into its bits, which would write into another note's items.
    """
    if not (
        0 < entity_id <= MAX_ENTITY_ID
        and 0 <= ordinal <= MAX_ORDINAL
        and 0 <= kind < 1 << KIND_BITS
    ):
        raise ValueError(f"no key for entity {entity_id}, ordinal {ordinal}, kind {kind}")
    return entity_id << NOTE_BITS | ordinal << KIND_BITS | kind


def key_parts(key: int) -> ItemKey:
    """The parts of a key; the inverse of `item_key`."""
    return ItemKey(key >> NOTE_BITS, (key >> KIND_BITS) & MAX_ORDINAL, key & ((1 << KIND_BITS) - 1))


def key_range(entity_id: int) -> tuple[int, int]:
    """First and last possible key of a note, both inclusive (for BETWEEN)."""
    first = entity_id << NOTE_BITS
    return first, first | ((1 << NOTE_BITS) - 1)
