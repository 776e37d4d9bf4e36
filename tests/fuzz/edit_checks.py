"""What must hold for every edit: documented errors only, and nothing changes but what was asked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, assert_never

from tests.fuzz.header_checks import plain_value
from tests.fuzz.note_checks import PATH, SURROGATE, File

from memoranda.errors import AmbiguousSection, EditMismatch, InvalidArgument, SectionNotFound
from memoranda.markdown.edits import apply_edit
from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.frontmatter import split_frontmatter
from memoranda.markdown.yaml_values import load_entries
from memoranda.model.edit import (
    AddItem,
    Append,
    Edit,
    EditSection,
    FactText,
    FindReplace,
    ItemText,
    Place,
    Prepend,
    RelationText,
    RemoveItem,
    Replace,
    ReplaceItem,
    RetargetLink,
    SetMetadata,
)
from memoranda.model.note import Link, LinkForm
from memoranda.model.outline import find_section

REFUSALS: Final = (AmbiguousSection, EditMismatch, InvalidArgument, SectionNotFound)
_LINE_END: Final = re.compile(r"\r\n|\r|\n")


def check_edit(text: str, edit: Edit) -> str | None:
    """Apply an edit and hold the result against the text; None if the edit was refused."""
    try:
        result = apply_edit(text, edit, PATH)
    except REFUSALS:
        return None
    assert apply_edit(text, edit, PATH) == result
    match edit:
        case Append(added):
            _check_append(text, added, result)
        case Prepend(added):
            _check_prepend(text, added, result)
        case Replace(body):
            _check_replace(text, body, result)
        case FindReplace(find, replacement, expected):
            _check_find_replace(text, find, replacement, expected, result)
        case EditSection(section, new, place):
            _check_section(text, section, new, place, result)
        case SetMetadata(values):
            _check_metadata(text, values, result)
        case AddItem(item):
            _check_added(text, item, result)
        case ReplaceItem(line, item):
            _check_replaced(text, line, item, result)
        case RemoveItem(line):
            _check_removed(text, line, result)
        case RetargetLink(link, target):
            _check_retargeted(text, link, target, result)
        case _:
            assert_never(edit)
    return result


def _plain(text: str) -> str:
    return _LINE_END.sub("\n", text)


def _is_mixed(text: str) -> bool:
    return len(set(_LINE_END.findall(text))) > 1


def _core(text: str) -> str:
    return _plain(text).strip("\n")


def _check_joined(result: str, *parts: str) -> None:
    """The parts follow one another, with at most one line ending between them and at the end."""
    if _is_mixed("".join(parts)):
        return  # a CR and an LF of two parts may have become one ending
    possible = {""}
    for part in parts:
        possible = {f"{done}{_plain(part)}{end}" for done in possible for end in ("", "\n")}
    assert _plain(result) in possible


def _check_append(text: str, added: str, result: str) -> None:
    assert result.startswith(text)
    assert _core(result[len(text) :]) == _core(added)
    _check_joined(result, text, added)
    if text:
        assert split_frontmatter(result).header == split_frontmatter(text).header


def _check_prepend(text: str, added: str, result: str) -> None:
    cut = split_frontmatter(text)
    head, body = text[: cut.body_start], text[cut.body_start :]
    assert result.startswith(head)
    assert result.endswith(body)
    assert _core(result[len(head) : len(result) - len(body)]) == _core(added)
    _check_joined(result, head, added, body)
    before = cut.header if cut.header is not None else split_frontmatter(added).header
    after = split_frontmatter(result).header
    assert (after is None) == (before is None)
    assert _plain(after or "") == _plain(before or "")


def _check_replace(text: str, body: str, result: str) -> None:
    cut = split_frontmatter(text)
    head = text[: cut.body_start]
    assert result.startswith(head)
    assert _core(result[len(head) :]) == _core(body)
    before = cut.header if cut.header is not None else split_frontmatter(body).header
    assert _plain(split_frontmatter(result).header or "") == _plain(before or "")


def _check_find_replace(text: str, find: str, replacement: str, expected: int, result: str) -> None:
    plain_find = _plain(find)
    assert _plain(text).count(plain_find) == expected
    expected_text = _plain(text).replace(plain_find, _plain(replacement))
    if _is_mixed(text):  # a CR and an LF around what went may now be one ending
        assert _LINE_END.sub("", result) == _LINE_END.sub("", expected_text)
    else:
        assert _plain(result) == expected_text
    first = text.find(find.split("\n")[0].split("\r")[0])
    assert result[:first] == text[:first]


def _check_section(text: str, name: str, new: str, place: Place, result: str) -> None:
    section = find_section(parse_note(text, PATH), name)
    before, after = _bytes(text), _bytes(result)
    start, end = section.heading.start, section.end
    match place:
        case Place.INSTEAD:  # the heading may be part of the new text
            _check_outside(before, after, start, end)
            heading = (section.heading.start, section.heading.level, section.heading.text)
            assert heading in [
                (one.start, one.level, one.text) for one in parse_note(result, PATH).outline
            ]
        case Place.BEFORE:
            _check_outside(before, after, start, start)
        case Place.AFTER:
            _check_outside(before, after, end, end)
    assert _core(new).strip() in _plain(result)


def _check_metadata(text: str, values: Mapping[str, object], result: str) -> None:
    old, new = split_frontmatter(text), split_frontmatter(result)
    before, after = parse_note(text, PATH), parse_note(result, PATH)
    if old.header is None:
        assert result.endswith(text)
        assert after.content.lstrip("\r\n") == before.content.lstrip("\r\n")
    else:
        assert result[new.body_start :] == text[old.body_start :]
        assert _is_subsequence(_foreign_lines(old.header, values), _lines(new.header or ""))
    assert _without_lines(after.problems) <= _without_lines(before.problems)
    wanted: dict[str, object] = {k: v for k, v in before.frontmatter.items() if k not in values}
    wanted |= {k: shown for k, v in values.items() if (shown := plain_value(v)) is not None}
    assert after.frontmatter == wanted
    kept = [key for key in before.frontmatter if key in wanted]
    assert [key for key in after.frontmatter if key in kept] == kept, "the order of keys"


def _without_lines(problems: Iterable[str]) -> set[str]:
    """Problems without their line numbers, which an edit may move.

    A key that stands twice is a problem only while its values differ, so setting it may bring that up.
    """
    return {re.sub(r"\d+", "", one) for one in problems if "more than once" not in one}


def _foreign_lines(header: str, values: Container[str]) -> list[str]:
    """The lines of a header that have nothing to do with these keys, comments included."""
    lines = _lines(header)
    entries = load_entries(SURROGATE.sub("\ufffd", header))
    starts = [entry.line for entry in entries]
    for entry, end in zip(entries, [*starts[1:], len(lines)], strict=False):
        if entry.key in values:
            while end > entry.line + 1 and (lines[end - 1].strip()[:1] in ("", "#")):
                end -= 1
            lines[entry.line : end] = [""] * (end - entry.line)
    return [line for line in lines if line.strip()]


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)


def _is_subsequence(lines: Sequence[str], of: Iterable[str]) -> bool:
    left = iter(of)
    return all(any(line.rstrip("\r\n") == one.rstrip("\r\n") for one in left) for line in lines)


def _check_added(text: str, item: ItemText, result: str) -> None:
    before, after = _bytes(text), _bytes(result)
    assert after.endswith(before[_common(before, after) :]), "an insertion in one place"
    gone, come = _differences(text, result)
    assert not gone, gone
    _check_says(item, come)
    assert _outline(result) == _outline(text)


def _check_replaced(text: str, line: int, item: ItemText, result: str) -> None:
    before, after = _bytes(text), _bytes(result)
    start = File.of(text).starts[line - 1]
    assert after[:start] == before[:start], "bytes in front of the item"
    for one in parse_note(text, PATH).observations:
        if one.line == line:
            _check_outside(before, after, one.start, one.end)
            break
    gone, come = _differences(text, result)
    if isinstance(item, FactText) and item.block_id is None:  # that of the old item stays
        kept = next((str(one[-1]) for one in come if one[0] == "fact" and one[-1]), None)
        assert kept is None or f"^{kept}" in text
        item = replace(item, block_id=kept)
    assert gone or not come
    if gone:
        _check_says(item, come)
    assert _outline(result) == _outline(text)


def _check_removed(text: str, line: int, result: str) -> None:
    before, after = _bytes(text), _bytes(result)
    size = len(before) - len(after)
    last = _common(before, after)  # the gap may lie anywhere from `first` to `last`
    first = len(after) - _common(before[::-1], after[::-1])
    assert first <= last, "a removal in one place"
    start, end = File.of(text).line_range(line)
    assert first < end, "the item is still there"
    assert last + size > start, "the item is still there"
    gone, come = _differences(text, result)
    assert gone
    assert not come, come
    assert sum(1 for one in gone if one[0] == "fact") <= 1
    assert _outline(result) == _outline(text)


Meaning = tuple[object, ...]


def _differences(text: str, result: str) -> tuple[Counter[Meaning], Counter[Meaning]]:
    """What observations and links say before and no longer after the edit, and the other way round."""
    before, after = Counter(_meanings(text)), Counter(_meanings(result))
    return before - after, after - before


def _check_says(item: ItemText, come: Counter[Meaning]) -> None:
    """What is new is the item and the links in it."""
    wanted = _meaning(item)
    assert come[wanted] == 1, (wanted, come)
    written = " ".join(str(part) for part in wanted)
    for one in come - Counter([wanted]):
        assert one[0] == "link", come
        assert str(one[2]) in written, come


def _meanings(text: str) -> list[Meaning]:
    note = parse_note(text, PATH)
    facts = [
        (
            "fact",
            one.category,
            one.content,
            one.tags,
            one.context,
            _items(one.attributes),
            one.block_id,
        )
        for one in note.observations
    ]
    links = [
        ("link", _signs(one.relation_type), one.target, one.anchor, one.label, one.context)
        for one in note.links
    ]
    return [*facts, *links]


def _meaning(item: ItemText) -> Meaning:
    match item:
        case FactText():
            fields = _items(item.attributes)
            tags = tuple(dict.fromkeys(tag.lstrip("#") for tag in item.tags))
            context = _stripped(item.context)
            return (
                *("fact", item.category.strip(), item.content.strip()),
                *(tags, context, fields, item.block_id),
            )
        case RelationText():
            name, _, label = item.target.partition("|")
            target, _, anchor = name.partition("#")
            kind = _signs(item.relation_type)
            context = _stripped(item.context)
            return ("link", kind, target.strip(), anchor.strip(), label.strip(), context)


def _stripped(text: str | None) -> str | None:
    return text.strip() or None if text else None


def _items(attributes: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(attributes.items())


def _signs(kind: str) -> str:
    """A relation's type without blanks, underscores and markup."""
    return "".join(filter(str.isalnum, kind.lower()))


def _outline(text: str) -> list[tuple[int, str]]:
    return [(one.level, one.text) for one in parse_note(text, PATH).outline]


def _check_retargeted(text: str, link: Link, target: str, result: str) -> None:
    before, after = parse_note(text, PATH), parse_note(result, PATH)
    assert len(after.links) == len(before.links)
    written = File.of(text).cut(link.start, link.end)
    by_reference = link.form is LinkForm.MARKDOWN and written.endswith("]")
    if not by_reference:
        _check_outside(_bytes(text), _bytes(result), link.start, link.end)
    for one, two in zip(before.links, after.links, strict=True):
        same = _but_place(two) == _but_place(one)
        if one == link or (by_reference and one.target == link.target and not same):
            assert two.target == target.strip(), two
            two = replace(two, target=one.target, is_attachment=one.is_attachment)
            assert _but_place(two) == _but_place(one)
        else:
            assert same, (one, two)
    assert [(one.line, one.level) for one in after.outline] == [
        (one.line, one.level) for one in before.outline
    ]


def _but_place(link: Link) -> Link:
    """A link without its place, and without what may hold another link: its context and label."""
    return replace(
        link, start=0, end=0, context=None, label="" if "[" in link.label else link.label
    )


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _common(one: bytes, two: bytes) -> int:
    """The length of their common beginning."""
    size = min(len(one), len(two))
    while one[:size] != two[:size]:
        size -= 1
    return size


def _check_outside(before: bytes, after: bytes, start: int, end: int) -> None:
    """Nothing changed before `start` and from `end` on."""
    assert after[:start] == before[:start], "bytes in front of the edit"
    assert after.endswith(before[end:]), "bytes behind the edit"
    assert len(after) >= start + len(before) - end
