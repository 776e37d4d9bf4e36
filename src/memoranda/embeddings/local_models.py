"""The models that the library fastembed can open on this machine, without a network.

By its name in one of the library's caches, or from a folder with its files; there the files say how it is
meant to be used, and the library is told so.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memoranda.embeddings.plan import Pooling
from memoranda.errors import EmbeddingProblem

if TYPE_CHECKING:
    from memoranda.embeddings.model_folder import ModelFolder

DEFAULT_MODEL = "bge-small-en-v1.5"


@dataclass(frozen=True, slots=True)
class LocalModel:
    """Which model to load.

    Attributes:
        name: as fastembed has it, with or without its owner; "" with a folder: the folder's name.
        folder: with its files; None: `caches` are looked through.
        caches: folders in which fastembed keeps what it downloads, the first one with the model counts.
        pooling: how the vectors of tokens become one; None: the files say.
        dimensions: length that its vectors must have; None: any.
    """

    name: str = DEFAULT_MODEL
    folder: Path | None = None
    caches: tuple[Path, ...] = ()
    pooling: Pooling | None = None
    dimensions: int | None = None


def is_installed() -> bool:
    """Whether the library is there; imports nothing."""
    try:
        return importlib.util.find_spec("fastembed") is not None
    except ValueError:  # a module of that name is there that no finder has made
        return True


def has_files(caches: Sequence[Path]) -> bool:
    """Whether a cache holds any model at all, so that the library is worth importing."""
    return any(
        next(cache.glob(pattern), None) is not None
        for cache in caches
        for pattern in ("models--*", "fast-*")
    )


def library() -> Any:
    """The library; importing it takes half a second of CPU."""
    import fastembed  # type: ignore[import-not-found,import-untyped,unused-ignore]

    return fastembed


def opened(
    text_embedding: Any, wanted: LocalModel, module: Any
) -> tuple[str, Any, ModelFolder | None] | None:
    """Name, model and folder; None when no cache holds it. The ONNX file itself loads with the first text."""
    from memoranda.embeddings.model_folder import read_model_folder

    options = {
        "threads": 1,
        "providers": ["CPUExecutionProvider"],
        "local_files_only": True,
        "lazy_load": True,
    }
    known = {str(one["model"]): one for one in text_embedding.list_supported_models()}
    if wanted.folder is not None:
        folder = read_model_folder(wanted.folder)
        name = wanted.name or wanted.folder.name
        built_in = known_name(wanted.name, known) if wanted.name else None
        registered = built_in if wanted.pooling is None and folder.pooling is None else None
        if registered is None or known[registered]["model_file"] != folder.model_file:
            registered = _register(text_embedding, known, folder, wanted.pooling, module)
        path = str(wanted.folder)
        return name, text_embedding(registered, specific_model_path=path, **options), folder
    name = known_name(wanted.name, known) or ""
    if not name:
        raise EmbeddingProblem(
            f"fastembed has no model {wanted.name!r}",
            is_lasting=True,
            hint="Choose one that it has, or put the files of the model into a folder and set "
            "semantic_model_path.",
        )
    for cache in wanted.caches:
        if not has_files([cache]):
            continue
        try:
            return name, text_embedding(name, cache_dir=str(cache), **options), None
        except (ValueError, OSError):  # no files of this model
            continue
    return None


def known_name(name: str, known: Iterable[str]) -> str | None:
    """The library's name for a model that may lack its owner ("bge-small-en-v1.5", spec 9.1)."""
    key, names = name.strip().lower(), list(known)
    exact = next((one for one in names if one.lower() == key), None)
    return exact or next((one for one in names if one.lower().rpartition("/")[2] == key), None)


def _register(
    text_embedding: Any,
    known: dict[str, Any],
    folder: ModelFolder,
    pooling: Pooling | None,
    module: Any,
) -> str:
    """Tell the library of a model that it does not know; returns the name it has there."""
    pooling = pooling or folder.pooling
    if pooling is None:
        raise EmbeddingProblem(
            f"{folder.folder} does not say how the model pools: it has no 1_Pooling/config.json",
            is_lasting=True,
            hint='Put that file there, or set semantic_pooling to "mean" or "cls".',
        )
    name = f"memoranda/{pooling}/{folder.model_file}"
    if name not in known:
        description = module.common.model_description
        text_embedding.add_custom_model(
            model=name,
            pooling=description.PoolingType[pooling.upper()],
            normalization=True,
            sources=description.ModelSource(hf=name),  # asked for by the library, never used
            dim=1,
            model_file=folder.model_file,
        )
    return name


def revision(model: Any, folder: ModelFolder | None, pooling: Pooling | None) -> str:
    """What tells the files of an opened model, and how they are used, from others of its name."""
    from memoranda.embeddings.model_folder import fingerprint

    if folder is not None:
        return fingerprint(
            folder.folder,
            folder.model_file,
            pooling or folder.pooling or "",
            str(folder.window),
            folder.query_prompt,
            folder.document_prompt,
        )
    place = getattr(model.model, "_model_dir", None)
    description = getattr(model.model, "model_description", None)
    if place is None or description is None:
        return ""
    return fingerprint(Path(place), description.model_file)
