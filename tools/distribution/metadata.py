"""Whether a package index takes the metadata and can show the description."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from markdown_it import MarkdownIt
from markdown_it.token import Token
from packaging.metadata import Metadata

_REACHABLE = ("https://", "http://", "mailto:", "#")


def metadata_faults(wheel: Mapping[str, bytes]) -> list[str]:
    """What is wrong with the METADATA of a wheel, its licences and its description."""
    [name] = [name for name in wheel if name.endswith(".dist-info/METADATA")]
    try:
        metadata = Metadata.from_email(wheel[name], validate=True)
    except ExceptionGroup as error:
        return [f"METADATA: {each}" for each in error.exceptions]
    folder = name.removesuffix("METADATA")
    faults = [
        f"METADATA names the licence {file}, which the wheel lacks"
        for file in metadata.license_files or []
        if f"{folder}licenses/{file}" not in wheel
    ]
    if not metadata.license_files:
        faults.append("METADATA names no licence file")
    if f"{folder}entry_points.txt" not in wheel:
        faults.append("the wheel declares no command")
    if metadata.description_content_type != "text/markdown":
        faults.append(f"the description is {metadata.description_content_type}, not text/markdown")
    return faults + description_faults(metadata.description or "")


def description_faults(text: str) -> list[str]:
    """What of a description in Markdown an index would show wrong."""
    tokens = MarkdownIt("commonmark").parse(text)
    if not tokens or tokens[0].tag != "h1":
        return ["the description does not begin with a title"]
    return [
        f"the description links to {target}, which an index does not have"
        for target in _targets(tokens)
        if not target.startswith(_REACHABLE)
    ]


def _targets(tokens: list[Token]) -> Iterator[str]:
    for token in tokens:
        for name in ("href", "src"):
            if name in token.attrs:
                yield str(token.attrs[name])
        yield from _targets(token.children or [])
