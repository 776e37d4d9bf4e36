"""Tools on one note: write, read, edit, delete."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from memoranda.files.local_names import local_name
from memoranda.mcp.client import author
from memoranda.mcp.declarations import (
    FOLDER_ALIASES,
    NOTE_ALIASES,
    PROJECT,
    READ_ALIASES,
    Answer,
    Declaration,
)
from memoranda.mcp.edit_arguments import PLACES, edits_of, expected_of
from memoranda.mcp.parameters import TEXT_CHARS, Kind, Param
from memoranda.mcp.session import Session
from memoranda.mcp.standing import Standing, looking_up, standing
from memoranda.render.bounds import ANSWER_CHARS
from memoranda.render.notes import (
    delete_data,
    delete_text,
    view_data,
    view_text,
    write_data,
    write_text,
)

_PATH = Param(
    "path",
    description="Permalink such as research/plan, file path, title or memory:// address.",
    required=True,
    aliases=NOTE_ALIASES,
)
_EXPECTED = Param(
    "expected_checksum",
    description="Refuse if the file no longer has this checksum.",
    keeps_empty=True,
)
_DEFAULT_TYPE = "note"
_SECTION = Param(
    "section", description="Heading, heading path (A > B) or slug.", aliases=("heading",)
)


async def write_note(session: Session, values: dict[str, Any]) -> Answer:
    """Create a note, or replace one when `overwrite` is set."""
    workspace = await session.workspace(values.pop("project"))
    project = workspace.project
    values["directory"] = local_name(values["directory"], project.path, parameter="directory")
    values["expected_checksum"] = expected_of(values, replaces=values["overwrite"])
    if values["note_type"] == _DEFAULT_TYPE:  # clients send defaults too: no word on the type
        values["note_type"] = None
    result = await workspace.notes.write(**values, by=author())
    return Answer(lambda: write_text(result), lambda: write_data(result, project))


async def read_note(session: Session, values: dict[str, Any]) -> Answer:
    """Read a note's file, with what the index knows around it."""
    path, limit = values["path"], values["max_chars"]
    workspace = await session.fresh_workspace(values["project"], path)
    project = workspace.project
    path = local_name(path, project.path)
    with looking_up(workspace):
        view = await workspace.notes.read(
            path,
            section=values["section"],
            start_line=values["start_line"],
            end_line=values["end_line"],
            max_chars=limit,
        )
    now = standing(workspace)
    whole = max(limit, ANSWER_CHARS)
    line_cut = view.start_line == view.end_line and len(view.text) >= limit
    return Answer(
        lambda: _blocks(view_text(view, whole, line_cut=line_cut), now),
        lambda: view_data(view, project, whole, line_cut=line_cut) | now.data,
    )


async def edit_note(session: Session, values: dict[str, Any]) -> Answer:
    """Change part of a note; every other byte stays."""
    path = values["path"]
    edits = edits_of(values)
    expected = expected_of(values, replaces=True)
    workspace = await session.fresh_workspace(values["project"], path)
    project = workspace.project
    path = local_name(path, project.path)
    dry_run = values["dry_run"]
    with looking_up(workspace):
        result = await workspace.notes.edit(
            path,
            *edits,
            expected_checksum=expected,
            dry_run=dry_run,
            by=author(),
        )
    return Answer(
        lambda: write_text(result, dry_run=dry_run),
        lambda: write_data(result, project) | ({"dry_run": True} if dry_run else {}),
    )


async def delete_note(session: Session, values: dict[str, Any]) -> Answer:
    """Delete one note by its exact name."""
    workspace = await session.fresh_workspace(values["project"], values["path"])
    project = workspace.project
    with looking_up(workspace):
        path = local_name(values["path"], project.path)
        result = await workspace.notes.delete(path, by=author())
    return Answer(lambda: delete_text(result), lambda: delete_data(result, project))


def _blocks(texts: tuple[str, str], now: Standing) -> tuple[str, ...]:
    text, about = texts
    return (text, now.below(about))


DECLARATIONS = (
    Declaration(
        name="write_note",
        title="Write note",
        description=(
            "Create a Markdown note; one that is there is refused unless overwrite is true (change it "
            "with edit_note). List items '- [category] text #tag' become facts, and "
            "'- relation_type [[Title]]' or [[Title]] in prose links of the knowledge graph."
        ),
        params=(
            Param("title", description="Becomes the file name.", required=True),
            Param(
                "content",
                description="Markdown body.",
                required=True,
                aliases=("body", "text"),
                most_chars=TEXT_CHARS,
            ),
            Param(
                "directory",
                description="Folder inside the project, such as research/ai.",
                default="",
                aliases=FOLDER_ALIASES,
            ),
            PROJECT,
            Param("tags", Kind.TEXTS, 'Such as ["ai", "draft"].', default=()),
            Param(
                "note_type",
                default=_DEFAULT_TYPE,
                description="Frontmatter type.",
                aliases=("type",),
            ),
            Param(
                "metadata",
                Kind.MAPPING,
                'Further frontmatter fields, such as {"status": "done"}.',
                default={},
                aliases=("frontmatter", "properties"),
            ),
            Param("overwrite", Kind.BOOLEAN, "Replace a note that is there.", default=False),
            _EXPECTED,
        ),
        run=write_note,
        destructive=True,
    ),
    Declaration(
        name="read_note",
        title="Read note",
        description=(
            "Read a note, or one section: its text as in the file, then links and backlinks. "
            "A long note is cut; go on with start_line as the answer says."
        ),
        params=(
            replace(_PATH, aliases=READ_ALIASES),
            PROJECT,
            _SECTION,
            Param("start_line", Kind.INTEGER, minimum=1, maximum=10**9),
            Param("end_line", Kind.INTEGER, minimum=1, maximum=10**9),
            Param("max_chars", Kind.INTEGER, default=ANSWER_CHARS, minimum=200, maximum=1_000_000),
        ),
        run=read_note,
        read_only=True,
        idempotent=True,
    ),
    Declaration(
        name="edit_note",
        title="Edit note",
        description=(
            "Change part of a note; everything else stays byte for byte, and the answer has the diff. "
            "append (default) adds at the end, prepend after the frontmatter, find_replace swaps "
            "find_text for content_updates, replace the whole body, replace_section what stands "
            "under a heading, subsections too; metadata sets frontmatter keys, alone or with the rest."
        ),
        params=(
            _PATH,
            Param(
                "content_updates",
                description='The new text; "" if only metadata changes.',
                required=True,
                aliases=(
                    *("content", "new_content", "replacement"),
                    *("new_string", "new_str", "new_text"),
                ),
                most_chars=TEXT_CHARS,
                spared=True,
            ),
            Param(
                "operation",
                description="Left out: append, or find_replace with find_text.",
                choices=("append", "prepend", "find_replace", "replace", *PLACES),
            ),
            _SECTION,
            Param(
                "find_text",
                description="Exact text to find.",
                aliases=("old_string", "old_str", "old_text"),
                most_chars=TEXT_CHARS,
                is_never_guessed=True,
                keeps_empty=True,
            ),
            Param(
                "expected_replacements",
                Kind.INTEGER,
                description="How often find_text must occur.",
                default=1,
                minimum=1,
                maximum=100_000,
            ),
            Param(
                "metadata",
                Kind.MAPPING,
                "Frontmatter keys to set; null deletes.",
                default={},
                aliases=("frontmatter", "properties"),
            ),
            _EXPECTED,
            Param(
                "dry_run",
                Kind.BOOLEAN,
                description="Only say what the edit would do.",
                default=False,
            ),
            PROJECT,
        ),
        run=edit_note,
        destructive=True,
    ),
    Declaration(
        name="delete_note",
        title="Delete note",
        description="Delete one note's file. The name must be exact.",
        params=(replace(_PATH, description="Permalink, file path or memory:// address."), PROJECT),
        run=delete_note,
        destructive=True,
    ),
)
