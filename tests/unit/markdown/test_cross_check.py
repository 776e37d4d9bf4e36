"""markdown-it-py as a second opinion: headings, list items and fenced code lie where it sees them.

Where the two may differ is named in `KNOWN`, and nowhere else do they.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.events import as_meant
from memoranda.markdown.source import decode
from memoranda.model.address import NotePath
from memoranda.model.note import ParsedNote

PATH: Final = NotePath("n.md")
REPOSITORY: Final = Path(__file__).parents[3]
GOLDEN: Final = REPOSITORY / "tests" / "vaults" / "golden"
SHARED: Final = Path(os.environ.get("MEMORANDA_SHARED", REPOSITORY.parent / "shared"))
SOAK: Final = bool(os.environ.get("MEMORANDA_SOAK"))
OTHER: Final = MarkdownIt("commonmark", {"maxNesting": 2000}).enable("table")

KNOWN: Final = {
    "footnotes": re.compile(r"^[ \t>]*\[\^[^\]\r\n]+\]:", re.MULTILINE),  # a block of its own to us
    "blanks": re.compile("[\x0b\x0c]"),  # these end the `#` of a heading to our parser
}
"""Notes that are not compared at all, by what they have."""

COMMENT: Final = "%%"
"""Hides facts and headings from us alone, and what begins behind one begins an item to us."""

NO_TEXT: Final = "<"
INLINE_ONLY: Final = re.compile(r"\[\[|\$|\[\^|~|<|\\")
"""A heading with one of these is compared by its place and level: wiki links, math and footnotes are
no CommonMark, and HTML has no text."""

_FACT: Final = re.compile(r"\[([^\W\d_]{2,})\][ \t]+[^\W_]")


@dataclass(frozen=True, slots=True)
class Seen:
    """What both say of a body; lines are those of the file."""

    headings: Sequence[tuple[int, int, str]]
    facts: Sequence[tuple[int, str]]


def ours(note: ParsedNote) -> Seen:
    data = note.content.encode()
    facts: list[tuple[int, str]] = []
    for one in note.observations:
        written = data[one.start - note.body_start : one.end - note.body_start].decode()
        if (match := _FACT.search(written)) and one.category == match[1]:
            facts.append((one.line, one.category))
    return Seen([(one.line, one.level, _plain(one.text)) for one in note.outline], facts)


def theirs(note: ParsedNote) -> tuple[Seen, list[range]]:
    """The same by markdown-it-py, and the lines of its code blocks."""
    headings: list[tuple[int, int, str]] = []
    facts: list[tuple[int, str]] = []
    code: list[range] = []
    tokens = OTHER.parse(as_meant(note.content))  # Logseq's outlines are no CommonMark
    for number, token in enumerate(tokens):
        if token.map is None:
            continue
        line = token.map[0] + note.body_line
        if token.type == "heading_open" and token.level == 0:
            headings.append((line, int(token.tag[1]), _plain(_text(tokens[number + 1]))))
        elif token.type == "list_item_open":
            facts += _fact(tokens, number, line)
        elif token.type in ("fence", "code_block"):
            code.append(range(line, token.map[1] + note.body_line))
    return Seen(headings, facts), code


def _fact(tokens: Sequence[Token], number: int, line: int) -> Iterator[tuple[int, str]]:
    """The category of an item that begins with text in brackets and goes on with a word."""
    if [one.type for one in tokens[number + 1 : number + 3]] != ["paragraph_open", "inline"]:
        return
    inline = tokens[number + 2]
    first = (inline.children or [inline])[0]
    match = _FACT.match(inline.content)
    if match and first.type == "text" and first.content.startswith("["):
        yield line, match[1]


def _text(inline: Token) -> str:
    """The text of a heading, without markup."""
    if INLINE_ONLY.search(inline.content):
        return NO_TEXT
    shown = {"softbreak": " ", "hardbreak": " "}
    return "".join(
        _text(one) if one.type == "image" else shown.get(one.type, one.content)
        for one in inline.children or []
    )


def _plain(text: str) -> str:
    return " ".join(text.replace("\x00", "\ufffd").split())


def compare(text: str) -> str:
    """Hold both against each other. What kept the note from being compared, "" if nothing did."""
    note = parse_note(text, PATH)
    for reason, pattern in KNOWN.items():
        if pattern.search(note.content):
            return reason
    mine, (other, code) = ours(note), theirs(note)
    if COMMENT in note.content:
        places = {one[:2] for one in other.headings}
        assert places.issuperset(one[:2] for one in mine.headings)
    else:
        assert [one[:2] for one in mine.headings] == [one[:2] for one in other.headings]
        for (line, _, here), (_, _, there) in zip(mine.headings, other.headings, strict=True):
            assert there in (here, NO_TEXT), line
        assert mine.facts == other.facts
    read = {one.line for one in note.observations} | {one.line for one in note.outline}
    read |= {one.line for one in note.links if one.start >= note.body_start}
    for lines in code:
        assert read.isdisjoint(lines), "something was read in code"
    return ""


@pytest.mark.parametrize("name", sorted(path.name for path in GOLDEN.glob("*.md")))
def test_both_see_the_same_in_a_golden_note(name: str) -> None:
    compare(decode((GOLDEN / name).read_bytes()).text)


def test_most_golden_notes_are_compared() -> None:
    notes = [decode(path.read_bytes()).text for path in GOLDEN.glob("*.md")]
    assert sum(compare(text) == "" for text in notes) >= 0.9 * len(notes)


BLOCKS: Final = st.sampled_from(
    ["- [one] a\n", "* [two] b\n", "+ [six] c\n", "1. [ten] d\n", "7) [nine] e\n", "  - [in] f\n", "    - [deep] g\n",
     "\t- [tab] h\n", "\t\t- [tabs] i\n", "> - [quote] j\n", "- - [twin] k\n", "-   [wide] l\n", "-\n  [late] m\n", "- \n",
     "# One\n", "## Two #\n", "  ### Three *x*\n", "    # code\n", "#no\n", "####### no\n", "#\n", "Four\n===\n", "Five\n---\n",
     "- # in a list\n", "> # in a quote\n", "text\n", "  more\n", "\n", "\n", "---\n", "***\n", "```\n", "~~~\n", "````md\n",
     "   ```\n", "``` a`b\n", "> ```\n", "- ```\n", "    code\n", "\tcode\n", "<div>\n", "</div>\n", "<!--\n", "-->\n", "<pre>\n",
     "</pre>\n", "[ref]: x.md\n\n", "- [ref] o\n", "| a | b |\n", "|---|---|\n", "- [x] p\n", "- [ ] q\n", "[[A]]\n", "- see [[B]]\n",
     "`open\n", "shut`\n", "\\\n", "- [esc\\] r\n", "- \\[esc] s\n", "- [&amp;] t\n", "é 知 \u2028\n", "\x00\n", "- [word]\n", "*a\n", "b*\n"]
)  # fmt: skip
"""A blank line follows a definition: what may interrupt it, the two see differently (ours as cmark)."""
MIXTURES: Final = st.builds(
    lambda lines, ending: "".join(lines).replace("\n", ending),
    st.lists(BLOCKS, max_size=14),
    st.sampled_from(["\n", "\n", "\r\n", "\r"]),
)


@settings(
    max_examples=10_000 if SOAK else 300,
    derandomize=not SOAK,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@pytest.mark.timeout(3600 if SOAK else 60)
@given(MIXTURES)
def test_both_see_the_same_in_any_mixture_of_blocks(text: str) -> None:
    compare(text)


VAULTS: Final = (
    "academicops-specs", "dendron-site", "foam-docs", "free-programming-books", "kepano-template", "logseq-docs",
    "obsidian-tasks", "oldwinter-garden", "powershell-docs", "silverbullet-docs",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("vault", VAULTS)
def test_both_see_the_same_in_a_real_vault(vault: str) -> None:
    root = SHARED / "vaults" / vault
    if not root.is_dir():
        pytest.skip("the shared vaults are missing")
    paths = [path for path in root.rglob("*") if path.suffix.lower() == ".md" and path.is_file()]
    compared = 0
    for path in paths:
        try:
            compared += compare(decode(path.read_bytes()).text) == ""
        except AssertionError as error:
            raise AssertionError(f"{path.relative_to(root)}: {error}") from error
    assert compared >= 0.98 * len(paths)
