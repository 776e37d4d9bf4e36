"""Where the index of a project is: what differs between SQLite and PostgreSQL, behind one value."""
