"""Real servers embed a project: one of them, what others write too, and on after a kill or an end."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from tests.live.home import Home, until

NOTES = 1500
SECTIONS = 8
STATIC = {"BASIC_MEMORY_SEMANTIC_EMBEDDING_PROVIDER": "static"}

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

Record = Callable[[str, object], None]


def _write_notes(home: Home) -> None:
    for number in range(NOTES):
        parts = (f"## Part {part}\n\nWhat {number} says of {part}.\n" for part in range(SECTIONS))
        (home.root / f"n{number}.md").write_text(f"# Note {number}\n\n" + "\n".join(parts))


def _done(home: Home) -> int:
    """How many notes have their vectors; 0 while there is no index."""
    rows = home.rows("SELECT count(*) FROM search_vector_notes")
    return int(str(rows[0][0])) if rows else 0


def _vectors(home: Home) -> dict[object, object]:
    """Every vector by its id, which is never used twice, and its text."""
    return dict(
        home.rows(
            "SELECT v.id, c.chunk_text FROM search_vector_embeddings AS v "  # type: ignore[arg-type]
            "JOIN search_vector_chunks AS c ON c.id = v.chunk_id"
        )
    )


def test_what_is_embedded_outlives_a_kill_and_nothing_is_embedded_twice(home: Home) -> None:
    _write_notes(home)
    first = home.start("first", **STATIC)
    first.greet()
    until(lambda: _done(home), "embedding has begun")
    first.kill()
    before = _vectors(home)
    assert 0 < _done(home) < NOTES
    home.start("second", **STATIC).greet()
    until(lambda: _done(home) == NOTES, "all notes are embedded")
    after = _vectors(home)
    assert before.items() <= after.items()
    assert len(set(after.values())) == len(after)
    home.assert_nothing_bad_was_logged()


def test_a_server_that_embeds_ends_at_once(home: Home, record_property: Record) -> None:
    _write_notes(home)
    server = home.start("only", **STATIC)
    server.greet()
    until(lambda: _done(home), "embedding has begun")
    began = time.monotonic()
    assert server.close() == 0
    record_property("ended_s", round(time.monotonic() - began, 2))
    assert _done(home) < NOTES
    home.assert_nothing_bad_was_logged()


def test_what_a_follower_writes_is_embedded_by_the_leader(home: Home) -> None:
    leader, follower = (home.start(name, **STATIC) for name in ("leader", "follower"))
    for server in (leader, follower):
        server.greet()
        assert not server.call("list_directory").code
    assert not follower.call("write_note", title="Heron", content="It left the reeds.").code
    until(lambda: _done(home) == 1, "the note is embedded")
    log = "".join(file.read_text() for file in home.config.glob("memoranda.log*"))
    assert log.count("this process watches and syncs it") == 1
    home.assert_nothing_bad_was_logged()
