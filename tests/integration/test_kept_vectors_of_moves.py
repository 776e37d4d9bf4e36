"""Moves and undos leave the vectors of texts that stayed the same."""

from __future__ import annotations

import pytest
from tests.integration.conftest import Index
from tests.integration.embedding_world import World
from tests.integration.undo_world import UndoWorld


@pytest.mark.parametrize("is_embedded", [True, False])
async def test_a_note_that_moves_or_comes_back_keeps_its_vectors(
    index: Index, is_embedded: bool
) -> None:
    embedding, world = World(index), UndoWorld(index)
    for number in range(3):
        index.write(f"here/n{number}.md", f"# N {number}\n\nText {number}.\n\n## Part\n\nMore.\n")
    index.write("links.md", "One [link](here/n0.md).\n")
    await index.sync.full_sync()
    if is_embedded:
        await embedding.backfill.run_once()
    before = await embedding.progress()

    moved = await world.move("here/", "there")
    after_move = await embedding.progress()
    assert after_move.pending == (1 if is_embedded else 4)  # the note with another link

    await world.undo(moved)
    assert await embedding.progress() == before
    if is_embedded:
        assert before.pending == 0
        assert embedding.provider is not None
        made = list(embedding.provider.made)
        await embedding.backfill.run_once()
        assert embedding.provider.made == made
