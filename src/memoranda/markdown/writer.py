"""The text of a new note. Spec 6.2.1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from memoranda.errors import InvalidArgument
from memoranda.markdown.frontmatter import read_frontmatter, split_frontmatter
from memoranda.markdown.header_edits import set_metadata
from memoranda.markdown.lines import LINE_END
from memoranda.markdown.yaml_text import yaml_entry
from memoranda.markdown.yaml_values import Value, YamlFault, load_entries

_DEFAULT_TYPE: Final = "note"


def new_note(
    *,
    title: str,
    content: str,
    note_type: str | None,
    tags: Sequence[str],
    metadata: Mapping[str, object],
) -> str:
    r"""The text of a new file: `---\n{frontmatter}\n---\n\n{content}`.

    Content that begins with a header of its own is merged into one. Of a key that is given in more
    than one way the argument counts before the metadata, and that before the header of the content;
    tags are put together in this order. The other lines of that header are kept as written, comments
    included. A note that gets no type in any of these ways is a "note".

    Raises:
        InvalidArgument: a metadata value that frontmatter cannot hold, or content with a header that
            is not usable YAML.

    Source: spec 6.2.1.
    """
    content = content.removeprefix("\ufeff")
    cut = split_frontmatter(content)
    own = {} if cut.header is None else _values_of(cut.header)
    kind = note_type if note_type is not None else metadata.get("type")
    if kind is None and not own.get("type"):
        kind = _DEFAULT_TYPE
    given: dict[str, object] = {"title": title}
    if kind is not None:
        given["type"] = kind
    if tags or (metadata.get("tags") and own.get("tags")):
        inherited = None if "tags" in metadata and metadata["tags"] is None else own.get("tags")
        given["tags"] = _all_tags(tags, metadata.get("tags"), inherited)
    said = given.keys() | {"type"}
    if own.get("tags") and metadata.get("tags") in ("", [], ()):
        said |= {"tags"}
    given |= {key: value for key, value in metadata.items() if key not in said}
    header = "".join(yaml_entry(key, value) for key, value in given.items() if value is not None)
    if cut.header is not None:
        header += _others(content[: cut.body_start], own, given, header)
        content = content[cut.body_start :].lstrip("\r\n")
    return f"---\n{header}---\n\n{content}"


def _values_of(header: str) -> dict[str, Value]:
    try:
        return {entry.key: entry.value for entry in load_entries(header)}
    except YamlFault as fault:
        raise InvalidArgument(
            "content",
            f"the header of the content is not usable YAML (line {fault.line + 2}: {fault.reason})",
            hint="Correct it, or pass its keys as metadata.",
        ) from fault


def _all_tags(tags: Sequence[str], *more: object) -> list[str]:
    """The tags as they are given, and those of other values that are not among them."""
    found = {tag.lstrip("# \t"): tag for tag in tags}
    for value in more:
        if value:
            header = f"---\n{yaml_entry('tags', value)}---\n"
            for tag in read_frontmatter(split_frontmatter(header)).tags:
                found.setdefault(tag, tag)
    return list(found.values())


def _others(text: str, own: Mapping[str, Value], given: Mapping[str, object], written: str) -> str:
    """The header of a text without the given keys; dumped from values if lines do not part them."""
    wanted = {key: value for key, value in own.items() if key not in given}
    try:
        kept = split_frontmatter(set_metadata(text, dict.fromkeys(given))).header or ""
        kept = LINE_END.sub("\n", kept)
        both = {entry.key: entry.value for entry in load_entries(written + kept)}
        if both == _values_of(written) | wanted:
            return kept
    except (InvalidArgument, YamlFault):
        pass
    return "".join(yaml_entry(key, value) for key, value in wanted.items() if value is not None)
