"""What must hold for every text that is parsed. Shared by the fuzzer and the property tests.

The checks use the bytes of the file and Python alone, no code of the parser.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import accumulate, pairwise

from memoranda.errors import AmbiguousSection, SectionNotFound
from memoranda.markdown.entity_parser import parse_note
from memoranda.model.address import NotePath, declared_permalink, normalized_target, stem
from memoranda.model.note import Heading, Link, LinkForm, Observation, ParsedNote
from memoranda.model.outline import Section, find_section, sections_of

PATH = NotePath("folder/The note.md")
OTHER_PATH = NotePath("elsewhere/x.md")

SURROGATE = re.compile("[\ud800-\udfff]")
_ITEM = re.compile(rb"[ \t]*(?:[-+*]|[0-9]{1,9}[.)])(?:[ \t\r\n]|\Z)")
_ATX = re.compile(rb" {0,3}(#{1,6})(?:[ \t\v\f\r\n]|\Z)")
_UNDERLINE = re.compile(rb"(=+|-+)[ \t\x0b\x0c]*\Z")  # form feeds are blanks to the library
_BULLET = re.compile(r"[ \t>]*(?:[-+*]|[0-9]{1,9}[.)])(?:[ \t]|\Z)")
_WORD_SIGN = re.compile(r"\S")
_LINE_END = re.compile(r"\r\n|\r|\n")
MAX_NAMES = 8

_LONG_LINE = 1000
_SHORT_SENTENCE = 400


@dataclass(frozen=True, slots=True)
class File:
    """The bytes that offsets and lines count, and where its lines start."""

    data: bytes
    starts: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> File:
        data = SURROGATE.sub("\ufffd", text).encode("utf-8")
        starts = [0, *accumulate(map(len, data.splitlines(keepends=True)))]
        if data and not data.endswith((b"\n", b"\r")):
            starts.pop()
        return cls(data, tuple(starts))

    def line(self, offset: int) -> int:
        """1-based; what follows a final line ending is a line of its own."""
        return bisect_right(self.starts, offset)

    def line_range(self, line: int) -> tuple[int, int]:
        """The bytes of a 1-based line without its ending."""
        start, end = self.starts[line - 1], (*self.starts, len(self.data))[line]
        return start, start + len(self.data[start:end].rstrip(b"\r\n"))

    def is_line_start(self, offset: int) -> bool:
        """Whether a line, or nothing more, begins there."""
        return offset in self.starts or offset == len(self.data)

    def cut(self, start: int, end: int) -> str:
        """The text of a byte range; a range that cuts a character raises."""
        assert 0 <= start <= end <= len(self.data), f"range {start}:{end} of {len(self.data)}"
        return self.data[start:end].decode("utf-8")


def check_note(text: str) -> ParsedNote:
    """Parse a text and hold the result against every rule that needs no second parser."""
    note = parse_note(text, PATH)
    file = File.of(text)
    _check_fields(note, file)
    _check_links(note, file)
    _check_observations(note, file)
    _check_headings(note.outline, file)
    _check_passages(note, file)
    _check_path(note, text)
    check_sections(note, file)
    return note


def _check_fields(note: ParsedNote, file: File) -> None:
    assert file.cut(note.body_start, len(file.data)) == note.content
    assert note.body_line == file.line(note.body_start) or not note.content
    assert note.title
    assert note.note_type
    for texts in (note.tags, note.aliases):
        assert len(set(texts)) == len(texts)
        assert all(one == " ".join(one.split()) != "" for one in texts)
    assert not any(tag.startswith("#") for tag in note.tags)
    for value in note.frontmatter.values():
        assert isinstance(value, str) or all(isinstance(item, str) for item in value)
    for date in (note.created, note.modified):
        assert date is None or date.utcoffset() == timedelta(0)
    permalink = note.declared_permalink
    assert permalink is None or declared_permalink(permalink) == permalink
    for problem in note.problems:
        assert problem.endswith(".")
        assert not _LINE_END.search(problem)
        assert len(problem) <= _SHORT_SENTENCE
    assert not note.raw_frontmatter or note.problems
    assert repr(note).encode("utf-8"), "no lone surrogate is left"
    relations = note.relations
    keys = {(one.relation_type, normalized_target(one.target)) for one in relations}
    assert len(keys) == len(relations)


def _check_links(note: ParsedNote, file: File) -> None:
    for link in note.links:
        written = file.cut(link.start, link.end)
        assert written, link
        assert link.line == file.line(link.start), (link, written)
        assert link.target.strip() == link.target != ""
        assert link.relation_type
        assert link.relation_type == link.relation_type.lower()
        in_header = link.form is LinkForm.FRONTMATTER
        assert (link.end <= note.body_start) if in_header else (link.start >= note.body_start), link
        _check_form(link, written)
    body = [link for link in note.links if link.form is not LinkForm.FRONTMATTER]
    assert list(note.links[len(note.links) - len(body) :]) == body
    assert all(one.start < two.start for one, two in pairwise(body))
    wikis = [link for link in body if link.form is not LinkForm.MARKDOWN]
    assert all(one.end <= two.start for one, two in pairwise(wikis))


def _check_form(link: Link, written: str) -> None:
    match link.form:
        case LinkForm.WIKI | LinkForm.EMBED:
            mark = "[[" if link.form is LinkForm.WIKI else "![["
            assert written.startswith(mark), written
            assert written.endswith("]]"), written
            assert not _LINE_END.search(written)
            name, bar, label = written[len(mark) : -2].partition("|")
            name = name[:-1] if bar and name.endswith("\\") else name
            target, _, anchor = name.partition("#")
            assert (target.strip(), anchor.strip(), label.strip()) == (
                link.target,
                link.anchor,
                link.label,
            )
        case LinkForm.MARKDOWN:
            assert written.startswith(("[", "![")), written
            assert written.endswith((")", "]")), written
        case LinkForm.FRONTMATTER:  # else written with escapes, and the key stands for it
            assert not written.startswith("[[") or written.endswith("]]"), written


def _check_observations(note: ParsedNote, file: File) -> None:
    sections = sections_of(note)
    before = note.body_start
    for one in note.observations:
        written = file.cut(one.start, one.end)
        assert one.start >= before, "in order and apart"
        before = one.end
        assert _ITEM.match(file.data, one.start, one.end), written
        assert one.line == file.line(one.start), one
        assert one.end_line == file.line(one.end - 1), one
        assert one.category
        assert one.category.strip() == one.category
        assert one.content
        assert one.content.strip() == one.content
        assert "[" in written
        assert len(set(one.tags)) == len(one.tags)
        assert all(tag and not re.search(r"\s|#", tag) for tag in one.tags)
        for part in (one.category, one.content, one.context or "", one.parent):
            assert not _LINE_END.search(part), part
        assert one.heading_path == _path_at(sections, one.start), one
        _check_parent(one, note, file)


def _check_parent(one: Observation, note: ParsedNote, file: File) -> None:
    if not one.parent_line:
        assert one.parent == ""
        return
    assert note.body_line <= one.parent_line <= one.line, one
    row = file.starts[one.parent_line - 1]
    assert row <= one.start


def _path_at(sections: Sequence[Section], offset: int) -> tuple[str, ...]:
    above = [one for one in sections if one.heading.start <= offset]
    return above[-1].path if above else ()


def _check_headings(outline: Sequence[Heading], file: File) -> None:
    for one in outline:
        assert 1 <= one.level <= 6
        assert one.text == " ".join(one.text.split())
        assert one.start < one.end
        assert file.is_line_start(one.start)
        assert file.is_line_start(one.end)
        assert one.line == file.line(one.start)
        written = file.data[one.start : one.end].rstrip(b"\r\n")
        if match := _ATX.match(written):
            assert len(match[1]) == one.level, written
            assert b"\n" not in written
        else:
            last = re.split(rb"\r\n|\r|\n", written)[-1]
            assert one.level == (
                1 if (mark := _UNDERLINE.search(last)) and mark[1][:1] == b"=" else 2
            )
            assert mark, written
    assert all(one.end <= two.start for one, two in pairwise(outline))


def check_sections(note: ParsedNote, file: File) -> None:
    """Sections nest, cover all from the first heading on, and are found by what names them."""
    sections = sections_of(note)
    assert [one.heading for one in sections] == list(note.outline)
    assert len({one.slug for one in sections}) == len(sections)
    open_ends: list[Section] = []
    for one in sections:
        assert one.heading.end <= one.end <= len(file.data)
        assert file.is_line_start(one.end)
        assert one.end_line == file.line(max(one.end - 1, one.heading.start)), one
        while open_ends and open_ends[-1].end <= one.heading.start:
            assert open_ends.pop().heading.level >= one.heading.level
        if open_ends:
            outer = open_ends[-1]
            assert one.end <= outer.end
            assert outer.heading.level < one.heading.level
            assert one.path == (*outer.path, one.heading.text)
        else:
            assert one.path == (one.heading.text,)
        open_ends.append(one)
    assert all(one.end == len(file.data) for one in open_ends)
    for name, one in _names(note, sections):
        assert find_section(note, name) == one, name


def _names(note: ParsedNote, sections: Sequence[Section]) -> Iterable[tuple[str, Section]]:
    """What the product itself offers as the name of each section."""
    try:
        find_section(note, "no heading has this name \x00")
    except SectionNotFound as error:
        return list(zip(error.headings, sections, strict=True))[:MAX_NAMES]
    except AmbiguousSection:
        pass
    raise AssertionError("a name that no heading has was found")


def _check_passages(note: ParsedNote, file: File) -> None:
    """Every line with a word is in a passage or in an item that is searched on its own."""
    passages = note.passages
    paths = {(), *(one.path for one in sections_of(note))}
    for one in passages:
        assert _WORD_SIGN.search(one.text)
        assert note.body_line <= one.start_line <= one.end_line
        assert one.heading_path in paths
    assert all(one.end_line <= two.start_line for one, two in pairwise(passages))
    lines = _LINE_END.split(note.content)
    if max(map(len, lines)) > _LONG_LINE:
        return
    assert all(one.end_line < two.start_line for one, two in pairwise(passages))
    own = {row for one in note.observations for row in range(one.line, one.end_line + 1)}
    covered: set[int] = set()
    for one in passages:
        rows = (row for row in range(one.start_line, one.end_line + 1) if row not in own)
        for piece in filter(str.strip, _LINE_END.split(one.text)):
            row = next(
                (row for row in rows if lines[row - note.body_line].strip() == piece.strip()), None
            )
            assert row is not None, f"{piece!r} is not in lines {one.start_line}-{one.end_line}"
            covered.add(row)
    linked = {link.line for link in note.links if link.form is LinkForm.WIKI}
    contexts = " ".join(" ".join((link.context or "").split()) for link in note.links)
    item: list[int] = []  # lines in no passage, from a bullet on: they must be an explicit relation
    for row, line in enumerate([*lines, ""], note.body_line):
        lost = line.strip() and row not in covered and row not in own
        is_new = _BULLET.match(line) and " ".join(line.split()) not in contexts
        if item and (not lost or is_new):
            assert linked.intersection(item), f"lines {item} are in no passage and no item"
            item = []
        if lost:
            item.append(row)


def _check_path(note: ParsedNote, text: str) -> None:
    """The same text gives the same note; the path, the title alone and where the header has none."""
    other = parse_note(text, OTHER_PATH)
    if other.title == stem(OTHER_PATH):
        other = replace(other, title=note.title)
    assert replace(other, path=note.path) == note
