#!/bin/sh
# Run once by the image of PostgreSQL, when the database is made: a user that owns one schema and nothing else.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$MEMORANDA_PASSWORD" --username "$POSTGRES_USER" <<'SQL'
CREATE ROLE memoranda LOGIN PASSWORD :'password';
CREATE DATABASE notes ENCODING 'UTF8' TEMPLATE template0;
REVOKE ALL ON DATABASE notes FROM PUBLIC;
GRANT CONNECT ON DATABASE notes TO memoranda;
\connect notes
CREATE EXTENSION IF NOT EXISTS vector;
CREATE SCHEMA memoranda AUTHORIZATION memoranda;
SQL
