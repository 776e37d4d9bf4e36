from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.errors import InvalidArgument
from memoranda.files.names import safe_file_name


@pytest.mark.spec("6.2.1")
@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Test", "test.md"),
        ("Deep Work", "deep-work.md"),
        ("Site  Roadmap!", "site--roadmap!.md"),
        ("Version 4.8.1", "version-4.8.1.md"),
        ("東京 🗼 Café", "東京-🗼-café.md"),
        ("[1]", "[1].md"),
        ("C++ & C#", "c++-&-c#.md"),
    ],
)
def test_ordinary_titles_follow_the_rule_of_the_spec(title: str, name: str) -> None:
    assert safe_file_name(title) == name == title.lower().replace(" ", "-") + ".md"


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Enable/Disable", "enable-disable.md"),
        ("a\\b", "a-b.md"),
        ("What: now?", "what-now.md"),
        ("../../etc/passwd", "etc-passwd.md"),
        (".hidden", "hidden.md"),
        ("etc.", "etc.md"),
        ("  padded  ", "padded.md"),
        ("line\nbreak\ttab", "line-break-tab.md"),
        ("nul\0byte", "nul-byte.md"),
        ("lone \ud800 surrogate", "lone-surrogate.md"),
        ("right\u202eleft", "right-left.md"),
        ("~$lock", "lock.md"),
        ("Con", "con_.md"),
        ("aux.txt", "aux_.txt.md"),
        ("COM1", "com1_.md"),
        ("Console", "console.md"),
        ("Com 1", "com-1.md"),
    ],
)
def test_other_titles_get_a_name_every_file_system_takes(title: str, name: str) -> None:
    assert safe_file_name(title) == name


@pytest.mark.parametrize("title", ["", "   ", ".", "..", ". .", "\n", "///", "\0"])
def test_a_title_without_a_usable_character_is_refused(title: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        safe_file_name(title)
    assert caught.value.parameter == "title"


def test_joiners_that_spell_words_stay() -> None:
    assert safe_file_name("می\u200cخواهم") == "می\u200cخواهم.md"
    assert safe_file_name("👩\u200d👧") == "👩\u200d👧.md"


def test_decomposed_and_composed_titles_share_a_name() -> None:
    for title in ("Résumé", "Résumé" * 50):
        assert safe_file_name(unicodedata.normalize("NFD", title)) == safe_file_name(title)


@pytest.mark.parametrize("unit", ["x", "é", "東", "🗼", "क्षि "])
def test_long_titles_fit_and_stay_apart(unit: str) -> None:
    long = unit * 300
    first, second = safe_file_name(long + "1"), safe_file_name(long + "2")
    assert first != second
    assert 200 < len(first.encode()) <= 255
    assert first[:-12].rstrip("-") in long.lower().replace(" ", "-")


def test_the_longest_title_that_fits_is_not_cut() -> None:
    assert safe_file_name("x" * 252) == "x" * 252 + ".md"
    assert safe_file_name("x" * 253) != "x" * 253 + ".md"


def test_a_cut_does_not_part_a_letter_from_its_marks() -> None:
    for pad in range(4):
        kept = safe_file_name("a" * pad + "q\u0323\u0307" * 200)[:-12]
        assert kept == "a" * pad + "q\u0323\u0307" * ((len(kept) - pad) // 3)


@given(st.text(max_size=400))
def test_every_name_is_safe_or_refused(title: str) -> None:
    try:
        name = safe_file_name(title)
    except InvalidArgument:
        return
    stem = name.removesuffix(".md")
    assert stem
    assert len(name.encode()) <= 255
    assert not set(name) & set('/\\<>:"|?*\0\n\r\t')
    assert not name.startswith((".", " ", "~$"))
    assert not stem.endswith((".", " "))
    assert stem.split(".")[0] not in {"con", "prn", "aux", "nul", "com1", "lpt9"}
    assert unicodedata.is_normalized("NFC", name)
