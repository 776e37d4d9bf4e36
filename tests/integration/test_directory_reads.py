"""What looking into a folder, and finding a name, reads of the index: what is there, not the whole vault."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from sqlalchemy import event

from memoranda.repositories.directory import DirectoryRepository
from memoranda.repositories.entity import EntityRepository
from memoranda.repositories.note_sets import NoteSets
from memoranda.repositories.store import Tx
from memoranda.services.lookup import find_note, near_names

PATHS = (
    "a.md",
    "a/one.md",
    "a/two.md",
    "a/b/three.md",
    "a-b/four.md",
    "a0.md",
    "a!/five.md",
    "A/six.md",
    "folder of 50%/x_y.md",
    "folder of 50%/deep/er/than/that.md",
    "気候/変動/note.md",
    "気候.md",
    "zz/😀/smile.md",
    "zz/md.md",
)


@pytest.fixture
def full(index: Any) -> Any:
    for path in PATHS:
        index.write(path, f"# {path}\n")
    index.run_sync()
    return index


def plans(index: Any, ask: Any) -> list[str]:
    """The steps of every statement that `ask` runs, as SQLite plans them."""

    def planned(tx: Tx) -> list[str]:
        statements: list[tuple[str, Any]] = []

        def keep(_conn: Any, _cursor: Any, statement: str, values: Any, *_: Any) -> None:
            statements.append((statement, values))

        event.listen(tx.conn.engine, "before_cursor_execute", keep)
        try:
            ask(tx)
        finally:
            event.remove(tx.conn.engine, "before_cursor_execute", keep)
        return [
            step[3]
            for statement, values in statements
            if not statement.startswith(("PRAGMA", "CREATE"))
            for step in tx.conn.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)
        ]

    return list(index.store.read_now(planned))


@pytest.mark.parametrize("folder", ["", "a", "A", "a/b", "zz", "気候", "folder of 50%", "nothing"])
def test_a_level_is_what_the_paths_say(full: Any, folder: str) -> None:
    lead = f"{folder}/" if folder else ""
    rest = [path[len(lead) :] for path in PATHS if path.startswith(lead)]
    folders = Counter(lead + one.split("/")[0] for one in rest if "/" in one)
    notes = sorted(lead + one for one in rest if "/" not in one)

    found, in_it = full.store.read_now(lambda tx: DirectoryRepository(tx).level(folder))

    assert (found, sorted(in_it)) == (dict(folders), notes)


@pytest.mark.sqlite
def test_a_level_is_read_from_the_index_of_paths(full: Any) -> None:
    steps = plans(full, lambda tx: DirectoryRepository(tx).level("a"))

    on_notes = [step for step in steps if " entity" in step]
    assert on_notes
    assert [s for s in on_notes if "COVERING INDEX sqlite_autoindex_entity_2 (file" not in s] == []


@pytest.mark.sqlite
def test_a_folder_is_looked_up_by_its_paths(full: Any) -> None:
    steps = plans(full, lambda tx: EntityRepository(tx).has_below("zz"))

    assert [step for step in steps if "(file_path>? AND file_path<?)" not in step] == []


@pytest.mark.sqlite
def test_the_end_of_a_permalink_is_found_by_name(full: Any) -> None:
    steps = plans(full, lambda tx: find_note(tx, "b/three"))

    assert [step for step in steps if step.startswith("SCAN") and "entity" in step] == []
    assert not any("ix_entity_mtime" in step for step in steps)


@pytest.mark.sqlite
def test_near_names_are_found_without_reading_all_titles(full: Any) -> None:
    steps = plans(full, lambda tx: near_names(tx, "smlie"))

    assert [step for step in steps if step.startswith("SCAN") and "entity" in step] == []
    assert not any("(project_id=?)" in step for step in steps)


async def test_notes_are_counted_anew_after_each_change(index: Any) -> None:
    def count() -> int:
        return int(index.store.read_now(lambda tx: NoteSets(tx).count()))

    assert (count(), count()) == (0, 0)
    for number in range(1, 4):
        await index.notes.write(title=f"Note {number}", content="x")
        assert (count(), count()) == (number, number)
    await index.notes.delete("note-2")
    assert count() == 2


async def test_the_order_of_paths_is_the_same_however_often_it_is_asked_for(index: Any) -> None:
    ids: dict[str, int] = {}

    def orders() -> tuple[list[int], list[int]]:
        def ask(tx: Tx) -> tuple[list[int], list[int]]:
            sets = NoteSets(tx)
            return sets.by_path(ids.values()), sets.first_by_path(np.array(sorted(ids.values())), 2)

        found: tuple[list[int], list[int]] = index.store.read_now(ask)
        return found

    for title in ("b", "c", "a"):
        written = await index.notes.write(title=title, content="x")
        ids[title] = written.ref.entity_id
        wanted = [ids[one] for one in sorted(ids)]
        for _ in range(15):
            assert orders() == (wanted, wanted[:2])


@pytest.mark.parametrize(
    "typed",
    [
        "Late Key Stak",
        "Late Kye Stack",
        "Late Stack",
        "late-key-stacks",
        "ate Key Stack",
        "Latte Key Stack",
    ],
)
def test_a_misspelt_name_is_near(index: Any, typed: str) -> None:
    index.write("deep/down/Late Key Stack.md", "x")
    for number in range(300):
        index.write(f"m/Latecomer {number}.md", "x")
        index.write(f"n/Early {number} Morning.md", "x")
    index.run_sync()

    near = index.store.read_now(lambda tx: near_names(tx, typed))

    assert near[:1] == ["deep/down/late-key-stack"]


def test_a_word_that_is_wrong_at_its_end_is_near_inside_a_title(index: Any) -> None:
    index.write("lamps/Old Lantern.md", "x")
    for number in range(300):
        index.write(f"m/{'Lant' if number % 2 else 'Mast'} {number}.md", "x")
    index.run_sync()

    near = index.store.read_now(lambda tx: near_names(tx, "Lanterm"))

    assert "lamps/old-lantern" in near
