"""What the resources read; `served_resources` serves it.

`memory://project_info` is the default project, `memory://@{project}/project_info` a named one
(spec 6.3), `memory://ai_assistant_guide` the guide, and every other memory:// URI a note (spec 7). A note
called project_info is read by its permalink, `memory://project-info`, or with `.md`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

from memoranda.errors import NoteNotFound, ProjectNotFound
from memoranda.mcp.guide import GUIDE
from memoranda.mcp.looking import look_at
from memoranda.mcp.note_resources import note_text
from memoranda.mcp.session import Session
from memoranda.render.bounds import compact
from memoranda.render.projects import info_data

PROJECT_INFO_URI = "memory://project_info"
NAMED_PROJECT_INFO_URI = "memory://@{project}/project_info"
PROJECT_INFO_TITLE = "Project info"
PROJECT_INFO_DESCRIPTION = (
    "Folder, counts, sync status, who keeps it up to date, how search by meaning stands, and files "
    "that are not indexed, as JSON."
)
GUIDE_URI = "memory://ai_assistant_guide"
GUIDE_TITLE = "AI assistant guide"
GUIDE_DESCRIPTION = "How an assistant works with Memoranda: searching, writing, undoing."

MARKDOWN = "text/markdown"
JSON = "application/json"

_MOST_EVENTS = 10
_PROJECT_INFO = re.compile(r"memory:///*project_info/*", re.IGNORECASE)
_NAMED_PROJECT_INFO = re.compile(r"memory://(?:@|%40)?([^/]+)/project_info/*", re.IGNORECASE)
_GUIDE = re.compile(r"memory:///*ai_assistant_guide/*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ResourceText:
    """What a URI reads."""

    text: str
    mime_type: str


async def read_uri(session: Session, uri: str) -> ResourceText:
    """What a memory:// URI names, however a client has written it.

    Raises:
        MemorandaError: it names nothing, or that cannot be read.
    """
    if _PROJECT_INFO.fullmatch(uri):
        return ResourceText(await project_info(session), JSON)
    if _GUIDE.fullmatch(uri):
        return ResourceText(GUIDE, MARKDOWN)
    if named := _NAMED_PROJECT_INFO.fullmatch(uri):
        try:
            return ResourceText(await project_info(session, unquote(named[1])), JSON)
        except ProjectNotFound as error:  # it may be a note in a folder, as long as it has no `@`
            return ResourceText(await _note_or(error, session, uri), MARKDOWN)
    return ResourceText(await note_text(session, uri), MARKDOWN)


async def _note_or(error: ProjectNotFound, session: Session, uri: str) -> str:
    try:
        return await note_text(session, uri)
    except NoteNotFound:
        raise error from None


async def project_info(session: Session, project: str | None = None) -> str:
    """One JSON document about a project.

    Raises:
        MemorandaError: no such project, or the index cannot be opened.
    """
    seen = await look_at(session, project)
    data = info_data(seen.info, seen.onlooker, skipped=seen.skipped, most_events=_MOST_EVENTS)
    return compact(data | ({"folder_error": seen.trouble} if seen.trouble else {}))
