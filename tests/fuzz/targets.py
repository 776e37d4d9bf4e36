"""The five things that are fuzzed: functions from bytes to nothing that raise on a finding."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Final
from zlib import crc32

from tests.fuzz.budget import bound_s, check_growth, check_time
from tests.fuzz.edit_checks import check_edit
from tests.fuzz.edit_choice import edit_of
from tests.fuzz.header_checks import check_header
from tests.fuzz.note_checks import PATH, check_note
from tests.fuzz.query_text_checks import check_query
from tests.fuzz.query_text_checks import read as read_query

from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.frontmatter import read_frontmatter, split_frontmatter
from memoranda.markdown.source import decode, encode

GROWTH_SHARE: Final = 256
"""One input in so many is grown to look for time that grows faster than its input."""

_SEPARATOR: Final = b"\xff"


def parse(data: bytes) -> None:
    """A note of any text; bytes that are no UTF-8 are lone surrogates."""
    text = data.decode("utf-8", "surrogateescape")
    _check(data, text, check_note, _parsed)


def frontmatter(data: bytes) -> None:
    """A header of any text without lone surrogates, which `parse_note` takes out before."""
    text = data.decode("utf-8", "replace")
    _check(data, text, check_header, _header)


def source(data: bytes) -> None:
    """A file of any bytes: decoded, written back, read as a note."""
    found = decode(data)
    assert encode(found) == data
    assert decode(encode(found)) == found
    check_note(found.text)


def edit(data: bytes) -> None:
    """An edit of a note: a byte for its kind, a number, then text and arguments separated by 0xff."""
    kind, number, *_ = (*data[:2], 0, 0)
    text, *arguments = (
        part.decode("utf-8", "surrogateescape") for part in data[2:].split(_SEPARATOR)
    )
    chosen = edit_of(text, kind, number, arguments)
    if chosen is not None:
        check_edit(text, chosen)


def query(data: bytes) -> None:
    """What is typed into a search: any text; bytes that are no UTF-8 are lone surrogates."""
    text = data.decode("utf-8", "surrogateescape")
    _check(data, text, check_query, read_query)


TARGETS: Final[Mapping[str, Callable[[bytes], None]]] = {
    "parse": parse,
    "frontmatter": frontmatter,
    "edit": edit,
    "source": source,
    "query": query,
}


def _check(
    data: bytes, text: str, check: Callable[[str], object], run: Callable[[str], object]
) -> None:
    """The rules, then the time of what they look at, where all together took long enough to ask."""
    start = time.process_time()
    check(text)
    if time.process_time() - start > bound_s(text):
        check_time(run, text)
    if crc32(data) % GROWTH_SHARE == 0:
        check_growth(run, text)


def _parsed(text: str) -> object:
    return parse_note(text, PATH)


def _header(text: str) -> object:
    return read_frontmatter(split_frontmatter(f"---\n{text}\n---\n"))
