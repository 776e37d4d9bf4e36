from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from memoranda.errors import InvalidArgument
from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.header_edits import set_metadata
from memoranda.markdown.yaml_values import load_entries
from memoranda.model.address import NotePath

PATH = NotePath("n.md")


@dataclass(frozen=True)
class Key:
    """A key as it stands in a header: a head, `{}` for the value, and its lines."""

    name: str
    lines: str


_WORDS = st.text(alphabet="aZ é知🌱'\"#:,[]{}-?&*!|>%@`~0\\\t", max_size=8)
_TEXTS = _WORDS | st.text(alphabet="ab\n\r\x85\u2028 ", max_size=6)
_SCALARS = (
    _TEXTS | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.dates() | st.none()
)  # fmt: skip
_NAMES = st.text(alphabet="kK é知-_:#?'\"", min_size=1, max_size=6).filter(str.strip)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_NAMES, inner, max_size=3),
    max_leaves=6,
)
_SOURCES = st.sampled_from(
    [
        ": plain\n", ": plain # c\n", ":   'it''s'  # c\n", ': "q\\n"\n', ":\n", ": # c\n", ": ~\n",
        ": [a, 'b', \"c\"] # c\n", ": [\n  a, # c\n  b\n]\n", ": []\n", ": {a: 1, b: [x]}\n",
        ":\n  - a\n  - 'b' # c\n\n  - c\n", ":\n- a\n- b\n", ": # c\n    -   a\n    # d\n    - b\n",
        ":\n  -\n  - - x\n    - y\n  - k: v\n    l: m\n", ":\n  k: 1 # c\n  l:\n    - x\n",
        ": |\n  one\n\n  two\n", ": >-  # c\n  one\n  two\n", ": |+\n  one\n\n\n", ": |2\n   one\n",
        ": one\n  two\n\n  three # c\n", ": 'one\n\n  two'\n", ":\n  next # c\n", ": [[Link, x]]\n",
        ": 2024-01-05\n", ": !!str 12\n", ": &anchor x\n", ": &other\n  - x\n", ":\t x\t# c\n", " : x\n",
    ]
)  # fmt: skip
_BETWEEN = st.sampled_from(["", "", "", "# above\n", "\n", "\n# a: b\n\n"])
_ENDINGS = st.sampled_from(["\n", "\r\n", "\r"])


@st.composite
def headers(draw: st.DrawFn) -> list[Key]:
    names = draw(st.lists(st.sampled_from(["a", "b c", "'d'", '"e"', "知", "1"]), unique=True))
    keys = [Key("", draw(_BETWEEN))]
    for name in names:
        keys += [Key(name.strip("'\""), name + draw(_SOURCES)), Key("", draw(_BETWEEN))]
    if any("|+" in key.lines for key in keys):  # the blank lines below would belong to it
        keys = [key if key.name else Key("", key.lines.lstrip("\n")) for key in keys]
    return keys


def as_read(value: object) -> object:
    if isinstance(value, dict):
        return {key: as_read(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_read(item) for item in value]
    if isinstance(value, date):
        return value.isoformat()
    return value if value is None or isinstance(value, str) else str(value)


def entries_of(text: str, ending: str) -> dict[str, object]:
    header = text.removeprefix(f"---{ending}").removesuffix(f"---{ending}body")
    return {entry.key: entry.value for entry in load_entries(header)}


@given(headers(), _ENDINGS, st.data())
def test_a_key_that_is_set_has_its_value_and_nothing_else_changes(
    keys: list[Key], ending: str, data: st.DataObject
) -> None:
    pieces = [key.lines.replace("\n", ending) for key in keys]
    text = f"---{ending}{''.join(pieces)}---{ending}body"
    name = data.draw(st.sampled_from([*(key.name for key in keys if key.name), "new", "-"]))
    value = data.draw(_VALUES.filter(lambda one: one is not None))
    result = set_metadata(text, {name: value})
    before, after = entries_of(text, ending), entries_of(result, ending)
    assert after == {**before, name: as_read(value)}
    assert set(re.findall(r"\r\n|\r|\n", result)) == {ending}
    assert set_metadata(result, {name: value}) == result
    if before.get(name) == as_read(value):
        assert result == text
    at = next((i for i, key in enumerate(keys) if key.name == name), None)
    if at is None:
        last = max((i for i, key in enumerate(keys) if key.name), default=len(keys) - 1)
        head, tail = "".join(pieces[: last + 1]), "".join(pieces[last + 1 :])
    else:
        head, tail = "".join(pieces[:at]), "".join(pieces[at + 1 :])
    assert result.startswith(f"---{ending}{head}")
    assert result.endswith(f"{tail}---{ending}body")


@given(headers(), _ENDINGS, st.data())
def test_a_deleted_key_is_gone_and_nothing_else_changes(
    keys: list[Key], ending: str, data: st.DataObject
) -> None:
    pieces = [key.lines.replace("\n", ending) for key in keys]
    text = f"---{ending}{''.join(pieces)}---{ending}body"
    name = data.draw(st.sampled_from([*(key.name for key in keys if key.name), "gone"]))
    result = set_metadata(text, {name: None})
    kept = [piece for key, piece in zip(keys, pieces, strict=True) if key.name != name]
    assert result == f"---{ending}{''.join(kept)}---{ending}body"
    assert set_metadata(result, {name: None}) == result


@given(st.text(alphabet="ab:-\n\r#[]{}'\"&*!|>é🌱 \t", max_size=60), st.dictionaries(st.sampled_from(["a", "b", "ab"]), _VALUES, max_size=3))  # fmt: skip
def test_any_header_is_edited_right_or_refused(header: str, values: dict[str, object]) -> None:
    text = f"---\n{header}\n---\nbody"
    try:
        result = set_metadata(text, values)
    except InvalidArgument:
        return
    old, new = parse_note(text, PATH), parse_note(result, PATH)
    assert new.problems == ()
    wanted = {key: as_read(value) for key, value in values.items()}
    for key in old.frontmatter.keys() - wanted.keys():
        assert new.frontmatter[key] == old.frontmatter[key]
    for key, value in wanted.items():
        if value is None:
            assert key not in new.frontmatter
        elif isinstance(value, str):
            assert new.frontmatter[key] == value
    assert new.content.endswith(old.content)
