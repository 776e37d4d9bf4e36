from __future__ import annotations

from memoranda.model.item_key import KINDS, item_key
from memoranda.model.search import ItemType, Passage
from memoranda.ports import StoredItem
from memoranda.ranking.items import ItemScore
from memoranda.services.found import FoundItem
from memoranda.services.passages import passages
from memoranda.text.analysis import ENGLISH, Languages
from memoranda.text.query import parse_query

HEAP = "# Heap\n\nTurn the heap."


def item(
    content: str,
    *path: str,
    item_type: ItemType = ItemType.SECTION,
    start_line: int = 3,
    end_line: int = 99,
    score: float | None = None,
) -> FoundItem:
    key = item_key(1, 1, KINDS[item_type])
    stored = StoredItem(key, content, path, start_line, end_line)
    total = None if score is None else ItemScore(key, score, (), (), (), 0.0)
    return FoundItem(stored, total)


def shown(*items: FoundItem, query: str = "heap", languages: Languages = ENGLISH) -> list[Passage]:
    return list(passages(items, parse_query(query, languages).terms, languages))


def test_a_passage_has_its_place_in_the_file_and_what_matched() -> None:
    assert shown(item(HEAP, "Garden", "Heap", score=2.5)) == [
        Passage("Turn the heap.", ("Garden", "Heap"), 5, 5, 2.5, ("heap",))
    ]


def test_the_last_line_is_never_behind_the_item() -> None:
    (one,) = shown(item(HEAP, "Heap", start_line=3, end_line=4))
    assert (one.start_line, one.end_line) == (4, 4)


def test_a_notes_own_item_is_shown_only_if_its_header_matches() -> None:
    header = item("kept by the heap", item_type=ItemType.NOTE)
    other = item("kept by Kim", item_type=ItemType.NOTE)
    lead = item("The beginning.")
    assert [one.text for one in shown(other, lead)] == ["The beginning."]
    assert [one.text for one in shown(header, lead)] == ["kept by the heap", "The beginning."]


def test_a_heading_alone_gives_way_to_a_passage_that_tells_more() -> None:
    heading = item("## Heap\n", "Heap")
    assert [one.text for one in shown(heading, item(HEAP, "Heap"))] == ["Turn the heap."]
    assert [one.text for one in shown(heading, item("# Heap", "Heap"))] == ["## Heap"]


def test_an_item_without_text_is_no_passage() -> None:
    assert shown(item(" \n")) == []


def test_what_matched_follows_the_languages_of_the_index() -> None:
    text = item("Les chansons anciennes.")
    assert shown(text, query="chanter", languages=("french",))[0].matches == ()
    assert shown(text, query="ancien x", languages=("french",))[0].matches == ("anciennes",)
    assert shown(text, query="chanson", languages=())[0].matches == ("chansons",)
