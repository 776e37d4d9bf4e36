from __future__ import annotations

import pytest

from memoranda.cli.output import size, table


def test_table_aligns_numbers_to_the_right() -> None:
    assert table(("NAME", "NOTES"), [("a", 5), ("long name", 1200)]) == (
        "NAME       NOTES\na              5\nlong name   1200"
    )


def test_table_without_rows_is_its_headings() -> None:
    assert table(("NAME", "NOTES"), []) == "NAME  NOTES"


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (3400, "3.4 kB"), (12_040_000, "12.0 MB")],
)
def test_sizes_are_for_people(n_bytes: int, text: str) -> None:
    assert size(n_bytes) == text
