"""`search_notes` as an assistant meets it when it searches by words."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from memoranda.mcp.parameters import schema
from memoranda.mcp.tools.search import DECLARATIONS

if TYPE_CHECKING:
    Caller = Any

HEAP = """\
# The heap

Turn the heap every week. It is warm inside.

- [method] Two parts brown, one part green #ratio
- feeds [[Beds]]
"""


@pytest.fixture
async def heap(caller: Caller) -> Caller:
    """A project with two notes about a garden."""
    await caller.text("write_note", title="The heap", content=HEAP, tags=["soil"])
    await caller.text("write_note", title="Beds", content="Four beds beside the heap.")
    return caller


async def test_the_first_line_says_how_many_have_all_the_words(heap: Caller) -> None:
    text = await heap.text("search_notes", search_type="fts", query="heap week")
    assert text.startswith("2 notes for 'heap week' (fts), 1 with all the words:\n1. The heap")
    assert (await heap.data("search_notes", search_type="fts", query="heap week"))[
        "full_matches"
    ] == 1


async def test_a_passage_names_what_matched(heap: Caller) -> None:
    data = await heap.data("search_notes", search_type="fts", query="weeks")
    (passage,) = data["results"][0]["passages"]
    assert passage["text"] == "Turn the heap every week. It is warm inside."
    assert passage["heading_path"] == ["The heap"]
    assert passage["matches"] == ["week"]


async def test_observations_are_hits_of_their_own(heap: Caller) -> None:
    text = await heap.text(
        "search_notes", search_type="fts", query="brown", search_item_types=["observation"]
    )
    assert text.splitlines()[0] == "1 observation for 'brown' (fts):"
    assert text.splitlines()[1].startswith("1. The heap — the-heap · ")
    assert text.splitlines()[1].endswith("[method] Two parts brown, one part green #ratio")
    data = await heap.data(
        "search_notes", search_type="fts", query="brown", search_item_types="observation,relation"
    )
    assert [hit["item_type"] for hit in data["results"]] == ["observation"]


@pytest.mark.spec("12.3")
async def test_nothing_relevant_is_said_and_the_nearest_are_shown(heap: Caller) -> None:
    query = "zebra giraffe hippopotamus week"
    text = await heap.text("search_notes", search_type="fts", query=query)
    assert text.startswith(f"Nothing relevant was found for {query!r} (fts); the nearest:\n1. ")
    data = await heap.data("search_notes", search_type="fts", query=query)
    assert data["is_weak"] is True
    assert 1 <= len(data["results"]) <= 3
    assert (data["has_more"], data["next_page"]) == (False, None)


async def test_a_phrase_that_is_nowhere_is_said(heap: Caller) -> None:
    demand = '"warm heap" inside'
    assert "Nothing has all that the query demands" in await heap.text(
        "search_notes", search_type="fts", query=demand
    )
    assert (await heap.data("search_notes", search_type="fts", query=demand))["relaxed"] is True
    assert (await heap.data("search_notes", search_type="fts", query='"warm inside"'))[
        "relaxed"
    ] is False


async def test_filters_in_the_words_are_named(heap: Caller) -> None:
    data = await heap.data("search_notes", search_type="fts", query="tag:soil heap")
    assert [hit["title"] for hit in data["results"]] == ["The heap"]
    (named,) = data["read_filters"]
    assert "soil" in named
    assert named in await heap.text("search_notes", search_type="fts", query="tag:soil heap")
    assert (await heap.data("search_notes", search_type="fts", query="heap"))["read_filters"] == []


async def test_a_date_in_words_is_a_filter_that_is_named(heap: Caller) -> None:
    data = await heap.data("search_notes", search_type="fts", query="heap today")
    assert data["total"] == 2
    (named,) = data["read_filters"]
    assert "today" in named
    assert named in await heap.text("search_notes", search_type="fts", query="heap today")


async def test_a_date_that_nothing_has_is_said_to_be_left_out(heap: Caller) -> None:
    for query in ("heap last month", "heap January 1999"):
        data = await heap.data("search_notes", search_type="fts", query=query)
        assert (data["total"], data["relaxed"]) == (2, True)
        (named,) = data["read_filters"]
        assert named.startswith("dates left out")
        assert query.removeprefix("heap ") in named
        assert named in await heap.text("search_notes", search_type="fts", query=query)


async def test_a_date_of_the_calendar_is_said_to_come_first_only_beside_words(
    caller: Caller,
) -> None:
    (caller.root / "a.md").write_text("We met the herons in January 2020.", "utf-8")
    (caller.root / "b.md").write_text("The herons came.", "utf-8")
    await caller.indexed()
    alone = await caller.data("search_notes", search_type="fts", query="January 2020")
    beside = await caller.data("search_notes", search_type="fts", query="herons January 2020")
    assert (alone["total"], beside["total"]) == (1, 2)
    assert [data["read_filters"][0].partition(":")[0] for data in (alone, beside)] == [
        "dates",
        "dates that come first",
    ]


async def test_an_answer_is_bounded_whatever_is_asked(caller: Caller) -> None:
    for number in range(40):
        text = f"# {'heading ' * 20}{number}\n\n" + "word soil heap " * 300
        (caller.root / f"note {number} {'long ' * 20}.md").write_text(text, "utf-8")
    await caller.indexed()
    query = "heap soil " + "filler" * 2000
    text = await caller.text("search_notes", search_type="fts", query=query, page_size=100)
    assert len(text) <= 20_500
    data = await caller.data("search_notes", search_type="fts", query=query, page_size=100)
    assert len(json.dumps(data, ensure_ascii=False, separators=(",", ":"))) <= 20_500


async def test_pages_go_on_where_an_answer_was_cut(caller: Caller) -> None:
    for number in range(40):
        text = f"# {'heading ' * 20}{number}\n\n" + "word soil heap " * 300
        (caller.root / f"note {number} {'long ' * 20}.md").write_text(text, "utf-8")
    await caller.indexed()
    page, size, titles = 1, 40, list[str]()
    while page:
        data = await caller.data(
            "search_notes", search_type="fts", query="heap soil", page=page, page_size=size
        )
        titles += [hit["title"] for hit in data["results"]]
        page, size = data["next_page"], data["page_size"]
    assert len(titles) == len(set(titles)) == 40


async def test_a_query_may_be_empty_and_its_parameter_says_so(heap: Caller) -> None:
    text = await heap.text("search_notes", search_type="fts", query="")
    assert text.startswith("2 notes (fts), newest file first:\n1. ")
    assert "may be empty: the newest notes" in json.dumps(schema(DECLARATIONS[0].params))
