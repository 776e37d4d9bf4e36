"""The text of a new note. Spec 6.2.1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memoranda.errors import InvalidArgument
from memoranda.markdown.frontmatter import split_frontmatter
from memoranda.markdown.lines import LINE_END
from memoranda.markdown.yaml_text import yaml_entry
from memoranda.markdown.yaml_values import YamlFault, load_entries


def new_note(
    *,
    title: str,
    content: str,
    note_type: str,
    tags: Sequence[str],
    metadata: Mapping[str, object],
) -> str:
    r"""The text of a new file: `---\n{frontmatter}\n---\n\n{content}`.

    Content that begins with a header of its own is merged into one: title, type, metadata, and tags if
    any are given, win; the other lines of that header are kept as written.

    Raises:
        InvalidArgument: a metadata value that frontmatter cannot hold, or content with a header that
            is not usable YAML.

    Source: spec 6.2.1.
    """
    given: dict[str, object] = {"title": title, "type": note_type}
    if tags:
        given["tags"] = list(tags)
    given |= {key: value for key, value in metadata.items() if key not in given}
    header = "".join(yaml_entry(key, value) for key, value in given.items() if value is not None)
    content = content.removeprefix("\ufeff")
    cut = split_frontmatter(content)
    if cut.header is not None:
        header += _others(cut.header, given, header)
        content = content[cut.body_start :].lstrip("\r\n")
    return f"---\n{header}---\n\n{content}"


def _others(header: str, given: Mapping[str, object], written: str) -> str:
    """The lines of a header whose keys are not given; dumped from values if lines do not part them."""
    try:
        entries = load_entries(header)
    except YamlFault as fault:
        raise InvalidArgument(
            "content",
            f"the header of the content is not usable YAML (line {fault.line + 2}: {fault.reason})",
            hint="Correct it, or pass its keys as metadata.",
        ) from fault
    wanted = {entry.key: entry.value for entry in entries if entry.key not in given}
    starts = [entry.at for entry in entries]
    kept = ""
    for entry, start, end in zip(entries, starts, [*starts[1:], len(header)], strict=True):
        if entry.key not in given:
            kept += header[start:end]
    kept = LINE_END.sub("\n", kept)
    if kept and not kept.endswith("\n"):
        kept += "\n"
    try:
        read_back = {entry.key: entry.value for entry in load_entries(written + kept)}
    except YamlFault:
        read_back = {}
    if all(key in read_back and read_back[key] == value for key, value in wanted.items()):
        return kept
    return "".join(yaml_entry(key, value) for key, value in wanted.items() if value is not None)
