"""The harness asks the product, fails under a floor and leaves nothing behind."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest
from benchmarks import __main__ as command
from benchmarks.retrieval import harness
from benchmarks.retrieval.floors import FLOORS, Floor
from benchmarks.retrieval.legs import LEGS, MINILM, Leg
from benchmarks.retrieval.page import filled
from benchmarks.retrieval.product import MODEL_VARIABLE, answers, indexed
from benchmarks.retrieval.tasks import Places, Question, Series, Task, Vault, whole_notes

from memoranda.model.address import NotePath, Permalink
from memoranda.model.note import NoteRef
from memoranda.model.search import Hit, ItemType, SearchQuery, SearchResults, SearchType
from memoranda.services.search import SearchService

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "retrieval.md"

NOTES = Series("Made up", "notes", "three notes")
FACTS = Series("Made up", "facts", "three notes")
VAULT = Vault(
    "made-up",
    {
        "kiln.md": "---\ntitle: Kiln\n---\n\n- [fact] it reaches cone six\n- [fact] glaze drips\n\n"
        "All about the glaze.\n",
        "loom.md": "---\ntitle: Loom\n---\n\n- [fact] the warp is linen\n",
        "deep/forge.md": "---\ntitle: Forge\n---\n\n- [fact] the anvil rings\n",
    },
)


def made_up() -> Sequence[Task]:
    return [
        Task(
            NOTES,
            VAULT,
            whole_notes({path: path for path in VAULT.files}),
            [
                Question("linen warp", frozenset({"loom.md"})),
                Question("anvil", frozenset({"deep/forge.md"})),
                Question("glaze", frozenset({"loom.md"})),
            ],
            by_meaning=True,
        ),
        Task(
            FACTS,
            VAULT,
            {
                "kiln.md": Places((5, 6, 8), ("cone", "drips", "prose")),
                "loom.md": Places((5,), ("warp",)),
            },
            [Question("glaze drips", frozenset({"drips"})), Question("warp", frozenset({"warp"}))],
            (ItemType.OBSERVATION,),
        ),
    ]


def names_in(folder: str) -> list[str]:
    return sorted(path.name for path in Path(folder).glob("*"))


@pytest.fixture
def set_of_three(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(harness.SETS, "made-up", made_up)


@pytest.mark.usefixtures("set_of_three")
def test_a_run_over_its_floors_passes_and_keeps_its_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    floors = [Floor(NOTES, "hit@1", 0.66), Floor(FACTS, "recall@5", 1.0)]
    assert (
        harness.main(["made-up"], legs=LEGS[:1], floors=floors, results=tmp_path / "results") == 0
    )
    kept = [
        json.loads(line)
        for line in (tmp_path / "results" / "retrieval.jsonl").read_text("utf-8").splitlines()
    ]
    assert [(one["set"], one["grain"], one["part"], one["questions"]) for one in kept] == [
        ("Made up", "notes", "all", 3),
        ("Made up", "facts", "all", 2),
    ]
    assert kept[0]["figures"]["hit@1"] == pytest.approx(2 / 3)
    shown = capsys.readouterr().out
    assert "Made up, notes, three notes: all, hit@1" in shown
    assert "UNDER" not in shown


@pytest.mark.usefixtures("set_of_three")
def test_a_run_under_a_floor_fails_and_says_which(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    floors = [Floor(NOTES, "hit@1", 0.67), Floor(NOTES, "MRR@10", 0.7), Floor(FACTS, "hit@1", 1.0)]
    assert harness.main(["made-up"], legs=LEGS[:1], floors=floors, results=tmp_path) == 2
    under = [line for line in capsys.readouterr().out.splitlines() if line.endswith("UNDER")]
    assert len(under) == 2
    assert "hit@1" in under[0]
    assert "0.667" in under[0]


FORM = """# Page

<!-- floors -->
old floors
<!-- end of floors -->
Between.
<!-- meaning -->
<!-- end of meaning -->
<!-- figures -->
<!-- end of figures -->
End.
"""


@pytest.mark.usefixtures("set_of_three")
def test_a_whole_run_writes_its_tables_into_the_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(FORM, "utf-8")
    floors = [Floor(NOTES, "hit@1", 0.5, 0.75), Floor(FACTS, "hit@1", 1.0)]
    harness.main(["made-up"], legs=LEGS[:1], floors=floors, results=tmp_path, page=page)
    text = page.read_text("utf-8")
    assert "| Made up, notes, three notes: all, hit@1, words | 0.667 | 0.500 | 0.750 |\n" in text
    assert "| Made up, facts, three notes: all, hit@1, words | 1.000 | 1.000 |  |\n" in text
    assert "| Made up, notes, three notes: all | words | 3 | 0.667 | 0.667 |" in text
    assert "old floors" not in text
    assert text.endswith("<!-- end of figures -->\nEnd.\n")
    harness.main(["made-up"], legs=LEGS[:1], floors=floors, results=tmp_path, page=page)
    assert page.read_text("utf-8").count("Made up, facts, three notes: all") == 2


@pytest.mark.usefixtures("set_of_three")
def test_a_run_without_all_sets_leaves_the_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(FORM, "utf-8")
    floors = [Floor(NOTES, "hit@1", 0.5), Floor(Series("Other", "notes", "all"), "hit@1", 0.5)]
    harness.main(["made-up"], legs=LEGS[:1], floors=floors, results=tmp_path, page=page)
    assert page.read_text("utf-8") == FORM


def test_a_page_without_its_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="no place for figures"):
        filled(FORM.replace("<!-- figures -->", ""), [], [])


@pytest.mark.usefixtures("set_of_three")
@pytest.mark.parametrize(("least", "code"), [(0.5, 0), (0.9, 1)])
def test_the_command_ends_with_one_under_a_floor(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, least: float, code: int
) -> None:
    run = harness.main
    monkeypatch.setattr(
        harness,
        "main",
        lambda names, legs, page: run(
            names, legs=legs, floors=[Floor(NOTES, "hit@1", least)], results=tmp_path, page=page
        ),
    )
    argv = ["benchmarks", "retrieval", "--sets", "made-up", "--ways", "words"]
    monkeypatch.setattr(sys, "argv", argv)
    assert command.main() == code


@pytest.mark.parametrize(
    ("option", "given", "said"),
    [
        ("--sets", "docs,nothing", "no such set: nothing"),
        ("--ways", "loudly", "no such way: loudly"),
    ],
)
def test_an_unknown_set_or_way_is_wrong_usage(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    option: str,
    given: str,
    said: str,
) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks", "retrieval", option, given])
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_a_set_whose_data_is_missing_is_left_out_with_a_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MEMORANDA_SHARED", str(tmp_path))
    assert harness.main(["locomo"], results=tmp_path) == 0
    assert "locomo: its data is not here" in capsys.readouterr().out


@pytest.mark.usefixtures("set_of_three")
def test_every_way_is_asked_where_the_task_says_so(tmp_path: Path) -> None:
    assert harness.main(["made-up"], legs=LEGS[:3], floors=[], results=tmp_path) == 0
    text = (tmp_path / "retrieval.jsonl").read_text("utf-8")
    kept = [json.loads(line) for line in text.splitlines()]
    assert [(one["grain"], one["leg"]) for one in kept] == [
        ("notes", "words"),
        ("notes", "words + static"),
        ("notes", "static alone"),
        ("facts", "words"),
    ]
    assert all(one["figures"]["hit@1"] >= 0.66 for one in kept)


@pytest.mark.usefixtures("set_of_three")
def test_a_model_that_is_not_here_is_left_out_with_a_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(MODEL_VARIABLE, raising=False)
    legs = [LEGS[0], next(leg for leg in LEGS if leg.model == MINILM)]
    assert harness.main(["made-up"], legs=legs, floors=[], results=tmp_path) == 0
    assert "MiniLM is not here" in capsys.readouterr().out
    assert "MiniLM" not in (tmp_path / "retrieval.jsonl").read_text("utf-8")


async def test_a_model_that_cannot_be_loaded_ends_the_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(MODEL_VARIABLE, str(tmp_path / "nowhere"))
    with pytest.raises(RuntimeError, match="no vectors: "):
        async with indexed([VAULT], model=MINILM):
            pass


async def test_an_answer_that_is_less_than_what_was_asked_ends_the_run() -> None:
    with pytest.raises(RuntimeError, match="words alone"):
        await answers(made_up()[0], cast("SearchService", OneHit(degraded="by words alone")))


async def test_answers_are_places_of_what_was_asked_for_best_first() -> None:
    notes, facts = made_up()
    async with indexed([VAULT]) as services:
        found = await answers(notes, services["made-up"])
        assert [one.ranked[:1] for one in found] == [("loom.md",), ("deep/forge.md",), ("kiln.md",)]
        found = await answers(facts, services["made-up"])
    assert [one.ranked[:1] for one in found] == [("drips",), ("warp",)]
    assert not any("prose" in one.ranked for one in found)
    assert all(one.cpu_ms > 0 for one in found)


async def test_two_hits_in_one_place_are_one_answer() -> None:
    asked = [Question("cone glaze", frozenset({"kiln.md"}))]
    task = Task(FACTS, VAULT, whole_notes({"kiln.md": "kiln.md"}), asked, (ItemType.OBSERVATION,))
    async with indexed([VAULT]) as services:
        (found,) = await answers(task, services["made-up"])
    assert found.ranked == ("kiln.md",)


class OneHit:
    """A search that finds the forge by something that no passage shows, and is not sure of it."""

    def __init__(self, degraded: str | None = None) -> None:
        self.degraded = degraded
        self.asked: list[SearchType] = []

    async def search(self, query: SearchQuery) -> SearchResults:
        self.asked.append(query.search_type)
        now = datetime(2026, 1, 1, tzinfo=UTC)
        path = NotePath("deep/forge.md")
        ref = NoteRef(1, "x", "Forge", Permalink("deep/forge"), path, "note", (), now, now, "0")
        hit = Hit(ref, 1.0, ItemType.NOTE, ())
        return SearchResults(
            query.text,
            SearchType.FTS,
            (hit,),
            1,
            query.limit,
            query.offset,
            degraded=self.degraded,
            is_weak=True,
        )


async def test_a_hit_without_a_passage_is_its_note() -> None:
    (found, *_) = await answers(made_up()[0], cast("SearchService", OneHit()))
    assert (found.ranked, found.is_declined) == (("deep/forge.md",), True)


@pytest.mark.parametrize("leg", LEGS, ids=lambda leg: leg.name)
async def test_a_question_is_asked_in_the_way_of_its_leg(leg: Leg) -> None:
    service = OneHit()
    await answers(made_up()[0], cast("SearchService", service), leg)
    assert service.asked == [leg.search_type] * 3


async def test_a_question_without_hits_is_declined() -> None:
    asked = [Question("zzyzx", frozenset()), Question("warp", frozenset({"loom.md"}))]
    task = Task(NOTES, VAULT, whole_notes({path: path for path in VAULT.files}), asked)
    async with indexed([VAULT]) as services:
        found = await answers(task, services["made-up"])
    assert [(one.ranked, one.is_declined) for one in found] == [((), True), (("loom.md",), False)]


@pytest.mark.parametrize("before", [None, "elsewhere"])
async def test_the_configuration_of_the_user_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, before: str | None
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("BASIC_MEMORY_DEFAULT_PROJECT", "no such project")
    if before is None:
        monkeypatch.delenv("BASIC_MEMORY_CONFIG_DIR", raising=False)
    else:
        monkeypatch.setenv("BASIC_MEMORY_CONFIG_DIR", str(tmp_path / before))
    async with indexed([VAULT]):
        inside = os.environ["BASIC_MEMORY_CONFIG_DIR"]
        assert names_in(inside) == ["made-up"]
    assert os.environ.get("BASIC_MEMORY_CONFIG_DIR") == (before and str(tmp_path / before))
    assert (names_in(inside), names_in(str(tmp_path))) == ([], [])


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", harness.FREE_SETS)
def test_a_free_set_is_over_its_floors_by_words_and_with_the_bundled_model(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    under = harness.main([name], legs=LEGS[:2], results=tmp_path)
    shown = capsys.readouterr().out
    assert under == 0, shown
    assert "words + static less words" in shown


@pytest.mark.parametrize("floor", FLOORS, ids=lambda one: one.name)
def test_the_page_names_every_floor(floor: Floor) -> None:
    lines = PAGE.read_text("utf-8").splitlines()
    (row,) = [line for line in lines if line.startswith(f"| {floor.name} |")]
    _, value, least, aim = [cell.strip() for cell in row.strip("|").split("|")]
    assert (float(least), float(aim) if aim else None) == (floor.least, floor.aim)
    assert float(value) >= floor.least
