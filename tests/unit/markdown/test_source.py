from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.errors import InvalidArgument
from memoranda.markdown.source import decode, encode
from memoranda.model.note import SourceText


@pytest.mark.spec("12.1")
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"plain\r\n", SourceText("plain\r\n")),
        ("é".encode(), SourceText("é")),
        (b"\xef\xbb\xbfa", SourceText("a", bom=True)),
        (b"caf\xe9", SourceText("café", "cp1252")),
        (b"\x93q\x94", SourceText("“q”", "cp1252")),
        (b"\x81", SourceText("\x81", "latin-1")),
        (b"\xff\xfea\x00", SourceText("a", "utf-16-le", bom=True)),
        (b"\xfe\xff\x00a", SourceText("a", "utf-16-be", bom=True)),
        (b"\xed\xa0\xbd", SourceText("í\xa0½", "cp1252")),
        (b"\xef\xbb\xbf\xe9", SourceText("é", "cp1252", bom=True)),
        (b"\xff\xfea", SourceText("ÿþa", "cp1252")),
        (b"\xff\xfe\x00\x00a\x00\x00\x00", SourceText("a", "utf-32-le", bom=True)),
        (b"\x00\x00\xfe\xff\x00\x00\x00a", SourceText("a", "utf-32-be", bom=True)),
        (b"\xff\xfe\x00\x00a\x00", SourceText("\x00a", "utf-16-le", bom=True)),
        (b"\xff\xfe\x00\xd8", SourceText("ÿþ\x00Ø", "cp1252")),
        (b"a\x00b\x00", SourceText("a\x00b\x00")),
        (b"", SourceText("")),
    ],
)
def test_decode_takes_the_mark_then_utf8_then_windows_1252(
    data: bytes, expected: SourceText
) -> None:
    assert decode(data) == expected
    assert encode(expected) == data


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_is_known_by_its_zeros_above_1_kb(encoding: str) -> None:
    data = ("A line of plain words.\n" * 40).encode(encoding)
    assert decode(data) == SourceText("A line of plain words.\n" * 40, encoding)
    assert decode(data[:900]).encoding == "utf-8"
    assert decode(data + b"\0").encoding == "utf-8"
    assert decode(b"x\0" * 600 + b"\0\0").encoding == "utf-8"
    assert decode(b"\0x" * 600 + b"\0\0").encoding == "utf-8"


@given(st.binary(max_size=200))
def test_every_file_survives_the_round_trip(data: bytes) -> None:
    assert encode(decode(data)) == data


@given(st.binary(min_size=1025, max_size=4000))
def test_every_large_file_survives_the_round_trip(data: bytes) -> None:
    assert encode(decode(data)) == data


@given(
    st.sampled_from(
        [b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff"]
    ),
    st.binary(max_size=40),
)
def test_every_file_with_a_mark_survives_the_round_trip(mark: bytes, data: bytes) -> None:
    assert encode(decode(mark + data)) == mark + data


def test_a_character_the_file_cannot_hold_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="cp1252"):
        encode(SourceText("→", "cp1252"))
