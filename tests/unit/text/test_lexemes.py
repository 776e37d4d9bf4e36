"""What a tsvector holds of an item, and that its words are those of SQLite's tokenizer."""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from contextlib import closing

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memoranda.db import fts
from memoranda.text.analysis import stored_words
from memoranda.text.lexemes import ADDED, TITLE, WRITTEN, all_of, any_of, vectors

PLACE = re.compile(r"'1:([^']*)':([0-9,]+)")


def places(vector: str) -> dict[int, str]:
    """Place -> word."""
    return {int(place): word for word, at in PLACE.findall(vector) for place in at.split(",")}


def has_phrase(vector: str, words: list[str]) -> bool:
    found = places(vector)
    return any(
        all(found.get(start + number) == word for number, word in enumerate(words))
        for start in found
    )


def test_words_have_their_places_and_the_sign_of_their_column() -> None:
    [vector] = vectors(12, [(TITLE, "Grey Herons"), (WRITTEN, "the héron, the"), (ADDED, "heron")])
    assert vector == (
        "'12^grey':1 '12:grey':1 '12^herons':2 '12:herons':2 '12:the':5,7 '12:heron':6 '12+heron':10"
    )


def test_no_phrase_goes_on_in_the_next_column() -> None:
    [vector] = vectors(1, [(TITLE, "one two"), (WRITTEN, "three four")])
    assert has_phrase(vector, ["one", "two"])
    assert not has_phrase(vector, ["two", "three"])


def test_nothing_is_one_empty_vector() -> None:
    assert list(vectors(1, [(TITLE, ""), (WRITTEN, "...")])) == [""]


@pytest.mark.parametrize("text", ["word " * 1000, " ".join(f"w{n}" for n in range(20_000))])
def test_every_word_and_phrase_of_a_long_item_is_in_a_vector_that_postgresql_takes(
    text: str,
) -> None:
    words = text.split()
    found = list(vectors(1, [(TITLE, "the title"), (WRITTEN, text), (ADDED, "added")]))
    for vector in found:
        held = places(vector)
        assert max(held, default=0) < 16_383
        assert all(len(at.split(",")) < 256 for _, at in PLACE.findall(vector))
        assert len(vector) < 1_000_000
    for start in (0, 7_980, 7_999, 8_000, 12_345, len(words) - 40):
        phrase = words[start : start + 40]
        assert not phrase or any(has_phrase(vector, phrase) for vector in found)
    assert any("'1+added'" in vector for vector in found)


def test_a_long_word_is_cut_and_told_from_others_by_its_hash() -> None:
    one, other = "a" * 3_000, "a" * 2_999 + "b"
    [mine], [theirs] = vectors(1, [(WRITTEN, one)]), vectors(1, [(WRITTEN, other)])
    assert len(mine) < 400
    assert mine != theirs
    assert any_of(1, [one], within=WRITTEN) == mine.split("':")[0] + "'"


def test_a_long_word_is_found_by_its_beginning() -> None:
    [vector] = vectors(1, [(WRITTEN, "b" * 300)])
    for length in (10, 200, 299):
        asked = any_of(1, ["b" * length], is_prefix=True, within=WRITTEN)
        assert asked.endswith("':*")
        assert vector.startswith(asked.removesuffix("':*"))


@pytest.mark.parametrize(
    ("phrases", "how", "query"),
    [
        (["heron"], {}, "'7:heron' | '7+heron'"),
        (["heron"], {"is_prefix": True}, "'7:heron':* | '7+heron':*"),
        (["grey heron", "bird"], {}, "'7:grey' <-> '7:heron' | '7:bird' | '7+bird'"),
        (["grey heron"], {"is_prefix": True}, "'7:grey' <-> '7:heron':*"),
        (["heron", "bird"], {"is_prefix": True, "within": WRITTEN}, "'7:heron':* | '7:bird'"),
        (["heron"], {"within": TITLE}, "'7^heron'"),
        (["漢字 字テ"], {}, "'7:漢字' <-> '7:字テ' | '7+漢字' <-> '7+字テ'"),
        (["漢字 テ"], {"within": WRITTEN}, "'7:漢字' <-> '7:テ':*"),
        (["", "..."], {}, ""),
        ([], {}, ""),
    ],
)
def test_a_query_asks_as_the_index_is_written(
    phrases: list[str], how: dict[str, object], query: str
) -> None:
    assert any_of(7, phrases, **how) == query  # type: ignore[arg-type]


def test_queries_are_joined() -> None:
    assert all_of(["'1:a' | '1:b'", "'1:c'"]) == "('1:a' | '1:b') & ('1:c')"


# Of other letters and marks, some rare ones are taken for others by SQLite's tables.
RANGES = (
    (0x20, 0x17E), (0x390, 0x3CE), (0x400, 0x45F), (0x5D0, 0x5EA), (0x621, 0x64A), (0x904, 0x94D),
    (0xE01, 0xE3A), (0x3041, 0x30FE), (0x4E00, 0x4FFF), (0xAC00, 0xACFF), (0xE000, 0xE100),
)  # fmt: skip
LETTERS = [chr(code) for first, last in RANGES for code in range(first, last + 1)]
TEXTS = st.text(
    st.sampled_from(
        [c for c in LETTERS if not unicodedata.combining(c) and unicodedata.category(c) != "Cn"]
    ),
    max_size=30,
)


@given(TEXTS)
@example("Häuser an der Straße, groß und Łódź")
@example("e\u0301te\u0301 caf\u00e9")
@example("c\ue02b\ue02b node-js 4.8.1 _under_score x²")
@example("हिन्दी में ภาษาไทย 漢字テスト 검색")
def test_words_are_those_that_sqlite_stores(text: str) -> None:
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute(f'CREATE VIRTUAL TABLE t USING fts5(x, tokenize = "{fts.TOKENIZER}")')
        db.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, instance)")
        db.execute("INSERT INTO t VALUES (?)", (text,))
        stored = [term or "" for (term,) in db.execute("SELECT term FROM v ORDER BY offset")]
    assert [one if any(map(str.isalnum, one)) else "" for one in stored_words(text)] == [
        one if any(map(str.isalnum, one)) else "" for one in stored
    ]
