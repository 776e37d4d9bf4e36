"""A health report as text for a person, and as JSON values."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from typing import Any

from memoranda.model.health import Check, HealthReport, Section, Verdict
from memoranda.render.notes import count
from memoranda.render.search_log import summary_data

_LEAST_WIDTH = 30
_HINT = "hint: "


def health_text(
    report: HealthReport, *, width: int | None = None, as_shown: Callable[[str], str] = str
) -> str:
    """The report: what it comes to, then the checks of each subject in columns.

    Args:
        report: what was found.
        width: of the terminal, where long lines go on below their column; None: one line a check, and one
            for its hint.
        as_shown: makes the commands of a hint ones that run here.
    """
    widest = max((len(each.name) for part in report.sections for each in part.checks), default=0)
    parts = [f"Memoranda {report.version}: {_outcome(report)}"]
    for section in report.sections:
        lines = [_title(section)]
        for check in section.checks:
            lines += _lines(check, widest, width, as_shown)
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def health_data(report: HealthReport, *, as_shown: Callable[[str], str] = str) -> dict[str, Any]:
    """The same as JSON values."""
    return {
        "version": report.version,
        "verdict": report.verdict.value,
        "problems": report.count(Verdict.PROBLEM),
        "warnings": report.count(Verdict.WARNING),
        "sections": [
            {
                "title": section.title,
                "project": section.project or None,
                "checks": [
                    {
                        "name": check.name,
                        "verdict": check.verdict.value,
                        "message": check.message,
                        "hint": as_shown(check.hint),
                    }
                    for check in section.checks
                ],
            }
            for section in report.sections
        ],
        "searches": {name: summary_data(each) for name, each in report.searches.items()},
    }


def _outcome(report: HealthReport) -> str:
    problems, warnings = report.count(Verdict.PROBLEM), report.count(Verdict.WARNING)
    found = [
        count(number, noun)
        for number, noun in ((problems, "problem"), (warnings, "warning"))
        if number
    ]
    return ", ".join(found) or "all well"


def _title(section: Section) -> str:
    return f"{section.title} {section.project}" if section.project else section.title


def _lines(
    check: Check, widest: int, width: int | None, as_shown: Callable[[str], str]
) -> Iterator[str]:
    first = f"  {check.verdict.value:<7}  {check.name:<{widest}}  "
    yield from _wrapped(check.message, first, " " * len(first), width)
    if check.hint:
        indent = " " * len(first)
        yield from _wrapped(as_shown(check.hint), indent + _HINT, indent, width)


def _wrapped(text: str, first: str, rest: str, width: int | None) -> list[str]:
    """The text behind `first`, and, where it is longer than the terminal is wide, below itself."""
    line = text.replace("\n", "\\n").replace("\r", "\\r")
    if width is None or width - len(rest) < _LEAST_WIDTH:
        return [f"{first}{line}".rstrip()]
    return textwrap.wrap(
        line,
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
