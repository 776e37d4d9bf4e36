"""How Memoranda fares on this machine, as values: what was looked at, how it was judged, what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from memoranda.model.search_log import SearchSummary


class Verdict(StrEnum):
    """How a check ended."""

    OK = "ok"
    WARNING = "warning"
    """It works, and something should be known or done."""
    PROBLEM = "problem"
    """Something does not work."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at.

    Attributes:
        name: a word or two, the same for every project.
        message: what was found, one sentence without a final full stop.
        hint: what to do, one sentence; "" when there is nothing to do. Commands stand in backquotes.
    """

    name: str
    verdict: Verdict
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """The checks of one subject. `project` is the name of the project that they are about, "" for none."""

    title: str
    checks: Sequence[Check]
    project: str = ""


@dataclass(frozen=True, slots=True)
class HealthReport:
    """All that was looked at. `searches`: name of a project -> what its search log says."""

    version: str
    sections: Sequence[Section]
    searches: Mapping[str, SearchSummary] = field(default_factory=dict)

    def count(self, verdict: Verdict) -> int:
        """How many checks ended so."""
        return sum(each.verdict is verdict for section in self.sections for each in section.checks)

    @property
    def verdict(self) -> Verdict:
        """The worst of all."""
        for worst in (Verdict.PROBLEM, Verdict.WARNING):
            if self.count(worst):
                return worst
        return Verdict.OK


def ok(name: str, message: str) -> Check:
    """A check that found all well."""
    return Check(name, Verdict.OK, message)


def warning(name: str, message: str, hint: str) -> Check:
    """A check that found something to know or to do."""
    return Check(name, Verdict.WARNING, message, hint)


def problem(name: str, message: str, hint: str) -> Check:
    """A check that found what does not work."""
    return Check(name, Verdict.PROBLEM, message, hint)
