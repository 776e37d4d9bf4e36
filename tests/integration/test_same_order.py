"""SQLite and PostgreSQL answer alike: the same notes, in the same order, with the same scores."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.integration.conftest import Index, indexes
from tools.postgres_server import why_not

from memoranda.model.search import SearchQuery, SearchResults, SearchType

SOAK = bool(os.environ.get("MEMORANDA_SOAK"))
QUERIES = 200 if SOAK else 40
VAULTS = (
    ("powershell-docs", "academicops-specs", "oldwinter-garden") if SOAK else ("academicops-specs",)
)
PLACES = 10
LEAST = 0.98

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(bool(why_not()), reason="there is no PostgreSQL"),
]

NOTES = {
    "herons.md": "# Grey herons\n\nThe herons came back to the pond in March.\n\n- [count] 12 herons #birds (by the weir)\n",
    "pond.md": "---\ntitle: The pond\ntags: [water]\n---\nIts water is still. Herons fish there, and a café stands beside it.\n",
    "c++.md": "# Notes on C++\n\nUse `c++` 20 and node-js; version 4.8.1 of .NET was odd.\n\n- relates_to [[The pond]]\n",
    "ja.md": "# 漢字 テスト\n\nこれは漢字テストです。エンジンを作る。\n",
    "ko.md": "# 검색 엔진\n\n새로운 검색 엔진을 만들다\n",
    "de.md": "# Straße\n\nHäuser an der Straße, groß und Łódź.\n\n- [haus] Ein Haus am Wasser #stadt\n",
    "long.md": "# Long\n\n" + "one word after another and the pond again " * 3000,
    "emoji.md": "# Party 🎉\n\nWe met 🎉 at the pond, e\u0301te\u0301.\n",
}
ASKED = (
    "herons", "the pond", '"the pond"', "heron pond water", "c++", ".net", "4.8.1", "node-js",
    "漢字", "テスト", "검색 엔진", "엔진", "strasse", "häuser", "haus", "lodz", "cafe", "été", "🎉",
    "pon*", '"another and the pond"', "herons -water", "tag:water", "title:herons", "zzz", "hero",
    "what came back to the pond in March?", "birds weir",
)  # fmt: skip


@pytest.fixture
def both(tmp_path: Path) -> Iterator[Callable[[Path], tuple[Index, Index]]]:
    """The same folder in an index on each."""
    for name in ("sqlite", "postgres"):
        (tmp_path / name).mkdir()
    with (
        indexes(tmp_path / "sqlite", "sqlite") as on_sqlite,
        indexes(tmp_path / "postgres", "postgres") as on_postgres,
    ):

        def make(root: Path) -> tuple[Index, Index]:
            made = on_sqlite(root), on_postgres(root)
            for index in made:
                index.run_sync()
            return made

        yield make


def asked(index: Index, text: str, how: SearchType = SearchType.FTS) -> list[tuple[str, float]]:
    """Paths and scores of the first notes."""

    async def search() -> SearchResults:
        return await index.search.search(SearchQuery(text, how, limit=PLACES))

    return [(hit.ref.file_path, hit.score) for hit in asyncio.run(search()).hits]


def test_odd_words_find_the_same_notes(
    both: Callable[[Path], tuple[Index, Index]], tmp_path: Path
) -> None:
    root = tmp_path / "notes"
    root.mkdir()
    for path, text in NOTES.items():
        (root / path).write_text(text)
    on_sqlite, on_postgres = both(root)
    for text in ASKED:
        assert asked(on_postgres, text) == asked(on_sqlite, text), text
    assert on_postgres.snapshot()["name"] == on_sqlite.snapshot()["name"]
    assert on_postgres.snapshot()["link"] == on_sqlite.snapshot()["link"]
    assert on_postgres.snapshot()["fulltext"] == on_sqlite.snapshot()["fulltext"]


@pytest.mark.parametrize("vault", VAULTS)
def test_queries_from_a_real_vault_find_the_same_notes_in_the_same_order(
    both: Callable[[Path], tuple[Index, Index]], shared_folder: Path, vault: str
) -> None:
    on_sqlite, on_postgres = both(shared_folder / "vaults" / vault)
    texts = [str(text) for (text,) in on_sqlite.rows(
        "SELECT content FROM search_index WHERE length(content) > 40 ORDER BY rowid"
    )]  # fmt: skip
    same = places = 0
    for number in range(QUERIES):
        text = query_of(texts, random.Random(number))
        mine, theirs = asked(on_postgres, text), asked(on_sqlite, text)
        places += max(len(mine), len(theirs))
        same += sum(one == other for one, other in zip(mine, theirs, strict=False))
    print(f"{vault}: {same} of {places} places are the same")
    assert places > 2 * QUERIES
    # SQLite's tables of characters are of 2012: an emoji that is newer is a letter to it, and joins the word beside it.
    assert same >= LEAST * places


def query_of(texts: list[str], choose: random.Random) -> str:
    """One to eight words in a row of some note; one of six as a phrase."""
    words = choose.choice(texts).replace('"', " ").split()
    many = choose.choice((1, 2, 3, 5, 8))
    start = choose.randrange(max(1, len(words) - many))
    text = " ".join(words[start : start + many])
    return f'"{text}"' if choose.random() < 1 / 6 else text
