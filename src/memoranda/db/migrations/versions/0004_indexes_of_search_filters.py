"""Search filters read two narrow indexes instead of rows that hold the texts of notes.

Source: spec 5.5.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Two indexes over rows that are there; nothing is read again."""
    op.create_index(
        "ix_entity_filters",
        "entity",
        [
            "project_id", "note_type", "title", "tags", "entity_metadata", "note_created",
            "note_modified",
        ],
    )  # fmt: skip
    op.create_index(
        "ix_observation_tags",
        "observation",
        ["tags", "entity_id"],
        sqlite_where=sa.text("tags <> '[]'"),
        postgresql_where=sa.text("tags <> '[]'"),
    )


def downgrade() -> None:
    """There is no way back: an index is rebuilt from the notes, never downgraded."""
    raise RuntimeError("The index is rebuilt from the notes, never downgraded")
