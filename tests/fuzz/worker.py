"""One target under atheris in a process of its own. Started by `__main__`, which also reads what it leaves.

A finding does not end the run: it is written down once for each place that raised, and the next input
is tried. What kills the process (a crash of native code, a hang, memory) is left by libFuzzer itself.
"""

from __future__ import annotations

import hashlib
import sys
import traceback
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["memoranda"]):
    from tests.fuzz.targets import TARGETS

MAX_FINDINGS = 20


def main() -> None:
    """Arguments: the target, the folder for findings, then those of libFuzzer."""
    name, folder, *options = sys.argv[1:]
    target, findings = TARGETS[name], Path(folder)
    seen: set[str] = set()

    def run(data: bytes) -> None:
        try:
            target(data)
        except Exception as error:
            place = _place(error)
            if place not in seen:
                seen.add(place)
                _write_down(findings, name, data, error)
            if len(seen) > MAX_FINDINGS:
                raise

    atheris.Setup([sys.argv[0], *options], run)
    atheris.Fuzz()


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f"{frame.filename}:{frame.lineno}" for frame in frames]
    return f"{type(error).__name__} {' '.join(ours[-3:])}"


def _write_down(folder: Path, name: str, data: bytes, error: BaseException) -> None:
    file = folder / f"{name}-{hashlib.sha256(data).hexdigest()[:12]}.txt"
    shown = "".join(traceback.format_exception(error))
    file.write_text(f"{data!r}\n\n{shown}", encoding="utf-8", errors="backslashreplace")
    sys.stderr.write(f"\nFINDING in {name}: {data!r}\n{shown}\n")


if __name__ == "__main__":
    main()
