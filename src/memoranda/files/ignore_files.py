"""Reading the ignore files of a project. Only regular files inside its folder are read, no links."""

from __future__ import annotations

import errno
import os
import stat

from memoranda.files.ignore import (
    IGNORE_FILES,
    MAX_IGNORE_BYTES,
    NO_RULES,
    Rule,
    RuleFile,
    parse_rules,
)


def read_rules(root: str, prefix: str, name: str) -> RuleFile:
    """The rules of one ignore file; nothing that is wrong with it raises.

    Args:
        root: the project's real folder.
        prefix: the file's folder, relative, "" or ending in "/".
        name: of the file.
    """
    try:
        data = _read(f"{root}/{prefix}{name}")
    except FileNotFoundError:
        return RuleFile()
    except OSError as error:
        return RuleFile(trouble=f"not used: unreadable ({error.strerror})")
    if data is None:
        return RuleFile(trouble="not used: a link or no regular file")
    if len(data) > MAX_IGNORE_BYTES:
        return RuleFile(trouble=f"not used: larger than {MAX_IGNORE_BYTES >> 20} MiB")
    return parse_rules(data, prefix + name)


def ignoring_rule(root: str, path: str) -> Rule | None:
    """The rule that leaves out a file, whether it exists or not; None when none does.

    Reads at most two files for each folder on the way. A folder that is reached by a link out of the
    project ends the search: the scan does not go there either.

    Args:
        root: the project's real folder.
        path: relative, POSIX.
    """
    *folders, name = path.split("/")
    rules = NO_RULES
    prefix = ""
    for folder in (*folders, None):
        if not _is_inside(root, os.path.realpath(f"{root}/{prefix}")):
            return None
        for each in IGNORE_FILES:
            rules = rules.and_(read_rules(root, prefix, each).rules)
        if folder is None:
            return rules.ignoring(name, is_folder=False)
        if (rule := rules.ignoring(folder, is_folder=True)) is not None:
            return rule
        rules = rules.below(folder)
        prefix += folder + "/"
    return None


def _is_inside(root: str, real: str) -> bool:
    return real == root or real.startswith(root.rstrip("/") + "/")


def _read(path: str) -> bytes | None:
    """The bytes, at most one more than allowed; None when it is a link or no regular file."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError as error:
        if error.errno == errno.ELOOP:
            return None
        raise
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        chunks: list[bytes] = []
        left = MAX_IGNORE_BYTES + 1
        while left and (chunk := os.read(fd, left)):
            chunks.append(chunk)
            left -= len(chunk)
        return b"".join(chunks)
    finally:
        os.close(fd)
