from __future__ import annotations

import pytest

from memoranda.db import fts


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
