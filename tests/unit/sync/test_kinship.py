from __future__ import annotations

from memoranda.sync.kinship import are_alike

BODY = "# A\n\none\n\ntwo\n\nthree\n"


def test_half_of_the_lines_are_enough():
    assert are_alike(BODY, "---\ntitle: B\n---\n# B\none\ntwo\nfour\n")
    assert not are_alike(BODY, "# B\none\nfour\n")


def test_blank_lines_and_indentation_do_not_count():
    assert not are_alike("x\n\n\n\n\n", "y\n\n\n\n\n")
    assert are_alike("  one\n", "one  \n")


def test_an_empty_note_is_like_nothing():
    assert not are_alike("", "")
    assert not are_alike("\n \n", "\n")
