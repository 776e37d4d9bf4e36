from __future__ import annotations

import pytest

from memoranda.text.summary import summary


@pytest.mark.parametrize(
    ("opening", "expected"),
    [
        ("# Title\n\nWhat it is about,\nin two lines.\n\nMore.", "What it is about, in two lines."),
        ("> [!note] Read\n> this", "Read this"),
        ("- [fact] a\n- b\n  more\n\nProse.", "Prose."),
        ("- [ ] only\n1. items", "only items"),
        ("```py\none\ntwo\n```\n\nAfter.", "After."),
        (
            "<!-- c -->\n![[p.png]]\n[[Link]]\nkey:: value\n| a |\n---\n#tag\nSee [[b]].",
            "See [[b]].",
        ),
        ("[![Badge](b.svg)](b) [![c](c.svg)](c)\nAbout.", "About."),
        ("Text\n```\ncode\n```\n", "Text"),
        ("[a]: b.md", ""),
        ("", ""),
    ],
)
def test_the_first_paragraph_says_what_a_note_is_about(opening: str, expected: str) -> None:
    assert summary("", opening) == expected


def test_a_description_comes_before_the_text() -> None:
    assert summary(" By\nhand ", "Text") == "By hand"


@pytest.mark.parametrize("text", ["word " * 60, "漢" * 300])
def test_it_is_cut_at_a_word_where_there_is_one(text: str) -> None:
    cut = summary("", text)
    assert len(cut) <= 160
    assert cut[-2:] in {"d…", "漢…"}
