"""Tools on what other calls changed: see it, take it back."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memoranda.errors import InvalidArgument
from memoranda.files.local_names import local_name
from memoranda.markdown.source import decode
from memoranda.mcp.client import author
from memoranda.mcp.declarations import NOTE_ALIASES, PROJECT, Answer, Declaration
from memoranda.mcp.parameters import Kind, Param
from memoranda.mcp.session import Session
from memoranda.mcp.standing import looking_up, standing
from memoranda.model.toolset import Toolset
from memoranda.render.history import (
    page_data,
    page_text,
    shown_data,
    shown_text,
    undo_data,
    undo_text,
    version_data,
    version_text,
)
from memoranda.services.timeframe import parse_timeframe

if TYPE_CHECKING:
    from memoranda.workspace import Workspace

_CHANGE = Param(
    "change_id",
    Kind.INTEGER,
    description="Number of a change, as note_history lists it.",
    minimum=1,
    maximum=2**53,
    aliases=("id", "change", "number"),
)
_CLIENT = Param("client", description="By this client, such as claude-code.")
_SINCE = Param(
    "since", description="Since then, such as '2 hours' or an ISO date.", aliases=("timeframe",)
)
_OF_LISTS = ("client", "since", "before_id")


async def note_history(session: Session, values: dict[str, Any]) -> Answer:
    """Changes, newest first, or one of them."""
    change_id, path = values["change_id"], values["path"]
    if change_id is None:
        if values["version"] is not None:
            raise InvalidArgument(
                "change_id", "change_id is missing", hint="Say which change version belongs to."
            )
        return await _list(session, values)
    if needless := [name for name in ("path", *_OF_LISTS) if values[name] is not None]:
        raise InvalidArgument(
            needless[0],
            f"{needless[0]} has no meaning together with change_id",
            hint="Give change_id alone, or leave it out to list changes.",
        )
    workspace = await session.workspace(values["project"], path or "")
    return await _one(workspace, change_id, values["version"], values["start_line"])


async def _list(session: Session, values: dict[str, Any]) -> Answer:
    path = values["path"]
    workspace = await session.fresh_workspace(values["project"], path or "")
    since = await _moment(values["since"], session.now())
    path = local_name(path, workspace.project.path) if path else None
    with looking_up(workspace):
        page = await workspace.note_history.page(
            path,
            client=values["client"],
            since=since,
            limit=values["page_size"],
            before_id=values["before_id"],
        )
    now = standing(workspace)
    return Answer(lambda: now.below(page_text(page)), lambda: page_data(page) | now.data)


async def _one(
    workspace: Workspace, change_id: int, version: str | None, start_line: int
) -> Answer:
    shown = await workspace.note_history.show(change_id)
    if version is None:
        return Answer(lambda: shown_text(shown, start_line), lambda: shown_data(shown, start_line))
    data = await workspace.note_history.version(change_id, is_before=version == "before")
    text = decode(data).text
    return Answer(
        lambda: version_text(shown, version, text, start_line),
        lambda: version_data(shown, version, text, start_line),
    )


async def undo_change(session: Session, values: dict[str, Any]) -> Answer:
    """Take back one change with all of its call, or all changes of a client since a time."""
    if values["change_id"] is None and (values["client"] is None or values["since"] is None):
        raise InvalidArgument(
            "change_id",
            "it is not said what to take back",
            hint="Give change_id (note_history lists them), or client and since together.",
        )
    workspace = await session.fresh_workspace(values["project"])
    result = await workspace.undo.undo(
        change_id=values["change_id"],
        client=values["client"],
        since=await _moment(values["since"], session.now()),
        dry_run=values["dry_run"],
        by=author(),
    )
    now = standing(workspace)
    return Answer(lambda: now.below(undo_text(result)), lambda: undo_data(result) | now.data)


async def _moment(text: str | None, now: datetime) -> datetime | None:
    if text is None or not text.strip():
        return None
    return await asyncio.to_thread(parse_timeframe, text, now, parameter="since")


DECLARATIONS = (
    Declaration(
        name="note_history",
        title="Note history",
        description=(
            "List what tools changed, newest first: when, by which client, which note. With "
            "change_id: the diff of that change, or with version the note before or after it."
        ),
        params=(
            Param(
                "path", description="Only this note or folder; may be gone.", aliases=NOTE_ALIASES
            ),
            _CHANGE,
            Param(
                "version",
                description="With change_id: the note before or after it.",
                choices=("before", "after"),
            ),
            _CLIENT,
            _SINCE,
            Param(
                "before_id",
                Kind.INTEGER,
                description="Only changes older than this one.",
                minimum=1,
                maximum=2**53,
            ),
            Param(
                "page_size", Kind.INTEGER, default=20, minimum=1, maximum=200, aliases=("limit",)
            ),
            Param("start_line", Kind.INTEGER, default=1, minimum=1, maximum=10**9),
            PROJECT,
        ),
        run=note_history,
        toolset=Toolset.NOTES,
        read_only=True,
        idempotent=True,
    ),
    Declaration(
        name="undo_change",
        title="Undo change",
        description=(
            "Take back a change of note_history with all else that its call did, or all changes of "
            "a client since a time; an undo can be undone. Later edits are kept, and where they "
            "overlap it is refused."
        ),
        params=(
            _CHANGE,
            _CLIENT,
            _SINCE,
            Param(
                "dry_run",
                Kind.BOOLEAN,
                description="Only say what would be taken back.",
                default=False,
            ),
            PROJECT,
        ),
        run=undo_change,
        toolset=Toolset.NOTES,
        destructive=True,
    ),
)
