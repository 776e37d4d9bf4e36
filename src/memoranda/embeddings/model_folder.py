"""A folder with the files of a model: which of them is the model, and how it is meant to be used.

The files are those of a sentence-transformers repository with an ONNX export: `tokenizer.json` and
`tokenizer_config.json`, a `.onnx` file in the folder or in `onnx/`, `1_Pooling/config.json`, and where there
are any `modules.json`, `sentence_bert_config.json` and `config_sentence_transformers.json`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memoranda.embeddings.plan import Pooling
from memoranda.errors import EmbeddingProblem

_MODEL_FILES = (
    "model.onnx",
    "model_optimized.onnx",
    "model_quantized.onnx",
    "onnx/model.onnx",
    "onnx/model_optimized.onnx",
    "onnx/model_quantized.onnx",
)
_TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json")
_SAMPLES = 64
_SAMPLE_BYTES = 16 * 1024


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """What a folder says about its model.

    Attributes:
        model_file: relative to the folder, POSIX.
        pooling: how the vectors of tokens become one; None: no file says.
        window: most tokens that the model is meant for; None: what its tokenizer says.
        query_prompt, document_prompt: what is put before a text; mostly "".
    """

    folder: Path
    model_file: str
    pooling: Pooling | None = None
    window: int | None = None
    query_prompt: str = ""
    document_prompt: str = ""


def read_model_folder(folder: Path) -> ModelFolder:
    """Read what the folder says.

    Raises:
        EmbeddingProblem: lasting: it is not there, lacks a file, or its model needs more than an ONNX file.
    """
    if not folder.is_dir():
        raise _lasting(f"There is no folder {folder}", "Correct semantic_model_path.")
    for name in _TOKENIZER_FILES:
        if not (folder / name).is_file():
            raise _lasting(
                f"{folder} has no {name}", "Put the tokenizer files of the model there, too."
            )
    kinds = [str(module.get("type", "")) for module in _objects(folder / "modules.json")]
    if any(kind.rpartition(".")[2] == "Dense" for kind in kinds):
        raise _lasting(
            f"The model in {folder} has a layer (Dense) that is not in its ONNX file",
            "Choose another model.",
        )
    window = _object(folder / "sentence_bert_config.json").get("max_seq_length")
    prompts = _object(folder / "config_sentence_transformers.json").get("prompts")
    prompts = prompts if isinstance(prompts, dict) else {}
    return ModelFolder(
        folder,
        _model_file(folder),
        pooling=_pooling(_object(folder / "1_Pooling" / "config.json")),
        window=window if isinstance(window, int) and window > 2 else None,
        query_prompt=_text(prompts.get("query")),
        document_prompt=_text(prompts.get("document")) or _text(prompts.get("passage")),
    )


def fingerprint(folder: Path, model_file: str, *more: str) -> str:
    """What tells this model from another one of its name: 8 hex digits.

    Of the model file (and its external data) the size and 64 pieces of 16 KiB spread evenly over it are
    taken, which is cheap for files of any size and differs for any two trainings; of the tokenizer all.
    """
    digest = hashlib.sha256()
    model = folder / model_file
    for file in sorted({*model.parent.glob(f"{model.stem}.onnx*"), model}):
        _add_sample(digest, file)
    tokenizer = folder / "tokenizer.json"
    if tokenizer.is_file():
        digest.update(tokenizer.read_bytes())
    for text in more:
        digest.update(f"\0{text}".encode())
    return digest.hexdigest()[:8]


def _add_sample(digest: Any, file: Path) -> None:
    size = file.stat().st_size
    digest.update(f"{file.name} {size}\n".encode())
    with file.open("rb") as stream:
        for number in range(_SAMPLES):
            stream.seek(max(size - _SAMPLE_BYTES, 0) * number // (_SAMPLES - 1))
            digest.update(stream.read(_SAMPLE_BYTES))


def _model_file(folder: Path) -> str:
    for name in _MODEL_FILES:
        if (folder / name).is_file():
            return name
    found = sorted([*folder.glob("*.onnx"), *folder.glob("onnx/*.onnx")])
    if not found:
        raise _lasting(
            f"{folder} has no ONNX file", "Put the model there as model.onnx or onnx/model.onnx."
        )
    if len(found) > 1:
        names = ", ".join(file.relative_to(folder).as_posix() for file in found)
        raise _lasting(
            f"{folder} has several models: {names}", "Name the one to use model.onnx, or leave one."
        )
    return found[0].relative_to(folder).as_posix()


def _pooling(config: dict[str, Any]) -> Pooling | None:
    """Source: the two forms of sentence-transformers' pooling configuration."""
    mode = config.get("pooling_mode")
    if mode == "mean" or config.get("pooling_mode_mean_tokens") is True:
        return "mean"
    return "cls" if mode == "cls" or config.get("pooling_mode_cls_token") is True else None


def _object(file: Path) -> dict[str, Any]:
    value = _json(file)
    return value if isinstance(value, dict) else {}


def _objects(file: Path) -> list[dict[str, Any]]:
    value = _json(file)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _json(file: Path) -> object:
    if not file.is_file():
        return None
    try:
        return json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise _lasting(f"{file} cannot be read: {error}", "Put the file there again.") from error


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _lasting(message: str, hint: str) -> EmbeddingProblem:
    return EmbeddingProblem(message, is_lasting=True, hint=hint)
