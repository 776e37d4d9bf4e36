"""The index is a pure function of the files: whatever happened on the way, it equals a fresh one."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

SOAK = bool(os.environ.get("MEMORANDA_SOAK"))

NAMES = st.sampled_from(
    [
        "a",
        "b",
        "A",
        "b c",
        "b-c",
        "Ärger",
        "知識",
        "index",
        "my note",
        "my-note",
        "2024",
        "é",
        "e\u0301",
    ]
)
FOLDERS = st.sampled_from(["", "x/", "X/", "x/y/", "My Notes/", "my-notes/"])
PATHS = st.builds(lambda folder, name: f"{folder}{name}.md", FOLDERS, NAMES)
LINKS = st.one_of(
    NAMES.map(lambda name: f"[[{name}]]"),
    PATHS.map(lambda path: f"[[{path[:-3]}]]"),
    PATHS.map(lambda path: f"[t]({path.replace(' ', '%20')})"),
    PATHS.map(lambda path: f"[up](../{path.replace(' ', '%20')})"),
    st.sampled_from(["[[Shared Title]]", "[[nick]]", "![[b c#Part]]", "[[nowhere at all]]"]),
)
LINES = st.one_of(
    LINKS.map(lambda link: f"some prose with {link}.\n"),
    LINKS.map(lambda link: f"- needs {link} (because)\n"),
    st.sampled_from(
        [
            "- [fact] same words #t\n",
            "- [fact] other words (ctx) ^b1\n",
            "# Heading\n",
            "plain\n",
            "\n",
        ]
    ),
)
HEADERS = st.sampled_from(
    [
        "",
        "",
        "---\ntitle: Shared Title\n---\n",
        "---\ntitle: b c\ntags: [t, u]\n---\n",
        "---\npermalink: x/a\n---\n",
        "---\npermalink: My Note\naliases: [nick, Other Nick]\n---\n",
        "---\ntitle: broken: [\n---\n",
        "---\ncreated: 2020-01-02\nup: '[[a]]'\n---\n",
    ]
)
TEXTS = st.builds(lambda head, lines: head + "".join(lines), HEADERS, st.lists(LINES, max_size=4))


class Folder(RuleBasedStateMachine):
    """Files come, change, move and go; after every sync the index is compared with a fresh one."""

    make_index = None

    @initialize()
    def start(self) -> None:
        self.home = Path(tempfile.mkdtemp())
        self.root = self.home / "notes"
        self.root.mkdir()
        self.index = type(self).make_index(self.root, self.home.name)
        self.number = 0

    def teardown(self) -> None:
        if hasattr(self, "index"):
            self.sync_and_compare()
            self.index.store.close()
            shutil.rmtree(self.home)

    def files(self) -> list[Path]:
        return sorted(path for path in self.root.rglob("*.md"))

    def chosen(self, number: int) -> Path | None:
        files = self.files()
        return files[number % len(files)] if files else None

    @rule(path=PATHS, text=TEXTS)
    def save(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    @rule(number=st.integers(0, 20))
    def remove(self, number: int) -> None:
        if file := self.chosen(number):
            file.unlink()

    @rule(number=st.integers(0, 20), path=PATHS)
    def move(self, number: int, path: str) -> None:
        if file := self.chosen(number):
            target = self.root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            file.rename(target)

    @rule(one=st.integers(0, 20), other=st.integers(0, 20))
    def swap(self, one: int, other: int) -> None:
        first, second = self.chosen(one), self.chosen(other)
        if first and second and first != second:
            aside = self.root / "aside"
            first.rename(aside)
            second.rename(first)
            aside.rename(second)

    @rule(folder=FOLDERS.filter(bool), goal_folder=FOLDERS.filter(bool))
    def move_folder(self, folder: str, goal_folder: str) -> None:
        source, goal = self.root / folder, self.root / goal_folder
        if source.is_dir() and not goal.exists() and source not in goal.parents:
            goal.parent.mkdir(parents=True, exist_ok=True)
            source.rename(goal)

    @rule(data=st.binary(max_size=40), path=PATHS)
    def save_bytes(self, data: bytes, path: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)

    @rule()
    def sync(self) -> None:
        report = asyncio.run(self.index.sync.full_sync())
        assert report.failures == ()

    @rule()
    def sync_and_compare(self) -> None:
        report = asyncio.run(self.index.sync.full_sync())
        assert report.failures == ()
        self.number += 1
        fresh = type(self).make_index(self.root, f"{self.home.name}-{self.number}")
        asyncio.run(fresh.sync.full_sync())
        expected, found = fresh.snapshot(), self.index.snapshot()
        fresh.store.close()
        for table, rows in expected.items():
            assert found[table] == rows, table


@pytest.mark.slow
@pytest.mark.timeout(3600 if SOAK else 300)
def test_index_after_any_file_operations_equals_a_fresh_one(make_index):
    Folder.make_index = staticmethod(make_index)
    test_case = Folder.TestCase
    test_case.settings = settings(
        max_examples=2000 if SOAK else 60,
        stateful_step_count=30,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        derandomize=not SOAK,
    )
    test_case("runTest").runTest()
