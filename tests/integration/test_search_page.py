"""The examples of `docs/how-to/search.md` find what the page says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoranda.model.search import SearchQuery, SearchType

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "search.md"


def rows(header: str) -> Iterator[list[str]]:
    """The cells of the table with that header."""
    lines = iter(PAGE.read_text(encoding="utf-8").splitlines())
    assert any(line == header for line in lines), header
    next(lines)
    for line in lines:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip("|").split("|")]


NOTES = [(name.strip("`"), tags, text) for name, tags, text in rows("| note | tags | text |")]
EXAMPLES = [
    (query.strip("`"), re.findall(r"`([^`]+)`", found))
    for query, found, _ in rows("| query | finds | because |")
]


@pytest.mark.parametrize(("query", "found"), EXAMPLES, ids=[query for query, _ in EXAMPLES])
async def test_an_example_of_the_page_finds_what_it_says(index, query, found):
    for name, tags, text in NOTES:
        index.write(name, f"---\ntags: [{tags}]\n---\n{text}\n")
    await index.sync.full_sync()
    results = await index.search.search(SearchQuery(query, SearchType.FTS))
    paths = [hit.ref.file_path for hit in results.hits]
    if found:
        assert sorted(paths) == sorted(found)
        if results.full_matches is not None:  # without a word the newest is first
            assert paths[0] == found[0]
        assert not results.relaxed
    else:
        assert results.relaxed or not paths
