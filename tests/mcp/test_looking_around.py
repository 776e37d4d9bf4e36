"""build_context, list_directory and recent_activity as a model sees them."""

from __future__ import annotations

import os
from datetime import datetime, timedelta

import pytest
from tests.mcp.conftest import Caller


@pytest.fixture
async def graph(caller: Caller) -> Caller:
    """A plan that two notes are about; one of them is known by a third note."""
    files = {
        "projects/one/plan.md": "# Plan\n\nThe plan of one.\n\n- needs [[Budget]]\n",
        "projects/two/plan.md": "# Plan\n\nThe plan of two.\n",
        "projects/two/log/day.md": "x\n",
        "Budget.md": "What it costs. See [[Bank]].\n",
        "Bank.md": "Where the money is.\n",
    }
    for path, text in files.items():
        file = caller.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    await caller.indexed()
    return caller


@pytest.mark.spec("6.2.6")
async def test_context_says_why_each_note_is_related(graph: Caller) -> None:
    text = await graph.text("build_context", path="memory://projects/one/plan", depth=2)
    assert "Related, most relevant first (2):" in text
    assert "- Budget — budget" in text
    assert "(needs): What it costs. See [[Bank]]." in text
    assert "(needs > Budget > links_to, 2 steps): Where the money is." in text
    data = await graph.data("build_context", path="memory://projects/one/plan", depth=2)
    (context,) = data["contexts"]
    assert [(one["permalink"], one["distance"]) for one in context["related"]] == [
        ("budget", 1),
        ("bank", 2),
    ]
    assert context["related"][1]["via"] == ["budget"]
    text = await graph.text("build_context", path="projects/one/plan", depth=2, max_related=1)
    assert "and 1 more: build_context path=projects/one/plan depth=2 max_related=2" in text


async def test_a_pattern_matches_whole_names(graph: Caller) -> None:
    data = await graph.data("build_context", path="projects/*/plan")
    assert [one["permalink"] for one in data["contexts"]] == [
        "projects/one/plan",
        "projects/two/plan",
    ]
    data = await graph.data("build_context", path="memory://projects/two/*")
    assert data["total"] == 2, "also what is in folders below"
    error = await graph.error("build_context", path="projects/*/budget")
    assert error["code"] == "NOTE_NOT_FOUND"
    assert "list_directory" in error["hint"]


async def test_a_cut_note_offers_its_sections(caller: Caller) -> None:
    filler = "A line of some length, again and again.\n" * 300
    body = "".join(f"## Part {n}\n\n{filler}" for n in range(1, 6)) + "- [fact] The end\n"
    (caller.root / "long.md").write_text(body, "utf-8")
    await caller.indexed()
    text = await caller.text("read_note", path="long")
    assert "Go on with start_line=" in text
    assert "Sections further down (3), section=name reads one:" in text
    assert "line 1209: Part 5" in text
    text = await caller.text("build_context", path="long")
    assert "Cut here: read_note path=long start_line=" in text
    assert "line 1209: Part 5" in text
    assert "Facts further down (1):\n- [fact] The end (line 1511)" in text
    assert len(text) <= 20_000
    data = await caller.data("build_context", path="long")
    assert [one["slug"] for one in data["contexts"][0]["outline"]][-1] == "part-5"


async def test_a_note_with_many_backlinks_says_how_many(caller: Caller) -> None:
    (caller.root / "hub.md").write_text("x\n", "utf-8")
    for number in range(60):
        (caller.root / f"n{number}.md").write_text("[[hub]]\n", "utf-8")
    await caller.indexed()
    assert "Linked from (60):" in await caller.text("read_note", path="hub")
    assert (await caller.data("read_note", path="hub"))["backlinks_total"] == 60
    text = await caller.text("build_context", path="hub")
    assert "Related, most relevant first (10 of 60):" in text
    assert "Also linked from (50):" in text


@pytest.mark.spec("6.2.8")
async def test_recent_activity_says_which_time_it_understood(caller: Caller) -> None:
    file = caller.root / "old.md"
    file.write_text("x\n", "utf-8")
    stamp = datetime.now().astimezone() - timedelta(days=10)
    os.utime(file, (stamp.timestamp(), stamp.timestamp()))
    await caller.indexed()
    midnight = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    data = await caller.data("recent_activity", timeframe="today")
    assert datetime.fromisoformat(data["since"]) == midnight
    assert datetime.fromisoformat(data["since"]).utcoffset() == midnight.utcoffset()
    assert data["newest"]["permalink"] == "old"
    text = await caller.text("recent_activity", timeframe="since yesterday afternoon")
    assert text.startswith("0 notes changed since ")
    assert f"timeframe={stamp:%Y-%m-%d} lists it." in text
    text = await caller.text("recent_activity", timeframe=f"{stamp:%Y-%m-%d}")
    assert f"- {stamp:%Y-%m-%d %H:%M} old — old" in text
    for wrong in ("soonish", "next week", "7"):
        error = await caller.error("recent_activity", timeframe=wrong)
        assert (error["code"], error["parameter"]) == ("INVALID_ARGUMENT", "timeframe")


@pytest.mark.spec("6.2.7")
async def test_list_directory_by_pattern_spelling_and_emptiness(graph: Caller) -> None:
    (graph.root / "Empty").mkdir()
    assert (await graph.text("list_directory", path="Empty")).startswith("Empty: no notes.")
    assert (await graph.text("list_directory", path="/Projects/ONE/")).startswith(
        "projects/one: 1 note\nprojects/one/plan.md"
    )
    data = await graph.data("list_directory", glob="**/plan.md", page_size=1)
    assert ([one["path"] for one in data["entries"]], data["total"], data["next_page"]) == (
        ["projects/one/plan.md"],
        2,
        2,
    )
    error = await graph.error("list_directory", path="project")
    assert error["near"] == ["projects"]
    assert "'budget' is a note" in await graph.error_text("list_directory", path="budget")
