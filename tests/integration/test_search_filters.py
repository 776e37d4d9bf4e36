"""Search on a real folder: filters, snippets, the service's answers."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from memoranda.errors import InvalidArgument
from memoranda.model.search import (
    ItemType,
    MetadataCondition,
    SearchFilters,
    SearchQuery,
    SearchResults,
    SearchType,
)
from memoranda.model.search import MetadataOperator as Op


def note(front: str, body: str = "needle") -> str:
    return f"---\n{front}\n---\n{body}\n"


def where(key: str, operator: Op, *values: str) -> tuple[MetadataCondition, ...]:
    return (MetadataCondition(key, operator, values),)


@pytest.fixture
def answer(index: Any) -> Callable[..., Any]:
    service = index.search

    async def run(text: str, **options: Any) -> SearchResults:
        mode = options.pop("mode", SearchType.FTS)
        limit, offset = options.pop("limit", 50), options.pop("offset", 0)
        query = SearchQuery(text, mode, SearchFilters(**options), limit, offset)
        results: SearchResults = await service.search(query)
        return results

    return run


@pytest.fixture
async def find(index: Any, answer: Callable[..., Any]) -> Callable[..., Any]:
    index.write(
        "a.md",
        note("title: Éclair Recipe\ntype: Concept\ntags: [project/alpha, Food]\npriority: 1"),
    )
    index.write(
        "b.md",
        note(
            "title: 100% Plan_B\ntype: person\ntags: [projects]\npriority: '1.0'\nowner.name: Kim"
        ),
    )
    index.write("research/deep.md", note("title: Deep\nwhen: 2026-01-05\nlabels: [Red, Blue]\nowner: {name: Kim}\n\"it's \\\"k\\\"\": x",
                                         "needle\n\n- [fact] sun is hot #Zürich/west needle"))  # fmt: skip
    index.write("research_x.md", note("title: Researchx\nwhen: 2026-01-05T00:00:00"))
    for path, day in (("a.md", 1), ("b.md", 2), ("research/deep.md", 3), ("research_x.md", 4)):
        stamp = datetime(2026, 3, day, tzinfo=UTC).timestamp()
        os.utime(index.root / path, (stamp, stamp))
    await index.sync.full_sync()

    async def run(text: str = "needle", **options: Any) -> list[str]:
        return sorted(hit.ref.file_path for hit in (await answer(text, **options)).hits)

    return run


A, B, DEEP, X = "a.md", "b.md", "research/deep.md", "research_x.md"


@pytest.mark.spec("5.5")
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, [A, B, DEEP, X]),
        ({"note_types": ("concept",)}, [A]),
        ({"note_types": ("CONCEPT", "person")}, [A, B]),
        ({"permalink": "research/deep"}, [DEEP]),
        ({"permalink": "research"}, []),
        ({"permalink_match": "research"}, [DEEP, X]),
        ({"permalink_match": "research/*"}, [DEEP]),
        ({"permalink_match": "*deep"}, [DEEP]),
        ({"permalink_match": "%"}, []),
        ({"permalink_match": "research_"}, []),
        ({"title": "éCLAIR"}, [A]),
        ({"title": "e\u0301clair"}, [A]),
        ({"title": "%"}, [B]),
        ({"title": "n_b"}, [B]),
        ({"title": "deep' OR 1=1 --"}, []),
        ({"tags": ("project",)}, [A]),
        ({"tags": ("#FOOD", "project/alpha")}, [A]),
        ({"tags": ("food", "projects")}, []),
        ({"tags": ("zürich",)}, [DEEP]),
        ({"tags": ("ZÜRICH/west",)}, [DEEP]),
        ({"tags": ("zur",)}, []),
        ({"after_date": datetime(2026, 3, 2, tzinfo=UTC)}, [DEEP, X]),
        ({"item_types": (ItemType.OBSERVATION,)}, [DEEP]),
        ({"path": "research"}, [DEEP, X]),
        ({"path": "RESEARCH/"}, [DEEP]),
        ({"path": "deep"}, [DEEP]),
        ({"path": "/deep"}, []),
        ({"path": "*/deep"}, [DEEP]),
        ({"path": "*_x.md"}, [X]),
        ({"path": "research_"}, [X]),
        ({"path": "%"}, []),
        ({"metadata": where("priority", Op.EQ, "1")}, [A, B]),
        ({"metadata": where("priority", Op.EQ, "01.00")}, [A, B]),
        ({"metadata": where("priority", Op.EQ, "2")}, []),
        ({"metadata": where("priority", Op.GTE, "0.9")}, [A, B]),
        ({"metadata": where("priority", Op.GT, "1")}, []),
        ({"metadata": where("priority", Op.LT, "10")}, [A, B]),
        ({"metadata": where("owner.name", Op.EQ, "kim")}, [B, DEEP]),
        ({"metadata": where("owner", Op.EQ, "kim")}, []),
        ({"metadata": where("labels", Op.EQ, "RED")}, [DEEP]),
        ({"metadata": where("labels", Op.IN, "green", "blue")}, [DEEP]),
        ({"metadata": where("labels", Op.CONTAINS, "blue")}, [DEEP]),
        ({"metadata": where("labels", Op.CONTAINS, "blu")}, []),
        ({"metadata": where("title", Op.CONTAINS, "recipe")}, [A]),
        ({"metadata": where("labels", Op.NE, "red")}, [A, B, X]),
        ({"metadata": where("labels", Op.EXISTS, "true")}, [DEEP]),
        ({"metadata": where("labels", Op.EXISTS, "false")}, [A, B, X]),
        ({"metadata": where("when", Op.EQ, "2026-01-05")}, [DEEP, X]),
        ({"metadata": where("when", Op.GTE, "2026-01-05T00:00")}, [DEEP, X]),
        ({"metadata": where("when", Op.GT, "2026-01-05")}, []),
        ({"metadata": where("when", Op.LTE, "2026-01-05")}, [DEEP, X]),
        ({"metadata": where('it\'s "k"', Op.EQ, "X")}, [DEEP]),
        ({"metadata": where("status'] OR 1=1 --", Op.EQ, "x")}, []),
        ({"metadata": where("priority", Op.EQ, "1") + where("type", Op.EQ, "person")}, [B]),
        ({"note_types": ("concept",), "tags": ("projects",)}, []),
    ],
)
async def test_filters(
    find: Callable[..., Any], filters: dict[str, Any], expected: list[str]
) -> None:
    for text in ("needle", ""):
        assert await find(text, **filters) == expected
    weak = await find("needle unheard", **filters)  # few of its hits are shown
    assert set(weak) <= set(expected)
    assert len(weak) >= min(len(expected), 3)


@pytest.mark.spec("13.3")
async def test_only_notes_of_the_type_are_returned(index: Any, answer: Callable[..., Any]) -> None:
    for number in range(60):
        kind = "concept" if number % 2 else "note"
        index.write(f"n{number:02}.md", note(f"type: {kind}", "common"))
    await index.sync.full_sync()
    page = await answer("common", note_types=("concept",), limit=10, offset=20)
    assert page.total == 30
    assert [hit.ref.note_type for hit in page.hits] == ["concept"] * 10
    assert not page.has_more


async def test_fields_in_the_text_are_filters(find: Callable[..., Any]) -> None:
    assert await find("needle title:deep") == [DEEP]
    assert await find("tag:food type:concept") == [A]
    assert await find("needle path:research/") == [DEEP]


async def test_passages_name_their_lines(index: Any, answer: Callable[..., Any]) -> None:
    index.write(
        "n.md", "# Top\n\nfirst words\n\n## Café\n\n" + "filler\n" * 200 + "the needle 東京都\n"
    )
    await index.sync.full_sync()
    for text in ("needle", "東京"):
        [hit] = (await answer(text)).hits
        passage = hit.passages[0]
        assert "needle 東京都" in passage.text
        assert passage.end_line == 207
        assert passage.heading_path == ("Top", "Café")
        assert len(passage.text) < 250


@pytest.mark.parametrize("mode", [SearchType.HYBRID, SearchType.VECTOR])
async def test_meaning_search_falls_back_and_says_so(
    find: Callable[..., Any], answer: Callable[..., Any], mode: SearchType
) -> None:
    results = await answer("needle", mode=mode)
    assert results.search_type is SearchType.FTS
    assert results.degraded
    assert results.total == 4
    assert (await answer("needle")).degraded is None


@pytest.mark.spec("12.3")
async def test_nothing_found_suggests_what_to_do(
    find: Callable[..., Any], answer: Callable[..., Any]
) -> None:
    filtered = await answer("needle", note_types=("place",))
    assert "(type)" in filtered.suggestion
    assert "4 notes" in filtered.suggestion
    assert '"recipe"' in (await answer("recpie")).suggestion
    assert (await answer("qqqq")).suggestion
    assert (await answer("needle")).suggestion is None


@pytest.mark.parametrize("bad", [{"limit": 0}, {"limit": 201}, {"offset": -1}, {"offset": 1 << 62}])
async def test_bounds(answer: Callable[..., Any], bad: dict[str, int]) -> None:
    with pytest.raises(InvalidArgument) as caught:
        await answer("x", **bad)
    assert caught.value.parameter == next(iter(bad))


async def test_a_page_past_the_end_is_empty(
    find: Callable[..., Any], answer: Callable[..., Any]
) -> None:
    results = await answer("needle", offset=10**13)
    assert (results.hits, results.total, results.suggestion) == ((), 4, None)


async def test_deleted_and_changed_notes(index: Any, answer: Callable[..., Any]) -> None:
    file = index.write("n.md", "old unicorn\n")
    await index.sync.full_sync()
    index.write("n.md", "new griffin\n")
    await index.sync.full_sync()
    assert (await answer("unicorn")).total == 0
    assert (await answer("griffin")).total == 1
    file.rename(index.root / "m.md")
    await index.sync.full_sync()
    assert [hit.ref.file_path for hit in (await answer("griffin")).hits] == ["m.md"]


WORLD = range(120)


def body(number: int) -> str:
    words = ["common", *(["middle part"] if number % 3 == 0 else []), *(["rare"] if number % 40 == 0 else [])]  # fmt: skip
    return f"{' '.join(words)}\n\n- [fact] {words[-1]} #t{number % 11}/x\n"


@pytest.mark.spec("5.5")
async def test_a_filter_loses_no_hit_and_adds_none(index: Any, answer: Callable[..., Any]) -> None:
    for number in WORLD:
        front = (
            f"title: N{number}\ntype: T{number % 7}\npriority: {number}\nstatus: s{number % 13}\n"
            f"due: 2026-01-{number % 28 + 1:02}\nauthor: {{name: A{number % 5}}}"
        )
        index.write(f"f{number % 9}/n{number:03}.md", note(front, body(number)))
    await index.sync.full_sync()
    narrowings: list[tuple[dict[str, Any], Callable[[int], bool]]] = [
        ({"note_types": ("t3", "T4")}, lambda n: n % 7 in (3, 4)),
        ({"tags": ("t5",)}, lambda n: n % 11 == 5),
        ({"path": "f2/"}, lambda n: n % 9 == 2),
        ({"permalink_match": "f1/*9"}, lambda n: n % 9 == 1 and n % 10 == 9),
        ({"title": "n1"}, lambda n: str(n).startswith("1")),
        ({"metadata": where("priority", Op.GTE, "110")}, lambda n: n >= 110),
        ({"metadata": where("priority", Op.EQ, "80.0")}, lambda n: n == 80),
        ({"metadata": where("status", Op.NE, "S1")}, lambda n: n % 13 != 1),
        ({"metadata": where("due", Op.LTE, "2026-01-03")}, lambda n: n % 28 < 3),
        ({"metadata": where("author.name", Op.IN, "a1", "a2")}, lambda n: n % 5 in (1, 2)),
        ({"metadata": where("none", Op.EXISTS, "true")}, lambda n: False),
        ({"tags": ("t5",), "note_types": ("t1",)}, lambda n: n % 11 == 5 and n % 7 == 1),
    ]
    queries: list[tuple[str, Callable[[int], bool]]] = [
        ("common", lambda n: True),
        ("middle", lambda n: n % 3 == 0),
        ('"middle part"', lambda n: n % 3 == 0),
        ("common middle", lambda n: True),
        ("common -middle", lambda n: n % 3 != 0),
        ("common AND rare", lambda n: n % 40 == 0),
        ("", lambda n: True),
    ]
    for text, matches in queries:
        for filters, passes in narrowings:
            expected = {f"n{n:03}.md" for n in WORLD if matches(n) and passes(n)}
            results = await answer(text, limit=200, **filters)
            if results.relaxed:  # nothing has what the query demands
                assert not expected
                continue
            assert results.total == len(expected), (text, filters)
            if not results.is_weak:
                assert {hit.ref.file_path[-7:] for hit in results.hits} == expected, (text, filters)
