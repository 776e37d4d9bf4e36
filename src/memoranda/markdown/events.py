"""The events of pulldown-cmark, by way of pyromark: how it is called, and how it is kept in bounds.

All offsets are bytes of the text's UTF-8 form. What the library reads otherwise than writers mean it is
put right in the text that it gets, byte for byte at the same place, so that offsets hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import pyromark

OPTIONS: Final = (
    pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_WIKILINKS
    | pyromark.Options.ENABLE_GFM
    | pyromark.Options.ENABLE_MATH
    | pyromark.Options.ENABLE_FOOTNOTES
    | pyromark.Options.ENABLE_STRIKETHROUGH
    | pyromark.Options.ENABLE_TASKLISTS
)
_LONE_CR: Final = re.compile(r"\r(?!\n)")
_OUTLINE: Final = re.compile(
    r"(?P<heading>^#{1,6}[ \t][^\n]*\n)(?P<outline>(?:\t[^\n]*(?:\n|\Z))+)", re.MULTILINE
)
_TAB_BULLET: Final = re.compile(r"\t+[-*+][ \t]")
_FIRST_TAB: Final = re.compile(r"^\t", re.MULTILINE)


def markdown_events(text: str) -> Iterator[tuple[Any, Any]]:
    """The events of a body with their byte ranges. A Rust panic comes out as it is, see `is_panic`."""
    return pyromark.events_with_range(as_meant(text), options=OPTIONS)


def is_panic(error: BaseException) -> bool:
    """Whether the library gave up: pyo3's PanicException, a BaseException without an importable class."""
    return type(error).__name__ == "PanicException"


def as_meant(text: str) -> str:
    """The text as the library has to see it.

    A lone CR ends a line, which the library forgets for fences and quotes. Logseq indents what stands
    below a heading by a tab, which CommonMark takes for code: there a list may begin (ADR 14).
    """
    if "\r" in text:
        text = _LONE_CR.sub("\n", text)
    if "\n\t-" in text or "\n\t*" in text or "\n\t+" in text:
        text = _OUTLINE.sub(_unindented, text)
    return text


def _unindented(match: re.Match[str]) -> str:
    outline = match["outline"]
    if not _TAB_BULLET.match(outline):
        return match[0]
    return match["heading"] + _FIRST_TAB.sub(" ", outline)
