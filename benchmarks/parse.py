"""What reading a note costs, beside the bare parts of the same work, and what hostile notes cost.

All in this one process, so that the ratios hold on a busy machine: CPU seconds, the median of the
rounds; in a round every probe runs once over all notes.
"""

from __future__ import annotations

import gc
import hashlib
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyromark
import yaml

from benchmarks.measure import Figure, Report
from benchmarks.vault import make_vault
from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.frontmatter import split_frontmatter
from memoranda.markdown.source import decode
from memoranda.model.address import NotePath

_OPTIONS = (
    pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_WIKILINKS
    | pyromark.Options.ENABLE_GFM
    | pyromark.Options.ENABLE_MATH
    | pyromark.Options.ENABLE_FOOTNOTES
)
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MOST_MS_A_NOTE = 0.8
_MOST_HARD_S = 2.0


def main(*, vault: Path | None = None, repeat: int = 5, notes: int = 10_000) -> int:
    """Measure a vault (a generated one of `notes` notes if none is given) and the hard inputs.

    Returns how many figures are over. The target for a note holds for the generated vault.
    """
    report = Report("parse")
    with ExitStack() as stack:
        label = vault.name if vault else f"{notes} generated notes"
        folder = vault
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "vault"
            make_vault(folder, notes)
        paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() == ".md")
        _measure(report, label, folder, paths, repeat, most=None if vault else _MOST_MS_A_NOTE)
    for what, text in _hard_inputs():
        gc.collect()
        started = time.process_time()
        parse_note(text, NotePath("hard.md"))
        spent = time.process_time() - started
        size = len(text.encode("utf-8", "replace")) / 1e6
        report.put(Figure(what, spent, "s", _MOST_HARD_S, f"{size:.2f} MB"))
    return report.over


def _measure(
    report: Report,
    label: str,
    root: Path,
    paths: Sequence[Path],
    repeat: int,
    *,
    most: float | None,
) -> None:
    if not paths:
        report.put(Figure(f"{label}: notes", 0, ""))
        return
    files = [(path.read_bytes(), NotePath(path.relative_to(root).as_posix())) for path in paths]
    texts = [decode(data).text for data, _ in files]
    cuts = [split_frontmatter(text) for text in texts]
    headers = [cut.header for cut in cuts if cut.header]
    bodies = [text[cut.body_start :] for text, cut in zip(texts, cuts, strict=True)]

    def read_and_hash() -> None:
        for path in paths:
            hashlib.sha256(path.read_bytes()).digest()

    def yaml_headers() -> None:
        for header in headers:
            try:
                yaml.load(header, Loader=_LOADER)  # a safe loader
            except (yaml.YAMLError, ValueError, RecursionError):
                continue

    def markdown_events() -> None:
        for body in bodies:
            for _ in pyromark.events_with_range(body, options=_OPTIONS):
                pass

    def parse() -> None:
        for data, path in files:
            parse_note(decode(data).text, path)

    probes = (read_and_hash, yaml_headers, markdown_events, parse)
    spent = _rounds(probes, repeat)
    n_bytes = sum(len(data) for data, _ in files)
    report.put(Figure(f"{label}: text", n_bytes / 1e6, "MB", note=f"{len(files):,} notes"))
    names = ("read + SHA-256", "YAML header, C loader", "pyromark events", "parse")
    for name, seconds in zip(names, spent, strict=True):
        target = most if name == "parse" else None
        per_note = seconds / len(files) * 1000
        rate = f"{n_bytes / 1e6 / seconds:.1f} MB/s" if seconds else ""
        report.put(Figure(f"{label}, {name}: CPU", per_note, "ms/note", target, rate))
    floor = spent[1] + spent[2]
    report.put(Figure(f"{label}, parse / (YAML + events)", spent[3] / max(floor, 1e-9), "x"))


def _rounds(probes: Sequence[Callable[[], None]], repeat: int) -> list[float]:
    """Median CPU seconds of each probe."""
    spent: list[list[float]] = [[] for _ in probes]
    for _ in range(repeat):
        for number, probe in enumerate(probes):
            started = time.process_time()
            probe()
            spent[number].append(time.process_time() - started)
    return [statistics.median(each) for each in spent]


def _hard_inputs() -> list[tuple[str, str]]:
    """Inputs that cost some parsers quadratic time or their stack."""
    rich = (
        "## Head {0}\n\nSome text with [[Link {0}]] and *emphasis* and `code` here.\n\n"
        "- [fact] something #tag (ctx)\n- requires [[Other]]\n\n"
    )
    return [
        ("1 MB on one line", "word " * 200_000),
        ("100,000 [", "x " + "[" * 100_000),
        ("20,000 [[", "[[" * 20_000),
        ("300 nested lists", "".join("  " * level + "- [a] b\n" for level in range(300))),
        ("300 nested quotes", ">" * 300 + " x\n"),
        ("5 MB rich", "".join(rich.format(number) for number in range(40_000))),
        ("5 MB observations", "- [fact] a b c d e f #x\n" * 208_000),
        ("5 MB prose", "A line of plain words that goes on for a while.\n\n" * 102_000),
        ("5 MB headings", "# a heading of words\n" * 238_000),
        ("5 MB wiki links", "[[Target|x]] and " * 294_000),
        ("5 MB Markdown links", "[x](a.md) and " * 357_000),
        ("5 MB table", "|a|b|\n|-|-|\n" + "|x [[y\\|z]]|w|\n" * 333_000),
        ("5 MB emphasis", "*a **b " * 714_000),
        ("5 MB code signs", "`a ``b " * 714_000),
        ("5 MB references", "".join(f"[r{number}]: x.md\n" for number in range(312_000))),
        ("5 MB %%", "%% " * 1_666_000),
        ("5 MB Chinese observations", "- [事实] 知识图谱是节点和边 #知识\n" * 106_000),
        *((f"5 MB header, {what}", f"---\n{header}---\nbody\n") for what, header in _headers()),
    ]


def _headers() -> list[tuple[str, str]]:
    return [
        ("keys", "".join(f"key{number}: value of it [[x]]\n" for number in range(180_000))),
        ("one list", "tags:\n" + "".join(f"  - tag{number}\n" for number in range(380_000))),
        ("one text", f"text: {'word ' * 1_000_000}\n"),
        ("comments", "# a line of words in a comment\n" * 161_000 + "a: 1\n"),
        ("a block text", "text: |\n" + "  a line of some words\n" * 217_000),
        ("broken early", "a: [x\n" + "key: v w x y z\n" * 333_000),
        ("broken late", "".join(f"key{number}: v\n" for number in range(210_000)) + "z: {{x}}\n"),
        ("broken everywhere", "k: `x`\n" * 714_000),
    ]
