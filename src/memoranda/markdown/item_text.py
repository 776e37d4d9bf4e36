"""Observations and explicit relations as one line of Markdown that reads back as what was given.

A line is never trusted: it is parsed, and what would be read as something else is refused with the
parameter that is at fault.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, assert_never

from memoranda.errors import InvalidArgument
from memoranda.markdown.edit_layout import Reading, read_for_edit
from memoranda.markdown.lines import LINE_END
from memoranda.markdown.observations import tags_of
from memoranda.markdown.relations import relation_type, wiki_link
from memoranda.model.address import NotePath
from memoranda.model.edit import FactText, ItemText, RelationText
from memoranda.model.note import Link, LinkForm, Observation

_ALONE: Final = NotePath("item.md")
_BULLET: Final = "- "
_QUOTES: Final = ('"{}"', "“{}”", "«{}»")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_BLOCK_ID: Final = re.compile(r"(?:^|\s)\^[A-Za-z0-9-]+\Z")
_OPENING: Final = re.compile(r"\s[(（]")


@dataclass(frozen=True, slots=True)
class ItemLine:
    """An item's text on one line, without bullet, and what the reader makes of it.

    Attributes:
        fact: what is read if it is an observation, at no particular place.
        link: what is read if it is a relation, at no particular place.
    """

    text: str
    fact: Observation | None = None
    link: Link | None = None

    def is_read_from(self, reading: Reading, start: int, end: int) -> bool:
        """Whether this is what is read from an item whose own text is that range of bytes."""
        note, layout = reading.note, reading.layout
        index = layout.item_with(start)
        if index is None or layout.items[index].own != (start, end):
            return False
        facts = [_unplaced(one) for one in note.observations if start < one.end <= end]
        if self.fact is not None:
            return facts == [self.fact]
        links = (_unplaced_link(one) for one in note.links if start <= one.start < end)
        return not facts and next(links, None) == self.link


def item_line(item: ItemText) -> ItemLine:
    """The item as it is written behind a bullet.

    An observation: `[category] content #tag [key:: value] (context) ^id`. A relation:
    `type [[target]] (context)`, the type in quotes where it could not be read without.

    Raises:
        InvalidArgument: it cannot be written so that it is read as what was given.
    """
    match item:
        case FactText():
            return _fact_line(item)
        case RelationText():
            return _relation_line(item)
        case _:
            assert_never(item)


def block_id_of(text: str) -> str | None:
    """The block id at the end of an item's text, without `^`."""
    match = _BLOCK_ID.search(text)
    return match[0].strip().removeprefix("^") if match else None


def described(value: Observation | Link) -> str:
    """A found item as an error names it."""
    if isinstance(value, Observation):
        text = f"[{value.category}] {value.content}"
    else:
        text = f"{value.relation_type.replace('_', ' ')} [[{value.target}]]"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _fact_line(given: FactText) -> ItemLine:
    fact = FactText(
        given.category.strip(),
        given.content.strip(),
        tuple(dict.fromkeys(tag.strip().removeprefix("#") for tag in given.tags)),
        (given.context or "").strip() or None,
        {key.strip(): value.strip() for key, value in given.attributes.items()},
        (given.block_id or "").strip().removeprefix("^") or None,
    )
    _check_text("category", fact.category)
    _check_text("content", fact.content)
    for tag in fact.tags:
        _check_text("tags", tag)
    for key, value in fact.attributes.items():
        _check_text("attributes", key)
        _check_text("attributes", value)
    _check_text("context", fact.context or "")
    _check_text("block_id", fact.block_id or "")
    read: Observation | None = None
    for text in _fact_forms(fact):
        read = _read_fact(text)
        if read is not None and _as_given(read) == fact:
            return ItemLine(text, fact=_unplaced(read))
    raise _fact_fault(fact, read)


def _fact_forms(fact: FactText) -> Iterator[str]:
    yield _fact_form(fact, ("[", "]"))
    if any("[" in value or "]" in value for value in fact.attributes.values()):
        yield _fact_form(fact, ("(", ")"))


def _fact_form(fact: FactText, brackets: tuple[str, str]) -> str:
    parts = [f"[{fact.category}]", fact.content]
    parts += [f"#{tag}" for tag in fact.tags]
    for key, value in fact.attributes.items():
        left, right = brackets if "[" in value or "]" in value else ("[", "]")
        parts.append(f"{left}{key}:: {value}{right}")
    if fact.context is not None:
        parts.append(f"({fact.context})")
    if fact.block_id is not None:
        parts.append(f"^{fact.block_id}")
    return " ".join(parts)


def _read_fact(text: str) -> Observation | None:
    """The observation that fills this line, read on its own."""
    reading = read_for_edit(f"{_BULLET}{text}\n", _ALONE)
    found = reading.note.observations
    whole = len(found) == 1 and (found[0].start, found[0].end) == (0, len(reading.data) - 1)
    return found[0] if whole else None


def _as_given(read: Observation) -> FactText:
    return FactText(
        read.category, read.content, read.tags, read.context, read.attributes, read.block_id
    )


def _unplaced(value: Observation) -> Observation:
    return replace(
        value, line=0, end_line=0, start=0, end=0, heading_path=(), parent="", parent_line=0
    )


def _unplaced_link(value: Link) -> Link:
    return replace(value, line=0, start=0, end=0)


def _fact_fault(fact: FactText, read: Observation | None) -> InvalidArgument:
    """Which of the values is read as something else. `read` is None if it is no observation at all."""
    if not fact.content:
        return InvalidArgument(
            "content",
            "the content of an observation is empty",
            hint="Say the fact in words; tags and fields alone are none.",
        )
    if read is None or read.category != fact.category:
        return InvalidArgument(
            "category",
            f"[{fact.category}] would not be read as a category",
            hint="A category is a word or a few, without brackets; one letter is a task box, and times, "
            "!, ^ and :: mean other things.",
        )
    if read.block_id != fact.block_id and fact.block_id is not None:
        return InvalidArgument(
            "block_id",
            f"{fact.block_id!r} would not be read as a block id",
            hint="A block id has letters, digits and hyphens only.",
        )
    for tag in fact.tags:
        if [name for _, _, name in tags_of(f"#{tag}")] != [tag]:
            return InvalidArgument(
                "tags",
                f"{tag!r} would not be read as a tag",
                hint="A tag has no blanks and not digits alone, and is not a colour such as ff8800.",
            )
    if stray := [name for name in read.tags if name not in fact.tags]:
        return InvalidArgument(
            _holder(fact, f"#{stray[0]}"),
            f"#{stray[0]} in the text would be read as a tag",
            hint="Give tags in `tags`, and write the text without #.",
        )
    if read.attributes != fact.attributes:
        return _attribute_fault(fact.attributes, read.attributes)
    if read.context != fact.context and fact.context is not None:
        return InvalidArgument(
            "context",
            f"({fact.context}) would not be read as the context",
            hint="Brackets in it must be balanced, and it cannot be tags or fields alone.",
        )
    if read.context is not None and fact.context is None:
        return InvalidArgument(
            "content",
            f"the content ends in ({read.context}), which would be read as its context",
            hint=f"Give {read.context!r} as context and leave it out of the content, "
            "or let the content end with another word or sign.",
        )
    return InvalidArgument(
        "content",
        f"the content would be read as {read.content!r}",
        hint="Give tags, fields, context and block id in parameters of their own.",
    )


def _holder(fact: FactText, sign: str) -> str:
    """The parameter whose text holds a sign."""
    if sign in fact.content:
        return "content"
    return "context" if sign in (fact.context or "") else "attributes"


def _attribute_fault(wanted: Mapping[str, str], read: Mapping[str, str]) -> InvalidArgument:
    for key, value in wanted.items():
        if read.get(key) != value:
            return InvalidArgument(
                "attributes",
                f"[{key}:: {value}] would not be read as a field",
                hint="A key has no brackets and no colon, and a value no lone brackets.",
            )
    key = next(key for key in read if key not in wanted)
    return InvalidArgument(
        "content",
        f"[{key}:: {read[key]}] in the text would be read as a field",
        hint="Give fields in `attributes`.",
    )


def _relation_line(given: RelationText) -> ItemLine:
    kind, target = given.relation_type.strip(), given.target.strip()
    context = (given.context or "").strip() or None
    _check_text("relation_type", kind)
    _check_text("target", target)
    _check_text("context", context or "")
    if target.startswith("[[") and target.endswith("]]"):
        raise InvalidArgument(
            "target",
            f"{target} has brackets around it",
            hint="Give the name alone; the brackets are added.",
        )
    stored = relation_type(kind) or "_".join(kind.split()).lower()
    wanted = _wanted_link(target, stored, context)
    if wanted is None:
        raise InvalidArgument("target", f"{target!r} names no note", hint="Give a note's name.")
    if wanted.is_attachment:
        raise InvalidArgument(
            "target",
            f"{wanted.target!r} names a file that is no note, which makes no relation",
            hint="Name a note, with .md if its name ends like that, or write the link as text.",
        )
    for form in _type_forms(kind, stored):
        for end in _context_forms(context):
            text = f"{form} [[{target}]]{end}"
            if _read_relation(text) == wanted:
                return ItemLine(text, link=wanted)
    raise _relation_fault(kind, stored, target, context)


def _wanted_link(target: str, stored: str, context: str | None) -> Link | None:
    return wiki_link(
        target, form=LinkForm.WIKI, relation_type=stored, line=0, start=0, end=0, context=context
    )


def _type_forms(kind: str, stored: str) -> Iterator[str]:
    yield kind
    words = " ".join(kind.split())
    yield from (form for quotes in _QUOTES if relation_type(form := quotes.format(words)) == stored)


def _context_forms(context: str | None) -> Iterator[str]:
    if context is None:
        yield ""
        return
    yield f" ({context})"
    yield f" - {context}"  # brackets that are not balanced


def _read_relation(text: str) -> Link | None:
    """The relation that fills this line, read on its own."""
    reading = read_for_edit(f"{_BULLET}{text}\n", _ALONE)
    own = [item.own for item in reading.layout.items]
    if own != [(len(_BULLET), len(reading.data) - 1)] or reading.note.observations:
        return None
    links = reading.note.links
    return _unplaced_link(links[0]) if links else None


def _relation_fault(kind: str, stored: str, target: str, context: str | None) -> InvalidArgument:
    plain = _read_relation(f"part of [[{target}]]")
    if plain is None or plain != _wanted_link(target, "part_of", None):
        return InvalidArgument(
            "target",
            f"[[{target}]] would not be read as a link to it",
            hint="A name has no ]], and what stands behind # and | is its heading and its label.",
        )
    if context is not None and not any(
        _read_relation(f"part of [[{target}]]{end}") == _wanted_link(target, "part_of", context)
        for end in _context_forms(context)
    ):
        return InvalidArgument(
            "context",
            f"({context}) would not be read as the context",
            hint="Brackets in it must be balanced.",
        )
    return InvalidArgument(
        "relation_type",
        f"{kind!r} would not be read as the type of a relation",
        hint="Give one to four words, or a phrase without quotes and brackets, of up to 200 characters.",
    )


def _check_text(parameter: str, text: str) -> None:
    if LINE_END.search(text):
        raise InvalidArgument(
            parameter,
            f"{parameter} has more than one line",
            hint="Give it on one line; an item is one line.",
        )
    if _SURROGATE.search(text):
        raise InvalidArgument(
            parameter,
            f"{parameter} is not valid Unicode: {text!a}",
            hint="Leave the lone surrogate out.",
        )
