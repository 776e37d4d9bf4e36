"""The version of the installed package."""

from __future__ import annotations


def version() -> str:
    """The version as installed; it is declared in pyproject.toml alone."""
    from importlib import metadata

    return metadata.version("memoranda")
