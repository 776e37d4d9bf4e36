"""`make dist`: build what is handed out, check it, and try the wheel in a clean environment.

Leaves the wheel and the source distribution in `dist`. Ends with 1 when something is missing or does not
work, and says what. The figures are those of this machine at this moment; a quick run measures little.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import Figure, Report, median_run

from tools.distribution import installed
from tools.distribution.artefacts import (
    PACKAGE,
    Artefacts,
    build,
    contents,
    differences,
    sdist_faults,
    wheel_faults,
)
from tools.distribution.metadata import metadata_faults
from tools.distribution.smoke import initialize_s, smoke_faults

ROOT = Path(__file__).resolve().parent.parent.parent
_LARGEST = 8
_MB = 1e6


def main() -> int:
    """Run all checks; returns the exit code."""
    parser = argparse.ArgumentParser(prog="make dist", description=__doc__.split("\n\n")[0])
    parser.add_argument("--repeat", type=int, default=7, help="how often a start is measured")
    parser.add_argument("--quick", action="store_true", help="measure once, compile no modules")
    options = parser.parse_args()
    report = Report("distribution")
    with tempfile.TemporaryDirectory(prefix="memoranda-dist-") as temporary:
        folder = Path(temporary).resolve()
        artefacts = build(ROOT, folder)
        faults = _file_faults(artefacts, report)
        if not faults:
            faults = _use_faults(artefacts.wheel, folder, report, options.repeat, options.quick)
        if not faults:
            target = ROOT / "dist"
            target.mkdir(exist_ok=True)
            for file in (artefacts.sdist, artefacts.wheel):
                shutil.copy(file, target)
    for fault in faults:
        print(f"FAULT {fault}", file=sys.stderr)
    print(f"{len(faults)} faults" if faults else "the distribution is whole, and works")
    return 1 if faults else 0


def _file_faults(artefacts: Artefacts, report: Report) -> list[str]:
    wheel, sdist = contents(artefacts.wheel), contents(artefacts.sdist)
    for name, file in (("wheel", artefacts.wheel), ("sdist", artefacts.sdist)):
        report.put(Figure(f"{name}: size", file.stat().st_size / _MB, "MB", note=file.name))
    return [
        *wheel_faults(wheel, ROOT / "src" / PACKAGE),
        *sdist_faults(sdist),
        *metadata_faults(wheel),
        *(
            f"{name} differs between the wheel of the source distribution and that of the tree"
            for name in differences(wheel, contents(artefacts.tree_wheel))
        ),
    ]


def _use_faults(wheel: Path, folder: Path, report: Report, repeat: int, quick: bool) -> list[str]:
    clean = installed.make(folder)
    flags = ["--no-compile"] if quick else []
    done = installed.install(clean, wheel, ROOT / "constraints.txt", *flags)
    report.put(Figure("install: wall", done.wall_s, "s"))
    report.put(Figure("install: CPU", done.cpu_s, "s"))
    packages = installed.packages(clean)
    report.put(Figure("installed: packages", len(packages), ""))
    report.put(Figure("installed: size", installed.size_bytes(clean.packages) / _MB, "MB"))
    for package in packages[:_LARGEST]:
        report.put(Figure(f"  {package.name} {package.version}", package.size_bytes / _MB, "MB"))
    [version] = [each.version for each in packages if each.name == PACKAGE]
    faults = [*installed.import_faults(clean), *smoke_faults(clean, version)]
    if not quick and not faults:
        _measure_starts(clean, report, repeat)
    return faults


def _measure_starts(clean: installed.Clean, report: Report, repeat: int) -> None:
    log = clean.home.parent / "command.log"
    for words in (("--version",), ("--help",)):
        result = median_run([str(clean.command), *words], clean.variables, log=log, repeat=repeat)
        report.put(Figure(f"{words[0]}: wall", result.wall_s * 1000, "ms"))
        report.put(Figure(f"{words[0]}: CPU", result.cpu_s * 1000, "ms"))
    initialized = statistics.median(initialize_s(clean, repeat))
    report.put(Figure("MCP initialize: wall", initialized * 1000, "ms"))


if __name__ == "__main__":
    sys.exit(main())
