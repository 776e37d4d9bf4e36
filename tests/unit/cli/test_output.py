from __future__ import annotations

import pytest

from memoranda.cli.output import shown, size, table


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


def test_a_note_cannot_steer_the_terminal() -> None:
    text = "# Esc \x1b[31mred\x1b]0;pwn\x07\r\n\tcafé\n"
    assert shown(text, on_terminal=False) == text
    assert shown(text, on_terminal=True) == "# Esc \ufffd[31mred\ufffd]0;pwn\ufffd\r\n\tcafé\n"


def test_a_name_cannot_write_over_the_line_it_stands_in() -> None:
    assert shown("good.md\revil\r\nnext\r", on_terminal=True) == "good.md\ufffdevil\r\nnext\ufffd"
