"""Markdown links to files of any kind, which are no links of the note for the index. Pure.

The index knows links to notes and to files with endings that name no note (`relations.is_attachment`). A
person links to scripts and pages too: who moves a note must find these as well.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from memoranda.markdown.edit_layout import WrittenLink, read_for_edit
from memoranda.markdown.relations import LINKS_TO
from memoranda.model.address import NotePath
from memoranda.model.note import Link, LinkForm, ParsedNote

_LEADS_OUT: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|[#?]|//")
_RELATIVE: Final = re.compile(r"\]\(\s*<?(?![A-Za-z][A-Za-z0-9+.-]*:|[#?]|//)[^)\s]")


def file_links(text: str, note: ParsedNote, path: NotePath) -> tuple[Link, ...]:
    """Inline links to paths that are none of the note's links, in document order.

    `markdown.link_edits` takes them like the others.

    Args:
        text: of the note.
        note: what was read from it.
        path: of the note.

    Raises:
        InvalidArgument: the Markdown reader fails on the text.
    """
    known = sum(link.form is LinkForm.MARKDOWN for link in note.links)
    if len(_RELATIVE.findall(text)) <= known:
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
        if link.style == "Inline" and link.start not in starts and (target := path_in(link))
    )


def path_in(link: WrittenLink) -> str:
    """The path that a link has as its destination, decoded; "" if it leads somewhere else."""
    if _LEADS_OUT.match(link.destination):
        return ""
    return unquote(re.split("[#?]", link.destination, maxsplit=1)[0]).strip()
