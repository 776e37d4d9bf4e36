"""Coverage-guided fuzzing of the readers of notes, frontmatter and queries, writer and decoder.

    python -m tests.fuzz                                all targets, 600 seconds in all
    python -m tests.fuzz parse edit --seconds 60        two targets, 30 seconds each
    python -m tests.fuzz parse --replay "b'- [a] b'"    one input, without atheris

The exit code is 0 only if every target ran its time without a finding. Findings are printed as Python
literals and kept, with the corpus, in a temporary folder outside the repository.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.fuzz.seeds import corpus, dictionary
from tests.fuzz.targets import TARGETS

MAX_LEN_BYTES = 2000
HANG_S = 30
MEMORY_MB = 2048
REPOSITORY = Path(__file__).parents[2]

_STATE = re.compile(r"cov: \d+ ft: \d+ corp: \S+")
_UNITS = re.compile(r"stat::number_of_executed_units:\s*(\d+)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run and return the exit code."""
    options = _options(arguments)
    if options.replay is not None:
        for name in options.targets:
            TARGETS[name](ast.literal_eval(options.replay))
        print("nothing found")
        return 0
    if importlib.util.find_spec("atheris") is None:
        print(
            "The fuzzer needs atheris (pip install atheris; wheels for CPython 3.11 to 3.13 on Linux"
            f" x86-64), which {sys.executable} does not have. Nothing was fuzzed.",
            file=sys.stderr,
        )
        return 2
    folder = Path(options.keep or tempfile.mkdtemp(prefix="memoranda-fuzz-"))
    print(f"findings and corpus: {folder}", flush=True)
    seconds = max(1, options.seconds // len(options.targets))
    clean = [_run(name, folder / name, seconds) for name in options.targets]
    return 0 if all(clean) else 1


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}")
    parser.add_argument("--seconds", type=int, default=600, help="in all, split over the targets")
    parser.add_argument(
        "--keep", help="folder for findings and corpus, which a later run goes on with"
    )
    parser.add_argument("--replay", metavar="LITERAL", help="run this bytes literal once")
    options = parser.parse_args(arguments)
    options.targets = options.targets or list(TARGETS)
    if unknown := set(options.targets) - set(TARGETS):
        parser.error(f"no target {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    return options


def _run(name: str, folder: Path, seconds: int) -> bool:
    """Fuzz one target; whether it ran to its end without a finding."""
    inputs, findings, words = folder / "corpus", folder / "findings", folder / "dictionary.txt"
    for one in (inputs, findings):
        one.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(corpus(name)):
        (inputs / f"seed-{number:03}").write_bytes(data)
    words.write_text(dictionary(), encoding="ascii")
    known = set(findings.iterdir())
    command = [
        *(sys.executable, "-m", "tests.fuzz.worker", name, str(findings)),
        f"-max_total_time={seconds}",
        f"-max_len={MAX_LEN_BYTES}",
        f"-timeout={HANG_S}",
        f"-rss_limit_mb={MEMORY_MB}",
        f"-dict={words}",
        f"-artifact_prefix={findings}/",
        "-print_final_stats=1",
        str(inputs),
    ]
    start = time.monotonic()
    done = subprocess.run(
        command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    output = done.stdout.decode("utf-8", "replace")
    (folder / "log.txt").write_text(output, encoding="utf-8")
    units = int(match[1]) if (match := _UNITS.search(output)) else 0
    took = time.monotonic() - start
    state = found[-1] if (found := _STATE.findall(output)) else "no coverage was reported"
    print(f"{name}: {units} executions in {took:.0f} s ({units / took:.0f}/s), {state}")
    new = sorted(set(findings.iterdir()) - known)
    for file in new:
        shown = file.read_text("utf-8") if file.suffix == ".txt" else repr(file.read_bytes())
        print(f"  {file.name}: {shown}")
    ended = done.returncode == 0 and units > 0
    if not ended:
        print(f"  the fuzzer ended with {done.returncode}:\n{output[-3000:]}")
    print(flush=True)
    return ended and not new


if __name__ == "__main__":
    sys.exit(main())
