"""What callers mean by names that no parameter and no tool has.

Letters alone mislead: `text` is near to `find_text` and means the new text of an edit. Only what is said here
is guessed by its meaning; `arguments` and `served_tools` guess typing errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Meanings = Mapping[str, str]
"""From a name in lower case to the parameter, or to a sentence on what to do."""

_OLD_TEXT: Final = "Give the old text as find_text and the new one as content_updates."
_OPERATION: Final = (
    "Did you mean 'operation' (append, prepend, find_replace, replace_section, ...)?"
)
_PLACE: Final = "Give title and directory: they make the path."
_BELOW: Final = "Give permalink_match, such as research/*, or path:research/ in the query."
_WHERE: Final = "Did you mean 'destination'? A folder ends with /."
_SPAN: Final = "Did you mean 'timeframe', such as '7d'?"
_CHANGE: Final = "Give change_id, from note_history; or client and since."
_SET_TITLE: Final = (
    'Give path to say which note; a new title is metadata, such as {"title": "New"}.'
)

MEANT: Final[Mapping[str, Meanings]] = {
    "write_note": dict.fromkeys(("path", "file_path", "name", "filename", "file"), _PLACE),
    "read_note": {
        "id": "path",
        "page": "start_line",
        "offset": "start_line",
        "limit": "max_chars",
    },
    "edit_note": {
        "title": _SET_TITLE,
        "name": _SET_TITLE,
        "id": "path",
        "text": "content_updates",
        "body": "content_updates",
        "value": "content_updates",
        "replace": "content_updates",
        "search": _OLD_TEXT,
        "find": _OLD_TEXT,
        "old": _OLD_TEXT,
        "new": _OLD_TEXT,
        **dict.fromkeys(("append", "prepend", "mode", "action", "command"), _OPERATION),
        "count": "expected_replacements",
        "tags": 'Give metadata, such as {"tags": ["ai"]}.',
        "destination": "Use move_note to move or rename a note.",
        "new_path": "Use move_note to move or rename a note.",
    },
    "delete_note": {"title": "path", "name": "path", "id": "path"},
    "move_note": {
        **dict.fromkeys(("folder", "directory", "new_folder", "new_directory"), _WHERE),
        **dict.fromkeys(("new_name", "new_title"), "destination"),
        **dict.fromkeys(("title", "name", "id"), "path"),
    },
    "search_notes": {
        **dict.fromkeys(("folder", "directory", "path", "dir"), _BELOW),
        "type": "note_types",
        "types": "note_types",
        "mode": "search_type",
        "offset": "page",
        "timeframe": "after_date",
    },
    "list_directory": {"recursive": "depth", "type": "glob", "filter": "glob"},
    "recent_activity": {
        **dict.fromkeys(("days", "period", "range", "hours", "after_date", "date"), _SPAN),
        "type": "types",
        "note_types": "types",
    },
    "build_context": {"id": "path", "limit": "max_related"},
    "undo_change": dict.fromkeys(
        ("path", "last", "steps", "count", "note", "permalink", "identifier"), _CHANGE
    ),
}
"""By tools. A name that is a parameter's alias needs no entry."""

TOOLS_MEANT: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("create_note", "add_note", "new_note", "save_note", "write", "create", "write_file"),
        "write_note",
    ),
    **dict.fromkeys(
        (
            "update_note",
            "append_note",
            "append_to_note",
            "patch_note",
            "modify_note",
            "change_note",
            "replace_in_note",
            "edit",
            "edit_file",
            "str_replace",
        ),
        "edit_note",
    ),
    **dict.fromkeys(
        (
            *("get_note", "view_note", "open_note", "fetch_note", "show_note", "read"),
            *("read_file", "read_content", "view"),
        ),
        "read_note",
    ),
    **dict.fromkeys(
        ("list_notes", "list_files", "list_folder", "list", "ls", "browse", "tree"),
        "list_directory",
    ),
    **dict.fromkeys(
        ("search", "find", "query", "find_notes", "find_note", "search_note", "query_notes"),
        "search_notes",
    ),
    **dict.fromkeys(
        ("rename_note", "move", "rename", "mv", "move_folder", "rename_folder", "move_directory"),
        "move_note",
    ),
    **dict.fromkeys(("remove_note", "delete", "remove", "rm", "trash_note"), "delete_note"),
    **dict.fromkeys(("undo", "revert", "revert_change", "undo_note", "rollback"), "undo_change"),
    **dict.fromkeys(("history", "changes", "list_changes", "note_changes", "diff"), "note_history"),
    **dict.fromkeys(("recent", "recent_notes", "recent_changes", "activity"), "recent_activity"),
    **dict.fromkeys(("context", "get_context", "related", "related_notes"), "build_context"),
    **dict.fromkeys(("projects", "list_projects"), "list_memory_projects"),
    **dict.fromkeys(("create_project", "add_project"), "create_memory_project"),
    "fetch": "read_note",
    "status": "memory_status",
}
"""From names of tools that there are not, or not here, to those that do it."""
