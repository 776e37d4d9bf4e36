from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pytest

from memoranda.embeddings.answers import error_word, read_vectors, retry_after_s
from memoranda.errors import EmbeddingProblem


def answer(*vectors: Any, indexes: list[Any] | None = None) -> bytes:
    places = indexes or list(range(len(vectors)))
    pairs = zip(places, vectors, strict=True)
    return json.dumps({"data": [{"index": i, "embedding": v} for i, v in pairs]}).encode()


def test_vectors_are_ordered_by_index_and_of_unit_length() -> None:
    found = read_vectors(answer([0, 2], [3, 4], indexes=[1, 0]), 2, None)
    assert np.allclose(found, [[0.6, 0.8], [0, 1]])
    assert found.dtype == np.float32


def test_vectors_without_an_index_are_in_the_order_of_the_answer() -> None:
    body = json.dumps({"data": [{"embedding": [1, 0]}, {"embedding": [0, 1]}]}).encode()
    assert np.allclose(read_vectors(body, 2, 2), [[1, 0], [0, 1]])


def test_base64_is_little_endian_float32() -> None:
    text = base64.b64encode(np.array([3, 4], "<f4").tobytes()).decode()
    assert np.allclose(read_vectors(answer(text), 1, 2), [[0.6, 0.8]])


def test_a_vector_of_zeros_stays() -> None:
    assert np.allclose(read_vectors(answer([0, 0]), 1, 2), [[0, 0]])
    assert np.allclose(read_vectors(answer([0, 0], [0, 2]), 2, 2), [[0, 0], [0, 1]])


def test_nothing_but_zeros_is_no_answer() -> None:
    with pytest.raises(EmbeddingProblem, match="nothing but zeros"):
        read_vectors(answer([0, 0], [0, 0]), 2, 2)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b"{}",
        b'{"data": 5}',
        b'{"data": [5]}',
        b"[" * 100_000,
        answer([1, 0]),
        answer([1, 0], [1, 0], [1, 0]),
        answer([1, 0], [1, 0], indexes=[0, 0]),
        answer([1, 0], [1, 0], indexes=[0, 2]),
        answer([1, 0], [1, 0], indexes=[-1, 0]),
        answer([1, 0], [1, 0], indexes=["0", "1"]),
        answer([1, 0], None),
        answer([1, 0], ["a", "b"]),
        answer([1, 0], [[1, 0]]),
        answer([1, 0], "no base64"),
        b'{"data": [{"embedding": [1, 0]}, {"embedding": [NaN, 0]}]}',
        b'{"data": [{"embedding": [1, 0]}, {"embedding": [1e999, 0]}]}',
        answer([1, 0], [1e300, 0]),
        answer([1, 0], [10**400, 0]),
    ],
)
def test_what_is_no_answer_is_a_problem_that_may_pass(body: bytes) -> None:
    with pytest.raises(EmbeddingProblem) as caught:
        read_vectors(body, 2, 2)
    assert not caught.value.is_lasting


@pytest.mark.parametrize("vectors", [([1, 0], [1, 0, 0]), ([1], [1]), ([], [])])
def test_vectors_of_another_length_are_a_lasting_problem(vectors: tuple[list[int], ...]) -> None:
    with pytest.raises(EmbeddingProblem) as caught:
        read_vectors(answer(*vectors), 2, 2)
    assert caught.value.is_lasting


@pytest.mark.parametrize("vectors", [([1, 0], [1, 0, 0]), ([], [])])
def test_vectors_must_have_one_length(vectors: tuple[list[int], ...]) -> None:
    with pytest.raises(EmbeddingProblem):
        read_vectors(answer(*vectors), 2, None)


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({"error": {"code": "model_not_found", "type": "x y"}}, "model_not_found"),
        ({"error": {"code": None, "type": "insufficient_quota"}}, "insufficient_quota"),
        ({"error": {"code": "sk-Proj 12"}}, ""),
        ({"error": "model 'x' not found"}, ""),
        ([], ""),
    ],
)
def test_an_error_word_is_a_word_and_nothing_else(body: object, word: str) -> None:
    assert error_word(json.dumps(body).encode()) == word
    assert error_word(b"<html>") == ""


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        (
            {
                "retry-after": "Mon, 30 Nov 2026 10:00:30 GMT",
                "date": "Mon, 30 Nov 2026 10:00:00 GMT",
            },
            30.0,
        ),
        ({"retry-after": "Mon, 30 Nov 2026 10:00:30 GMT"}, None),
    ],
)
def test_an_answer_may_say_how_long_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers) == seconds
