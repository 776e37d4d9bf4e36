"""Folders with a real ONNX model, made by hand: a table that gives every token a vector, and nothing more."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def write_model(
    folder: Path,
    words: Sequence[str],
    *,
    window: int = 16,
    file: str = "model.onnx",
    pooling: str | None = "mean",
    scale: float = 1.0,
) -> Path:
    """A model whose word number n has the n-th unit vector; the special tokens are all zeros.

    Needs the library `tokenizers`.
    """
    table = np.zeros((len(SPECIAL) + len(words), max(len(words), 2)), np.float32)
    for number in range(len(words)):
        table[len(SPECIAL) + number, number] = scale
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_bytes(onnx_table(table))
    _write_tokenizer(folder, [*SPECIAL, *words], window)
    if pooling is not None:
        (folder / "1_Pooling").mkdir(exist_ok=True)
        modes = {"pooling_mode_cls_token": pooling == "cls"}
        modes["pooling_mode_mean_tokens"] = pooling == "mean"
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(modes))
    return folder


def onnx_table(table: np.ndarray) -> bytes:
    """`last_hidden_state[batch, token] = table[input_ids[batch, token]]`. Source: onnx.proto."""
    rows, width = table.shape
    weights = (_number(1, rows) + _number(1, width) + _number(2, 1) + _text(8, "table")) + _bytes(
        9, table.astype("<f4").tobytes()
    )
    node = _text(1, "table") + _text(1, "input_ids") + _text(2, "out") + _text(4, "Gather")
    inputs = [_value(name, 7, ["batch", "tokens"]) for name in ("input_ids", "attention_mask")]
    graph = (
        _bytes(1, node)
        + _text(2, "tiny")
        + _bytes(5, weights)
        + b"".join(_bytes(11, one) for one in inputs)
        + _bytes(12, _value("out", 1, ["batch", "tokens", width]))
    )
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, _text(1, "") + _number(2, 13))


def _write_tokenizer(folder: Path, vocabulary: Sequence[str], window: int) -> None:
    from tokenizers import BertWordPieceTokenizer

    numbers = {word: number for number, word in enumerate(vocabulary)}
    BertWordPieceTokenizer(numbers).save(str(folder / "tokenizer.json"))
    for name, value in (
        ("tokenizer_config.json", {"model_max_length": window, "pad_token": "[PAD]"}),
        ("config.json", {"pad_token_id": 0}),
        ("special_tokens_map.json", {"pad_token": "[PAD]", "unk_token": "[UNK]"}),
    ):
        (folder / name).write_text(json.dumps(value))


def _value(name: str, kind: int, shape: Sequence[str | int]) -> bytes:
    dims = b"".join(
        _bytes(1, _number(1, size) if isinstance(size, int) else _text(2, size)) for size in shape
    )
    tensor = _number(1, kind) + _bytes(2, dims)
    return _text(1, name) + _bytes(2, _bytes(1, tensor))


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def _number(field: int, number: int) -> bytes:
    return _varint(field << 3) + _varint(number)


def _bytes(field: int, data: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _text(field: int, text: str) -> bytes:
    return _bytes(field, text.encode())
