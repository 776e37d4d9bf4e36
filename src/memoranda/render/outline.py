"""The sections of a note, as JSON values and as lines of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memoranda.model.address import slug
from memoranda.model.outline import Section
from memoranda.render.bounds import first_that_fit, one_line

_FEW = 2


def section_data(section: Section) -> dict[str, Any]:
    """A line of the outline; `end_line` is the last line of what stands below the heading."""
    return {
        "level": section.heading.level,
        "text": section.heading.text,
        "line": section.heading.line,
        "end_line": section.end_line,
        "slug": section.slug,
    }


def outline_text(sections: Sequence[Section], after: int, limit: int) -> list[str]:
    """The headings below a line, with their lines; lower levels are left out where they do not fit.

    Nothing where not even two of them fit.
    """
    below = [one for one in sections if one.heading.line > after]
    lines: list[str] = []
    for level in sorted({one.heading.level for one in below}, reverse=True):
        kept = [one for one in below if one.heading.level <= level]
        if lines and len(kept) < _FEW:
            break
        top = min(one.heading.level for one in kept)
        which = "" if len(kept) == len(below) else f"{len(kept)} of "
        lines = [
            f"Sections further down ({which}{len(below)}), section=name reads one:",
            *(_section_text(one, top) for one in kept),
        ]
        if sum(len(line) + 1 for line in lines) <= limit:
            return lines
    fitting = first_that_fit((len(line) + 1 for line in lines), limit - 2)
    return [*lines[:fitting], "…"] if fitting > _FEW else []


def _section_text(section: Section, top: int) -> str:
    """The heading, and its slug where another section has the same heading."""
    heading = section.heading
    name = one_line(heading.text, 80) if heading.text.strip() else section.slug
    alone = section.slug == (slug(heading.text) or "section")
    return f"{'  ' * (heading.level - top)}line {heading.line}: {name}{'' if alone else f' ({section.slug})'}"
