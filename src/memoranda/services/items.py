"""A parsed note as full-text rows: every piece of text once, at its finest grain. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime

from memoranda.model.note import Link, Observation, ParsedNote
from memoranda.model.search import ItemType
from memoranda.ports import IndexedItem, IndexedNote
from memoranda.text.analysis import ENGLISH, Languages, index_terms
from memoranda.text.filter_words import NOT_TEXT, is_text

_HEADING_CHARS = 200
ITEMS_VERSION = 2
"""Raise it when the rows of an unchanged note would differ."""


def indexed_note(
    entity_id: int,
    parsed: ParsedNote,
    observation_ids: Sequence[int],
    dates: tuple[datetime, datetime],
    *,
    is_new: bool = False,
    terms: Sequence[str] | None = None,
) -> IndexedNote:
    """The rows of a note, with the terms of each if they are known (`note_terms`)."""
    items = note_items(parsed, observation_ids)
    return IndexedNote(entity_id, parsed.note_type, *dates, items, is_new, terms)


def note_terms(parsed: ParsedNote, languages: Languages = ENGLISH) -> tuple[str, ...]:
    """What text analysis adds to each row of a note, in their order: work for another process."""
    items = note_items(parsed, range(len(parsed.observations)))
    return tuple(index_terms(item.searched, languages) for item in items)


def note_items(parsed: ParsedNote, observation_ids: Sequence[int]) -> list[IndexedItem]:
    """A note itself, its passages, its observations, and its explicit relations where they stand."""
    items = [
        IndexedItem(
            ItemType.NOTE,
            _header_text(parsed),
            start_line=1,
            end_line=max(1, parsed.body_line - 1),
            title=parsed.title,
            tags=" ".join(parsed.tags),
            headings="\n".join(heading.text for heading in parsed.outline),
        )
    ]
    items += [
        IndexedItem(
            ItemType.SECTION, p.text, short_headings(p.heading_path), p.start_line, p.end_line
        )
        for p in parsed.passages
    ]
    items += [
        IndexedItem(
            ItemType.OBSERVATION,
            observation_text(one),
            short_headings(one.heading_path),
            one.line,
            one.end_line,
            item_id=row_id,
        )
        for one, row_id in zip(parsed.observations, observation_ids, strict=True)
    ]
    items += [
        IndexedItem(
            ItemType.RELATION, relation_text(link), start_line=link.line, end_line=link.line
        )
        for link in parsed.links
        if link.relation_type != "links_to" and not link.is_attachment
    ]
    return items


def short_headings(path: tuple[str, ...]) -> tuple[str, ...]:
    """The place of an item; a heading that is a whole text would be stored with every item below it."""
    return tuple(heading[:_HEADING_CHARS] for heading in path)


def observation_text(one: Observation) -> str:
    """An observation in one line, as a person would write it, without its block id."""
    parts = [f"[{one.category}] {one.content}", *(f"#{tag}" for tag in one.tags)]
    parts += [f"[{key}:: {value}]" for key, value in one.attributes.items()]
    if one.context:
        parts.append(f"({one.context})")
    return " ".join(parts)


def relation_text(link: Link) -> str:
    """An explicit relation in one line, as a person would write it: its label and anchor too."""
    anchor = f"#{link.anchor}" if link.anchor else ""
    label = f"|{link.label}" if link.label else ""
    context = f" ({link.context})" if link.context else ""
    return f"{link.relation_type} [[{link.target}{anchor}{label}]]{context}"


def _header_text(parsed: ParsedNote) -> str:
    if parsed.raw_frontmatter:
        return parsed.raw_frontmatter
    texts: list[str] = []
    for key, value in parsed.frontmatter.items():
        if key not in NOT_TEXT:
            for one in value if isinstance(value, list) else [value]:
                texts += _texts(one)
    return "\n".join(filter(is_text, texts))


def _texts(value: str) -> Iterator[str]:
    """The texts of a frontmatter value: of a nested map or list, which is JSON, those inside it."""
    try:
        nested = json.loads(value) if value[:1] in {"{", "["} else None
    except (ValueError, RecursionError):
        nested = None
    if not isinstance(nested, dict | list):
        yield value
        return
    left: list[object] = [nested]
    while left:
        match left.pop():
            case dict() as inner:
                left += reversed(inner.values())
            case list() as inner:
                left += reversed(inner)
            case str() as text:
                yield text
            case _:
                pass
