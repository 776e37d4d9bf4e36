"""A note whose file is gone, and the index does not know it yet."""

from __future__ import annotations

from typing import Any

import pytest

from memoranda.errors import NoteNotFound
from memoranda.model.edit import Append


@pytest.fixture
def gone(index: Any) -> Any:
    index.write("plans/Trip to Rome.md", "# Trip\n")
    index.write("plans/Trip to Roma.md", "# Other trip\n")
    index.run_sync()
    (index.root / "plans/Trip to Rome.md").unlink()
    return index


@pytest.mark.parametrize("dry_run", [False, True])
async def test_an_edit_says_which_file_is_gone_and_what_is_near(gone: Any, dry_run: bool) -> None:
    with pytest.raises(NoteNotFound) as caught:
        await gone.notes.edit("Trip to Rome", Append("more"), dry_run=dry_run)

    assert "plans/Trip to Rome.md" in f"{caught.value.message} {caught.value.hint}"
    assert caught.value.near == ("plans/trip-to-roma",)
    assert not (gone.root / "plans/Trip to Rome.md").exists()


async def test_a_read_says_which_file_is_gone_and_what_is_near(gone: Any) -> None:
    with pytest.raises(NoteNotFound) as caught:
        await gone.notes.read("Trip to Rome")

    assert "plans/Trip to Rome.md" in f"{caught.value.message} {caught.value.hint}"
    assert caught.value.near == ("plans/trip-to-roma",)


async def test_what_the_index_does_not_know_yet_is_read_and_edited_by_its_path(index: Any) -> None:
    index.write("plans/New.md", "# New\n")

    await index.notes.edit("plans/New.md", Append("more"))
    view = await index.notes.read("plans/New.md")

    assert view.text == "# New\nmore\n"
