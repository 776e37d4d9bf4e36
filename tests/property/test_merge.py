"""A merge takes both changes whole, or says where they are in each other's way."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.property.markup import SOAK_TIMEOUT_S, counted

from memoranda.markdown.merge import Clash, Merged, merge

pytestmark = pytest.mark.timeout(SOAK_TIMEOUT_S)

ENDS: Final = st.sampled_from([b"\n", b"\n", b"\r\n", b"\r", b""])
WORDS: Final = st.sampled_from([b"a", b"b", b"c", b"", b"- x", b"\xe9", b"d\xc3\xa9"])
FILES: Final = st.lists(st.builds(bytes.__add__, WORDS, ENDS), max_size=14).map(b"".join)
LINE: Final = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@given(FILES, FILES)
@counted(300, 20_000)
def test_a_side_that_did_nothing_changes_nothing(base: bytes, other: bytes) -> None:
    assert merge(base, base, other) == Merged(other)
    assert merge(base, other, base) == Merged(other)
    assert merge(base, other, other) == Merged(other)


@given(FILES, FILES, FILES)
@counted(600, 50_000)
def test_sides_may_change_places(base: bytes, mine: bytes, theirs: bytes) -> None:
    one, other = merge(base, mine, theirs), merge(base, theirs, mine)
    assert isinstance(one, Clash) == isinstance(other, Clash)
    if isinstance(one, Merged):
        assert one == other


@given(FILES, FILES, FILES)
@counted(600, 50_000)
def test_what_a_side_added_stays_and_no_line_is_invented(
    base: bytes, mine: bytes, theirs: bytes
) -> None:
    result = merge(base, mine, theirs)
    if isinstance(result, Clash):
        return
    was, my, their, now = (
        Counter(LINE.findall(side)) for side in (base, mine, theirs, result.data)
    )
    for line in was.keys() | my.keys() | their.keys() | now.keys():
        changes = sorted((my[line] - was[line], their[line] - was[line]))
        # the same change of both counts once, so the sum of both is the most that may have happened
        assert was[line] + min(changes[0], sum(changes)) <= now[line]
        assert now[line] <= was[line] + max(changes[1], sum(changes))


@given(st.lists(FILES, min_size=5, max_size=5), st.lists(st.booleans(), min_size=4, max_size=4))
@counted(300, 20_000)
def test_changes_in_different_parts_both_survive(parts: list[bytes], ends: list[bool]) -> None:
    """Parts are kept apart by lines that occur once."""
    first, second, third, new, newer = (part.replace(b"\r", b"").rstrip(b"\n") for part in parts)

    def file(*texts: bytes) -> bytes:
        ending = b"\r\n" if ends[0] else b"\n"
        pieces: list[bytes] = []
        for number, text in enumerate(texts):
            pieces += [text, b"== part %d ==" % number]
        return ending.join(pieces) + (ending if ends[1] else b"")

    base = file(first, second, third)
    assert merge(base, file(new, second, third), file(first, second, newer)) == Merged(
        file(new, second, newer)
    )


@given(FILES, FILES, FILES)
@counted(300, 20_000)
def test_places_of_a_clash_are_in_the_file(base: bytes, mine: bytes, theirs: bytes) -> None:
    result = merge(base, mine, theirs)
    if isinstance(result, Clash) and not result.reason:
        lines = len(LINE.findall(theirs))
        assert result.places
        assert all(1 <= first <= last + 1 <= lines + 1 for first, last in result.places)
