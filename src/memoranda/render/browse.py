"""Directory listings and recent activity, as JSON values and as short text."""

from __future__ import annotations

from typing import Any

from memoranda.model.project import Project
from memoranda.model.views import Activity, DirectoryEntry, DirectoryListing
from memoranda.render.bounds import ANSWER_CHARS, compact, one_line, page_that_fits
from memoranda.render.notes import TITLE_CHARS, count, moment, reference_data, reference_text


def listing_data(listing: DirectoryListing, limit: int = ANSWER_CHARS) -> dict[str, Any]:
    """A page of entries; a page too long for the answer is made smaller, see `page_size`."""
    entries = [_entry_data(entry) for entry in listing.entries]
    offset = (listing.page - 1) * listing.page_size
    shown = page_that_fits([len(compact(entry)) + 1 for entry in entries], offset, limit - 1000)
    return {"path": listing.path, "entries": entries[:shown]} | _paging(
        offset, shown, len(entries), listing.page_size, listing.total
    )


def listing_text(listing: DirectoryListing, limit: int = ANSWER_CHARS) -> str:
    """Folders with their note counts, then files."""
    entries = [_entry_text(entry) for entry in listing.entries]
    offset = (listing.page - 1) * listing.page_size
    shown = page_that_fits([len(entry) + 1 for entry in entries], offset, limit - 1000)
    folder = listing.path or "/"
    if not entries:
        return f"{folder}: nothing on this page." if listing.total else f"{folder}: no notes."
    noun = "entry" if listing.total == 1 else "entries"
    lines = [f"{folder}: {listing.total:,} {noun}", *entries[:shown]]
    lines += _more_text(_paging(offset, shown, len(entries), listing.page_size, listing.total))
    return "\n".join(lines)


def activity_data(
    activity: Activity, project: Project, limit: int = ANSWER_CHARS
) -> dict[str, Any]:
    """Note references, newest first."""
    results = [reference_data(ref, project) for ref in activity.results]
    offset = (activity.page - 1) * activity.page_size
    shown = page_that_fits([len(compact(item)) + 1 for item in results], offset, limit - 1000)
    return {"since": moment(activity.since), "results": results[:shown]} | _paging(
        offset, shown, len(results), activity.page_size, activity.total
    )


def activity_text(activity: Activity, limit: int = ANSWER_CHARS) -> str:
    """A line a note, newest first."""
    results = [f"- {reference_text(ref)}" for ref in activity.results]
    offset = (activity.page - 1) * activity.page_size
    shown = page_that_fits([len(line) + 1 for line in results], offset, limit - 1000)
    head = f"{count(activity.total, 'note')} changed since {moment(activity.since)}"
    if not results:
        return f"{head}, none on this page." if activity.total else f"{head}."
    paging = _paging(offset, shown, len(results), activity.page_size, activity.total)
    return "\n".join([f"{head}:", *results[:shown], *_more_text(paging)])


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
    if entry.is_directory:
        return f"{entry.path}/ ({count(entry.count, 'note')})"
    day = f" · {entry.updated_at:%Y-%m-%d}" if entry.updated_at else ""
    return f"{entry.path} · {one_line(entry.title or entry.name, 120)}{day}"


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
