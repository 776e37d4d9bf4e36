"""`python -m benchmarks [PART ...]`: measure, print, keep. Without a part: all of them.

Ends with 1 when a figure is over its target, or under its floor. Nothing of the user's configuration is touched.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks import (
    embed,
    index,
    latency,
    live,
    moves,
    parse,
    search,
    startup,
    transports,
    vaults,
    vectors,
)
from benchmarks.retrieval import harness
from benchmarks.retrieval.legs import LEGS

_PARTS = (
    "startup",
    "parse",
    "index",
    "embed",
    "latency",
    "transports",
    "live",
    "vaults",
    "moves",
    "search",
    "vectors",
    "retrieval",
)


def main() -> int:
    """Run the benchmarks that are named, or all."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("what", nargs="*", default=[], metavar="|".join(_PARTS))
    parser.add_argument(
        "--sizes",
        type=_sizes,
        help="notes, for index, embed, latency (1000,10000), search (700,7000)",
    )
    parser.add_argument("--huge", action="store_true", help="search 100,000 notes as well")
    parser.add_argument("--notes", type=int, help="notes, for live (10000), transports (1000)")
    parser.add_argument("--saves", type=int, default=60, help="files to save, for live")
    parser.add_argument("--minutes", type=float, default=10.0, help="of idling, for live")
    parser.add_argument("--vault", type=Path, help="folder of notes, for parse")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument(
        "--sets", default=",".join(harness.SETS), help="for retrieval (%(default)s)"
    )
    parser.add_argument(
        "--ways",
        default=",".join(leg.name for leg in LEGS),
        help="to ask, for retrieval (%(default)s)",
    )
    parser.add_argument("--write-page", action="store_true", help="retrieval's tables into docs")
    arguments = parser.parse_args()
    wanted = arguments.what or _PARTS
    if unknown := set(wanted) - set(_PARTS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    sets = arguments.sets.split(",")
    if unknown := set(sets) - set(harness.SETS):
        parser.error(f"no such set: {', '.join(sorted(unknown))}")
    ways = arguments.ways.split(",")
    if unknown := set(ways) - {leg.name for leg in LEGS}:
        parser.error(f"no such way: {', '.join(sorted(unknown))}")
    over = 0
    if "startup" in wanted:
        over += startup.main(repeat=arguments.repeat)
    if "parse" in wanted:
        over += parse.main(vault=arguments.vault, repeat=arguments.repeat)
    if "index" in wanted:
        over += index.main(sizes=arguments.sizes or (1000, 10_000), repeat=arguments.repeat)
    if "embed" in wanted:
        over += embed.main(sizes=arguments.sizes or (1000, 10_000))
    if "latency" in wanted:
        over += latency.main(sizes=arguments.sizes or latency.SIZES, repeat=arguments.repeat)
    if "transports" in wanted:
        over += transports.main(notes=arguments.notes or transports.NOTES)
    if "live" in wanted:
        over += live.main(
            notes=arguments.notes or 10_000, saves=arguments.saves, minutes=arguments.minutes
        )
    if "vaults" in wanted:
        over += vaults.main()
    if "moves" in wanted:
        over += moves.main()
    if "search" in wanted:
        over += search.main(sizes=arguments.sizes or search.SIZES, is_huge=arguments.huge)
    if "vectors" in wanted:
        over += vectors.main(sizes=arguments.sizes or vectors.SIZES)
    if "retrieval" in wanted:
        over += harness.main(
            sets,
            legs=[leg for leg in LEGS if leg.name in ways],
            page=harness.PAGE if arguments.write_page else None,
        )
    print(f"\n{over} outside their target" if over else "\nall within their targets")
    return 1 if over else 0


def _sizes(text: str) -> list[int]:
    return [int(size) for size in text.split(",")]


if __name__ == "__main__":
    sys.exit(main())
