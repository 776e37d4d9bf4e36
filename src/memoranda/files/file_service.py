"""Reading and writing notes: inside the project's folder, whole or not at all.

Every write goes to a temporary file beside its target (`.<token>.tmp`, which scans and editors
ignore), is flushed to the disk and then takes the target's name in one step. So a reader sees the old or
the new bytes, a crash or a full disk leaves the old ones, and a failure leaves no temporary file.

Other programs do not know our locks. A write that says which bytes it means to replace looks at them once
more when all else is done; only a save in the few microseconds between that look and the rename is
replaced unseen, as POSIX has no rename that compares.

All methods are synchronous and touch the disk; asynchronous callers use a thread.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from memoranda.errors import (
    Conflict,
    DatabaseProblem,
    DiskFull,
    FileProblem,
    InvalidArgument,
    MemorandaError,
    NoteExists,
    NoteNotFound,
    NotReady,
    OutsideProject,
    ReadOnly,
    RootMissing,
)
from memoranda.files.atomic import (
    give_free_name,
    make_folders,
    remove_folders,
    sync_folder,
    temporary_file,
    temporary_name,
)
from memoranda.files.ignore_files import ignoring_rule
from memoranda.files.locks import LOCK_TIMEOUT_S, exclusive_all, in_use, lock_key
from memoranda.files.reading import MAX_NOTE_BYTES, NoteReader, read_once
from memoranda.files.scan import is_note_path
from memoranda.files.state import state_of
from memoranda.model.address import NotePath
from memoranda.model.sync import FileState
from memoranda.ports import PathLocks

_READ_TRIES = 5


def checksum(data: bytes) -> str:
    """SHA-256 of a file's bytes, hexadecimal. Source: spec 4.2."""
    return hashlib.sha256(data).hexdigest()


class FileService:
    """The files of one project.

    Args:
        root: the project's folder; it is never made here, so that a drive that is not mounted is
            not taken for an empty project.
        lock_folder: where lock files go; outside `root`, made when first needed.
        skips: folders of other projects inside this one, relative POSIX; they count as outside.
        path_locks: held beside the lock files; None: no other machine writes here.
    """

    def __init__(
        self,
        root: Path,
        lock_folder: Path,
        *,
        skips: Sequence[str] = (),
        path_locks: PathLocks | None = None,
    ) -> None:
        self.root = root
        self._lock_folder = lock_folder
        self._skips = tuple(skips)
        self._path_locks = path_locks

    def note_path(self, path: str) -> NotePath:
        """`path` without `./`, `//` and a final `/`; POSIX, relative. Does not touch the disk.

        Raises:
            InvalidArgument: empty, or with a NUL or a lone surrogate.
            OutsideProject: absolute, with `..`, or from the home folder (`~/`).
        """
        if "\0" in path or not _is_unicode(path):
            raise InvalidArgument("path", f"{path!r} has a character that no path can have")
        parts = [part for part in path.split("/") if part not in ("", ".")]
        if path.startswith("/") or ".." in parts or parts[:1] == ["~"]:
            raise OutsideProject(path)
        if not parts:
            raise InvalidArgument("path", "The path is empty", hint="Give the path of a note.")
        return NotePath("/".join(parts))

    def resolve(self, path: str) -> Path:
        """The absolute path with every symbolic link resolved; the file need not exist.

        Raises:
            InvalidArgument, OutsideProject: as `note_path`, and when a link leads out of the folder.
        """
        relative = self.note_path(path)
        root = os.path.realpath(self.root)
        real = os.path.realpath(f"{root}/{relative}")
        if not real.startswith(root.rstrip("/") + "/"):
            raise OutsideProject(path)
        inside = Path(real).relative_to(root).as_posix()
        if any(inside == skip or inside.startswith(skip + "/") for skip in self._skips):
            raise OutsideProject(path)
        return Path(real)

    def canonical(self, path: NotePath) -> NotePath:
        """The path that the scan gives the file: every symbolic link inside the project resolved.

        A link to what is left out under its own name (hidden, ignored) is itself the note's path.
        """
        root = os.path.realpath(self.root)
        real = NotePath(self.resolve(path).relative_to(root).as_posix())
        if real != path and (not is_note_path(real) or ignoring_rule(root, real) is not None):
            return self.note_path(path)
        return real

    def state(self, path: NotePath) -> FileState | None:
        """The file's state now, None when there is no such file. Raises as `resolve`."""
        try:
            return state_of(path, self.resolve(path).stat())
        except OSError:
            return None

    def exists(self, path: NotePath) -> bool:
        """Whether there is a regular file. Raises as `resolve`, and `FileProblem` when nobody may know."""
        real = self.resolve(path)
        try:
            return real.is_file()
        except OSError as error:
            raise self._translated(path, error, writing=False) from error

    def read(self, path: NotePath) -> tuple[bytes, FileState]:
        """The bytes of a note and the state they belong to.

        A file that is written in place meanwhile is read again; one that is replaced atomically gives
        its old or its new bytes, whole.

        Raises:
            NoteNotFound: it is not there.
            RootMissing: the whole folder is not there.
            FileProblem: it cannot be read, is no regular file, or does not stop changing.
        """
        return self._read(path, str(self._note(path)))

    def current(self, path: NotePath) -> bytes | None:
        """The bytes of a note, None when there is no file. Raises as `read`."""
        try:
            return self.read(path)[0]
        except NoteNotFound:
            return None

    def require_no_other_kind(self, path: NotePath) -> None:
        """Raises FileProblem when a folder, a pipe or a link in a circle has the name of a note."""
        real = self.resolve(path)
        try:
            is_other = not stat.S_ISREG(real.stat().st_mode)
        except OSError as error:
            is_other = error.errno == errno.ELOOP
        if is_other:
            raise FileProblem(
                path, f"{path} is not a regular file", hint="Choose another title or folder."
            )

    def reader(self) -> NoteReader:
        """Reads many notes in a row, cheaper than `read`. For one batch of a sync."""
        return NoteReader(self._named_as_note, self._folder, self._read)

    def create(self, path: NotePath, data: bytes, *, token: str | None = None) -> FileState:
        """Write a new note; missing folders below the root are made.

        Whether the name is free is asked of the disk in the moment the file gets it: also another spelling
        is taken where the file system takes it for the same.

        Args:
            path: where; the name must be free.
            data: its bytes.
            token: names the temporary file, see `files.atomic`.

        Raises:
            NoteExists: the name is taken; what is there was not touched.
            RootMissing, DiskFull, ReadOnly, FileProblem, InvalidArgument, OutsideProject: nothing was
                written, and folders made for the note are gone again.
        """
        real = self._note(path)
        self._require_root()
        if os.path.lexists(real):  # the common case is refused without a trace in the folder
            raise NoteExists(path)
        made: list[Path] = []
        try:
            make_folders(real.parent, made)
            with temporary_file(real.parent, data, token=token) as (fd, temp):
                try:
                    give_free_name(temp, real)
                except FileExistsError as error:
                    raise NoteExists(path) from error
                sync_folder(real.parent)
                return state_of(path, os.fstat(fd), is_read=True)
        except OSError as error:
            remove_folders(made)
            raise self._translated(path, error, writing=True) from error
        except MemorandaError:
            remove_folders(made)
            raise

    def replace(
        self,
        path: NotePath,
        data: bytes,
        *,
        expected_checksum: str | None,
        token: str | None = None,
    ) -> FileState:
        """Give an existing note new bytes.

        Its mode and extended attributes stay, and its owner where the system allows it. A symbolic link
        inside the project stays a link, its target gets the bytes. A hard link to the file elsewhere keeps
        the old bytes.

        Args:
            path: an existing note.
            data: its new bytes.
            expected_checksum: `checksum` of the bytes the caller saw; None replaces whatever is there.
            token: names the temporary file, see `files.atomic`.

        Raises:
            Conflict: the file has other bytes than expected; it was not touched.
            NoteNotFound: there is no file to replace.
            RootMissing, DiskFull, ReadOnly, FileProblem, InvalidArgument, OutsideProject: the old
                bytes are whole.
        """
        real = self._note(path)
        try:
            if not stat.S_ISREG(real.stat().st_mode):
                raise FileProblem(path, f"{path} is not a regular file")
            if not os.access(real, os.W_OK):
                raise _read_only(path)
            with temporary_file(real.parent, data, token=token, like=real) as (fd, temp):
                if expected_checksum is not None:
                    self._require_bytes(path, real, expected_checksum)
                temp.replace(real)
                sync_folder(real.parent)
                return state_of(path, os.fstat(fd), is_read=True)
        except OSError as error:
            raise self._translated(path, error, writing=True) from error

    def delete(self, path: NotePath, *, expected_checksum: str | None = None) -> None:
        """Remove a note; of a symbolic link the link alone. Its folder stays, even when empty.

        Args:
            path: an existing note.
            expected_checksum: `checksum` of the bytes the caller saw; None removes whatever is there.

        Raises:
            Conflict: the file has other bytes than expected; it was not touched.
            NoteNotFound: it is not there.
            RootMissing, ReadOnly, FileProblem, InvalidArgument, OutsideProject: as above.
        """
        real = self._note(path)
        place = self.place(path)
        try:
            if expected_checksum is not None:
                self._require_bytes(path, real, expected_checksum)
            place.unlink()
            sync_folder(place.parent)
        except OSError as error:
            raise self._translated(path, error, writing=True) from error

    def remove_leftover(self, path: NotePath, token: str) -> None:
        """Remove the temporary file of a write of this note that ended in its middle, if there is one.

        Raises:
            InvalidArgument, OutsideProject: as `resolve`.
        """
        with contextlib.suppress(OSError):  # not there; or it stays, and no scan sees it
            (self._note(path).parent / temporary_name(token)).unlink()

    def locked(
        self, path: NotePath, *, timeout_s: float = LOCK_TIMEOUT_S
    ) -> AbstractContextManager[None]:
        """Hold the file's lock, across threads and processes; for read, change, replace in one piece.

        Not reentrant. A link and its target share a lock.

        Raises:
            NotReady: someone else held it for `timeout_s`, or nobody knows who holds it.
        """
        return self.locked_all([path], timeout_s=timeout_s)

    def locked_all(
        self, paths: Collection[str], *, timeout_s: float = LOCK_TIMEOUT_S
    ) -> AbstractContextManager[None]:
        """Hold the locks of several files, as `locked`; paths need not be those of notes."""
        root = os.path.realpath(self.root)
        real = {self.resolve(path).relative_to(root).as_posix() for path in paths}
        return self._alone(real, timeout_s)

    @contextlib.contextmanager
    def _alone(self, paths: Collection[str], timeout_s: float) -> Iterator[None]:
        with contextlib.ExitStack() as held:
            held.enter_context(exclusive_all(paths, self._lock_folder, timeout_s=timeout_s))
            if self._path_locks is not None:
                try:
                    held.enter_context(self._path_locks.hold(set(map(lock_key, paths)), timeout_s))
                except TimeoutError as error:
                    raise in_use(min(paths), timeout_s) from error
                except DatabaseProblem as error:  # not as one: nothing is written yet
                    raise NotReady(error.message, hint=error.hint) from error
            yield

    def place(self, path: str) -> Path:
        """The absolute path with the links of its folder resolved, but not its own: of a link, the link.

        Raises:
            InvalidArgument, OutsideProject: as `resolve`, for what it means as well.
        """
        relative = Path(self.note_path(path))
        self.resolve(str(relative))
        parent = relative.parent
        folder = (
            Path(os.path.realpath(self.root)) if parent == Path() else self.resolve(str(parent))
        )
        return folder / relative.name

    def note_place(self, path: str) -> Path:
        """As `place`, for what may be a note. Raises InvalidArgument when the scan would not take it."""
        self._note(path)
        return self.place(path)

    def translated(self, path: str, error: OSError, *, writing: bool = True) -> MemorandaError:
        """What the system said of a file of the project, as one of our errors."""
        return self._translated(NotePath(path), error, writing=writing)

    def _folder(self, path: str) -> str:
        """The real path of a folder, "" being the root."""
        return str(self.resolve(path)) if path else os.path.realpath(self.root)

    def _note(self, path: str) -> Path:
        """The real path of what may be a note: nothing else is ever read or written here."""
        relative = self._named_as_note(path)
        real = self.resolve(relative)
        if (rule := ignoring_rule(os.path.realpath(self.root), relative)) is not None:
            raise InvalidArgument(
                "path",
                f"{relative} is {rule.reason}",
                hint=f"Choose another path, or change {rule.source}: what it leaves out is not indexed.",
            )
        return real

    def _named_as_note(self, path: str) -> NotePath:
        """The path, if the scan would take a file of this name."""
        relative = self.note_path(path)
        if not relative.lower().endswith(".md"):
            raise InvalidArgument(
                "path", f"{relative} is not a note", hint="Notes are files that end in .md."
            )
        if not is_note_path(relative):
            raise InvalidArgument(
                "path",
                f"{relative} is left out of the project",
                hint="Hidden names, node_modules and temporary files of editors hold no notes.",
            )
        return relative

    def _read(self, path: NotePath, real: str, *, flags: int = 0) -> tuple[bytes, FileState]:
        """Read until the file holds still; see `read`."""
        try:
            for _ in range(_READ_TRIES):
                data, before, after = read_once(real, flags)
                if not stat.S_ISREG(before.st_mode):
                    raise FileProblem(path, f"{path} is not a regular file")
                if before.st_size > MAX_NOTE_BYTES:
                    raise FileProblem(
                        path,
                        f"{path} is larger than {MAX_NOTE_BYTES >> 20} MiB",
                        hint="Split it, or name it in a .bmignore file.",
                    )
                if (
                    before.st_mtime_ns == after.st_mtime_ns
                    and before.st_size == after.st_size == len(data)
                ):
                    return data, state_of(path, before, is_read=True)
        except OSError as error:
            if error.errno == errno.ELOOP and flags & os.O_NOFOLLOW:
                return self._read(path, str(self.resolve(path)))
            raise self._translated(path, error, writing=False) from error
        raise _busy(path)

    def _require_bytes(self, path: NotePath, real: Path, expected: str) -> None:
        """Refuse unless the file has the expected bytes at this moment."""
        for _ in range(_READ_TRIES):
            data, seen = self._read(path, str(real))
            if (found := checksum(data)) != expected:
                raise Conflict(path, found)
            if state_of(path, real.stat()) == seen:  # still, after the time that the checksum took
                return
        raise _busy(path)

    def _require_root(self) -> None:
        if not os.path.isdir(self.root):  # noqa: PTH112  (Path.is_dir may raise)
            raise RootMissing(
                str(self.root),
                f"The project's folder {self.root} is not there",
                hint="Connect the drive, or put the folder back.",
            )

    def _translated(self, path: NotePath, error: OSError, *, writing: bool) -> MemorandaError:
        code = error.errno
        if code == errno.ENOENT or (code == errno.ENOTDIR and not writing):
            try:
                self._require_root()
            except RootMissing as missing:
                return missing
            return NoteNotFound(path)
        if code in (errno.ENOSPC, errno.EDQUOT):
            return DiskFull(path)
        if code == errno.EROFS or (writing and code in (errno.EACCES, errno.EPERM)):
            return _read_only(path)
        if code == errno.ENAMETOOLONG:
            return InvalidArgument(
                "path", f"{path[:60]}... is too long for a path", hint="Choose a shorter name."
            )
        if code in (errno.ENOTDIR, errno.EEXIST):
            return InvalidArgument(
                "path", f"A folder in the path {path} is a file", hint="Choose another folder."
            )
        if code == errno.EISDIR:
            return FileProblem(path, f"{path} is a folder")
        verb = "written" if writing else "read"
        return FileProblem(path, f"{path} cannot be {verb}: {error.strerror or error}")


def _read_only(path: NotePath) -> ReadOnly:
    return ReadOnly(
        f"{path} cannot be written: it or its folder is read-only",
        hint="Check the permissions of the file and its folder.",
    )


def _busy(path: NotePath) -> FileProblem:
    return FileProblem(
        path, f"{path} is being written by another program", hint="Repeat the call in a moment."
    )


def _is_unicode(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
