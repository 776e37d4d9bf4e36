"""How notes stand among others, read from a real index, and what it does to a search."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from tests.integration.conftest import Index, fulltext_of

from memoranda.model.search import ItemType, SearchFilters, SearchQuery, SearchResults, SearchType
from memoranda.model.standing import NoteStanding
from memoranda.repositories.standing import StandingRepository
from memoranda.services.search import SearchService

DATED = "modified: 2026-01-02T03:04:05Z\n"


def standings(index: Index) -> dict[str, NoteStanding]:
    ids = {int(str(i)): str(path) for i, path in index.rows("SELECT id, file_path FROM entity")}
    found = index.store.read_now(lambda tx: StandingRepository(tx).by_ids([*ids, 999]))
    assert len(found) == len(ids)
    return {ids[i]: standing for i, standing in found.items()}


def test_a_standing_is_what_the_note_says(index: Index) -> None:
    index.write("plain.md", f"---\n{DATED}---\ntext\n")
    index.write("high.md", f"---\n{DATED}importance: high\npinned: true\n---\ntext\n")
    index.write("adr.md", f"---\n{DATED}type: decision\nstatus: Superseded by 12\n---\ntext\n")
    index.write("tag.md", f"---\n{DATED}tags: [deprecated]\n---\ntext\n")
    index.run_sync()
    day = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert standings(index) == {
        "plain.md": NoteStanding(day),
        "high.md": NoteStanding(day, importance=0.8, is_lasting=True),
        "adr.md": NoteStanding(day, is_lasting=True, is_outdated=True),
        "tag.md": NoteStanding(day, is_outdated=True),
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", "- supersedes [[Old]]"),
        ("- superseded_by [[New]]", ""),
        ("- superseded by [[Nowhere]]", ""),
        ("---\nsuperseded_by: '[[New]]'\n---\n", ""),
        ("", "---\nsupersedes:\n  - '[[Old]]'\n---\n"),
    ],
)
def test_a_relation_supersedes_the_older_note(index: Index, old: str, new: str) -> None:
    index.write("Old.md", f"{old}\n")
    index.write("New.md", f"{new}\n")
    index.run_sync()
    assert {path: one.is_outdated for path, one in standings(index).items()} == {
        "Old.md": True,
        "New.md": False,
    }


@pytest.mark.parametrize(
    "relation", ["- supersedes [[Old]]", "- supersedes [[Nowhere]]", "- replaces [[New]]"]
)
def test_other_relations_do_not(index: Index, relation: str) -> None:
    index.write("Old.md", f"{relation}\n")
    index.write("New.md", "text\n")
    index.run_sync()
    assert not any(one.is_outdated for one in standings(index).values())


# What it does to a search


def search(
    index: Index, text: str, *, half_life_days: int = 30, offset: int = 0, **filters: object
) -> SearchResults:
    service = SearchService(
        index.store,
        fulltext_of(index.store),
        half_life_days=half_life_days,
    )
    query = SearchQuery(
        text,
        SearchType.FTS,
        SearchFilters(**filters),  # type: ignore[arg-type]
        limit=200,
        offset=offset,
        explain=True,
    )
    return asyncio.run(service.search(query))


def paths(results: SearchResults) -> list[str]:
    return [hit.ref.file_path for hit in results.hits]


def recency(results: SearchResults) -> dict[str, float]:
    found = {str(hit.ref.file_path): hit.explanation for hit in results.hits}
    return {path: one.boosts.get("recency", 0.0) for path, one in found.items() if one}


def dated(days_ago: int, *lines: str, body: str = "the needle") -> str:
    day = (datetime.now(UTC) - timedelta(days=days_ago)).isoformat()
    return "\n".join(["---", f"modified: {day}", *lines, "---", body, ""])


@pytest.fixture
def aged(index: Index) -> Index:
    """Notes that differ in their standing alone; by words they come in the order of their names."""
    index.write("a-old.md", dated(900))
    index.write("b-month.md", dated(30))
    index.write("c-new.md", dated(0))
    index.write("d-decision.md", dated(900, "type: decision"))
    index.write("e-gone.md", dated(0, "status: deprecated"))
    index.write("f-high.md", dated(0, "importance: critical"))
    index.run_sync()
    return index


def test_without_the_setting_only_words_count(aged: Index) -> None:
    results = search(aged, "needle", half_life_days=0)
    assert paths(results) == sorted(paths(results))
    assert set(recency(results).values()) == {0.0}


def test_new_important_and_lasting_notes_come_first(aged: Index) -> None:
    plain, results = search(aged, "needle", half_life_days=0), search(aged, "needle")
    assert recency(results) == pytest.approx(
        {
            "f-high.md": 1.0,
            "c-new.md": 0.65,
            "d-decision.md": 0.65,
            "b-month.md": 0.325,
            "e-gone.md": 0.325,
            "a-old.md": 0.195,
        },
        rel=0.001,
    )
    assert paths(results)[0] == "f-high.md"
    assert paths(results)[-1] == "a-old.md"
    assert results.total == plain.total == 6
    scores = {str(hit.ref.file_path): hit.score for hit in plain.hits}
    assert {str(hit.ref.file_path): hit.score for hit in results.hits} == pytest.approx(
        {path: scores[path] * factor for path, factor in recency(results).items()}
    )


def test_relevance_can_still_be_more_than_age(index: Index) -> None:
    index.write("old.md", dated(900, "title: Needle", body="needle and needle thread"))
    index.write("new.md", dated(0, body="long text " * 40 + "with a needle in it"))
    index.run_sync()
    assert paths(search(index, "needle thread")) == ["old.md", "new.md"]


def test_items_have_the_standing_of_their_notes(aged: Index) -> None:
    results = search(aged, "needle", item_types=(ItemType.SECTION,))
    assert paths(results)[0] == "f-high.md"
    assert recency(results)["a-old.md"] == pytest.approx(0.195)


def test_whether_an_answer_is_weak_does_not_depend_on_age(index: Index) -> None:
    body = "needle thread thimble spool"
    index.write("best.md", dated(900, "importance: trivial", "status: obsolete", body=body))
    index.write("part.md", dated(0, "importance: critical", body="# Thimble\n\na thimble"))
    for number in range(20):
        index.write(f"other{number}.md", "something else\n")
    index.run_sync()
    found = search(index, body)
    assert paths(found)[0] != "best.md"
    assert not found.is_weak


def test_pages_join_without_a_gap(index: Index) -> None:
    for number in range(420):
        index.write(f"n{number:03}.md", dated(number))
    index.run_sync()
    pages = [search(index, "needle", offset=offset) for offset in (0, 200, 400)]
    hits = [hit for page in pages for hit in page.hits]
    assert {page.total for page in pages} == {420}
    assert len({hit.ref.file_path for hit in hits}) == 420
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] > 0
