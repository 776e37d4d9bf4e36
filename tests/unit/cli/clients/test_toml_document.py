"""A TOML file of a client keeps every other byte, in whatever form its servers are written."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.cli.clients.toml_document import is_empty, table_of, with_entry, without_entry
from memoranda.cli.clients.toml_text import value_text
from memoranda.cli.clients.trace import Trace, Unusable

ENTRY = {"command": "/opt/my notes/bin/memoranda", "args": ["mcp"], "env": {"A b": 'ä"\\\n\x7f'}}

_HEADS = [
    "",
    "# a comment\n",
    'model = "gpt"  # [mcp_servers.memoranda]\n',
    "a.b = [\n  1, # ]\n  2,\n]\n",
    "text = '''\n[mcp_servers.memoranda]\n\"\"\"\n'''\n",
    'more = """a\\"""" \n',
    'when = 2026-11-30T08:00:00Z\n"quoted key" = { x = "}", y = [{}, {}] }\n',
]
_SERVERS = [
    "",
    '[mcp_servers.a]\ncommand = "x"\n',
    '[mcp_servers."a b"]\ncommand = "x"\n[mcp_servers."a b".env]\nX = "]"\n',
    'mcp_servers.a.command = "x"\n',
    'mcp_servers.a = { command = "x" }\n',
    '[mcp_servers]\na = { command = "x" }\n',
    '[mcp_servers]\na.command = "x"\n\n',
    "[mcp_servers]\n",
    'mcp_servers = { a = { command = "x" }, b = { command = "}" } } # }\n',
    "mcp_servers = {}\n",
    "mcp_servers = { }\n",
]
_TAILS = [
    "",
    "\n",
    '[projects."/home/you/x"]\ntrust_level = "trusted"\n',
    "\n[[list]]\na = 1\n[[list]]\na = 2",
    "[z]  # the end\n# mcp_servers = {}",
    "\n\n\n",
]
DOCUMENTS = st.builds(
    lambda mark, head, servers, tail, is_crlf: (
        mark + (head + servers + tail).replace("\n", "\r\n" if is_crlf else "\n")
    ),
    st.sampled_from(["", "\ufeff"]),
    st.sampled_from(_HEADS),
    st.sampled_from(_SERVERS),
    st.sampled_from(_TAILS),
    st.booleans(),
)
OURS = [
    '[mcp_servers.memoranda]\ncommand = "old" # c\nargs = []\n\n[mcp_servers.memoranda.env]\nA = "b"\n',
    '[mcp_servers.memoranda.env]\nA = "b"\n',
    'mcp_servers.memoranda.command = "old"\nmcp_servers.memoranda.args = [ "]" ]\n',
    'mcp_servers.memoranda = { command = "old" }\n',
    '[mcp_servers]\nmemoranda = { command = "old" }\nother = {}\n',
    '[mcp_servers]\n"memoranda" . command = "old"\nother = {}\n',
    'mcp_servers = { a = {}, memoranda = { command = "old" }, b = {} }\n',
    'mcp_servers = { memoranda = { command = "old" } }\n',
]


def value_of(text: str) -> dict[str, Any]:
    return tomllib.loads(text.removeprefix("\ufeff"))


@given(DOCUMENTS)
def test_entry_is_put_in_and_nothing_else_changes(text: str) -> None:
    edited = with_entry(text, "mcp_servers", "memoranda", ENTRY)
    before = value_of(text)
    servers = {**before.get("mcp_servers", {}), "memoranda": ENTRY}
    assert value_of(edited.text) == {**before, "mcp_servers": servers}
    assert table_of(edited.text, "mcp_servers") == servers
    length = len(edited.text) - len(text)
    gap = len(edited.trace.gap or "")
    assert any(
        edited.text[:at] == text[:at] and edited.text[at + length + gap :] == text[at + gap :]
        for at in range(len(text) + 1)
    )


@given(DOCUMENTS)
def test_put_in_and_taken_out_gives_the_same_bytes(text: str) -> None:
    edited = with_entry(text, "mcp_servers", "memoranda", ENTRY)
    assert without_entry(edited.text, "mcp_servers", "memoranda", edited.trace) == text


@given(DOCUMENTS, st.sampled_from(_TAILS[2:]))
def test_entry_is_taken_out_of_what_the_client_made_of_the_file(text: str, tail: str) -> None:
    edited = with_entry(text, "mcp_servers", "memoranda", ENTRY)
    grown = (
        edited.text + "\n" + tail.replace("list", "later").replace("[z]", "[y]").replace("/x", "/y")
    )
    left = without_entry(grown, "mcp_servers", "memoranda", edited.trace)
    expected = value_of(grown)
    del expected["mcp_servers"]["memoranda"]
    if not expected["mcp_servers"]:
        del expected["mcp_servers"]
    found = value_of(left)
    if not found.get("mcp_servers"):
        found.pop("mcp_servers", None)
    assert found == expected


@pytest.mark.parametrize("ours", OURS)
@pytest.mark.parametrize("tail", _TAILS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_entry_there_is_replaced_in_its_place_and_comes_back(
    ours: str, tail: str, end: str
) -> None:
    text = (f"head = 1 # {{\n{ours}{tail}").replace("\n", end)
    edited = with_entry(text, "mcp_servers", "memoranda", ENTRY)
    expected = value_of(text)
    expected["mcp_servers"]["memoranda"] = ENTRY
    assert value_of(edited.text) == expected
    assert edited.text.startswith(f"head = 1 # {{{end}")
    assert edited.text.endswith(tail.replace("\n", end))
    assert without_entry(edited.text, "mcp_servers", "memoranda", edited.trace) == text


@pytest.mark.parametrize("ours", OURS)
def test_entry_in_any_form_can_be_taken_out(ours: str) -> None:
    text = f"head = 1\n{ours}[z]\na = 1\n"
    left = value_of(without_entry(text, "mcp_servers", "memoranda", Trace()))
    expected = value_of(text)
    del expected["mcp_servers"]["memoranda"]
    assert {"mcp_servers": {}, **left} == {"mcp_servers": {}, **expected}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a = ", "not TOML"),
        ("a = 1\na = 2", "not TOML"),
        ("mcp_servers = []", "not a table"),
        ("[[mcp_servers]]\na = 1", "not a table"),
        (
            '[mcp_servers.memoranda]\na = 1\n[z]\n[mcp_servers.memoranda.env]\nb = "c"\n',
            "several places",
        ),
        ("mcp_servers = { memoranda.command = 'x' }", "in a way that is not changed"),
        ("a = " + "[" * 5000 + "]" * 5000, "TOML"),
    ],
)
def test_what_cannot_be_changed_safely_is_refused(text: str, reason: str) -> None:
    with pytest.raises(Unusable, match=reason):
        with_entry(text, "mcp_servers", "memoranda", ENTRY)


def test_a_comment_behind_an_entry_stays() -> None:
    text = 'mcp_servers.memoranda = { command = "old" } # mine }\n'
    edited = with_entry(text, "mcp_servers", "memoranda", {"command": "new"})
    assert edited.text == 'mcp_servers.memoranda = { command = "new" } # mine }\n'
    assert without_entry(text, "mcp_servers", "memoranda", Trace()) == " # mine }\n"


def test_a_new_entry_is_a_table_at_the_end() -> None:
    new = with_entry('a = "b"', "mcp_servers", "memoranda", {"command": "x", "args": ["y"]}).text
    assert new == 'a = "b"\n\n[mcp_servers.memoranda]\ncommand = "x"\nargs = ["y"]\n'
    ends_blank = with_entry("a = 1\r\n\r\n", "mcp_servers", "memoranda", {"command": "x"}).text
    assert ends_blank == 'a = 1\r\n\r\n[mcp_servers.memoranda]\r\ncommand = "x"\r\n'


@given(
    st.recursive(
        st.one_of(st.booleans(), st.integers(-(2**63), 2**63 - 1), st.text(max_size=5), st.dates(),
                  st.datetimes(), st.floats(allow_nan=False)),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    )
)  # fmt: skip
def test_values_are_written_so_that_they_are_read_the_same(value: Any) -> None:
    try:
        text = f"a = {value_text(value)}"
        text.encode()
    except UnicodeEncodeError:
        return
    assert tomllib.loads(text)["a"] == value


def test_a_text_without_statements_is_empty() -> None:
    assert is_empty("")
    assert is_empty("\ufeff\n ")
    assert not is_empty("# mine\n")
    assert not is_empty("a = 1")


def test_taking_out_what_is_not_there_is_refused() -> None:
    with pytest.raises(Unusable, match="has no memoranda"):
        without_entry("", "mcp_servers", "memoranda", Trace())
