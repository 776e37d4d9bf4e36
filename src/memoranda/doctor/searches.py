"""How a project is searched: what the search log says of speed, and of questions without an answer."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from memoranda.config import search_log_file
from memoranda.doctor.words import command, counted, day_and_time, size, some
from memoranda.errors import FileProblem
from memoranda.files.search_log import SearchLogFile
from memoranda.model.health import Check, ok, warning
from memoranda.model.project import Project
from memoranda.model.search import SearchType
from memoranda.model.search_log import RecordedSearches, SearchRecord, SearchSummary
from memoranda.render.bounds import one_line

SLOW_MS = 1000.0
"""When 95 of 100 searches do not end within this, that is worth a warning."""

_ENOUGH = 20
_MANY_EMPTY = 0.4
_MOST_NAMED = 3
_MOST_CHARS = 60


@dataclass(frozen=True, slots=True)
class SearchFacts:
    """What was found of the search log. `trouble`: why it cannot be read."""

    project: str
    is_recording: bool
    found: RecordedSearches = field(default_factory=RecordedSearches)
    trouble: str = ""


def look(project: Project, *, is_recording: bool) -> SearchFacts:
    """Read the search log of a project."""
    try:
        found = SearchLogFile(search_log_file(project)).read()
    except FileProblem as error:
        return SearchFacts(project.name, is_recording, trouble=error.message)
    return SearchFacts(project.name, is_recording, found)


def summary(records: Sequence[SearchRecord]) -> SearchSummary:
    """The log in numbers."""
    if not records:
        return SearchSummary()
    by_time = sorted(records, key=lambda record: record.latency_ms)
    warm = [record for record in by_time if not record.is_first]
    first = [record for record in by_time if record.is_first]
    empty = [record for record in records if not record.total]
    weak = [record for record in records if record.is_weak and record.total]
    return SearchSummary(
        total=len(records),
        since=min(record.at for record in records),
        clients=tuple(sorted({record.client for record in records if record.client})),
        warm=len(warm),
        p50_ms=_nearest_rank(warm, 0.50),
        p95_ms=_nearest_rank(warm, 0.95),
        slowest=_slowest(warm),
        first_p50_ms=_nearest_rank(first, 0.50),
        empty=len(empty),
        empty_queries=_frequent(empty),
        weak=len(weak),
        weak_queries=_frequent(weak),
        relaxed=sum(record.is_relaxed for record in records),
        degraded=_degraded(records),
    )


def judge(facts: SearchFacts, numbers: SearchSummary) -> list[Check]:
    """The checks of the searches; `numbers` is the summary of what was found."""
    if facts.trouble:
        return [warning("searches", facts.trouble, "Check its owner and its permissions.")]
    off = "" if facts.is_recording else " (search_log is off: new ones are not recorded)"
    if not numbers.total:
        return [ok("searches", f"none is recorded yet{off}"), *_damaged(facts)]
    by = f" by {some(numbers.clients)}" if numbers.clients else ""
    since = f" since {day_and_time(numbers.since)}" if numbers.since else ""
    several = counted(numbers.total, "search", "searches")
    return [
        ok("searches", f"{several}{since}{by}, {size(facts.found.size_bytes)}{off}"),
        *_damaged(facts),
        _speed(numbers),
        *_answers(facts.project, numbers),
    ]


def _damaged(facts: SearchFacts) -> list[Check]:
    if not facts.found.damaged:
        return []
    return [
        warning(
            "search log",
            f"{counted(facts.found.damaged, 'line')} of it cannot be read and are left out",
            f"Begin a new one: {command('searches', '--clear', project=facts.project)}.",
        )
    ]


def _speed(numbers: SearchSummary) -> Check:
    first = _ms(numbers.first_p50_ms)
    start = f"the first search of a process takes {first} (median), since code is loaded"
    if not numbers.warm:
        return ok("latency", start)
    slowest = "; ".join(
        f"{_shown(record.query)} {_ms(record.latency_ms)}" for record in numbers.slowest
    )
    said = f"half in {_ms(numbers.p50_ms)}, 95 % in {_ms(numbers.p95_ms)}; the slowest: {slowest}"
    if numbers.warm < numbers.total:
        said = f"{said}; {start}"
    if numbers.warm >= _ENOUGH and numbers.p95_ms > SLOW_MS:
        return warning(
            "latency",
            said,
            "Is the index on a slow or a network disk, or does a long sync run at the same time?",
        )
    return ok("latency", said)


def _answers(project: str, numbers: SearchSummary) -> list[Check]:
    shares = [
        f"{_share(number, numbers.total)} {words}"
        for number, words in (
            (numbers.empty, "found nothing"),
            (numbers.weak, "found nothing relevant"),
            (numbers.relaxed, "found only some of what was demanded"),
            (numbers.degraded, "ran in a simpler way than asked"),
        )
    ]
    said = f"of these searches {', '.join(shares)}"
    is_poor = numbers.empty + numbers.weak > _MANY_EMPTY * numbers.total
    if numbers.total >= _ENOUGH and is_poor:
        look_at = command("searches", project=project)
        hint = f"See {look_at}; words that your notes do not use can be given to them as aliases."
        checks = [warning("answers", said, hint)]
    else:
        checks = [ok("answers", said)]
    for name, queries in (
        ("found nothing", numbers.empty_queries),
        ("nothing relevant", numbers.weak_queries),
    ):
        if queries:
            checks.append(ok(name, "; ".join(_shown(query) for query in queries)))
    return checks


def _degraded(records: Sequence[SearchRecord]) -> int:
    """How many could not run as asked, since a search by meaning ran for the first time.

    Before that there was none that could run, and all who asked for one were answered by words.
    """
    first = next((n for n, record in enumerate(records) if record.mode is not SearchType.FTS), None)
    return 0 if first is None else sum(record.is_degraded for record in records[first:])


def _slowest(by_time: Sequence[SearchRecord]) -> tuple[SearchRecord, ...]:
    """The last of these, the last first, each query once."""
    by_words: dict[str, SearchRecord] = {}
    for record in reversed(by_time):
        by_words.setdefault(_words(record), record)
    return tuple(by_words.values())[:_MOST_NAMED]


def _frequent(records: Iterable[SearchRecord]) -> tuple[str, ...]:
    """The words of most of these searches, the newest first of equally many.

    Filters are not remembered, and may be why nothing was found: a search with some tells nothing here.
    """
    newest_first = [_words(record) for record in records if not record.is_filtered][::-1]
    return tuple(query for query, _ in Counter(newest_first).most_common(_MOST_NAMED))


def _words(record: SearchRecord) -> str:
    return " ".join(record.query.split())


def _nearest_rank(by_time: Sequence[SearchRecord], share: float) -> float:
    """The latency that this share of the records does not exceed, 0.0 for none."""
    return by_time[math.ceil(share * len(by_time)) - 1].latency_ms if by_time else 0.0


def _share(number: int, total: int) -> str:
    return f"{100 * number / total:.0f} %"


def _shown(query: str) -> str:
    return f'"{one_line(query, _MOST_CHARS)}"' if query.strip() else "(no words)"


def _ms(milliseconds: float) -> str:
    return f"{milliseconds:,.0f} ms" if milliseconds >= 10 else f"{milliseconds:.1f} ms"
