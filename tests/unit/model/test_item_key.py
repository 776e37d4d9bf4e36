from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.model.item_key import (
    ITEM_TYPES,
    KINDS,
    MAX_ENTITY_ID,
    MAX_ORDINAL,
    item_key,
    key_parts,
    key_range,
)
from memoranda.model.search import ItemType

ids = st.integers(1, MAX_ENTITY_ID)
ordinals = st.integers(0, MAX_ORDINAL)
kinds = st.sampled_from(sorted(KINDS.values()))


@given(ids, ordinals, kinds)
def test_a_key_says_which_item_it_is(entity_id: int, ordinal: int, kind: int) -> None:
    key = item_key(entity_id, ordinal, kind)
    assert 0 < key < 1 << 63
    assert key_parts(key) == (entity_id, ordinal, kind)


@given(ids, ordinals, kinds)
def test_keys_of_a_note_are_one_range(entity_id: int, ordinal: int, kind: int) -> None:
    first, last = key_range(entity_id)
    assert first <= item_key(entity_id, ordinal, kind) <= last
    assert key_range(entity_id + 1)[0] == last + 1


def test_keys_of_a_note_are_in_document_order() -> None:
    keys = [item_key(7, 0, 0), item_key(7, 1, 3), item_key(7, 2, 1), item_key(7, 3, 2)]
    assert keys == sorted(keys)


@pytest.mark.parametrize(
    ("entity_id", "ordinal", "kind"),
    [
        (0, 0, 0),
        (-1, 0, 0),
        (MAX_ENTITY_ID + 1, 0, 0),
        (1, MAX_ORDINAL + 1, 0),
        (1, -1, 0),
        (1, 0, 4),
        (1, 0, -1),
    ],
)
def test_a_key_never_spills_into_another_note(entity_id: int, ordinal: int, kind: int) -> None:
    with pytest.raises(ValueError, match="no key"):
        item_key(entity_id, ordinal, kind)


def test_every_item_type_has_its_own_kind() -> None:
    assert set(KINDS) == set(ItemType)
    assert [ITEM_TYPES[kind] for kind in KINDS.values()] == list(KINDS)
