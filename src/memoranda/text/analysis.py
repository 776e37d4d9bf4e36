"""What text means to full-text search: words, their stems and folded forms. Pure.

The database's tokenizer finds words as they are written (letters, digits, marks; case and Latin
accents folded). This module adds, in one more column (`content_stems`), what that misses:

* stems of the configured languages (Snowball): `running` also as `run`, `Häuser` as `haus`;
* folded forms the tokenizer does not make: `Straße` as `strasse`, `Łódź` as `lodz`, Greek and
  Cyrillic without accents, Hebrew and Arabic without points;
* overlapping pairs of characters of scripts without blanks (Chinese, Japanese, Thai, ...) and of
  Hangul, in text order, so that a part of an unspaced run is found as a phrase;
* terms whose signs the tokenizer drops: `c++`, `c#`, `.net`, the version `4.8.1`, an emoji. The signs are
  written as private-use characters, which the tokenizer keeps inside a word and nobody types.

Only what adds to the words themselves is written, so the column stays small. Query and index use the
same functions, whatever the back end (architecture row 15).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache

Languages = tuple[str, ...]
"""Names of Snowball stemmers, as PyStemmer knows them."""

ENGLISH: Languages = ("english",)

ANALYSIS_VERSION = 3
"""Raise it when `index_terms` writes something else for the same text."""

_ASCII_WORDS = "".join(c if c.isalnum() else " " for c in map(chr, range(128)))
_UNSPACED = (
    "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3041-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9fe\uaa60-\uaa7f\uac00-\ud7af\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff"
)
_HAS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_RUNS = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")
_SIGNS_AFTER = re.compile(r"[#+](?:(?<=\+)\+)?(?![^\W_]|[+#])")  # begins with the sign: found fast
_NAME_BEFORE = re.compile(r"(?<![^\W_])[a-z][a-z0-9]{0,19}\Z")
_DOT_BEFORE = re.compile(r"\.(?<![^\s(`\"'*]\.)[a-z][a-z0-9]*(?![^\W_])")
_HAS_DOTTED = re.compile(r"\.(?:[a-z](?<![^\s(`\"'*]..)|\d(?<=\d..))")
_VERSION = re.compile(
    r"[0-9](?<![^\W_v]\d)(?<!\d\.\d)[0-9]{0,8}(?:\.[0-9]{1,9}){1,7}(?![^\W_]|\.\d)"
)
_LONGEST_NAME = 21
_EMOJI = re.compile("[\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]")
_PRIVATE = 0xE000
_AS_PRIVATE = {ord(sign): _PRIVATE + ord(sign) for sign in "#+."}
_POINTS = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u064b-\u065f\u0670\u0640]"
)
_LATIN_ACCENT = re.compile("([a-z])[\u0300-\u036f]+")
_LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ı": "i", "ħ": "h"}
)  # fmt: skip
_OTHER_FORMS = str.maketrans("µſςϐϑϕϖϰϱϵ", "μsσβθφπκρε")
"""Letters that the tokenizer takes for others, beside those that differ in case."""
_CACHED_WORDS = 200_000
_MARK_BLOCKS = (
    (0x0300, 0x1E00), (0x20D0, 0x2100), (0x2CE0, 0x3100), (0xA600, 0xAC00), (0xFB00, 0xFB50), (0xFE00, 0xFE30)
)  # fmt: skip
"""Where the marks of the first plane are: to look at all of it takes 8 ms of every start."""
_LONGEST_STEMMED = 40
_CHANGED_BEGINNINGS = frozenset({
    "arabic", "dutch", "esperanto", "indonesian", "irish", "persian", "serbian", "sesotho", "tamil", "yiddish"
})  # fmt: skip
"""Languages whose stemmers also take off or change what a word begins with: `gelopen` is `loop`."""


def written_words(text: str) -> list[str]:
    """The words of a text in order, normalized: lower case, with their accents."""
    lowered = normalized(text)
    if lowered.isascii():
        return lowered.translate(_ASCII_WORDS).split()
    return _word().findall(lowered)


def stored_words(text: str) -> list[str]:
    """The words of a text in order as the tokenizer stores them: without accents, signs written as private use."""
    lowered = normalized(text)
    if lowered.isascii():
        return lowered.translate(_ASCII_WORDS).split()
    words = _stored_word().findall(lowered.translate(_OTHER_FORMS))
    return [stored for word in words if (stored := token(word))]


def word_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where the words of a text are, as it is written: half-open ranges in text order."""
    return (match.span() for match in _word().finditer(text))


def index_terms(text: str, languages: Languages = ENGLISH) -> str:
    """What a text adds to its own words, blank-separated: the column `content_stems`.

    Stems, folded forms and terms with signs come once each, sorted; pairs of characters of unspaced
    scripts follow in text order, every time.
    """
    lowered = normalized(text)
    added = _added(languages)
    if lowered.isascii():
        found = set(map(added.__getitem__, lowered.translate(_ASCII_WORDS).split()))
        found.discard("")
        if signed := _signed_terms(lowered):
            found.update(signed)
        return " ".join(sorted(found))
    all_words = _word().findall(lowered)
    distinct, in_order = set(all_words), list[str]()
    if _HAS_UNSPACED.search(lowered):
        distinct = {word for word in distinct if not has_unspaced(word)}
        for word in all_words:
            if has_unspaced(word):
                in_order.extend(pairs(word, closed=True))
    found = set(map(added.__getitem__, distinct))
    found.discard("")
    if not unicodedata.is_normalized("NFC", text):
        found.update(token(word) for word in distinct if not word.isascii())
    found.update(_signed_terms(lowered), emoji_terms(lowered))
    return " ".join([*sorted(found), *in_order])


def forms(word: str, languages: Languages = ENGLISH) -> tuple[str, ...]:
    """The further forms under which the index may hold one (normalized) word: folded form, stem."""
    return tuple(_added(languages)[word].split())


def pairs(word: str, *, closed: bool = False) -> list[str]:
    """The terms of a word that holds unspaced script, in order; a phrase of them finds the word.

    `closed` adds the last character of the last run, so that the index also finds it alone.
    """
    result: list[str] = []
    runs = _RUNS.findall(unicodedata.normalize("NFKC", word))
    for position, run in enumerate(runs):
        if not _HAS_UNSPACED.match(run):
            result.append(folded(run))
            continue
        result.extend(run[i : i + 2] for i in range(len(run) - 1))
        if closed or len(run) == 1 or position + 1 < len(runs):
            result.append(run[-1])
    return result


def has_unspaced(word: str) -> bool:
    """Whether a word holds a character of a script that is searched by pairs."""
    return _HAS_UNSPACED.search(word) is not None


def signed_terms(text: str) -> list[str]:
    """The terms of a text whose signs count (`c++`, `c#`, `.net`), as the index holds them."""
    return _signed_terms(normalized(text))


def emoji_terms(text: str) -> list[str]:
    """The emoji of a text, as the index holds them."""
    if text.isascii():
        return []
    return [f"{chr(_PRIVATE)}{ord(sign):x}" for sign in _EMOJI.findall(text)]


def normalized(text: str) -> str:
    """NFC and lower case; what every other function here works on."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).lower())


def token(word: str) -> str:
    """A normalized word as the tokenizer stores it: Latin letters without accents."""
    if word.isascii():
        return word
    bare = _LATIN_ACCENT.sub(r"\1", unicodedata.normalize("NFD", word))
    return unicodedata.normalize("NFC", bare)


def folded(word: str) -> str:
    """A normalized word without accents and points in any script, special Latin letters spelt out."""
    if word.isascii():
        return word
    compatible = unicodedata.normalize("NFKD", word).casefold().translate(_LETTERS)
    bare = unicodedata.normalize("NFC", _POINTS.sub("", compatible))
    return bare if _word().fullmatch(bare) else word


def stems(word: str, languages: Languages = ENGLISH) -> tuple[str, ...]:
    """What the stemmers of the languages written in its script make of a normalized word, each once.

    Folded; a stem that equals the folded word is among them.
    """
    if not 2 < len(word) <= _LONGEST_STEMMED:
        return ()
    if word.isascii():
        if not word.isalpha():
            return ()  # numbers, hashes
        found = [stemmer(word) for stemmer in _stemmers(languages, "latin")]
        return tuple(found) if len(found) == 1 else tuple(dict.fromkeys(found))
    if any(c.isdigit() for c in word):
        return ()
    base = folded(word)
    if base.isascii():  # accents tell stems apart: `Häuser` has that of `Haus`, `Hauser` is a name
        others = tuple(one for one in languages if one != "english")
        found = [stemmer(base) for stemmer in _stemmers(languages, "latin")]
        found += [folded(stemmer(word)) for stemmer in _stemmers(others, "latin")]
    else:
        found = [folded(stemmer(word)) for stemmer in _stemmers(languages, _script(word))]
    return tuple(dict.fromkeys(one for one in found if one))


def keeps_beginnings(languages: Languages) -> bool:
    """Whether stems begin as their words do: with the first two letters, but `y` as `i`, `ae` as `a`.

    Then most words of a text need not be stemmed to know that they are no form of another.
    """
    return _CHANGED_BEGINNINGS.isdisjoint(languages)


def beginnings(form: str) -> Iterator[str]:
    """With which one or two letters words begin that have this (folded) form (`keeps_beginnings`)."""
    yield form[:2]
    if form[1:2] in {"i", "y"}:
        yield form[0] + ("y" if form[1] == "i" else "i")
    if form[:1] in {"a", "o", "u"}:
        yield form[0] + "e"


class _Added(dict[str, str]):
    """Normalized word -> the terms it adds, blank-separated ("" for none); bounded, filled on demand."""

    def __init__(self, languages: Languages) -> None:
        super().__init__()
        self._languages = languages

    def __missing__(self, word: str) -> str:
        if word.isascii():
            value = " ".join([term for term in stems(word, self._languages) if term != word])
        else:
            stored = token(word)
            terms = dict.fromkeys((folded(word), *stems(word, self._languages)))
            value = " ".join(term for term in terms if term != stored)
        if len(self) >= _CACHED_WORDS:
            self.clear()
        self[word] = value
        return value


_SCRIPTS = (
    ("greek", "\u0370-\u03ff\u1f00-\u1fff"),
    ("cyrillic", "\u0400-\u052f"),
    ("armenian", "\u0530-\u058f"),
    ("hebrew", "\u0590-\u05ff"),
    ("arabic", "\u0600-\u06ff"),
    ("devanagari", "\u0900-\u097f"),
    ("tamil", "\u0b80-\u0bff"),
)
_SCRIPTS_OF = {
    "arabic": ("arabic",),
    "armenian": ("armenian",),
    "greek": ("greek",),
    "hindi": ("devanagari",),
    "nepali": ("devanagari",),
    "persian": ("arabic",),
    "russian": ("cyrillic",),
    "serbian": ("cyrillic", "latin"),
    "tamil": ("tamil",),
    "yiddish": ("hebrew",),
}
"""Languages that are not written in Latin letters."""


def _script(word: str) -> str:
    return next((name for name, range_ in _SCRIPTS if re.match(f"[{range_}]", word)), "latin")


@lru_cache(maxsize=64)
def _stemmers(languages: Languages, script: str) -> tuple[Callable[[str], str], ...]:
    return tuple(
        _stemmer(language)
        for language in languages
        if script in _SCRIPTS_OF.get(language, ("latin",))
    )


@lru_cache(maxsize=1)
def _word() -> re.Pattern[str]:
    """A letter or digit, then letters, digits and marks: the tokenizer's categories L, N, Mn, Mc."""
    return re.compile(f"[^\\W_](?:[^\\W_]|[{_marks()}])*")


@lru_cache(maxsize=1)
def _marks() -> str:
    signs = (chr(code) for first, end in _MARK_BLOCKS for code in range(first, end))
    return "".join(c for c in signs if unicodedata.category(c) in {"Mn", "Mc"})


@lru_cache(maxsize=1)
def _stored_word() -> re.Pattern[str]:
    """What the tokenizer takes for a word: also of marks alone, and of private use."""
    return re.compile(f"(?:[^\\W_]|[{_marks()}\ue000-\uf8ff])+")


@lru_cache(maxsize=8)
def _added(languages: Languages) -> _Added:
    return _Added(languages)


@lru_cache(maxsize=8)
def _stemmer(language: str) -> Callable[[str], str]:
    from Stemmer import Stemmer  # type: ignore[import-not-found,import-untyped,unused-ignore]

    stem_word: Callable[[str], str] = Stemmer(language, 0).stemWord  # `_Added` is the cache
    return stem_word


def _signed_terms(lowered: str) -> list[str]:
    found: list[str] = []
    if "#" in lowered or "+" in lowered:
        for signs in _SIGNS_AFTER.finditer(lowered):
            at = signs.start()
            if name := _NAME_BEFORE.search(lowered[max(0, at - _LONGEST_NAME) : at]):
                found.append(name[0] + signs[0])
    if _HAS_DOTTED.search(lowered):  # a search that fails takes a tenth of a findall
        found += _DOT_BEFORE.findall(lowered)
        found += _VERSION.findall(lowered)
    if not found:
        return found
    return [signed.translate(_AS_PRIVATE) for signed in found]
