"""The hard cases of kind mcp that need no process of their own: what clients send, and what they get.

See README.md in this folder; `test_mcp_live.py` has the others.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.cases.conftest import Vault

from memoranda.mcp.table import TOOLS

pytestmark = pytest.mark.slow

MOST_BYTES = 50_000


def properties(tool: str) -> dict[str, Any]:
    """The advertised schemas of a tool's parameters."""
    (found,) = (each for each in TOOLS if each.name == tool)
    schemas: dict[str, Any] = found.input_schema["properties"]
    return schemas


async def test_mcp_list_arguments(vault: Vault) -> None:
    """A list comes in many forms, and no form gets into a file or becomes a filter that was not meant.

    Seen in: basicmachines-co/basic-memory#656, basicmachines-co/basic-memory#910,
    s-morgan-jeffries/apple-mail-fast-mcp#311, PrefectHQ/fastmcp#4784.
    """
    vault.write("n.md", "---\ntags: [alpha, beta]\ntype: concept\n---\nneedle\n")
    vault.write("other.md", "needle\n")
    await vault.sync()
    for tags in (
        ["alpha"],
        "alpha",
        "alpha,beta",
        "alpha, beta",
        '["alpha","beta"]',
        "#alpha",
        ["alpha,beta"],
    ):
        assert await vault.search("needle", tags=tags) == ["n.md"], tags
    for tags in ("[]", "", None, []):
        assert await vault.search("needle", tags=tags) == ["n.md", "other.md"], tags
    assert await vault.search("needle", note_types="concept") == ["n.md"]
    await vault.tool(
        "write_note",
        ("w.md",),
        title="W",
        content="c",
        tags='["x","y"]',
        metadata='{"k": "v"}',
    )
    assert vault.tags("w.md") == ["x", "y"]
    assert vault.metadata("w.md")["k"] == "v"
    assert properties("search_notes")["tags"]["type"] == "array"
    assert properties("write_note")["tags"]["type"] == "array"
    assert properties("write_note")["metadata"]["type"] == "object"


async def test_mcp_scalar_arguments(vault: Vault) -> None:
    """Numbers and truth values come as text, and "false" never overwrites a note.

    Seen in: PrefectHQ/fastmcp#1946, jgravelle/jcodemunch-mcp#135, jjang-ai/vmlx#48.
    """
    vault.write("t.md", "---\ntitle: T\n---\nold\n")
    for number in range(12):
        vault.write(f"x{number}.md", f"x {number}\n")
    await vault.sync()
    for page in ("2", 2.0, 2):
        assert (await vault.tool("search_notes", query="x", page=page))["page"] == 2
    assert (await vault.tool("search_notes", query="x", page=None))["page"] == 1
    for page in ("two", True):
        error = await vault.refused("search_notes", query="x", page=page)
        assert (error["code"], error["parameter"]) == ("INVALID_ARGUMENT", "page")
    for overwrite in ("false", "False", "0", "no", 0, None, False):
        error = await vault.refused("write_note", title="T", content="new", overwrite=overwrite)
        assert error["code"] == "NOTE_EXISTS", overwrite
    error = await vault.refused("write_note", title="T", content="new", overwrite="maybe")
    assert error["parameter"] == "overwrite"
    await vault.tool("write_note", ("t.md",), title="T", content="new", overwrite="true")
    assert vault.body("t.md").strip() == "new"
    written = await vault.tool("write_note", ("2024.md",), title=2024, content=12)
    assert written["title"] == "2024"
    assert vault.body("2024.md").strip() == "12"


async def test_mcp_json_looking_content(vault: Vault) -> None:
    """A text that looks like JSON is a text, byte for byte.

    Seen in: PrefectHQ/fastmcp#3931, PrefectHQ/fastmcp#341.
    """
    for title, content in (("J", '{"a": 1, "b": [1, 2]}'), ("[1]", '["x"]')):
        path, written = await vault.make(".", "write_note", title=title, content=content)
        assert written["title"] == title
        assert vault.bytes(path).endswith(f"---\n\n{content}".encode())
        assert (await vault.read(title))["content"].endswith(content)
    vault.write("numbers.md", "of 123 and null\n")
    await vault.sync()
    for query in ("123", "null", 123):
        assert await vault.search(query) == ["numbers.md"], query


async def test_mcp_unicode(vault: Vault) -> None:
    """All scripts come back as they were; what is no character is refused, and nothing is half written.

    Half a surrogate pair comes over the wire, see `test_mcp_live.py`.

    Seen in: oven-sh/bun#32841, viggy28/recall#29, frappe/frappe#41128.
    """
    title, content = "東京 🗼 é", "מה שלומך \u202eabc 👩\u200d👩\u200d👧 𝒳"
    path, _ = await vault.make(".", "write_note", title=title, content=content, tags=["日本"])
    data = await vault.read(title)
    assert (data["title"], data["tags"]) == (title, ["日本"])
    assert data["content"].endswith(content)
    assert vault.bytes(path).endswith(content.encode())
    for arguments in ({"title": "a\0b", "content": "x"}, {"title": "x", "content": "a\0b"}):
        error = await vault.refused("write_note", **arguments)
        assert error["code"] == "INVALID_ARGUMENT"
    assert vault.paths() == {".", path}


async def test_mcp_big_results(vault: Vault) -> None:
    """Every answer is bounded, says that it was cut, and how to get the rest.

    Better, taken: read_note takes a range of lines.

    Seen in: garrytan/gbrain#953, eric-tramel/zoty#30, mkreyman/mcp-memory-keeper#20,
    oraios/serena#516.
    """
    long = "common words here " * 1500
    vault.write_all({f"n{number:03}.md": f"# N {number}\n{long}" for number in range(120)})
    vault.write("huge.md", "- [fact] line of a huge note #t\n" * 5000)
    await vault.sync()

    async def bounded(tool: str, **arguments: Any) -> dict[str, Any]:
        data = await vault.tool(tool, **arguments)
        assert len(json.dumps(data, ensure_ascii=False).encode()) < MOST_BYTES, tool
        return data

    found = await bounded("search_notes", query="common")
    assert found["next_page"] == 2
    for hit in found["results"]:
        assert sum(len(passage["text"]) for passage in hit["passages"]) < len(long) / 4
    read = await bounded("read_note", path="huge.md")
    assert read["next_line"] > 1
    assert read["observations_total"] > len(read["observations"])
    on = await bounded("read_note", path="huge.md", start_line=read["next_line"])
    assert on["start_line"] == read["next_line"]
    (context,) = (await bounded("build_context", path="memory://huge"))["contexts"]
    assert context["observations_total"] > len(context["observations"])
    for tool, arguments in (
        ("list_directory", {}),
        ("recent_activity", {"timeframe": "10 years"}),
    ):
        assert (await bounded(tool, **arguments))["next_page"] == 2


SECTIONS = (
    "# Status\n\n## Open #urgent\n\n- a\n\n```\n## Open\n```\n\n### Open\n\nsub\n\n"
    "## Done\n\n- b\n\n## Done\n\n- c\n"
)


async def test_mcp_edit_sections(vault: Vault) -> None:
    """A section that is not found, or found twice, is an error that says what there is.

    Better, taken: "Open" that names a section within another one and begins a third is refused with
    the headings that there are.

    Seen in: basicmachines-co/basic-memory#1531, basicmachines-co/basic-memory#1012,
    basicmachines-co/basic-memory#390.
    """
    vault.write("n.md", SECTIONS)
    await vault.sync()

    async def refused(section: str) -> dict[str, Any]:
        return await vault.refused(
            "edit_note",
            path="n",
            operation="replace_section",
            section=section,
            content_updates="- y\n",
        )

    twice = await refused("## Done")
    assert (twice["code"], len(twice["candidates"])) == ("AMBIGUOUS_NAME", 2)
    missing = await refused("Missing")
    assert missing["code"] == "SECTION_NOT_FOUND"
    assert missing["outline"] == [
        "Status",
        "Status > Open #urgent",
        "Status > Open #urgent > Open",
        *twice["candidates"],
    ]
    assert vault.bytes("n.md").decode() == SECTIONS
    await vault.tool(
        "edit_note",
        ("n.md",),
        path="n",
        operation="replace_section",
        section="## Open #urgent",
        content_updates="## Open #urgent\n\n- z\n",
    )
    assert vault.bytes("n.md").decode() == (
        "# Status\n\n## Open #urgent\n\n- z\n\n## Done\n\n- b\n\n## Done\n\n- c\n"
    )
