"""Whatever is moved where: every link means what it meant, and no other byte changes."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.integration.conftest import SNAPSHOT
from tests.integration.move_check import unexplained
from tests.integration.moving_world import Tree, World

from memoranda.db.health import prepare
from memoranda.errors import MemorandaError
from memoranda.files.clock import SystemClock
from memoranda.model.moves import MoveResult
from memoranda.model.project import Project
from memoranda.places.sqlite import open_at
from memoranda.workspace import assemble

FOLDERS: Final = ("", "a/", "b/", "a/c/", "My Notes/")
NAMES: Final = ("x", "y", "Note One", "note-one", "Ünï", "100% (real)")
PICTURES: Final = ("pic.png", "a/pic.png", "a/c/my pic.png", "b/doc.pdf")
PATHS: Final = tuple(f"{folder}{name}.md" for folder in FOLDERS for name in NAMES)
_names = st.sampled_from((*NAMES, "Title", "nick", "a/x", "my-notes/note-one", "nowhere"))
_paths = st.sampled_from(PATHS)
_ways = st.sampled_from(("", "./", "../", "/", "../../"))


def _encoded(path: str) -> str:
    return path.replace("%", "%25").replace(" ", "%20").replace("(", "%28").replace(")", "%29")


LINKS = st.one_of(
    _names.map(lambda name: f"[[{name}]]"),
    _names.map(lambda name: f"[[{name}.md#Part|the label]]"),
    _paths.map(lambda path: f"![[{path[:-3]}]]"),
    _paths.map(lambda path: f"[[/{path}]]"),
    st.builds(lambda way, path: f"[[{way}{path}]]", _ways, _paths),
    st.builds(lambda way, path: f"[t]({way}{_encoded(path)})", _ways, _paths),
    st.builds(lambda way, path: f"[t](<{way}{path}#part> 'title')", _ways, _paths),
    st.builds(lambda way, path: f"![p]({way}{_encoded(path)})", _ways, st.sampled_from(PICTURES)),
    st.builds(lambda way, path: f"![[{way}{path}]]", _ways, st.sampled_from(PICTURES)),
    _paths.map(lambda path: f"[r]\n\n[r]: {_encoded(path)} 'title'\n\n`[[x]]`"),
)
HEADERS = st.one_of(
    st.just(""),
    st.just(""),
    st.sampled_from(
        ("title: Title", "aliases: [nick]", "permalink: b/x", "title: x", "aliases: [a/x]")
    ).map(lambda line: f"---\n{line}\n---\n"),
    _names.map(lambda name: f"---\nup: '[[{name}]]'\nmore:\n  - \"[[{name}|l]]\"\n---\n"),
)
TEXTS = st.builds(
    lambda header, links, end: header + "".join(f"- is {link} so{end}" for link in links),
    HEADERS,
    st.lists(LINKS, max_size=4),
    st.sampled_from(("\n", "\r\n")),
)
VAULTS = st.dictionaries(_paths, TEXTS, min_size=2, max_size=8)
DESTINATIONS = st.one_of(
    _paths,
    st.sampled_from(("a/", "b", "new/", "new/place/Other.md", "a/c/z", "My Notes", "x y", "/")),
)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database made once, to be copied."""
    path: Path = tmp_path_factory.mktemp("empty") / "memory.db"
    prepare(path)
    return path


@contextmanager
def world(empty: Path, place: Path, root: Path) -> Iterator[World]:
    """An index of a folder in a fresh database."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    shutil.copy(empty, place / "memory.db")
    clock, project = SystemClock(), Project("main", "main", root)
    parts = assemble(project, open_at(place / "memory.db", project, clock), place, clock)
    try:
        made = World(root, parts.store, parts.files, parts.history, parts.sync)
        made.run_sync()
        yield made
    finally:
        asyncio.run(parts.aclose())


@pytest.mark.slow
@pytest.mark.timeout(300)
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(
    vault=VAULTS,
    pictures=st.sets(st.sampled_from(PICTURES)),
    moves=st.lists(st.tuples(st.integers(0, 20), DESTINATIONS), min_size=1, max_size=3),
)
def test_moves_keep_what_links_mean_and_all_other_bytes(
    empty: Path,
    tmp_path: Path,
    vault: dict[str, str],
    pictures: set[str],
    moves: list[tuple[int, str]],
) -> None:
    root = tmp_path / "notes"
    shutil.rmtree(root, ignore_errors=True)
    for path, content in {**vault, **dict.fromkeys(pictures, "P")}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content.encode())
    with world(empty, tmp_path / "config", root) as here:
        for which, destination in moves:
            before, meanings, ids = here.tree(), here.meanings(), here.identities()
            places = [*(path for path in before if path.endswith(".md")), *_folders(before)]
            source = places[which % len(places)]
            try:
                result = here.move(source, destination)
            except MemorandaError:
                assert here.tree() == before
                assert here.meanings() == meanings
                continue
            _check_files(before, here.tree(), result)
            _check_links(here, meanings, result)
            moved = {note.from_path: note.to_path for note in result.notes}
            assert here.identities() == {moved.get(path, path): i for path, i in ids.items()}  # type: ignore[call-overload]
            assert not here.run_sync().changes
        said = {name: here.rows(sql) for name, sql in SNAPSHOT.items()}
    with world(empty, tmp_path / "fresh", root) as fresh:
        assert said == {name: fresh.rows(sql) for name, sql in SNAPSHOT.items()}


def _folders(tree: Tree) -> list[str]:
    return [f"{path}/" for path, data in tree.items() if data is None]


def _check_files(before: Tree, after: Tree, result: MoveResult) -> None:
    moved = {str(note.to_path): str(note.from_path) for note in result.notes}
    seen = set()
    for path, data in after.items():
        if data is None:
            continue
        old = moved.get(path, path)
        if result.is_folder and path not in moved and path.startswith(f"{result.destination}/"):
            inner = f"{result.source}{path[len(result.destination) :]}"
            old = inner if inner in before else path
        seen.add(old)
        was = before[old]
        assert was is not None
        links = [link for link in result.links if link.path == path]
        assert not unexplained(was.decode(), data.decode(), links)
        assert bool(links) == (was != data)
    assert seen == {path for path, data in before.items() if data is not None}


def _check_links(
    here: World, before: dict[tuple[object, object], object], result: MoveResult
) -> None:
    after = here.meanings()
    changed = [at for at, target in before.items() if after.get(at) != target]
    assert len(changed) <= len(result.left)
