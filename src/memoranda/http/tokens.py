"""The token that clients over HTTP must send: where it is, how it is made, and how it is compared."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import re
import secrets
import stat
from pathlib import Path
from typing import Final

from memoranda.config import ensure_private_folder, http_token, http_token_file
from memoranda.errors import ConfigProblem

_BYTES: Final = 32
_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/-]{32,1024}=*")
_MOST_BYTES: Final = 4096
_VARIABLE: Final = "BASIC_MEMORY_HTTP_TOKEN"
_WHAT: Final = "32 characters or more of A-Z a-z 0-9 . _ ~ + / -"


class Token:
    """A token that can be compared and not be read: neither `repr` nor an attribute shows it."""

    def __init__(self, token: str) -> None:
        self._key = secrets.token_bytes(_BYTES)
        self._digest = self._of(token.encode())

    def matches(self, given: bytes) -> bool:
        """Whether it is the same. Takes as long for a nearly right one as for any other of its length."""
        return hmac.compare_digest(self._digest, self._of(given))

    def _of(self, token: bytes) -> bytes:
        return hmac.digest(self._key, token, hashlib.sha256)


def configured_token(file: str | None = None) -> str | None:
    """The token that clients must send; None: none is configured.

    Args:
        file: a file that was named by a setting or an option; the usual one may be missing, this one not.

    The variable BASIC_MEMORY_HTTP_TOKEN comes first, then the file.

    Raises:
        ConfigProblem: what is there cannot be a token, or the file is open to others.
    """
    given = http_token()
    if given is not None:
        if not _TOKEN.fullmatch(given):
            raise ConfigProblem(
                _VARIABLE,
                f"The environment variable {_VARIABLE} is no token",
                hint=f"It must have {_WHAT}; `memoranda token` makes one.",
            )
        return given
    path = usual_file(file)
    try:
        return read_token(path)
    except FileNotFoundError:
        if file is None:
            return None
        raise ConfigProblem(
            str(path),
            f"The file {path} with the token is not there",
            hint="Make it with `memoranda token --token-file FILE`.",
        ) from None


def usual_file(file: str | None) -> Path:
    """The file that is named, `~` expanded, or the usual one in the configuration folder."""
    if file is None or not file.strip():
        return http_token_file()
    with contextlib.suppress(RuntimeError):  # no such user
        return Path(file.strip()).expanduser().absolute()
    return Path(file.strip()).absolute()


def read_token(path: Path) -> str:
    """The token in a file.

    Raises:
        FileNotFoundError: there is no such file.
        ConfigProblem: it is no regular file of this user's that nobody else may read or write, or holds no
            token.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ConfigProblem(str(path), f"{path} cannot be read: {error.strerror}") from error
    try:
        _check(path, os.fstat(descriptor))
        data = os.read(descriptor, _MOST_BYTES)
    except OSError as error:
        raise ConfigProblem(str(path), f"{path} cannot be read: {error.strerror}") from error
    finally:
        os.close(descriptor)
    text = data.decode("ascii", "replace").strip()
    if not _TOKEN.fullmatch(text):
        raise ConfigProblem(
            str(path),
            f"{path} holds no token",
            hint=f"It must have {_WHAT} and nothing else; `memoranda token --new` makes one.",
        )
    return text


def make_token(path: Path) -> str:
    """Make a new token and put it into a file of mode 0600, in place of what is there.

    Raises:
        ConfigProblem: the file cannot be written.
    """
    token = secrets.token_urlsafe(_BYTES)
    ensure_private_folder(path.parent)
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(descriptor, f"{token}\n".encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        fresh.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise ConfigProblem(str(path), f"{path} cannot be written: {error.strerror}") from error
    return token


def _check(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise ConfigProblem(str(path), f"{path} is not a file")
    if not hasattr(os, "getuid"):  # Windows: the permissions of the folder hold
        return
    if found.st_uid not in {os.getuid(), 0}:
        raise ConfigProblem(
            str(path), f"{path} belongs to another user", hint="Make one of your own."
        )
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise ConfigProblem(
            str(path),
            f"{path} can be read or changed by others",
            hint=f"Make it yours alone: chmod 600 {path}; and think of a new token.",
        )
