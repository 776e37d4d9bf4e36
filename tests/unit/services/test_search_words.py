"""How a date that was read from a query is said."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memoranda.services.advice import _span_text
from memoranda.text.dates import find_date

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("yesterday", "dates: 2026-11-29, for 'yesterday'"),
        ("last week", "dates: 2026-11-23 to 2026-11-29, for 'last week'"),
        ("since 2020", "dates: 2020-01-01 and later, for 'since 2020'"),
        ("before 2024", "dates: 2023-12-31 and earlier, for 'before 2024'"),
        ("in March 2025", "dates: 2025-03-01 to 2025-03-31, for 'March 2025'"),
    ],
)
def test_a_span_is_said_by_its_days(query: str, said: str) -> None:
    found = find_date(query, NOW, ("english",))
    assert found is not None
    assert _span_text(found.span, "dates") == said
