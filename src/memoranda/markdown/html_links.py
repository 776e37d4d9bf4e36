"""Links and pictures written as HTML, which nobody rewrites. Pure."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from memoranda.errors import InvalidArgument
from memoranda.markdown.events import is_panic, markdown_events
from memoranda.markdown.file_links import path_of
from memoranda.markdown.relations import LINKS_TO
from memoranda.model.address import NotePath
from memoranda.model.note import Link, LinkForm, ParsedNote

_NAMES: Final = re.compile(
    rb"""(?<![\w-])(?:src|href)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE
)
_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
_KINDS: Final = frozenset({"Html", "InlineHtml"})


def html_links(note: ParsedNote, path: NotePath) -> tuple[Link, ...]:
    """The `src` and `href` in a note's HTML that are paths, in document order; offsets are the body's.

    Args:
        note: as read.
        path: of the note.

    Raises:
        InvalidArgument: the Markdown reader fails on the text.
    """
    if "<" not in note.content:
        return ()
    data = note.content.encode("utf-8", "surrogatepass")
    if _NAMES.search(data) is None:
        return ()
    ends = [match.end() for match in _LINE_END.finditer(data)]
    return tuple(
        Link(
            LinkForm.MARKDOWN,
            target,
            LINKS_TO,
            note.body_line + bisect_right(ends, match.start()),
            match.start(),
            match.end(),
            is_attachment=True,
        )
        for match in _in_html(data, note.content, path)
        if (target := path_of(_destination(match)))
    )


def _in_html(data: bytes, text: str, path: NotePath) -> Iterator[re.Match[bytes]]:
    try:
        spans = [
            (span["start"], span["end"])
            for event, span in markdown_events(text)
            if event.__class__ is dict and next(iter(event)) in _KINDS
        ]
    except BaseException as error:
        if not is_panic(error):
            raise
        raise InvalidArgument("path", f"{path} cannot be read as Markdown") from error
    for start, end in spans:
        yield from _NAMES.finditer(data, start, end)


def _destination(match: re.Match[bytes]) -> str:
    value = next(one for one in match.groups() if one is not None)
    return html.unescape(value.decode("utf-8", "replace")).strip()
