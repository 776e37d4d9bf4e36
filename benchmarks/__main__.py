"""`python -m benchmarks [startup] [parse] [index] [latency] [live] [vaults]`: measure, print, keep.

Ends with 1 when a figure is over its target. Nothing of the user's configuration is touched.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks import index, latency, live, parse, startup, vaults

_PARTS = ("startup", "parse", "index", "latency", "live", "vaults")


def main() -> int:
    """Run the benchmarks that are named, or all."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("what", nargs="*", default=[], metavar="|".join(_PARTS))
    parser.add_argument("--sizes", default="1000,10000", help="notes, for index")
    parser.add_argument("--notes", type=int, help="notes, for latency (1000) and live (10000)")
    parser.add_argument("--saves", type=int, default=60, help="files to save, for live")
    parser.add_argument("--minutes", type=float, default=10.0, help="of idling, for live")
    parser.add_argument("--vault", type=Path, help="folder of notes, for parse")
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    wanted = arguments.what or _PARTS
    if unknown := set(wanted) - set(_PARTS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    sizes = [int(size) for size in arguments.sizes.split(",")]
    over = 0
    if "startup" in wanted:
        over += startup.main(repeat=arguments.repeat)
    if "parse" in wanted:
        over += parse.main(vault=arguments.vault, repeat=arguments.repeat)
    if "index" in wanted:
        over += index.main(sizes=sizes, repeat=arguments.repeat)
    if "latency" in wanted:
        over += latency.main(notes=arguments.notes or 1000, repeat=arguments.repeat)
    if "live" in wanted:
        over += live.main(
            notes=arguments.notes or 10_000, saves=arguments.saves, minutes=arguments.minutes
        )
    if "vaults" in wanted:
        over += vaults.main()
    print(f"\n{over} over their target" if over else "\nall within their targets")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
