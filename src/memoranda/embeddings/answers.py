"""What an embeddings endpoint answers, read and checked; pure.

Source: the "create embeddings" operation of OpenAI's API, as Ollama, LM Studio, vLLM and llama.cpp have it.
"""

from __future__ import annotations

import base64
import json
import math
import re
from typing import TYPE_CHECKING, Any

from memoranda.embeddings.windows import unit
from memoranda.errors import EmbeddingProblem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memoranda.ports import Vectors

_WORD = re.compile(r"[a-z][a-z_]{2,40}")


def read_vectors(body: bytes, count: int, dimensions: int | None) -> Vectors:
    """The vectors of an answer in the order of the texts, unit length, float32 [count, dimensions].

    Args:
        body: of the answer.
        count: how many texts were sent.
        dimensions: length that each vector must have; None: any, but all the same.

    Raises:
        EmbeddingProblem: it is no answer to that; lasting when the vectors have another length.
    """
    import numpy as np

    try:
        data = json.loads(body)["data"]
        found: list[Any] = [None] * count
        for place, item in enumerate(data):
            index = item.get("index", place)
            if isinstance(index, bool) or not 0 <= index < count or found[index] is not None:
                raise ValueError("index")
            found[index] = _vector(item["embedding"])
    except (
        ArithmeticError, AttributeError, KeyError, RecursionError, TypeError, ValueError
    ) as error:  # fmt: skip
        raise EmbeddingProblem(f"The answer is no list of {count} vectors") from error
    if len(data) != count:
        raise EmbeddingProblem(f"The answer has {len(data)} vectors for {count} texts")
    lengths = {vector.shape for vector in found}
    wanted = {(dimensions,)} if dimensions is not None else {found[0].shape}
    if lengths != wanted or (0,) in lengths:
        has = ", ".join(sorted(str(shape[0]) for shape in lengths))
        raise EmbeddingProblem(
            f"The vectors have {has} numbers, not {dimensions or 'one length'}",
            is_lasting=True,
            hint="The endpoint serves another model than before: start again, or correct "
            "semantic_dimensions.",
        )
    vectors = np.stack(found)
    if not np.isfinite(vectors).all():
        raise EmbeddingProblem("The answer has numbers that are none")
    if count > 1 and not vectors.any():  # one text may say nothing to a model
        raise EmbeddingProblem("The answer has nothing but zeros")
    return unit(vectors)


def error_word(body: bytes) -> str:
    """The machine-readable word of an error answer ("model_not_found"), "" when it has none.

    Its message is not looked at: it may hold the key, or the text of a note.
    """
    try:
        error = json.loads(body)["error"]
        words = [error.get("code"), error.get("type")]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return ""
    known = (word for word in words if isinstance(word, str) and _WORD.fullmatch(word))
    return next(known, "")


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that an answer asks to wait before the next try; None when it does not say."""
    value = headers.get("retry-after", "").strip()
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        pass
    else:
        return None if math.isnan(seconds) else max(seconds, 0.0)
    from email.utils import parsedate_to_datetime

    try:
        until, now = parsedate_to_datetime(value), parsedate_to_datetime(headers.get("date", ""))
        return max((until - now).total_seconds(), 0.0)
    except (ValueError, TypeError):
        return None


def _vector(value: object) -> Vectors:
    """One vector: a list of numbers, or base64 of little-endian float32."""
    import numpy as np

    if isinstance(value, str):
        return np.frombuffer(base64.b64decode(value, validate=True), "<f4").astype(np.float32)
    vector = np.array(value, np.float64)
    if vector.ndim != 1:
        raise ValueError("embedding")
    with np.errstate(over="ignore"):  # too large is infinite, and refused as that
        return vector.astype(np.float32)
