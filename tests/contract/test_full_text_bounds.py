"""The contract of `ports.FullTextIndex` where an item is long, odd or of several columns, over both back ends.

PostgreSQL keeps a long item in several parts (`text.lexemes`): none of this may be seen from outside.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime

import pytest
from sqlalchemy import insert
from sqlalchemy.engine import Connection

from memoranda.db.dialects import is_postgresql
from memoranda.db.tables import entity
from memoranda.model.item_key import item_key
from memoranda.model.search import ItemType
from memoranda.ports import FullTextIndex, IndexedItem, IndexedNote
from memoranda.repositories.search_postgres import PostgresFullTextIndex
from memoranda.repositories.search_sqlite import SqliteFullTextIndex
from memoranda.text.analysis import pairs

DAY = datetime(2026, 1, 2)  # noqa: DTZ001 - stored naive


class Bench:
    """The full text of a project, whose notes are made as they are needed."""

    def __init__(self, conn: Connection, project_id: int) -> None:
        make = PostgresFullTextIndex if is_postgresql(conn) else SqliteFullTextIndex
        self.conn = conn
        self.project_id = project_id
        self.index: FullTextIndex = make(project_id)
        self._notes = 0

    def note(self) -> int:
        self._notes += 1
        path = f"{self.project_id}-{self._notes}.md"
        done = self.conn.execute(
            insert(entity).values(
                external_id=path, title=path, file_path=path, permalink=path, content="",
                project_id=self.project_id, created_at=DAY, updated_at=DAY, mtime_ns=0, ctime_ns=0,
                inode=0, note_created=DAY, note_modified=DAY, wanted_permalink=path,
                permalink_class=0, hashed_permalink=path,
            )
        )  # fmt: skip
        [made] = done.inserted_primary_key or [0]
        return int(made)

    def put(
        self, *sections: str, note: int = 0, title: str = "", content: str = "", tags: str = "",
        headings: str = "", added: Sequence[str] | None = None,
    ) -> int:  # fmt: skip
        """Make this all that a note is; returns the key of its own item."""
        note = note or self.note()
        items = [IndexedItem(ItemType.NOTE, content, title=title, tags=tags, headings=headings)]
        items += [IndexedItem(ItemType.SECTION, section) for section in sections]
        self.index.replace(self.conn, [IndexedNote(note, "note", DAY, DAY, items, terms=added)])
        return item_key(note, 0, 0)

    def found(self, *phrases: str, is_prefix: bool = False) -> list[int]:
        return self.index.postings(self.conn, phrases, is_prefix=is_prefix).tolist()  # type: ignore[no-any-return]

    def lost(self, key: int, phrases: Sequence[str]) -> list[str]:
        """Those that do not find this item alone."""
        return [phrase for phrase in phrases if self.found(phrase) != [key]]

    def count(self) -> int:
        with self.conn.begin_nested():  # SQLite keeps its statistics of a transaction until then
            return self.index.item_count(self.conn)

    def is_sound(self) -> bool:
        return self.index.check(self.conn)


@pytest.fixture
def bench(conn: Connection) -> Bench:
    return Bench(conn, 1)


def numbered(letter: str, many: int) -> list[str]:
    return [f"{letter}{number:05}" for number in range(many)]


def in_a_row(words: Sequence[str], many: int = 20) -> list[str]:
    """Phrases that have every word, and every two that follow each other."""
    return [" ".join(words[at : at + many]) for at in range(0, len(words) - 1, many - 1)]


def test_nul_parts_words_and_nothing_is_lost_behind_it(bench: Bench) -> None:
    key = bench.put(
        "seven\0eight", title="one\0two", content="\0three\0", tags="four\0", headings="five\0six"
    )
    words = ["one", "two", "three", "four", "five", "six"]
    assert bench.lost(key, [*words, "one two", "five six"]) == []
    assert bench.found("eight") == bench.found("seven eight") == [item_key(key >> 24, 1, 1)]
    assert bench.found("onetwo") == bench.found("seveneight") == []
    assert bench.index.titled(bench.conn, [["two"]]).tolist() == [key]
    [item] = bench.index.items(bench.conn, [key])
    assert item.title.replace("\0", "\ufffd") == "one\ufffdtwo"
    assert bench.is_sound()


def test_items_are_counted_as_they_come_and_go(bench: Bench) -> None:
    note, other = bench.note(), bench.note()
    bench.put("a", "b", "c", note=note)
    assert bench.count() == 4
    bench.put("a", note=note)
    assert bench.count() == 2
    bench.put("long " + "word " * 20_000, "c", note=note)  # in several parts
    bench.put(note=other)
    assert bench.count() == 4
    assert bench.is_sound()
    for gone in ([note], [note], [], [note, 999_999]):
        bench.index.remove(bench.conn, gone)
        assert bench.count() == 1
    bench.index.remove(bench.conn, [note, other])
    assert bench.count() == 0
    assert bench.is_sound()
    bench.put("a", note=note)
    assert bench.count() == 2


MISCOUNTS = {
    "sqlite": [
        "DELETE FROM search_index_docsize WHERE id = (SELECT max(id) FROM search_index_docsize)",
        "DELETE FROM search_index_content WHERE id = (SELECT max(id) FROM search_index_content)",
    ],
    "postgresql": [
        "UPDATE search_statistics SET items = items - 1 WHERE project_id = 1",
        "DELETE FROM search_statistics WHERE project_id = 1",
        "DELETE FROM search_index WHERE project_id = 1",
        "DELETE FROM search_terms WHERE part = 0 AND key IN (SELECT key FROM search_terms WHERE part = 1)",
    ],
}


def test_check_sees_that_the_items_are_not_as_many_as_were_counted(bench: Bench) -> None:
    bench.put("a", "word " * 1_000)  # the second in several parts
    other = Bench(bench.conn, 2)
    other.put("c")
    for miscount in MISCOUNTS[bench.conn.dialect.name]:
        with bench.conn.begin_nested() as trial:
            bench.conn.exec_driver_sql(miscount)
            assert not bench.is_sound(), miscount
            trial.rollback()
        assert bench.is_sound()
        assert other.is_sound()


def test_eight_thousand_long_words_are_found(bench: Bench) -> None:
    words = [word + "x" * 149 for word in numbered("w", 8_000)]
    key = bench.put(title="A", content=" ".join(words), added=[""])
    assert {len(word) for word in words} == {155}
    assert bench.lost(key, [words[0], words[-1], *in_a_row(words)]) == []
    assert bench.found(words[-1][:5], is_prefix=True) == [key]
    assert bench.found("w08000" + "x" * 149) == []


def test_eight_thousand_long_runs_of_an_unspaced_script_are_found(bench: Bench) -> None:
    signs = random.Random(4)
    runs = ["".join(chr(signs.randrange(0x4E00, 0x9FA0)) for _ in range(60)) for _ in range(8_000)]
    key = bench.put(title="A", content=" ".join(runs))
    asked = runs[::800] + runs[-1:]
    assert bench.lost(key, asked) == []
    for part in (slice(60), slice(5), slice(-5, None)):
        assert bench.lost(key, [" ".join(pairs(run[part])) for run in asked]) == []
    assert bench.found(" ".join(pairs(runs[0][:3] + runs[1][:3]))) == []


def test_no_word_is_lost_where_an_item_of_several_columns_is_cut(bench: Bench) -> None:
    columns = {name: numbered(name, 1_990) for name in "tcgah"}
    t, c, g, a, h = (" ".join(words) for words in columns.values())
    key = bench.put(title=t, content=c, tags=g, headings=h, added=[a])
    for name, words in columns.items():
        # What is added is in no order that a phrase could ask for.
        assert bench.lost(key, words if name == "a" else in_a_row(words)) == [], name
    ends = [
        f"{one.split()[-1]} {next_one.split()[0]}" for one, next_one in ((t, c), (c, g), (g, h))
    ]
    assert [bench.found(phrase) for phrase in ends] == [[], [], []]


@pytest.mark.parametrize("times", [1, 249, 250, 251, 500, 10_000])
@pytest.mark.parametrize("title", ["", "echo", "echo lark"])
def test_what_follows_one_word_many_times_is_found(bench: Bench, title: str, times: int) -> None:
    key = bench.put(
        title=title, content="echo " * times + "heron bird", tags="wren", headings="echo owl",
        added=["echo finch"],
    )  # fmt: skip
    asked = [
        "echo",
        "heron",
        "bird",
        "wren",
        "owl",
        "finch",
        "heron bird",
        "echo heron",
        "echo owl",
    ]
    assert bench.lost(key, asked) == []
    assert bench.found("bird wren") == bench.found("echo bird") == []
    assert bench.found("echo echo echo") == ([key] if times > 2 else [])
    if title:
        assert bench.lost(key, title.split()) == []
        assert bench.index.titled(bench.conn, [title.split()]).tolist() == [key]


@pytest.mark.parametrize("many", [*range(7_994, 8_003), 15_934, 16_383])
def test_a_heading_behind_so_many_words_is_found(bench: Bench, many: int) -> None:
    words = numbered("w", many)
    key = bench.put(content=" ".join(words), headings="heron bird", added=["owl"])
    asked = ["heron", "bird", "heron bird", "owl", words[0], *in_a_row(words[-80:], 2)]
    assert bench.lost(key, asked) == []
    assert bench.found(f"{words[-1]} heron") == []


def test_a_word_of_three_hundred_letters_is_found_whole_and_by_its_beginning(bench: Bench) -> None:
    long = "abcdefghij" * 30
    key = bench.put(content=f"a {long} b")
    assert bench.found(long) == bench.found(f"a {long} b") == [key]
    assert bench.found(long[:10], is_prefix=True) == bench.found(f"a {long[:10]}", is_prefix=True)
    assert bench.found(long[:10], is_prefix=True) == [key]
    for other in (long[:10], long[:-1], long[:-1] + "x", long + "a"):
        assert bench.found(other) == [], other
    assert bench.found("abcdefghijx", is_prefix=True) == []


@pytest.mark.parametrize("letters", [200, 201, 299])
def test_a_long_beginning_finds_a_long_word(bench: Bench, letters: int) -> None:
    long = "abcdefghij" * 30
    key = bench.put(content=f"a {long} b")
    assert bench.found(long[:letters], is_prefix=True) == [key]


@pytest.mark.parametrize("many", [60, 120])
def test_a_part_of_a_long_run_is_found_wherever_it_stands(bench: Bench, many: int) -> None:
    """Thai has no blanks between the words of a sentence."""
    signs = random.Random(3)
    run = "".join(chr(signs.randrange(0x0E01, 0x0E2E)) for _ in range(9_000))
    key = bench.put(content=run)
    asked = [" ".join(pairs(run[at : at + many])) for at in range(0, len(run) - many, 25)]
    assert bench.lost(key, asked) == []


@pytest.mark.parametrize("shorter", [0, 4, 9])
def test_titles_are_taken_by_their_length_then_as_they_are_written(
    bench: Bench, shorter: int
) -> None:
    endings = ["Ä", "a", "Z", "é", "文", "\uff21", "\U0001f426", "b", "B", "ß", "z", "1"]
    titles = [f"Zebra {end}" for end in endings] + [f"Zebra aa{end}" for end in endings]
    titles += ["Zebra"] * shorter
    random.Random(1).shuffle(titles)
    keys = {bench.put(title=title): title for title in ["Zebra crossing at noon", *titles]}
    bench.put(title="Other", content="Zebra")
    Bench(bench.conn, 2).put(title="Zebra")
    found = bench.index.titled(bench.conn, [["zebra"]]).tolist()
    assert found == sorted(found)
    first = sorted(titles, key=lambda title: (len(title), title))[:20]
    assert sorted(keys[key] for key in found) == sorted(first)


def test_words_in_two_parts_of_an_item_find_it_once(bench: Bench) -> None:
    filling = " ".join(numbered("w", 9_000))
    section = f"heron {filling} wren {filling} heron wren"
    key = bench.put(section, title="heron", content=section)
    both = [key, item_key(key >> 24, 1, 1)]
    for phrases in (["heron"], ["heron", "wren"], ["w00001"], ["heron wren", "wren"]):
        assert bench.found(*phrases) == both, phrases
    assert bench.found("hero", is_prefix=True) == both
    assert bench.index.titled(bench.conn, [["heron"]]).tolist() == [key]
