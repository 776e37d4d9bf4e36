"""A clean environment with the wheel in it, and what it takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import Run, run

_FROM_HERE = {"BASIC_MEMORY_CONFIG_DIR", "PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV"}


@dataclass(frozen=True, slots=True)
class Clean:
    """An environment, and a home folder of its own; nothing of the repository is on its path.

    `home` is the current folder of what runs there.
    """

    folder: Path
    home: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def command(self) -> Path:
        return self.folder / "bin" / "memoranda"

    @property
    def packages(self) -> Path:
        """Where packages are installed."""
        [found] = self.folder.glob("lib/python*/site-packages")
        return found

    @property
    def variables(self) -> dict[str, str]:
        """All that a process is told: as bare as in a container, with no locale and no user."""
        return {"HOME": str(self.home), "PATH": os.defpath}


@dataclass(frozen=True, slots=True)
class Package:
    """An installed package; `size_bytes` with the compiled code of its modules."""

    name: str
    version: str
    size_bytes: int


def make(folder: Path) -> Clean:
    """An environment of this Python, without pip: what is in it later came with the wheel."""
    clean = Clean(folder / "environment", folder / "home")
    clean.home.mkdir(parents=True)
    venv.create(clean.folder, symlinks=True)
    return clean


def install(clean: Clean, wheel: Path, constraints: Path, *options: str) -> Run:
    """Install the wheel with the pip of this process's environment; compiles nothing from C.

    Raises:
        RuntimeError: pip failed, with the end of what it said.
    """
    variables = {name: value for name, value in os.environ.items() if name not in _FROM_HERE}
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python"]
    chosen = ["--only-binary", ":all:", "-c", str(constraints), *options]
    command = [*pip, str(clean.python), "install", "--quiet", *chosen, str(wheel)]
    return run(command, variables, log=clean.home.parent / "pip.log")


def output(clean: Clean, *words: str | Path) -> str:
    """What a command prints there on stdout.

    Raises:
        RuntimeError: it ended with another code than 0; what it said is in the message.
    """
    done = subprocess.run(
        [str(word) for word in words],
        check=False,
        cwd=clean.home,
        env=clean.variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
    )
    if done.returncode:
        said = f"{done.stdout}{done.stderr}"
        raise RuntimeError(f"{' '.join(map(str, words))} ended with {done.returncode}:\n{said}")
    return done.stdout


def packages(clean: Clean) -> list[Package]:
    """All that is installed there, the largest first."""
    listed = json.loads(output(clean, clean.python, "-I", "-c", _LIST))
    found = [Package(name, version, size) for name, version, size in listed]
    return sorted(found, key=lambda each: -each.size_bytes)


def size_bytes(folder: Path) -> int:
    """Of all files below a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def import_faults(clean: Clean) -> Sequence[str]:
    """Modules of the package that cannot be imported there: something is needed that is not declared."""
    faults: list[str] = json.loads(output(clean, clean.python, "-I", "-c", _IMPORT_ALL))
    return faults


_LIST = """
import importlib.metadata, json
found = []
for each in importlib.metadata.distributions():
    files = [each.locate_file(file) for file in each.files or ()]
    size = sum(file.stat().st_size for file in files if file.is_file())
    found.append((each.name, each.version, size))
print(json.dumps(found))
"""

_IMPORT_ALL = """
import importlib, json, pkgutil, sys
import memoranda
faults = []
place = memoranda.__path__[0]
if not place.startswith(sys.prefix):
    faults.append(f"memoranda comes from {place}")
for module in pkgutil.walk_packages([place], "memoranda."):
    if module.name in ("memoranda.__main__", "memoranda.db.migrations.env") or ".versions." in module.name:
        continue
    try:
        importlib.import_module(module.name)
    except Exception as error:
        faults.append(f"{module.name} cannot be imported: {error!r}")
print(json.dumps(faults))
"""
