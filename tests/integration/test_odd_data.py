"""Notes of odd characters, sizes and numbers cost nobody anything: they are indexed, and so is the rest of the batch."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import string
import sys
from pathlib import Path

import pytest
from loguru import logger
from tests.conftest import BACKEND
from tests.integration.conftest import Index, indexes
from tools.postgres_server import why_not

from memoranda.model.search import (
    MetadataCondition,
    MetadataOperator,
    SearchFilters,
    SearchQuery,
    SearchType,
)
from memoranda.model.sync import SyncReport

PLAIN = ("0first.md", "zlast.md")
NUL, HALF, MARK = "\0", "\\ud800", "\ufffd"


def letters(many: int, seed: int = 1) -> str:
    """Letters that no index can press together."""
    return "".join(random.Random(seed).choices(string.ascii_lowercase, k=many))


def note(body: str, **front: object) -> str:
    lines = "".join(f"{key}: {value}\n" for key, value in front.items())
    return f"---\n{lines}---\n{body}\n" if front else f"{body}\n"


def found(index: Index, asked: str, **filters: object) -> set[str]:
    """Paths of the notes that have all the words."""

    async def search() -> set[str]:
        query = SearchQuery(asked, SearchType.FTS, SearchFilters(**filters), limit=200)  # type: ignore[arg-type]
        return {hit.ref.file_path for hit in (await index.search.search(query)).hits}

    return asyncio.run(search())


def run_whole(index: Index) -> SyncReport:
    """A sync of which no batch had to be tried file by file, nor any file failed."""
    said: list[str] = []
    sink = logger.add(said.append, level="WARNING", format="{message}")
    try:
        report = index.run_sync()
    finally:
        logger.remove(sink)
    assert not [one for one in said if "file by file" in one]
    assert report.failures == ()
    return report


def write_plain(index: Index) -> None:
    for path in PLAIN:
        index.write(path, f"plain words of {path[:-3]}\n")


def synced(index: Index, **notes: str | bytes) -> SyncReport:
    """Sync these with two plain notes around them; nothing is left to be done, and all three are there."""
    write_plain(index)
    for name, content in notes.items():
        index.write(f"{name}.md", content)
    report = run_whole(index)
    assert {path for path in PLAIN if found(index, path[:-3]) == {path}} == set(PLAIN)
    assert found(index, "plain words") >= set(PLAIN)
    assert set(report.new_files) == {*PLAIN, *(f"{name}.md" for name in notes)}
    assert run_whole(index).changes == 0
    return report


def readable(index: Index, path: str) -> str:
    return asyncio.run(index.notes.read(path)).text


NULS = {
    "body": f"one{NUL}two heron\n",
    "only": NUL * 9 + " heron",
    "heading": f"# One{NUL}Two heron\n\ntext",
    "title": note("heron", title=f'"one{NUL}two"'),
    "title_written_out": note("heron", title=r'"one\0two"', permalink=r'"a\0b"', type=r'"c\0d"'),
    "lists": note("heron", tags=r'["t\0g", two]', aliases=r'["o\0e"]', **{r'"k\0y"': r'{"n\0": "v\0"}'}),
    "observation": f"- [ca{NUL}t] a heron #ta{NUL}g (con{NUL}text) ^bl{NUL}ock\n",
    "links": f"heron\n\n- re{NUL}l [[ta{NUL}rget|la{NUL}bel]] (con{NUL}text)\n- [a{NUL}](b{NUL}.md#c{NUL})\n",
}  # fmt: skip


def test_nul_in_notes(index: Index) -> None:
    synced(index, **NULS)
    assert found(index, "heron") == {f"{case}.md" for case in NULS}
    assert found(index, "one two") >= {"body.md", "heading.md", "title.md", "title_written_out.md"}
    for case in NULS:
        assert "heron" in readable(index, f"{case}.md")


HALVES: dict[str, str | bytes] = {
    "bytes": b"one \xed\xa0\x80 heron \xff\xfe\n",
    "bytes_after_mark": b"\xef\xbb\xbf\xed\xa0\x80 heron",
    "utf16": b"\xff\xfe" + "heron ".encode("utf-16-le") + b"\x00\xd8a\x00",
    "odd_utf16": b"\xff\xfe" + "heron".encode("utf-16-le") + b"a",
    "title": note("heron", title=f'"one {HALF} two"', permalink=f'"a{HALF}"', type=f'"c{HALF}"'),
    "lists": note("heron", tags=f'["t{HALF}", two]', aliases=f'["o{HALF}"]', **{f'"k{HALF}"': f'{{"n{HALF}": "v{HALF}"}}'}),
    "pair": note("heron", title='"\\ud83d\\udc26 bird"', tags='["\\ud83d\\udc26"]'),
    "header_bytes": b"---\ntitle: one \xed\xa0\x80\ntags: [\xff]\n---\n- [\xfe] heron #\xfd\n- r\xff [[\xff]]\n",
}  # fmt: skip


def test_broken_bytes_and_halves_of_characters(index: Index) -> None:
    synced(index, **HALVES)
    # Broken UTF-16 is read as an encoding of single bytes, whose letters have NULs between them.
    readable_ones = {case for case in HALVES if "utf16" not in case}
    assert found(index, "heron") == {f"{case}.md" for case in readable_ones}
    for case in HALVES:
        readable(index, f"{case}.md")


def test_a_file_name_that_is_no_text_is_passed_over(index: Index) -> None:
    if sys.platform == "darwin":
        pytest.skip("the system allows no such name")
    (Path(os.fsdecode(os.fsencode(index.root) + b"/bad\xff.md"))).write_text("heron\n", "utf-8")
    report = synced(index, good="heron\n")
    assert found(index, "heron") == {"good.md"}
    assert any("bad" in skipped.path for skipped in report.skipped)


def with_long(long: str) -> dict[str, str]:
    """A note for each place where a name may stand."""
    return {
        "title": note("heron", title=long),
        "alias": note("heron", aliases=f"[{long}]"),
        "permalink": note("heron", permalink=long),
        "type": note("heron", type=long),
        "tag": note("heron", tags=f"[{long}]"),
        "key": note("heron", **{f'? "{long}"\n': "value"}),
        "value": note("heron", status=long, nested=f"{{a: [{long}]}}"),
        "relation": f"heron\n\n- {long} [[Other]]\n",
        "target": f"heron [[x{long}]]\n\n- knows [[x{long}]]\n",
        "path": f"heron [a](<x{long}.md>) and [a](<{long}/b.md>)\n",
        "anchor": f"heron [[Other#{long}]]\n",
        "label": f"heron [[Other|{long}]]\n",
        "category": f"- [{long}] heron\n",
        "hashtag": f"- [fact] heron #{long}\n",
        "context": f"- [fact] heron ({long})\n\n- knows [[Other]] ({long})\n",
        "block": f"- [fact] heron ^{long.replace(' ', '-')}\n",
        "heading": f"# {long}\n\nheron\n",
        "word": f"heron {long}\n",
        "link": f"heron [[{long}]]\n",
    }


@pytest.mark.parametrize("many", [3_000, 10_000])
def test_long_names(index: Index, many: int) -> None:
    one = letters(many)
    several = " ".join(one[at : at + 9][::-1] for at in range(0, many, 10))
    notes = {
        f"{kind}{number}": text
        for number, long in enumerate((one, several))
        for kind, text in with_long(long).items()
    }
    synced(index, **notes)
    assert found(index, "heron") == {f"{name}.md" for name in notes}
    for number, long in enumerate((one, several)):
        named = {f"{kind}{number}.md" for kind in ("title", "heading", "word", "tag")}
        assert found(index, long.split()[-1]) >= named
        assert index.rows(
            "SELECT e.file_path, length(e.title) FROM link l JOIN entity e ON e.id = l.to_id"
            " WHERE l.target = :long",
            long=long,
        ) == [(f"title{number}.md", len(long))]
    for name in notes:
        readable(index, f"{name}.md")


def test_names_that_differ_in_their_last_character_are_different(index: Index) -> None:
    long = letters(10_000)
    synced(
        index,
        one=note("heron one", title=f"{long}a"),
        two=note("heron two", title=f"{long}b"),
        links=f"[[{long}a]] [[{long}b]] [[{long}c]]\n",
    )
    to = "SELECT e.file_path FROM link l LEFT JOIN entity e ON e.id = l.to_id ORDER BY l.ordinal"
    assert index.rows(to) == [("one.md",), ("two.md",), (None,)]


NAMES = ["🐦‍🔥", "👩‍👩‍👧", "🇩🇪", "שלום", "مرحبا", "e\u0301té", "é\u200dx", "\u202eabc", "𝔊𝔯𝔞𝔲", "ﬁn", "İı", "ẞß",
         "नमस्ते", "ไทย", "한국어", "\u1112\u1161\u11ab", "漢字", "\uf8ff", "a\u0301\u0302\u0303\u0323", "\u0301\u0301",
         "\u200b", "\ufeff", "z" + "\u0301" * 400]  # fmt: skip


def named(name: str, number: int) -> str:
    """A note with this name wherever a name may stand."""
    return note(
        f"# {name}\n\n- [{name}] heron{number} {name} #{name} ({name})\n- {name} [[{name}]]\n",
        title=f'"{name}"', tags=f'["{name}"]', type=f'"{name}"', aliases=f'["{name}"]',
        **{f'"{name}"': f'"{name}"'},
    )  # fmt: skip


def test_names_of_any_script(index: Index) -> None:
    for number, name in enumerate(NAMES):
        index.write(f"n{number}.md", named(name, number))
    files = [name for name in NAMES if len(name) < 100]
    for name in files:
        index.write(f"{name}/{name}.md", f"crane {name}\n")
    write_plain(index)
    run_whole(index)
    assert index.rows("SELECT count(*) FROM entity") == [(len(NAMES) + len(files) + 2,)]
    for number, name in enumerate(NAMES):
        assert found(index, f"heron{number}") == {f"n{number}.md"}
        if any(sign.isalnum() for sign in name) and name != "\u202eabc":
            assert f"n{number}.md" in found(index, name), ascii(name)
    assert run_whole(index).changes == 0


def test_two_spellings_of_a_path_are_two_notes(index: Index) -> None:
    if sys.platform == "darwin":
        pytest.skip("the file system takes them for one")
    for path in ("é.md", "e\u0301.md", "É.md", "E\u0301.md", "ﬁ.md", "fi.md"):
        index.write(path, "heron\n")
    write_plain(index)
    run_whole(index)
    assert len(found(index, "heron")) == 6
    permalinks = index.rows("SELECT permalink FROM entity")
    assert len(set(permalinks)) == 8


def deep(folders: int, seed: int = 0) -> str:
    return "/".join([*(letters(240, seed + number) for number in range(folders)), "deep.md"])


@pytest.fixture
def deep_path(index: Index) -> str:
    """Longer than an index of PostgreSQL holds, and still a path."""
    path = deep(15)
    if len(os.fsencode(index.root / path)) >= 4_096:
        pytest.skip("the folder of tests is too deep")
    index.write(path, "stork\n")
    index.write(deep(5, 99), "stork of a path that is not as long\n")
    return path


def test_a_path_near_the_limits_costs_nobody_else_anything(index: Index, deep_path: str) -> None:
    assert len(deep_path) > 3_600
    index.write("link.md", f"[to it](<{deep_path}>) [[{deep_path}]] crane\n")
    write_plain(index)
    report = index.run_sync()
    others = {*PLAIN, "link.md", deep(5, 99)}
    assert others <= set(report.new_files)
    assert found(index, "crane") == {"link.md"}
    assert found(index, "plain words") == set(PLAIN)
    failed = [failure.path for failure in report.failures]
    assert (failed, found(index, "stork")) == (
        ([deep_path], {deep(5, 99)}) if BACKEND == "postgres" else ([], {deep_path, deep(5, 99)})
    )
    index.write("later.md", "later words\n")
    assert "later.md" in index.run_sync().new_files
    (index.root / deep_path).unlink()
    report = index.run_sync()
    assert report.failures == ()


def test_a_path_that_the_database_cannot_hold_is_said_to_be_too_long(
    index: Index, deep_path: str
) -> None:
    if BACKEND != "postgres":
        pytest.skip("SQLite holds any")
    for _ in range(3):  # until the circuit breaker is asked, too
        [failure] = index.run_sync().failures
        assert failure.path == deep_path
        assert "too long" in failure.reason


def test_folders_deeper_than_the_system_can_name_are_passed_over(index: Index) -> None:
    here = os.open(index.root, os.O_RDONLY)
    for number in range(20):
        name = letters(240, number)
        os.mkdir(name, dir_fd=here)
        below = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("heron.md", os.O_WRONLY | os.O_CREAT, dir_fd=here))
    os.close(here)
    try:
        report = synced(index, good="heron\n")
        assert found(index, "heron") == {"good.md"}
        assert any(skipped.path.startswith(letters(240, 0)) for skipped in report.skipped)
    finally:
        shutil.rmtree(index.root / letters(240, 0))


VALUES = [
    "1" + "0" * 400, "-1" + "0" * 400, "0." + "0" * 400 + "1", "1e400", "-1e400", "1.5e-400", ".inf", "-.inf",
    ".nan", "1" * 5_000, "0x" + "f" * 400, "0b" + "1" * 2_000, "0o" + "7" * 400, "1_" * 300 + "1", "1:" * 50 + "1",
    "0000-01-01", "0000-00-00", "0001-01-01", "9999-12-31", "9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59-14:00",
    "0001-01-01T00:00:00+14:00", "0001-01-01 00:00:00", "10000-01-01", "-0001-01-01", "2026-02-30", "1969-12-31",
    "2026-01-02T25:61:61Z", "2026-01-02T03:04:05+99:99", "1e18", "253402300800", "99999999999999999999", "~", "''",
    "9223372036854775808", "-9223372036854775809", "1.7976931348623157e309", "nan", "inf", "Infinity", "1e999999999",
    "[.inf, .nan, 1e400]", "{a: {b: .nan}}", "!!float 1e400", "!!int 1e400", "!!timestamp 0000-01-01", "!!binary AAAA",
]  # fmt: skip
DATES = ("created", "modified", "date", "updated")


def with_values() -> dict[str, str]:
    notes = {}
    for number, value in enumerate(VALUES):
        front = dict.fromkeys((*DATES, "value", "title", "type", "permalink"), value)
        notes[f"all{number:03}"] = note(f"heron all{number}", **front, tags=f"[{value}]")
        notes[f"key{number:03}"] = note(f"heron key{number}", **{value: value})
        notes[f"one{number:03}"] = note(f"heron one{number}", value=value)
    return notes


def test_numbers_and_dates_that_no_machine_holds(index: Index) -> None:
    for name, text in with_values().items():
        index.write(f"{name}.md", text)
    write_plain(index)
    run_whole(index)
    for number in range(len(VALUES)):
        for kind in ("all", "key", "one"):
            assert found(index, f"{kind}{number}") == {f"{kind}{number:03}.md"}, VALUES[number]
    assert found(index, "plain words") == set(PLAIN)
    assert run_whole(index).changes == 0


@pytest.mark.parametrize(
    ("operator", "asked", "least"),
    [("$gt", ("1",), "1" + "0" * 400), ("$lt", ("0",), "-1" + "0" * 400), ("$gte", ("9999-12-31",), "9999-12-31"),
     ("$eq", ("1" + "0" * 400,), "1" + "0" * 400), ("$eq", ("9999-12-31",), "9999-12-31"),
     ("$lte", ("0001-01-01",), "0001-01-01"), ("$lt", ("1" + "0" * 999,), "1" + "0" * 400), ("$eq", ("\0",), ""),
     ("$gt", ("nan",), ""), ("$gt", ("-inf",), "5"), ("$eq", (".nan",), ""), ("$lt", ("9" * 99_999,), "5")],
)  # fmt: skip
def test_filters_compare_them(
    index: Index, operator: str, asked: tuple[str, ...], least: str
) -> None:
    for number, value in enumerate([*VALUES, "5"]):
        index.write(f"{number}.md", note("heron", value=value))
    index.run_sync()
    condition = MetadataCondition("value", MetadataOperator(operator), asked)
    hits = found(index, "heron", metadata=(condition,))
    if least:
        assert f"{[*VALUES, '5'].index(least)}.md" in hits


@pytest.mark.skipif(BACKEND != "sqlite" or bool(why_not()), reason="is about both back ends")
def test_both_back_ends_hold_the_same_of_them(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    root.mkdir()
    with (
        indexes(tmp_path / "1", "sqlite") as on_sqlite,
        indexes(tmp_path / "2", "postgres") as on_postgres,
    ):
        one, other = on_sqlite(root), on_postgres(root)
        scripts = {f"n{number}": named(name, number) for number, name in enumerate(NAMES)}
        for name, content in (
            NULS | HALVES | with_long(letters(3_000)) | with_values() | scripts
        ).items():
            one.write(f"{name}.md", content)
        for index in (one, other):
            run_whole(index)
        expected, held = one.snapshot(), other.snapshot()
        assert expected.keys() == held.keys()
        for table, rows in expected.items():
            assert as_texts(rows) == as_texts(held[table]), table


def as_texts(rows: list[tuple[object, ...]]) -> list[tuple[str, ...]]:
    """Rows whose times, truth values and NULs are written alike."""
    return [
        tuple(str(int(one) if isinstance(one, bool) else one).replace(NUL, MARK) for one in row)
        for row in rows
    ]
