"""Vaults to measure with: the generator of the shared bench where it is found, else a small one.

Both are deterministic: the same size and seed give the same bytes.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

_WORDS = str.split(
    "system memory graph index query search note project design team budget model data service "
    "server network storage cache thread meeting decision review plan release market price energy "
    "climate water garden coffee music history language theory evidence sample signal pattern"
)
_KINDS = ("note", "note", "note", "concept", "person", "meeting")
_RELATIONS = ("relates_to", "requires", "part_of", "supports", "follows")
_CATEGORIES = ("fact", "idea", "decision", "question", "method")


def shared_folder() -> Path:
    """The folder of shared evaluation data: `MEMORANDA_SHARED`, else `../shared`; may be absent."""
    return Path(os.environ.get("MEMORANDA_SHARED") or ROOT.parent / "shared")


def shared_bench() -> Path | None:
    """The folder of the shared bench, None when absent."""
    folder = shared_folder() / "bench"
    return folder if (folder / "make_vault.py").is_file() else None


def make_vault(folder: Path, notes: int) -> str:
    """Fill `folder` (made new) with `notes` notes; returns which generator did it."""
    bench = shared_bench()
    if notes and bench:
        command = [sys.executable, str(bench / "make_vault.py"), str(folder), str(notes)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return "shared"
    folder.mkdir(parents=True)
    choose = random.Random(notes)
    titles = [f"{_word(choose).title()} {_word(choose)} {number}" for number in range(notes)]
    for number, title in enumerate(titles):
        path = folder / _word(choose) / f"{title}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(_note(choose, title, titles, number), encoding="utf-8")
    return "built in"


def text_bytes(folder: Path) -> int:
    """Bytes of all notes."""
    return sum(path.stat().st_size for path in folder.rglob("*.md"))


def _note(choose: random.Random, title: str, titles: list[str], number: int) -> str:
    def link() -> str:
        # one in ten leads to a note that does not exist, as in vaults that grow
        return f"No such note {number}" if choose.random() < 0.1 else choose.choice(titles)

    def prose(words: int) -> str:
        return " ".join(_word(choose) for _ in range(words))

    paragraphs = "\n\n".join(
        f"## {prose(2).title()}\n\n{prose(60).capitalize()}, see [[{link()}]]. {prose(20)}."
        for _ in range(choose.randint(1, 4))
    )
    observations = "\n".join(
        f"- [{choose.choice(_CATEGORIES)}] {prose(9)} #{_word(choose)} ({prose(2)})"
        for _ in range(choose.randint(2, 6))
    )
    relations = "\n".join(
        f"- {choose.choice(_RELATIONS)} [[{link()}]]" for _ in range(choose.randint(2, 6))
    )
    return (
        f"---\ntitle: {title}\ntype: {choose.choice(_KINDS)}\ntags: [{_word(choose)}, "
        f"{_word(choose)}]\nstatus: draft\n---\n\n# {title}\n\n{paragraphs}\n\n"
        f"## Observations\n\n{observations}\n\n## Relations\n\n{relations}\n"
    )


def _word(choose: random.Random) -> str:
    return choose.choice(_WORDS)
