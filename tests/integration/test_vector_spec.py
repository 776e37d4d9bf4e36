"""The rules of the specification on searches by meaning and by both (5.1, 5.4, 5.5, 13.3, 14.4, 14.5)."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.integration.conftest import Index
from tests.integration.provided import DrawnProvider, Provided

from memoranda.config import load_settings
from memoranda.container import Container
from memoranda.embeddings.static import StaticProvider
from memoranda.model.search import (
    Explanation,
    Hit,
    ItemType,
    MetadataCondition,
    MetadataOperator,
    SearchFilters,
    SearchQuery,
    SearchResults,
    SearchType,
)
from memoranda.ports import EmbeddingProvider
from memoranda.repositories.vector_scan import similarity_at
from memoranda.services.calibration import read_calibration
from memoranda.services.search import USUAL_LIMITS, MeaningLimits

Search = Callable[..., Awaitable[SearchResults]]
MakeSearch = Callable[..., Awaitable[Search]]

MODES = list(SearchType)
MEANING = [SearchType.VECTOR, SearchType.HYBRID]
ANGLES = {"heron": 0.0, "wader": 20.0, "crane": 45.0, "kettle": 80.0, "zebra": 180.0}
TOPICS = (
    *(
        "sourdough",
        "tax return",
        "volcano",
        "piano tuning",
        "satellite",
        "mortgage",
        "chess opening",
    ),
    *("concrete", "vaccine", "sailing boat", "pottery kiln", "election", "telescope", "battery"),
)


@pytest.fixture
def make(make_index: Callable[..., Index]) -> MakeSearch:
    """Index and embed files with a provider; returns what searches them and explains."""

    async def run(
        files: Mapping[str, str],
        provider: EmbeddingProvider | None = None,
        limits: MeaningLimits = USUAL_LIMITS,
    ) -> Search:
        source = Provided(provider or DrawnProvider(ANGLES))
        index = make_index(source=source, limits_of_meaning=limits)
        for path, content in files.items():
            index.write(path, content)
        await index.sync.full_sync()
        await index.backfill.run_once()

        async def search(
            text: str,
            mode: SearchType = SearchType.VECTOR,
            limit: int = 50,
            offset: int = 0,
            **filters: Any,
        ) -> SearchResults:
            query = SearchQuery(text, mode, SearchFilters(**filters), limit, offset, explain=True)
            return await index.search.search(query)

        search.index = index  # type: ignore[attr-defined]
        return search

    return run


def paths(results: SearchResults) -> list[str]:
    """Of the notes found, best first."""
    return [hit.ref.file_path for hit in results.hits]


def explained(hit: Hit) -> Explanation:
    """Why the hit is where it is."""
    assert hit.explanation is not None
    return hit.explanation


def similarity(hit: Hit) -> float:
    """Of its nearest part."""
    found = explained(hit).similarity
    assert found is not None
    return found


def others(count: int) -> dict[str, str]:
    """Notes of other things."""
    texts = (TOPICS[number % len(TOPICS)] for number in range(count))
    return {
        f"other{number}.md": f"# About the {text} {number}\n\nWhat is known of a {text}.\n"
        for number, text in enumerate(texts)
    }


@pytest.mark.spec("13.3")
@pytest.mark.parametrize("count", [1, 50])
async def test_what_means_the_same_is_found_without_a_word_of_it(
    make: MakeSearch, count: int
) -> None:
    provider = StaticProvider()
    files = others(count) | {"pets.md": "# Canine behavior\n\nHow puppies learn from rewards.\n"}
    search = await make(files, provider)
    index: Index = search.index  # type: ignore[attr-defined]
    calibration = await index.store.read(lambda tx: read_calibration(tx, provider.space.name))
    assert calibration is not None
    assert (await search("dog training", SearchType.FTS)).total == 0
    for mode in MEANING:
        results = await search("dog training", mode)
        assert (results.search_type, results.degraded) == (mode, None)
        assert paths(results)[0] == "pets.md"
        assert similarity(results.hits[0]) > max(calibration.floor, 0.55)
        assert explained(results.hits[0]).text_score is None


@pytest.mark.spec("13.3")
@pytest.mark.spec("5.4")
@pytest.mark.spec("14.5")
@pytest.mark.parametrize(("provider", "share"), [("static", 0.35), ("fastembed", 0.5)])
async def test_a_hybrid_score_is_of_words_and_of_meaning(
    make: MakeSearch, provider: str, share: float
) -> None:
    files = {
        "word.md": "wader, a word and no more: zebra zebra zebra zebra\n",
        "means.md": "a heron in the reeds\n",
        "both.md": "waders\n",
        "neither.md": "kettles\n",
    }
    search = await make(files, DrawnProvider(ANGLES, provider), MeaningLimits(least=0.6))
    results = await search("wader", SearchType.HYBRID)
    hits = {hit.ref.file_path: hit for hit in results.hits}
    assert hits.keys() == {"word.md", "means.md", "both.md"}
    assert results.total == 3
    best = max(explained(hit).text_score or 0 for hit in results.hits)
    for hit in results.hits:
        why = explained(hit)
        words, meaning = (why.text_score or 0) / best, max(0.0, why.similarity or 0)
        assert hit.score == pytest.approx((1 - share) * words + share * meaning)
        assert why.boosts["words"] == pytest.approx((1 - share) * words)
        assert why.boosts["meaning"] == pytest.approx(share * meaning, abs=1e-6)
    assert similarity(hits["means.md"]) == pytest.approx(np.cos(np.radians(20)), abs=1e-6)
    assert similarity(hits["word.md"]) < 0.6
    assert explained(hits["means.md"]).text_rank is None
    assert {explained(hits[name]).text_rank for name in ("both.md", "word.md")} == {1, 2}


@pytest.mark.spec("5.4")
async def test_the_only_hit_of_both_has_all_of_both_parts(make: MakeSearch) -> None:
    search = await make({"only.md": "heron\n"}, DrawnProvider(ANGLES, "openai"))
    [hit] = (await search("heron", SearchType.HYBRID)).hits
    assert hit.score == pytest.approx(1.0)
    [hit] = (await search("heron", SearchType.VECTOR)).hits
    assert hit.score == pytest.approx(1.0)
    nothing = await search("unheard", SearchType.HYBRID)
    assert (nothing.hits, nothing.total) == ((), 0)
    assert nothing.suggestion


@pytest.mark.spec("5.3")
@pytest.mark.spec("14.4")
async def test_a_similarity_is_what_the_distance_of_the_stored_vectors_says(
    make: MakeSearch,
) -> None:
    provider = StaticProvider()
    files = {f"{name}.md": f"{name}\n" for name in ("harbour", "ships at anchor", "oven")}
    search = await make(files, provider, MeaningLimits(least=0.0))
    index: Index = search.index  # type: ignore[attr-defined]
    question = await provider.embed_query("boats in a port")
    rows = index.rows(
        """SELECT e.file_path, v.embedding, v.dimensions, v.model FROM search_vector_embeddings v
        JOIN search_vector_chunks c ON c.id = v.chunk_id JOIN entity e ON e.id = c.entity_id"""
    )
    nearest: dict[str, float] = {}
    for path, blob, dimensions, model in rows:
        vector = np.frombuffer(blob, "<f4")  # type: ignore[call-overload]
        assert (len(vector), model) == (dimensions, provider.space.name)
        near = similarity_at(float(np.linalg.norm(vector - question)))
        nearest[str(path)] = max(near, nearest.get(str(path), -1.0))
    results = await search("boats in a port")
    assert {hit.ref.file_path: similarity(hit) for hit in results.hits} == {
        path: pytest.approx(near, abs=1e-5) for path, near in nearest.items() if near > 0.01
    }
    assert len(results.hits) >= 2


FACTS = "- [fact] a heron\n- sees [[Pond]] (heron)\n"
FILTERED = {
    "yes/one.md": "---\ntitle: Grey one\ntype: bird\ntags: [wet/reed]\nstatus: seen\n---\nA heron.\n\n"
    + FACTS,
    "no/two.md": "---\ntitle: White two\ntype: plant\ntags: [dry]\nstatus: guessed\n---\nA heron.\n",
}
FILTERS: dict[str, dict[str, Any]] = {
    "permalink": {"permalink": "yes/grey-one"},
    "prefix": {"permalink_match": "yes/"},
    "pattern": {"permalink_match": "y*/gr*e"},
    "title": {"title": "grey"},
    "type": {"note_types": ("BIRD", "fish")},
    "tag": {"tags": ("wet",)},
    "metadata": {"metadata": (MetadataCondition("status", MetadataOperator.EQ, ("seen",)),)},
    "path": {"path": "yes"},
    "all": {"path": "yes", "tags": ("wet/reed",), "title": "one", "note_types": ("bird",)},
}


@pytest.mark.spec("5.5")
@pytest.mark.parametrize("filters", FILTERS.values(), ids=list(FILTERS))
@pytest.mark.parametrize("mode", MODES)
async def test_filters_hold_in_every_mode(
    make: MakeSearch, mode: SearchType, filters: dict[str, Any]
) -> None:
    search = await make(FILTERED)
    for text in ("heron",) if mode is SearchType.FTS else ("heron", "wader"):
        assert sorted(paths(await search(text, mode))) == sorted(FILTERED)
        results = await search(text, mode, **filters)
        assert paths(results) == ["yes/one.md"]
        assert results.total == 1


@pytest.mark.spec("5.5")
@pytest.mark.parametrize("mode", MODES)
async def test_only_what_was_modified_later_is_found(make: MakeSearch, mode: SearchType) -> None:
    search = await make(FILTERED)
    now = datetime.now(UTC)
    text = "heron" if mode is SearchType.FTS else "wader"
    assert (await search(text, mode, after_date=now - timedelta(days=1))).total == 2
    assert (await search(text, mode, after_date=now + timedelta(days=1))).total == 0


@pytest.mark.spec("5.5")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "kinds",
    [
        (ItemType.OBSERVATION,),
        (ItemType.RELATION,),
        (ItemType.SECTION,),
        (ItemType.OBSERVATION, ItemType.RELATION),
    ],
)
async def test_only_items_of_the_types_asked_for_are_found(
    make: MakeSearch, mode: SearchType, kinds: tuple[ItemType, ...]
) -> None:
    search = await make(FILTERED)
    results = await search("heron" if mode is SearchType.FTS else "wader", mode, item_types=kinds)
    assert {hit.item_type for hit in results.hits} == set(kinds)
    assert len(results.hits) == results.total
    if ItemType.SECTION not in kinds:
        assert set(paths(results)) == {"yes/one.md"}


@pytest.mark.spec("5.5")
@pytest.mark.parametrize("mode", MODES)
async def test_limit_and_offset_count_hits(make: MakeSearch, mode: SearchType) -> None:
    search = await make({f"n{number}.md": f"heron {number}\n" for number in range(7)})
    everything = await search("heron", mode)
    assert len(everything.hits) == everything.total == 7
    middle = await search("heron", mode, limit=3, offset=3)
    assert paths(middle) == paths(everything)[3:6]
    assert (middle.total, middle.has_more) == (7, True)


NEAR = {"heron.md": "heron\n", "wader.md": "wader\n", "crane.md": "crane\n"}
"""Their similarities to "heron" are 1, .94 and .71."""


@pytest.mark.spec("5.3")
@pytest.mark.spec("5.5")
@pytest.mark.parametrize("mode", MEANING)
async def test_what_is_too_far_is_no_hit_for_its_meaning(
    make: MakeSearch, mode: SearchType
) -> None:
    search = await make(NEAR, limits=MeaningLimits(least=0.9))
    assert paths(await search("heron", mode)) == ["heron.md", "wader.md"]
    assert paths(await search("heron", mode, min_similarity=0.99)) == ["heron.md"]
    assert paths(await search("heron", mode, min_similarity=0.5)) == [*NEAR]
    assert paths(await search("heron", mode, min_similarity=0.0)) == [*NEAR]
    far = await search("zebra", mode, min_similarity=0.0)
    assert far.total == 0
    crane = await search("crane", mode, min_similarity=1.0)  # what has the word stays a hit
    assert paths(crane) in ([], ["crane.md"])


@pytest.mark.spec("5.3")
async def test_so_many_items_are_found_by_their_meaning(make: MakeSearch) -> None:
    files = {f"n{number}.md": f"# N\n\nheron {number}\n" for number in range(9)}
    search = await make(files, limits=MeaningLimits(most=5))
    assert (await search("wader")).total == 5
    assert (await search("wader", SearchType.HYBRID)).total == 5
    assert (await search("heron", SearchType.HYBRID)).total == 9
    none = await make(files, limits=MeaningLimits(most=0))
    assert (await none("wader")).total == 0


@pytest.mark.spec("5.3")
async def test_the_settings_say_how_near_and_how_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes").mkdir()
    for number in range(4):
        (tmp_path / "notes" / f"n{number}.md").write_text(f"Dogs, number {number}.\n")
    monkeypatch.setenv("BASIC_MEMORY_CONFIG_DIR", str(tmp_path / "config"))
    (tmp_path / "config").mkdir()

    async def total(**settings: object) -> int:
        values = {"projects": {"main": {"path": str(tmp_path / "notes")}}, **settings}
        (tmp_path / "config" / "config.json").write_text(json.dumps(values))
        container = await Container.open(load_settings())
        try:
            workspace = await container.workspace(container.find_project("main"))
            await workspace.coordinator.sync_now()
            await container.choice.ready()
            await workspace.backfill.run_once()
            query = SearchQuery("dog", SearchType.VECTOR)
            return (await workspace.search.search(query)).total
        finally:
            await container.aclose()

    assert await total() == 4
    assert await total(semantic_vector_k=2) == 2
    assert await total(semantic_min_similarity=0.99) == 0
    assert await total(semantic_min_similarity=0.01) == 4


@pytest.mark.spec("12.3")
@pytest.mark.parametrize("mode", MEANING)
async def test_without_a_provider_words_answer_and_the_reason_is_said(
    make_index: Callable[..., Index], mode: SearchType
) -> None:
    source = Provided(None, "The model is broken")
    index = make_index(source=source)
    index.write("a.md", "heron\n")
    await index.sync.full_sync()
    results = await index.search.search(SearchQuery("heron", mode))
    assert paths(results) == ["a.md"]
    assert results.search_type is SearchType.FTS
    assert results.degraded == (
        "Meaning search cannot be used: The model is broken; this is a full-text answer"
    )
    plain = await index.search.search(SearchQuery("heron", SearchType.FTS))
    assert (plain.hits, plain.degraded) == (results.hits, None)
