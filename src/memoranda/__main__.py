"""`python -m memoranda` is the console command.

Python then looks for modules in the current folder first. That may be a folder of notes, from which no
code shall come. (`python -P -m memoranda`, which clients are told, does not even look for this package there.)
"""

from __future__ import annotations

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]
    from memoranda.cli.main import main

    main()
