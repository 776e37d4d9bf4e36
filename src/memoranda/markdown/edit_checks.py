"""Whether an edit changed what it was asked to change and nothing else.

What the text outside the splices says must be the same values at shifted places. The check compares
what was read (observations, links, outline, header) and where blocks stand, so that a paragraph that
merges with its neighbour or a definition that is lost shows too.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, zip_longest

from memoranda.markdown.edit_layout import Block, Reading, WrittenLink
from memoranda.markdown.file_links import path_in
from memoranda.model.note import Heading, Link, Observation, ParsedNote


@dataclass(frozen=True, slots=True, order=True)
class Splice:
    """Bytes put in place of a byte range."""

    start: int
    end: int
    data: bytes


def spliced(data: bytes, splices: Sequence[Splice]) -> str:
    """The text with the splices, which are in order and apart."""
    parts: list[bytes] = []
    at = 0
    for splice in splices:
        parts += (data[at : splice.start], splice.data)
        at = splice.end
    parts.append(data[at:])
    return b"".join(parts).decode("utf-8", "surrogatepass")


class Shift:
    """Offsets before the edit -> offsets after it."""

    def __init__(self, splices: Sequence[Splice]) -> None:
        grown = [len(one.data) - (one.end - one.start) for one in splices]
        self.starts = [one.start for one in splices]
        self.ends = [one.end for one in splices]
        self.total = [0, *accumulate(grown)]
        self.new_starts = [at + by for at, by in zip(self.starts, self.total, strict=False)]
        self.new_ends = [
            at + len(one.data) for at, one in zip(self.new_starts, splices, strict=True)
        ]

    def start(self, at: int) -> int:
        """Where something begins now; of what begins in a splice: where the splice does."""
        index = bisect_right(self.ends, at)
        if index < len(self.starts) and self.starts[index] < at:
            return self.new_starts[index]
        return at + self.total[index]

    def end(self, at: int) -> int:
        """Where something ends now that does not end inside a splice."""
        return at + self.total[bisect_left(self.starts, at)]

    def is_gone(self, at: int) -> bool:
        """Whether what began here before the edit is part of it."""
        index = bisect_right(self.starts, at) - 1
        return index >= 0 and at < self.ends[index]

    def is_new(self, at: int) -> bool:
        """Whether what begins here after the edit is part of it."""
        index = bisect_right(self.new_starts, at) - 1
        return index >= 0 and at < self.new_ends[index]

    def touches(self, start: int, end: int) -> bool:
        """Whether a splice begins in a range before the edit."""
        index = bisect_left(self.starts, start)
        return index < len(self.starts) and self.starts[index] < end

    def touches_new(self, start: int, end: int) -> bool:
        """Whether a splice begins in a range after the edit."""
        index = bisect_left(self.new_starts, start)
        return index < len(self.new_starts) and self.new_starts[index] < end


def difference(
    before: Reading,
    after: Reading,
    splices: Sequence[Splice],
    *,
    retargeted: Callable[[Link], Link] | None = None,
    redefined: Callable[[WrittenLink], str] | None = None,
    free_keys: Collection[str] = (),
) -> str | None:
    """What changed outside the splices, as a clause; None if nothing did.

    Args:
        before: the note before the edit.
        after: the note after it.
        splices: in order and apart.
        retargeted: gives a link the target that it is meant to have now. Then text that holds a splice
            (a fact, a context, a heading) may say something else than before, but at its place.
        redefined: the path that a link which is none of the note's own is meant to have now, as its
            definition is edited; "" for others.
        free_keys: frontmatter keys whose values are edited.
    """
    shift = Shift(splices)
    old, new = before.note, after.note
    return (
        _header(old, new, free_keys)
        or _blocks(before, after, shift)
        or _outline(old.outline, new.outline, shift)
        or _observations(old.observations, new.observations, shift)
        or _links(old.links, new.links, shift, retargeted)
        or _definitions(before, after, shift, redefined)
    )


def _header(old: ParsedNote, new: ParsedNote, free_keys: Collection[str]) -> str | None:
    if (old.body_start == 0) != (new.body_start == 0):
        return "the note's header would change"
    kept = [key for key in old.frontmatter if key not in free_keys]
    if list(old.frontmatter) != list(new.frontmatter) or any(
        old.frontmatter[key] != new.frontmatter[key] for key in kept
    ):
        return "a value of the header would change"
    fields = ["problems", "title", "declared_permalink", "created", "modified"]
    if not free_keys:
        fields += ["note_type", "tags", "aliases", "raw_frontmatter"]
    if changed := [name for name in fields if getattr(old, name) != getattr(new, name)]:
        return f"the header's {changed[0]} would change"
    return None


def _blocks(before: Reading, after: Reading, shift: Shift) -> str | None:
    # What begins in a splice is the edit itself.
    wanted = (
        (Block(one.kind, shift.start(one.start), _end(one, shift), _inside(one, shift)), one)
        for one in before.layout.blocks
        if not shift.is_gone(one.start)
    )
    found = (one for one in after.layout.blocks if not shift.is_new(one.start))
    for pair, now in zip_longest(wanted, found):
        if pair is None:
            return f"the text from line {before.line(before.note.body_start)} would change"
        if now != pair[0]:
            return f"line {before.line(pair[1].start)} would be read as something else"
    return None


def _end(block: Block, shift: Shift) -> int:
    return block.end if block.end < 0 else shift.end(block.end)


def _inside(block: Block, shift: Shift) -> int:
    return block.inside if block.inside < 0 else shift.start(block.inside)


def _outline(old: Sequence[Heading], new: Sequence[Heading], shift: Shift) -> str | None:
    for one, now in zip_longest(old, _outside(new, shift)):
        if one is None:
            return f"a heading {now.text!r} would come into being" if now else None
        text = one.text
        if now is not None and shift.touches(one.start, one.end):
            text = now.text
        if now is None or (now.level, now.text, now.start) != (
            one.level,
            text,
            shift.start(one.start),
        ):
            return f"the heading {one.text!r} would change"
    return None


def _outside(values: Iterable[Heading], shift: Shift) -> Iterator[Heading]:
    return (value for value in values if not shift.is_new(value.start))


def _observations(
    old: Sequence[Observation], new: Sequence[Observation], shift: Shift
) -> str | None:
    # Told apart by their ends: an edited one keeps its bullet.
    wanted = (one for one in old if not shift.is_gone(one.end - 1))
    found = (one for one in new if not shift.is_new(one.end - 1))
    for one, now in zip_longest(wanted, found):
        if one is None:
            return "another observation would come into being"
        if now is None or not _same_fact(one, now, shift):
            return f"the observation in line {one.line} would change"
    return None


def _same_fact(one: Observation, now: Observation, shift: Shift) -> bool:
    if (shift.end(one.end), one.category, one.tags, one.block_id) != (
        now.end,
        now.category,
        now.tags,
        now.block_id,
    ):
        return False
    if shift.touches(one.start, one.end):
        return (one.context is None) == (now.context is None) and list(one.attributes) == list(
            now.attributes
        )
    return (one.content, one.context, one.attributes) == (
        now.content,
        now.context,
        now.attributes,
    )


def _links(
    old: Sequence[Link],
    new: Sequence[Link],
    shift: Shift,
    retargeted: Callable[[Link], Link] | None,
) -> str | None:
    wanted = (one for one in old if not shift.is_gone(one.start))
    found = (one for one in new if not shift.is_new(one.start))
    for one, now in zip_longest(wanted, found):
        if one is None:
            return f"another link, to {now.target!r}, would come into being" if now else None
        aim = one if retargeted is None else retargeted(one)
        aim = replace(aim, start=shift.start(one.start), end=shift.end(one.end))
        if now is not None:
            aim = replace(aim, line=now.line)
            if retargeted is not None and "[" in (aim.context or "") and now.context:
                aim = replace(aim, context=now.context)
        if aim != now:
            if aim.target != one.target:
                return "it would not be read as that target"
            return f"the link to {one.target!r} in line {one.line} would change"
    return None


def _definitions(
    before: Reading,
    after: Reading,
    shift: Shift,
    redefined: Callable[[WrittenLink], str] | None,
) -> str | None:
    """Links that lead out of the notes keep their destination, but for those that hold a splice."""
    old, new = (
        [link for link in reading.layout.links if link.start not in known]
        for reading in (before, after)
        for known in [{link.start for link in reading.note.links}]
    )
    wanted = (
        one for one in old if not shift.is_gone(one.start) and not shift.touches(one.start, one.end)
    )
    found = (
        one
        for one in new
        if not shift.is_new(one.start) and not shift.touches_new(one.start, one.end)
    )
    for one, now in zip_longest(wanted, found):
        if one is None:
            return "more text would be read as a link"
        wanted_path = redefined(one) if redefined is not None else ""
        if (
            now is None
            or now.start != shift.start(one.start)
            or (path_in(now) != wanted_path if wanted_path else now.destination != one.destination)
        ):
            return f"the link in line {before.line(one.start)} would change"
    return None
