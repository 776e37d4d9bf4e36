"""The two files that are handed out, and whether they hold what they should."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

PACKAGE = "memoranda"
NEEDED_IN_WHEEL = (
    "memoranda/db/migrations/env.py",
    "memoranda/db/migrations/versions/0001_initial_schema.py",
    "memoranda/embeddings/data/LICENSE",
    "memoranda/embeddings/data/NOTICE",
    "memoranda/embeddings/data/static-256.npy",
    "memoranda/embeddings/data/vocabulary.txt",
    "memoranda/py.typed",
)
"""What the program fails without, or what a licence asks for; named, so that a loss in the tree shows as well."""

NEEDED_IN_SDIST = (
    "CHANGELOG.md",
    "LICENSE",
    "Makefile",
    "PKG-INFO",
    "README.md",
    "constraints.txt",
    "docs/README.md",
    "pyproject.toml",
    "tests/conftest.py",
    "tools/index_page.py",
)

_JUNK = re.compile(
    r"(^|/)(__pycache__|\.git|\.venv|\.hypothesis|\.[a-z_]+_cache|dist|build|results)/|\.py[cod]$|~$"
)


@dataclass(frozen=True, slots=True)
class Artefacts:
    """`wheel` is built from `sdist`, as a package index's users get it; `tree_wheel` from the tree."""

    sdist: Path
    wheel: Path
    tree_wheel: Path


def build(root: Path, folder: Path) -> Artefacts:
    """Build all three below an empty folder, with the hatchling of this environment.

    Raises:
        subprocess.CalledProcessError: the build failed; what it said is on stderr.
    """
    handed_out, from_tree = folder / "dist", folder / "tree"
    _build(root, handed_out)
    _build(root, from_tree, "--wheel")
    return Artefacts(
        next(handed_out.glob("*.tar.gz")),
        next(handed_out.glob("*.whl")),
        next(from_tree.glob("*.whl")),
    )


def contents(file: Path) -> dict[str, bytes]:
    """Path inside the file -> bytes; without the leading folder for a source distribution."""
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    found = {}
    with tarfile.open(file) as packed:
        for member in packed.getmembers():
            data = packed.extractfile(member)
            if data is not None:
                found[str(PurePosixPath(*PurePosixPath(member.name).parts[1:]))] = data.read()
    return found


def wheel_faults(wheel: Mapping[str, bytes], package: Path) -> list[str]:
    """What is missing, foreign or different in the wheel, against the package's folder in the tree."""
    tree = {
        f"{PACKAGE}/{path.relative_to(package).as_posix()}": path.read_bytes()
        for path in package.rglob("*")
        if path.is_file() and not _JUNK.search(path.relative_to(package).as_posix())
    }
    faults = [f"the wheel lacks {name}" for name in sorted({*NEEDED_IN_WHEEL, *tree} - {*wheel})]
    for name, data in sorted(wheel.items()):
        if name in tree:
            if tree[name] != data:
                faults.append(f"{name} in the wheel is not the one of the tree")
        elif not re.match(rf"{PACKAGE}-[^/]+\.dist-info/", name):
            faults.append(f"the wheel holds {name}, which is no file of the package")
    return faults


def sdist_faults(sdist: Mapping[str, bytes]) -> list[str]:
    """What is missing in the source distribution, and what should not have come along."""
    return [
        *(f"the source distribution lacks {name}" for name in NEEDED_IN_SDIST if name not in sdist),
        *(f"the source distribution holds {name}" for name in sorted(sdist) if _JUNK.search(name)),
    ]


def differences(one: Mapping[str, bytes], other: Mapping[str, bytes]) -> list[str]:
    """The names whose bytes differ between two wheels, or that are in one of them alone."""
    names = sorted({*one, *other})
    return [name for name in names if one.get(name) != other.get(name)]


def _build(root: Path, folder: Path, *options: str) -> None:
    command: Sequence[str] = [
        *(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder)),
        *(*options, str(root)),
    ]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.stderr.write(done.stdout + done.stderr)
        done.check_returncode()
