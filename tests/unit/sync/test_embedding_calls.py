"""How texts are given to a provider, and what becomes of the others when it refuses one."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from memoranda.errors import EmbeddingProblem
from memoranda.model.embedding import EmbeddingSpace
from memoranda.sync import embedding_calls as module
from memoranda.sync.embedding_calls import MOST_CHARACTERS, EmbeddingCalls, in_order

Plan = Callable[[Sequence[str]], None]


class Provider:
    """Gives vectors of three numbers, unless its plan raises."""

    space = EmbeddingSpace("static", "m", "", 3)

    def __init__(self, plan: Plan = lambda _: None, answer: Any = None) -> None:
        self.plan = plan
        self.answer = answer
        self.calls: list[list[str]] = []

    async def embed_query(self, text: str, /) -> Any: ...

    async def embed_documents(self, texts: Sequence[str], /) -> Any:
        self.calls.append(list(texts))
        self.plan(texts)
        return np.ones((len(texts), 3), np.float32) if self.answer is None else self.answer

    async def aclose(self) -> None: ...


def keyed(*texts: str) -> dict[bytes, str]:
    return {text.encode(): text for text in texts}


def refusing(*bad: str, is_lasting: bool = False) -> Plan:
    def plan(texts: Sequence[str]) -> None:
        if not set(bad).isdisjoint(texts):
            raise EmbeddingProblem("bad text", is_lasting=is_lasting)

    return plan


async def test_every_text_gets_the_vector_of_its_own() -> None:
    texts = keyed("a", "b")
    answer = np.array([[1, 0, 0], [0, 1, 0]], np.float32)
    made = await EmbeddingCalls().embed(Provider(answer=answer), texts)
    assert {key: list(vector) for key, vector in made.vectors.items()} == {
        b"a": [1, 0, 0],
        b"b": [0, 1, 0],
    }


async def test_a_text_that_is_refused_does_not_keep_the_others_from_it() -> None:
    provider = Provider(refusing("t5", "t11"))
    texts = keyed(*(f"t{number}" for number in range(20)))
    made = await EmbeddingCalls().embed(provider, texts)
    assert made.refused == {b"t5": "bad text", b"t11": "bad text"}
    assert made.vectors.keys() == texts.keys() - {b"t5", b"t11"}


async def test_a_provider_that_takes_nothing_is_asked_twice_and_no_more() -> None:
    def plan(_: Sequence[str]) -> None:
        raise EmbeddingProblem("no connection")

    provider = Provider(plan)
    with pytest.raises(EmbeddingProblem, match="no connection"):
        await EmbeddingCalls().embed(provider, keyed(*map(str, range(100))))
    assert len(provider.calls) == 2


async def test_a_lasting_failure_is_not_looked_into() -> None:
    provider = Provider(refusing("a", is_lasting=True))
    with pytest.raises(EmbeddingProblem):
        await EmbeddingCalls().embed(provider, keyed("a", "b"))
    assert len(provider.calls) == 1


async def test_nor_is_one_that_comes_while_it_is_looked_into() -> None:
    def plan(texts: Sequence[str]) -> None:
        if len(texts) > 1:
            raise EmbeddingProblem("no", is_lasting=len(texts) < 4)

    with pytest.raises(EmbeddingProblem) as caught:
        await EmbeddingCalls().embed(Provider(plan), keyed("a", "b", "c", "d"))
    assert caught.value.is_lasting


async def test_a_provider_that_refuses_most_texts_is_to_blame_itself() -> None:
    provider = Provider(refusing(*map(str, range(200))))
    with pytest.raises(EmbeddingProblem):
        await EmbeddingCalls().embed(provider, keyed(*map(str, range(200))))
    assert len(provider.calls) <= module.MOST_SPLITS + 2


async def test_what_a_provider_raises_by_mistake_is_a_failure_of_it() -> None:
    def plan(_: Sequence[str]) -> None:
        raise KeyError("the text of a note")

    with pytest.raises(EmbeddingProblem, match="unexpected KeyError") as caught:
        await EmbeddingCalls().embed(Provider(plan), keyed("a"))
    assert not caught.value.is_lasting
    assert "the text" not in caught.value.message


@pytest.mark.parametrize("shape", [(2, 4), (1, 3), (3,)])
async def test_vectors_of_another_shape_are_a_lasting_failure(shape: tuple[int, ...]) -> None:
    answer = np.ones(shape, np.float32)
    with pytest.raises(EmbeddingProblem, match="not vectors of 3 numbers") as caught:
        await EmbeddingCalls().embed(Provider(answer=answer), keyed("a", "b"))
    assert caught.value.is_lasting


async def test_vectors_that_are_no_numbers_are_a_failure() -> None:
    answer = np.array([[1, 0, np.nan]], np.float32)
    with pytest.raises(EmbeddingProblem, match="no numbers"):
        await EmbeddingCalls().embed(Provider(answer=answer), keyed("a"))


def test_texts_of_like_length_go_together() -> None:
    waiting = in_order(keyed("ccc", "a", "bb"))
    assert list(EmbeddingCalls().take(waiting).values()) == ["a", "bb", "ccc"]
    assert not waiting


def test_a_call_has_at_most_so_many_characters_but_one_text() -> None:
    long = "x" * (MOST_CHARACTERS // 2 + 1)
    calls = EmbeddingCalls()
    waiting = in_order(
        {bytes([n]): long + str(n) * (MOST_CHARACTERS * (n == 9)) for n in (1, 2, 9)}
    )
    assert [len(calls.take(waiting)) for _ in range(3)] == [1, 1, 1]
    assert not waiting


async def test_calls_get_shorter_while_they_take_long(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, calls, waiting = await _sizes(monkeypatch, cpu_s_per_text=0.1)
    assert sizes[0] > sizes[-1] == 1
    assert len(calls.take(waiting)) == 1


async def test_and_longer_while_they_take_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, _, _ = await _sizes(monkeypatch, cpu_s_per_text=0.0)
    assert sizes[0] < sizes[-1] == module.MOST_TEXTS
    assert all(after <= 2 * before for before, after in pairwise(sizes))


async def _sizes(monkeypatch: pytest.MonkeyPatch, *, cpu_s_per_text: float) -> Any:
    """How many texts went into each call, of a provider that takes so much of the processor."""
    used = [0.0]

    def plan(texts: Sequence[str]) -> None:
        used[0] += cpu_s_per_text * len(texts)

    monkeypatch.setattr(time, "process_time", lambda: used[0])
    calls, provider = EmbeddingCalls(), Provider(plan)
    waiting = in_order(keyed(*map(str, range(2000))))
    for _ in range(8):
        await calls.embed(provider, calls.take(waiting))
    return [len(call) for call in provider.calls], calls, waiting
