"""Whatever a file holds, it is read without an exception, and what is read fits its bytes."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.fuzz.budget import check_growth, check_time
from tests.fuzz.header_checks import check_header
from tests.fuzz.note_checks import PATH, check_note
from tests.fuzz.seeds import HEADERS as HEADER_SEEDS
from tests.fuzz.seeds import NOTES as NOTE_SEEDS
from tests.property.markup import (
    BODIES,
    CLOSED_NOTES,
    HEADERS,
    NOTES,
    SOAK_TIMEOUT_S,
    TEXTS,
    counted,
)

from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.source import decode, encode

pytestmark = pytest.mark.timeout(SOAK_TIMEOUT_S)


@counted(120, 8_000)
@given(TEXTS)
@example("- [aa] [[\n]]")
@example("- a[[]]")
@example("-\n\t- [aa] a")
@example("`a`[[`a`[[a]]``[[]]`\n`]]")
@example("# Top\n# Top\n##")
@example("# a\n}\n-")
@example("Two\n-\ntwo\n-")
@example('---\ntag: ",# #"\n---')
def test_any_text_is_read_and_the_result_fits_its_bytes(text: str) -> None:
    check_note(text)


@counted(60, 3_000)
@given(CLOSED_NOTES)
def test_a_tidy_note_is_read_and_the_result_fits_its_bytes(text: str) -> None:
    check_note(text)


@counted(40, 3_000)
@given(st.binary(max_size=120))
@example(b"\xff\xfe\x00\xd8")
@example(b"\xef\xbb\xbf\xff")
def test_any_file_is_read_and_written_back(data: bytes) -> None:
    source = decode(data)
    assert encode(source) == data
    check_note(source.text)


@counted(40, 3_000)
@given(NOTES, st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1"]))
def test_a_note_in_any_encoding_is_read_and_written_back(text: str, encoding: str) -> None:
    data = text.encode(encoding, "replace")
    source = decode(data)
    assert encode(source) == data
    check_note(source.text)


@counted(120, 8_000)
@given(HEADERS)
def test_any_header_is_read_and_does_no_harm_to_the_body(header: str) -> None:
    check_header(header)


@counted(60, 1_500)
@given(st.text(max_size=80))
def test_any_text_as_a_header_does_no_harm_to_the_body(header: str) -> None:
    check_header(header)


@pytest.mark.parametrize("text", NOTE_SEEDS)
def test_the_seeds_of_the_fuzzer_hold(text: str) -> None:
    check_note(text)


@pytest.mark.parametrize("header", HEADER_SEEDS)
def test_the_header_seeds_of_the_fuzzer_hold(header: str) -> None:
    check_header(header)


@pytest.mark.slow
@counted(5, 100)
@given(BODIES)
def test_time_grows_with_the_length_of_a_body(text: str) -> None:
    check_time(_parsed, text)
    check_growth(_parsed, text)


@pytest.mark.slow
@counted(5, 100)
@given(HEADERS)
def test_time_grows_with_the_length_of_a_header(header: str) -> None:
    check_growth(lambda text: _parsed(f"---\n{text}\n---\n"), header)


def _parsed(text: str) -> object:
    return parse_note(text, PATH)
