"""Real vaults between random states, changed as `git checkout` does it; after each the index is a fresh one.

Of a vault at most 300 files take part, drawn once with a fixed seed: an index of that many is built
from nothing in a second, so that the whole of it is compared at every state, also for the large vaults.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.integration.conftest import Index

SOAK = bool(os.environ.get("MEMORANDA_SOAK"))
STATES = 50 if SOAK else 2
FILES = 300 if SOAK else 100
VAULTS = [
    "academicops-specs",
    "dendron-site",
    "foam-docs",
    "free-programming-books",
    "kepano-template",
    "logseq-docs",
    "obsidian-tasks",
    "oldwinter-garden",
    "powershell-docs",
    "silverbullet-docs",
]

State = Mapping[str, bytes]
"""Paths and contents of a whole folder: a commit."""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800 if SOAK else 120)]


def vault_of(folder: Path, chance: random.Random) -> State:
    """Some of a vault's notes."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix == ".md")
    paths = sorted(chance.sample(paths, min(FILES, len(paths))))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def state_of(vault: State, chance: random.Random) -> State:
    """Some of the notes, some of them with other bytes, some at another place."""
    share = chance.choice([0.3, 0.7, 0.95, 1.0])
    state: dict[str, bytes] = {}
    for path, data in vault.items():
        if chance.random() > share:
            continue
        if chance.random() < 0.15:
            data = changed(data, vault, chance)
        if chance.random() < 0.15:
            path = moved(path, vault, chance)
        if not clashes(path, state):
            state[path] = data
    return state


def changed(data: bytes, vault: State, chance: random.Random) -> bytes:
    """Another note's bytes, only a part, as many others, or a line more."""
    match chance.randrange(4):
        case 0:
            return chance.choice(list(vault.values()))
        case 1:
            return data[: chance.randrange(len(data) + 1)]
        case 2:
            return data.swapcase()
        case _:
            return data + f"\nA line more, see [[{name(vault, chance)}]].\n".encode()


def moved(path: str, vault: State, chance: random.Random) -> str:
    """Another folder, another name, another note's path."""
    folder, _, file = path.rpartition("/")
    match chance.randrange(4):
        case 0:
            return f"{chance.choice(list(vault)).rpartition('/')[0]}/{file}".lstrip("/")
        case 1:
            return f"{folder}/{name(vault, chance)} {chance.randrange(9)}.md".lstrip("/")
        case 2:
            return f"archive/{path}"
        case _:
            return chance.choice(list(vault))


def name(vault: State, chance: random.Random) -> str:
    return Path(chance.choice(list(vault))).stem


def clashes(path: str, state: State) -> bool:
    """Whether a folder would have to be where a file is."""
    parents = {str(parent) for parent in Path(path).parents}
    return any(one in parents or one.startswith(f"{path}/") for one in state)


def check_out(root: Path, old: State, new: State) -> None:
    """Only files that differ are removed and written, each as a new file; empty folders go."""
    for path in old.keys() - new.keys():
        (root / path).unlink()
        for folder in (root / path).parents:
            if folder == root or any(folder.iterdir()):
                break
            folder.rmdir()
    for path, data in new.items():
        if old.get(path) != data:
            file = root / path
            file.unlink(missing_ok=True)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)


@pytest.mark.parametrize("vault", VAULTS)
def test_after_every_checkout_the_index_is_a_fresh_one(
    vault: str, shared_folder: Path, make_index: Callable[..., Index], tmp_path: Path
) -> None:
    if not (shared_folder / "vaults" / vault).is_dir():
        pytest.skip(f"the vault {vault} is missing")
    chance = random.Random(vault)
    notes = vault_of(shared_folder / "vaults" / vault, chance)
    root = tmp_path / "notes"
    root.mkdir()
    index = make_index(root)
    check_out(root, {}, notes)
    index.run_sync()
    state = notes
    for number in range(STATES):
        following = state_of(notes, chance)
        check_out(root, state, following)
        state = following
        asyncio.run(index.sync.full_sync(accept_deletions=True))
        fresh = make_index(root, "fresh")
        fresh.run_sync()
        expected, found = fresh.snapshot(), index.snapshot()
        fresh.store.close()
        shutil.rmtree(tmp_path / "config" / "fresh")
        assert len(found["entity"]) > 0.7 * len(state)  # some lie in hidden folders
        for table, rows in expected.items():
            assert found[table] == rows, (number, table)
