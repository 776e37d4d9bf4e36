"""One member or item of a JSON text is put in, replaced or taken out; no other byte changes. Pure.

What is put in goes behind the last one there, in the layout of its neighbours: their indent, the line
ends of the text, a comma at the end where there is one, comments left with what they stand behind.
Taking out what was put in gives the text of before, byte for byte.
"""

from __future__ import annotations

import json
import re

from memoranda.cli.clients.json_tree import Child, Json, Node, ends_in_line_comment, skip_blank
from memoranda.cli.clients.trace import Edited, Trace

_USUAL_INDENT = "  "
_COMMENTS = re.compile(r"(?:[ \t]*/\*.*?\*/)*(?:[ \t]*//[^\r\n]*)?", re.DOTALL)


def put_member(text: str, holder: Node, key: str, value: Json) -> Edited:
    """The text with a member at the end of an object that has none of that key."""
    return _put(text, holder, f"{_dumped(key)}: ", value)


def put_item(text: str, holder: Node, value: Json) -> Edited:
    """The text with an item at the end of an array."""
    return _put(text, holder, "", value)


def put_whole(text: str, value: Json) -> str:
    """A text that holds no value yet, with this one at its end."""
    end = line_end(text)
    lead = "" if not text.strip("\ufeff") or text.endswith("\n") else end
    return f"{text}{lead}{_laid_out(text, value, '')}{end}"


def replaced(text: str, child: Child, value: Json) -> str:
    """The text with another value in place of the child's."""
    if not _has_break(text.strip()):
        new = _dumped(value)
    else:
        new = _laid_out(text, value, _lead(text, child.start))
    return f"{text[: child.node.start]}{new}{text[child.node.end :]}"


def taken_out(text: str, holder: Node, child: Child, gap: str | None = None) -> str:
    """The text without this child of the holder.

    Args:
        text: all of it.
        holder: an object or array.
        child: one of its children.
        gap: see `Trace`; used when nothing else is left between the brackets.
    """
    index = holder.children.index(child)
    end = child.node.end
    comma = skip_blank(text, end)
    has_comma = text.startswith(",", comma)
    start = _start_with_blank(text, child.start)
    begins_line = start < child.start
    if not begins_line and child is holder.children[-1]:
        start = len(text[:start].rstrip(" \t"))
    behind = f"{text[end:comma]}{text[comma + 1 :]}" if has_comma else text[end:]
    before = holder.children[index - 1].node.end if index else holder.start + 1
    goes_on = not behind.lstrip(" \t").startswith(("\n", "\r"))
    if begins_line and goes_on and ends_in_line_comment(text, before, start):
        start = text.index("\n", start) + 1  # else what goes on would be in the comment
    if len(holder.children) == 1:
        rest = len(text) - holder.end + 1  # the closing bracket and what follows
        around = text[holder.start + 1 : child.start] + behind[: len(behind) - rest]
        if _squeezed(around) == _squeezed(gap or ""):
            return f"{text[: holder.start + 1]}{gap or ''}{text[holder.end - 1 :]}"
        return f"{text[:start]}{behind}"
    if has_comma:
        if not begins_line and child is not holder.children[-1]:
            behind = text[end:comma] + text[comma + 1 :].lstrip(" \t")
        return f"{text[:start]}{behind}"
    comma = skip_blank(text, before)
    return f"{text[:comma]}{text[comma + 1 : max(start, comma + 1)]}{behind}"


def line_end(text: str) -> str:
    """The line end that the text uses."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def _put(text: str, holder: Node, key: str, value: Json) -> Edited:
    end, compact = line_end(text), key + _dumped(value)
    if not holder.children:
        trace = Trace(gap=text[holder.start + 1 : holder.end - 1])
        at = _behind_comments(text, holder.start + 1, holder.end - 1)
        is_root = not text[: holder.start].strip("\ufeff \t")
        if not _has_break(text) and not is_root:
            return Edited(f"{text[:at]}{compact}{text[at:]}", trace)
        base = _lead(text, holder.start)
        lead = base + _unit(text)
        rest = text[at : holder.end - 1]
        close = "" if _has_break(rest) else end + base
        new = f"{text[:at]}{end}{lead}{key}{_laid_out(text, value, lead)}{close}{text[at:]}"
        return Edited(new, trace)
    last = holder.children[-1]
    behind = last.node.end
    comma = skip_blank(text, behind)
    has_comma = text.startswith(",", comma)
    first = comma + 1 if has_comma else behind
    at = _behind_comments(text, first, holder.end - 1)
    if _has_break(text[holder.start : holder.end]):
        lead = _lead(text, last.start)
        new = f"{end}{lead}{key}{_laid_out(text, value, lead)}"
    else:
        new = f" {compact}"
    if has_comma:
        return Edited(f"{text[:at]}{new},{text[at:]}", Trace())
    return Edited(f"{text[:behind]},{text[behind:at]}{new}{text[at:]}", Trace())


def _behind_comments(text: str, start: int, stop: int) -> int:
    """Behind the comments that begin in the line of `start`, else `start` itself."""
    found = _COMMENTS.match(text, start, stop)
    return found.end() if found else start


def _start_with_blank(text: str, start: int) -> int:
    """Before the blanks and the line end in front of a child, if it begins its line; else `start`."""
    at = len(text[:start].rstrip(" \t"))
    if text[:at].endswith("\r\n"):
        return at - 2
    return at - 1 if text[:at].endswith("\n") else start


def _has_break(text: str) -> bool:
    return "\n" in text or "\r" in text


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _lead(text: str, position: int) -> str:
    """The blanks that the line of this place begins with."""
    return _indent(text[text.rfind("\n", 0, position) + 1 : position].lstrip("\ufeff"))


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    """One step of the text's indent."""
    for line in text.splitlines():
        indent = _indent(line)
        if indent and line.strip() and not line.lstrip().startswith(("*", "//")):
            return indent
    return _USUAL_INDENT


def _laid_out(text: str, value: Json, lead: str) -> str:
    """A value over several lines, those behind the first with `lead` in front."""
    dumped = json.dumps(value, ensure_ascii=False, indent=_unit(text))
    return dumped.replace("\n", line_end(text) + lead)


def _dumped(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
