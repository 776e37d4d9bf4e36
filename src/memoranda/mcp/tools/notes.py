"""Tools on one note: write, read, edit, delete."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from memoranda.errors import InvalidArgument
from memoranda.mcp.client import author
from memoranda.mcp.declarations import (
    FOLDER_ALIASES,
    NOTE_ALIASES,
    PROJECT,
    Answer,
    Declaration,
)
from memoranda.mcp.parameters import TEXT_CHARS, Kind, Param
from memoranda.mcp.session import Session
from memoranda.mcp.standing import Standing, looking_up, standing
from memoranda.model.edit import (
    Append,
    Edit,
    EditSection,
    FindReplace,
    Place,
    Prepend,
    Replace,
    SetMetadata,
)
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
    "expected_checksum", description="Refuse if the file no longer has this checksum."
)
_DEFAULT_TYPE = "note"
_SECTION = Param("section", description="Heading, heading path (A > B) or slug.")
_PLACES = {
    "replace_section": Place.INSTEAD,
    "insert_before_section": Place.BEFORE,
    "insert_after_section": Place.AFTER,
}
_OF_TEXT = ("operation", "find_text", "section")


async def write_note(session: Session, values: dict[str, Any]) -> Answer:
    """Create a note, or replace one when `overwrite` is set."""
    workspace = await session.workspace(values.pop("project"))
    project = workspace.project
    if values["note_type"] == _DEFAULT_TYPE:  # clients send defaults too: no word on the type
        values["note_type"] = None
    result = await workspace.notes.write(**values, by=author())
    return Answer(lambda: write_text(result), lambda: write_data(result, project))


async def read_note(session: Session, values: dict[str, Any]) -> Answer:
    """Read a note's file, with what the index knows around it."""
    path, limit = values["path"], values["max_chars"]
    workspace = await session.fresh_workspace(values["project"], path)
    project = workspace.project
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
    edits = _edits(values)
    workspace = await session.fresh_workspace(values["project"], path)
    project = workspace.project
    dry_run = values["dry_run"]
    with looking_up(workspace):
        result = await workspace.notes.edit(
            path,
            *edits,
            expected_checksum=values["expected_checksum"],
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
        result = await workspace.notes.delete(values["path"], by=author())
    return Answer(lambda: delete_text(result), lambda: delete_data(result, project))


def _edits(values: dict[str, Any]) -> list[Edit]:
    """The edit of the text, then that of the header."""
    metadata = values["metadata"]
    edits: list[Edit] = []
    if values["content_updates"] is not None:
        edits.append(_edit_of_text(values, values["content_updates"]))
    elif not metadata or any(values[name] is not None for name in _OF_TEXT):
        raise InvalidArgument(
            "content_updates",
            "content_updates is missing",
            hint="Give the new text, or metadata alone to set frontmatter keys.",
        )
    if metadata:
        edits.append(SetMetadata(metadata))
    return edits


def _edit_of_text(values: dict[str, Any], text: str) -> Edit:
    operation, find, section = values["operation"], values["find_text"], values["section"]
    if operation is None:
        operation = "append" if find is None else "find_replace"
    place = _PLACES.get(operation)
    if find is not None and operation != "find_replace":
        raise InvalidArgument(
            "find_text",
            f"find_text has no meaning for operation {operation}",
            hint="Use operation find_replace, or leave find_text out.",
        )
    if section is not None and place is None:
        raise InvalidArgument(
            "section",
            f"section has no meaning for operation {operation}",
            hint=f"Use one of {', '.join(_PLACES)}, or leave section out.",
        )
    if place is not None:
        if section is None:
            raise InvalidArgument(
                "section", "section is missing", hint="Give a heading, heading path or slug."
            )
        return EditSection(section, text, place)
    match operation:
        case "append":
            return Append(text)
        case "prepend":
            return Prepend(text)
        case "replace":
            return Replace(text)
        case _:
            if not find:
                raise InvalidArgument(
                    "find_text",
                    "find_text is missing",
                    hint="Give the exact text that content_updates replaces.",
                )
            return FindReplace(find, text, values["expected_replacements"])


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
            Param("note_type", default=_DEFAULT_TYPE, description="Frontmatter type."),
            Param(
                "metadata",
                Kind.MAPPING,
                'Further frontmatter fields, such as {"status": "done"}.',
                default={},
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
            _PATH,
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
                aliases=("content", "new_content", "replacement"),
                most_chars=TEXT_CHARS,
                spared=True,
            ),
            Param(
                "operation",
                description="Left out: append, or find_replace with find_text.",
                choices=("append", "prepend", "find_replace", "replace", *_PLACES),
            ),
            _SECTION,
            Param("find_text", description="Exact text to find.", most_chars=TEXT_CHARS),
            Param(
                "expected_replacements",
                Kind.INTEGER,
                description="How often find_text must occur.",
                default=1,
                minimum=1,
                maximum=100_000,
            ),
            Param("metadata", Kind.MAPPING, "Frontmatter keys to set; null deletes.", default={}),
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
