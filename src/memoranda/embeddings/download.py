"""Fetching the files of a model for fastembed: in a process of its own, which can be ended at any time.

The library waits and tries again for most of a minute when its hub cannot be reached, and nothing can stop
it in a thread. What was fetched stays in the cache, so that a download that was ended goes on next time.
Run as a program, this module is that process.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from pathlib import Path

from memoranda.config_file import ensure_private_folder
from memoranda.embeddings.local_models import known_name, library
from memoranda.errors import ConfigProblem, EmbeddingProblem

_ALMOST = 0.99


class Download:
    """One download; `run` it once."""

    def __init__(self, model: str, cache: Path) -> None:
        """Nothing happens yet.

        Args:
            model: as fastembed has it.
            cache: the folder for its files; made if it is missing.
        """
        self._model = model
        self._cache = cache
        self._expected_bytes = 0
        self._before_bytes = 0

    def progress(self) -> float:
        """How far it is, 0..1, by the size of the cache; an estimate that never reaches 1."""
        if not self._expected_bytes:
            return 0.0
        fetched = _size(self._cache) - self._before_bytes
        return min(max(fetched / self._expected_bytes, 0.0), _ALMOST)

    async def run(self) -> None:
        """Fetch the files; cancelling it ends the process.

        Raises:
            EmbeddingProblem: it failed; trying again may help.
        """
        try:
            ensure_private_folder(self._cache)
            self._before_bytes = _size(self._cache)
            process = await asyncio.create_subprocess_exec(
                *_command(self._model, self._cache),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )
        except (OSError, ConfigProblem) as error:
            raise self._problem(str(error)) from error
        try:
            reason = await self._follow(process)
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
            await process.wait()
        if reason:
            raise self._problem(reason)

    async def _follow(self, process: asyncio.subprocess.Process) -> str:
        """Read what the process says to its end; returns why it failed, "" when it did not."""
        reason = "the process that fetched it ended"
        assert process.stdout is not None  # noqa: S101
        async for line in process.stdout:
            with contextlib.suppress(ValueError):
                said = json.loads(line)
                self._expected_bytes = said.get("bytes", self._expected_bytes)
                reason = said.get("reason", reason)
        return reason

    def _problem(self, reason: str) -> EmbeddingProblem:
        return EmbeddingProblem(
            f"The model {self._model} could not be downloaded: {reason}",
            hint="Check the network, or put the files into a folder and set semantic_model_path.",
        )


def main(model: str, cache: str) -> None:
    """Fetch a model, saying on stdout how large it is and then why it failed ("" when it did not)."""
    from loguru import logger

    said: list[str] = []
    logger.remove()
    logger.add(lambda message: said.append(message.record["message"]), level="ERROR")
    try:
        known = {one["model"]: one for one in library().TextEmbedding.list_supported_models()}
        name = known_name(model, known)
        if name is None:
            raise EmbeddingProblem(f"fastembed has no model {model!r}")
        _say({"bytes": int(float(known[name]["size_in_GB"]) * 1e9)})
        library().TextEmbedding(name, cache_dir=cache, lazy_load=True)
        _say({"reason": ""})
    except BaseException as error:  # noqa: BLE001  (whatever it is, it is this process's last word)
        first = next(iter(said), "") or str(error) or type(error).__name__
        _say({"reason": first.splitlines()[0][:300]})
        sys.exit(1)


def _say(what: dict[str, object]) -> None:
    sys.stdout.write(f"{json.dumps(what)}\n")
    sys.stdout.flush()


def _command(model: str, cache: Path) -> list[str]:
    """This Python with the import path of this process, so that it runs the same code."""
    if not sys.executable or getattr(sys, "frozen", False):
        raise OSError("this program brings no Python along")
    path = [entry for entry in sys.path if os.path.isabs(entry)]  # noqa: PTH117
    return [
        sys.executable,
        *("-I", "-S", "-X", f"utf8={sys.flags.utf8_mode}", "-c"),
        f"import sys; sys.path[:] = {path!a}; from memoranda.embeddings.download import main; "
        f"main({model!a}, {str(cache)!a})",
    ]


def _size(folder: Path) -> int:
    """Bytes of the files below a folder; links are not followed, what vanishes counts nothing."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(parent, name)).st_size  # noqa: PTH118
    return total
