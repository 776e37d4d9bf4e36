"""Observations know the list item that they are nested in.

Source: FORMAT "Observations".
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Two columns; the notes are read again anyway, since the parser is newer too."""
    op.add_column("observation", sa.Column("parent", sa.Text))
    op.add_column("observation", sa.Column("parent_line", sa.Integer))


def downgrade() -> None:
    """There is no way back: an index is rebuilt from the notes, never downgraded."""
    raise RuntimeError("The index is rebuilt from the notes, never downgraded")
