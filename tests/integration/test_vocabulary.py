"""Words that a misspelt one may have meant, from a real index."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import text
from tests.integration.conftest import Index

from memoranda.repositories.vocabulary import similar_words

Similar = Callable[..., list[tuple[str, int]]]

pytestmark = pytest.mark.sqlite  # contract/test_full_text_index.py has what holds for both


@pytest.fixture
def similar(index: Index) -> Similar:
    def run(word: str, limit: int = 3, project_id: int | None = None) -> list[tuple[str, int]]:
        project_id = project_id or index.store.project_id
        return index.store.read_now(lambda tx: similar_words(tx.conn, project_id, word, limit))

    return run


def test_a_misspelt_word_is_near_the_right_one(index: Index, similar: Similar) -> None:
    index.write("a.md", "# Plan\n\nThe warehouse of the north.\n\n- [place] another warehouse\n")
    index.write("b.md", "# Warehouse\n\nHorses.\n")
    index.run_sync()
    assert [word for word, _ in similar("wharehouse")] == ["warehouse"]
    assert similar("warehouse") == []
    assert similar("hrses") == [("horses", 1)]
    assert similar("phorses") == [("horses", 1)]
    assert similar("zebra") == similar("") == similar("2026") == []


def test_fewest_edits_come_first_then_most_items(index: Index, similar: Similar) -> None:
    index.write(
        "a.md", "- [fact] recede\n- [fact] receive\n- [fact] receives\n- [fact] receive it\n"
    )
    index.write("b.md", "- [fact] relieve\n- [fact] relieve it\n- [fact] relieve us\n")
    index.run_sync()
    assert similar("receeve") == [("receive", 2)]  # two edits are not asked for
    assert similar("releive") == [("relieve", 3), ("receive", 2)]
    assert similar("reeive") == [("receive", 2)]
    index.write("c.md", "- [fact] deceive\n- [fact] deceive us\n- [fact] deceive them\n")
    index.run_sync()
    assert similar("zeceive") == [("deceive", 3), ("receive", 2)]
    assert similar("zeceive", limit=1) == [("deceive", 3)]


def test_two_edits_are_near_in_a_long_word(index: Index, similar: Similar) -> None:
    index.write("a.md", "The configuration of a library.\n")
    index.run_sync()
    assert similar("confgurtion") == [("configuration", 1)]
    assert similar("lbray") == []


def test_a_stem_is_no_word(index: Index, similar: Similar) -> None:
    index.write("a.md", "Universities and policies.\n")
    index.run_sync()
    assert index.rows("SELECT content_stems FROM search_index WHERE content_stems LIKE '%polici%'")
    assert similar("polici") == []
    assert similar("policie") == [("policies", 1)]


def test_words_have_their_accents(index: Index, similar: Similar) -> None:
    index.write("a.md", "Die Größe der Prüfung, архитектура\n")
    index.run_sync()
    assert similar("prufumg") == [("prüfung", 1)]
    assert similar("архтектура") == [("архитектура", 1)]


def test_words_of_other_projects_are_not_shown(index: Index, similar: Similar) -> None:
    index.write("a.md", "The warehouse of the north.\n")
    index.run_sync()
    index.store.write_now(
        lambda tx: tx.conn.execute(
            text(
                "INSERT INTO project (id, external_id, name, path, created_at, updated_at)"
                " VALUES (77, 'x', 'x', '/x', '2026-01-01 00:00:00', '2026-01-01 00:00:00')"
            )
        )
    )
    assert similar("wharehouse") == [("warehouse", 1)]
    assert similar("wharehouse", project_id=77) == []


def test_the_words_are_those_of_now(index: Index, similar: Similar) -> None:
    file = index.write("a.md", "The warehouse of the north.\n")
    index.run_sync()
    assert similar("wharehouse") == [("warehouse", 1)]
    file.unlink()
    index.write("b.md", "A wharehouses here.\n")
    index.run_sync()
    assert similar("wharehouse") == [("wharehouses", 1)]
