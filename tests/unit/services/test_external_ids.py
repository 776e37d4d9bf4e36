from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

from memoranda.services.external_ids import external_ids

NOW = datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC).replace(tzinfo=None)


def test_ids_are_valid_uuids_and_all_different():
    found = external_ids(NOW, 500)
    assert len(set(found)) == 500
    for one in found:
        parsed = uuid.UUID(one)
        assert str(parsed) == one
        assert (parsed.version, parsed.variant) == (7, uuid.RFC_4122)


def test_ids_sort_by_the_time_they_were_made_and_within_a_batch():
    earlier, later = external_ids(NOW, 50), external_ids(NOW + timedelta(milliseconds=1), 50)
    assert earlier + later == sorted(earlier + later)


def test_an_id_says_the_millisecond_it_was_made_in():
    [one] = external_ids(NOW, 1)
    millis = uuid.UUID(one).int >> 80
    assert datetime.fromtimestamp(millis / 1000, UTC).replace(tzinfo=None) == NOW


def test_no_id_is_asked_for():
    assert external_ids(NOW, 0) == []
