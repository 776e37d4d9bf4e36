from __future__ import annotations

import pytest
import typer

from memoranda.cli.edit_choice import TextOptions, chosen_edit
from memoranda.model.edit import Append, Edit, EditSection, FindReplace, Place, Prepend, Replace


@pytest.mark.parametrize(
    ("options", "edit"),
    [
        (TextOptions(), None),
        (TextOptions(append="a"), Append("a")),
        (TextOptions(append=""), Append("")),
        (TextOptions(prepend="a"), Prepend("a")),
        (TextOptions(body="a"), Replace("a")),
        (TextOptions(find="a", replacement="b"), FindReplace("a", "b")),
        (TextOptions(find="-", replacement="", count=3), FindReplace("-", "", 3)),
        (TextOptions(section="S", text="a"), EditSection("S", "a", Place.INSTEAD)),
        (TextOptions(section="S", before="a"), EditSection("S", "a", Place.BEFORE)),
        (TextOptions(section="S", after="a"), EditSection("S", "a", Place.AFTER)),
    ],
)
def test_options_become_an_edit(options: TextOptions, edit: Edit | None) -> None:
    assert chosen_edit(options) == edit


@pytest.mark.parametrize(
    "options",
    [
        TextOptions(append="a", prepend="b"),
        TextOptions(append="a", text="b"),
        TextOptions(find="a"),
        TextOptions(find="", replacement="b"),
        TextOptions(replacement="b"),
        TextOptions(count=2),
        TextOptions(section="S"),
        TextOptions(section="S", text="a", after="b"),
        TextOptions(section=" ", text="a"),
        TextOptions(section="S", text="a", replacement="b"),
        TextOptions(after="b"),
    ],
)
def test_options_that_do_not_go_together_are_wrong_usage(options: TextOptions) -> None:
    with pytest.raises(typer.BadParameter):
        chosen_edit(options)
