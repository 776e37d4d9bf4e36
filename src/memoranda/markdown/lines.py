r"""Lines as Markdown and editors know them: ended by `\n`, `\r\n` or a lone `\r`."""

from __future__ import annotations

import re
from typing import Final

LINE_END: Final = re.compile(r"\r\n|\r|\n")
LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def line_end(text: str) -> str:
    """The line ending that the file uses most; "" if it has none yet."""
    crlf = text.count("\r\n")
    lf, cr = text.count("\n") - crlf, text.count("\r") - crlf
    if not (crlf or lf or cr):
        return ""
    return max((lf, "\n"), (crlf, "\r\n"), (cr, "\r"), key=lambda pair: pair[0])[1]


def adapted(added: str, ending: str) -> str:
    """The text with that line ending throughout; as it is where there is none."""
    return LINE_END.sub(ending, added) if ending else added


def ends_line(text: str) -> bool:
    """Whether nothing could follow on its last line."""
    return text.endswith(("\n", "\r"))


def closed(before: str, after: str, ending: str) -> str:
    """`after`, with a final line ending if the file had one."""
    return after + ending if ends_line(before) and after and not ends_line(after) else after


def line_start(text: str, at: int) -> int:
    """Where the line of a character begins."""
    width = 256
    while True:  # in growing steps: a file may have only one of the two line endings
        left = max(0, at - width)
        end = max(text.rfind("\n", left, at), text.rfind("\r", left, at))
        if end >= 0 or left == 0:
            return end + 1
        width *= 4


def line_stop(text: str, at: int) -> int:
    """Where the line of a character ends, before its line ending."""
    match = LINE_END.search(text, at)
    return match.start() if match else len(text)


def next_line(text: str, at: int) -> int:
    """Where the line after that of a character begins; the end of the text if there is none."""
    match = LINE_END.search(text, at)
    return match.end() if match else len(text)
