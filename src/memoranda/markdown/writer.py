"""New notes, and edits that change only what they were asked to change.

An existing header is never loaded and dumped again: edits splice text, and what they add takes the
line endings of the file.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final, assert_never

from memoranda.errors import EditMismatch, InvalidArgument
from memoranda.markdown.frontmatter import split_frontmatter
from memoranda.markdown.yaml_values import YamlFault, iso_date, load_entries
from memoranda.model.address import NotePath
from memoranda.model.edit import Append, Edit, FindReplace, Prepend, Replace

MAX_METADATA_DEPTH: Final = 20
MAX_DIFF_LINES: Final = 4000

_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_PLAIN: Final = re.compile(r"[^\W\d_](?:[\w.,/()+&'-]| (?! ))*")
_WORDS_OF_YAML: Final = frozenset({"true", "false", "yes", "no", "on", "off", "y", "n", "null"})
_NOT_PRINTABLE: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_HUNK: Final = re.compile(r"@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@")


def new_note(
    *,
    title: str,
    content: str,
    note_type: str,
    tags: Sequence[str],
    metadata: Mapping[str, object],
) -> str:
    r"""The text of a new file: `---\n{frontmatter}\n---\n\n{content}`.

    Content that begins with a header of its own is merged into one: title, type, metadata, and tags if
    any are given, win; the other lines of that header are kept as written.

    Raises:
        InvalidArgument: a metadata value that frontmatter cannot hold, or content with a header that
            is not usable YAML.

    Source: spec 6.2.1.
    """
    given: dict[str, object] = {"title": title, "type": note_type}
    if tags:
        given["tags"] = list(tags)
    given |= {key: value for key, value in metadata.items() if key not in given}
    header = "".join(_entry(key, value, 0) for key, value in given.items() if value is not None)
    content = content.removeprefix("\ufeff")
    cut = split_frontmatter(content)
    if cut.header is not None:
        header += _others(cut.header, given, header)
        content = content[cut.body_start :].lstrip("\r\n")
    return f"---\n{header}---\n\n{content}"


def apply_edit(text: str, edit: Edit, path: NotePath) -> str:
    r"""The text after the edit. What the edit does not touch stays as it is, character for character.

    Added line endings are those of the file. Appended text begins on a line of its own; the file ends
    with a line ending if it did before or the added text does. `\n` in a text to find matches any
    line ending.

    Raises:
        EditMismatch: the text to find occurs another number of times than expected.
        InvalidArgument: nothing to find, or a second header would be made.
    """
    match edit:
        case Append(added):
            return _append(text, added)
        case Prepend(added):
            return _prepend(text, added)
        case FindReplace(find, replacement, expected):
            return _find_replace(text, find, replacement, expected, path)
        case Replace(body):
            return _replace(text, body)
        case _:
            assert_never(edit)


def diff(old: str, new: str, path: NotePath, *, max_chars: int = 4000) -> str:
    """A unified diff, cut at a line after `max_chars` with a note of what is missing; "" if equal."""
    if old == new:
        return ""
    before, after = _LINE.findall(old), _LINE.findall(new)
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


def _line_end(text: str) -> str:
    """The line ending that the file uses most; "" if it has none yet."""
    crlf = text.count("\r\n")
    lf, cr = text.count("\n") - crlf, text.count("\r") - crlf
    if not (crlf or lf or cr):
        return ""
    return max((lf, "\n"), (crlf, "\r\n"), (cr, "\r"), key=lambda pair: pair[0])[1]


def _adapted(added: str, line_end: str) -> str:
    return _LINE_END.sub(line_end, added) if line_end else added


def _ends_line(text: str) -> bool:
    return text.endswith(("\n", "\r"))


def _closed(before: str, after: str, line_end: str) -> str:
    """`after`, with a final line ending if the file had one."""
    return after + line_end if _ends_line(before) and after and not _ends_line(after) else after


def _append(text: str, added: str) -> str:
    if not added:
        return text
    line_end = _line_end(text)
    added = _adapted(added, line_end)
    if text and not _ends_line(text):
        text_and_end = text + (line_end or _line_end(added) or "\n")
    else:
        text_and_end = text
    result = _closed(text, text_and_end + added, line_end)
    if text and split_frontmatter(text).header is None:
        _refuse_header(
            split_frontmatter(result).header, "append would turn the note into frontmatter"
        )
    return result


def _prepend(text: str, added: str) -> str:
    if not added:
        return text
    line_end = _line_end(text) or "\n"
    cut = split_frontmatter(text)
    if cut.header is not None:
        _refuse_header(split_frontmatter(added).header, "the note already has frontmatter")
    head, body = text[: cut.body_start], text[cut.body_start :]
    added = _adapted(added, line_end)
    if head and not _ends_line(head):
        head += line_end
    if body and not _ends_line(added):
        added += line_end
    return head + added + body


def _replace(text: str, body: str) -> str:
    line_end = _line_end(text)
    cut = split_frontmatter(text)
    if cut.header is not None:
        _refuse_header(split_frontmatter(body).header, "the note already has frontmatter")
    head, old = text[: cut.body_start], text[cut.body_start :]
    body = _adapted(body, line_end)
    if head and body and not _ends_line(head):
        head += line_end
    if head and (blank := _LINE_END.match(old)) and body and not _LINE_END.match(body):
        body = blank[0] + body
    return head + _closed(old, body, line_end)


def _find_replace(text: str, find: str, replacement: str, expected: int, path: NotePath) -> str:
    if not find:
        raise InvalidArgument("find_text", "the text to find is empty")
    if expected < 1:
        raise InvalidArgument("expected_replacements", "expected_replacements is below 1")
    pattern = re.compile(r"(?:\r\n|\r|\n)".join(map(re.escape, _LINE_END.split(find))))
    found = sum(1 for _ in pattern.finditer(text))
    if found != expected:
        raise EditMismatch(path, found, expected)
    added = _adapted(replacement, _line_end(text))
    return pattern.sub(lambda _: added, text)


def _refuse_header(header: str | None, reason: str) -> None:
    if header is not None:
        raise InvalidArgument(
            "content",
            f"the new text has a header between --- lines, but {reason}",
            hint="Leave the header out; change it with find_replace.",
        )


def _others(header: str, given: Mapping[str, object], written: str) -> str:
    """The lines of a header whose keys are not given; dumped from values if lines do not part them."""
    try:
        entries = load_entries(header)
    except YamlFault as fault:
        raise InvalidArgument(
            "content",
            f"the header of the content is not usable YAML (line {fault.line + 2}: {fault.reason})",
            hint="Correct it, or pass its keys as metadata.",
        ) from fault
    wanted = {entry.key: entry.value for entry in entries if entry.key not in given}
    starts = [entry.at for entry in entries]
    kept = ""
    for entry, start, end in zip(entries, starts, [*starts[1:], len(header)], strict=True):
        if entry.key not in given:
            kept += header[start:end]
    kept = _LINE_END.sub("\n", kept)
    if kept and not kept.endswith("\n"):
        kept += "\n"
    try:
        read_back = {entry.key: entry.value for entry in load_entries(written + kept)}
    except YamlFault:
        read_back = {}
    if all(key in read_back and read_back[key] == value for key, value in wanted.items()):
        return kept
    return "".join(_entry(key, value, 0) for key, value in wanted.items() if value is not None)


def _entry(key: object, value: object, depth: int) -> str:
    if not isinstance(key, str) or not key.strip() or key == "<<" or len(key) > 200:
        raise InvalidArgument("metadata", f"{key!r} cannot be a frontmatter key")
    if _LINE_END.search(key):
        raise InvalidArgument("metadata", f"the frontmatter key {key!r} has more than one line")
    return f"{'  ' * depth}{_text(key)}:{_value(value, depth)}"


def _value(value: object, depth: int) -> str:
    """What follows `key:` or `-`, final line ending included."""
    if depth > MAX_METADATA_DEPTH:
        raise InvalidArgument("metadata", "metadata is nested too deeply")
    if isinstance(value, Mapping):
        if not value:
            return " {}\n"
        return "\n" + "".join(_entry(key, item, depth + 1) for key, item in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        if not value:
            return " []\n"
        return "\n" + "".join(f"{'  ' * (depth + 1)}-{_value(v, depth + 1)}" for v in value)
    return f" {_scalar(value)}\n"


def _scalar(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            if not math.isfinite(value):
                raise InvalidArgument("metadata", f"{value} cannot be written to frontmatter")
            return repr(value)
        case date():  # datetime too
            return value.isoformat()
        case str():
            return _text(value)
        case _:
            raise InvalidArgument(
                "metadata", f"a {type(value).__name__} cannot be written to frontmatter"
            )


def _text(text: str) -> str:
    """A YAML scalar that every reader takes for this text; plain where no reader could guess."""
    if _SURROGATE.search(text):
        raise InvalidArgument("metadata", f"{text!a} is not valid Unicode")
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS_OF_YAML and text[-1] != " ":
        return text
    if iso_date(text) == text:
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return _NOT_PRINTABLE.sub(lambda sign: f"\\u{ord(sign[0]):04x}", quoted)
