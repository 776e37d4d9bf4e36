"""Notes as resources: what a URI names, the note's text, and the notes that a client lists.

A URI reaches us as a person typed it, as a tool answered it, or as a library for URLs made it anew: with
percent signs, and without an `@` in front of the project. So it may mean several names; the one that is
exactly a note's permalink or path wins. Source: spec 7.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import unquote

from memoranda.errors import (
    AmbiguousName,
    InvalidUri,
    MemorandaError,
    NoteNotFound,
    ProjectError,
    SectionNotFound,
)
from memoranda.mcp.session import Session
from memoranda.mcp.standing import looking_up
from memoranda.model.address import (
    ById,
    lookup_key,
    name_and_section,
    parse_address,
    permalink_key,
)
from memoranda.render.bounds import ANSWER_CHARS, one_line
from memoranda.render.notes import TITLE_CHARS, uri

if TYPE_CHECKING:
    from memoranda.model.note import NoteRef
    from memoranda.model.views import NoteView
    from memoranda.workspace import Workspace

NOTE_URI = "memory://{path*}"
NAMED_NOTE_URI = "memory://@{project}/{path*}"
NOTE_TITLE = "Note"
NOTE_DESCRIPTION = (
    "The text of a note, by its permalink, its path or its id (id/7); percent-encoded or not."
)

MOST_LISTED = 30
LISTING_PATIENCE_S = 3.0
"""So long a client that asks for the list waits for the index to be opened."""

_SCHEME = re.compile("memory://", re.IGNORECASE)
_EVER = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True)
class NoteUri:
    """What a URI may name.

    Attributes:
        project: the one after `@`; None when there is no `@`.
        names: as decoded, and as written if that is something else.
        ident: it is `memory://id/N`, which has no other reading.
    """

    uri: str
    project: str | None
    names: tuple[str, ...]
    ident: bool = False

    @property
    def owner(self) -> tuple[str, str] | None:
        """Project and name, in case that the first segment is a project whose `@` was lost, or encoded."""
        owner, _, name = self.names[0].removeprefix("@").partition("/")
        return (owner, name) if self.project is None and not self.ident and name else None

    @property
    def fragments(self) -> Iterator[tuple[str, str]]:
        """Name and section, in case that `#` begins a fragment."""
        for name in self.names:
            if (parts := name_and_section(name)) is not None:
                yield parts


def parse_note_uri(text: str) -> NoteUri:
    """What a memory:// URI may name.

    Raises:
        InvalidUri: it breaks spec 7.2. What is percent-encoded may have any character.
    """
    scheme = _SCHEME.match(text)
    if scheme is None:
        raise InvalidUri(text, "it does not begin with memory://")
    try:
        address = parse_address("memory://" + text[scheme.end() :])
    except InvalidUri as error:
        error.hint += " Percent-encode what is not allowed as it is (%3F is a question mark)."
        raise
    if isinstance(address, ById):
        return NoteUri(text, None, (f"memory://id/{address.entity_id}",), ident=True)
    decoded = _decoded(address.name)
    if "://" in decoded:
        raise InvalidUri(text, "it has a second '://'")
    names = tuple(dict.fromkeys((decoded, address.name)))
    project = None if address.project is None else _decoded(address.project)
    return NoteUri(text, project, names)


async def note_text(session: Session, text: str) -> str:
    """The text of the note that a URI names, as in its file; a last line says so when it is cut.

    Raises:
        InvalidUri, ProjectNotFound, NoteNotFound, AmbiguousName, OutsideProject, FileProblem, NotReady.
    """
    address = parse_note_uri(text)
    workspace = await session.fresh_workspace(address.project)
    with looking_up(workspace):
        return await _found(session, workspace, address)


async def _found(session: Session, workspace: Workspace, address: NoteUri) -> str:
    """By an exact name; else in the project that the first segment names; else by a looser name."""
    refused: NoteNotFound | AmbiguousName | None = None
    loosely: NoteView | None = None
    for name in address.names:
        try:
            view = await _read(workspace, name)
        except (NoteNotFound, AmbiguousName) as error:
            refused = error if refused is None else refused
            continue
        if address.ident or _is_exact(name, view):
            return _shown(view, workspace)
        loosely = loosely or view
    if (owner := address.owner) is not None:
        try:
            workspace_of = await session.fresh_workspace(owner[0])
            return _shown(await _read(workspace_of, owner[1]), workspace_of)
        except ProjectError:
            pass  # no such project, or one that is not served
        except (NoteNotFound, AmbiguousName) as error:
            if refused is not None:
                refused.hint = f"In the project {owner[0]!r}: {error.message}. {refused.hint}"
    if loosely is not None:
        return _shown(loosely, workspace)
    for name, section in address.fragments:
        try:
            return _shown(await _read(workspace, name, section), workspace)
        except SectionNotFound:
            return _shown(await _read(workspace, name), workspace)
        except (NoteNotFound, AmbiguousName):
            continue
    raise refused or NoteNotFound(address.uri)


async def _read(workspace: Workspace, name: str, section: str | None = None) -> NoteView:
    return await workspace.notes.read(
        name, section=section, max_chars=ANSWER_CHARS, with_related=False, is_literal=True
    )


def _is_exact(name: str, view: NoteView) -> bool:
    ref = view.ref
    return permalink_key(name) == permalink_key(ref.permalink) or (
        lookup_key(name) == lookup_key(ref.file_path)
    )


def _shown(view: NoteView, workspace: Workspace) -> str:
    """The lines of the file, and how to read on."""
    is_line_cut = view.start_line == view.end_line and len(view.text) >= ANSWER_CHARS
    if view.next_line is None and not is_line_cut:
        return view.text
    project = workspace.project
    owner = "" if project.is_default else f", project={project.name!r}"
    on = f"start_line={view.next_line}"
    if is_line_cut:
        on = f"start_line={view.end_line}, max_chars={10 * ANSWER_CHARS}"
    end = "" if view.text.endswith(("\n", "\r")) else "\n"
    return (
        f"{view.text}{end}[Cut here: lines {view.start_line}-{view.end_line} of {view.total_lines}. "
        f"Go on with read_note: path={view.ref.permalink!r}{owner}, {on}]"
    )


def _decoded(text: str) -> str:
    """Without percent signs; as it is when they are no encoding of UTF-8."""
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        return text


# The list


@dataclass(frozen=True, slots=True)
class ListedNote:
    """A note in a client's menu of resources."""

    uri: str
    permalink: str
    title: str
    note_type: str
    updated_at: datetime


async def newest_notes(session: Session) -> Sequence[ListedNote]:
    """The newest notes of the default project, for a menu; none while the index is not open.

    They are taken from the index as it stands, and nobody waits long: a client asks when it starts.
    """
    try:
        async with asyncio.timeout(LISTING_PATIENCE_S):
            return await session.run(_newest(session))
    except TimeoutError:
        return ()


async def _newest(session: Session) -> Sequence[ListedNote]:
    try:
        workspace = await session.workspace(None)
        found = await workspace.browse.recent_activity(_EVER, page_size=MOST_LISTED)
    except MemorandaError:  # a tool says what is wrong
        return ()
    return [_listed(ref, uri(ref, workspace.project)) for ref in found.results]


def _listed(ref: NoteRef, address: str) -> ListedNote:
    return ListedNote(
        address,
        ref.permalink,
        one_line(ref.title, TITLE_CHARS),
        one_line(ref.note_type, TITLE_CHARS),
        ref.updated_at,
    )
