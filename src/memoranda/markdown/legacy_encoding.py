"""Which legacy encoding a file has that is neither UTF-8 nor, in all likelihood, Windows-1252.

A guess is rather none than wrong: without one the file is read as Windows-1252, which is right for
Western Europe. A statistical detector only proposes; plain properties of the bytes, which text in
Windows-1252 cannot have by chance, decide:

* an alphabet of its own (Cyrillic, Greek, Hebrew, Arabic, Thai): words of high bytes alone. Western text
  has single high bytes inside ASCII words;
* Chinese, Japanese, Korean: nearly all characters are of that language, and most ideographs of the
  frequent half of its table;
* Central European letters where Windows-1252 has signs: `ma³y` for `mały`.

Czech, Hungarian, Romanian, Turkish, Baltic and Vietnamese text in their own 8-bit encodings is spelt with
letters of Windows-1252; no statistic tells them apart with certainty, so they are not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

SMALLEST_BYTES: Final = 1025
"""Smaller files say too little. Source: FORMAT "Encodings"."""

_SAMPLE_BYTES: Final = 16_384
_LEAST_LETTERS: Final = 40
_LEAST_COHERENCE: Final = 0.2
_CYRILLIC: Final = "[\u0400-\u04ff]"
_GREEK: Final = "[\u0370-\u03ff]"
_ALPHABETS: Final = {
    "cp1251": _CYRILLIC, "koi8_r": _CYRILLIC, "koi8_u": _CYRILLIC, "cp866": _CYRILLIC,
    "iso8859_5": _CYRILLIC, "cp1253": _GREEK, "iso8859_7": _GREEK, "cp1255": "[\u05d0-\u05ea]",
    "cp1256": "[\u0600-\u06ff\u200c-\u200f]", "cp874": "[\u0e00-\u0e7f]",
}  # fmt: skip
_NO_CASE: Final = frozenset({"cp1255", "cp1256", "cp874"})
_WIDE: Final = {
    "gb18030": "gb18030", "gb2312": "gb18030", "big5": "cp950", "cp950": "cp950",
    "shift_jis": "cp932", "cp932": "cp932", "euc_jp": "euc_jp", "euc_kr": "cp949", "cp949": "cp949",
}  # fmt: skip
"""What the detector says -> the superset of it that is in use."""
_FREQUENT: Final = {
    "gb18030": ("gb18030", range(0xB0, 0xD8)),
    "cp950": ("cp950", range(0xA4, 0xC7)),
    "cp932": ("euc_jp", range(0xB0, 0xD0)),
    "euc_jp": ("euc_jp", range(0xB0, 0xD0)),
}
"""The table whose first byte says whether an ideograph is a frequent one, and that first byte."""

_HIGH: Final = re.compile(rb"[\x80-\xff]+")
_BESIDE_ASCII: Final = re.compile(rb"(?<=[A-Za-z])[\x80-\xff]|[\x80-\xff](?=[A-Za-z])")
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_TYPOGRAPHIC: Final = re.compile("[\xa0«»“”„‘’–—…•№]")
_ASCII: Final = re.compile("[\x00-\x7f]+")
_IDEOGRAPH: Final = re.compile("[\u4e00-\u9fff]")
_KANA: Final = re.compile("[\u3041-\u30ff]")
_HANGUL: Final = re.compile("[\uac00-\ud7a3]")
_WIDE_SIGN: Final = re.compile("[\u3000-\u303f\uff00-\uff60\u2010-\u2026\u00b7]")
_SIGN_IN_WORD: Final = re.compile(
    rb"(?<=[a-z])[\xa1\xa3\xa5\xa6\xaf\xb1\xb3\xb6\xb9\xbb\xbc\xbe\xbf](?=[a-z])"
)
_C1: Final = re.compile(rb"[\x80-\x9f]")
_ISO_GREEK: Final = re.compile(rb"\xb6[\xc1-\xfe]|[A-Za-z][\xa1\xa2]")


def legacy_encoding(data: bytes) -> str | None:
    """The Python codec of a file that is not UTF-8, if it is certain; None means Windows-1252.

    The codec decodes the whole file and gives these very bytes back. Looks at a sample of the lines
    that are not ASCII, so that its cost hardly grows with the file.
    """
    if len(data) < SMALLEST_BYTES:
        return None
    sample = _sample(data)
    if not sample or _CONTROL.search(sample):
        return None
    high = _HIGH.findall(sample)
    n_high = sum(map(len, high))
    if sample.decode("utf-8", "replace").count("\ufffd") * 8 < n_high:
        return None  # UTF-8 with a fault
    codec = _central_european(sample, n_high) or _proposed(sample, high, n_high)
    return codec if codec is not None and _holds(data, codec) else None


def _sample(data: bytes) -> bytes:
    """Whole lines that are not ASCII, from all parts of the file."""
    lines = [line for line in data.splitlines() if not line.isascii()]
    step = max(1, sum(map(len, lines)) // _SAMPLE_BYTES)
    sample = b"\n".join(lines[::step])
    if len(sample) > 4 * _SAMPLE_BYTES:  # a very long line; not cut inside a character
        sample = sample[: 4 * _SAMPLE_BYTES]
        sample = sample[: max(map(sample.rfind, (b"\n", b" ", b","))) + 1] or sample
    return sample


def _holds(data: bytes, codec: str) -> bool:
    try:
        return data.decode(codec).encode(codec) == data
    except UnicodeError:
        return False


def _central_european(sample: bytes, n_high: int) -> str | None:
    signs = len(_SIGN_IN_WORD.findall(sample))
    if signs < 8 or signs * 16 < n_high or len(_BESIDE_ASCII.findall(sample)) * 2 < n_high:
        return None
    # The ISO encoding has no characters in 0x80-0x9F, where Windows has quotes and some letters.
    return "cp1250" if _C1.search(sample) else "iso8859_2"


def _proposed(sample: bytes, high: Sequence[bytes], n_high: int) -> str | None:
    from charset_normalizer import from_bytes  # here, since few files need it

    match = from_bytes(
        sample,
        steps=8,
        chunk_size=2048,
        cp_isolation=[*_ALPHABETS, *_WIDE, "cp1252"],
        preemptive_behaviour=False,
        enable_fallback=False,
    ).best()
    if match is None:
        return None
    codec = _WIDE.get(match.encoding, match.encoding)
    if codec in _WIDE:
        return codec if _is_wide_text(sample, codec) else None
    if codec not in _ALPHABETS or match.coherence < _LEAST_COHERENCE:
        return None
    if codec in ("cp1253", "iso8859_7"):  # they differ in one frequent letter
        codec = "iso8859_7" if _ISO_GREEK.search(sample) else "cp1253"
    return codec if _is_alphabet_text(sample, codec, high, n_high) else None


def _is_alphabet_text(sample: bytes, codec: str, high: Sequence[bytes], n_high: int) -> bool:
    if len(_BESIDE_ASCII.findall(sample)) * 12 > n_high:
        return False
    if sum(len(run) for run in high if len(run) > 2) * 10 < n_high * 6:
        return False
    try:
        text = sample.decode(codec)
    except UnicodeDecodeError:
        return False
    letters = len(re.findall(_ALPHABETS[codec], text))
    signs = len(_TYPOGRAPHIC.findall(text))
    if letters < _LEAST_LETTERS or letters * 20 < (n_high - signs) * 17:
        return False
    # Another encoding of the same alphabet has capitals where this one has small letters.
    own = _ASCII.sub(" ", text)
    wrong_case = sum(a.islower() and b.isupper() for a, b in pairwise(own))
    capitals = sum(map(str.isupper, own))
    has_case = codec not in _NO_CASE
    return wrong_case * 100 <= letters and has_case <= capitals <= letters // 2


def _is_wide_text(sample: bytes, codec: str) -> bool:
    try:
        text = sample.decode(codec)
    except UnicodeDecodeError:
        return False
    ideographs = _IDEOGRAPH.findall(text)
    kana = len(_KANA.findall(text))
    hangul = len(_HANGUL.findall(text))
    letters = len(ideographs) + kana + hangul
    others = sum(sign > "\x7f" for sign in text) - letters - len(_WIDE_SIGN.findall(text))
    if letters < _LEAST_LETTERS or others * 20 > letters:
        return False
    if codec == "cp949":
        return hangul * 10 >= letters * 6
    if codec in ("cp932", "euc_jp") and kana * 10 < letters * 2:
        return False
    table, frequent = _FREQUENT[codec]
    found = sum(sign.encode(table, "replace")[0] in frequent for sign in ideographs)
    return found * 10 >= len(ideographs) * 6
