"""Occurrences of links pointed at other names; label, anchor, title and form stay."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from memoranda.errors import InvalidArgument
from memoranda.markdown.edit_checks import Shift, Splice, difference, spliced
from memoranda.markdown.edit_layout import Reading, WrittenLink, read_for_edit
from memoranda.markdown.file_links import STYLES, path_in
from memoranda.markdown.link_places import (
    Definitions,
    TargetPlace,
    definitions_of,
    normalized_label,
    target_place,
)
from memoranda.markdown.relations import is_attachment
from memoranda.model.address import NotePath
from memoranda.model.note import Link, LinkForm

_BY_HAND: Final = "Change it with find_replace."
_NAME: Final = "Give a name without ]], # and |, on one line and without blanks at its ends."
_HINTS: Final = {
    LinkForm.WIKI: _NAME,
    LinkForm.EMBED: _NAME,
    LinkForm.MARKDOWN: "Give a path that ends in .md or like a file, without a scheme and blanks at its ends.",
    LinkForm.FRONTMATTER: "Give a name that YAML takes as it is there, or change the key with set_metadata.",
}
_BY_DEFINITION: Final = STYLES - {"Inline"}
_NO_DEFINITIONS: Final = Definitions({})


def retarget_link(text: str, link: Link, target: str, path: NotePath) -> str:
    """The text with one occurrence of a link pointed at another name.

    A reference link (`[text][r]`) is changed in its definition `[r]: path.md`; so are all others that
    use it, which had the same target. A Markdown destination is percent-encoded and put in `<>` as
    the old one was; a wiki link and a link in the header take the name as it is.

    Args:
        text: the note.
        link: one of the links that `parse_note` or `file_links` reads from this very text.
        target: for wiki links a name, for Markdown links a path that is not encoded.
        path: of the note.

    Raises:
        InvalidArgument: the link is not of this text, is written in a way that cannot be edited in
            place (a header value with escapes), or cannot hold this target.
    """
    return retarget_links(text, [(link, target)], path)


def retarget_links(text: str, pairs: Iterable[tuple[Link, str]], path: NotePath) -> str:
    """The text with many occurrences retargeted at once: all or none. Linear in text and pairs.

    Raises:
        InvalidArgument: as `retarget_link`, or two pairs want different targets for one place.
    """
    before = read_for_edit(text, path)
    aims = _aims(before, pairs)
    if not aims:
        return text
    splices = _splices(before, aims)
    after = read_for_edit(spliced(before.data, splices), path)
    names = {link.start: target for link, (target, _) in aims.items()}
    by_definition = {place.name: target for target, place in aims.values() if place.name}
    uses = _uses(before, by_definition)

    def retargeted(link: Link) -> Link:
        name = names.get(link.start) if link in aims else uses.get(link.start)
        if name is None:
            return link
        return replace(link, target=name, is_attachment=is_attachment(name))

    def redefined(link: WrittenLink) -> str:
        if link.style not in _BY_DEFINITION:
            return ""
        return by_definition.get(normalized_label(link.name), "")

    keys = {link.relation_type for link in aims if link.form is LinkForm.FRONTMATTER}
    free = [key for key in before.note.frontmatter if "_".join(key.lower().split()) in keys]
    reason = difference(
        before, after, splices, retargeted=retargeted, redefined=redefined, free_keys=free
    )
    reason = reason or _misread(before, after, aims, splices)
    if reason:
        first, (target, _) = next(iter(aims.items()))
        raise InvalidArgument(
            "target",
            f"nothing was changed, because with the target {target!r} of the link in line "
            f"{first.line} of {path} {reason}",
            hint=_HINTS[first.form],
        )
    return after.text


def unwritable_links(text: str, links: Sequence[Link], path: NotePath) -> dict[Link, str]:
    """The links that `retarget_links` takes no target for, each with the reason; one reading for all.

    Raises:
        InvalidArgument: the Markdown reader fails on the text.
    """
    reading = read_for_edit(text, path)
    written = _written_links(reading)
    definitions = definitions_of(reading)
    return {
        link: _unplaced(link, path)
        for link in links
        if target_place(reading, link, written.get(link.start), definitions) is None
    }


def _unplaced(link: Link, path: NotePath) -> str:
    return (
        f"the link to {link.target!r} in line {link.line} of {path} is written with escapes, "
        "in parts or far from its place"
    )


def _aims(
    before: Reading, pairs: Iterable[tuple[Link, str]]
) -> dict[Link, tuple[str, TargetPlace]]:
    """Each link with its new target and the place to write it."""
    there = set(before.note.links)
    written = _written_links(before)
    definitions = _NO_DEFINITIONS
    aims: dict[Link, tuple[str, TargetPlace]] = {}
    for link, target in pairs:
        if link not in there and not _is_file_link(link, written.get(link.start)):
            raise InvalidArgument(
                "link",
                f"{before.note.path} has no such link to {link.target!r} in line {link.line}",
                hint="The note was changed since; read its links again.",
            )
        if link.target == target:
            continue
        found = written.get(link.start) if link.form is LinkForm.MARKDOWN else None
        if found is not None and found.style != "Inline" and definitions is _NO_DEFINITIONS:
            definitions = definitions_of(before)
        place = target_place(before, link, found, definitions)
        if place is None:
            raise InvalidArgument("link", _unplaced(link, before.note.path), hint=_BY_HAND)
        if link in aims and aims[link][0] != target:
            raise _two_targets(link, target, aims[link][0])
        aims[link] = (target, place)
    return aims


def _is_file_link(link: Link, found: WrittenLink | None) -> bool:
    """Whether it is one of `file_links`."""
    return (
        found is not None
        and found.style in STYLES
        and (found.end, path_in(found)) == (link.end, link.target)
    )


def _misread(
    before: Reading,
    after: Reading,
    aims: Mapping[Link, tuple[str, TargetPlace]],
    splices: Sequence[Splice],
) -> str:
    """Whether a link that is none of the note's own has another target than it was to have."""
    there = set(before.note.links)
    others = [(link, target) for link, (target, _) in aims.items() if link not in there]
    if not others:
        return ""
    shift = Shift(splices)
    now = {link.start: path_in(link) for link in after.layout.links}
    is_right = all(target and now.get(shift.start(link.start)) == target for link, target in others)
    return "" if is_right else "it would not be read as that target"


def _written_links(reading: Reading) -> dict[int, WrittenLink]:
    return {link.start: link for link in reading.layout.links if not link.style.startswith("Wiki")}


def _splices(before: Reading, aims: Mapping[Link, tuple[str, TargetPlace]]) -> list[Splice]:
    places: dict[int, tuple[Link, str, Splice]] = {}
    for link, (target, place) in aims.items():
        data = place.text_for(target).encode("utf-8", "surrogatepass")
        known = places.get(place.start)
        if known is not None and known[1] != target:
            raise _two_targets(link, target, known[1])
        places[place.start] = (link, target, Splice(place.start, place.end, data))
    return sorted(splice for _, _, splice in places.values())


def _two_targets(link: Link, one: str, other: str) -> InvalidArgument:
    return InvalidArgument(
        "target",
        f"the link to {link.target!r} in line {link.line} would point at {one!r} and at {other!r}",
        hint="Links that share one definition, or one place, have one target.",
    )


def _uses(reading: Reading, targets: Mapping[str, str]) -> dict[int, str]:
    """Where links begin that use one of these definitions, with its new target."""
    if not targets:
        return {}
    return {
        link.start: targets[name]
        for link in reading.layout.links
        if link.style in _BY_DEFINITION and (name := normalized_label(link.name)) in targets
    }
