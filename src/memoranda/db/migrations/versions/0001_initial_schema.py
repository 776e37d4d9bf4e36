"""The initial schema, in the five steps of the specification.

A table is made with all its columns at once, since SQLite cannot add a constraint to one: the columns
of steps 4 and 5 stand in step 1, their indexes in their own steps.

Source: spec 2.1, 10.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make everything."""
    create_tables()
    create_full_text()
    create_vectors()
    index_names()
    index_files()


def downgrade() -> None:
    """There is no way back: an index is rebuilt from the notes, never downgraded."""
    raise RuntimeError("The index is rebuilt from the notes, never downgraded")


def create_tables() -> None:
    """Step 1: projects, entities, observations, relations; links, of which relations are made."""
    op.create_table(
        "project",
        sa.Column("id", sa.Integer, autoincrement=True, nullable=False),
        sa.Column("external_id", sa.String, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("permalink", sa.Text),
        sa.Column("is_active", sa.Boolean, server_default=sa.true(), nullable=False),
        sa.Column("is_default", sa.Boolean, server_default=sa.false(), nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("updated_at", sa.DateTime, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_project"),
        sa.UniqueConstraint("external_id", name="uq_project_external_id"),
        sa.UniqueConstraint("permalink", name="uq_project_permalink"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "entity",
        sa.Column("id", sa.Integer, autoincrement=True, nullable=False),
        sa.Column("external_id", sa.String, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("note_type", sa.Text),
        sa.Column("content_type", sa.Text, server_default="text/markdown", nullable=False),
        sa.Column("file_path", sa.Text, nullable=False),
        sa.Column("permalink", sa.Text),
        sa.Column("entity_metadata", sa.Text),
        sa.Column("content", sa.Text),
        sa.Column("mtime", sa.Float),
        sa.Column("size", sa.Integer),
        sa.Column("checksum", sa.Text),
        sa.Column("project_id", sa.Integer, nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("updated_at", sa.DateTime, nullable=False),
        sa.Column("created_by", sa.Text),
        sa.Column("last_updated_by", sa.Text),
        sa.Column("mtime_ns", sa.BigInteger, nullable=False),
        sa.Column("ctime_ns", sa.BigInteger, nullable=False),
        sa.Column("inode", sa.BigInteger, nullable=False),
        sa.Column("note_created", sa.DateTime, nullable=False),
        sa.Column("note_modified", sa.DateTime, nullable=False),
        sa.Column("tags", sa.Text, server_default="[]", nullable=False),
        sa.Column("aliases", sa.Text, server_default="[]", nullable=False),
        sa.Column("wanted_permalink", sa.Text, nullable=False),
        sa.Column("permalink_class", sa.Integer, nullable=False),
        sa.Column("hashed_permalink", sa.Text, nullable=False),
        sa.Column("encoding", sa.Text, server_default="utf-8", nullable=False),
        sa.Column("problems", sa.Text, server_default="[]", nullable=False),
        sa.Column("links_dirty", sa.Boolean, server_default=sa.false(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name="fk_entity_project_id"),
        sa.PrimaryKeyConstraint("id", name="pk_entity"),
        sa.UniqueConstraint("external_id", name="uq_entity_external_id"),
        sa.UniqueConstraint("file_path", "project_id", name="uq_entity_file_path_project_id"),
        sa.UniqueConstraint("permalink", "project_id", name="uq_entity_permalink_project_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_entity_note_type", "entity", ["note_type"])
    op.create_index(
        "ix_entity_links_dirty",
        "entity",
        ["project_id"],
        sqlite_where=sa.text("links_dirty = 1"),
        postgresql_where=sa.text("links_dirty"),
    )
    op.create_table(
        "observation",
        sa.Column("id", sa.Integer, autoincrement=True, nullable=False),
        sa.Column("external_id", sa.String, nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("category", sa.Text),
        sa.Column("context", sa.Text),
        sa.Column("tags", sa.Text),
        sa.Column("permalink", sa.Text),
        sa.Column("entity_id", sa.Integer, nullable=False),
        sa.Column("project_id", sa.Integer, nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("updated_at", sa.DateTime, nullable=False),
        sa.Column("ordinal", sa.Integer, nullable=False),
        sa.Column("line", sa.Integer, nullable=False),
        sa.Column("end_line", sa.Integer, nullable=False),
        sa.Column("block_id", sa.Text),
        sa.Column("attributes", sa.Text),
        sa.Column("heading_path", sa.Text),
        sa.ForeignKeyConstraint(
            ["entity_id"], ["entity.id"], name="fk_observation_entity_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name="fk_observation_project_id"),
        sa.PrimaryKeyConstraint("id", name="pk_observation"),
        sa.UniqueConstraint("external_id", name="uq_observation_external_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_observation_category", "observation", ["category"])
    op.create_index("ix_observation_entity_id", "observation", ["entity_id"])
    op.create_table(
        "relation",
        sa.Column("id", sa.Integer, autoincrement=True, nullable=False),
        sa.Column("external_id", sa.String, nullable=False),
        sa.Column("from_id", sa.Integer, nullable=False),
        sa.Column("to_id", sa.Integer),
        sa.Column("to_name", sa.Text, nullable=False),
        sa.Column("relation_type", sa.Text, nullable=False),
        sa.Column("context", sa.Text),
        sa.Column("permalink", sa.Text),
        sa.Column("project_id", sa.Integer, nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("updated_at", sa.DateTime, nullable=False),
        sa.Column("target", sa.Text, nullable=False),
        sa.Column("line", sa.Integer, nullable=False),
        sa.ForeignKeyConstraint(
            ["from_id"], ["entity.id"], name="fk_relation_from_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name="fk_relation_project_id"),
        sa.ForeignKeyConstraint(
            ["to_id"], ["entity.id"], name="fk_relation_to_id", ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_relation"),
        sa.UniqueConstraint("external_id", name="uq_relation_external_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_relation_from_id", "relation", ["from_id"])
    op.create_index("ix_relation_to_id", "relation", ["to_id"])
    op.create_index(
        "uq_relation_resolved",
        "relation",
        ["from_id", "to_id", "relation_type"],
        unique=True,
        sqlite_where=sa.text("to_id IS NOT NULL"),
        postgresql_where=sa.text("to_id IS NOT NULL"),
    )
    op.create_index(
        "uq_relation_unresolved",
        "relation",
        ["from_id", "to_name", "relation_type"],
        unique=True,
        sqlite_where=sa.text("to_id IS NULL"),
        postgresql_where=sa.text("to_id IS NULL"),
    )
    op.create_table(
        "link",
        sa.Column("entity_id", sa.Integer, nullable=False),
        sa.Column("ordinal", sa.Integer, nullable=False),
        sa.Column("project_id", sa.Integer, nullable=False),
        sa.Column("to_id", sa.Integer),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("root_key", sa.Text),
        sa.Column("slug_key", sa.Text, nullable=False),
        sa.Column("form", sa.Text, nullable=False),
        sa.Column("target", sa.Text, nullable=False),
        sa.Column("anchor", sa.Text),
        sa.Column("label", sa.Text),
        sa.Column("relation_type", sa.Text, nullable=False),
        sa.Column("context", sa.Text),
        sa.Column("is_attachment", sa.Boolean, nullable=False),
        sa.Column("line", sa.Integer, nullable=False),
        sa.Column("start", sa.Integer, nullable=False),
        sa.Column("end", sa.Integer, nullable=False),
        sa.ForeignKeyConstraint(
            ["entity_id"], ["entity.id"], name="fk_link_entity_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name="fk_link_project_id"),
        sa.ForeignKeyConstraint(
            ["to_id"], ["entity.id"], name="fk_link_to_id", ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("entity_id", "ordinal", name="pk_link"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_link_key", "link", ["project_id", "key"])
    op.create_index(
        "ix_link_root_key",
        "link",
        ["project_id", "root_key"],
        sqlite_where=sa.text("root_key IS NOT NULL"),
    )
    op.create_index("ix_link_slug_key", "link", ["project_id", "slug_key"])
    op.create_index("ix_link_to_id", "link", ["to_id"])
    op.create_table(
        "index_meta",
        sa.Column("project_id", sa.Integer, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name="fk_index_meta_project_id"),
        sa.PrimaryKeyConstraint("project_id", "key", name="pk_index_meta"),
    )


def create_full_text() -> None:
    """Step 2: the FTS5 table; other databases have their own full text."""
    if op.get_bind().dialect.name != "sqlite":
        return
    op.execute(
        "CREATE VIRTUAL TABLE search_index USING fts5("
        "entity_id UNINDEXED, project_id UNINDEXED, title, content, note_type UNINDEXED, "
        "entity_type UNINDEXED, created_at UNINDEXED, updated_at UNINDEXED, tags, content_stems, "
        "headings, heading_path UNINDEXED, start_line UNINDEXED, end_line UNINDEXED, "
        "item_id UNINDEXED, "
        "tokenize = \"unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'\")"
    )


def create_vectors() -> None:
    """Step 3: chunks and their embeddings."""
    op.create_table(
        "search_vector_chunks",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("entity_id", sa.Integer, nullable=False),
        sa.Column("chunk_text", sa.Text, nullable=False),
        sa.Column("chunk_index", sa.Integer, nullable=False),
        sa.Column("project_id", sa.Integer),
        sa.Column("created_at", sa.DateTime),
        sa.Column("updated_at", sa.DateTime),
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
    op.create_index("ix_search_vector_chunks_entity_id", "search_vector_chunks", ["entity_id"])
    op.create_table(
        "search_vector_embeddings",
        sa.Column("id", sa.Integer, nullable=False),
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
    )
    op.create_index(
        "ix_search_vector_embeddings_chunk_id", "search_vector_embeddings", ["chunk_id"]
    )


def index_names() -> None:
    """Step 4: permalinks and the other names of notes."""
    op.create_index("ix_entity_wanted", "entity", ["project_id", "wanted_permalink"])
    op.create_index("ix_entity_hashed", "entity", ["project_id", "hashed_permalink"])
    op.create_table(
        "note_name",
        sa.Column("project_id", sa.Integer, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("kind", sa.Integer, nullable=False),
        sa.Column("entity_id", sa.Integer, nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name="fk_note_name_project_id"),
        sa.PrimaryKeyConstraint("project_id", "key", "kind", "entity_id", name="pk_note_name"),
        sqlite_with_rowid=False,
    )


def index_files() -> None:
    """Step 5: what the sync remembers of files."""
    op.create_index("ix_entity_mtime", "entity", ["project_id", "mtime_ns"])
    op.create_table(
        "file_failure",
        sa.Column("project_id", sa.Integer, nullable=False),
        sa.Column("file_path", sa.Text, nullable=False),
        sa.Column("checksum", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("count", sa.Integer, nullable=False),
        sa.Column("failed_at", sa.DateTime, nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name="fk_file_failure_project_id"),
        sa.PrimaryKeyConstraint("project_id", "file_path", name="pk_file_failure"),
    )
