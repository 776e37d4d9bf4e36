"""The tokenizer splits as the reference tokenizer of uncased BERT does.

The expected pieces were taken from that tokenizer (`tokenizers` 0.23), for texts written for these tests.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.embeddings import wordpiece
from memoranda.embeddings.static_model import StaticModel
from memoranda.embeddings.wordpiece import WordPiece

GOLDEN = {
    "words": ("Walking the dog", "walking the dog"),
    "pieces of a rare word": ("unbelievably", "un ##bel ##ie ##va ##bly"),
    "accents": ("CAFÉ au lait", "cafe au lai ##t"),
    "two accents": ("naïve résumé", "naive resume"),
    "combining accents": ("e\u0301te\u0301", "et ##e"),
    "sharp s": ("Straße", "st ##raße"),
    "dotted I": ("İstanbul", "istanbul"),
    "no final sigma": ("ΣΟΦΟΣ", "σ ##ο ##φ ##ο ##σ"),
    "apostrophes": ("can't won't", "can ' t won ' t"),
    "an address": ("e-mail: a.b@c.org", "e - mail : a . b @ c . org"),
    "languages": ("C++ and c#", "c + + and c #"),
    "symbols of ASCII": ("$5.00 ^ `x`", "$ 5 . 00 ^ ` x `"),
    "a path": ("a_b-c/d", "a _ b - c / d"),
    "a version": ("v1.2.3", "v ##1 . 2 . 3"),
    "digits": ("1234567 7", "123 ##45 ##6 ##7 7"),
    "unknown ideographs": ("你好世界", "[UNK] [UNK] 世 [UNK]"),
    "kana are no ideographs": ("東京タワー", "東 京 タ ##ワ ##ー"),
    "Hangul falls into letters": ("김치", "ᄀ ##ᅵ ##ᆷ ##ᄎ ##ᅵ"),
    "ideographs in a word": ("日本 x日y", "日 本 x 日 y"),
    "Cyrillic": ("привет мир", "п ##р ##и ##в ##е ##т м ##и ##р"),
    "Cyrillic with a mark": ("Київ", "к ##и ##і ##в"),
    "Arabic": ("مرحبا", "م ##ر ##ح ##ب ##ا"),
    "marks with a width stay": ("हिन्दी", "ह ##ि ##न ##द ##ी"),
    "a script without pieces": ("ไทย", "[UNK]"),
    "a ligature stays": ("\ufb01ne", "ﬁ ##ne"),
    "numbers of Unicode": ("½ ①", "½ [UNK]"),
    "no space of zero width": ("a\u200bb", "ab"),
    "no soft hyphen": ("a\u00adb", "ab"),
    "spaces of Unicode": ("a\u00a0b\u3000c", "a b c"),
    "tabs and lines": ("a\tb\r\nc\nd", "a b c d"),
    "vertical tabs and form feeds are dropped": ("a\x0bb\x0cc", "abc"),
    "separators are dropped": ("a\x1cb\x85c", "abc"),
    "separators of lines": ("a\u2028b", "a b"),
    "NUL": ("x\x00y", "x ##y"),
    "replacement character": ("x\ufffdy", "x ##y"),
    "lone surrogate": ("x\ud800y", "x ##y"),
    "private use": ("\ue000z", "z"),
    "an emoji alone": ("🙂 ok", "[UNK] ok"),
    "an emoji in a word": ("ok🙂", "[UNK]"),
    "Markdown": ("#tag [[Link]]", "# tag [ [ link ] ]"),
    "Spanish": ("¿Qué?", "¿ que ?"),
    "typography": ("“quoted” – dash…", "“ quoted ” – dash …"),
    "a sign that becomes another": ("\u037e", ";"),
    "compatible ideograph": ("\uf900", "[UNK]"),
    "a sign of pieces is a sign": ("##ing", "# # ing"),
    "mathematics": ("Ω≈ç√", "ω ##≈ ##c ##√"),
    "a mark of the model is text": ("[CLS]", "[ cl ##s ]"),
    "nothing": ("", ""),
    "only spaces": ("   ", ""),
}


@pytest.fixture(scope="module")
def tokenizer() -> WordPiece:
    return StaticModel.load().wordpiece


def pieces(tokenizer: WordPiece, text: str) -> list[str]:
    return [tokenizer.pieces[number] for number in tokenizer.numbers(text)]


@pytest.mark.parametrize(("text", "expected"), GOLDEN.values(), ids=GOLDEN)
def test_pieces_are_those_of_the_reference(tokenizer: WordPiece, text: str, expected: str) -> None:
    assert pieces(tokenizer, text) == expected.split()


def test_a_word_of_over_a_hundred_characters_is_unknown(tokenizer: WordPiece) -> None:
    assert pieces(tokenizer, "x" * 100) == ["xx"] + ["##xx"] * 49
    assert pieces(tokenizer, "x" * 101) == ["[UNK]"]
    assert pieces(tokenizer, "q" * 100 + "!") == ["q"] + ["##q"] * 99 + ["!"]


@given(st.lists(st.text(max_size=12), max_size=12))
def test_words_do_not_know_of_each_other(words: list[str]) -> None:
    tokenizer = StaticModel.load().wordpiece
    apart = [number for word in words for number in tokenizer.numbers(word)]
    assert tokenizer.numbers(" ".join(words)) == apart


@given(st.lists(st.text(min_size=1, max_size=12), max_size=12))
def test_what_is_remembered_is_what_is_worked_out(words: list[str]) -> None:
    tokenizer = StaticModel.load().wordpiece
    text = " ".join(words)
    remembered = (tokenizer.numbers(text), tokenizer.numbers(text))
    tokenizer._remembered.clear()
    assert remembered == (tokenizer.numbers(text),) * 2


def test_memory_for_words_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wordpiece, "_MOST_REMEMBERED", 4)
    tokenizer = WordPiece(["[UNK]", "a", "##a"])
    for length in [*range(1, 90), *range(90, 0, -1)]:
        assert len(tokenizer.numbers("a" * length)) == length
        assert len(tokenizer._remembered) <= 4
        assert all(len(run) <= 64 for run in tokenizer._remembered)


def test_a_word_is_split_in_linear_time() -> None:
    class Counting(dict[str, int]):
        asked = 0

        def get(self, key: str, default: int | None = None) -> int | None:  # type: ignore[override]
            Counting.asked += 1
            return super().get(key, default)

    tokenizer = WordPiece(["[UNK]", "a", "##a", "##aaaa", "."])
    tokenizer._numbers = Counting(tokenizer._numbers)
    tokenizer.numbers(("a" * 100 + ".") * 1_000)
    assert Counting.asked <= 8 * 101_000
    Counting.asked = 0
    assert tokenizer.numbers("a" * 1_000_000) == [0]
    assert Counting.asked == 0
