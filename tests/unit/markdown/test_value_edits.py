from __future__ import annotations

import random

import pytest

from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.header_edits import set_metadata
from memoranda.model.address import NotePath

PATH = NotePath("n.md")
MIRA = {"by": "human:mira", "at": "2026-01-01"}
BOT = {"by": "bot", "at": "2026-01-02"}
ZOE = {"by": "zoe", "at": "2026-02-01"}
FIRST = "  - {by: 'human:mira', at: 2026-01-01} # first\n"
SECOND = "  - by: bot   # second\n    at: 2026-01-02\n"
FLOW_ZOE = "  - {by: zoe, at: 2026-02-01}\n"
BLOCK_ZOE = "  - by: zoe\n    at: 2026-02-01\n"


def value_after(value: str, new: object, *, ending: str = "\n") -> str:
    """What stands behind `k:` after the edit."""
    text = f"---\na: 1\nk:{value}z: 1\n---\nbody\n".replace("\n", ending)
    result = set_metadata(text, {"k": new})
    assert set_metadata(result, {"k": new}) == result
    head, tail = f"---{ending}a: 1{ending}k:", f"z: 1{ending}---{ending}body{ending}"
    assert result.startswith(head)
    assert result.endswith(tail)
    return result[len(head) : -len(tail)].replace(ending, "\n")


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param('\n  - Old Name # first\n  - "Second"\n  - Third\n', ["Second", "Third", "New"], '\n  - "Second"\n  - Third\n  - New\n', id="one goes, one comes"),
        pytest.param("\n  - a # 1\n  - 'b' # 2\n  - c # 3\n  - d # 4\n", ["b", "x", "d"], "\n  - 'b' # 2\n  - x # 3\n  - d # 4\n", id="one goes, one is replaced"),
        pytest.param("\n  - a # 1\n  - 'b' # 2\n", ["x", "a", "w", "b", "z"], "\n  - x\n  - a # 1\n  - w\n  - 'b' # 2\n  - z\n", id="three come"),
        pytest.param("\n  - a # 1\n  # b\n  - 'b' # 2\n  - c\n  - d # 4\n", ["b", "d"], "\n  # b\n  - 'b' # 2\n  - d # 4\n", id="two go"),
        pytest.param(" [a, 'b', c]\n", ["b", "c", "d"], " ['b', c, d]\n", id="flow: one goes, one comes"),
        pytest.param(" [a, 'b',  c, \"d\"]\n", ["b", "x", "w", "d"], " ['b',  x, w, \"d\"]\n", id="flow: one becomes two"),
        pytest.param(" [a, 'b', c, \"d\"]\n", ["x", "a", "w", "b", "d"], " [x, a, w, 'b', \"d\"]\n", id="flow: two come, one goes"),
        pytest.param(" [\n  a, # 1\n  b, # 2\n  c # 3\n]\n", ["a", "c"], " [\n  a, # 1\n  c # 3\n]\n", id="flow lines: one goes"),
        pytest.param(" [\n  a, # 1\n  b, # 2\n  c # 3\n]\n", ["a", "b"], " [\n  a, # 1\n  b, # 2\n]\n", id="flow lines: the last goes"),
        pytest.param(" [\n  a, # 1\n  b, # 2\n  c # 3\n]\n", ["b", "c"], " [\n  b, # 2\n  c # 3\n]\n", id="flow lines: the first goes"),
    ],
)  # fmt: skip
def test_elements_keep_their_own_quotes_and_comments(
    old: str, new: list[str], expected: str, ending: str
) -> None:
    assert value_after(old, new, ending=ending) == expected


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(FIRST + SECOND, [MIRA, BOT, ZOE], FIRST + SECOND + BLOCK_ZOE, id="added last"),
        pytest.param(FIRST + SECOND, [MIRA, ZOE, BOT], FIRST + FLOW_ZOE + SECOND, id="added between"),
        pytest.param(FIRST + SECOND, [ZOE, MIRA, BOT], FLOW_ZOE + FIRST + SECOND, id="added first"),
        pytest.param(FIRST + SECOND, [BOT], SECOND, id="removed first"),
        pytest.param(FIRST + SECOND, [MIRA], FIRST, id="removed last"),
        pytest.param(FIRST + SECOND, [MIRA, {**BOT, "at": "x"}], FIRST + SECOND.replace("2026-01-02", "x"), id="one value of lines"),
        pytest.param(FIRST + SECOND, [{**MIRA, "by": "x"}, BOT], FIRST.replace("'human:mira'", "x") + SECOND, id="one value of a flow map"),
        pytest.param(FIRST + SECOND, [MIRA, {"at": "x"}], FIRST + "  - at: x\n", id="first key removed"),
        pytest.param("  -\n    by: bot # c\n    at: 1\n", [{"by": "bot", "at": "x"}, ZOE], "  -\n    by: bot # c\n    at: x\n  -\n    by: zoe\n    at: 2026-02-01\n", id="dash on its own line"),
        pytest.param("-   by: bot # c\n    at: 1\n", [{"by": "bot", "at": "1"}, ZOE], "-   by: bot # c\n    at: 1\n-   by: zoe\n    at: 2026-02-01\n", id="column of the dash"),
        pytest.param("  - - 'x' # c\n    - w\n", [["x", "z"], ["a", "b"]], "  - - 'x' # c\n    - z\n  - - a\n    - b\n", id="lists in a list"),
        pytest.param("  - [a, 'b']\n", [["b"], ["c", {"d": 1}]], "  - ['b']\n  - [c, {d: 1}]\n", id="flow lists in a list"),
    ],
)  # fmt: skip
def test_maps_and_lists_in_a_list_that_stay_are_not_touched(
    old: str, new: list[object], expected: str, ending: str
) -> None:
    assert value_after("\n" + old, new, ending=ending) == "\n" + expected


def test_maps_in_a_flow_list_that_stay_are_not_touched() -> None:
    old = " [{by: 'a'}, {by: b}] # c\n"
    assert value_after(old, [{"by": "a"}, {"by": "b"}, ZOE]) == (
        " [{by: 'a'}, {by: b}, {by: zoe, at: 2026-02-01}] # c\n"
    )


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param("\n  by: human:mira # me\n  at: 2024-01-01\n", {"by": "human:mira", "at": "x"}, "\n  by: human:mira # me\n  at: x\n", id="one value"),
        pytest.param("\n  by: 'a' # me\n  # at\n  at: 1 # c\n", {"at": "1"}, "\n  # at\n  at: 1 # c\n", id="a key goes"),
        pytest.param("\n    by: 'a' # me\n", {"by": "a", "x": ["w"]}, "\n    by: 'a' # me\n    x:\n      - w\n", id="a key comes"),
        pytest.param("\n  in:\n    by: 'a' # me\n    at: 1\n  on: [b] # c\n", {"in": {"by": "a", "at": "x"}, "on": ["b", "c"]}, "\n  in:\n    by: 'a' # me\n    at: x\n  on: [b, c] # c\n", id="maps in maps"),
        pytest.param(" {by: 'a', at: 1, x: z} # c\n", {"by": "a", "x": "w"}, " {by: 'a', x: w} # c\n", id="flow: one goes"),
        pytest.param(" {by: 'a', at: 1} # c\n", {"by": "a", "new": "b"}, " {by: 'a', new: b} # c\n", id="flow: the last goes, one comes"),
        pytest.param(" {by: 'a', at: }\n", {"by": "a", "at": "b"}, " {by: a, at: b}\n", id="flow without a value is written anew"),
        pytest.param("\n  ? by\n  : 'a' # me\n  at: 1\n", {"by": "a", "at": "x"}, "\n    by: a\n    at: x\n", id="with ? it is written anew"),
    ],
)  # fmt: skip
def test_keys_of_a_map_that_stay_are_not_touched(
    old: str, new: dict[str, object], expected: str, ending: str
) -> None:
    assert value_after(old, new, ending=ending) == expected


@pytest.mark.parametrize("size", [400, 500, 20_000])
@pytest.mark.parametrize("letters", ["a", "ab", "abcdefghijkl", None])
def test_long_lists_are_compared_in_bounded_time(size: int, letters: str | None) -> None:
    chance = random.Random(size)
    old = [chance.choice(letters) if letters else f"t{i}" for i in range(size)]
    new = ["x", *(name for name in old if chance.random() < 0.5), "z"]
    text = f"---\nk:\n{''.join(f'  - {name} # c{chr(10)}' for name in old)}---\n"
    result = set_metadata(text, {"k": new})  # the time limit of a test would hit
    assert parse_note(result, PATH).frontmatter["k"] == new


@pytest.mark.parametrize(
    "value",
    [
        "".join(f"  - by: bot # c\n    at: {i}\n" for i in range(10_000)),
        "".join(f"  - {{by: bot, at: {i}}} # c\n" for i in range(10_000)),
    ],
)
def test_every_map_of_a_long_list_is_edited_in_linear_time(value: str) -> None:
    new = [{"by": "zoe", "at": str(i)} for i in range(10_000)]
    text = f"---\nk:\n{value}---\n"
    assert set_metadata(text, {"k": new}) == text.replace("bot", "zoe")  # the time limit would hit
