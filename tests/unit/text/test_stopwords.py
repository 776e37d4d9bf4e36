from __future__ import annotations

import pytest

from memoranda.text.stopwords import stop_words


@pytest.mark.spec("5.2")
def test_the_list_holds_the_words_of_the_spec_and_question_words() -> None:
    required = "the a an is are was were in on at to for of with by who what when did how"
    assert set(required.split()) <= stop_words()


def test_an_unknown_language_adds_nothing() -> None:
    assert stop_words(("english", "klingon")) == stop_words()
