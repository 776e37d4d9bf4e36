"""What a note is about, on one line, from how it begins. Pure."""

from __future__ import annotations

import re
from typing import Final

_LONGEST: Final = 160
_FENCE = re.compile(r"(?:`{3,}|~{3,})")
_SAYS_NOTHING = re.compile(
    r"#|\||<[!/a-zA-Z]|\$\$|%%|\[!\["  # a heading or tags, a table, HTML, formulas, badges
    r"|(?:[-*_=+][ \t]*){3,}\Z"  # a rule
    r"|!?\[\[[^\]]*\]\]\Z|!\[[^\]]*\](?:\([^)]*\))?\Z"  # nothing but a link or a picture
    r"|\[[^\]]+\]:[ \t]"  # where a link leads
    r"|[\w-]+::"  # a property
)
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_QUOTE = re.compile(r"(?:>[ \t]*)+(?:\[![\w-]+\][+-]?[ \t]*)?")


def summary(description: str, opening: str) -> str:
    """The description of a note, or else its first paragraph; at most 160 characters.

    Headings, tables, code, HTML, properties and lines that hold nothing but a link are no paragraph; items of
    a list are one only where there is no other. "" for a note that says nothing.
    """
    text = " ".join(description.split()) or _paragraph(opening)
    if len(text) <= _LONGEST:
        return text
    cut = text[: _LONGEST - 1]
    word, _, rest = cut.rpartition(" ")
    return f"{(word if word and len(rest) < _LONGEST // 4 else cut).rstrip()}…"


def _paragraph(opening: str) -> str:
    prose: list[str] = []
    items: list[str] = []
    fence = ""
    for line in opening.splitlines():
        text = _QUOTE.sub("", line.strip(), count=1)
        if fence:
            fence = "" if text.startswith(fence) else fence
        elif mark := _FENCE.match(text):
            fence = mark[0]
        elif text and not _SAYS_NOTHING.match(text):
            item = _ITEM.match(text)
            if item or (items and not prose and line[:1] in {" ", "\t"}):
                items.append(text[item.end() if item else 0 :])
            else:
                prose.append(text)
            continue
        if prose:
            break
    return " ".join(" ".join(prose or items).split())
