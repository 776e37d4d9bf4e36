"""The resources as FastMCP serves them: the fixed ones, the templates, and the newest notes in the list.

A client that offers resources in a menu (`@` in a prompt) offers what the list has and nothing that only
a template has, so the list has notes. It is short, because a model may be shown all of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from fastmcp import FastMCP
from fastmcp.resources.base import Resource, ResourceContent, ResourceResult
from fastmcp.resources.template import ResourceTemplate
from mcp_types import Annotations
from pydantic import AnyUrl, PrivateAttr

from memoranda.mcp.note_resources import (
    NAMED_NOTE_URI,
    NOTE_DESCRIPTION,
    NOTE_TITLE,
    NOTE_URI,
    ListedNote,
    newest_notes,
)
from memoranda.mcp.refusal import answered, sendable
from memoranda.mcp.resources import (
    GUIDE_DESCRIPTION,
    GUIDE_TITLE,
    GUIDE_URI,
    JSON,
    MARKDOWN,
    NAMED_PROJECT_INFO_URI,
    PROJECT_INFO_DESCRIPTION,
    PROJECT_INFO_TITLE,
    PROJECT_INFO_URI,
    read_uri,
)
from memoranda.mcp.session import Session

_ANY = re.compile("memory://.*", re.IGNORECASE | re.DOTALL)
_OF_NO_OTHER = re.compile("(?!)")
_SCHEMA: dict[str, Any] = {"type": "string"}


def add_resources(server: FastMCP, session: Session) -> None:
    """Add the fixed resources and the templates."""
    for uri, name, title, description, mime_type in (
        (PROJECT_INFO_URI, "project_info", PROJECT_INFO_TITLE, PROJECT_INFO_DESCRIPTION, JSON),
        (GUIDE_URI, "ai_assistant_guide", GUIDE_TITLE, GUIDE_DESCRIPTION, MARKDOWN),
    ):
        server.add_resource(
            _served(
                session,
                uri=AnyUrl(uri),
                name=name,
                title=title,
                description=description,
                mime_type=mime_type,
            )
        )
    # All are read by one function; the first answers for every URI, the others are only listed.
    for template, name, title, description, mime_type, pattern in (
        (NOTE_URI, "note", NOTE_TITLE, NOTE_DESCRIPTION, MARKDOWN, _ANY),
        (
            NAMED_NOTE_URI,
            "named_note",
            f"{NOTE_TITLE} of a project",
            NOTE_DESCRIPTION,
            MARKDOWN,
            _OF_NO_OTHER,
        ),
        (
            NAMED_PROJECT_INFO_URI,
            "named_project_info",
            PROJECT_INFO_TITLE,
            PROJECT_INFO_DESCRIPTION,
            JSON,
            _OF_NO_OTHER,
        ),
    ):
        server.add_template(
            _template(
                session,
                pattern,
                uri_template=template,
                name=name,
                title=title,
                description=description,
                mime_type=mime_type,
            )
        )


async def with_notes(session: Session, listed: Sequence[Resource]) -> Sequence[Resource]:
    """The listed resources, and the newest notes after them."""
    return [*listed, *(_note(session, note) for note in await newest_notes(session))]


def _note(session: Session, note: ListedNote) -> Resource:
    return _served(
        session,
        uri=AnyUrl(sendable(note.uri)),
        name=sendable(note.permalink),
        title=sendable(note.title),
        description=f"{sendable(note.note_type)}, changed {note.updated_at:%Y-%m-%d}",
        mime_type=MARKDOWN,
        annotations=Annotations(last_modified=note.updated_at.isoformat(timespec="seconds")),
    )


def _served(session: Session, **told: Any) -> Resource:
    resource = _Served(**told)
    resource.bind(session)
    return resource


def _template(session: Session, pattern: re.Pattern[str], **told: Any) -> ResourceTemplate:
    names = re.findall(r"\{(\w+)\*?\}", told["uri_template"])
    template = _ServedTemplate(
        parameters={"type": "object", "properties": dict.fromkeys(names, _SCHEMA)},
        security=None,  # what leaves a project is refused where files are, with the reason
        **told,
    )
    template.bind(session, pattern)
    return template


async def _read(session: Session, uri: str) -> ResourceResult:
    read = await answered(session, "resources/read", lambda: read_uri(session, uri))
    return ResourceResult([ResourceContent(sendable(read.text), mime_type=read.mime_type)])


class _Served(Resource):
    """A resource with a URI of its own."""

    _session: Session = PrivateAttr()

    def bind(self, session: Session) -> None:
        self._session = session

    def get_meta(self) -> dict[str, Any]:
        return {}  # FastMCP's own are of no use to a client

    async def read(self) -> ResourceResult:
        return await _read(self._session, str(self.uri))


class _ServedTemplate(ResourceTemplate):
    """A kind of resources. What is read is the URI as the client sent it."""

    _session: Session = PrivateAttr()
    _uris: re.Pattern[str] = PrivateAttr()

    def bind(self, session: Session, uris: re.Pattern[str]) -> None:
        self._session, self._uris = session, uris

    def get_meta(self) -> dict[str, Any]:
        return {}

    def matches(self, uri: str) -> dict[str, Any] | None:
        return {"uri": uri} if self._uris.fullmatch(uri) else None

    async def _read(self, uri: str, params: dict[str, Any]) -> ResourceResult:
        return await _read(self._session, uri)
