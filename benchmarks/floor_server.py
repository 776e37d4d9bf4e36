"""The smallest FastMCP server, over stdio or, given a port, over HTTP: what any server built on it costs."""

from __future__ import annotations

import sys

from fastmcp import FastMCP

server = FastMCP("floor")


@server.tool
def search_notes(query: str) -> str:
    """Find."""
    return "hit " + query


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("http", show_banner=False, port=int(sys.argv[1]), log_level="warning")
    else:
        server.run(show_banner=False)
