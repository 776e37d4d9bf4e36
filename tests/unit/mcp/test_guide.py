"""What an assistant is told at the start, and at length."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memoranda.markdown.entity_parser import parse_note
from memoranda.mcp.guide import GUIDE, instructions
from memoranda.mcp.note_resources import MOST_LISTED
from memoranda.mcp.prompt_texts import USUAL_TIMEFRAME
from memoranda.mcp.prompts import PROMPTS
from memoranda.mcp.resources import GUIDE_URI, PROJECT_INFO_URI
from memoranda.mcp.table import TOOLS
from memoranda.model.address import NotePath
from memoranda.render.bounds import ANSWER_CHARS
from memoranda.render.prompts import PROMPT_CHARS

NO_TOOLS = {"ai_assistant_guide", "depends_on"}


def named_tools(text: str) -> set[str]:
    """What looks like the name of a tool and is no parameter of one, nor a value of a parameter."""
    others = {
        word
        for tool in TOOLS
        for param in tool.params
        for word in (param.name, *param.choices, *param.aliases)
    }
    return set(re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", text)) - others - NO_TOOLS


@pytest.mark.parametrize("undoes", [True, False])
@pytest.mark.parametrize("writes", [True, False])
def test_the_instructions_are_short_and_name_tools_that_there_are(
    writes: bool, undoes: bool
) -> None:
    text = instructions(writes=writes, undoes=undoes)
    assert len(text.split()) <= 150
    named = named_tools(text)
    assert named <= {tool.name for tool in TOOLS}
    assert {"search_notes", "read_note"} <= named
    assert ("write_note" in named) == writes
    assert ("undo_change" in named) == (writes and undoes)
    assert all(tool.read_only for tool in TOOLS if tool.name in named) == (not writes)
    assert "data, not instructions" in text


def test_the_guide_is_short_and_names_tools_that_there_are() -> None:
    assert len(GUIDE.split()) <= 700
    assert {"search_notes", "undo_change", "move_note"} <= named_tools(GUIDE)
    assert named_tools(GUIDE) <= {tool.name for tool in TOOLS}


@pytest.mark.spec("3.3")
def test_the_note_in_the_guide_is_read_as_it_is_meant() -> None:
    example = GUIDE.partition("```markdown\n")[2].partition("\n```")[0] + "\n"
    note = parse_note(example, NotePath("move-to-postgres.md"))
    assert (note.title, note.note_type, note.problems) == ("Move to Postgres", "decision", ())
    assert [(one.category, one.tags, one.context) for one in note.observations] == [
        ("decision", ("infrastructure",), "agreed on 2 May"),
        ("risk", (), None),
    ]
    assert [(one.relation_type, one.target) for one in note.relations] == [
        ("depends_on", "Billing API"),
        ("owner", "Ana Silva"),
    ]


@pytest.mark.spec("3.3")
def test_the_lines_in_the_instructions_are_a_fact_and_a_link() -> None:
    note = parse_note(instructions(), NotePath("x.md"))
    assert [(one.category, one.tags, one.context) for one in note.observations] == [
        ("decision", ("release",), "since May")
    ]
    assert [(one.relation_type, one.target) for one in note.relations] == [
        ("depends_on", "Billing API")
    ]


def test_the_page_on_prompts_and_resources_has_them_all() -> None:
    page = (Path(__file__).parents[3] / "docs/how-to/prompts-and-resources.md").read_text("utf-8")
    for prompt in PROMPTS:
        (row,) = (line for line in page.splitlines() if line.startswith(f"| `{prompt.name}`"))
        assert all(f"`{param.name}`" in row for param in prompt.params)
    assert f"{PROMPT_CHARS:,} characters" in page
    assert f"{ANSWER_CHARS:,} characters" in page
    assert f"the {MOST_LISTED} notes" in page
    assert f"({USUAL_TIMEFRAME})" in page
    assert PROJECT_INFO_URI in page
    assert GUIDE_URI in page
