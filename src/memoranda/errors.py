"""Every error Memoranda raises on purpose, as one tree.

    MemorandaError
    ├── InvalidArgument            a value the caller gave cannot be used
    │   └── InvalidUri             a memory:// address breaks the rules of spec 7.2
    ├── EditMismatch               find_replace found another number of places than expected
    ├── ProjectError
    │   ├── ProjectNotFound        no project of that name
    │   ├── ProjectConflict        name or folder already taken, nested, or not allowed
    │   └── OtherFolder            the index of the project is of another folder
    ├── NoteNotFound               no note by that name
    │   ├── FolderNotFound         no folder of that name holds notes
    │   └── NameOfFolder           a folder has that name, and no note
    ├── AmbiguousName              several notes by that name
    ├── NoteExists                 a file is already there
    ├── Conflict                   the file is not what the caller last read
    ├── UndoConflict               what came later is in the way of an undo
    ├── ChangeNotFound             no change of that number in the history
    ├── NotIndexed                 the file is written, the index will follow
    ├── OutsideProject             the path leaves the project's folder
    ├── NotReady                   something is still starting
    ├── ReadOnly                   the folder or the server does not take writes
    ├── FileProblem                reading or writing a file failed
    │   ├── RootMissing            the project's folder is not there
    │   └── DiskFull               no space left
    ├── EmbeddingProblem           turning text into vectors failed
    ├── ConfigProblem              the configuration cannot be used
    └── DatabaseProblem            the index database failed
        ├── DatabaseBusy           another process holds it
        ├── DatabaseAway           its server does not answer
        └── DatabaseDamaged        it is not ours, newer, or corrupt
            └── DatabaseLost       deleted or replaced while it was in use

An error is a value: fields for programs, a message that names the thing, and a hint that says what
to do next. Front ends map types and `code` (the codes of the tool contract); nobody reads messages.
A file that fails while many are indexed is not an error but data, see `model.sync.FileFailure`.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import ClassVar


class MemorandaError(Exception):
    """Root of the tree.

    Attributes:
        code: stable upper-case word for programs (MCP error code).
        message: one sentence without a final full stop that names the thing.
        hint: what to do next, one sentence; may be empty.
    """

    code: ClassVar[str] = "ERROR"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def fields(self) -> dict[str, object]:
        """Machine-readable details beside code, message and hint; JSON values only."""
        return {}


class InvalidArgument(MemorandaError):
    """A value the caller gave cannot be used.

    Attributes:
        parameter: the name of the parameter, as the caller knows it.
    """

    code = "INVALID_ARGUMENT"

    def __init__(self, parameter: str, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.parameter = parameter

    def fields(self) -> dict[str, object]:
        return {"parameter": self.parameter}


class InvalidUri(InvalidArgument):
    """A memory:// address that breaks spec 7.2."""

    code = "INVALID_URI"

    def __init__(self, uri: str, reason: str) -> None:
        super().__init__(
            "path",
            f"{uri!r} is not a valid memory:// address: {reason}",
            hint="Use memory://<permalink>, for example memory://research/deep-work.",
        )
        self.uri = uri
        self.reason = reason


class EditMismatch(MemorandaError):
    """The text to find occurs another number of times than expected. Nothing was changed."""

    code = "INVALID_ARGUMENT"

    def __init__(self, path: str, found: int, expected: int) -> None:
        super().__init__(
            f"find_text occurs {found} {'time' if found == 1 else 'times'} in {path}, "
            f"expected {expected}",
            hint="Give a longer find_text, or set expected_replacements to the number you mean."
            if found
            else "Copy it from read_note, letter by letter.",
        )
        self.path, self.found, self.expected = path, found, expected

    def fields(self) -> dict[str, object]:
        return {"parameter": "find_text", "found": self.found, "expected": self.expected}


class SectionNotFound(MemorandaError):
    """The note has no section by that name.

    Attributes:
        headings: the heading path of every section there is, in document order.
    """

    code = "SECTION_NOT_FOUND"

    def __init__(self, path: str, section: str, headings: Sequence[str]) -> None:
        super().__init__(
            f"{path} has no section {section!r}",
            hint=f"It has: {'; '.join(headings[:10])}." if headings else "It has no headings.",
        )
        self.path, self.section, self.headings = path, section, tuple(headings)

    def fields(self) -> dict[str, object]:
        return {"section": self.section, "outline": list(self.headings)}


class AmbiguousSection(MemorandaError):
    """Several sections of the note go by that name.

    Attributes:
        candidates: what names each of them alone, in document order.
    """

    code = "AMBIGUOUS_NAME"

    def __init__(self, path: str, section: str, candidates: Sequence[str]) -> None:
        super().__init__(
            f"{path} has {len(candidates)} sections {section!r}: {', '.join(candidates[:10])}",
            hint="Give the heading path or the slug of the one you mean.",
        )
        self.path, self.section, self.candidates = path, section, tuple(candidates)

    def fields(self) -> dict[str, object]:
        return {"section": self.section, "candidates": list(self.candidates)}


class ProjectError(MemorandaError):
    """Something about a project."""

    code = "INVALID_ARGUMENT"


class ProjectNotFound(ProjectError):
    """No project of that name, or none at all. Never replaced by the default."""

    code = "PROJECT_NOT_FOUND"

    def __init__(self, name: str | None, known: Sequence[str]) -> None:
        if name is None:
            message = "No project is configured"
            hint = "Run `memoranda up PATH`, or call create_memory_project."
        else:
            message = f"There is no project {name!r}"
            hint = f"Known projects: {', '.join(known)}." if known else "No project is configured."
        super().__init__(message, hint=hint)
        self.name, self.known = name, tuple(known)

    def fields(self) -> dict[str, object]:
        return {"name": self.name, "projects": list(self.known)}


class ProjectConflict(ProjectError):
    """Name or folder already taken, nested in another project, or not allowed as a project."""

    def __init__(self, message: str, *, hint: str = "", parameter: str = "path") -> None:
        super().__init__(message, hint=hint)
        self.parameter = parameter

    def fields(self) -> dict[str, object]:
        return {"parameter": self.parameter}


class OtherFolder(ProjectError):
    """The shared index of the project was made of another folder than this server has. Nothing was changed."""

    def __init__(self, root: str, why: str, *, name: str = "NAME") -> None:
        super().__init__(
            f"The index of the project is of another folder than {root}: {why}",
            hint="Connect to the server that has the folder over HTTP, mount that folder here, or make this one the "
            f"project's with `memoranda reindex --project {shlex.quote(name)}`.",
        )
        self.root = root

    def fields(self) -> dict[str, object]:
        return {"parameter": "project"}


class NoteNotFound(MemorandaError):
    """No note by that name.

    Attributes:
        near: up to five permalinks of notes with a similar name, best first.
    """

    code = "NOTE_NOT_FOUND"

    def __init__(
        self,
        name: str,
        near: Sequence[str] = (),
        *,
        lost: str = "",
        departed: str = "",
        is_title: bool = False,
    ) -> None:
        """Say that there is none.

        Args:
            name: as it was given.
            near: see the class.
            lost: path of a note that the index knows by that name, and that has no file now.
            departed: a sentence on what became of the notes that were there.
            is_title: the notes in `near` have that title, file name or alias. What changes notes takes none.
        """
        hint = f"Near: {', '.join(near)}." if near else "Find it with search_notes."
        message = f"There is no note {name!r}"
        if is_title:
            message = f"No titles are taken here: {name!r} is the title of {' and of '.join(near)}"
            hint = f"Give the permalink instead: {' or '.join(near)}."
        elif lost:
            message = f"The index knows {name!r}, but its file {lost} is not there now"
        elif departed:
            message = f"Nothing is at {name!r} any more"
            hint = f"{departed} {hint}"
        super().__init__(message, hint=hint)
        self.name, self.near = name, tuple(near)

    def fields(self) -> dict[str, object]:
        return {"name": self.name, "near": list(self.near)}


class FolderNotFound(NoteNotFound):
    """No folder of that name holds notes.

    Attributes:
        is_note: the name is a note's path instead.
    """

    def __init__(self, name: str, near: Sequence[str] = (), *, is_note: bool = False) -> None:
        super().__init__(name, near)
        self.message = (
            f"{name!r} is a note" if is_note else f"There is no folder {name!r} with notes"
        )
        self.args = (self.message,)
        self.is_note = is_note
        if is_note:
            self.hint = "Read it with read_note, or list the folder it is in."
        elif near:
            self.hint = f"Folders there are: {', '.join(near)}."
        else:
            self.hint = "List the whole project first, without a path."


class NameOfFolder(NoteNotFound):
    """A folder has that name, and no note.

    Attributes:
        folder: its path.
        notes: how many are below it.
    """

    def __init__(self, name: str, folder: str, notes: int) -> None:
        super().__init__(name)
        several = "1 note" if notes == 1 else f"{notes:,} notes"
        self.message = f"{folder!r} is a folder ({several}), not a note"
        self.args = (self.message,)
        self.hint = "list_directory lists its notes; move_note moves it as a whole."
        self.folder, self.notes = folder, notes


class AmbiguousName(MemorandaError):
    """Several notes by that name.

    Attributes:
        candidates: file paths, alphabetical.
    """

    code = "AMBIGUOUS_NAME"

    def __init__(self, name: str, candidates: Sequence[str]) -> None:
        super().__init__(
            f"{name!r} names {len(candidates)} notes: {', '.join(candidates[:10])}",
            hint="Give the path or the permalink of the one you mean.",
        )
        self.name, self.candidates = name, tuple(candidates)

    def fields(self) -> dict[str, object]:
        return {"name": self.name, "candidates": list(self.candidates)}


class NoteExists(MemorandaError):
    """A file is already there; it was not touched."""

    code = "NOTE_EXISTS"

    def __init__(
        self,
        path: str,
        *,
        hint: str = "Pass overwrite=true to replace it, or change it with edit_note.",
    ) -> None:
        super().__init__(f"{path} already exists", hint=hint)
        self.path = path

    def fields(self) -> dict[str, object]:
        return {"file_path": self.path}


class Conflict(MemorandaError):
    """The file is not what the caller last read; it was not touched."""

    code = "CONFLICT"

    def __init__(self, path: str, checksum: str) -> None:
        super().__init__(
            f"{path} was changed since it was read",
            hint="Read it again and repeat the edit on the new text.",
        )
        self.path, self.checksum = path, checksum

    def fields(self) -> dict[str, object]:
        return {"file_path": self.path, "checksum": self.checksum}


class UndoConflict(MemorandaError):
    """What came after a change is in the way of taking it back. Nothing was changed.

    Attributes:
        changes: ids of the later changes by tools of that file, newest first; empty when a person made them.
        clients: who made each of them.
        diff: what was done since, unified; "" when the file is gone or came back.
    """

    code = "CONFLICT"

    def __init__(
        self,
        path: str,
        reason: str,
        *,
        changes: Sequence[int] = (),
        clients: Sequence[str] = (),
        diff: str = "",
        hint: str = "",
    ) -> None:
        super().__init__(f"{path} cannot be put back: {reason}", hint=hint)
        self.path, self.reason, self.changes, self.diff = path, reason, tuple(changes), diff
        self.clients = tuple(clients)

    def fields(self) -> dict[str, object]:
        return {
            "file_path": self.path,
            "later_changes": list(self.changes),
            "later_clients": list(self.clients),
            "diff": self.diff,
        }


class ChangeNotFound(MemorandaError):
    """No change of that number in the history, or not any more."""

    code = "INVALID_ARGUMENT"

    def __init__(self, change_id: int) -> None:
        super().__init__(
            f"There is no change {change_id} in the history",
            hint="List the changes there are with note_history (`memoranda history list`).",
        )
        self.change_id = change_id

    def fields(self) -> dict[str, object]:
        return {"parameter": "change_id", "change_id": self.change_id}


class NotIndexed(MemorandaError):
    """The file is written, but the index could not take it yet."""

    code = "NOT_INDEXED"

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"{path} is written but not indexed yet: {reason}",
            hint="The file is safe; the next sync indexes it. Do not write it again.",
        )
        self.path, self.reason = path, reason

    def fields(self) -> dict[str, object]:
        return {"file_path": self.path, "reason": self.reason}


class OutsideProject(MemorandaError):
    """The path leaves the project's folder, directly or through a symbolic link."""

    code = "OUTSIDE_PROJECT"

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path!r} is outside the project's folder",
            hint="Give a path relative to the project's folder, without '..' and without '/' in front.",
        )
        self.path = path

    def fields(self) -> dict[str, object]:
        return {"path": self.path}


class NotReady(MemorandaError):
    """Something is still starting; the same call works later."""

    code = "NOT_READY"


class ReadOnly(MemorandaError):
    """The folder or the server does not take writes."""

    code = "READ_ONLY"


class FileProblem(MemorandaError):
    """Reading or writing a file failed.

    Attributes:
        path: project-relative path, or the project's folder for `RootMissing`.
    """

    code = "IO_ERROR"

    def __init__(self, path: str, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.path = path

    def fields(self) -> dict[str, object]:
        return {"path": self.path}


class RootMissing(FileProblem):
    """The project's folder is not there, is not a folder, or cannot be read."""


class DiskFull(FileProblem):
    """No space left; nothing was changed."""

    def __init__(self, path: str) -> None:
        super().__init__(
            path,
            f"The disk is full: {path} was not changed",
            hint="Free some space and repeat the call.",
        )


class EmbeddingProblem(MemorandaError):
    """Turning text into vectors failed; texts are searched by their words meanwhile.

    Attributes:
        is_lasting: trying again changes nothing until a person does something (a key, a file, a package).
    """

    code = "EMBEDDING_FAILED"

    def __init__(self, message: str, *, is_lasting: bool = False, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.is_lasting = is_lasting


class ConfigProblem(MemorandaError):
    """The configuration cannot be used. The file is never overwritten."""

    code = "CONFIG_ERROR"

    def __init__(
        self, source: str, message: str, *, line: int | None = None, hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.source, self.line = source, line

    def fields(self) -> dict[str, object]:
        return {"source": self.source, "line": self.line}


class DatabaseProblem(MemorandaError):
    """The index database failed. The notes are not concerned."""

    code = "IO_ERROR"


class DatabaseBusy(DatabaseProblem):
    """Another process holds the database for longer than the busy timeout."""

    code = "NOT_READY"


class DatabaseAway(DatabaseProblem):
    """The server of the database does not answer, or is closing; it may be back at any time."""

    code = "NOT_READY"


class DatabaseDamaged(DatabaseProblem):
    """The database is foreign, newer than this program, or corrupt: it is set aside and rebuilt."""


class DatabaseLost(DatabaseDamaged):
    """The database was deleted or replaced while it was in use: another one is opened, and nothing is set aside."""


INDEX_TROUBLE = (DatabaseProblem, DiskFull)
"""What a transaction on the index may raise; whatever was done to a file before it stands."""
