"""What is wrong with a piece of YAML, said to people who do not know YAML."""

from __future__ import annotations

import re
from typing import Final

_PLACEHOLDER: Final = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|<%.*?%>")
_LONGEST_LINE: Final = 500
_LONGEST_PLACEHOLDER: Final = 40
_MESSAGES: Final = (
    ("alphabetic or numeric", "a value that begins with * or & must be in quotes"),
    ("undefined alias", "a value that begins with * must be in quotes"),
    ("unknown tag", "a value that begins with ! must be in quotes"),
    ("nesting depth", "nested too deeply"),
    ("mapping keys", "a value that begins with ? must be in quotes"),
    ("URI", "a value that begins with ! must be in quotes"),
    ("a tag", "a value that begins with ! must be in quotes"),
    ("expected ',' or", "a bracket is not closed"),
    ("could not find expected ':'", "the line is no `key: value`"),
    ("unexpected end of stream", "a quotation mark is not closed"),
    ("unexpected document indicator", "a quotation mark is not closed"),
    ("escape", "a backslash in double quotes must be written twice"),
    ("comment or line break", "text follows a | or > on the same line"),
    ("block sequence entries", "a list must begin on the line below its key"),
    ("not allowed at the", "a character that cannot be printed"),
    ("characters are not allowed", "a character that cannot be printed"),
    ("document start", "the line does not fit those above; look at its indentation"),
)
"""Part of what the YAML parser says -> what it means here, first match first."""


def placeholder_reason(line: str) -> str | None:
    """The reason if the line has a placeholder of a template: `{{ }}`, `{% %}` or `<% %>`."""
    match = _PLACEHOLDER.search(line[:_LONGEST_LINE])
    if match is None:
        return None
    shown = match[0] if len(match[0]) <= _LONGEST_PLACEHOLDER else match[0][:36] + "…"
    return f"{shown} looks like a template placeholder that was not filled in"


def plain_reason(problem: str, line: str, sign: str) -> str:
    """A short reason.

    Args:
        problem: the parser's own words.
        line: the source line with the fault.
        sign: the character at the fault; "" at the end of the text.
    """
    line = line[:_LONGEST_LINE]
    if (reason := placeholder_reason(line)) is not None:
        return reason
    if "cannot start any token" in problem:
        if sign == "\t":
            return "a tab stands where blanks are wanted"
        return f"a value that begins with {sign} must be in quotes"
    value = line.partition(": ")[2].lstrip()
    if "mapping values" in problem:
        if ": " in value or value.endswith(":"):
            return "a value with a colon must be in quotes"
        return "the line does not fit those above; look at its indentation"
    if "expected key" in problem:
        if value[:1] in ("'", '"'):
            return "text follows the closing quotation mark"
        if value[:1] in ("[", "{"):
            return "text follows the closing bracket"
        return "the line does not fit those above; look at its indentation"
    if "node content" in problem:
        if "[#" in line or ", #" in line:
            return "# begins a comment; a tag with its sign must be in quotes"
        return "a bracket or comma stands where a value is wanted"
    for part, meaning in _MESSAGES:
        if part in problem:
            return meaning
    return problem
