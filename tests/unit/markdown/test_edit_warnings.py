from __future__ import annotations

import pytest

from memoranda.markdown.edit_warnings import edit_warnings
from memoranda.markdown.edits import apply_edit
from memoranda.model.address import NotePath
from memoranda.model.edit import (
    Append,
    Edit,
    EditSection,
    FindReplace,
    Place,
    Prepend,
    Replace,
    SetMetadata,
)

PATH = NotePath("n.md")


def warned(text: str, edit: Edit) -> str:
    return " ".join(edit_warnings(text, apply_edit(text, edit, PATH), edit, PATH))


@pytest.mark.parametrize(
    ("text", "edit", "part"),
    [
        ("# A\n```\ncode\n", Append("b\n"), "added inside a code fence"),
        ("---\na: b\n---\n<!-- x\n", Append("b\n"), "added inside a code fence"),
        ("# A\n", Append("```\ncode\n"), "ends in a code fence"),
        ("# A\n\nb\n", Replace("~~~"), "ends in a code fence"),
        ("# A\n\n```\nb\n```\n", FindReplace("b\n```", "b"), "ends in a code fence"),
        ("# A\n", Prepend("```\ncode\n"), "ends in a code fence"),
        ("# A\n\n```\nb\n```\n\n# C\n", Prepend("```\ncode\n"), "ends in a code fence"),
        ("# A\n\n~~~\nb\n~~~\n\n# C\n", Prepend("~~~\ncode\n"), "ends in a code fence"),
        ("# A\n\n~~~\n", Prepend("~~~\ncode\n"), "line 1 is read in another way (heading)"),
        ("- [fact] a\n", Append("prose\n"), "line 1 is read in another way (observation)"),
        ("- is a [[A]]\n", Append("prose\n"), "line 1 is read in another way (link)"),
        ("x\n\na\n", Append("---\n"), "line 3 is read in another way (heading)"),
        ("a\n===\n", Prepend("b\n"), "line 1 is read in another way (heading)"),
        ("[a] x\n", Append("\n[a]: b.md\n"), "line 1 is read in another way (link)"),
    ],
)
def test_what_was_hardly_meant_is_said(text: str, edit: Edit, part: str) -> None:
    assert part in warned(text, edit)


@pytest.mark.parametrize(
    ("text", "edit"),
    [
        ("a\n", Append("\nb\n")),
        ("a\n", Append("b\n")),
        ("a [[L]]\n", Append("b [[M]]\n")),
        ("é [[L]]\n", Prepend("知 [[M]]\n")),
        ("# A\n", Append("b\n")),
        ("- [fact] a\n", Append("- [fact] b\n")),
        ("| a |\n|---|\n| b |\n", Append("| c |\n")),
        ("", Append("b\n")),
        ("", Append("---\na: b\n---\n")),
        ("```\ncode\n", Append("```\n")),
        ("```\ncode\n", Append("")),
        ("---\na: b\n---", Append("b\n")),
        ("---\na: b: c\n---\n# A\n", Prepend("b\n\n")),
        ('---\nup: "[[U]]"\n---\n[[L]]\n', Prepend("[[M]]\n")),
        ("# A\n", Prepend("---\na: b\n---\n")),
        ("```\ncode\n", FindReplace("code", "x")),
        ("```\ncode\n", Replace("x")),
        ("# A\n", EditSection("A", "```", Place.INSTEAD)),
        ("# A\n", SetMetadata({"a": 1})),
    ],
)
def test_what_goes_as_usual_is_not(text: str, edit: Edit) -> None:
    assert warned(text, edit) == ""


def test_a_huge_note_is_not_looked_at() -> None:
    text = "- [fact] a\n" * 100_000
    assert warned(text, Append("prose\n")) == ""


@pytest.mark.parametrize(
    ("edit", "warned"),
    [
        (EditSection("B", "# B\nnew", Place.INSTEAD), True),
        (EditSection("B", "# X\nnew\n", Place.AFTER), True),
        (EditSection("C", "# X\nnew\n", Place.BEFORE), True),
        (EditSection("B", "### sub\nnew", Place.INSTEAD), False),
        (EditSection("B", "## X\nnew\n", Place.AFTER), False),
        (EditSection("C", "# X\nnew\n", Place.AFTER), False),
    ],
)
def test_a_section_that_comes_to_stand_under_another_heading_is_told(
    edit: EditSection, warned: bool
) -> None:
    text = "# A\n\n## B\nx\n\n## C\ny\n"
    warnings = edit_warnings(text, apply_edit(text, edit, PATH), edit, PATH)
    assert len(warnings) == warned
    if warned:
        assert "'A > C' is now" in warnings[0]
