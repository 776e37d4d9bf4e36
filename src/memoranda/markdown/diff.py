"""Unified diffs that stay readable however large a change is."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import Final

from memoranda.markdown.lines import LINE
from memoranda.model.address import NotePath

MAX_DIFF_LINES: Final = 4000

_HUNK: Final = re.compile(r"@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@")


def diff(old: str, new: str, path: NotePath, *, max_chars: int = 4000) -> str:
    """A unified diff, cut at a line after `max_chars` with a note of what is missing; "" if equal."""
    if old == new:
        return ""
    before, after = LINE.findall(old), LINE.findall(new)
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    tail = 0
    while tail < min(len(before), len(after)) - same and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    shift = max(0, same - 3)
    left = before[shift : len(before) - max(0, tail - 3)]
    right = after[shift : len(after) - max(0, tail - 3)]
    if len(left) + len(right) > MAX_DIFF_LINES:
        gone, come = len(before) - same - tail, len(after) - same - tail
        return f"--- {path}\n+++ {path}\n... {gone} lines replaced by {come} from line {same + 1}\n"
    lines: list[str] = []
    for line in difflib.unified_diff(left, right, path, path):
        if match := _HUNK.match(line):
            one, two = int(match[1]) + shift, int(match[3]) + shift
            lines.append(f"@@ -{one}{match[2] or ''} +{two}{match[4] or ''} @@\n")
        elif line.endswith(("\n", "\r")):
            lines.append(line.rstrip("\r\n") + "\n")
        else:
            lines.append(line + "\n\\ No newline at end of file\n")
    return _bounded(lines, max_chars)


def _bounded(lines: Sequence[str], max_chars: int) -> str:
    size = 0
    for number, line in enumerate(lines):
        if size + len(line) > max_chars:
            rest = len(lines) - number
            return "".join(lines[:number]) + f"... {rest} more lines of the diff are not shown\n"
        size += len(line)
    return "".join(lines)
