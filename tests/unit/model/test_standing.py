from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.model.note import MetadataValue
from memoranda.model.standing import NEUTRAL, NoteStanding, note_standing

DAY = datetime(2026, 1, 2, tzinfo=UTC)


def read(note_type: str = "note", *tags: str, **metadata: MetadataValue) -> NoteStanding:
    return note_standing(DAY, note_type, tags, metadata)


def importance(text: MetadataValue) -> float:
    return read(importance=text).importance


@pytest.mark.parametrize(
    ("text", "expected"),
    [("critical", 1.0), ("High", 0.8), ("1 - high", 0.8), ("🔼 high", 0.8), ("P1", 0.8), ("medium", 0.5),
     ("very low", 0.2), ("p3", 0.2), ("trivial", 0.0), ("0.8", 0.8), (".25", 0.25), ("0", 0.0),
     ("0.0", 0.0), ("1.0", 1.0), ("80%", 0.8), ("4/5", 0.8), ("7 / 10", 0.7), ("10/10", 1.0),
     ("1", 0.0), ("2", 1 / 3), ("5", 2 / 3), ("10", 1.0)],
)  # fmt: skip
def test_importance_is_read_as_people_write_it(text: str, expected: float) -> None:
    assert importance(text) == pytest.approx(expected)
    assert importance([text, "other"]) == pytest.approx(expected)


@pytest.mark.parametrize(
    "text",
    ["", "11", "-1", "1/0", "5/4", "120%", "soon", "yes", "1e9", "nan", "inf", "٣", "1.5.2", "9" * 400,
     '{"level": 3}', []],
)  # fmt: skip
def test_an_odd_importance_is_neutral(text: MetadataValue) -> None:
    assert importance(text) == NEUTRAL


def test_words_of_priority_count_and_its_numbers_do_not() -> None:
    assert read(priority="high").importance == 0.8
    assert read(priority="1").importance == read(priority="5").importance == NEUTRAL
    assert read(importance="low", priority="high").importance == 0.2
    assert read(importance="odd", priority="high").importance == 0.8


def test_a_higher_number_is_never_less_important() -> None:
    found = [importance(str(number)) for number in range(11)]
    assert found == sorted(found)


@pytest.mark.parametrize(
    "metadata",
    [{"status": "deprecated"}, {"Status": "Superseded by [[ADR 12]]"}, {"status": ["Archived"]},
     {"status": "obsolete."}, {"status": "🗄 stale"}, {"status": "outdated"}, {"superseded_by": "[[ADR 12]]"},
     {"superseded-by": ["[[A]]", "[[B]]"]}, {"Superseded by": "x"}, {"archived": "True"},
     {"deprecated": "yes"}],
)  # fmt: skip
def test_a_note_is_outdated_by_its_frontmatter(metadata: dict[str, MetadataValue]) -> None:
    assert note_standing(DAY, "note", (), metadata).is_outdated


@pytest.mark.parametrize(
    "metadata",
    [{}, {"status": "active"}, {"status": "not deprecated"}, {"status": ""}, {"status": []},
     {"superseded_by": ""}, {"superseded_by": "none"}, {"superseded_by": []}, {"archived": "False"},
     {"archived": "2025-01-02"}, {"supersedes": "[[ADR 3]]"}, {"title": "deprecated"}],
)  # fmt: skip
def test_other_frontmatter_does_not_make_a_note_outdated(
    metadata: dict[str, MetadataValue],
) -> None:
    assert not note_standing(DAY, "note", (), metadata).is_outdated


def test_a_note_is_outdated_by_a_tag_or_a_relation() -> None:
    assert read("note", "Deprecated").is_outdated
    assert read("note", "plan", "#status/archived").is_outdated
    assert not read("note", "archived/2024", "deprecated-api").is_outdated
    assert note_standing(DAY, "note", (), {}, is_superseded=True).is_outdated


def test_decisions_and_pinned_notes_last() -> None:
    assert read("Decision").is_lasting
    assert read("adr").is_lasting
    assert read(pinned="True").is_lasting
    assert read(Pinned=["yes"]).is_lasting
    assert not read(pinned="False").is_lasting
    assert not read(pinned="2025-01-02").is_lasting
    assert not read("decisions").is_lasting


VALUES = st.text() | st.lists(st.text(), max_size=3) | st.from_regex(r"[0-9.,%/ -]{0,12}")
KEYS = st.sampled_from(["importance", "priority", "status", "superseded_by", "pinned", "archived"])


@given(st.text(), st.lists(st.text()), st.dictionaries(KEYS | st.text(), VALUES))
def test_no_value_is_an_error(
    note_type: str, tags: list[str], metadata: dict[str, MetadataValue]
) -> None:
    assert 0 <= note_standing(DAY, note_type, tags, metadata).importance <= 1
