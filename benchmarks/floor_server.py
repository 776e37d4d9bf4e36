"""The smallest FastMCP server over stdio: what any server built on it costs."""

from __future__ import annotations

from fastmcp import FastMCP

server = FastMCP("floor")


@server.tool
def search_notes(query: str) -> str:
    """Find."""
    return "hit " + query


if __name__ == "__main__":
    server.run(show_banner=False)
