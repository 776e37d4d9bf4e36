"""Whatever is asked, a search answers: it raises nothing, keeps its limits and pages stably."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzz.query_checks import check_no_leak, check_paging, checked
from tests.fuzz.query_choice import filters_of, query_of, text_of
from tests.fuzz.query_notes import notes
from tests.fuzz.query_text_checks import check_query
from tests.integration.provided import Provided
from tests.property.markup import SOAK, SOAK_TIMEOUT_S, counted

from memoranda.embeddings.static import StaticProvider
from memoranda.errors import InvalidArgument
from memoranda.files.clock import SystemClock
from memoranda.model.project import Project
from memoranda.model.search import (
    ItemType,
    MetadataCondition,
    MetadataOperator,
    SearchFilters,
    SearchQuery,
    SearchResults,
    SearchType,
)
from memoranda.places.sqlite import open_at
from memoranda.services.meaning import NO_PROVIDER, ProviderSource
from memoranda.services.search import MAX_LIMIT, SearchService
from memoranda.workspace import assemble

pytestmark = pytest.mark.timeout(SOAK_TIMEOUT_S)

STRINGS: Final = 100_000 if SOAK else 2_000
PAGED_SHARE: Final = 20
"""One query in so many is also paged through."""

SEEDS: Final = st.integers(min_value=0, max_value=1 << 48)
TEXTS: Final = st.one_of(
    st.text(max_size=40),
    st.lists(st.one_of(SEEDS.map(lambda seed: text_of(Random(seed))), st.text(max_size=5)), max_size=3).map(" ".join),
)  # fmt: skip
MODES: Final = st.sampled_from((SearchType.VECTOR, SearchType.HYBRID))
FILTERS: Final = SEEDS.map(lambda seed: filters_of(Random(seed)))


@dataclass(frozen=True, slots=True)
class Asker:
    """A search over the small index, from tests without an event loop."""

    service: SearchService
    runner: asyncio.Runner
    notes: int

    def ask(self, query: SearchQuery) -> SearchResults:
        return self.runner.run(checked(self.service, query))

    def paged(self, query: SearchQuery, size: int) -> SearchResults:
        return self.runner.run(check_paging(self.service, query, size))

    def paths(
        self, text: str, filters: SearchFilters, mode: SearchType = SearchType.FTS
    ) -> tuple[set[str], SearchResults]:
        found = self.ask(SearchQuery(text, mode, filters, limit=MAX_LIMIT))
        return {hit.ref.file_path for hit in found.hits}, found


@pytest.fixture(scope="module")
def asker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    with asyncio.Runner() as runner:
        yield from _opened(tmp_path_factory.mktemp("queries"), runner)


@pytest.fixture(scope="module")
def meaning_asker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    """As `asker`, with vectors of the bundled model."""
    source = Provided(StaticProvider())
    with asyncio.Runner() as runner:
        yield from _opened(tmp_path_factory.mktemp("questions"), runner, source)


def _opened(
    folder: Path, runner: asyncio.Runner, source: ProviderSource = NO_PROVIDER
) -> Iterator[Asker]:
    root = folder / "notes"
    for path, text in notes().items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    clock, project = SystemClock(), Project("main", "main", root)
    index = open_at(folder / "memory.db", project, clock)
    workspace = assemble(project, index, folder, clock, source=source)
    runner.run(workspace.sync.full_sync())
    runner.run(workspace.backfill.run_once())
    yield Asker(workspace.search, runner, len(notes()))
    runner.run(workspace.aclose())


@pytest.mark.slow
def test_no_query_text_and_no_filter_is_an_error(asker: Asker) -> None:
    async def all_of_them() -> None:
        for number in range(STRINGS):
            query = query_of(number)
            try:
                await checked(asker.service, query)
                if number % PAGED_SHARE == 0:
                    size = Random(number).choice((3, 7, 20))
                    await check_paging(asker.service, query, size)
            except Exception as error:
                error.add_note(f"query number {number}: {query!r:.2000}")
                raise

    asker.runner.run(all_of_them())


@pytest.mark.slow
def test_no_question_is_an_error(meaning_asker: Asker) -> None:
    async def all_of_them() -> None:
        for number in range(STRINGS // 2):
            choice = Random(number)
            asked = query_of(number)
            filters = replace(asked.filters, min_similarity=choice.choice((None, 0.0, 0.2, 0.9)))
            mode = choice.choice((SearchType.VECTOR, SearchType.HYBRID))
            query = replace(asked, search_type=mode, filters=filters)
            try:
                results = await checked(meaning_asker.service, query)
                assert results.degraded is None
                if number % PAGED_SHARE == 0:
                    await check_paging(meaning_asker.service, query, choice.choice((3, 7, 20)))
            except Exception as error:
                error.add_note(f"query number {number}: {query!r:.2000}")
                raise

    meaning_asker.runner.run(all_of_them())


@counted(300, 10_000)
@given(text=TEXTS)
def test_every_text_is_read_within_the_bounds_of_a_query(text: str) -> None:
    check_query(text)


@pytest.mark.slow
@counted(100, 5_000)
@given(text=TEXTS, filters=FILTERS, size=st.integers(1, 60), explain=st.booleans())
def test_pages_joined_are_one_big_page(
    asker: Asker, text: str, filters: SearchFilters, size: int, explain: bool
) -> None:
    asker.paged(SearchQuery(text, SearchType.FTS, filters, explain=explain), size)


@pytest.mark.parametrize("item_types", [(), (ItemType.SECTION, ItemType.OBSERVATION)])
@pytest.mark.parametrize("text", ["pump", "who decided pump node", "pump OR 東京 -draft", "plan p"])
def test_pages_of_a_common_word_are_one_big_page(
    asker: Asker, text: str, item_types: tuple[ItemType, ...]
) -> None:
    filters = SearchFilters(item_types=item_types, tags=("ops",) if item_types else ())
    big = asker.paged(SearchQuery(text, SearchType.FTS, filters), 7)
    assert big.total > 20


@pytest.mark.parametrize("mode", [SearchType.VECTOR, SearchType.HYBRID])
@pytest.mark.parametrize("text", ["pump", "repairing a machine", "travel OR 東京 -draft"])
def test_pages_of_hits_by_meaning_are_one_big_page(
    meaning_asker: Asker, text: str, mode: SearchType
) -> None:
    filters = SearchFilters(min_similarity=0.1)
    assert meaning_asker.paged(SearchQuery(text, mode, filters), 7).total > 20


@pytest.mark.slow
@counted(200, 5_000)
@given(text=TEXTS, filters=FILTERS)
def test_a_filter_keeps_the_hits_that_fulfil_it_and_no_others(
    asker: Asker, text: str, filters: SearchFilters
) -> None:
    filters = replace(filters, item_types=())
    everything, plain = asker.paths(text, SearchFilters())
    found, filtered = asker.paths(text, filters)
    allowed, _ = asker.paths("", filters)
    assert found <= allowed
    if plain.relaxed or filtered.relaxed or plain.is_weak:
        return  # what was demanded is nowhere; what is shown instead depends on what is allowed
    if filtered.is_weak:
        assert found <= everything & allowed
        assert filtered.total == len(everything & allowed)
    else:
        assert found == everything & allowed


@pytest.mark.slow
@counted(200, 5_000)
@given(text=TEXTS, filters=FILTERS, mode=MODES)
def test_filters_hold_for_hits_by_meaning_and_those_of_words_stay(
    meaning_asker: Asker, text: str, filters: SearchFilters, mode: SearchType
) -> None:
    filters = replace(filters, item_types=(), min_similarity=0.0)
    found, results = meaning_asker.paths(text, filters, mode)
    allowed, _ = meaning_asker.paths("", filters)
    assert found <= allowed
    words, plain = meaning_asker.paths(text, filters)
    if mode is SearchType.HYBRID and not (results.is_weak or results.relaxed or plain.is_weak):
        assert words <= found


@pytest.mark.slow
@counted(100, 3_000)
@given(text=TEXTS, filters=FILTERS, mode=MODES)
def test_explaining_changes_no_hit_by_meaning(
    meaning_asker: Asker, text: str, filters: SearchFilters, mode: SearchType
) -> None:
    query = SearchQuery(text, mode, filters, limit=MAX_LIMIT)
    plain, explained = meaning_asker.ask(query), meaning_asker.ask(replace(query, explain=True))
    assert tuple(replace(hit, explanation=None) for hit in explained.hits) == plain.hits


@pytest.mark.slow
@counted(100, 3_000)
@given(text=TEXTS, filters=FILTERS)
def test_the_same_query_has_the_same_answer(
    asker: Asker, text: str, filters: SearchFilters
) -> None:
    query = SearchQuery(text, SearchType.FTS, filters, limit=MAX_LIMIT)
    assert asker.ask(query) == asker.ask(query)


@pytest.mark.slow
@counted(100, 3_000)
@given(text=TEXTS, filters=FILTERS)
def test_explaining_changes_no_hit(asker: Asker, text: str, filters: SearchFilters) -> None:
    query = SearchQuery(text, SearchType.FTS, filters, limit=MAX_LIMIT)
    plain, explained = asker.ask(query), asker.ask(replace(query, explain=True))
    assert tuple(replace(hit, explanation=None) for hit in explained.hits) == plain.hits
    assert all(hit.explanation is None for hit in plain.hits)


@pytest.mark.parametrize(
    "query",
    [
        SearchQuery("pump", limit=0),
        SearchQuery("pump", limit=MAX_LIMIT + 1),
        SearchQuery("pump", limit=-1),
        SearchQuery("pump", offset=-1),
        SearchQuery("pump", offset=1 << 62),
        SearchQuery("pump", filters=SearchFilters(tags=("ops",) * 101)),
        SearchQuery("pump", filters=SearchFilters(note_types=("note",) * 101)),
        SearchQuery(
            "pump",
            filters=SearchFilters(
                metadata=(MetadataCondition("a", MetadataOperator.EQ, ("1",)),) * 101
            ),
        ),
    ],
)
def test_a_page_or_filter_out_of_bounds_is_refused_in_words_of_the_caller(
    asker: Asker, query: SearchQuery
) -> None:
    with pytest.raises(InvalidArgument) as refused:
        asker.ask(query)
    check_no_leak(f"{refused.value}", query.text)


def test_an_empty_query_lists_every_note(asker: Asker) -> None:
    found, results = asker.paths("", SearchFilters())
    assert len(found) == asker.notes == results.total


@pytest.mark.parametrize("item_type", ItemType)
def test_every_kind_of_item_is_found_in_the_small_index(asker: Asker, item_type: ItemType) -> None:
    filters = SearchFilters(item_types=(item_type,))
    found = asker.ask(SearchQuery("pump OR 東京 OR решили OR warehouse", filters=filters))
    assert found.hits
    assert {hit.item_type for hit in found.hits} == {item_type}
