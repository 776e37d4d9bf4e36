"""All that is pending gets its vectors, once, whatever comes between."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from loguru import logger
from tests.integration.conftest import Index
from tests.integration.embedding_world import CountingProvider, World

from memoranda.errors import EmbeddingProblem
from memoranda.model.embedding import EmbeddingProgress
from memoranda.model.sync import Progress
from memoranda.ports import EmbeddingProvider
from memoranda.sync import embed_notes as module
from memoranda.sync.embed_backfill import EmbedBackfill
from memoranda.sync.refusals import FIRST_RETRY_S


@pytest.fixture
def world(index: Index) -> World:
    return World(index)


def provider(world: World) -> CountingProvider:
    assert world.provider is not None
    return world.provider


async def test_every_note_gets_its_vectors(world: World) -> None:
    await world.write_many(100, parts=2)
    done = await world.backfill.run_once()
    progress = await world.progress()
    assert progress == EmbeddingProgress(notes=100, pending=0, vectors=progress.vectors)
    assert (done.notes, done.texts, done.refused) == (100, len(provider(world).made), 0)
    assert done.texts >= 200
    assert not provider(world).twice


async def test_a_second_run_and_a_second_start_embed_nothing(world: World) -> None:
    await world.write_many(30)
    await world.backfill.run_once()
    before = len(provider(world).given)
    for backfill in (world.backfill, world.another()):
        assert (await backfill.run_once()).notes == 0
    assert len(provider(world).given) == before


async def test_an_edit_embeds_only_the_paragraph_that_changed(world: World) -> None:
    await world.write("a.md", "# A\n\n## One\n\nFirst part.\n\n## Two\n\nSecond part.\n")
    await world.backfill.run_once()
    provider(world).given.clear()
    await world.write("a.md", "# A\n\n## One\n\nFirst part.\n\n## Two\n\nAnother part.\n")
    done = await world.backfill.run_once()
    assert done.notes == 1
    assert len(provider(world).given) == 1
    assert "Another part." in provider(world).given[0]


async def test_a_text_that_two_notes_have_is_embedded_once(world: World) -> None:
    await world.write("a/same.md", "# Same\n\nThe very same text.\n")
    await world.write("b/same.md", "# Same\n\nThe very same text.\n")
    await world.backfill.run_once()
    assert not provider(world).twice
    await world.write("c/same.md", "# Same\n\nThe very same text.\n")
    before = len(provider(world).given)
    assert (await world.backfill.run_once()).notes == 1
    assert len(provider(world).given) == before
    assert (await world.progress()).is_complete


async def test_a_run_that_is_cut_off_goes_on_where_it_stopped(world: World) -> None:
    await world.write_many(200, parts=3)
    embedded: list[str] = []

    def before(_: Sequence[str]) -> None:
        if provider(world).calls == 6:
            provider(world).gate = asyncio.Event()
            embedded.extend(provider(world).made)

    provider(world).before = before
    task = asyncio.create_task(world.backfill.run_once())
    await provider(world).waits.wait()
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    left = await world.progress()
    assert 0 < left.pending < left.notes
    again = world.provider = CountingProvider()
    done = await world.another().run_once()
    assert (done.notes, (await world.progress()).pending) == (left.pending, 0)
    assert (
        len(set(embedded) & set(again.made)) <= module.MOST_NOTES * 4
    )  # of the batch that was cut off
    assert not again.twice


async def test_a_note_that_changes_while_it_is_embedded_is_embedded_again(world: World) -> None:
    await world.write("a.md", "Before.\n")
    provider(world).gate = gate = asyncio.Event()
    task = asyncio.create_task(world.backfill.run_once())
    await provider(world).waits.wait()
    await world.write("a.md", "After.\n")
    gate.set()
    await task
    assert any("After." in text for text in provider(world).made)
    assert (await world.progress()).is_complete
    texts = [text for (text,) in world.index.rows("SELECT chunk_text FROM search_vector_chunks")]
    assert not any("Before." in str(text) for text in texts)


async def test_a_note_that_is_deleted_meanwhile_leaves_nothing(world: World) -> None:
    await world.write("a.md", "One.\n")
    await world.write("b.md", "Two.\n")
    provider(world).gate = gate = asyncio.Event()
    task = asyncio.create_task(world.backfill.run_once())
    await provider(world).waits.wait()
    (world.index.root / "a.md").unlink()
    await world.index.sync.full_sync()
    gate.set()
    await task
    assert (await world.progress()).notes == 1
    assert (await world.progress()).is_complete
    texts = [text for (text,) in world.index.rows("SELECT chunk_text FROM search_vector_chunks")]
    assert not any("One." in str(text) for text in texts)


async def test_another_space_embeds_everything_and_removes_the_old_vectors(world: World) -> None:
    await world.write_many(40)
    await world.backfill.run_once()
    old = provider(world).space
    vectors = (await world.progress()).vectors
    world.provider = CountingProvider("b")
    assert (await world.another().run_once()).notes == 40
    assert (await world.progress(world.provider.space)).vectors == vectors
    assert (await world.progress(old)).vectors == 0
    assert world.index.rows("SELECT DISTINCT model FROM search_vector_embeddings") == [
        (world.provider.space.name,)
    ]


async def test_the_bundled_model_keeps_the_vectors_of_others_until_it_is_told(world: World) -> None:
    await world.write("a.md", "One.\n")
    await world.backfill.run_once()
    paid = provider(world)
    world.provider = CountingProvider("b", provider="static")
    await world.another().run_once()
    spaces = "SELECT DISTINCT model FROM search_vector_embeddings"
    assert len(world.index.rows(spaces)) == 2
    world.provider, asked = paid, len(paid.made)
    await world.backfill.run_once()  # back again: nothing is paid for twice
    assert len(paid.made) == asked
    world.provider = CountingProvider("b", provider="static")
    await world.another().run_once(forget_others=True)
    assert world.index.rows(spaces) == [(world.provider.space.name,)]


async def test_many_old_vectors_are_removed_in_several_transactions(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoranda.sync.embed_notes._RETIRED", 30)
    await world.write_many(40)
    await world.backfill.run_once()
    world.provider = CountingProvider("b")
    removed = []
    retire = world.vectors.retire_others

    def count(conn: Any, space: str, most: int) -> int:
        removed.append(retire(conn, space, most))
        return removed[-1]

    monkeypatch.setattr(world.vectors, "retire_others", count)
    await world.another().run_once()
    vectors = (await world.progress(world.provider.space)).vectors
    assert removed == [30] * (vectors // 30) + [vectors % 30]
    assert len(removed) > 1


async def test_the_same_goes_for_a_process_that_has_embedded_before(world: World) -> None:
    await world.write("a.md", "One.\n")
    await world.backfill.run_once()
    for model in ("b", "a"):
        world.provider = CountingProvider(model)
        assert (await world.backfill.run_once()).notes == 1
        assert world.index.rows("SELECT DISTINCT model FROM search_vector_embeddings") == [
            (world.provider.space.name,)
        ]


async def test_old_vectors_stay_until_the_new_space_is_complete(world: World) -> None:
    await world.write_many(40)
    await world.backfill.run_once()
    world.provider = CountingProvider("b")

    def fail(_: Sequence[str]) -> None:
        if provider(world).calls > 1:
            raise EmbeddingProblem("gone", is_lasting=True)

    world.provider.before = fail
    with pytest.raises(EmbeddingProblem):
        await world.another().run_once()
    models = world.index.rows("SELECT DISTINCT model FROM search_vector_embeddings")
    assert (CountingProvider().space.name,) in models


async def test_without_a_provider_nothing_is_done(world: World) -> None:
    await world.write_many(3)
    world.provider = None
    assert (await world.backfill.run_once()).notes == 0
    assert await world.backfill.progress() is None


async def test_a_failing_provider_leaves_done_what_is_done(world: World) -> None:
    await world.write_many(200, parts=3)

    def fail(_: Sequence[str]) -> None:
        if provider(world).calls > 6:
            raise EmbeddingProblem("no connection")

    provider(world).before = fail
    with pytest.raises(EmbeddingProblem, match="no connection"):
        await world.backfill.run_once()
    left = await world.progress()
    assert 0 < left.pending < 200
    provider(world).before = lambda _: None
    assert (await world.backfill.run_once()).notes == left.pending


def _refusing(word: str) -> Callable[[Sequence[str]], None]:
    def before(texts: Sequence[str]) -> None:
        if any(word in text for text in texts):
            raise EmbeddingProblem("it is too long")

    return before


async def test_a_note_that_is_refused_does_not_stop_the_others(world: World) -> None:
    await world.write_many(80)
    await world.write("bad.md", "# Bad\n\nPoison.\n")
    await world.write("late.md", "# Late\n\nGood.\n")
    provider(world).before = _refusing("Poison")
    done = await world.backfill.run_once()
    assert (done.notes, done.refused, done.reason) == (81, 1, "it is too long")
    assert (await world.progress()).pending == 1
    assert world.backfill.error == "1 note cannot be embedded: it is too long"


async def test_it_is_tried_again_when_its_time_has_come(world: World) -> None:
    await world.write("bad.md", "# Bad\n\nPoison.\n")
    provider(world).before = _refusing("Poison")
    await world.backfill.run_once()
    asked = provider(world).calls
    await world.backfill.run_once()
    assert provider(world).calls == asked
    provider(world).before = lambda _: None
    world.clock.time += FIRST_RETRY_S
    assert (await world.backfill.run_once()).notes == 1
    assert world.backfill.error == ""
    assert (await world.progress()).is_complete


async def test_it_is_tried_at_once_when_it_was_changed(world: World) -> None:
    await world.write("bad.md", "# Bad\n\nPoison.\n")
    provider(world).before = _refusing("Poison")
    await world.backfill.run_once()
    await world.write("bad.md", "# Bad\n\nCured.\n")
    done = await world.backfill.run_once()
    assert (done.notes, done.refused, world.backfill.error) == (1, 0, "")


async def test_one_that_is_deleted_is_not_counted_any_more(world: World) -> None:
    await world.write("bad.md", "# Bad\n\nPoison.\n")
    await world.write("good.md", "# Good\n\nText.\n")
    provider(world).before = _refusing("Poison")
    await world.backfill.run_once()
    (world.index.root / "bad.md").unlink()
    await world.index.sync.full_sync()
    await world.backfill.run_once()
    assert world.backfill.error == ""


async def test_a_provider_that_refuses_many_notes_is_to_blame(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_REFUSED", 5)
    for number in range(40):
        world.index.write(f"bad{number}.md", f"Poison {number}.\n")
    await world.index.sync.full_sync()
    provider(world).before = _refusing("Poison")
    with pytest.raises(EmbeddingProblem, match="too long"):
        await world.backfill.run_once()


async def test_vectors_that_are_stored_and_not_found_are_no_endless_loop(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.write_many(3)
    monkeypatch.setattr(world.vectors, "replace", lambda *_: None)
    done = await world.backfill.run_once()
    assert done.refused == 3
    assert provider(world).twice  # each was tried once more
    assert max(map(provider(world).made.count, provider(world).made)) == 2


async def test_the_figures_of_progress_end_with_all_notes(world: World) -> None:
    await world.write_many(150, parts=2)
    seen: list[Progress] = []
    await world.backfill.run_once(seen.append)
    assert (seen[0].done, seen[0].total) == (0, 150)
    assert (seen[-1].done, seen[-1].total) == (150, 150)
    assert [each.done for each in seen] == sorted(each.done for each in seen)
    assert len(seen) > 3


async def test_long_work_is_said_in_two_lines_and_an_edit_in_none(world: World) -> None:
    lines: list[str] = []
    await world.write_many(40)
    sink = logger.add(lambda message: lines.append(message.record["message"]), level="INFO")
    await world.backfill.run_once()
    told = len(lines)
    await world.write("n1.md", "# Note 1\n\nAnother text.\n")
    lines_of_the_sync = len(lines)
    await world.backfill.run_once()
    logger.remove(sink)
    assert [line.split(": ", 1)[1].split(",")[0] for line in lines[:told]] == [
        "40 notes are to be embedded",
        "40 notes embedded",
    ]
    assert len(lines) == lines_of_the_sync


async def test_embedding_waits_for_what_is_more_important(world: World) -> None:
    await world.write_many(3)
    free = asyncio.Event()
    asked = asyncio.Event()

    async def quiet() -> None:
        asked.set()
        await free.wait()

    task = asyncio.create_task(world.backfill.run(quiet))
    await asked.wait()
    assert provider(world).calls == 0
    made = asyncio.Event()
    provider(world).before = lambda _: made.set()
    free.set()
    await made.wait()
    task.cancel()
    await asyncio.wait({task})


async def test_a_measurement_that_fails_is_no_failure_of_embedding(world: World) -> None:
    async def fail(_: EmbeddingProvider) -> None:
        raise EmbeddingProblem("no answer")

    index, clock = world.index, world.clock
    backfill = EmbedBackfill(
        "main", index.store, world.vectors, world.current, clock, finished=fail
    )
    await world.write("a.md", "One.\n")
    assert (await backfill.run_once()).notes == 1
    assert backfill.error == ""
    assert (await world.progress()).is_complete


async def test_a_slow_provider_gets_small_batches(world: World) -> None:
    """So that what is written meanwhile comes next, and a kill loses little."""
    texts: list[int] = []

    def slow(given: Sequence[str]) -> None:
        world.clock.time += 0.5 * len(given)
        texts.append(len(given))

    provider(world).before = slow
    stored: list[int] = []
    replaced = world.vectors.replace

    def count(conn: Any, space: str, notes: Sequence[Any], vectors: Any) -> None:
        stored.append(len(vectors))
        replaced(conn, space, notes, vectors)

    world.vectors.replace = count  # type: ignore[method-assign]
    await world.write_many(200, parts=3)
    await world.backfill.run_once()
    assert sum(stored) == sum(texts)
    assert max(stored[1:]) <= 40 < stored[0] <= 100
