from __future__ import annotations

import re

from memoranda.markdown.diff import diff
from memoranda.model.address import NotePath

PATH = NotePath("n.md")


def test_diff_shows_what_changed_with_true_lines() -> None:
    old = "".join(f"line {i}\n" for i in range(1, 101))
    shown = diff(old, old.replace("line 50\n", "line fifty\n"), PATH)
    assert "@@ -47,7 +47,7 @@" in shown
    assert "-line 50\n+line fifty\n" in shown
    assert diff(old, old, PATH) == ""


def test_diff_tells_of_a_missing_final_line_ending() -> None:
    assert "\\ No newline at end of file" in diff("a\n", "b", PATH)


def test_diff_is_bounded_and_says_so() -> None:
    old = "".join(f"line {i}\n" for i in range(500))
    shown = diff(old, old.replace("line", "word"), PATH, max_chars=300)
    assert len(shown) < 400
    assert re.search(r"\.\.\. \d+ more lines of the diff are not shown\n\Z", shown)


def test_diff_of_a_huge_change_is_a_summary() -> None:
    shown = diff("a\n" * 5000, "b\n" * 4000, PATH)
    assert "5000 lines replaced by 4000 from line 1" in shown
