"""A note whose file is missing is kept for a while, and knows since when.

Source: spec 4.2; architecture row 10.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import sqlite

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TIME = sa.DateTime().with_variant(
    sqlite.DATETIME(  # type: ignore[no-untyped-call]
        storage_format=("%(year)04d-%(month)02d-%(day)02d %(hour)02d:%(minute)02d:%(second)02d")
    ),
    "sqlite",
)


def upgrade() -> None:
    """One column, empty in every row; nothing is read again."""
    op.add_column("entity", sa.Column("missing_since", TIME))


def downgrade() -> None:
    """There is no way back: an index is rebuilt from the notes, never downgraded."""
    raise RuntimeError("The index is rebuilt from the notes, never downgraded")
