"""What prompts say: what the user wants, what notes say to it (as data), and what to do next."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memoranda.errors import AmbiguousName, FileProblem, NoteNotFound
from memoranda.mcp.client import author
from memoranda.mcp.guide import GUIDE
from memoranda.mcp.session import Session
from memoranda.mcp.standing import looking_up, standing
from memoranda.model.search import SearchFilters, SearchQuery, SearchResults
from memoranda.render.bounds import one_line
from memoranda.render.browse import activity_text
from memoranda.render.notes import moment
from memoranda.render.prompts import excerpts, prompt, room_for_data
from memoranda.render.search import results_text
from memoranda.services.timeframe import parse_timeframe

if TYPE_CHECKING:
    from memoranda.model.note import NoteRef
    from memoranda.workspace import Workspace

USUAL_TIMEFRAME = "7 days"

_ASKED_CHARS = 200
_LISTED_CHARS = 3_000
_RECENT_CHARS = 5_500
_SEARCH_CHARS = 10_000
_HITS = 10
_HITS_OF_TOPIC = 5
_READ = 3
_RECENT = 20
_RECENT_READ = 5
_NEWEST = 10

_TO_READ = (
    "read_note gives the whole of a note (path is what stands after the dash), build_context what is linked "
    "to it, search_notes more."
)
_TO_SAVE = (
    "When something is decided or learned, add it with edit_note to the note it belongs to, or make one with "
    "write_note."
)
_NOTHING_THEN = (
    "Try search_notes once or twice with other words, and recent_activity for what changed lately.",
    "If there is still nothing, tell the user so, and do not make anything up.",
)


async def continue_conversation(session: Session, values: dict[str, Any]) -> str:
    """What the notes hold about a topic, or what changed last."""
    topic, since = values["topic"].strip(), await _since(session, values["timeframe"])
    workspace = await session.fresh_workspace(None, topic if _is_address(topic) else "")
    if (empty := await _nothing_yet(session, workspace)) is not None:
        return empty
    if not topic:
        return await _pick_up_recent(session, workspace, since)
    then = _steps(
        "Tell the user in a few sentences where things stand, name the notes you rely on, and go on.",
        "If these notes are about something else, search with other words before you ask.",
        _TO_READ,
        *_to_save(session),
    )
    asked = _quoted(topic)
    if _is_address(topic):
        with looking_up(workspace):
            refs = [(await workspace.notes.read(topic, max_chars=1, with_related=False)).ref]
        return await _about(workspace, f"The user goes on with the note {asked}.", "", refs, then)
    results = await _search(workspace, topic, _HITS_OF_TOPIC, since)
    said = (
        f"The user goes on with {asked}. This is what the notes of {_named(workspace)} hold on it"
    )
    if since is not None:
        said += f" that was changed since {moment(since)}"
        if not results.hits or results.is_weak:
            results = await _search(workspace, topic, _HITS_OF_TOPIC, is_asked=False)
            said = (
                f"The user goes on with {asked}. Nothing on it was changed since {moment(since)}; this is "
                f"what older notes of {_named(workspace)} hold on it"
            )
    refs = [] if results.is_weak else [hit.ref for hit in results.hits[:_READ]]
    found = results_text(results, _LISTED_CHARS)
    if not results.hits or results.is_weak:
        said = f"The user goes on with {asked}. The notes of {_named(workspace)} seem to hold nothing on it"
        then = _steps(*_NOTHING_THEN, *_to_save(session))
    return await _about(workspace, f"{said}.", found, refs, then)


async def _pick_up_recent(session: Session, workspace: Workspace, since: datetime | None) -> str:
    then = _steps(
        "Tell the user in a few sentences what they worked on, name the notes, and ask what to go on with.",
        _TO_READ,
        *_to_save(session),
    )
    since = since or await _moment(session, USUAL_TIMEFRAME)
    activity = await workspace.browse.recent_activity(since, page_size=_NEWEST)
    if activity.results:
        said = f"The user goes on where they left off. This changed last in {_named(workspace)}."
        refs = list(activity.results[:_READ])
        return await _about(workspace, said, activity_text(activity, _LISTED_CHARS), refs, then)
    said = (
        f"The user goes on where they left off. Nothing changed in {_named(workspace)} since "
        f"{moment(since)}; these are its newest notes."
    )
    newest = await _search(workspace, "", _NEWEST, is_asked=False)
    refs = [hit.ref for hit in newest.hits[:_READ]]
    return await _about(workspace, said, results_text(newest, _LISTED_CHARS), refs, then)


async def recent_activity(session: Session, values: dict[str, Any]) -> str:
    """What changed in a project lately."""
    since = await _moment(session, values["timeframe"])
    workspace = await session.fresh_workspace(values["project"])
    if (empty := await _nothing_yet(session, workspace)) is not None:
        return empty
    activity = await workspace.browse.recent_activity(since, page_size=_RECENT)
    if not activity.results:
        said = (
            f"The user asks what changed in {_named(workspace)}. Nothing did since {moment(since)}."
        )
        then = "Tell the user so. recent_activity with a longer timeframe shows what is older."
        return _with_standing(said, workspace, then)
    said = (
        f"The user asks what changed in {_named(workspace)} since {moment(since)}. The newest of "
        "these notes are shown with their beginnings."
    )
    then = _steps(
        "Sum up for the user what changed: by subject, not note by note; decisions and open ends first.",
        "Say nothing of a note that you have not read; its title and date are no content.",
        "recent_activity lists more, from the page that the list names.",
        _TO_READ,
    )
    refs = list(activity.results[:_RECENT_READ])
    return await _about(workspace, said, activity_text(activity, _RECENT_CHARS), refs, then)


async def search(session: Session, values: dict[str, Any]) -> str:
    """What a search finds."""
    workspace = await session.fresh_workspace(None)
    if (empty := await _nothing_yet(session, workspace)) is not None:
        return empty
    results = await _search(workspace, values["query"], _HITS)
    asked = _quoted(values["query"])
    if not results.hits or results.is_weak:
        said = f"The user searches {_named(workspace)} for {asked}. Nothing relevant was found."
        then = _steps(*_NOTHING_THEN)
    else:
        said = f"The user searches {_named(workspace)} for {asked}. This was found."
        then = _steps(
            "Read with read_note (path is what stands after the dash) the notes that matter, then answer "
            "the user and name them.",
            "If the answer is not there, search with other words (search_notes; filters: tags, "
            "note_types, after_date) before you say so.",
        )
    return await _about(workspace, said, results_text(results, _SEARCH_CHARS), [], then)


async def ai_assistant_guide(_session: Session, _values: dict[str, Any]) -> str:
    """How an assistant works with Memoranda."""
    return GUIDE


async def _about(
    workspace: Workspace, said: str, found: str, refs: Sequence[NoteRef], then: str
) -> str:
    """A prompt with a list and the beginnings of some notes; what cannot be read is left out."""
    then = _below(workspace, then)
    views = []
    for ref in refs:
        try:
            views.append(await workspace.notes.read(ref.file_path, max_chars=1, with_related=False))
        except (NoteNotFound, AmbiguousName, FileProblem):
            continue
    left = room_for_data(said, then) - len(found) - 10
    parts = [found, excerpts(views, left)] if views else [found]
    return prompt(said, "\n\n".join(filter(None, parts)), then)


async def _nothing_yet(session: Session, workspace: Workspace) -> str | None:
    """What to say of a project without notes."""
    if (await workspace.browse.counts()).notes:
        return None
    if not standing(workspace).is_complete:
        said = f"The index of {_named(workspace)} has no notes so far; it is being made."
        return _with_standing(said, workspace, "Tell the user so, and search again in a moment.")
    return _with_standing(
        f"There are no notes in {_named(workspace)} yet.",
        workspace,
        _steps("Tell the user so, and ask what they work on.", *_to_save(session)),
    )


def _steps(*steps: str) -> str:
    return "\n".join(steps)


def _to_save(session: Session) -> Sequence[str]:
    """What to do with what comes up; nothing where only reading is allowed."""
    return () if session.is_read_only else (_TO_SAVE,)


def _with_standing(said: str, workspace: Workspace, then: str) -> str:
    return f"{said}\n\n{_below(workspace, then)}"


def _below(workspace: Workspace, then: str) -> str:
    return standing(workspace).below(then)


def _named(workspace: Workspace) -> str:
    return f"the project {workspace.project.name!r}"


def _quoted(asked: str) -> str:
    return repr(one_line(asked, _ASKED_CHARS))


def _is_address(topic: str) -> bool:
    return topic.startswith("memory://")


async def _search(
    workspace: Workspace,
    text: str,
    limit: int,
    since: datetime | None = None,
    *,
    is_asked: bool = True,
) -> SearchResults:
    """Search as the tool does; `is_asked`: by the user, so that it is recorded."""
    query = SearchQuery(text, filters=SearchFilters(after_date=since), limit=limit)
    results = await workspace.search.search(query, by=author() if is_asked else None)
    if not standing(workspace).is_complete:  # other words would find no more than these
        results = replace(results, suggestion=None)
    return results


async def _since(session: Session, timeframe: str) -> datetime | None:
    return await _moment(session, timeframe) if timeframe.strip() else None


async def _moment(session: Session, timeframe: str) -> datetime:
    text = timeframe.strip() or USUAL_TIMEFRAME
    return await asyncio.to_thread(parse_timeframe, text, session.now())
