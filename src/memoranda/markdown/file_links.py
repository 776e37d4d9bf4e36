"""Markdown links to files of any kind, which are no links of the note for the index. Pure.

The index knows links to notes and to files with endings that name no note (`relations.is_attachment`). A
person links to scripts and pages too: who moves a note must find these as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from memoranda.markdown.edit_layout import WrittenLink, read_for_edit
from memoranda.markdown.relations import LINKS_TO, is_attachment
from memoranda.model.address import NotePath
from memoranda.model.note import Link, LinkForm, ParsedNote

_LEADS_OUT: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|[#?]|//")
_RELATIVE: Final = re.compile(r"\]\(\s*<?(?![A-Za-z][A-Za-z0-9+.-]*:|[#?]|//)[^)\s]")
_INLINE: Final = re.compile(r"\]\(\s*(?:<([^<>\r\n]*)>|([^\s<][^\s)]*))")
_DEFINED: Final = re.compile(r"\]:[ \t]*(?:\r\n|\r|\n)?[ \t>]*(?:<([^<>\r\n]*)>|([^\s<]\S*))")
STYLES: Final = frozenset({"Inline", "Reference", "Collapsed", "Shortcut"})
"""How links and pictures to paths are written, as the Markdown reader calls it."""


def file_links(text: str, note: ParsedNote, path: NotePath) -> tuple[Link, ...]:
    """Links and pictures with paths that are none of the note's links, in document order.

    `markdown.link_edits` takes them like the others.

    Args:
        text: of the note.
        note: what was read from it.
        path: of the note.

    Raises:
        InvalidArgument: the Markdown reader fails on the text.
    """
    if not _may_have_others(text, note):
        return ()
    reading = read_for_edit(text, path)
    starts = {link.start for link in note.links}
    return tuple(
        Link(
            LinkForm.MARKDOWN,
            target,
            LINKS_TO,
            reading.line(link.start),
            link.start,
            link.end,
            is_attachment=True,
        )
        for link in reading.layout.links
        if link.style in STYLES and link.start not in starts and (target := path_in(link))
    )


def named_files(text: str) -> Iterator[str]:
    """The last segments of all that looks like the destination of a link in a text, decoded."""
    for pattern in (_INLINE, _DEFINED):
        for match in pattern.finditer(text):
            if target := path_of(match[1] or match[2] or ""):
                yield target.rpartition("/")[2]


def _may_have_others(text: str, note: ParsedNote) -> bool:
    """Whether to look closer: more than the note's own links look like links to paths."""
    known = sum(link.form is LinkForm.MARKDOWN for link in note.links)
    if len(_RELATIVE.findall(text)) > known:
        return True
    defined = [path_of(match[1] or match[2] or "") for match in _DEFINED.finditer(text)]
    if not any(defined):
        return False
    # Of the note's own links some may be written by definitions: then the count above says nothing.
    return bool(_RELATIVE.search(text)) or any(
        one and not is_attachment(one) and one[-3:].lower() != ".md" for one in defined
    )


def path_in(link: WrittenLink) -> str:
    """The path that a link has as its destination, decoded; "" if it leads somewhere else."""
    return path_of(link.destination)


def path_of(destination: str) -> str:
    """The path in a destination, decoded; "" if it leads somewhere else."""
    if _LEADS_OUT.match(destination):
        return ""
    return unquote(re.split("[#?]", destination, maxsplit=1)[0]).strip()
