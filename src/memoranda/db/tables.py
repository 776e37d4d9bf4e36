"""The schema (the spec's models.py), as SQLAlchemy Core tables. Source: spec 2.1.

Columns of the spec come first and keep their names and types; own columns follow under `# own`.
`link` holds every occurrence of a link; `relation` is derived from it (architecture row 17).
`note_name` holds every name a link may use; `index_meta` small facts about the index itself.

`search_vector_notes` says which notes have their vectors.

The FTS5 table is made by the migration, for SQLite alone (`repositories.search_sqlite` owns its
columns).
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    false,
    text,
    true,
)
from sqlalchemy.dialects import sqlite


class Characters(TypeDecorator[str]):
    """Text with U+FFFD for NUL, which PostgreSQL cannot hold."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return value.replace("\0", "\ufffd") if value and "\0" in value else value


class WholeSeconds(TypeDecorator[datetime]):
    """Times without a part of a second, as SQLite has them."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.replace(microsecond=0)


# Naive UTC. SQLite keeps times as text: whole seconds, since every row has two of them (what needs
# more, the order of files, uses `mtime_ns`).
TIME = (
    DateTime()
    .with_variant(
        sqlite.DATETIME(  # type: ignore[no-untyped-call]
            storage_format=("%(year)04d-%(month)02d-%(day)02d %(hour)02d:%(minute)02d:%(second)02d")
        ),
        "sqlite",
    )
    .with_variant(WholeSeconds(), "postgresql")
)

TEXT = Text().with_variant(Characters(), "postgresql")

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

project = Table(
    "project",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("external_id", String, nullable=False, unique=True),
    Column("name", TEXT, nullable=False),
    Column("path", TEXT, nullable=False),
    Column("permalink", TEXT, unique=True),
    Column("is_active", Boolean, nullable=False, server_default=true()),
    Column("is_default", Boolean, nullable=False, server_default=false()),
    Column("created_at", TIME, nullable=False),
    Column("updated_at", TIME, nullable=False),
    sqlite_autoincrement=True,
)

entity = Table(
    "entity",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("external_id", String, nullable=False, unique=True),
    Column("title", TEXT, nullable=False),
    Column("note_type", TEXT, index=True),
    Column("content_type", TEXT, nullable=False, server_default="text/markdown"),
    Column("file_path", TEXT, nullable=False),
    Column("permalink", TEXT),
    Column("entity_metadata", TEXT),
    Column("content", TEXT),
    Column("mtime", Float),
    Column("size", Integer),
    Column("checksum", TEXT),
    Column("project_id", Integer, ForeignKey("project.id"), nullable=False),
    Column("created_at", TIME, nullable=False),
    Column("updated_at", TIME, nullable=False),
    Column("created_by", TEXT),
    Column("last_updated_by", TEXT),
    # own
    Column("mtime_ns", BigInteger, nullable=False),
    Column("ctime_ns", BigInteger, nullable=False),
    Column("inode", BigInteger, nullable=False),
    Column("note_created", TIME, nullable=False),
    Column("note_modified", TIME, nullable=False),
    Column("tags", TEXT, nullable=False, server_default="[]"),
    Column("aliases", TEXT, nullable=False, server_default="[]"),
    Column("wanted_permalink", TEXT, nullable=False),
    Column("permalink_class", Integer, nullable=False),
    Column("hashed_permalink", TEXT, nullable=False),
    Column("encoding", TEXT, nullable=False, server_default="utf-8"),
    Column("problems", TEXT, nullable=False, server_default="[]"),
    Column("links_dirty", Boolean, nullable=False, server_default=false()),
    Column("missing_since", TIME),
    UniqueConstraint("permalink", "project_id"),
    UniqueConstraint("file_path", "project_id"),
    Index("ix_entity_wanted", "project_id", "wanted_permalink"),
    Index("ix_entity_hashed", "project_id", "hashed_permalink"),
    Index("ix_entity_mtime", "project_id", "mtime_ns"),
    sqlite_autoincrement=True,
)
Index(
    "ix_entity_links_dirty",
    entity.c.project_id,
    sqlite_where=text("links_dirty = 1"),  # as the queries say it: else SQLite does not use it
    postgresql_where=entity.c.links_dirty,
)
# What search filters ask of notes (`repositories.filters`): the rows hold the texts, and are slow to scan.
Index(
    "ix_entity_filters",
    entity.c.project_id,
    entity.c.note_type,
    entity.c.title,
    entity.c.tags,
    entity.c.entity_metadata,
    entity.c.note_created,
    entity.c.note_modified,
)
# By which is seen that the vectors of a note are of its present text (`repositories.vectors`): by id, without
# the row, whose checksum lies behind the text of the note.
Index(
    "ix_entity_version",
    entity.c.id,
    entity.c.project_id,
    entity.c.checksum,
    entity.c.title,
    entity.c.updated_at,
    entity.c.mtime_ns,
)

observation = Table(
    "observation",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("external_id", String, nullable=False, unique=True),
    Column("content", TEXT, nullable=False),
    Column("category", TEXT, index=True),
    Column("context", TEXT),
    Column("tags", TEXT),
    Column("permalink", TEXT),
    Column(
        "entity_id",
        Integer,
        ForeignKey("entity.id", ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
    Column("project_id", Integer, ForeignKey("project.id"), nullable=False),
    Column("created_at", TIME, nullable=False),
    Column("updated_at", TIME, nullable=False),
    # own
    Column("ordinal", Integer, nullable=False),
    Column("line", Integer, nullable=False),
    Column("end_line", Integer, nullable=False),
    Column("block_id", TEXT),
    Column("attributes", TEXT),
    Column("heading_path", TEXT),
    Column("parent", TEXT),
    Column("parent_line", Integer),
    sqlite_autoincrement=True,
)
Index(
    "ix_observation_tags",
    observation.c.tags,
    observation.c.entity_id,
    sqlite_where=text("tags <> '[]'"),  # as the queries say it
    postgresql_where=observation.c.tags != "[]",
)

relation = Table(
    "relation",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("external_id", String, nullable=False, unique=True),
    Column(
        "from_id",
        Integer,
        ForeignKey("entity.id", ondelete="CASCADE"),
        nullable=False,
        index=True,  # the unique indexes below are partial and cannot find the rows of a note
    ),
    Column("to_id", Integer, ForeignKey("entity.id", ondelete="SET NULL"), index=True),
    Column("to_name", TEXT, nullable=False),
    Column("relation_type", TEXT, nullable=False),
    Column("context", TEXT),
    Column("permalink", TEXT),
    Column("project_id", Integer, ForeignKey("project.id"), nullable=False),
    Column("created_at", TIME, nullable=False),
    Column("updated_at", TIME, nullable=False),
    # own
    Column("target", TEXT, nullable=False),
    Column("line", Integer, nullable=False),
    sqlite_autoincrement=True,
)
Index(
    "uq_relation_resolved",
    relation.c.from_id,
    relation.c.to_id,
    relation.c.relation_type,
    unique=True,
    sqlite_where=relation.c.to_id.is_not(None),
    postgresql_where=relation.c.to_id.is_not(None),
)
Index(
    "uq_relation_unresolved",
    relation.c.from_id,
    relation.c.to_name,
    relation.c.relation_type,
    unique=True,
    sqlite_where=relation.c.to_id.is_(None),
    postgresql_where=relation.c.to_id.is_(None),
)

# own: every occurrence of a link, in document order. `key` and `root_key` are what resolution
# compares (model.address.lookup_key): a Markdown link has its path relative to the note as `key` and
# the path from the root as `root_key`; the other forms have only `key`.
link = Table(
    "link",
    metadata,
    Column("entity_id", Integer, ForeignKey("entity.id", ondelete="CASCADE"), nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("project_id", Integer, ForeignKey("project.id"), nullable=False),
    Column("to_id", Integer, ForeignKey("entity.id", ondelete="SET NULL"), index=True),
    Column("key", TEXT, nullable=False),
    Column("root_key", TEXT),
    Column("slug_key", TEXT, nullable=False),
    Column("form", TEXT, nullable=False),
    Column("target", TEXT, nullable=False),
    Column("anchor", TEXT),
    Column("label", TEXT),
    Column("relation_type", TEXT, nullable=False),
    Column("context", TEXT),
    Column("is_attachment", Boolean, nullable=False),
    Column("line", Integer, nullable=False),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    PrimaryKeyConstraint("entity_id", "ordinal"),
    Index("ix_link_key", "project_id", "key"),
    Index("ix_link_root_key", "project_id", "root_key", sqlite_where=text("root_key IS NOT NULL")),
    Index("ix_link_slug_key", "project_id", "slug_key"),
    sqlite_with_rowid=False,
)

# own: every name by which a link or a person may call a note; `kind` orders them, best first
# (services.linking.NameKind). A function of the entity row (services.linking.names_of): so no index by
# entity is kept, and no foreign key that would need one.
note_name = Table(
    "note_name",
    metadata,
    Column("project_id", Integer, ForeignKey("project.id"), nullable=False),
    Column("key", TEXT, nullable=False),
    Column("kind", Integer, nullable=False),
    Column("entity_id", Integer, nullable=False),
    PrimaryKeyConstraint("project_id", "key", "kind", "entity_id"),
    sqlite_with_rowid=False,
)

# own: files that failed, for the circuit breaker (row 22) and for `status`.
file_failure = Table(
    "file_failure",
    metadata,
    Column("project_id", Integer, ForeignKey("project.id"), nullable=False),
    Column("file_path", TEXT, nullable=False),
    Column("checksum", TEXT, nullable=False),
    Column("kind", TEXT, nullable=False),
    Column("reason", TEXT, nullable=False),
    Column("count", Integer, nullable=False),
    Column("failed_at", TIME, nullable=False),
    PrimaryKeyConstraint("project_id", "file_path"),
)

# own: facts about the index itself (parser version, end of the last full sync, ...), JSON values.
index_meta = Table(
    "index_meta",
    metadata,
    Column("project_id", Integer, ForeignKey("project.id"), nullable=False),
    Column("key", TEXT, nullable=False),
    Column("value", TEXT, nullable=False),
    PrimaryKeyConstraint("project_id", "key"),
)

search_vector_chunks = Table(
    "search_vector_chunks",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("entity_id", Integer, ForeignKey("entity.id", ondelete="CASCADE"), nullable=False),
    Column("chunk_text", TEXT, nullable=False),
    Column("chunk_index", Integer, nullable=False),
    Column("project_id", Integer, ForeignKey("project.id")),
    Column("created_at", TIME),
    Column("updated_at", TIME),
    # own
    Column("item_key", BigInteger, nullable=False),
    Column("part", Integer, nullable=False),
    Column("content_key", LargeBinary, nullable=False),
    Index("ix_search_vector_chunks_item", "entity_id", "item_key"),
    Index("ix_search_vector_chunks_content", "project_id", "content_key"),
)

# Ids are never used twice: caches know vectors by them (`repositories.vector_scan`).
search_vector_embeddings = Table(
    "search_vector_embeddings",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column(
        "chunk_id",
        Integer,
        ForeignKey("search_vector_chunks.id", ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
    Column("embedding", LargeBinary, nullable=False),
    Column("dimensions", Integer, nullable=False),
    Column("model", TEXT, nullable=False),
    Column("created_at", TIME),
    sqlite_autoincrement=True,
)

# own: of which text of a note its chunks are, and in which space all of them have vectors. `checksum`,
# `title` and `indexed_at` are those of the entity row then (`updated_at`): a title may come from the path,
# and another version of the index may make other items of the same bytes.
search_vector_notes = Table(
    "search_vector_notes",
    metadata,
    Column(
        "entity_id",
        Integer,
        ForeignKey("entity.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("project_id", Integer, ForeignKey("project.id"), nullable=False),
    Column("space", TEXT, nullable=False),
    Column("checksum", TEXT, nullable=False),
    Column("title", TEXT, nullable=False),
    Column("indexed_at", TIME, nullable=False),
    Column("vectors", Integer, nullable=False),
)
