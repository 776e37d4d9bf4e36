from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.db import fts
from memoranda.model.search import ItemType

ids = st.integers(1, fts.MAX_ENTITY_ID)
ordinals = st.integers(0, fts.MAX_ORDINAL)
kinds = st.sampled_from(sorted(fts.KINDS.values()))


@given(ids, ordinals, kinds)
def test_row_id_says_which_item_it_is(entity_id: int, ordinal: int, kind: int) -> None:
    rowid = fts.row_id(entity_id, ordinal, kind)
    assert 0 < rowid < 1 << 63
    assert fts.row_key(rowid) == (entity_id, ordinal, kind)


@given(ids, ordinals, kinds)
def test_rows_of_a_note_are_one_range(entity_id: int, ordinal: int, kind: int) -> None:
    first, last = fts.row_range(entity_id)
    assert first <= fts.row_id(entity_id, ordinal, kind) <= last
    assert fts.row_range(entity_id + 1)[0] == last + 1


def test_rows_of_a_note_are_in_document_order() -> None:
    rows = [fts.row_id(7, 0, 0), fts.row_id(7, 1, 3), fts.row_id(7, 2, 1), fts.row_id(7, 3, 2)]
    assert rows == sorted(rows)


@pytest.mark.parametrize(
    ("entity_id", "ordinal", "kind"),
    [
        (0, 0, 0),
        (-1, 0, 0),
        (fts.MAX_ENTITY_ID + 1, 0, 0),
        (1, fts.MAX_ORDINAL + 1, 0),
        (1, -1, 0),
        (1, 0, 4),
        (1, 0, -1),
    ],
)
def test_row_id_never_spills_into_another_note(entity_id: int, ordinal: int, kind: int) -> None:
    with pytest.raises(ValueError, match="no row id"):
        fts.row_id(entity_id, ordinal, kind)


def test_every_item_type_has_its_own_kind() -> None:
    assert set(fts.KINDS) == set(ItemType)
    assert [fts.ITEM_TYPES[kind] for kind in fts.KINDS.values()] == list(fts.KINDS)


@pytest.mark.spec("2.1.5")
def test_columns_of_the_specification_come_first() -> None:
    assert fts.COLUMNS[:10] == (
        "entity_id",
        "project_id",
        "title",
        "content",
        "note_type",
        "entity_type",
        "created_at",
        "updated_at",
        "tags",
        "content_stems",
    )
