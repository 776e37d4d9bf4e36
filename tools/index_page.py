"""The description of the package, which hatchling reads: the README as a package index can show it.

An index shows the README without the repository, so a link to a file of the repository leads nowhere.
Such a link becomes its words; the pages are in the source distribution, and the description says so.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_RELATIVE_LINK = re.compile(r"\[([^\]]*)\]\((?!https?://|mailto:|#)[^)]*\)")
_NOTE = "The pages, guides and files that are named here are in the source distribution.\n"


class IndexPage(MetadataHookInterface):
    """Sets `readme` when a source distribution, a wheel or an editable install is built."""

    def update(self, metadata: dict[str, Any]) -> None:
        readme = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": index_page(readme)}


def index_page(readme: str) -> str:
    """The text without links to files, and with a line that says where these are."""
    text = _RELATIVE_LINK.sub(r"\1", readme).rstrip()
    return f"{text}\n\n{_NOTE}"
