"""In which order files come into the index, alone or together, does not change what it says."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text
from tests.property.markup import CLOSED_NOTES, SOAK_TIMEOUT_S, counted

from memoranda.db.engine import SqliteDatabase, begin_write, open_engine
from memoranda.db.health import prepare
from memoranda.files.clock import SystemClock
from memoranda.model.address import NotePath
from memoranda.model.project import Project
from memoranda.model.sync import FileState
from memoranda.repositories.project import ensure_project
from memoranda.repositories.search_sqlite import SqliteFullTextIndex
from memoranda.repositories.store import Store
from memoranda.services.entity import apply
from memoranda.services.note_input import Gone
from memoranda.services.reading import ReadNote, read_note
from memoranda.sync.sync_service import INDEX_VERSION

pytestmark = [pytest.mark.slow, pytest.mark.timeout(SOAK_TIMEOUT_S)]

NAMES = ["a", "A b", "a-b", "Ä", "知識", "index", "2024", "e\u0301", "\u00e9", "a-b-1b2c3d4e", "!"]
FOLDERS = ["", "x/", "X/", "x/y/", "My Notes/", "my-notes/"]
TITLES = ["Shared", "shared!", "a b", "x/a", "知識", "!!", "A"]
PERMALINKS = ["a-b", "x/a", "shared", "My Notes/a", "é"]
SNAPSHOT = {
    "permalinks": "SELECT file_path, permalink, title FROM entity ORDER BY 1",
    "links": """SELECT s.file_path, l.ordinal, l.target, l.form, t.file_path
        FROM link l JOIN entity s ON s.id = l.entity_id LEFT JOIN entity t ON t.id = l.to_id ORDER BY 1, 2""",
    "relations": """SELECT s.file_path, r.relation_type, r.to_name, t.file_path, r.context, r.permalink
        FROM relation r JOIN entity s ON s.id = r.from_id LEFT JOIN entity t ON t.id = r.to_id
        ORDER BY 1, 2, 3, 4""",
    "observations": """SELECT e.file_path, o.ordinal, o.permalink
        FROM observation o JOIN entity e ON e.id = o.entity_id ORDER BY 1, 2""",
    "names": """SELECT e.file_path, n.key, n.kind FROM note_name n JOIN entity e ON e.id = n.entity_id
        ORDER BY 1, 2, 3""",
}  # fmt: skip

Rows = Mapping[str, Sequence[tuple[object, ...]]]


@st.composite
def folders(draw: st.DrawFn) -> dict[str, str]:
    """A few notes whose names, titles, permalinks and aliases collide, with links by each of them."""
    paths = draw(
        st.lists(
            st.builds("{}{}.md".format, st.sampled_from(FOLDERS), st.sampled_from(NAMES)),
            min_size=2,
            max_size=7,
            unique=True,
        )
    )
    names = st.sampled_from([*NAMES, *TITLES, *PERMALINKS, *(path[:-3] for path in paths)])
    links = st.one_of(
        names.map("see [[{}]]\n".format),
        names.map("- needs [[{}]] (why)\n".format),
        st.sampled_from(paths).map(lambda path: f"[t](/{path.replace(' ', '%20')})\n"),
        st.sampled_from(paths).map(lambda path: f"[t](../{path.replace(' ', '%20')})\n"),
    )
    keys = st.one_of(
        st.sampled_from(TITLES).map("title: '{}'\n".format),
        st.sampled_from(PERMALINKS).map("permalink: {}\n".format),
        names.map("aliases: ['{}']\n".format),
        names.map("up: '[[{}]]'\n".format),
    )
    return {
        path: "---\n" + "".join(draw(st.lists(keys, max_size=2))) + "---\n"
        + "".join(draw(st.lists(links, max_size=3))) + draw(st.just("") | CLOSED_NOTES)
        for path in paths
    }  # fmt: skip


class Indexed:
    """One index that is filled and emptied again and again."""

    def __init__(self, home: Path) -> None:
        prepare(home / "memory.db")
        engine = open_engine(home / "memory.db")
        clock = SystemClock()
        with begin_write(engine) as conn:
            project = Project("p", "p", home)
            project_id = ensure_project(
                conn, project, clock.now().replace(tzinfo=None), INDEX_VERSION
            )
        self.store = Store(SqliteDatabase(engine), project_id, clock)
        self._fulltext = SqliteFullTextIndex(project_id)

    def add(self, notes: Sequence[ReadNote]) -> None:
        inputs = [note.as_input() for note in notes]
        self.store.write_now(lambda tx: apply(tx, self._fulltext, inputs))

    def remove(self, paths: Collection[str]) -> None:
        gone = [one for one in self._all() if one.path in paths]
        self.store.write_now(lambda tx: apply(tx, self._fulltext, [], deleted=gone))

    def clear(self) -> None:
        self.remove([one.path for one in self._all()])
        assert not any(self.snapshot().values()), "an index without notes says nothing"

    def _all(self) -> list[Gone]:
        return [Gone(*row) for row in self._rows("SELECT id, file_path, checksum FROM entity")]

    def snapshot(self) -> Rows:
        return {name: self._rows(query) for name, query in SNAPSHOT.items()}

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        return self.store.read_now(lambda tx: [tuple(row) for row in tx.conn.execute(text(query))])


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    made = Indexed(tmp_path_factory.mktemp("arrival"))
    yield made
    made.store.close()


def read(files: Mapping[str, str]) -> dict[str, ReadNote]:
    return {
        path: read_note(body.encode(), FileState(NotePath(path), len(body), 10**18, 10**18, 1))
        for path, body in files.items()
    }


@counted(12, 800)
@given(folders(), st.data())
def test_permalinks_and_links_do_not_depend_on_the_order_of_arrival(
    index: Indexed, files: Mapping[str, str], data: st.DataObject
) -> None:
    notes = read(files)
    index.clear()
    index.add(list(notes.values()))
    together = index.snapshot()
    index.clear()
    for path in data.draw(st.permutations(list(files)), "order"):
        index.add([notes[path]])
    assert index.snapshot() == together


@counted(12, 800)
@given(folders(), st.data())
def test_notes_that_came_and_went_leave_nothing_behind(
    index: Indexed, files: Mapping[str, str], data: st.DataObject
) -> None:
    notes = read(files)
    index.clear()
    paths = list(files)
    stay = paths[: data.draw(st.integers(1, len(paths) - 1), "how many stay")]
    index.add([notes[path] for path in stay])
    alone = index.snapshot()
    go = [path for path in paths if path not in stay]
    index.add([notes[path] for path in go])
    for path in data.draw(st.permutations(go), "order"):
        index.remove([path])
    assert index.snapshot() == alone
