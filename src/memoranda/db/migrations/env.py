"""Run by Alembic for every migration; `db.migrate` hands over a connection inside its transaction."""

from __future__ import annotations

from alembic import context

from memoranda.db.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table_schema=context.config.attributes.get(
        "schema"
    ),  # not whichever the search path finds
)
with context.begin_transaction():
    context.run_migrations()
