from __future__ import annotations

import pytest

from memoranda.text.analysis import token, written_words
from memoranda.text.stopwords import elisions, stop_words


@pytest.mark.spec("5.2")
def test_the_list_holds_the_words_of_the_spec_and_question_words() -> None:
    required = "the a an is are was were in on at to for of with by who what when did how"
    assert set(required.split()) <= stop_words()


def test_an_unknown_language_adds_nothing() -> None:
    assert stop_words(("english", "klingon")) == stop_words()


QUESTIONS = {
    "german": "wer was wann wo warum wie welche",
    "french": "qui que quoi quand où pourquoi comment quel",
    "spanish": "quién qué cuándo dónde cómo cuál",
    "italian": "chi che cosa quando dove perché come quale",
    "portuguese": "quem que quando onde como qual",
    "dutch": "wie wat wanneer waar waarom hoe welke",
    "swedish": "vem vad när var varför hur vilken",
    "russian": "кто что когда где почему как какой",
}


@pytest.mark.parametrize("language", QUESTIONS)
def test_question_words_are_stop_words_in_every_language_with_a_list(language: str) -> None:
    stops = stop_words((language,))
    assert {token(word) for word in QUESTIONS[language].split()} <= stops
    assert 60 <= len(stops) <= 150


def test_stop_words_are_written_as_the_index_writes_words() -> None:
    everything = stop_words(("english", *QUESTIONS))
    assert all(written_words(word) == [word] and token(word) == word for word in everything)


def test_short_words_before_an_apostrophe_belong_to_their_language() -> None:
    assert "l" in elisions(("english", "french"))
    assert not elisions(("english",))
