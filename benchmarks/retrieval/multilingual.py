"""Known items in many scripts: a person who knows that a note exists types what they remember of it.

The notes and queries are our own (`data/multilingual.toml`). Queries are typed as people do: without
accents, in another case or form, a part of an unspaced run, a title alone, two words, signs and paths.
The notes of one script share words, so that a query has to tell them apart.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

from benchmarks.retrieval.tasks import Question, Series, Task, Vault, whole_notes

_FILE = Path(__file__).with_name("data") / "multilingual.toml"


_STEMMED = (
    "russian",
    "arabic",
    "greek",
    "hindi",
    "turkish",
    "german",
    "french",
    "polish",
    "spanish",
)


def tasks() -> Sequence[Task]:
    """All notes in one vault; a query counts in the row of its script or kind.

    Once as the search comes, and the queries in a language that it can be configured for once more with
    that language beside English.
    """
    files, ids, questions = dict[str, str](), dict[str, str](), list[Question]()
    for group, notes in tomllib.loads(_FILE.read_text(encoding="utf-8")).items():
        for number, note in enumerate(notes, 1):
            path = f"{group}/{number:02}.md"
            files[path] = f"---\ntitle: {_quoted(note['title'])}\n---\n\n{note['text']}"
            ids[path] = path.removesuffix(".md")
            questions += [
                Question(query, frozenset({ids[path]}), group) for query in note["queries"]
            ]
    return [
        Task(
            Series("Multilingual", "notes", "all notes"),
            Vault("multilingual", files),
            whole_notes(ids),
            questions,
            by_meaning=True,
        ),
        *(
            Task(
                Series("Multilingual, language set", "notes", "all notes"),
                Vault(f"multilingual-{language}", files, ("english", language)),
                whole_notes(ids),
                [question for question in questions if question.part == language],
            )
            for language in _STEMMED
        ),
    ]


def _quoted(title: str) -> str:
    return "'" + title.replace("'", "''") + "'"
