from __future__ import annotations

from dataclasses import replace
from types import ModuleType

import pytest

from memoranda.markdown.entity_parser import parse_note
from memoranda.model.address import NotePath
from memoranda.model.views import DeleteResult, WriteAction, WriteResult
from memoranda.render.bounds import compact
from memoranda.render.notes import (
    delete_data,
    delete_text,
    observation_data,
    reference_data,
    view_data,
    view_text,
    write_data,
    write_text,
)


def test_reference_names_everything_a_caller_can_use(samples: ModuleType) -> None:
    assert reference_data(samples.ref(), samples.PROJECT) == {
        "title": "Deep Work",
        "permalink": "research/deep-work",
        "file_path": "research/deep-work.md",
        "uri": "memory://research/deep-work",
        "note_type": "concept",
        "tags": ["focus"],
        "created_at": "2025-01-01T00:00:00+00:00",
        "updated_at": "2025-02-03T04:05:06+00:00",
        "checksum": "c" * 64,
        "external_id": "4f5c0d4e-8d0e-4f0e-9a4b-2f1d3c5b6a79",
        "project": "Main",
    }


def test_an_outline_names_sections_with_their_lines(samples: ModuleType) -> None:
    text = "# A\n\n## B\ntext\n\n# B\n"
    note = parse_note(text, NotePath("n.md"))
    view = samples.view(text, parsed=note)
    data = view_data(view, samples.PROJECT)
    assert [
        (entry["level"], entry["text"], entry["line"], entry["end_line"])
        for entry in data["outline"]
    ] == [(1, "A", 1, 5), (2, "B", 3, 5), (1, "B", 6, 6)]
    slugs = [entry["slug"] for entry in data["outline"]]
    assert slugs[0] == "a"
    assert len(set(slugs)) == 3


def test_an_observation_names_the_item_it_is_nested_in(samples: ModuleType) -> None:
    item = samples.observation(3)
    assert not {"parent", "parent_line"} & observation_data(item).keys()
    nested = replace(item.observation, parent="above " * 200, parent_line=2)
    data = observation_data(replace(item, observation=nested))
    assert data["parent_line"] == 2
    assert data["parent"].startswith("above above")
    assert len(data["parent"]) <= 500


def test_uri_names_the_project_unless_it_is_the_default(samples: ModuleType) -> None:
    data = reference_data(samples.ref(), samples.OTHER)
    assert data["uri"] == "memory://@other-one/research/deep-work"


@pytest.mark.spec("6.2.2")
def test_read_data_holds_content_observations_and_relations(samples: ModuleType) -> None:
    view = samples.view(
        "a\nb\n",
        observations=(samples.observation(1),),
        relations=(samples.relation(2), samples.relation(2, None)),
        backlinks=(samples.backlink(),),
    )
    data = view_data(view, samples.PROJECT)
    assert data["content"] == "a\nb\n"
    assert data["frontmatter"] == {"status": "x"}
    assert data["observations"][0] == {
        "category": "fact",
        "content": "Fact",
        "tags": ["t"],
        "context": "there",
        "permalink": "research/deep-work/observations/fact/1",
        "line": 1,
    }
    assert [item["resolved"] for item in data["relations"]] == [True, False]
    assert data["backlinks"][0]["from_permalink"] == "daily"
    assert data["next_line"] is None


def test_read_text_begins_with_the_note_as_it_is(samples: ModuleType) -> None:
    text, about = view_text(samples.view("---\ntitle: x\n---\n\n  Body \r\n"))
    assert text == "---\ntitle: x\n---\n\n  Body \r\n"
    assert "research/deep-work.md" in about
    assert "c" * 64 in about
    assert "start_line" not in about


def test_a_long_note_is_cut_at_a_line_and_says_where_to_go_on(samples: ModuleType) -> None:
    view = samples.view("".join(f"line {number}\n" for number in range(1, 5001)))
    data = view_data(view, samples.PROJECT, 20_000)
    assert len(compact(data)) <= 20_000
    assert data["content"].endswith(f"line {data['next_line'] - 1}\n")
    text, about = view_text(view, 20_000)
    assert len(text) + len(about) <= 20_000
    following = text.count("\n") + 1
    assert f"start_line={following}" in about


def test_a_part_of_a_note_holds_the_facts_of_its_lines_only(samples: ModuleType) -> None:
    view = samples.view(
        "b\n",
        start_line=2,
        end_line=2,
        total_lines=3,
        observations=tuple(samples.observation(line) for line in (1, 2, 3)),
        relations=tuple(samples.relation(line) for line in (1, 2, 3)),
    )
    data = view_data(view, samples.PROJECT)
    assert [item["line"] for item in data["observations"]] == [2]
    assert [item["line"] for item in data["relations"]] == [1, 2, 3]


def test_long_lists_give_way_and_say_how_long_they_are(samples: ModuleType) -> None:
    view = samples.view(
        "a\n" * 3000,
        observations=tuple(samples.observation(line) for line in range(1, 2000)),
        backlinks=(samples.backlink(),),
    )
    data = view_data(view, samples.PROJECT, 20_000)
    assert len(compact(data)) <= 20_000
    assert 0 < len(data["observations"]) < data["observations_total"] == 1999
    assert len(data["backlinks"]) == 1
    assert "backlinks_total" not in data


def test_write_says_what_happened_and_what_stays_unresolved(samples: ModuleType) -> None:
    result = WriteResult(
        samples.ref(),
        WriteAction.CREATED,
        (samples.observation(1),),
        (samples.relation(1), samples.relation(2, None)),
        warnings=("A link was read as prose",),
        similar=(samples.ref("deep-play"),),
    )
    text = write_text(result)
    assert text.startswith("Created Deep Work — research/deep-work\n")
    assert "1 observation, 2 relations (1 unresolved: Focus)" in text
    assert "Warning: A link was read as prose" in text
    assert "research/deep-play" in text
    data = write_data(result, samples.PROJECT)
    assert data["action"] == "created"
    assert data["similar"][0]["permalink"] == "research/deep-play"
    assert len(data["relations"]) == 2


def test_delete_names_the_links_that_lead_nowhere(samples: ModuleType) -> None:
    result = DeleteResult(samples.ref(), (samples.backlink(7),))
    assert "daily.md line 7" in delete_text(result)
    data = delete_data(result, samples.PROJECT)
    assert data["deleted"] is True
    assert data["unresolved_backlinks"][0]["line"] == 7


def test_a_line_longer_than_the_answer_is_cut_and_said(samples: ModuleType) -> None:
    view = samples.view("x" * 50_000 + "\n")
    data = view_data(view, samples.PROJECT, 20_000)
    assert len(compact(data)) <= 20_000
    assert data["line_cut"] is True
    assert data["next_line"] is None
    text, about = view_text(view, 20_000)
    assert len(text) < 20_000
    assert "Line 1 is longer than the answer may be" in about
    assert "line_cut" not in view_data(samples.view("x\n"), samples.PROJECT)
    assert view_data(samples.view("x\n"), samples.PROJECT, line_cut=True)["line_cut"] is True


def test_a_read_note_says_what_its_okf_keys_mean(samples: ModuleType) -> None:
    text = "---\nstatus: deprecated\nstale_after: 2026-06-01\n---\nx\n"
    view = samples.view(text, parsed=parse_note(text, NotePath("n.md")))
    assert "Provenance: deprecated; stale from 2026-06-01 on." in view_text(view)[1]
    data = view_data(view, samples.PROJECT)
    assert data["provenance"] == {"status": "deprecated", "stale_after": "2026-06-01"}
