"""Hits that have no word of the query: what is demanded holds for them too, and they are counted once."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.fuzz.query_checks import check_paging, checked
from tests.integration.conftest import Index, vectors_of
from tests.integration.provided import DrawnProvider, Provided

from memoranda.embeddings.static import StaticProvider
from memoranda.files.clock import SystemClock
from memoranda.model.search import (
    Confidence,
    Hit,
    ItemType,
    SearchFilters,
    SearchQuery,
    SearchResults,
    SearchType,
)
from memoranda.services.search import MeaningLimits
from memoranda.sync.embed_notes import NoteEmbedder

Embedded = Callable[..., Awaitable[Index]]

MEANING = [SearchType.VECTOR, SearchType.HYBRID]
ANGLES = {"heron": 0.0, "wader": 20.0, "crane": 45.0, "kettle": 90.0}
NEAR = MeaningLimits(least=0.5)
POND = {
    "pond.md": "---\ntags: [wet]\n---\nA grey heron at the pond.\n",
    "sea.md": "A heron and the sea.\n",
    "kitchen.md": "The kettle sings.\n",
}


@pytest.fixture
def embedded(make_index: Callable[..., Index]) -> Embedded:
    """An index of these files with their vectors; its provider is `source.provider`."""

    async def make(
        files: Mapping[str, str],
        source: Provided | None = None,
        limits: MeaningLimits = NEAR,
        before: Callable[[Path], None] = lambda _: None,
    ) -> Index:
        source = source or Provided(DrawnProvider(ANGLES))
        index = make_index(source=source, limits_of_meaning=limits)
        for path, content in files.items():
            index.write(path, content)
        before(index.root)
        await index.sync.full_sync()
        await index.backfill.run_once()
        return index

    return make


async def ask(index: Index, text: str, mode: SearchType, **filters: Any) -> SearchResults:
    query = SearchQuery(text, mode, SearchFilters(**filters), explain=True)
    return await checked(index.search, query)


def paths(results: SearchResults) -> list[str]:
    return sorted(hit.ref.file_path for hit in results.hits)


@pytest.mark.parametrize("mode", MEANING)
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("wader", ["pond.md", "sea.md"]),
        ("wader -pond", ["sea.md"]),
        ("wader NOT sea", ["pond.md"]),
        ("wader -pond -sea", []),
        ('wader "grey heron"', ["pond.md"]),
        ('wader -"grey heron"', ["sea.md"]),
        ("wader tag:wet", ["pond.md"]),
        ("wader tag:dry", []),
        ("wader title:sea", ["sea.md"]),
        ("wader path:sea", ["sea.md"]),
    ],
)
async def test_what_is_demanded_holds_for_hits_without_a_word(
    embedded: Embedded, mode: SearchType, query: str, found: list[str]
) -> None:
    index = await embedded(POND)
    results = await ask(index, query, mode)
    assert (paths(results), results.total) == (found, len(found))


@pytest.mark.parametrize("mode", MEANING)
async def test_a_demand_that_nothing_meets_is_dropped_and_told(
    embedded: Embedded, mode: SearchType
) -> None:
    index = await embedded(POND)
    results = await ask(index, "wader AND grey", mode)
    assert results.relaxed
    assert "pond.md" in paths(results)
    assert (await ask(index, "heron AND grey", mode)).relaxed is False


@pytest.mark.parametrize("mode", MEANING)
async def test_an_exclusion_holds_for_its_alternative_alone(
    embedded: Embedded, mode: SearchType
) -> None:
    index = await embedded(POND)
    assert "pond.md" not in paths(await ask(index, "wader -pond OR crane -pond", mode))
    assert "pond.md" in paths(await ask(index, "wader -pond OR crane", mode))


@pytest.mark.parametrize("mode", MEANING)
async def test_what_is_excluded_is_not_part_of_the_question(
    embedded: Embedded, mode: SearchType
) -> None:
    source = Provided(DrawnProvider(ANGLES))
    index = await embedded(POND, source)
    provider = source.provider
    assert isinstance(provider, DrawnProvider)
    provider.asked.clear()
    await ask(index, "wader -kettle tag:wet", mode)
    await ask(index, "wader, or what?", mode)
    assert provider.asked == ["wader", "wader, or what?"]


@pytest.mark.parametrize("mode", MEANING)
async def test_a_plain_question_demands_nothing(embedded: Embedded, mode: SearchType) -> None:
    index = await embedded(POND)
    results = await ask(index, "wader", mode)
    assert results.total == 2
    assert results.relaxed is False
    assert results.full_matches == (None if mode is SearchType.VECTOR else 0)


@pytest.mark.parametrize("mode", MEANING)
async def test_last_week_holds_for_hits_without_a_word(
    embedded: Embedded, mode: SearchType
) -> None:
    def date(root: Path) -> None:
        now = datetime.now(UTC)
        monday = now - timedelta(days=now.weekday())
        for path, days in {"pond.md": 300, "sea.md": 4}.items():
            moment = (monday - timedelta(days=days)).timestamp()
            os.utime(root / path, (moment, moment))

    index = await embedded(POND, before=date)
    assert paths(await ask(index, "heron last week", mode)) == ["sea.md"]
    results = await ask(index, "wader last week", mode)
    assert (paths(results), results.relaxed) == (["sea.md"], False)


@pytest.mark.parametrize("mode", MEANING)
async def test_a_hit_of_both_is_counted_once(embedded: Embedded, mode: SearchType) -> None:
    files = POND | {"both.md": "# Waders\n\nwader, wader\n\n- [fact] a wader\n"}
    index = await embedded(files)
    results = await ask(index, "wader", mode)
    assert paths(results) == ["both.md", "pond.md", "sea.md"]
    assert results.total == 3
    items = await ask(index, "wader", mode, item_types=(ItemType.SECTION, ItemType.OBSERVATION))
    assert len(items.hits) == items.total
    assert len({(hit.ref.file_path, hit.passages) for hit in items.hits}) == items.total


@pytest.mark.parametrize("mode", MEANING)
async def test_notes_without_a_text_to_embed_are_not_waited_for(
    embedded: Embedded, mode: SearchType
) -> None:
    index = await embedded({"🦦.md": "🦦\n"}, Provided(StaticProvider()))
    assert (await ask(index, "otter", mode)).degraded is None
    assert paths(await ask(index, "🦦", SearchType.HYBRID)) == ["🦦.md"]


async def test_words_are_a_hit_however_far_they_are(embedded: Embedded) -> None:
    files = {"far.md": "# Crane\n\ncrane kettle kettle\n", "near.md": "heron\n"}
    index = await embedded(files, limits=MeaningLimits(least=0.95))
    results = await ask(index, "wader crane", SearchType.HYBRID)
    assert "far.md" in paths(results)
    assert paths(await ask(index, "wader crane", SearchType.VECTOR)) == []


@pytest.mark.parametrize("limits", [NEAR, MeaningLimits(most=0), MeaningLimits(least=1.0)])
async def test_words_alone_have_their_part_of_the_score_and_no_more(
    embedded: Embedded, limits: MeaningLimits
) -> None:
    index = await embedded(POND | {"tea.md": "tea\n"}, limits=limits)
    results = await ask(index, "tea", SearchType.HYBRID)
    assert [(hit.ref.file_path, hit.score) for hit in results.hits] == [
        ("tea.md", pytest.approx(0.65))
    ]
    why = results.hits[0].explanation
    assert why is not None
    assert why.boosts["words"] == pytest.approx(0.65)
    assert why.similarity is None


async def test_explained_ranks_are_those_of_each_leg(embedded: Embedded) -> None:
    files = POND | {"wader.md": "wader wader\n", "long.md": "wader " + "and so on " * 60 + "\n"}
    index = await embedded(files)
    results = await ask(index, "wader", SearchType.HYBRID)
    why = [hit.explanation for hit in results.hits if hit.explanation is not None]
    assert [one.rank for one in why] == list(range(1, len(why) + 1))
    by_words = sorted((one for one in why if one.text_rank), key=lambda one: one.text_rank or 0)
    assert [one.text_rank for one in by_words] == [1, 2]
    scores = [one.text_score or 0 for one in by_words]
    assert scores == sorted(scores, reverse=True)
    near = sorted((one for one in why if one.similarity_rank), key=lambda o: o.similarity_rank or 0)
    assert len(near) == len(why)
    assert all((a.similarity or 0) >= (b.similarity or 0) for a, b in pairwise(near))


async def test_a_note_without_vectors_is_weighed_by_its_words(embedded: Embedded) -> None:
    index = await embedded(POND)
    index.write("new.md", "A stork.\n")
    await index.sync.full_sync()
    results = await ask(index, "stork wader", SearchType.HYBRID)
    assert results.degraded == "Meaning search knows 3 of 4 notes so far"
    hits = {hit.ref.file_path: hit for hit in results.hits}
    why = hits["new.md"].explanation
    assert why is not None
    assert (why.similarity, why.similarity_rank) == (None, None)
    assert why.boosts["meaning"] == 0
    assert hits.keys() >= {"new.md", "pond.md", "sea.md"}


SHORT = {
    "canine": "Puppies learn best from rewards given at once; punishment makes them fearful.",
    "sourdough": "Feed the starter twice a day, and let the loaf rise overnight in the fridge.",
    "loan": "We pay 3.2 percent for fifteen years, and may repay early without a fee.",
    "dentist": "Two fillings on the left, next appointment in May.",
    "bicycle": "The chain slips in the smallest gear; order a new cassette.",
    "beds": "Tomatoes and beans share the southern bed, herbs the northern.",
    "japan": "No visa is needed for ninety days; the rail pass pays off after two long trips.",
    "piano": "Practice scales for ten minutes, then the Bach prelude slowly.",
    "database": "We move from MySQL to Postgres on the second weekend of June.",
    "hiring": "The second interview is about design; ask for a review of real code.",
    "bees": "The hive swarmed in May; we caught it in the apple tree.",
    "sailing": "Reef early, keep the jib small and watch the gusts off the cliff.",
}


@pytest.mark.parametrize("mode", MEANING)
async def test_among_short_notes_what_is_meant_is_no_weak_answer(
    make_index: Callable[..., Index], mode: SearchType
) -> None:
    """The titles of notes, which are half of their texts, do not tell how near an answer is."""
    index = make_index(source=Provided(StaticProvider()))
    for name, text in SHORT.items():
        index.write(f"{name}.md", f"# {name.title()}\n\n{text}\n")
    await index.sync.full_sync()
    await index.backfill.run_once()
    results = await ask(index, "insects and honey", mode)
    assert results.hits[0].ref.file_path == "bees.md"
    assert results.hits[0].confidence in (Confidence.HIGH, Confidence.MEDIUM)
    assert not results.is_weak


def topic(number: int) -> str:
    """A note that shares words with some others and means something of its own."""
    things = ("ship", "harbour", "garden", "bread", "piano", "violin", "planet", "market", "tax")
    doing = ("sailing", "baking", "tuning", "planting", "selling", "orbiting")
    thing, act = things[number % len(things)], doing[number % len(doing)]
    return f"# {thing.title()} {number}\n\nOf {act}.\n\n- [fact] A {thing} is what {act} needs.\n"


@pytest.fixture
async def topics(embedded: Embedded) -> Index:
    return await embedded(
        {f"n{number:02}.md": topic(number) for number in range(60)}, Provided(StaticProvider())
    )


@pytest.mark.parametrize("mode", MEANING)
async def test_pages_are_the_whole_in_parts(topics: Index, mode: SearchType) -> None:
    """Scores fall, no hit is twice, pages joined are the list: see the checks."""
    kinds: list[tuple[ItemType, ...]] = [(), (ItemType.OBSERVATION,), (ItemType.SECTION,)]
    for text in ("boats", "ship", "music instrument", "cake OR ship", "sailing -ship", "selling a"):
        for of in kinds:
            for size in (1, 7):
                query = SearchQuery(text, mode, SearchFilters(item_types=of, min_similarity=0.2))
                await check_paging(topics.search, query, size)


@pytest.mark.parametrize("mode", MEANING)
async def test_notes_alike_are_in_the_order_of_their_paths(
    make_index: Callable[..., Index], mode: SearchType
) -> None:
    """Whoever was indexed first."""
    names = [f"n{number:02}/same.md" for number in range(40)]
    orders = []
    for name, paths_in_turn in (("one", names), ("two", names[::-1])):
        index = make_index(name=name, source=Provided(StaticProvider()))
        for path in paths_in_turn:
            index.write(path, "# Same\n\nA boat in the harbour.\n")
            await index.sync.full_sync()
        await index.backfill.run_once()
        results = await checked(index.search, SearchQuery("boat harbour", mode))
        orders.append([hit.ref.file_path for hit in results.hits])
        for path in names:
            (index.root / path).unlink()
    assert orders[0] == orders[1] == names


async def test_confidence_never_rises_with_less_evidence(topics: Index) -> None:
    levels = list(Confidence)
    results = await ask(topics, "ship sailing", SearchType.HYBRID)

    def evidence(hit: Hit) -> tuple[float, int]:
        assert hit.explanation is not None
        return hit.explanation.similarity or 0.0, sum(
            one.share > 0 for one in hit.explanation.terms
        )

    for better in results.hits:
        for worse in results.hits:
            if all(a >= b for a, b in zip(evidence(better), evidence(worse), strict=True)):
                assert better.confidence is not None
                assert worse.confidence is not None
                assert levels.index(better.confidence) <= levels.index(worse.confidence)


@pytest.mark.parametrize("mode", list(SearchType))
@pytest.mark.parametrize("of", [ItemType.OBSERVATION, ItemType.RELATION])
async def test_a_date_alone_finds_the_notes_of_that_time(
    embedded: Embedded, mode: SearchType, of: ItemType
) -> None:
    """Whether their items have vectors or, as a plain relation, none; and all of them."""
    files = {f"n{number}.md": "- [fact] one\n- sees [[Other]]\n" for number in range(5)}
    index = await embedded(files, Provided(StaticProvider()), MeaningLimits())
    results = await ask(index, f"{datetime.now(UTC):%B %Y}", mode, item_types=(of,))
    assert (results.total, len(results.hits), results.is_weak) == (5, 5, False)


@pytest.mark.parametrize("mode", MEANING)
async def test_what_a_date_alone_excludes_is_left_out(embedded: Embedded, mode: SearchType) -> None:
    index = await embedded(POND)
    of = (ItemType.SECTION,)
    results = await ask(index, f"{datetime.now(UTC):%B %Y} -pond", mode, item_types=of)
    assert paths(results) == ["kitchen.md", "sea.md"]


async def test_a_project_without_a_text_to_embed_is_not_being_prepared(embedded: Embedded) -> None:
    index = await embedded({"🎉.md": ""})
    assert (await ask(index, "heron", SearchType.HYBRID)).degraded is None


async def test_who_asks_for_meaning_alone_is_not_told_of_words(embedded: Embedded) -> None:
    index = await embedded(POND)
    assert (await ask(index, "the", SearchType.VECTOR)).suggestion == (
        "No note is near enough in meaning. Try other words, or min_similarity 0, which shows the nearest."
    )
    assert (await ask(index, "stork", SearchType.HYBRID)).suggestion == (
        "No note has these words, and none is near enough in meaning. Try other words, or a vector "
        "search with min_similarity 0, which shows the nearest."
    )


async def test_how_near_it_must_be_is_named_where_nothing_is(embedded: Embedded) -> None:
    index = await embedded(POND)
    for text in ("wader", "wader tag:wet"):
        said = (await ask(index, text, SearchType.VECTOR, min_similarity=0.999)).suggestion
        assert said == "No note is as near as 0.999; lower min_similarity or leave it out."
    said = (await ask(index, "wader", SearchType.HYBRID, min_similarity=0.999)).suggestion
    assert said == (
        "No note has these words, and none is as near as 0.999; use other words, or lower "
        "min_similarity or leave it out."
    )


async def test_notes_without_a_filter_are_counted_as_they_were_searched(embedded: Embedded) -> None:
    index = await embedded(POND)
    expected = {SearchType.FTS: 1, SearchType.VECTOR: 2, SearchType.HYBRID: 3}
    for mode, count in expected.items():
        query = "wader" if mode is SearchType.VECTOR else "wader sings"
        assert (await ask(index, query, mode)).total == count
        notes = "1 note matches" if count == 1 else f"{count} notes match"
        said = (await ask(index, f"{query} tag:dry", mode)).suggestion
        assert said == f"Drop the filter (tag): without it {notes}."


async def test_the_same_text_is_as_near_as_can_be_asked_for(embedded: Embedded) -> None:
    same = "the quick brown heron jumps over the pond"
    index = await embedded({"a.md": f"a\n{same}\n"}, Provided(StaticProvider()))
    results = await ask(index, f"a {same}", SearchType.VECTOR, min_similarity=1.0)
    assert paths(results) == ["a.md"]


async def test_the_phrase_that_is_explained_is_that_of_the_best_item(embedded: Embedded) -> None:
    files = {"a.md": "## One\n\ngrey pond, a grey pond\n\n## Two\n\nkettle, kettle, kettle\n"}
    index = await embedded(files, Provided(DrawnProvider({"kettle": 0.0}, provider="fastembed")))
    [hit] = (await ask(index, "grey pond kettle", SearchType.HYBRID)).hits
    assert hit.explanation is not None
    assert [term.share > 0 for term in hit.explanation.terms] == [False, False, True]
    assert hit.explanation.boosts["phrase"] == 0


@pytest.mark.parametrize("mode", MEANING)
async def test_what_is_near_is_no_weak_hit_before_the_project_is_measured(
    make_index: Callable[..., Index], mode: SearchType
) -> None:
    provider = DrawnProvider(ANGLES)
    index = make_index(source=Provided(provider))
    for number in range(5):
        index.write(f"n{number}.md", f"# Heron {number}\n")
    await index.sync.full_sync()
    vectors = vectors_of(index.store)
    await NoteEmbedder("main", index.store, vectors, SystemClock()).embed_all(provider)
    results = await ask(index, "wader", mode)
    assert (len(results.hits), results.is_weak) == (5, False)
    assert {hit.confidence for hit in results.hits} == {Confidence.LOW}


async def test_a_weak_answer_shows_the_nearest_passage_first(embedded: Embedded) -> None:
    """One word of many says less than the meaning."""
    files = {"a.md": "## One\n\nThe word alone.\n\n## Two\n\nA grey heron.\n"}
    index = await embedded(files | {f"{number}.md": "Else.\n" for number in range(20)})
    results = await ask(index, "wader word unheard unseen unsaid", SearchType.HYBRID)
    assert results.is_weak
    [hit] = results.hits
    assert [one.heading_path[-1] for one in hit.passages] == ["Two", "One"]
    results = await ask(index, "wader word", SearchType.HYBRID)
    assert not results.is_weak
    [hit] = results.hits
    assert [one.heading_path[-1] for one in hit.passages] == ["One", "Two"]


async def test_while_notes_are_pending_meaning_counts_less(embedded: Embedded) -> None:
    """What is near among few notes need not be near among all."""
    index = await embedded(POND)

    async def part() -> float:
        [hit] = [
            one
            for one in (await ask(index, "heron", SearchType.HYBRID)).hits
            if one.ref.file_path == "sea.md"
        ]
        assert hit.explanation is not None
        assert hit.explanation.similarity is not None
        return hit.explanation.boosts["meaning"] / hit.explanation.similarity

    whole = await part()
    index.write("late.md", "A crane.\n")
    await index.sync.full_sync()
    assert await part() == pytest.approx(whole * 3 / 4)


async def test_a_weak_word_does_not_stand_before_what_is_near(embedded: Embedded) -> None:
    files = {
        "strong.md": "The heron of the pond, the heron.\n",
        "weak.md": "# Weak\n\nA pond.\n\n- [seen] a wader\n",
        "other.md": "A pond.\n",
    }
    index = await embedded(files)
    results = await ask(index, "heron pond", SearchType.HYBRID)
    [weak] = [hit for hit in results.hits if hit.ref.file_path == "weak.md"]
    assert weak.passages[0].text == "[seen] a wader"
