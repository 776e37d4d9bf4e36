"""Vectors from an endpoint that speaks as OpenAI's does: OpenAI, Ollama, LM Studio, vLLM, llama.cpp.

Texts of notes are sent to that endpoint, so it is never chosen by itself. One POST is all there is to the
protocol, so it is made with the HTTP client that the MCP SDK brings along, and not with the library
`openai`: nothing more to install, a sixth of the CPU at start, and redirects, retries and what may be
logged are ours. An answer's message is never shown or logged, it may hold the key or the text of a note.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from memoranda.embeddings.answers import error_word, read_vectors, retry_after_s
from memoranda.embeddings.endpoint import Endpoint, address_of, is_local, require_usable
from memoranda.embeddings.keys import KEY_HINT
from memoranda.embeddings.windows import clean, pieces, whole
from memoranda.errors import EmbeddingProblem
from memoranda.model.embedding import EmbeddingSpace

if TYPE_CHECKING:
    import httpx2

    from memoranda.ports import Vectors

_BATCH_CHARACTERS = 64_000
_PIECE_CHARACTERS = 2_500  # at three tokens each still below the 8,192 that OpenAI takes
_SHORT_CHARACTERS = 200
_ABOUT_TEXTS = {400, 413, 422}
_TEMPORARY = {408, 409, 425, 429}
_PROBE = "probe"


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait, in seconds, and how often to try.

    Attributes:
        query_s: for the vector of a question in all; a search waits for it.
        request_s: for one request with documents.
        tries: for such a request.
        first_wait_s: before the second try; doubles each time, and a half of it is left to chance.
        longest_wait_s: an endpoint that asks for more is not waited for.
        rest_s: after a question that got no answer, questions are not tried for so long.
    """

    query_s: float = 8.0
    request_s: float = 90.0
    connect_s: float = 4.0
    tries: int = 5
    first_wait_s: float = 0.5
    longest_wait_s: float = 60.0
    rest_s: float = 15.0


class OpenAIProvider:
    """`ports.EmbeddingProvider` over an endpoint. Make it with `connect`."""

    def __init__(
        self,
        endpoint: Endpoint,
        client: httpx2.AsyncClient,
        space: EmbeddingSpace,
        *,
        patience: Patience = Patience(),
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._endpoint = endpoint
        self._client = client
        self._space = space
        self._patience = patience
        self._sleep = sleep
        self._monotonic = monotonic
        self._rests_until = 0.0
        self._dimensions: int | None = space.dimensions or endpoint.dimensions

    @classmethod
    async def connect(
        cls,
        endpoint: Endpoint,
        *,
        patience: Patience = Patience(),
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> OpenAIProvider:
        """Embed one word, to see that it works and how long its vectors are.

        Raises:
            EmbeddingProblem: it does not work.
        """
        require_usable(endpoint)
        client = await asyncio.to_thread(_client, endpoint, patience)
        nowhere = EmbeddingSpace("openai", endpoint.model, "", 0)
        trial = cls(endpoint, client, nowhere, patience=patience, sleep=sleep, monotonic=monotonic)
        try:
            vectors = await trial._once([_PROBE], patience.query_s)
        except _Refused as refused:
            await client.aclose()
            raise EmbeddingProblem(refused.message, is_lasting=True, hint=refused.hint) from None
        except BaseException:
            await client.aclose()
            raise
        space = EmbeddingSpace(
            "openai", endpoint.model, address_of(endpoint.base_url), int(vectors.shape[1])
        )
        return cls(endpoint, client, space, patience=patience, sleep=sleep, monotonic=monotonic)

    @property
    def space(self) -> EmbeddingSpace:
        return self._space

    async def embed_query(self, text: str, /) -> Vectors:
        """The vector of a question; one try, as a search waits for it."""
        if self._monotonic() < self._rests_until:
            raise self._problem("did not answer a moment ago")
        try:
            vectors = await self._all([text], partial(self._once, limit_s=self._patience.query_s))
        except EmbeddingProblem as problem:
            if not problem.is_lasting:
                self._rests_until = self._monotonic() + self._patience.rest_s
            raise
        vector: Vectors = vectors[0]
        return vector

    async def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        """The vectors of texts to be found, in requests of bounded size, each tried several times."""
        vectors = await self._all(texts, self._patiently)
        self._rests_until = 0.0
        return vectors

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _all(
        self, texts: Sequence[str], ask: Callable[[list[str]], Awaitable[Vectors]]
    ) -> Vectors:
        """Vectors of any texts: blank ones are zeros and are not sent, long ones are sent in pieces."""
        import numpy as np

        result = np.zeros((len(texts), self._space.dimensions), np.float32)
        full = [row for row, text in enumerate(texts) if text.strip()]
        if not full:
            return result
        split = [pieces(clean(texts[row]), _fits) for row in full]
        parts = [part for one in split for part in one]
        batches = _batches(parts, self._endpoint.batch_size)
        answers = [await self._or_halves(batch, ask) for batch in batches]
        result[full] = whole(np.concatenate(answers), split)
        return result

    async def _or_halves(
        self, batch: list[str], ask: Callable[[list[str]], Awaitable[Vectors]]
    ) -> Vectors:
        """Vectors of a batch. A single text that is refused may be too long, so its halves are tried."""
        import numpy as np

        try:
            return await ask(batch)
        except _Refused:
            text = batch[0]
            if len(batch) > 1 or len(text) <= _SHORT_CHARACTERS:
                raise
            halves = pieces(text, lambda part: len(part) < len(text))
            answers = [await self._or_halves([half], ask) for half in halves]
            return whole(np.concatenate(answers), [halves])

    async def _patiently(self, texts: list[str]) -> Vectors:
        patience, wait = self._patience, self._patience.first_wait_s
        for _ in range(patience.tries - 1):
            try:
                return await self._once(texts, patience.request_s)
            except _Busy as busy:
                asked = busy.retry_after_s
                if asked is not None and asked > patience.longest_wait_s:
                    raise
                chance = random.uniform(0.5, 1.0)  # noqa: S311  (no secret)
                await self._sleep(asked if asked is not None else wait * chance)
                wait = min(wait * 2, patience.longest_wait_s)
        return await self._once(texts, patience.request_s)

    async def _once(self, texts: list[str], limit_s: float) -> Vectors:
        """One request. Raises _Busy when another try may help, else EmbeddingProblem."""
        import httpx2

        if self._client.is_closed:
            raise self._problem("is not used any more: the provider is closed", lasting=True)
        endpoint = self._endpoint
        body: dict[str, object] = {"model": endpoint.model, "input": texts}
        if endpoint.dimensions is not None:
            body["dimensions"] = endpoint.dimensions
        try:
            async with asyncio.timeout(limit_s):
                response = await self._client.post("embeddings", json=body)
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise self._problem("did not answer in time", _Busy) from error
        except (httpx2.HTTPError, httpx2.InvalidURL, RuntimeError, ValueError) as error:
            said = f"cannot be reached ({type(error).__name__})"
            raise self._problem(said, _Busy) from None  # its text may hold what was sent
        if response.status_code != 200:
            raise self._refusal(response)
        try:
            return await asyncio.to_thread(
                read_vectors, response.content, len(texts), self._dimensions
            )
        except EmbeddingProblem as problem:
            kind = EmbeddingProblem if problem.is_lasting else _Busy
            said = f"gave a bad answer: {problem.message}"
            raise self._problem(said, kind, hint=problem.hint, lasting=problem.is_lasting) from None

    def _refusal(self, response: httpx2.Response) -> EmbeddingProblem:
        """What an answer other than 200 means. Source: OpenAI's list of error codes."""
        status, word = response.status_code, error_word(response.content)
        said = f"answered {status}" + (f" ({word})" if word and word != self._endpoint.key else "")
        if (status in _TEMPORARY or status >= 500) and word != "insufficient_quota":
            problem = self._problem(said, _Busy)
            assert isinstance(problem, _Busy)  # noqa: S101
            problem.retry_after_s = retry_after_s(response.headers)
            return problem
        if status in {401, 403}:
            hint = KEY_HINT
        elif 300 <= status < 400:
            hint = "It redirects elsewhere, which is not followed: correct semantic_base_url."
        elif status == 404:
            hint = "Correct semantic_embedding_model or semantic_base_url (mostly it ends in /v1)."
        else:
            hint = "Look at the account and at the settings whose names start with semantic_."
        if status in _ABOUT_TEXTS:
            return self._problem(said, _Refused, hint=hint)
        return self._problem(said, hint=hint, lasting=True)

    def _problem(
        self,
        what: str,
        kind: type[EmbeddingProblem] = EmbeddingProblem,
        *,
        hint: str = "",
        lasting: bool = False,
    ) -> EmbeddingProblem:
        message = f"The endpoint {address_of(self._endpoint.base_url)} {what}"
        return kind(message, is_lasting=lasting, hint=hint)


class _Refused(EmbeddingProblem):
    """The endpoint works and does not take these texts; the same ones again would change nothing."""


class _Busy(EmbeddingProblem):
    """Another try may help. `retry_after_s`: how long the endpoint asks to wait before it."""

    retry_after_s: float | None = None


def _client(endpoint: Endpoint, patience: Patience) -> httpx2.AsyncClient:
    """A client that follows no redirect, so that the key goes nowhere else."""
    import httpx2

    headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
    return httpx2.AsyncClient(
        base_url=endpoint.base_url,
        headers=headers,
        follow_redirects=False,
        timeout=httpx2.Timeout(patience.request_s, connect=patience.connect_s),
        trust_env=not is_local(endpoint.base_url),  # proxies of the environment
    )


def _fits(text: str) -> bool:
    return len(text) <= _PIECE_CHARACTERS


def _batches(texts: Sequence[str], most: int) -> Iterator[list[str]]:
    batch: list[str] = []
    characters = 0
    for text in texts:
        if batch and (len(batch) >= most or characters + len(text) > _BATCH_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(text)
        characters += len(text)
    if batch:
        yield batch
