"""How near names of notes are to a name that none has: spelling, words, dates, folders. Pure.

What is forgiven are the mistakes that people and models make: a typing error, a plural, a word too
many or too few, words in another order, a date before the title or none, another folder.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from memoranda.model.address import slug, stem

_LIKE = 0.6
_WORDS_ALIKE = 0.35
_SAME_FOLDERS = 0.1
_AS_WRITTEN = 0.2
_DATE = re.compile(r"(?:\A|(?<=-))\d{4}-\d{2}(?:-\d{2})?(?:-|\Z)")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A note by its names."""

    title: str
    permalink: str
    file_path: str


def forms(name: str) -> tuple[str, ...]:
    """The slugs that a name may stand for: of its last part, and that without a date."""
    last = slug(stem(name.rstrip("/")))
    undated = _DATE.sub("", last).strip("-")
    return tuple(dict.fromkeys(form for form in (last, undated) if form))


def nearest(name: str, candidates: Iterable[Candidate], limit: int) -> list[str]:
    """The permalinks of the notes with the nearest names, best first.

    The last part of the name decides; of notes with equally near names those come first whose folders
    are like the folders of the name.
    """
    wanted = forms(name)
    folders = _slugs(name.rpartition("/")[0])
    found: dict[str, float] = {}
    matchers = [(form, difflib.SequenceMatcher(b=form, autojunk=False)) for form in wanted]
    for one in candidates:
        names = {form for each in (one.title, one.permalink, one.file_path) for form in forms(each)}
        score = max((_likeness(*each, form) for each in matchers for form in names), default=0.0)
        if score >= _LIKE:
            above = _slugs(one.permalink.rpartition("/")[0])
            score += _SAME_FOLDERS * difflib.SequenceMatcher(None, above, folders).ratio()
            score += _AS_WRITTEN if wanted[0] in names else 0.0
            found[one.permalink] = max(score, found.get(one.permalink, 0.0))
    return sorted(found, key=lambda permalink: (-found[permalink], permalink))[:limit]


def _likeness(wanted: str, matcher: difflib.SequenceMatcher[str], form: str) -> float:
    """0 to 1: 1 for the same, at least 0.6 where the letters or the words are alike."""
    alike = _words_alike(wanted, form)
    least = max(_LIKE, alike)
    matcher.set_seq1(form)
    if matcher.real_quick_ratio() < least or matcher.quick_ratio() < least:
        return alike
    return max(matcher.ratio(), alike)


def _words_alike(one: str, other: str) -> float:
    """0.6 to 0.95 where all words of one are in the other, by how many more that has."""
    these, those = _words(one), _words(other)
    common = these & those
    if not common or (common != these and common != those) or max(map(len, common)) < 3:
        return 0.0
    return _LIKE + _WORDS_ALIKE * len(common) / len(these | those)


def _words(form: str) -> set[str]:
    return {word[:-1] if len(word) > 3 and word.endswith("s") else word for word in form.split("-")}


def _slugs(path: str) -> str:
    return "/".join(filter(None, map(slug, path.split("/"))))
