"""Docs QA: 45 pages of product documentation in 232 sections, and 100 questions. Source: `data/docs_qa`.

Each page is a note and each section a part of it below a heading of the second level. A section is where
its heading is until the next section's, whatever else in it begins with `#`: its code does too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.retrieval.nonsense import off_topic
from benchmarks.retrieval.tasks import Places, Question, Series, Task, Vault, whole_notes
from memoranda.model.search import ItemType

_FOLDER = Path(__file__).with_name("data") / "docs_qa"
_HITS = 40


def tasks() -> Sequence[Task]:
    """Sections and pages among all pages."""
    pages = dict[str, list[Mapping[str, str]]]()
    for section in rows("sections"):
        pages.setdefault(_page(section["id"]), []).append(section)
    files, places = dict[str, str](), dict[str, Places]()
    for page, sections in pages.items():
        path = f"{page}.md"
        files[path], places[path] = _note(page, sections)
    asked = [Question(row["question"], frozenset(row["sections"])) for row in rows("questions")]
    vault = Vault("docs", files)
    return [
        Task(
            Series("Docs QA", "sections", "all pages"),
            vault,
            places,
            asked,
            (ItemType.SECTION,),
            _HITS,
            by_meaning=True,
        ),
        Task(
            Series("Docs QA", "pages", "all pages"),
            vault,
            whole_notes({f"{page}.md": page for page in pages}),
            [
                *(Question(one.text, frozenset(map(_page, one.gold))) for one in asked),
                *off_topic("docs"),
            ],
            by_meaning=True,
        ),
    ]


def rows(name: str) -> list[Mapping[str, Any]]:
    """A file of the set, "sections" or "questions", as it was published."""
    text = (_FOLDER / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


def _page(section: str) -> str:
    """The page of a section as a file name without its ending: `api/#top` is `api`."""
    return section.partition("#")[0].rstrip("/")


def _note(page: str, sections: Sequence[Mapping[str, str]]) -> tuple[str, Places]:
    title = page.rpartition("/")[2].replace("-", " ").capitalize()
    lines = ["---", f"title: {title}", "---", ""]
    starts = []
    for section in sections:
        starts.append(len(lines) + 1)
        lines += [f"## {section['heading']}", "", *section["text"].split("\n"), ""]
    return "\n".join(lines), Places(tuple(starts), tuple(one["id"] for one in sections))
