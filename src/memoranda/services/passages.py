"""The passages that show why a hit was found. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from memoranda.model.search import ItemType, Passage
from memoranda.services.snippets import Snippet, snippet
from memoranda.text.analysis import Languages
from memoranda.text.query import Term

if TYPE_CHECKING:
    from memoranda.services.found import FoundItem


def passages(
    items: Sequence[FoundItem], terms: Sequence[Term], languages: Languages
) -> tuple[Passage, ...]:
    """A snippet of each item, best item first.

    Left out are a note's own item without a match in its header (it was found by its title, which is
    shown anyway), and items that are nothing but a heading, a rule or link definitions, unless all are.
    """
    shown = list(_snippets(items, terms, languages))
    telling = [one for one in shown if not one[1].is_bare] or shown[:1]
    return tuple(_passage(item, part) for item, part in telling)


def _snippets(
    items: Sequence[FoundItem], terms: Sequence[Term], languages: Languages
) -> Iterator[tuple[FoundItem, Snippet]]:
    for item in items:
        stored = item.stored
        part = snippet(stored.content, terms, headings=stored.heading_path, languages=languages)
        if part.text and (part.matches or item.item_type is not ItemType.NOTE):
            yield item, part


def _passage(item: FoundItem, part: Snippet) -> Passage:
    stored = item.stored
    return Passage(
        text=part.text,
        heading_path=stored.heading_path,
        start_line=min(stored.start_line + part.first_line, stored.end_line),
        end_line=min(stored.start_line + part.last_line, stored.end_line),
        score=item.score.total if item.score else 0.0,
        matches=part.matches,
    )
