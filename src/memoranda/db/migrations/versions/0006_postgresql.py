"""What PostgreSQL has otherwise: the order of texts, indexes of bounded rows, full text, filters, vectors.

Texts are compared by their characters, as on SQLite, whatever the database's own order is. A row of an index
may not be longer than 2,704 bytes there, and titles, types and names of links may: such an index is left out,
or is of a hash. Nothing changes on SQLite.

Source: spec 2.1.5.
"""

from __future__ import annotations

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
    create_functions()
    create_full_text()
    create_filters()
    create_vectors()
    create_leaders()


def downgrade() -> None:
    """There is no way back: an index is rebuilt from the notes, never downgraded."""
    raise RuntimeError("The index is rebuilt from the notes, never downgraded")


def bound_indexes() -> None:
    """Leave out indexes whose rows may be too long, and make those that are needed of hashes.

    Only that of paths stays one of texts, since folders are ranges of it: a longer path is a failure of its file.
    All begin with the project, of which many are in one database: their notes share names. What looks for a text
    says its hash (`repositories.membership`). Those of times have the ids, so that the rows, which hold the
    texts of notes, are not read for them.
    """
    for name, table in (
        ("ix_entity_note_type", "entity"),
        ("ix_entity_filters", "entity"),
        ("ix_entity_version", "entity"),
        ("ix_entity_wanted", "entity"),
        ("ix_entity_hashed", "entity"),
        ("ix_entity_mtime", "entity"),
        ("ix_observation_category", "observation"),
        ("ix_observation_tags", "observation"),
        ("uq_relation_resolved", "relation"),
        ("uq_relation_unresolved", "relation"),
        ("ix_link_key", "link"),
        ("ix_link_root_key", "link"),
        ("ix_link_slug_key", "link"),
    ):
        op.drop_index(name, table)
    op.drop_constraint("uq_entity_file_path_project_id", "entity")
    op.drop_constraint("uq_entity_permalink_project_id", "entity")
    op.drop_constraint("pk_note_name", "note_name")
    op.drop_constraint("pk_file_failure", "file_failure")
    for index in (
        "UNIQUE INDEX uq_entity_path ON entity (project_id, file_path)",
        "UNIQUE INDEX uq_entity_permalink ON entity (project_id, md5(permalink))",
        "INDEX ix_entity_wanted ON entity (project_id, md5(wanted_permalink))",
        "INDEX ix_entity_hashed ON entity (project_id, md5(hashed_permalink))",
        "INDEX ix_entity_mtime ON entity (project_id, mtime_ns) INCLUDE (id)",
        "INDEX ix_entity_dates ON entity (project_id, note_created, note_modified) INCLUDE (id)",
        "UNIQUE INDEX uq_relation_resolved ON relation (from_id, to_id, md5(relation_type))"
        " WHERE to_id IS NOT NULL",
        "UNIQUE INDEX uq_relation_unresolved ON relation (from_id, md5(to_name), md5(relation_type))"
        " WHERE to_id IS NULL",
        "INDEX ix_link_key ON link (project_id, md5(key))",
        "INDEX ix_link_root_key ON link (project_id, md5(root_key)) WHERE root_key IS NOT NULL",
        "INDEX ix_link_slug_key ON link (project_id, md5(slug_key))",
        "UNIQUE INDEX uq_note_name ON note_name (project_id, md5(key), kind, entity_id)",
        'INDEX ix_note_name_order ON note_name (project_id, kind, "left"(key, 250) COLLATE "C")',
        "UNIQUE INDEX uq_file_failure_path ON file_failure (project_id, md5(file_path))",
    ):
        op.execute(f"CREATE {index}")


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


def create_functions() -> None:
    """Reserve ids in a row without waiting for the end of another transaction that did; and what SQLite has.

    A lock of a transaction ends with the part of it that is undone, and a sequence is never undone: so whatever
    happens meanwhile, nobody keeps the lock.
    """
    op.execute("""
        CREATE FUNCTION instr(within text, part text) RETURNS integer
        LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN strpos(within, part)
    """)
    op.execute("""
        CREATE FUNCTION reserve_ids(sequence text, many integer) RETURNS bigint LANGUAGE plpgsql AS $$
        DECLARE first bigint;
        BEGIN
            BEGIN
                PERFORM pg_advisory_xact_lock(
                    hashtext('memoranda ids'), (sequence::regclass::oid::bigint % 2147483647)::integer
                );
                first := nextval(sequence);
                PERFORM setval(sequence, first + many - 1);
                RAISE SQLSTATE 'MEMID';
            EXCEPTION WHEN SQLSTATE 'MEMID' THEN
                RETURN first;
            END;
        END $$
    """)


def create_leaders() -> None:
    """What the process that leads a project says of itself; the lock says who that is."""
    op.execute("""
        CREATE TABLE project_leader (
            project_id integer PRIMARY KEY REFERENCES project (id) ON DELETE CASCADE,
            said text COLLATE "C" NOT NULL,
            at timestamptz NOT NULL
        )
    """)


def create_full_text() -> None:
    """The items of notes as on SQLite, the words of each, and those of a project.

    The words have a table of their own with short rows, since a search visits one for each item of a word. The
    tsvector lies outside of its row: PostgreSQL moves a column out of rows over two kilobytes only, which is what
    `filler` makes of every row before it shrinks to some thirty bytes. So the table may never be read row by row,
    which a planner that counts pages prefers for a common word, or for the first few items of one: `search_keys`
    goes by the index. With less memory than it takes the rows of a million notes do not fit into a bitmap, and
    all rows beside them are read as well.
    """
    op.execute("""
        CREATE TABLE search_index (
            rowid bigint PRIMARY KEY,
            entity_id integer NOT NULL,
            project_id integer NOT NULL REFERENCES project (id),
            title text COLLATE "C",
            content text COLLATE "C" NOT NULL,
            note_type text COLLATE "C",
            entity_type text COLLATE "C" NOT NULL,
            created_at text COLLATE "C",
            updated_at text COLLATE "C",
            tags text COLLATE "C",
            content_stems text COLLATE "C",
            headings text COLLATE "C",
            heading_path text COLLATE "C",
            start_line integer NOT NULL,
            end_line integer NOT NULL,
            item_id integer
        )
    """)
    op.create_index("ix_search_index_project", "search_index", ["project_id", "rowid"])
    op.execute("""
        CREATE TABLE search_terms (
            key bigint NOT NULL,
            part smallint NOT NULL,
            project_id integer NOT NULL REFERENCES project (id),
            terms tsvector NOT NULL,
            filler text COLLATE "C" NOT NULL DEFAULT repeat(' ', 2000),
            PRIMARY KEY (key, part)
        ) WITH (toast_tuple_target = 128)
    """)
    op.execute(
        "ALTER TABLE search_terms ALTER COLUMN terms SET STORAGE EXTERNAL,"
        " ALTER COLUMN filler SET STORAGE MAIN"
    )
    op.execute(
        "CREATE INDEX ix_search_terms_terms ON search_terms USING gin (terms)"
        " WITH (gin_pending_list_limit = 256)"
    )
    op.execute("""
        CREATE FUNCTION search_keys(asked tsquery, most bigint) RETURNS bytea LANGUAGE plpgsql STABLE
        SET search_path FROM CURRENT SET enable_seqscan = off SET enable_indexscan = off SET work_mem = '32MB' AS $$
        BEGIN
            RETURN (
                SELECT string_agg(int8send(key), ''::bytea)
                FROM (SELECT key FROM search_terms WHERE terms @@ asked LIMIT most) AS found
            );
        END $$
    """)
    op.execute("""
        CREATE TABLE search_words (
            project_id integer NOT NULL REFERENCES project (id),
            word text COLLATE "C" NOT NULL,
            PRIMARY KEY (project_id, word)
        )
    """)
    op.execute("""
        CREATE TABLE search_statistics (
            project_id integer PRIMARY KEY REFERENCES project (id),
            items bigint NOT NULL
        )
    """)


def create_filters() -> None:
    """What search filters ask of notes (`repositories.note_filters`): what is read for all notes is in short rows."""
    op.execute(
        """
        CREATE TABLE note_filter (
            entity_id integer PRIMARY KEY REFERENCES entity (id) ON DELETE CASCADE,
            project_id integer NOT NULL,
            title text COLLATE "C" NOT NULL,
            path text COLLATE "C" NOT NULL,
            permalink text COLLATE "C" NOT NULL,
            terms bigint[] NOT NULL,
            metadata jsonb NOT NULL
        )
        """
    )
    op.create_index("ix_note_filter_project", "note_filter", ["project_id"])
    op.execute(
        "CREATE INDEX ix_note_filter_terms ON note_filter USING gin (terms)"
        " WITH (gin_pending_list_limit = 256)"
    )


def create_vectors() -> None:
    """What vectors need beside the tables that SQLite has: whose each is, and counts that triggers keep.

    A note is fresh while its vectors are of its present version. `search_vector_sums` counts, for each 256 ids of
    notes, all of them (space '') and those that are fresh in a space: with one row for a project each change would
    look through the versions that the same transaction made of it before.

    The table of pgvector, and the index that `search_vector_spaces.near_index` names, are made when they are worth
    it (`repositories.vector_near_index`).
    """
    op.execute("ALTER TABLE search_vector_embeddings ADD COLUMN project_id integer NOT NULL")
    op.execute("ALTER TABLE search_vector_embeddings ALTER COLUMN embedding SET STORAGE MAIN")
    op.execute(
        "CREATE INDEX ix_search_vector_embeddings_space"
        " ON search_vector_embeddings (project_id, model, id)"
    )
    op.execute("ALTER TABLE search_vector_notes ADD COLUMN is_fresh boolean NOT NULL DEFAULT true")
    op.execute(
        "CREATE INDEX ix_search_vector_notes_space ON search_vector_notes (project_id, space)"
    )
    op.execute("""
        CREATE TABLE search_vector_spaces (
            project_id integer NOT NULL REFERENCES project (id) ON DELETE CASCADE,
            space text COLLATE "C" NOT NULL,
            last_id bigint NOT NULL,
            near_index text COLLATE "C",
            PRIMARY KEY (project_id, space)
        )
    """)
    op.execute("""
        CREATE TABLE search_vector_sums (
            project_id integer NOT NULL REFERENCES project (id) ON DELETE CASCADE,
            space text COLLATE "C" NOT NULL,
            block integer NOT NULL,
            notes integer NOT NULL,
            vectors integer NOT NULL,
            PRIMARY KEY (project_id, space, block)
        )
    """)
    op.execute("""
        CREATE FUNCTION search_vector_entity_changed() RETURNS trigger
        LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        BEGIN
            IF TG_OP = 'INSERT' THEN
                INSERT INTO search_vector_sums AS s VALUES (NEW.project_id, '', NEW.id >> 8, 1, 0)
                ON CONFLICT (project_id, space, block) DO UPDATE SET notes = s.notes + 1;
            ELSIF TG_OP = 'DELETE' THEN
                UPDATE search_vector_sums SET notes = notes - 1
                WHERE project_id = OLD.project_id AND space = '' AND block = OLD.id >> 8;
            ELSE
                UPDATE search_vector_notes SET is_fresh = NOT is_fresh
                WHERE entity_id = NEW.id AND is_fresh <> (
                    checksum = coalesce(NEW.checksum, '') AND title = NEW.title
                    AND indexed_at = NEW.updated_at
                );
            END IF;
            RETURN NULL;
        END $$
    """)
    op.execute("""
        CREATE FUNCTION search_vector_note_changed() RETURNS trigger
        LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        BEGIN
            IF TG_OP <> 'INSERT' AND OLD.is_fresh THEN
                UPDATE search_vector_sums SET notes = notes - 1, vectors = vectors - OLD.vectors
                WHERE project_id = OLD.project_id AND space = OLD.space
                AND block = OLD.entity_id >> 8;
            END IF;
            IF TG_OP <> 'DELETE' AND NEW.is_fresh THEN
                INSERT INTO search_vector_sums AS s
                VALUES (NEW.project_id, NEW.space, NEW.entity_id >> 8, 1, NEW.vectors)
                ON CONFLICT (project_id, space, block) DO UPDATE
                SET notes = s.notes + 1, vectors = s.vectors + excluded.vectors;
            END IF;
            RETURN NULL;
        END $$
    """)
    op.execute("""
        CREATE TRIGGER search_vector_entity_counted AFTER INSERT OR DELETE ON entity
        FOR EACH ROW EXECUTE FUNCTION search_vector_entity_changed()
    """)
    op.execute("""
        CREATE TRIGGER search_vector_entity_indexed
        AFTER UPDATE OF checksum, title, updated_at ON entity FOR EACH ROW
        WHEN (
            OLD.checksum IS DISTINCT FROM NEW.checksum OR OLD.title <> NEW.title
            OR OLD.updated_at <> NEW.updated_at
        )
        EXECUTE FUNCTION search_vector_entity_changed()
    """)
    op.execute("""
        CREATE TRIGGER search_vector_note_counted AFTER INSERT OR UPDATE OR DELETE
        ON search_vector_notes FOR EACH ROW EXECUTE FUNCTION search_vector_note_changed()
    """)
