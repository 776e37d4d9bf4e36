"""LoCoMo: ten long conversations and questions about them. Evaluation input, never part of the repository.

Each session is a note whose title is its date and time; each turn is an observation with the turn's id as
its block id. Categories 1 (multi-hop), 2 (temporal), 3 (open-domain) and 4 (single-hop); evidence is
every `D<session>:<turn>` that is named, and a question that names none is left out.

Conversations 1 to 5 are the ones that parameters may be chosen on, 6 to 10 are held out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.retrieval.nonsense import off_topic
from benchmarks.retrieval.tasks import Places, Question, Series, Task, Vault, whole_notes
from benchmarks.vault import shared_folder
from memoranda.model.search import ItemType

_ANSWERABLE = frozenset({1, 2, 3, 4})
_TUNED = 5
_TURN = re.compile(r"D(\d+):(\d+)")
_FIRST_TURN_LINE = 5


@dataclass(frozen=True, slots=True)
class _Conversation:
    """`files`: path -> text; `turns`: path -> ids of the turns, one a line from the first turn's line."""

    name: str
    part: str
    files: Mapping[str, str]
    turns: Mapping[str, tuple[str, ...]]
    questions: tuple[Question, ...]


def tasks() -> Sequence[Task] | None:
    """Turns and sessions, among the own conversation and among all; None where the set is missing."""
    file = shared_folder() / "data" / "locomo" / "locomo10.json"
    if not file.is_file():
        return None
    return conversation_tasks(json.loads(file.read_text(encoding="utf-8")))


def conversation_tasks(conversations: Sequence[Mapping[str, Any]]) -> list[Task]:
    """The same for conversations in LoCoMo's form."""
    read = [_conversation(number, one) for number, one in enumerate(conversations, 1)]
    own = [(Vault(f"locomo-{one.name}", one.files), (one,)) for one in read]
    pooled = Vault(
        "locomo-pooled", {path: text for one in read for path, text in one.files.items()}
    )
    return [
        *(_turns("own", vault, some) for vault, some in own),
        _turns("pooled", pooled, read),
        *(_sessions("own", vault, some) for vault, some in own),
        _sessions("pooled", pooled, read, off_topic("conversations")),
    ]


def _turns(haystack: str, vault: Vault, conversations: Sequence[_Conversation]) -> Task:
    return Task(
        Series("LoCoMo", "turns", haystack),
        vault,
        {
            path: Places(tuple(range(_FIRST_TURN_LINE, _FIRST_TURN_LINE + len(ids))), ids)
            for one in conversations
            for path, ids in one.turns.items()
        },
        [question for one in conversations for question in one.questions],
        (ItemType.OBSERVATION,),
        by_meaning=haystack == "own",
    )


def _sessions(
    haystack: str,
    vault: Vault,
    conversations: Sequence[_Conversation],
    others: Sequence[Question] = (),
) -> Task:
    ids = {
        path: _session_of(turns[0]) for one in conversations for path, turns in one.turns.items()
    }
    asked = [
        Question(question.text, frozenset(map(_session_of, question.gold)), question.part)
        for one in conversations
        for question in one.questions
    ]
    return Task(
        Series("LoCoMo", "sessions", haystack),
        vault,
        whole_notes(ids),
        [*asked, *others],
        by_meaning=haystack == "pooled",
    )


def _conversation(number: int, source: Mapping[str, Any]) -> _Conversation:
    name = f"c{number}"
    files, turns = dict[str, str](), dict[str, tuple[str, ...]]()
    for session, said in _session_turns(source["conversation"]):
        path = f"{name}/session-{session:02}.md"
        date = source["conversation"][f"session_{session}_date_time"]
        lines = ["---", f'title: "{date}"', "---", ""]
        lines += [_observation(turn) for turn in said]
        files[path] = "\n".join([*lines, ""])
        turns[path] = tuple(f"{name}/{_block_id(turn)}" for turn in said)
    known = {one for ids in turns.values() for one in ids}
    part = f"1-{_TUNED}" if number <= _TUNED else f"{_TUNED + 1}-10"
    questions = [
        Question(asked["question"], gold, part)
        for asked in source["qa"]
        if asked["category"] in _ANSWERABLE
        and (gold := frozenset(_evidence(name, asked.get("evidence", ()))) & known)
    ]
    return _Conversation(name, part, files, turns, tuple(questions))


def _session_turns(
    conversation: Mapping[str, Any],
) -> Iterator[tuple[int, Sequence[Mapping[str, str]]]]:
    numbers = sorted(
        int(match[1]) for key in conversation if (match := re.fullmatch(r"session_(\d+)", key))
    )
    return ((n, conversation[f"session_{n}"]) for n in numbers if conversation[f"session_{n}"])


def _observation(turn: Mapping[str, str]) -> str:
    return f"- [said] {turn['speaker']}: {' '.join(turn['text'].split())} ^{_block_id(turn)}"


def _block_id(turn: Mapping[str, str]) -> str:
    return turn["dia_id"].replace(":", "-")


def _evidence(name: str, named: Sequence[str]) -> Iterator[str]:
    """Turn ids; one piece of evidence may name several, and may write `D8:06`."""
    for text in named:
        for session, turn in _TURN.findall(text):
            yield f"{name}/D{session}-{int(turn)}"


def _session_of(turn: str) -> str:
    return turn.rpartition("-")[0]
