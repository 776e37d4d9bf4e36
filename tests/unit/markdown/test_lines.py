from __future__ import annotations

import pytest

from memoranda.markdown.lines import line_start


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("width", [0, 1, 254, 255, 256, 257, 1023, 1024, 5000])
def test_a_line_begins_behind_the_line_ending_before_it(ending: str, width: int) -> None:
    text = f"one{ending}{'x' * width}{ending}"
    start = 3 + len(ending)
    assert line_start(text, start + width) == start
    assert line_start(text, 3) == 0
    assert line_start("x" * width, width) == 0


@pytest.mark.parametrize("ending", ["\n", "\r"])
def test_the_start_of_a_line_is_found_without_reading_the_file(ending: str) -> None:
    text = f"a line{ending}" * 4_000_000
    for at in range(len(text) - 7 * 100_000, len(text), 7):  # the time limit of a test would hit
        assert line_start(text, at + 3) == at
