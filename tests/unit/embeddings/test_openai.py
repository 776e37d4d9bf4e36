"""The provider over an endpoint, against a real HTTP server on this machine."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from loguru import logger
from tests.unit.embeddings.fake_endpoint import Answer, FakeEndpoint, fake_endpoint

from memoranda.embeddings.endpoint import OPENAI_URL, Endpoint, is_local
from memoranda.embeddings.openai import OpenAIProvider, Patience
from memoranda.errors import EmbeddingProblem

KEY = "sk-secret-0123456789"
NOTE = "what nobody else may read"
BUSY = Answer(429)
PATIENCE = Patience()


@pytest.fixture
def server() -> Iterator[FakeEndpoint]:
    with fake_endpoint() as endpoint:
        yield endpoint


@pytest.fixture
def logged() -> Iterator[list[str]]:
    lines: list[str] = []
    sink = logger.add(lambda line: lines.append(str(line)), level="TRACE")
    yield lines
    logger.remove(sink)


class Time:
    """Sleeps at once, and remembers for how long."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self.now = 0.0

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def monotonic(self) -> float:
        return self.now


@asynccontextmanager
async def connected(
    server: FakeEndpoint,
    time: Time | None = None,
    *,
    key: str = "",
    dimensions: int | None = None,
    batch_size: int = 64,
    patience: Patience = PATIENCE,
) -> AsyncIterator[OpenAIProvider]:
    time = time or Time()
    provider = await OpenAIProvider.connect(
        Endpoint(server.url, "small", dimensions, batch_size, key),
        patience=patience,
        sleep=time.sleep,
        monotonic=time.monotonic,
    )
    server.asked.clear()
    server.keys.clear()
    yield provider
    await provider.aclose()


async def refused(server: FakeEndpoint, endpoint: Endpoint | None = None) -> EmbeddingProblem:
    with pytest.raises(EmbeddingProblem) as caught:
        await OpenAIProvider.connect(endpoint or Endpoint(server.url, "small"))
    return caught.value


async def test_the_space_is_what_the_endpoint_gave(server: FakeEndpoint) -> None:
    async with connected(server) as provider:
        host = server.url.removeprefix("http://")
        assert provider.space.name == f"openai:small@{host}/3"
        assert server.paths == ["/v1/embeddings"]


async def test_vectors_have_unit_length_and_the_order_of_the_texts(server: FakeEndpoint) -> None:
    async with connected(server) as provider:
        found = await provider.embed_documents(["aa", "", "bbbb", " \n"])
        assert found.dtype == np.float32
        assert np.allclose(found[0], np.array([2, 1, 1]) / 6**0.5)
        assert np.allclose(found[2], np.array([4, 1, 1]) / 18**0.5)
        assert not found[1].any()
        assert not found[3].any()
        assert server.asked == [{"model": "small", "input": ["aa", "bbbb"]}]
        assert (await provider.embed_documents([])).shape == (0, 3)
        assert np.allclose(await provider.embed_query("aa"), found[0])


async def test_an_endpoint_on_this_machine_gets_no_key_when_there_is_none(
    server: FakeEndpoint,
) -> None:
    async with connected(server) as provider:
        await provider.embed_query("a")
        assert server.keys == [None]


async def test_an_endpoint_on_this_machine_is_asked_past_any_proxy(
    server: FakeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    async with connected(server) as provider:
        assert (await provider.embed_query("a")).shape == (3,)


async def test_a_key_is_sent_as_a_bearer_token(server: FakeEndpoint) -> None:
    async with connected(server, key=KEY) as provider:
        await provider.embed_query("a")
        assert server.keys == [f"Bearer {KEY}"]


async def test_dimensions_are_asked_for_only_when_set(server: FakeEndpoint) -> None:
    async with connected(server, dimensions=5) as provider:
        assert provider.space.dimensions == 5
        await provider.embed_query("a")
        assert server.asked == [{"model": "small", "input": ["a"], "dimensions": 5}]


async def test_dimensions_that_are_not_given_back_are_a_lasting_problem(
    server: FakeEndpoint,
) -> None:
    server.script.append(lambda body: server.vectors({"input": body["input"]}))
    problem = await refused(server, Endpoint(server.url, "small", 5))
    assert problem.is_lasting
    assert "3 numbers, not 5" in problem.message


async def test_another_length_later_is_a_lasting_problem(server: FakeEndpoint) -> None:
    async with connected(server) as provider:
        server.dimensions = 4
        with pytest.raises(EmbeddingProblem) as caught:
            await provider.embed_documents(["a"])
        assert caught.value.is_lasting
        assert len(server.asked) == 1


async def test_requests_are_bounded_by_count(server: FakeEndpoint) -> None:
    async with connected(server, batch_size=2) as provider:
        found = await provider.embed_documents(["a" * n for n in range(1, 6)])
        assert [len(body["input"]) for body in server.asked] == [2, 2, 1]
        assert np.allclose(found[:, 0] / found[:, 1], [1, 2, 3, 4, 5])


async def test_requests_are_bounded_by_characters(server: FakeEndpoint) -> None:
    async with connected(server) as provider:
        await provider.embed_documents(["a" * 2400] * 60)
        sizes = [sum(map(len, body["input"])) for body in server.asked]
        assert len(sizes) == 3
        assert max(sizes) <= 64_000


async def test_a_long_text_is_sent_in_pieces_and_is_one_vector(server: FakeEndpoint) -> None:
    async with connected(server) as provider:
        text = "狗" * 9_000
        found = await provider.embed_documents([text, "b"])
        assert found.shape == (2, 3)
        assert np.allclose(np.linalg.norm(found, axis=1), 1)
        sent = [text for body in server.asked for text in body["input"]]
        assert "".join(sent) == f"{text}b"
        assert max(map(len, sent)) <= 2_500


async def test_a_lone_surrogate_stops_nothing(server: FakeEndpoint) -> None:
    async with connected(server) as provider:
        await provider.embed_documents(["a\ud800"])
        assert server.asked[0]["input"] == ["a?"]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
async def test_what_may_pass_is_tried_again(server: FakeEndpoint, status: int) -> None:
    time = Time()
    async with connected(server, time) as provider:
        server.script.extend([Answer(status), Answer(status, body="<html>")])
        found = await provider.embed_documents(["a"])
        assert found.shape == (1, 3)
        assert len(server.asked) == 3
        first, second = time.slept
        assert 0.25 <= first <= 0.5 <= second <= 1


@pytest.mark.parametrize("body", ["junk", {"data": []}, {"data": [{"embedding": [1, None, 2]}]}])
async def test_a_bad_answer_is_tried_again(server: FakeEndpoint, body: object) -> None:
    async with connected(server) as provider:
        server.script.append(Answer(body=body))
        assert (await provider.embed_documents(["a"])).shape == (1, 3)


async def test_an_endpoint_says_how_long_to_wait(server: FakeEndpoint) -> None:
    time = Time()
    async with connected(server, time) as provider:
        server.script.append(Answer(429, headers={"retry-after": "11"}))
        await provider.embed_documents(["a"])
        assert time.slept == [11]


async def test_a_long_wait_is_left_to_later(server: FakeEndpoint) -> None:
    time = Time()
    async with connected(server, time) as provider:
        server.script.append(Answer(429, headers={"retry-after": "3600"}))
        with pytest.raises(EmbeddingProblem) as caught:
            await provider.embed_documents(["a"])
        assert not caught.value.is_lasting
        assert time.slept == []


async def test_trying_ends(server: FakeEndpoint) -> None:
    async with connected(server, patience=Patience(tries=3)) as provider:
        server.script.extend([BUSY] * 9)
        with pytest.raises(EmbeddingProblem, match="answered 429") as caught:
            await provider.embed_documents(["a"])
        assert not caught.value.is_lasting
        assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (402, {}, "semantic_"),
        (401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}, "API_KEY"),
        (403, {}, "API_KEY"),
        (404, {"error": {"code": "model_not_found"}}, "semantic_embedding_model"),
        (429, {"error": {"code": "insufficient_quota"}}, "account"),
    ],
)
async def test_what_does_not_pass_is_not_tried_again(
    server: FakeEndpoint, logged: list[str], status: int, body: object, said: str
) -> None:
    async with connected(server, key=KEY) as provider:
        server.script.append(Answer(status, body))
        with pytest.raises(EmbeddingProblem) as caught:
            await provider.embed_documents([NOTE])
        problem = caught.value
        assert problem.is_lasting
        assert str(status) in problem.message
        assert said in problem.hint
        assert len(server.asked) == 1
        shown = "".join(traceback.format_exception(problem)) + problem.hint + "".join(logged)
        assert KEY not in shown
        assert NOTE not in shown


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_texts_that_are_refused_are_a_problem_of_theirs(
    server: FakeEndpoint, status: int
) -> None:
    async with connected(server) as provider:
        server.script.append(Answer(status))
        with pytest.raises(EmbeddingProblem, match=str(status)) as caught:
            await provider.embed_documents(["a", "b" * 900])
        assert not caught.value.is_lasting
        assert len(server.asked) == 1
    server.script.append(Answer(status))
    assert (await refused(server)).is_lasting


async def test_a_single_text_that_is_too_long_for_the_model_is_sent_in_pieces(
    server: FakeEndpoint,
) -> None:
    def short_only(body: dict[str, Any]) -> Answer:
        (text,) = body["input"]
        if len(text) > 300:
            return Answer(400)
        return Answer(body={"data": [{"embedding": [text.count("狗"), text.count("猫"), 0]}]})

    async with connected(server) as provider:
        server.script.extend([short_only] * 7)
        text = "狗" * 450 + "猫" * 450
        found = await provider.embed_documents([text])
        assert np.allclose(found, [[0.5**0.5, 0.5**0.5, 0]], atol=0.01)
        sent = [one for body in server.asked for one in body["input"] if len(one) <= 300]
        assert "".join(sent) == text
        server.script.extend([Answer(400)] * 99)
        with pytest.raises(EmbeddingProblem):
            await provider.embed_documents([text])
        assert len(server.asked) < 16


async def test_neither_the_key_nor_a_text_is_shown_whatever_an_answer_holds(
    server: FakeEndpoint, logged: list[str]
) -> None:
    echo = {"error": {"message": f"{KEY} {NOTE}", "code": KEY, "type": KEY}}
    async with connected(server, key=KEY, patience=Patience(tries=1)) as provider:
        for status in (200, 400, 418, 429, 500):
            server.script.append(Answer(status, echo))
            with pytest.raises(EmbeddingProblem) as caught:
                await provider.embed_documents([NOTE])
            shown = "".join(traceback.format_exception(caught.value)) + caught.value.hint
            assert KEY not in shown
            assert NOTE not in shown
        assert KEY not in repr(provider) + str(vars(provider))
    assert KEY not in "".join(logged)


async def test_a_redirect_is_not_followed(server: FakeEndpoint) -> None:
    with fake_endpoint() as other:
        async with connected(server, key=KEY) as provider:
            for status in (301, 302, 307, 308):
                server.script.append(
                    Answer(status, headers={"location": f"{other.url}/embeddings"})
                )
                with pytest.raises(EmbeddingProblem) as caught:
                    await provider.embed_documents(["a"])
                assert caught.value.is_lasting
                assert "semantic_base_url" in caught.value.hint
        assert other.asked == []


async def test_a_question_is_not_waited_for_too_long(server: FakeEndpoint) -> None:
    time = Time()
    async with connected(server, time) as provider:
        provider._patience = Patience(query_s=0.05)
        server.script.append(Answer(hangs=True))
        with pytest.raises(EmbeddingProblem, match="in time") as caught:
            await provider.embed_query("a")
        assert not caught.value.is_lasting


async def test_after_a_question_without_an_answer_the_next_ones_do_not_wait(
    server: FakeEndpoint,
) -> None:
    time = Time()
    async with connected(server, time) as provider:
        server.script.append(Answer(500))
        for _ in range(2):
            with pytest.raises(EmbeddingProblem):
                await provider.embed_query("a")
        assert len(server.asked) == 1
        time.now += 16
        assert (await provider.embed_query("a")).shape == (3,)
        server.script.append(Answer(500))
        with pytest.raises(EmbeddingProblem):
            await provider.embed_query("a")
        await provider.embed_documents(["b"])
        assert (await provider.embed_query("a")).shape == (3,)


async def test_documents_that_are_not_answered_are_tried_again(server: FakeEndpoint) -> None:
    async with connected(server) as provider:
        provider._patience = Patience(request_s=0.05)
        server.script.append(Answer(hangs=True))
        assert (await provider.embed_documents(["a"])).shape == (1, 3)


async def test_an_endpoint_that_is_down_is_a_problem_that_may_pass(server: FakeEndpoint) -> None:
    problem = await refused(server, Endpoint("http://127.0.0.1:9/v1", "small"))
    assert not problem.is_lasting
    assert "127.0.0.1:9/v1 cannot be reached" in problem.message


async def test_openai_without_a_key_is_a_lasting_problem_and_nothing_is_sent(
    server: FakeEndpoint,
) -> None:
    problem = await refused(server, Endpoint(OPENAI_URL))
    assert problem.is_lasting
    assert "OPENAI_API_KEY" in problem.hint


async def test_an_endpoint_of_ones_own_needs_a_model(server: FakeEndpoint) -> None:
    problem = await refused(server, Endpoint(server.url, ""))
    assert problem.is_lasting
    assert server.asked == []


@pytest.mark.parametrize("key", ["sk-1\nX-Other: 1", "sk-ключ", "sk 1"])
async def test_a_key_that_is_none_is_refused_and_not_shown(server: FakeEndpoint, key: str) -> None:
    problem = await refused(server, Endpoint(server.url, "small", key=key))
    assert problem.is_lasting
    assert key not in problem.message + problem.hint
    assert server.asked == []


async def test_a_closed_provider_is_a_problem_at_once(server: FakeEndpoint) -> None:
    time = Time()
    async with connected(server, time) as provider:
        await provider.aclose()
        await provider.aclose()
        with pytest.raises(EmbeddingProblem) as caught:
            await provider.embed_documents(["a"])
        assert caught.value.is_lasting
        assert time.slept == []


async def test_several_tasks_may_ask_at_once(server: FakeEndpoint) -> None:
    async with connected(server) as provider:
        found = await asyncio.gather(*(provider.embed_query("a" * n) for n in range(1, 9)))
        assert np.allclose([vector[0] / vector[1] for vector in found], range(1, 9))


def test_a_key_is_not_in_what_is_printed_of_an_endpoint() -> None:
    assert KEY not in repr(replace(Endpoint(), key=KEY))


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:11434/v1", True),
        ("http://127.0.0.1:1234/v1", True),
        ("http://[::1]:8080/v1", True),
        ("http://192.168.1.5:11434/v1", False),
        ("https://localhost.example.org/v1", False),
        (OPENAI_URL, False),
    ],
)
def test_which_addresses_are_this_machines_own(url: str, local: bool) -> None:
    assert is_local(url) is local
