"""The bundled static embedding model: a table with one vector for each WordPiece.

The vector of a text is the weighted mean of the vectors of its pieces, so a text costs its tokens and
nothing more, and its end counts like its start. `tools/build_static_model.py` makes the table and says how.

NumPy is imported when the model is loaded, not with this module.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memoranda.embeddings.wordpiece import WordPiece

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

DIMENSIONS = 256

TABLE_NAME = "static-256.npy"
VOCABULARY_NAME = "vocabulary.txt"

TABLE_SHA256 = "44c73c43b9a6e8256719aa44232b5ab079b949d9847ab49429a10a1b4a578e99"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
"""Of the two files, as shipped. Another table is another embedding space."""

ROW = [("weight", "<f4"), ("scale", "<f4"), ("codes", "i1", (DIMENSIONS,))]
"""One row of the table, as a NumPy dtype; `codes * scale` is of unit length; zero for a mark of the model."""

_PART_CHARACTERS = 65_536
_SLICE_TOKENS = 8_192
"""What is worked on at once, so that a long text needs no more memory than a short one."""

_SPACE = re.compile(r"[^\S\x0b\x0c\x1c-\x1f\x85]")
"""What ends a word for the tokenizer."""


class StaticModel:
    """Vectors of texts. Reading only: safe to use from several threads.

    Attributes:
        wordpiece: splits texts; the number of a piece is its row in the table.
    """

    def __init__(self, table: NDArray[np.void], pieces: Sequence[str]) -> None:
        """`table`: dtype `ROW`, one row for each of `pieces`.

        Raises:
            ValueError: they do not belong together.
        """
        if len(table) != len(pieces):
            raise ValueError(f"{len(table)} vectors for {len(pieces)} pieces")
        self.wordpiece = WordPiece(pieces)
        self._codes: NDArray[np.int8] = table["codes"]
        self._scales: Floats = table["scale"]
        self._weights: Floats = table["weight"]

    @staticmethod
    @functools.cache
    def load() -> StaticModel:
        """The model of the package, loaded once a process: the table is mapped into memory, not read.

        Raises:
            OSError, EOFError, ValueError: a file is missing or damaged.
        """
        import numpy as np

        folder = Path(__file__).with_name("data")
        table = np.load(folder / TABLE_NAME, mmap_mode="r", allow_pickle=False)
        pieces = (folder / VOCABULARY_NAME).read_text("utf-8").removesuffix("\n").split("\n")
        return StaticModel(table, pieces)

    def encode(self, texts: Sequence[str]) -> Floats:
        """The vectors of the texts: float32 [n_texts, 256], of unit length.

        A text without a known piece is all zeros. Nothing is cut off, however long a text is.
        """
        import numpy as np

        sums = np.zeros((len(texts), DIMENSIONS), np.float32)
        for numbers, starts, owners in self._slices(texts):
            rows = np.array(numbers, np.intp)
            factors = self._weights[rows] * self._scales[rows]
            weighted = self._codes[rows] * factors[:, np.newaxis]
            sums[owners] += np.add.reduceat(weighted, starts, axis=0)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        vectors: Floats = np.divide(sums, lengths, out=sums, where=lengths > 0)
        return vectors

    def _slices(self, texts: Sequence[str]) -> Iterator[tuple[list[int], list[int], list[int]]]:
        """Numbers of pieces, where those of a text start among them, and which text that is."""
        numbers: list[int] = []
        starts: list[int] = []
        owners: list[int] = []
        for owner, text in enumerate(texts):
            for part in _parts(text):
                found = self.wordpiece.numbers(part)
                for first in range(0, len(found), _SLICE_TOKENS):
                    if not owners or owners[-1] != owner:
                        starts.append(len(numbers))
                        owners.append(owner)
                    numbers += found[first : first + _SLICE_TOKENS]
                    if len(numbers) >= _SLICE_TOKENS:
                        yield numbers, starts, owners
                        numbers, starts, owners = [], [], []
        if numbers:
            yield numbers, starts, owners


def _parts(text: str) -> Iterator[str]:
    """The text in parts of bounded length, cut at spaces where there are any."""
    start = 0
    while len(text) - start > _PART_CHARACTERS:
        space = _SPACE.search(text, start + _PART_CHARACTERS // 2, start + _PART_CHARACTERS)
        end = space.end() if space else start + _PART_CHARACTERS
        yield text[start:end]
        start = end
    yield text[start:]
