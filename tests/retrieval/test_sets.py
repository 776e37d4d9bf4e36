"""The sets say what they should, and every answer is where its question looks for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from benchmarks.retrieval import docs_qa, locomo, multilingual
from benchmarks.retrieval.nonsense import off_topic
from benchmarks.retrieval.tasks import Series, Task

from memoranda.markdown.entity_parser import parse_note
from memoranda.model.address import NotePath
from memoranda.model.search import ItemType


def gold(task: Task) -> set[str]:
    return {one for question in task.questions for one in question.gold}


def known(task: Task) -> set[str]:
    return {one for places in task.places.values() for one in places.ids}


def answerable(task: Task) -> int:
    return sum(bool(question.gold) for question in task.questions)


def block_ids(task: Task) -> Mapping[str, dict[int, str | None]]:
    """Path -> line -> block id, as the product reads the notes."""
    return {
        path: {one.line: one.block_id for one in parse_note(text, NotePath(path)).observations}
        for path, text in task.vault.files.items()
    }


def turns_by_line(task: Task) -> Mapping[str, dict[int, str | None]]:
    return {
        path: {line: one.rpartition("/")[2] for line, one in zip(at.lines, at.ids, strict=True)}
        for path, at in task.places.items()
    }


CONVERSATION: Mapping[str, Any] = {
    "conversation": {
        "session_1_date_time": "9:00 am on 2 March, 2020",
        "session_1": [
            {"speaker": "Ida", "dia_id": "D1:1", "text": "The kiln\n is [warm] #now."},
            {"speaker": "Bo", "dia_id": "D1:2", "text": "Good (finally)"},
        ],
        "session_2_date_time": "1:30 pm on 5 March, 2020",
        "session_2": [],
        "session_10_date_time": "7:05 pm on 9 April, 2020",
        "session_10": [{"speaker": "Ida", "dia_id": "D10:1", "text": "We sold - all of it"}],
        "speaker_a": "Ida",
    },
    "qa": [
        {"question": "Is the kiln warm?", "category": 4, "evidence": ["D1:1"]},
        {"question": "What was sold?", "category": 1, "evidence": ["D10:01; D1:2"]},
        {"question": "Why?", "category": 3, "evidence": []},
        {"question": "Who?", "category": 2, "evidence": ["D7:1"]},
        {"question": "Never said?", "category": 5, "evidence": ["D1:1"]},
    ],
}


@pytest.fixture(scope="module")
def made_up() -> Mapping[Series, list[Task]]:
    found = dict[Series, list[Task]]()
    for task in locomo.conversation_tasks([CONVERSATION] * 6):
        found.setdefault(task.series, []).append(task)
    return found


def test_a_session_is_a_note_with_its_date_as_title(
    made_up: Mapping[Series, list[Task]],
) -> None:
    task = made_up[Series("LoCoMo", "turns", "own")][0]
    assert task.vault.files["c1/session-01.md"] == (
        '---\ntitle: "9:00 am on 2 March, 2020"\n---\n\n'
        "- [said] Ida: The kiln is [warm] #now. ^D1-1\n- [said] Bo: Good (finally) ^D1-2\n"
    )
    assert sorted(task.vault.files) == ["c1/session-01.md", "c1/session-10.md"]


def test_the_product_reads_each_turn_as_an_observation_where_it_is_looked_for(
    made_up: Mapping[Series, list[Task]],
) -> None:
    for tasks in made_up.values():
        for task in tasks:
            if task.series.grain == "turns":
                assert task.item_types == (ItemType.OBSERVATION,)
                assert block_ids(task) == turns_by_line(task)


def test_evidence_is_split_and_questions_without_any_are_left_out(
    made_up: Mapping[Series, list[Task]],
) -> None:
    own = made_up[Series("LoCoMo", "turns", "own")]
    assert [(one.text, set(one.gold)) for one in own[0].questions] == [
        ("Is the kiln warm?", {"c1/D1-1"}),
        ("What was sold?", {"c1/D10-1", "c1/D1-2"}),
    ]
    assert [{one.part for one in task.questions} for task in own] == [{"1-5"}] * 5 + [{"6-10"}]


def test_meaning_is_asked_for_turns_of_the_own_and_sessions_of_all_conversations(
    made_up: Mapping[Series, list[Task]],
) -> None:
    assert [series[1:] for series, tasks in made_up.items() if tasks[0].by_meaning] == [
        ("turns", "own"),
        ("sessions", "pooled"),
    ]


def test_pooled_questions_look_in_all_conversations_for_their_own_session(
    made_up: Mapping[Series, list[Task]],
) -> None:
    (pooled,) = made_up[Series("LoCoMo", "sessions", "pooled")]
    assert len(pooled.vault.files) == 12
    assert pooled.questions[3].gold == {"c2/D10", "c2/D1"}
    assert pooled.places["c2/session-10.md"].at(1) == "c2/D10"
    assert len(pooled.questions) - answerable(pooled) == len(off_topic("conversations"))
    assert [answerable(task) for task in made_up[Series("LoCoMo", "sessions", "own")]] == [2] * 6


def test_without_the_shared_data_there_are_no_conversations(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MEMORANDA_SHARED", str(tmp_path))
    assert locomo.tasks() is None


def test_locomo_has_the_counts_that_were_found_by_hand() -> None:
    tasks = locomo.tasks()
    if tasks is None:
        pytest.skip("the shared data is not here")
    asked = Counter[Series]()
    for task in tasks:
        asked[task.series] += answerable(task)
        assert gold(task) <= known(task)
    assert set(asked.values()) == {1536}
    (pooled,) = (task for task in tasks if task.series == Series("LoCoMo", "turns", "pooled"))
    assert len(pooled.vault.files) == 272
    assert block_ids(pooled) == turns_by_line(pooled)


@pytest.fixture(scope="module")
def docs() -> Sequence[Task]:
    return docs_qa.tasks()


def test_docs_qa_is_complete(docs: Sequence[Task]) -> None:
    sections, pages = docs
    assert (len(sections.vault.files), len(known(sections)), len(sections.questions)) == (
        45,
        232,
        100,
    )
    assert gold(sections) <= known(sections)
    assert gold(pages) <= known(pages)
    assert (len(known(pages)), answerable(pages)) == (45, 100)
    assert {"api", "api/errors", "docs/welcome"} <= known(pages)
    assert sum(len(question.gold) for question in sections.questions) == 192


def test_every_section_is_from_its_heading_to_the_next_one(docs: Sequence[Task]) -> None:
    sections = docs[0]
    texts = dict[str, str]()
    for path, text in sections.vault.files.items():
        lines = text.split("\n")
        for number, line in enumerate(lines, 1):
            if one := sections.places[path].at(number):
                texts[one] = f"{texts[one]}\n{line}" if one in texts else line
    rows = docs_qa.rows("sections")
    assert {one: text.rstrip("\n") for one, text in texts.items()} == {
        row["id"]: f"## {row['heading']}\n\n{row['text']}".rstrip("\n") for row in rows
    }
    assert any(line.startswith("# ") for row in rows for line in row["text"].split("\n"))


def test_the_product_finds_a_passage_in_every_section(docs: Sequence[Task]) -> None:
    sections = docs[0]
    for path, text in sections.vault.files.items():
        places = sections.places[path]
        passages = parse_note(text, NotePath(path)).passages
        assert {places.at(one.start_line) for one in passages} - {None} == set(places.ids)


def test_the_multilingual_set_covers_its_scripts() -> None:
    task = multilingual.tasks()[0]
    assert gold(task) <= known(task)
    assert 60 <= len(task.vault.files) <= 90
    parts = Counter(question.part for question in task.questions)
    assert len(parts) == 18
    assert min(parts.values()) >= 9
    assert len({(one.text, one.part) for one in task.questions}) == len(task.questions)


def test_queries_are_asked_once_more_with_their_language_set() -> None:
    plain, *others = multilingual.tasks()
    assert plain.vault.languages == ()
    for task in others:
        (language,) = {question.part for question in task.questions}
        assert task.vault.languages == ("english", language)
        assert task.vault.files == plain.vault.files
        assert list(task.questions) == [one for one in plain.questions if one.part == language]
    assert len({task.vault.name for task in others}) == len(others) == 9


def test_the_product_reads_the_title_of_each_multilingual_note() -> None:
    task = multilingual.tasks()[0]
    titles = {parse_note(text, NotePath(path)).title for path, text in task.vault.files.items()}
    assert len(titles) == len(task.vault.files)
    assert {"C# service", "Crème brûlée à la vanille", "咖啡冲煮笔记"} <= titles


def test_off_topic_questions_have_no_answer_and_one_part() -> None:
    questions = [*off_topic("docs"), *off_topic("conversations")]
    assert {one.part for one in questions} == {"off topic"}
    assert not any(one.gold for one in questions)
    assert len({one.text for one in questions}) == 32
