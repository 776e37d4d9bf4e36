"""The groups of tools that a server can offer."""

from __future__ import annotations

from enum import StrEnum


class Toolset(StrEnum):
    """A group of tools that is offered or not as a whole."""

    CORE = "core"
    """The tools of the specification; always offered."""
    NOTES = "notes"
    """Moving notes, seeing and taking back what was changed."""
    ADMIN = "admin"
    """Looking after projects and their indexes."""
    CHATGPT = "chatgpt"
    """What connectors of ChatGPT ask for."""


USUAL_TOOLSETS = (Toolset.NOTES,)
"""What is offered beside the core unless the configuration says otherwise."""
