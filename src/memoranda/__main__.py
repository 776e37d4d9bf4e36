"""`python -m memoranda` is the console command."""

from __future__ import annotations

from memoranda.cli.main import main

if __name__ == "__main__":
    main()
