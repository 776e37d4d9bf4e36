from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime

import pytest

from memoranda.errors import InvalidArgument
from memoranda.markdown.edits import apply_edit
from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.header_edits import set_metadata
from memoranda.model.address import NotePath
from memoranda.model.edit import SetMetadata

PATH = NotePath("n.md")
BODY = "\n# H\n\n- [fact] stays\n"


def header_after(header: str, values: Mapping[str, object], *, ending: str = "\n") -> str:
    """The header after the edit, which must have this line ending only; the rest must be as before."""
    head = f"---\n{header}".replace("\n", ending)
    tail = f"---\n{BODY}".replace("\n", ending)
    result = set_metadata(head + tail, values)
    assert result.startswith(f"---{ending}")
    assert result.endswith(tail)
    assert set(re.findall(r"\r\n|\r|\n", result)) == {ending}
    return result[3 + len(ending) : -len(tail)].replace(ending, "\n")


def refusal(header: str, values: Mapping[str, object]) -> InvalidArgument:
    with pytest.raises(InvalidArgument) as caught:
        set_metadata(f"---\n{header}---\n{BODY}", values)
    assert caught.value.parameter == "metadata"
    return caught.value


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("header", "values", "expected"),
    [
        pytest.param("a: b  # c\nd: 'e'\n", {"a": "x y"}, "a: x y  # c\nd: 'e'\n", id="comment"),
        pytest.param("a:    b\n", {"a": "x"}, "a:    x\n", id="blanks after the colon"),
        pytest.param("a:\tb\n", {"a": "x"}, "a:\tx\n", id="tab after the colon"),
        pytest.param("a : b\n", {"a": "x"}, "a : x\n", id="blank before the colon"),
        pytest.param("a: b  \n", {"a": "x"}, "a: x  \n", id="blanks at the end"),
        pytest.param('a: "b"\n', {"a": "x y"}, 'a: "x y"\n', id="double quotes stay"),
        pytest.param("a: 'b'\n", {"a": "x y"}, "a: 'x y'\n", id="single quotes stay"),
        pytest.param("a: 'b'\n", {"a": "it's"}, "a: it's\n", id="quotes that do not fit"),
        pytest.param("a: 'b'\n", {"a": "x: y"}, 'a: "x: y"\n', id="text that needs quotes"),
        pytest.param("a: '1'\n", {"a": 2}, "a: 2\n", id="a number needs none"),
        pytest.param("'a b': 1\n\"c\": 2\n", {"a b": 3, "c": 4}, "'a b': 3\n\"c\": 4\n", id="quoted keys"),
        pytest.param("1: x\nno: y\n2024-05-01: z\n", {"1": "a", "no": "b", "2024-05-01": "c"},
                     "1: a\nno: b\n2024-05-01: c\n", id="keys that are no text to YAML"),
        pytest.param("知識: 猫 # 🌱\n", {"知識": "犬 🐕"}, '知識: "犬 🐕" # 🌱\n', id="scripts"),
        pytest.param("a:\nb: 1\n", {"a": "x"}, "a: x\nb: 1\n", id="no value"),
        pytest.param("a: \nb: 1\n", {"a": "x"}, "a: x\nb: 1\n", id="no value but a blank"),
        pytest.param("a:   # c\nb: 1\n", {"a": "x"}, "a: x   # c\nb: 1\n", id="no value but a comment"),
        pytest.param("a: # c\nb: 1\n", {"a": ["x"]}, "a: # c\n  - x\nb: 1\n", id="no value, then a list"),
        pytest.param("a: ~\n", {"a": "x"}, "a: x\n", id="null"),
        pytest.param("a: one\n  two # c\nb: 1\n", {"a": "z"}, "a: z # c\nb: 1\n", id="plain lines"),
        pytest.param("a: 'one\n\n  two' # c\n", {"a": "z"}, "a: 'z' # c\n", id="quoted lines"),
        pytest.param("a:\n  one # c\nb: 1\n", {"a": "z"}, "a:\n  z # c\nb: 1\n", id="value on the next line"),
        pytest.param("a:\n  one # c\nb: 1\n", {"a": ["z"]}, "a:\n  # c\n  - z\nb: 1\n", id="value on the next line, then a list"),
        pytest.param("a: | # c\n  one\n  two\n\nb: 1\n", {"a": "z"}, "a: z # c\n\nb: 1\n", id="text block"),
        pytest.param("a: | # c\n  one\n  two\n\nb: 1\n", {"a": "x\n y\n"}, "a: | # c\n  x\n   y\n\nb: 1\n", id="text block stays one"),
        pytest.param("a: >\n  one\n", {"a": "x\n\ny"}, "a: |-\n  x\n\n  y\n", id="folded text"),
        pytest.param("a: |\n  one\n", {"a": " x\ny"}, 'a: " x\\ny"\n', id="text that a block cannot hold"),
        pytest.param("a: |\n  one\n", {"a": "x\n\ny\n\n"}, 'a: "x\\n\\ny\\n\\n"\n', id="text that ends in blank lines"),
        pytest.param("a: |\n  one\n# d\nb: 1\n", {"a": ["z"]}, "a:\n  - z\n# d\nb: 1\n", id="text block, then a list"),
        pytest.param("a: |+\n  one\n\n\nb: 1\n", {"a": "z"}, "a: z\nb: 1\n", id="kept blank lines are value"),
        pytest.param("a: !!str 12 # c\n", {"a": "z"}, "a: z # c\n", id="tag"),
        pytest.param("a: &x 12 # c\n", {"a": "z"}, "a: z # c\n", id="anchor that nothing uses"),
        pytest.param("b: &x 1\nc: *x # c\n", {"c": 2}, "b: &x 1\nc: 2 # c\n", id="alias"),
        pytest.param("a: {b: 1} # c\n", {"a": {"b": 2, "c,d": "x,y"}}, 'a: {b: 2, "c,d": "x,y"} # c\n', id="flow map stays one"),
        pytest.param("a: {b: 1} # c\n", {"a": {"b": [1]}}, "a: # c\n  b:\n    - 1\n", id="flow map that becomes deep"),
        pytest.param("a: {}\n", {"a": {}}, "a: {}\n", id="empty map"),
        pytest.param("a:\n    k: 1\n    l: 2 # c\nb: 1\n", {"a": {"k": 1, "m": {"o": 2}}},
                     "a:\n    k: 1\n    m:\n      o: 2\nb: 1\n", id="map keeps its column"),
        pytest.param("a: # c\n  k: 1 # d\nb: 1\n", {"a": 5}, "a: 5 # c\nb: 1\n", id="map, then a number"),
        pytest.param("up: [[A, b]]\n", {"up": "[[C]]"}, 'up: "[[C]]"\n', id="link without quotes"),
        pytest.param("  a: 1\n  b: 2\n", {"a": 3, "c": ["x"]}, "  a: 3\n  b: 2\n  c:\n    - x\n", id="indented header"),
        pytest.param("--- # c\na: 1\n...\n", {"a": 2, "b": 3}, "--- # c\na: 2\nb: 3\n...\n", id="document marks"),
        pytest.param("%YAML 1.1\n--- # c\na: 1\n", {"a": 2}, "%YAML 1.1\n--- # c\na: 2\n", id="directive"),
        pytest.param("a: 1\nb: 2\na: 3 # c\n", {"a": 4}, "a: 1\nb: 2\na: 4 # c\n", id="of two the last counts"),
        pytest.param("? b\n: 1\na: 2\n", {"a": 3}, "? b\n: 1\na: 3\n", id="another key with ?"),
    ],
)  # fmt: skip
def test_only_the_characters_of_a_value_change(
    header: str, values: dict[str, object], expected: str, ending: str
) -> None:
    assert header_after(header, values, ending=ending) == expected


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("header", "new", "expected"),
    [
        pytest.param("k: ['x',b , \"c\"] # k\n", ["x", "c"], "k: ['x' , \"c\"] # k\n", id="remove"),
        pytest.param("k: [a, b]\n", ["b"], "k: [b]\n", id="remove the first"),
        pytest.param("k: [a, b]\n", ["a", "b", "c,d"], 'k: [a, b, "c,d"]\n', id="add"),
        pytest.param("k: [a,b]\n", ["a", "b", "c"], "k: [a,b,c]\n", id="add without blanks"),
        pytest.param("k: [a, 'b']\n", ["z", "a", "b"], "k: [z, a, 'b']\n", id="add the first"),
        pytest.param("k: [a, 'b', c]\n", ["a", "z", "c"], "k: [a, z, c]\n", id="replace"),
        pytest.param("k: [ ]\n", ["a"], "k: [a]\n", id="fill"),
        pytest.param("k: [a, b] # k\n", [], "k: [] # k\n", id="empty"),
        pytest.param("k: [\n  a, # one\n  b,\n]\n", ["a", "b", "c"], "k: [\n  a, # one\n  b, c,\n]\n", id="flow lines"),
        pytest.param("k: [a] # k\n", [["a"], {"b": 1}], "k: # k\n  -\n    - a\n  -\n    b: 1\n", id="flow that becomes deep"),
        pytest.param("k: ['#a', b]\n", ["#a", "true", "1", 2, None], "k: ['#a', \"true\", \"1\", 2, null]\n", id="flow scalars"),
        pytest.param("k: # k\n  - 'x' # c\n  # y\n  - y\n# d\n", ["x", "y", "z"], "k: # k\n  - 'x' # c\n  # y\n  - y\n  - z\n# d\n", id="block add"),
        pytest.param("k:\n  - 'x' # c\n  # y\n  - y\n", ["y"], "k:\n  # y\n  - y\n", id="block remove"),
        pytest.param("k:\n  - 'x' # c\n  - y\n", ["x", "q"], "k:\n  - 'x' # c\n  - q\n", id="block replace"),
        pytest.param("k:\n  - x # c\n  - y\n", ["q", "y"], "k:\n  - q # c\n  - y\n", id="block replace keeps the comment"),
        pytest.param("k:\n  - x\n", ["a", "x"], "k:\n  - a\n  - x\n", id="block add the first"),
        pytest.param("k:\n- x\n-   y\n", ["x", "y", "z"], "k:\n- x\n-   y\n- z\n", id="dashes under the key"),
        pytest.param("k:\n-   x\n", ["x", "z"], "k:\n-   x\n-   z\n", id="blanks after the dash"),
        pytest.param("k:\n      - x\n", ["x", ["y"]], "k:\n      - x\n      -\n        - \"y\"\n", id="block keeps its column when deep"),
        pytest.param("k:\n  -\n  - x\n", ["a", "x"], "k:\n  - a\n  - x\n", id="an empty element"),
        pytest.param("k:\n  - |\n    one\n\n  - x\n", ["a", "x"], "k:\n  - a\n\n  - x\n", id="an element of lines"),
        pytest.param("k:\n  - - x\n    - y\n  - z\n", ["a", "z"], "k:\n  - a\n  - z\n", id="a list in a list"),
        pytest.param("k:\n  - a: 1\n    b: 2\n  - z\n", [{"a": 1, "b": 2}, "w"], "k:\n  - a: 1\n    b: 2\n  - w\n", id="a map in a list"),
        pytest.param("k:\n  - x\n  # - y\n", [], "k: []\n", id="block empty"),
        pytest.param("k: # k\n  - x\n", "w", "k: w # k\n", id="block, then text"),
        pytest.param("k: &a # k\n  - x\n", ["x", "w"], "k: &a # k\n  - x\n  - w\n", id="block with an anchor"),
        pytest.param("k: x # c\n", ["x", "w"], "k: # c\n  - x\n  - w\n", id="text, then a block"),
        pytest.param("k: x\n", [], "k: []\n", id="text, then an empty list"),
    ],
)  # fmt: skip
def test_a_list_keeps_its_form_and_the_elements_that_stay(
    header: str, new: object, expected: str, ending: str
) -> None:
    assert header_after(header + "z: 1\n", {"k": new}, ending=ending) == expected + "z: 1\n"
    assert header_after("z: 1\n" + header, {"k": new}, ending=ending) == "z: 1\n" + expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("k: 1 # c\nz: 1\n", "z: 1\n"),
        ("# above\nk: 1\n\n# next\nz: 1\n", "# above\n\n# next\nz: 1\n"),
        ("k:\n  - a # c\n\n  - b\n  # - off\n# next\nz: 1\n", "# next\nz: 1\n"),
        ("k: |\n  one\n\n  two\n\n# next\nz: 1\n", "\n# next\nz: 1\n"),
        ("k: |+\n  one\n\nz: 1\n", "z: 1\n"),
        ("k: [\n  a\n] # c\nz: 1\n", "z: 1\n"),
        ("k:\n  deep:\n    - {a: 1}\n  more: x\nz: 1\n", "z: 1\n"),
        ("k: 1\nz: 1\nk: 2\n", "z: 1\n"),
        ("z: 1\nk: # c\n", "z: 1\n"),
        ("  k: 1\n  z: 1\n", "  z: 1\n"),
    ],
)
def test_a_deleted_key_takes_its_own_lines_only(header: str, expected: str) -> None:
    assert header_after(header, {"k": None}) == expected
    assert header_after(header, {"k": None}, ending="\r\n") == expected


def test_the_last_key_can_be_deleted() -> None:
    assert set_metadata("---\nk: 1\n---\nbody", {"k": None}) == "---\n---\nbody"
    assert set_metadata("---\n---\nbody", {"k": "v"}) == "---\nk: v\n---\nbody"


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("header", "expected"),
    [
        pytest.param("a: 1\n", "a: 1\nk: v\n", id="plain"),
        pytest.param("a: 1\n\n# last words\n", "a: 1\nk: v\n\n# last words\n", id="trailing comment"),
        pytest.param("a:\n  - x\n  # - y\n# z\n", "a:\n  - x\n  # - y\nk: v\n# z\n", id="comment in a list"),
        pytest.param("a: |\n  one\n\n", "a: |\n  one\nk: v\n\n", id="text block"),
        pytest.param("a: |+\n  one\n\n", "a: |+\n  one\n\nk: v\n", id="kept blank lines"),
        pytest.param("# only\n", "# only\nk: v\n", id="comment only"),
        pytest.param("b: &x {l: en}\n<<: *x\n", "b: &x {l: en}\n<<: *x\nk: v\n", id="merge key last"),
        pytest.param("b: &x {k: en}\n<<: *x\n", "b: &x {k: en}\n<<: *x\nk: v\n", id="key of a merge"),
    ],
)  # fmt: skip
def test_a_new_key_goes_behind_the_last_one(header: str, expected: str, ending: str) -> None:
    assert header_after(header, {"k": "v"}, ending=ending) == expected


def test_several_keys_are_set_and_deleted_at_once() -> None:
    header = "a: 1\nb: 2 # c\nc: [x]\n# d\nd: 4\n"
    values = {"d": None, "new": True, "a": "z", "c": ["x", "w"], "b": None, "other": [1]}
    assert header_after(header, values) == "a: z\nc: [x, w]\n# d\nnew: true\nother:\n  - 1\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "---\nk: v\n---\n"),
        ("body\n", "---\nk: v\n---\n\nbody\n"),
        ("\nbody", "---\nk: v\n---\n\nbody"),
        (" \t\nbody", "---\nk: v\n---\n \t\nbody"),
        ("a\r\nb", "---\r\nk: v\r\n---\r\n\r\na\r\nb"),
        ("a\rb", "---\rk: v\r---\r\ra\rb"),
        ("---\n\nonly a rule\n", "---\nk: v\n---\n\n---\n\nonly a rule\n"),
        ("----\nk: w\n----\n", "---\nk: v\n---\n\n----\nk: w\n----\n"),
    ],
)
def test_a_note_without_header_gets_one(text: str, expected: str) -> None:
    assert set_metadata(text, {"k": "v"}) == expected
    assert set_metadata(text, {"k": None}) == text
    assert set_metadata(text, {}) == text
    assert parse_note(expected, PATH).frontmatter == {"k": "v"}


def test_a_header_without_final_line_ending_stays_one() -> None:
    assert set_metadata("---\na: b\n---", {"k": "v"}) == "---\na: b\nk: v\n---"


@pytest.mark.parametrize(
    ("header", "values"),
    [
        ("a: 'b'\n", {"a": "b"}),
        ("a: 007 # c\n", {"a": "007"}),
        ("a: 42\n", {"a": 42}),
        ("a: TRUE\n", {"a": True}),
        ("a: 2024-1-5\n", {"a": date(2024, 1, 5)}),
        ("a: 2024-01-05 10:00:00Z\n", {"a": datetime(2024, 1, 5, 10, tzinfo=UTC)}),
        ("a:\n- x\n- 1\n-\n", {"a": ["x", 1, None]}),
        ("a: {b: [1], 'c': }\n", {"a": {"b": [1], "c": None}}),
        ("b: &x {l: en}\n<<: *x\n", {"l": "en"}),
        ("a: 1\na: 2\n", {"a": 2}),
        ("{a: 1}\n", {"a": 1, "gone": None}),
        ("a: 1\n", {"gone": None, "A": None}),
        ("a: x\n", {}),
    ],
)
def test_what_is_there_already_changes_no_byte(header: str, values: dict[str, object]) -> None:
    assert header_after(header, values) == header


@pytest.mark.parametrize(
    ("header", "values", "reason"),
    [
        ("name: x: y\n", {"a": 1}, "not usable YAML (line 2: "),
        ("a: 1\nb: [\n", {"a": None}, "not usable YAML"),
        ("a: &s [*s]\n", {"b": 1}, "not usable YAML"),
        ("a: !secret x\n", {"b": 1}, "line 2"),
        ("- a\n", {"b": 1}, "not usable YAML"),
        ("--- a\n--- b\n", {"b": 1}, "not usable YAML"),
        ("a: 1\n--- # two\nb: 2\n", {"b": 1}, "not usable YAML (line 3: "),
        ("[a, b]: c\n", {"b": 1}, "not usable YAML"),
        ("{a: 1}\n", {"a": 2}, "one {...}"),
        ("# c\n{a: 1}\n", {"b": 2}, "one {...}"),
        ("b: &x 1\nc: *x\n", {"b": 2}, "an anchor"),
        ("b: &x 1\nc: *x\n", {"b": None}, "an anchor"),
        ("b: [&x 1, 2]\nc: *x\n", {"b": [2]}, "an anchor"),
        ("b: &x {l: en}\n<<: *x\n", {"l": None}, "a merge key"),
        ("? a\n: 1\n", {"a": 2}, "'a' cannot be changed"),
        ("a: &k b\n*k : 1\n", {"b": 2}, "'b' cannot be changed"),
        ("~\n", {"a": 1}, "cannot be changed"),
    ],
)
def test_what_cannot_be_done_right_is_refused(
    header: str, values: dict[str, object], reason: str
) -> None:
    error = refusal(header, values)
    assert reason in error.message
    assert error.hint


@pytest.mark.parametrize("text", ["---\ntitle: x\n\nbody\n", "---\r\ntags:\r\n  - a\r\nbody"])
def test_a_header_that_is_not_closed_gets_none_before_it(text: str) -> None:
    with pytest.raises(InvalidArgument, match="no second --- line"):
        set_metadata(text, {"a": 1})
    assert set_metadata(text, {"a": None}) == text


@pytest.mark.parametrize(
    "values",
    [
        {"a": object()}, {"a": float("nan")}, {"a": [float("inf")]}, {"": 1}, {"a\nb": 1}, {"<<": {}},
        {"a": "\ud800"}, {"a": {"": 1}}, {"a": 10**5000},
    ],
)  # fmt: skip
def test_what_frontmatter_cannot_hold_is_refused(values: dict[str, object]) -> None:
    refusal("a: 1\n", values)


def test_fm_double_block() -> None:
    text = "---\nname: x: y\ndescription: the only copy of this text\n---\n\nbody\n"
    with pytest.raises(InvalidArgument, match="not usable YAML"):
        apply_edit(text, SetMetadata({"title": "T"}), PATH)


def test_odd_characters_in_the_header_do_no_harm() -> None:
    assert set_metadata("---\na: b \ud800 c\n---\n", {"a": "x"}) == "---\na: x\n---\n"
    assert header_after("\ufeffa: 1\nb: 2\n", {"b": 3}) == "\ufeffa: 1\nb: 3\n"
    refusal("\ufeffa: 1\nb: 2\n", {"a": 3})


@pytest.mark.parametrize(
    "header",
    [
        "".join(f"key{i}: value {i}\n" for i in range(30_000)),
        "k:\n" + "".join(f"  - tag{i} # c\n" for i in range(40_000)),
        "k: [" + ", ".join(f"tag{i}" for i in range(70_000)) + "]\n",
        "k: |\n" + "  text of a line\n" * 50_000,
        "k: 1\n" + "# a comment\n" * 70_000,
        "k: 1\n" + "  # a comment\n" * 60_000,
        "k:\n  - a\n" + "  # a comment\n" * 60_000,
        "k:\n" + "\n" * 900_000,
    ],
)
def test_a_header_of_a_megabyte_is_edited_in_linear_time(header: str) -> None:
    text = f"---\n{header}---\nbody\n"
    result = set_metadata(text, {"k": ["a", "b"], "new": 1})  # the time limit of a test would hit
    assert parse_note(result, PATH).frontmatter["k"] == ["a", "b"]


def test_many_keys_are_set_at_once_in_linear_time() -> None:
    header = "".join(f"key{i}: 1\n" for i in range(40_000))
    changed = header.replace(": 1", ": x")
    values = {f"key{i}": "x" for i in range(40_000)}
    result = set_metadata(f"---\n{header}---\nbody\n", values)  # the time limit would hit
    assert result == f"---\n{changed}---\nbody\n"


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x85"])
def test_a_line_end_of_unicode_in_a_header_ends_no_line(sign: str) -> None:
    text = f"---\nali{sign}ases:\nb: x{sign}y # c\n---\n\nx\n"
    changed = set_metadata(text, {"d": "1", "b": "z"})
    assert changed == f'---\nali{sign}ases:\nb: z # c\nd: "1"\n---\n\nx\n'
