from __future__ import annotations

from memoranda.cli.styles import (
    answer_lines,
    change_lines,
    context_lines,
    diff_lines,
    health_lines,
    status_lines,
)

DIFF = "--- a.md\n+++ a.md\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n\\ No newline at end of file\n... 3 more lines"


def test_the_lines_of_a_difference_are_told_apart() -> None:
    assert [style for _, style in diff_lines(DIFF)] == [
        "bold", "bold", "cyan", "", "red", "green", "dim", "dim",
    ]  # fmt: skip


def test_what_was_done_stands_above_its_difference() -> None:
    text = f"Updated A — a\nfile a.md\n0 observations\nWarning: odd\n\n{DIFF}"
    styles = [style for _, style in change_lines(text)]
    assert styles[:6] == ["bold", "dim", "", "yellow", "", "bold"]
    assert "\n".join(line for line, _ in change_lines(text)) == text


def test_an_answer_begins_with_what_was_done_and_ends_with_the_way_back() -> None:
    text = "Moved A\n1 link rewritten:\n- a.md line 1\nUndo: memoranda undo 1"
    assert [style for _, style in answer_lines(text)] == ["bold", "cyan", "", "dim"]


def test_the_text_of_a_note_is_neither_styled_nor_worded() -> None:
    text = (
        "# A — a\nfile a.md · lines 1-3 of 3\n--- note text begins\n# build_context\nmax_related=3:\n"
        "- and timeframe\n--- note text ends\nRelated (1 of 2):\n- B: a summary on max_related=4\n"
        "- and 1 more: build_context path=a depth=2 max_related=2"
    )
    lines = list(context_lines(text))
    assert [line for line, _ in lines[3:6]] == [
        "# build_context",
        "max_related=3:",
        "- and timeframe",
    ]
    assert {style for _, style in lines[3:6]} == {""}
    assert lines[0][1] == "bold"
    assert lines[7] == ("Related (1 of 2):", "cyan")
    assert lines[8][0] == "- B: a summary on max_related=4"
    assert lines[9][0] == "- and 1 more: memoranda context a --depth 2 --max-related 2"


def test_what_is_not_well_is_in_a_colour() -> None:
    status = "notes (default)\n  folder    /notes\n  problem   a.md: broken\n  error     gone"
    assert [style for _, style in status_lines(status)] == ["bold", "", "yellow", "red"]
    health = "index\n  ok       a  b\n  warning  a  b\n           hint: do it\n  problem  a  b\n"
    assert [style for _, style in health_lines(health)] == [
        "bold", "", "yellow", "cyan", "bold red",
    ]  # fmt: skip
