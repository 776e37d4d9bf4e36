"""`memoranda search` as a person meets it: transcripts of what is printed by a search by words."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]  # the fixtures of conftest.py

NOTES = {
    "heap.md": (
        "---\ntitle: The heap\ncreated: 2026-03-01\ntags: [soil]\n---\n"
        "# The heap\n\n[ref]: https://example.org\n\nTurn the heap every week. It is warm inside.\n\n"
        "## Layers\n\n- [method] Two parts brown, one part green #ratio\n- feeds [[Beds]]\n"
    ),
    "beds.md": "---\ncreated: 2026-04-01\n---\n# Beds\n\nFour beds beside the heap.\n",
    "堆肥.md": "---\ncreated: 2026-05-01\n---\n每周翻动堆肥一次，里面很热。\n",
}


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Notes whose dates of creation are known; they were changed on one day."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(text, encoding="utf-8")
        os.utime(folder / name, (1_780_000_000, 1_780_000_000))  # 2026-05-28
    return folder


def transcript(ready: Cli, *arguments: object) -> list[str]:
    outcome = ready("search", "--mode", "fts", *arguments)
    assert (outcome.code, outcome.err) == (0, "")
    return [line.rstrip() for line in outcome.out.splitlines()]


def test_notes_are_shown_with_dates_and_passages(ready: Cli) -> None:
    assert transcript(ready, "heap", "-n", 1) == [
        "2 notes for 'heap' (fts), 1-1:",
        "1. The heap — the-heap · 2026-03-01, changed 2026-05-28 · #soil",
        "   L10 The heap: Turn the heap every week. It is warm inside.",
        "More: --page 2",
    ]


def test_how_many_have_all_the_words_is_said(ready: Cli) -> None:
    lines = transcript(ready, "heap week")
    assert lines[0] == "2 notes for 'heap week' (fts), 1 with all the words:"
    assert lines[1].startswith("1. The heap")


def test_all_that_stands_there_is_the_query(ready: Cli) -> None:
    assert transcript(ready, "heap", "week") == transcript(ready, "heap week")
    assert transcript(ready, "warm", "-n", 1, "inside", "tag:soil")[0].startswith(
        "1 note for 'warm inside tag:soil' (fts)"
    )


def test_a_minus_at_the_beginning_needs_two_before_it(ready: Cli) -> None:
    outcome = ready("search", "-budget tag:soil")
    assert outcome.code == 2
    assert outcome.err.splitlines()[0] == "error: No such option: -b"
    assert outcome.err.endswith(" Put -- before a query that begins with a minus.\n")
    found = transcript(ready, "--", "-budget tag:soil")
    assert found[0].startswith("1 note for '-budget tag:soil'")
    assert "begins with a minus" not in ready("read", "x", "--nope").err


def test_help_says_what_a_query_may_have(ready: Cli) -> None:
    said = " ".join(ready("search", "--help").out.split())
    for word in ('"a phrase"', "AND, OR, NOT, -word, tag:, type:, title:, path:", '"last week"'):
        assert word in said
    assert "--item-type PART Find such parts of notes: section, observation or relation;" in said


def test_a_script_without_blanks_is_shown(ready: Cli) -> None:
    assert transcript(ready, "堆肥")[1:] == [
        "1. 堆肥 — 堆肥 · 2026-05-01, changed 2026-05-28",
        "   L4: 每周翻动堆肥一次，里面很热。",
    ]


def test_items_of_a_type_are_lines_of_their_own(ready: Cli) -> None:
    assert transcript(ready, "brown", "--item-type", "observation") == [
        "1 observation for 'brown' (fts):",
        "1. The heap — the-heap · 2026-03-01, changed 2026-05-28 · "
        "L14 The heap > Layers: [method] Two parts brown, one part green #ratio",
    ]
    relation = transcript(ready, "beds", "--item-type", "relation")
    assert relation[0] == "1 relation for 'beds' (fts):"
    assert relation[1].endswith("L15: feeds [[Beds]]")


def test_several_types_of_items_are_searched_at_once(ready: Cli) -> None:
    types = ("--item-type", "relation", "--item-type", "section", "--item-type", "entity")
    found = ready("search", "beds", *types, "--json").json["results"]
    assert {hit["item_type"] for hit in found} >= {"relation", "section"}
    assert transcript(ready, "beds", *types)[0].startswith(f"{len(found)} items for 'beds'")


def test_a_type_that_is_none_is_refused(ready: Cli) -> None:
    outcome = ready("search", "heap", "--item-type", "chapter")
    assert outcome.code == 2
    assert "entity" in outcome.err
    assert "observation" in outcome.err


def test_explain_says_why_each_hit_is_where_it_is(ready: Cli) -> None:
    lines = transcript(ready, "heap weeks", "--explain")
    why = lines.index(next(line for line in lines if line.startswith("   why: rank 1, score ")))
    assert re.fullmatch(
        r"     best item: heap [\d.]+ \(as typed, in \d parts of notes\), "
        r"weeks [\d.]+ \(in another form, in 1 part of notes\), phrase [\d.]+",
        lines[why + 1],
    )
    assert lines[why + 2].startswith("     of that: ")
    assert re.match(r"     score: \(?passages [\d.]+ \+ note ", lines[why + 3])
    assert any(line.startswith("   why: rank 2, ") for line in lines)
    assert not any("why:" in line for line in transcript(ready, "heap weeks"))


@pytest.mark.parametrize("parts", [(), ("--item-type", "section")])
def test_what_is_explained_adds_up(ready: Cli, parts: tuple[str, ...]) -> None:
    lines = transcript(ready, "heap warm inside", "--explain", *parts)
    scores = [
        float(place[1])
        for line in lines
        if (place := re.match(r"   why: rank \d+, score ([\d.e-]+)", line))
    ]
    items = [line for line in lines if line.startswith("     best item: ")]
    fields = [line for line in lines if line.startswith("     of that: ")]
    sums = [line for line in lines if line.startswith("     score: ")]
    assert len(scores) == len(items) == len(fields) == len(sums) >= 1
    for score, item, field, parts_of_score in zip(scores, items, fields, sums, strict=True):
        own = sum(map(float, re.findall(r" (\d[\d.]*)(?= \(|,|$)", item)))
        phrase = sum(map(float, re.findall(r"phrase (\S+)", item)))
        assert sum(map(float, re.findall(r" (\d[\d.]*)", field))) == pytest.approx(
            own - phrase, rel=0.002
        )
        added, *factors = parts_of_score.partition(":")[2].split(" x ")
        total = sum(float(one.split()[-1]) for one in added.strip(" ()").split(" + "))
        for factor in factors:
            total *= float(factor.split()[-1])
        assert total == pytest.approx(score, rel=0.002)
        if parts:
            named = re.search(r"item ([\d.]+)", parts_of_score)
            assert named is not None
            assert float(named[1]) == pytest.approx(own, rel=0.002)
    assert any("phrase" in item for item in items)


def test_json_has_all_that_is_known(ready: Cli) -> None:
    data = ready("search", "heap weeks", "--explain", "--json").json
    first = data["results"][0]
    assert first["passages"][0]["matches"] == ["heap", "week"]
    assert first["explanation"]["rank"] == 1
    assert [term["text"] for term in first["explanation"]["terms"]] == ["heap", "weeks"]
    assert (data["total"], data["full_matches"], data["is_weak"]) == (2, 1, False)
    plain = ready("search", "heap weeks", "--json").json
    assert "explanation" not in plain["results"][0]


def test_without_words_a_filter_lists_the_newest(ready: Cli) -> None:
    assert transcript(ready, "--tag", "soil")[:2] == [
        "1 note (fts), newest file first:",
        "1. The heap — the-heap · 2026-03-01, changed 2026-05-28 · #soil",
    ]


def test_filters_in_the_words_are_named(ready: Cli) -> None:
    lines = transcript(ready, "tag:soil heap")
    assert lines[0].startswith("1 note for 'tag:soil heap' (fts)")
    assert "soil" in lines[1].removeprefix("Filters read from the query: ")
    assert lines[1].startswith("Filters read from the query: ")


def test_nothing_relevant_is_said_with_the_nearest(ready: Cli) -> None:
    lines = transcript(ready, "zebra giraffe hippopotamus week")
    assert lines[0] == (
        "Nothing relevant was found for 'zebra giraffe hippopotamus week' (fts); the nearest:"
    )
    assert lines[1].startswith("1. The heap")


def test_a_phrase_that_is_nowhere_is_said(ready: Cli) -> None:
    lines = transcript(ready, '"warm heap" inside')
    assert "Nothing has all that the query demands; these have some of it." in lines


def test_nothing_found_is_no_failure(ready: Cli) -> None:
    assert transcript(ready, "qwertzuiop")[0] == "Nothing found for 'qwertzuiop' (fts)."


def test_a_page_beyond_the_end_names_the_last(ready: Cli) -> None:
    assert transcript(ready, "heap", "-n", 1, "--page", 9) == [
        "2 notes for 'heap' (fts), none on this page; the last is page 2."
    ]


def test_nothing_asked_is_wrong_usage(ready: Cli) -> None:
    outcome = ready("search", " ")
    assert outcome.code == 2
    assert "give words to find, or a filter" in outcome.err


def test_on_a_terminal_lines_are_folded_and_matches_are_bold(ready: Cli, home: Path) -> None:
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "memoranda", "search", "heap week"],
            stdout=theirs,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            env=os.environ | {"TERM": "xterm", "COLUMNS": "50"},
        )
        drawn = os.read(ours, 100_000).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "Turn the \x1b[1mheap\x1b[0m every \x1b[1mweek\x1b[0m" in " ".join(drawn.split())
    plain = re.sub(r"\x1b\[\d+m", "", drawn)
    assert max(len(line) for line in plain.splitlines()) <= 50
    assert "changed\n   2026-05-28" in plain.replace("\r", "")
