"""Chunks know their item and their content, and a table says of which text a note's vectors are.

The tables of chunks and vectors were never written to before, so they are made anew. Ids of vectors
are never used twice, since caches know vectors by them.

Source: spec 2.1.5.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Tables without rows; nothing is read again."""
    op.drop_table("search_vector_embeddings")
    op.drop_table("search_vector_chunks")
    op.create_table(
        "search_vector_chunks",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("entity_id", sa.Integer, nullable=False),
        sa.Column("chunk_text", sa.Text, nullable=False),
        sa.Column("chunk_index", sa.Integer, nullable=False),
        sa.Column("project_id", sa.Integer),
        sa.Column("created_at", sa.DateTime),
        sa.Column("updated_at", sa.DateTime),
        sa.Column("item_key", sa.BigInteger, nullable=False),
        sa.Column("part", sa.Integer, nullable=False),
        sa.Column("content_key", sa.LargeBinary, nullable=False),
        sa.ForeignKeyConstraint(
            ["entity_id"],
            ["entity.id"],
            name="fk_search_vector_chunks_entity_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.id"], name="fk_search_vector_chunks_project_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_search_vector_chunks"),
    )
    op.create_index(
        "ix_search_vector_chunks_item", "search_vector_chunks", ["entity_id", "item_key"]
    )
    op.create_index(
        "ix_search_vector_chunks_content", "search_vector_chunks", ["project_id", "content_key"]
    )
    op.create_table(
        "search_vector_embeddings",
        sa.Column("id", sa.Integer, autoincrement=True, nullable=False),
        sa.Column("chunk_id", sa.Integer, nullable=False),
        sa.Column("embedding", sa.LargeBinary, nullable=False),
        sa.Column("dimensions", sa.Integer, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime),
        sa.ForeignKeyConstraint(
            ["chunk_id"],
            ["search_vector_chunks.id"],
            name="fk_search_vector_embeddings_chunk_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_search_vector_embeddings"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_search_vector_embeddings_chunk_id", "search_vector_embeddings", ["chunk_id"]
    )
    op.create_table(
        "search_vector_notes",
        sa.Column("entity_id", sa.Integer, nullable=False),
        sa.Column("project_id", sa.Integer, nullable=False),
        sa.Column("space", sa.Text, nullable=False),
        sa.Column("checksum", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("indexed_at", sa.DateTime, nullable=False),
        sa.Column("vectors", sa.Integer, nullable=False),
        sa.ForeignKeyConstraint(
            ["entity_id"],
            ["entity.id"],
            name="fk_search_vector_notes_entity_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.id"], name="fk_search_vector_notes_project_id"
        ),
        sa.PrimaryKeyConstraint("entity_id", name="pk_search_vector_notes"),
    )
    op.create_index(
        "ix_entity_version",
        "entity",
        ["id", "project_id", "checksum", "title", "updated_at", "mtime_ns"],
    )


def downgrade() -> None:
    """There is no way back: an index is rebuilt from the notes, never downgraded."""
    raise RuntimeError("The index is rebuilt from the notes, never downgraded")
