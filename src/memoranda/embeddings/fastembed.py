"""Models run on this machine by the library fastembed (an optional extra): ONNX files, no network.

Loading never reaches for the network: files come from a folder that was configured or from a cache on this
machine; fetching them is `embeddings.download`. Everything that takes the CPU runs in two threads of its
own, one for questions and one of low priority for documents, so that a question never waits for a batch.

Texts are run one at a time: on one core that is as fast as any batch (24.7 ms against 27.8 in batches of 8,
int8, 250 tokens), needs less memory, and a text has the same vector whatever its neighbours are: int8
models scale their numbers by the batch.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

from memoranda.embeddings.local_models import LocalModel, library, opened, revision
from memoranda.embeddings.model_folder import ModelFolder
from memoranda.embeddings.windows import clean, pieces, unit, whole
from memoranda.errors import EmbeddingProblem
from memoranda.model.embedding import EmbeddingSpace

if TYPE_CHECKING:
    from memoranda.ports import Vectors

INSTALL = "Install the package fastembed into the environment that Memoranda runs in."
_NICENESS = 10
_PROBE = "probe"


class FastembedProvider:
    """`ports.EmbeddingProvider` over a loaded `fastembed.TextEmbedding`. Make it with `load`."""

    def __init__(
        self, model: Any, space: EmbeddingSpace, folder: ModelFolder | None = None
    ) -> None:
        self._model = model
        self._space = space
        self._window = folder.window if folder else None
        self._query_prompt = folder.query_prompt if folder else ""
        self._document_prompt = folder.document_prompt if folder else ""
        self._is_closed = False
        self._questions = ThreadPoolExecutor(1, "embed-query")
        self._documents = ThreadPoolExecutor(1, "embed-documents", initializer=_lower_priority)

    @classmethod
    def load(
        cls, wanted: LocalModel, *, library: Callable[[], Any] = library
    ) -> FastembedProvider | None:
        """Load a model from files on this machine and embed a word with it; blocks for seconds.

        Returns None when no cache holds the model.

        Raises:
            EmbeddingProblem: the library, or what was found, cannot be used.
        """
        try:
            module = library()
        except Exception as error:
            missing = isinstance(error, ModuleNotFoundError)
            raise EmbeddingProblem(
                "The library fastembed is not installed"
                if missing
                else f"The library fastembed cannot be imported: {_first_line(error)}",
                is_lasting=True,
                hint=INSTALL,
            ) from error
        _silence()
        try:
            found = opened(module.TextEmbedding, wanted, module)
            return None if found is None else cls._probed(wanted, *found)
        except EmbeddingProblem:
            raise
        except BaseException as error:
            _require_exception(error)
            where = wanted.folder or wanted.name
            raise EmbeddingProblem(
                f"The model {where} cannot be loaded: {_first_line(error)}",
                is_lasting=True,
                hint="Put its files there again, or choose another model.",
            ) from error

    @classmethod
    def _probed(
        cls, wanted: LocalModel, name: str, model: Any, folder: ModelFolder | None
    ) -> FastembedProvider:
        vectors = _run(model.passage_embed, [_PROBE])
        dimensions = int(vectors.shape[1])
        if wanted.dimensions not in (None, dimensions):
            raise EmbeddingProblem(
                f"The model {name} has vectors of {dimensions} numbers, not {wanted.dimensions}",
                is_lasting=True,
                hint="Correct semantic_dimensions, or leave it out.",
            )
        digest = revision(model, folder, wanted.pooling)
        return cls(model, EmbeddingSpace("fastembed", name, digest, dimensions), folder)

    @property
    def space(self) -> EmbeddingSpace:
        return self._space

    async def embed_query(self, text: str, /) -> Vectors:
        vectors: Vectors = (
            await self._in_thread(
                self._questions, self._model.query_embed, [text], self._query_prompt
            )
        )[0]
        return vectors

    async def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        return await self._in_thread(
            self._documents, self._model.passage_embed, list(texts), self._document_prompt
        )

    async def aclose(self) -> None:
        self._is_closed = True
        for threads in (self._questions, self._documents):
            threads.shutdown(wait=False, cancel_futures=True)

    async def _in_thread(
        self, threads: ThreadPoolExecutor, embed: Callable[..., Any], texts: list[str], prompt: str
    ) -> Vectors:
        if self._is_closed:
            raise _closed()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(threads, partial(self._vectors, embed, texts, prompt))

    def _vectors(self, embed: Callable[..., Any], texts: list[str], prompt: str) -> Vectors:
        """Vectors of any texts: blank ones are zeros, long ones are embedded in pieces."""
        import numpy as np

        try:
            full = [row for row, text in enumerate(texts) if text.strip()]
            split = [pieces(clean(texts[row]), partial(self._fits, prompt)) for row in full]
            parts = [prompt + part for one in split for part in one]
            vectors = np.zeros((len(parts), self._space.dimensions), np.float32)
            for row, part in enumerate(parts):
                if self._is_closed:
                    raise _closed()
                vectors[row] = self._checked(_run(embed, [part]))[0]
            result = np.zeros((len(texts), self._space.dimensions), np.float32)
            if full:
                result[full] = whole(vectors, split)
        except EmbeddingProblem:
            raise
        except BaseException as error:
            _require_exception(error)
            raise EmbeddingProblem(
                f"The model {self._space.model} failed: {type(error).__name__}"
            ) from error
        return result

    def _fits(self, prompt: str, text: str) -> bool:
        """Whether the model reads all of the text."""
        tokenizer = getattr(self._model.model, "tokenizer", None)
        if tokenizer is None:
            return True
        encoded = tokenizer.encode(prompt + text)
        is_cut = bool(encoded.overflowing)
        return not is_cut and (self._window is None or len(encoded.ids) <= self._window)

    def _checked(self, vectors: Vectors) -> Vectors:
        if vectors.shape[1] != self._space.dimensions:
            raise EmbeddingProblem(
                f"The model {self._space.model} gave vectors of {vectors.shape[1]} numbers, "
                f"not {self._space.dimensions}",
                is_lasting=True,
                hint="Start again; if it happens again, choose another model.",
            )
        return vectors


def _run(embed: Callable[..., Any], texts: list[str]) -> Vectors:
    """The vectors of a few texts, unit length."""
    import numpy as np

    found = np.asarray(list(embed(texts)), np.float32)
    if found.ndim != 2 or len(found) != len(texts):
        raise EmbeddingProblem(
            f"The model gave an array of shape {found.shape} for {len(texts)} texts",
            is_lasting=True,
            hint="Choose another model, or another semantic_pooling.",
        )
    if not np.isfinite(found).all():
        raise EmbeddingProblem(
            "The model gave numbers that are none", is_lasting=True, hint="Choose another model."
        )
    return unit(found)


def _lower_priority() -> None:
    """Of the calling thread; Linux alone counts it by thread."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            niceness = max(os.getpriority(os.PRIO_PROCESS, 0), _NICENESS)
            os.setpriority(os.PRIO_PROCESS, 0, niceness)


def _silence() -> None:
    """What the library says on loguru's logger is said by us, once and in a sentence."""
    from loguru import logger

    logger.disable("fastembed")


def _require_exception(error: BaseException) -> None:
    """Let cancellation and exits through; a panic of the tokenizer's Rust code is no Exception."""
    if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
        raise error


def _closed() -> EmbeddingProblem:
    return EmbeddingProblem("The embedding provider is closed", is_lasting=True)


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [""]
    return lines[0][:200] or type(error).__name__
