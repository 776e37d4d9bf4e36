"""`make compat`: the tests on other Pythons, with the wheel installed as its users install it.

Each Python gets an environment below `.venv/compat`, into which the wheel, its dependencies and the tools of
the tests go in the versions of `constraints.txt`; nothing may need a compiler. The package comes from the
wheel, and the tests from the tree. Ends with 1 when something fails anywhere, after all have run.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.distribution.artefacts import build

ROOT = Path(__file__).resolve().parent.parent
_FOLDER = ROOT / ".venv" / "compat"
_VERSION = "import platform, sys; print(platform.python_version(), sys.version_info >= (3, 11))"
_PLACE = "import memoranda, sys; assert memoranda.__path__[0].startswith(sys.prefix), memoranda"


@dataclass(frozen=True, slots=True)
class _Outcome:
    python: str
    summary: str
    passed: bool


def main() -> int:
    """Run the tests on each Python, one after the other; returns the exit code."""
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(
        prog="make compat",
        usage="%(prog)s PYTHON [PYTHON ...] [-- OPTION OF PYTEST ...]",
        description=__doc__.split("\n\n")[0],
    )
    parser.add_argument("pythons", nargs="+", metavar="PYTHON", help="a command or a path")
    pythons, tests = parser.parse_args(words[:end]).pythons, words[end + 1 :]
    with tempfile.TemporaryDirectory(prefix="memoranda-compat-") as temporary:
        wheel = build(ROOT, Path(temporary)).wheel
        outcomes = [_tried(each, wheel, tests) for each in pythons]
    print()
    for outcome in outcomes:
        print(f"{outcome.python}: {outcome.summary}")
    return 0 if all(outcome.passed for outcome in outcomes) else 1


def _tried(python: str, wheel: Path, tests: Sequence[str]) -> _Outcome:
    try:
        said = subprocess.run([python, "-c", _VERSION], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        return _Outcome(python, f"cannot be run: {error}", passed=False)
    version, is_new_enough = said.stdout.split()
    if is_new_enough != "True":
        return _Outcome(python, f"is {version}; 3.11 or later is needed", passed=False)
    inside = _FOLDER / version / "bin" / "python"
    print(f"\nPython {version}", flush=True)
    try:
        _install(python, inside, wheel)
    except subprocess.CalledProcessError as error:
        return _Outcome(version, f"the installation ended with {error.returncode}", passed=False)
    with subprocess.Popen(
        [str(inside), "-m", "pytest", "-p", "no:cacheprovider", *tests],
        cwd=ROOT,
        env=_variables(),
        stdout=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    ) as process:
        last = ""
        for line in process.stdout or ():
            print(line, end="", flush=True)
            last = line.strip(" =\n") or last
    return _Outcome(version, last, passed=process.returncode == 0)


def _install(python: str, inside: Path, wheel: Path) -> None:
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    needed = [*groups["dependency-groups"]["dev"], str(wheel)]
    subprocess.run([python, "-m", "venv", "--clear", str(inside.parent.parent)], check=True)
    pip = [str(inside), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    chosen = ["--only-binary", ":all:", "-c", str(ROOT / "constraints.txt")]
    subprocess.run([*pip, *chosen, *needed], check=True, env=_variables())
    subprocess.run([str(inside), "-I", "-c", _PLACE], check=True)


def _variables() -> dict[str, str]:
    """Without what would put another memoranda on the path."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


if __name__ == "__main__":
    sys.exit(main())
