"""Texts that are longer than a model's window, so that nothing is cut off in silence; pure.

A long text is halved until every piece fits, at the best place near the middle. Its vector is the mean of
its pieces' vectors, weighted by their length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memoranda.ports import Vectors

_SEPARATORS = ("\n\n", "\n", ". ", "。", "! ", "? ", "; ", ", ", "、", " ")


def pieces(text: str, fits: Callable[[str], bool]) -> list[str]:
    """The text in pieces that fit, in its order; nothing is lost, a character is never cut."""
    if len(text) < 2 or fits(text):
        return [text]
    at = _middle(text)
    return [*pieces(text[:at], fits), *pieces(text[at:], fits)]


def clean(text: str) -> str:
    """The text without lone surrogates, which no tokenizer and no request takes."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def whole(vectors: Vectors, split: Sequence[Sequence[str]]) -> Vectors:
    """The vectors of texts from those of all their pieces, unit length.

    Args:
        vectors: of the pieces, shape (number of pieces, dimensions), unit length or zeros.
        split: the pieces of each text, in the order of the vectors.
    """
    import numpy as np

    if all(len(parts) == 1 for parts in split):
        return vectors
    result = np.empty((len(split), vectors.shape[1]), np.float32)
    start = 0
    for row, parts in enumerate(split):
        end = start + len(parts)
        lengths = np.array([len(part) for part in parts], np.float32)
        result[row] = lengths @ vectors[start:end]
        start = end
    return unit(result)


def unit(vectors: Vectors) -> Vectors:
    """Each row at unit length, float32; rows of zeros stay. The values must be finite."""
    import numpy as np

    exact = np.asarray(vectors, np.float64)
    lengths = np.linalg.norm(exact, axis=-1, keepdims=True)
    return (exact / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)


def _middle(text: str) -> int:
    """Where to cut: behind a paragraph, line, sentence or word in the middle half, else in the middle."""
    middle, quarter = len(text) // 2, len(text) // 4
    for separator in _SEPARATORS:
        after = text.find(separator, max(middle - len(separator) + 1, 0), middle + quarter)
        before = text.rfind(separator, middle - quarter, middle)
        places = [place + len(separator) for place in (before, after) if place >= 0]
        places = [place for place in places if 0 < place < len(text)]
        if places:
            return min(places, key=lambda place: abs(place - middle))
    return middle
