"""Which names the ignore files of a project leave out, by the rules of gitignore(5). Pure.

`parse_rules` turns the bytes of one file into rules. `Rules` is the chain that is in force in one folder:
it goes down with the walk (`below`), so a rule is never matched against a whole path, only a name
against the segment that is due. A folder that is left out is not entered, so nothing in it can be taken
back. Names and patterns are compared in NFC.

Where this differs from git is said in docs/how-to/leave-files-out.md. Source: spec 4.1, gitignore(5).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from memoranda.files.wildmatch import ANY_FOLDERS, Segment, name_pattern, split_pattern

IGNORE_FILES = (".gitignore", ".bmignore")
"""Read in every folder, the later one is the stronger."""
MAX_IGNORE_BYTES = 1 << 20
MAX_RULES = 5000
MAX_LINE_BYTES = 4096
_MOST_BAD_LINES = 3
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of an ignore file.

    Attributes:
        source: the ignore file, relative to the project's folder.
        line: from 1.
        is_negation: takes back what weaker rules left out.
        only_folders: ends in `/`.
        segments: against the path below the ignore file's folder.
    """

    source: str
    line: int
    is_negation: bool
    only_folders: bool
    segments: tuple[Segment | None, ...]

    @property
    def reason(self) -> str:
        """As a phrase behind a path."""
        return f"ignored by {self.source}, line {self.line}"


@dataclass(frozen=True, slots=True)
class RuleFile:
    """What one ignore file says; `trouble`: what of it is not used and why, "" for nothing."""

    rules: tuple[Rule, ...] = ()
    trouble: str = ""


@lru_cache(maxsize=64)
def parse_rules(data: bytes, source: str) -> RuleFile:
    """Read the rules of one ignore file, weakest first. Lines that are no rule are left out and named.

    Args:
        data: the file's bytes, UTF-8, with or without BOM.
        source: its path, for the rules.
    """
    rules: list[Rule] = []
    bad: list[int] = []
    for number, raw in enumerate(data.removeprefix(_BOM).split(b"\n"), 1):
        if raw.startswith(b"#"):
            continue
        try:
            rule = _rule(raw, source, number)
        except ValueError:
            bad.append(number)
            continue
        if rule is None:
            continue
        if len(rules) == MAX_RULES:
            more = f"from line {number} on (more than {MAX_RULES} rules)"
            return RuleFile(tuple(rules), _trouble(bad, more))
        rules.append(rule)
    return RuleFile(tuple(rules), _trouble(bad))


def _rule(raw: bytes, source: str, number: int) -> Rule | None:
    """One line as a rule, None for a blank one. Raises ValueError when it cannot be one."""
    if len(raw) > MAX_LINE_BYTES or b"\0" in raw:
        raise ValueError("no line of text")
    line = unicodedata.normalize("NFC", raw.decode())
    pattern = _without_final_blanks(line.removesuffix("\r"))
    is_negation = pattern.startswith("!")
    pattern = pattern[is_negation:]
    only_folders = pattern.endswith("/")
    pattern = pattern[: len(pattern) - only_folders]
    if not pattern:
        return None
    if "/" in pattern:
        segments = split_pattern(pattern.removeprefix("/"))
    else:
        segments = (ANY_FOLDERS, name_pattern(pattern))
    return Rule(source, number, is_negation, only_folders, segments)


def _without_final_blanks(line: str) -> str:
    """The line without the blanks at its end, but for one behind a backslash."""
    kept = line.rstrip(" ")
    if len(kept) < len(line) and (len(kept) - len(kept.rstrip("\\"))) % 2:
        kept += " "
    return kept


def _trouble(bad: list[int], more: str = "") -> str:
    parts = [f"line {number}" for number in bad[:_MOST_BAD_LINES]]
    if len(bad) > _MOST_BAD_LINES:
        parts.append(f"{len(bad) - _MOST_BAD_LINES} more")
    if more:
        parts.append(more)
    return (
        f"not used: {', '.join(parts)} (no valid pattern)" if bad else more and f"not used: {more}"
    )


@dataclass(frozen=True, slots=True)
class _Live:
    """A rule that can still match below some folder.

    Attributes:
        at: the segments that may be due for a name in that folder.
    """

    rule: Rule
    at: tuple[int, ...]

    @property
    def is_floating(self) -> bool:
        """Whether the rule is about names in any folder."""
        return len(self.rule.segments) == 2 and self.rule.segments[0] is ANY_FOLDERS

    def finals(self) -> Iterable[Segment | None]:
        """What would make a name in this folder the end of the pattern."""
        last = len(self.rule.segments) - 1
        return (self.rule.segments[last] for index in self.at if index == last)

    def below(self, name: str) -> _Live | None:
        """The same for the folder `name`, None when the rule cannot match there."""
        if self.is_floating and self.rule.segments[1] is not ANY_FOLDERS:
            return self
        segments = self.rule.segments
        found: set[int] = set()
        for index in self.at:
            segment = segments[index]
            if segment is ANY_FOLDERS:
                found.add(index)
            elif index + 1 < len(segments) and _is(segment, name):
                found.add(index + 1)
        due = _due(segments, found)
        return (self if due == self.at else _Live(self.rule, due)) if due else None


class Rules:
    """The rules in force in one folder, weakest first. Immutable."""

    __slots__ = ("_live", "_may_match")

    def __init__(self, live: tuple[_Live, ...] = ()) -> None:
        self._live = live
        self._may_match: _NameTest | None = None

    def __bool__(self) -> bool:
        return bool(self._live)

    def and_(self, rules: Iterable[Rule]) -> Rules:
        """With the rules of this very folder, which are the strongest so far."""
        own = tuple(_Live(rule, _due(rule.segments, {0})) for rule in rules)
        return Rules((*self._live, *own)) if own else self

    def below(self, name: str) -> Rules:
        """The rules in force in the folder `name` of this folder, without its own ignore files."""
        if not self._live:
            return self
        name = _nfc(name)
        live = tuple(new for one in self._live if (new := one.below(name)) is not None)
        return self if live == self._live else Rules(live)

    def ignoring(self, name: str, *, is_folder: bool) -> Rule | None:
        """The rule that leaves out a name of this folder, None when none does."""
        if not self._live:
            return None
        name = _nfc(name)
        if self._may_match is None:
            self._may_match = _name_test(self._live)
        if not self._may_match(name):
            return None
        for one in reversed(self._live):
            if one.rule.only_folders and not is_folder:
                continue
            if any(final is ANY_FOLDERS or _is(final, name) for final in one.finals()):
                return None if one.rule.is_negation else one.rule
        return None


NO_RULES = Rules()


def _due(segments: tuple[Segment | None, ...], indexes: set[int]) -> tuple[int, ...]:
    """These places, and those behind them when `**` stands for no folder at all."""
    last = len(segments) - 1
    more = {i + 1 for i in indexes if segments[i] is ANY_FOLDERS and i < last}
    return tuple(sorted(indexes | more))


def _nfc(name: str) -> str:
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def _is(segment: Segment, name: str) -> bool:
    if segment.literal is not None:
        return segment.literal == name
    return _compiled((segment.regex,)).fullmatch(name) is not None


class _NameTest:
    """Whether any of many segments may match a name, much faster than one by one."""

    __slots__ = ("_fixed", "_floating", "_literals")

    def __init__(
        self, literals: frozenset[str], floating: tuple[str, ...], fixed: tuple[str, ...]
    ) -> None:
        self._literals = literals
        self._floating = _compiled(floating).fullmatch if floating else None
        self._fixed = _compiled(fixed).fullmatch if fixed else None

    def __call__(self, name: str) -> bool:
        return (
            name in self._literals
            or (self._floating is not None and self._floating(name) is not None)
            or (self._fixed is not None and self._fixed(name) is not None)
        )


@lru_cache(maxsize=256)
def _name_test(live: tuple[_Live, ...]) -> _NameTest:
    """The patterns for any folder are kept apart: they are the same in many folders."""
    literals: set[str] = set()
    floating: dict[str, None] = {}
    fixed: dict[str, None] = {}
    for one in live:
        for final in one.finals():
            if final is not ANY_FOLDERS and final.literal is not None:
                literals.add(final.literal)
            else:
                kind = floating if one.is_floating else fixed
                kind[".+" if final is ANY_FOLDERS else final.regex] = None
    return _NameTest(frozenset(literals), tuple(floating), tuple(fixed))


@lru_cache(maxsize=4096)
def _compiled(alternatives: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.DOTALL)
