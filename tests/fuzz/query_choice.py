"""What is asked: any text at all, texts that mean something to FTS5 or SQL, and what people type.

The same number gives the same query.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from tests.fuzz.query_notes import notes

from memoranda.model.search import (
    ItemType,
    MetadataCondition,
    MetadataOperator,
    SearchFilters,
    SearchQuery,
    SearchType,
)

_LAST_CHARACTER: Final = 0x110000
_LONG_SHARE: Final = 0.003
_JOINTS: Final = ("", "", " ", " ", " ", "  ", "\n", "\t", "\u00a0", "\u3000", "\x00")
_FTS: Final = (
    *("AND", "OR", "NOT", "NEAR", "NEAR(", "NEAR(pump valve, 3)", "near/2", "and", "Or", "*", "pump*", "^", "^pump"),
    *("title:", "content:", "content : pump", "{title content}:", "-title:", "- {tags} : node", "rank", "rowid"),
    *('"', '""', '"""', '"pump', 'pump"', "'", "''", "(", ")", "((", "))", "()", "[", "]", "{", "}", "+", "-", "--"),
    *("pump + valve", "a.b", "a:b", "\\", "\\\"", ",", ";", "search_index", "content_stems", "%", "_", "?", "?1", ":x"),
)  # fmt: skip
_SQL: Final = (
    *("'; DROP TABLE entity; --", "' OR '1'='1", "1; SELECT * FROM sqlite_schema", "\" OR 1=1 --", "') UNION SELECT 1,2,3"),
    *("/* */", "-- x", "LIKE '%'", "x' AND randomblob(100000000) AND 'a'='a", "NULL", "0x00", "bm25(search_index)"),
    *("MATCH", "ATTACH DATABASE 'x' AS y", "PRAGMA journal_mode=DELETE", "load_extension('x')", "integrity-check"),
)  # fmt: skip
_FIELDS: Final = (
    *("tag:", "type:", "path:", "title:", "-tag:", "-path:", "TAG:", "tag :", "tags:", "note:", "is:", "path:work/"),
    *("tag:ops", "tag:#ops/move", "type:decision", "path:gen/1", "path:*node*", 'title:"Warehouse node"', "title:%"),
    *("path:100%", "path:[", "path:\\", "tag:*", 'tag:"', "type:Person", "tag:a/b", "path:日本", "title:東京"),
)  # fmt: skip
_DATES: Final = (
    *("last week", "yesterday", "today", "in March 2025", "march", "2025-03-14", "2025", "14.3.2025", "3/14/2025"),
    *("since Monday", "between January and March", "two days ago", "99999 years ago", "in 0000", "31 February 2025"),
    *("next year", "before 2025-13-45", "last 9999999999 days", "mars 2025", "vorige Woche", "昨日", "2025年3月", "Q1 2025"),
    *("from 2025-03-01 to 2024-01-01", "10:30", "12/31/9999", "1 BC", "now", "the day after tomorrow", "May"),
)  # fmt: skip
_MARKS: Final = (
    *("\u0301", "\u0300\u0301\u0302", "\u05b8", "\u064b", "\u0e33", "\u200d", "\u200c", "\u200b", "\u202e", "\u202c"),
    *("\u2066", "\ufeff", "\ufe0f", "\u20e3", "\u00ad", "e\u0301", "\ud800", "\udfff", "\ud83d", "\ud83d\ude80"),
    *("\x00", "\x01", "\x1f", "\x7f", "\x85", "\u2028", "\ufffe", "\uffff", "\U000e0001", "\U0010ffff", "\ue000"),
    *("مضخة", "שָׁלוֹם", "क्ष", "ผู้", "각", "ㄱ", "𠮷", "ﬁ", "İ", "ı", "ß", "ẞ", "Σ", "ς", "ǆ", "👩‍🚀", "🇩🇪", "Ⅷ"),
)  # fmt: skip
_WORDS: Final = (
    *("pump", "warehouse", "node", "decided", "who", "what", "the", "and", "of", "running", "cities", "東京", "検索"),
    *("склад", "решили", "المضخة", "שלום", "निर्णय", "데이터베이스", "café", "cafe", "Straße", "C++", "c#", ".net", "f#"),
    *("node-js", "kim@example.org", "src/app/main.py", "1.10.2", "v2.0.1-rc1", "zzzz", "-pump", "-the", '"move the"'),
    *("wareh", "p", "東", "🚀", "+", "NOT draft", "pump OR node", "pump AND valve", "ＰＵＭＰ", "naive", "uber"),
)  # fmt: skip
_PATTERNS: Final = (
    *("", "*", "**", "%", "_", "work/*", "work/warehouse-node", "w_rk%", "[", "[a-z]*", "\\", "\\%", "gen/1*", "*node*"),
    *("?", "'", '"', "memory://", "memory://plans/", "日本/*", "\x00", "\ud800", "a" * 3000, "*" * 500, "/", "..", "~"),
)  # fmt: skip
_KEYS: Final = (
    "status",
    "priority",
    "owner.name",
    "owner",
    "due",
    "scores",
    "tags",
    "title",
    "",
    "$.x",
    "a'b",
    "\x00",
)
_VALUES: Final = (
    *("active", "3", "3.0", "007", "-1", "1e5", "2025-03-01", "2025-03-31T10:00:00+02:00", "完了", "", "true", "null"),
    *("'", "%", "NaN", "inf", "9" * 60, "\x00", "\ud800", "2025-02-30"),
)  # fmt: skip
_LIMITS: Final = (1, 2, 3, 10, 10, 50, 199, 200)
_OFFSETS: Final = (0, 0, 0, 0, 0, 1, 2, 9, 41, 199, 1_000_000, (1 << 62) - 1)
_TEXTS: Final = tuple(filter(None, notes().values()))


def query_of(number: int) -> SearchQuery:
    """The query of this number, every part of it random; `limit` and `offset` are allowed ones."""
    choose = random.Random(number)
    return SearchQuery(
        text=text_of(choose),
        search_type=choose.choice((SearchType.FTS, SearchType.FTS, *SearchType)),
        filters=filters_of(choose) if choose.random() < 0.5 else SearchFilters(),
        limit=choose.choice(_LIMITS),
        offset=choose.choice(_OFFSETS),
        explain=choose.random() < 0.2,
    )


def text_of(choose: random.Random) -> str:
    """A query text: one of the kinds, now and then several in a row, seldom a very long one."""
    if choose.random() < _LONG_SHARE:
        return _long(choose)
    parts = [choose.choice(_KINDS)(choose) for _ in range(choose.choice((1, 1, 1, 2, 3)))]
    return choose.choice(_JOINTS).join(parts)


def filters_of(choose: random.Random) -> SearchFilters:
    """Some filters, each of whatever value."""

    def maybe() -> bool:
        return choose.random() < 0.15

    def some(values: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(choose.choices(values, k=choose.choice((1, 1, 2, 5))))

    return SearchFilters(
        permalink=choose.choice(_PATTERNS) if maybe() else None,
        permalink_match=choose.choice(_PATTERNS) if maybe() else None,
        title=choose.choice((*_PATTERNS, *_WORDS)) if maybe() else None,
        note_types=some(("note", "Meeting", "PERSON", "'", "\x00", "")) if maybe() else (),
        tags=some(("ops", "#ops/move", "OPS/", "a", "旅行", "%", "", "#", "\ud800")) if maybe() else (),
        after_date=datetime(choose.choice((1, 1970, 2025, 9999)), 1, 1, tzinfo=UTC) if maybe() else None,
        item_types=tuple(choose.sample(list(ItemType), choose.randint(1, 4))) if maybe() else (),
        metadata=tuple(_condition(choose) for _ in range(choose.choice((1, 1, 3)))) if maybe() else (),
        path=choose.choice(_PATTERNS) if maybe() else None,
        min_similarity=choose.choice((0.0, 1.0)) if maybe() else None,
    )  # fmt: skip


def _condition(choose: random.Random) -> MetadataCondition:
    operator = choose.choice(list(MetadataOperator))
    if operator is MetadataOperator.EXISTS:
        return MetadataCondition(
            choose.choice(_KEYS), operator, (choose.choice(("true", "false")),)
        )
    count = choose.randint(1, 3) if operator is MetadataOperator.IN else 1
    return MetadataCondition(
        choose.choice(_KEYS), operator, tuple(choose.choices(_VALUES, k=count))
    )


def _any_characters(choose: random.Random) -> str:
    return "".join(chr(choose.randrange(_LAST_CHARACTER)) for _ in range(choose.randint(0, 30)))


def _plane_of_scripts(choose: random.Random) -> str:
    """Characters of one small range, as a text of one script has."""
    first = choose.randrange(0, 0x3000)
    return "".join(chr(choose.randint(first, first + 0x60)) for _ in range(choose.randint(1, 30)))


def _slice(choose: random.Random) -> str:
    """A piece of a note, of which some characters may be missing."""
    text = choose.choice(_TEXTS)
    first = choose.randrange(len(text))
    piece = text[first : first + choose.randint(1, 60)]
    lost = choose.choice((0.0, 0.0, 0.1))
    return "".join(sign for sign in piece if choose.random() >= lost)


def _of(*pools: tuple[str, ...]) -> Callable[[random.Random], str]:
    def chosen(choose: random.Random) -> str:
        pieces = [choose.choice(choose.choice(pools)) for _ in range(choose.randint(1, 7))]
        joint = choose.choice(_JOINTS)
        return joint.join(pieces)

    return chosen


def _long(choose: random.Random) -> str:
    match choose.randrange(5):
        case 0:
            return choose.choice((*_MARKS, *_FTS, *_WORDS)) * choose.choice((1000, 10_000, 30_000))
        case 1:
            return " ".join(f"w{choose.randrange(10_000)}" for _ in range(5000))
        case 2:
            return " ".join(choose.choices((*_WORDS, *_FTS, *_FIELDS, *_DATES), k=2000))
        case 3:
            return '"' + " ".join(choose.choices(_WORDS, k=3000)) + '"'
        case _:
            return "".join(chr(choose.randrange(_LAST_CHARACTER)) for _ in range(5000))


_KINDS: Final = (
    _any_characters,
    _plane_of_scripts,
    _slice,
    _slice,
    _of(_WORDS),
    _of(_WORDS),
    _of(_WORDS, _FTS),
    _of(_FTS),
    _of(_SQL, _WORDS),
    _of(_FIELDS, _WORDS),
    _of(_DATES, _WORDS),
    _of(_MARKS, _WORDS),
)
