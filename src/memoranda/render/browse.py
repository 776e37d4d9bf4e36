"""Directory listings and recent activity, as JSON values and as short text.

Times of recent activity are in the machine's zone, as the timeframe was understood in it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from memoranda.model.address import stem
from memoranda.model.project import Project
from memoranda.model.views import Activity, DirectoryEntry, DirectoryListing
from memoranda.render.bounds import ANSWER_CHARS, compact, one_line, page_that_fits
from memoranda.render.notes import TITLE_CHARS, count, moment, reference_data

_DAWN: Final = 1900
"""Before that a timeframe means all there is, and zones are strange."""


def listing_data(listing: DirectoryListing, limit: int = ANSWER_CHARS) -> dict[str, Any]:
    """A page of entries; a page too long for the answer is made smaller, see `page_size`."""
    entries = [_entry_data(entry) for entry in listing.entries]
    offset = (listing.page - 1) * listing.page_size
    shown = page_that_fits([len(compact(entry)) + 1 for entry in entries], offset, limit - 1000)
    data: dict[str, Any] = {"path": listing.path, "entries": entries[:shown]}
    if listing.glob:
        data["glob"] = one_line(listing.glob, 200)
    return data | _paging(offset, shown, len(entries), listing.page_size, listing.total)


def listing_text(listing: DirectoryListing, limit: int = ANSWER_CHARS) -> str:
    """How many folders and notes there are; folders with their note counts, then files."""
    entries = [_entry_text(entry) for entry in listing.entries]
    offset = (listing.page - 1) * listing.page_size
    shown = page_that_fits([len(entry) + 1 for entry in entries], offset, limit - 1000)
    head = f"{listing.path or '/'}: {_listed(listing)}"
    if not entries:
        return f"{head}; none on this page, begin with page=1." if listing.total else f"{head}."
    paging = _paging(offset, shown, len(entries), listing.page_size, listing.total)
    return "\n".join([head, *entries[:shown], *_more_text(paging)])


def activity_data(
    activity: Activity, project: Project, limit: int = ANSWER_CHARS
) -> dict[str, Any]:
    """Note references with the times of their files, newest first."""
    results = [reference_data(ref, project) for ref in activity.results]
    for result, at in zip(results, activity.changed_at, strict=False):
        result["changed_at"] = moment(_local(at))
    offset = (activity.page - 1) * activity.page_size
    shown = page_that_fits([len(compact(item)) + 1 for item in results], offset, limit - 2000)
    data = {"since": moment(_local(activity.since)), "results": results[:shown]} | _paging(
        offset, shown, len(results), activity.page_size, activity.total
    )
    if not activity.total:
        newest = activity.newest and reference_data(activity.newest, project)
        data["newest"] = newest and newest | {"changed_at": moment(_local(activity.newest_at))}
        if activity.known_types:
            data["known_types"] = [one_line(kind, 60) for kind in activity.known_types]
    return data


def activity_text(activity: Activity, limit: int = ANSWER_CHARS) -> str:
    """A line a note, newest first."""
    times = activity.changed_at or tuple(ref.updated_at for ref in activity.results)
    results = [
        f"- {_minute(at)} {_named(ref.title, 200)} — {ref.permalink}"
        + (" · its file is missing" if ref.missing_since else "")
        + (f" · {one_line(ref.note_type, 60)}" if ref.note_type not in ("", "note") else "")
        for ref, at in zip(activity.results, times, strict=True)
    ]
    offset = (activity.page - 1) * activity.page_size
    shown = page_that_fits([len(line) + 1 for line in results], offset, limit - 1000)
    head = (
        f"{count(activity.total, 'note')}{_of_types(activity)} changed {since_text(activity.since)}"
    )
    if not activity.total:
        return f"{head}.{_wider(activity)}"
    if not results:
        return f"{head}, none on this page, begin with page=1."
    paging = _paging(offset, shown, len(results), activity.page_size, activity.total)
    return "\n".join([f"{head}:", *results[:shown], *_more_text(paging)])


def since_text(since: datetime) -> str:
    """`since Mon 2025-03-31 00:00 (+02:00)`: the start of a timeframe in the machine's zone."""
    if since.year < _DAWN:
        return "at any time"
    local = since.astimezone()
    offset = local.isoformat()[-6:]
    return f"since {local:%a %Y-%m-%d %H:%M} ({offset if offset[0] in '+-' else '+00:00'})"


def _of_types(activity: Activity) -> str:
    if not activity.note_types:
        return ""
    return f" of type {' or '.join(one_line(kind, 60) for kind in activity.note_types[:5])}"


def _wider(activity: Activity) -> str:
    """What would find something."""
    if (newest := activity.newest) is not None and activity.newest_at is not None:
        at = activity.newest_at.astimezone()
        return (
            f" The last one is {_named(newest.title, 120)} — {newest.permalink}, {_minute(at)}: "
            f"timeframe={at:%Y-%m-%d} lists it."
        )
    if activity.known_types:
        known = ", ".join(one_line(kind, 40) for kind in activity.known_types)
        return f" No note is of such a type; types there are: {known}."
    return " The project has no notes."


def _named(title: str, limit: int) -> str:
    return one_line(title, limit) if title.strip() else "(no title)"


def _local(value: datetime | None) -> datetime | None:
    return value if value is None or value.year < _DAWN else value.astimezone()


def _minute(at: datetime) -> str:
    return f"{_local(at):%Y-%m-%d %H:%M}"


def _listed(listing: DirectoryListing) -> str:
    """What a listing holds, in words."""
    matching = f" that match {one_line(listing.glob, 100)!r}" if listing.glob else ""
    if not listing.total:
        return f"no notes{matching}"
    notes = listing.total - listing.folder_total
    parts = [count(listing.folder_total, "folder")] if listing.folder_total else []
    parts += [count(notes, "note") + matching] if notes or matching else []
    return ", ".join(parts)


def _entry_data(entry: DirectoryEntry) -> dict[str, Any]:
    if entry.is_directory:
        return {
            "name": entry.name,
            "type": "directory",
            "path": entry.path,
            "count": entry.count,
        }
    return {
        "name": entry.name,
        "type": "file",
        "path": entry.path,
        "title": entry.title and one_line(entry.title, TITLE_CHARS),
        "permalink": entry.permalink,
        "updated_at": moment(entry.updated_at),
        "size_bytes": entry.size_bytes,
    }


def _entry_text(entry: DirectoryEntry) -> str:
    """A path; the title where the file name does not say it."""
    if entry.is_directory:
        return f"{entry.path}/ ({count(entry.count, 'note')})"
    day = f" · {entry.updated_at:%Y-%m-%d}" if entry.updated_at else ""
    title = (entry.title or "").strip()
    said = f" · {one_line(title, 120)}" if title and title != stem(entry.path) else ""
    return f"{entry.path}{said}{day}"


def _paging(offset: int, shown: int, given: int, page_size: int, total: int) -> dict[str, Any]:
    size = page_size if shown == given else shown
    page = offset // size + 1
    has_more = shown > 0 and offset + shown < total
    return {
        "page": page,
        "page_size": size,
        "total": total,
        "has_more": has_more,
        "next_page": page + 1 if has_more else None,
    }


def _more_text(paging: dict[str, Any]) -> list[str]:
    if not paging["has_more"]:
        return []
    return [f"More: page={paging['next_page']}, page_size={paging['page_size']}"]
