"""A header that is not YAML as a whole, read key by key: what is certain is kept."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Final

from memoranda.markdown.lines import LINE
from memoranda.markdown.yaml_values import Entry, YamlFault, load_entries, scalar_value

_KEY: Final = re.compile(r"[^\s#:\-?,\[\]{}&*!|>'\"%@`][^:#\"']*")
_LONGEST_KEY: Final = 100
_NOT_PLAIN: Final = "[{|>&*!'\"%@`#"
_MOST_LINES: Final = 100_000
_MOST_CHUNKS: Final = 10_000
_MOST_YAML: Final = 1000
_MOST_YAML_CHARS: Final = 500_000
"""So many chunks of so many characters are tried as YAML; of the others only plain lines are read."""


def salvage(header: str) -> list[Entry]:
    """What is YAML alone, and `key: value` lines as written. Linear in the length, and bounded.

    A chunk is a line that begins with a key and the lines below it that do not. Aliases are not
    followed: they would lead out of the chunk.
    """
    chunks: list[tuple[int, int, list[str]]] = []
    at = 0
    for row, match in enumerate(LINE.finditer(header)):
        if row == _MOST_LINES:
            break
        line = match[0]
        if _key_end(line):
            if len(chunks) == _MOST_CHUNKS:
                break
            chunks.append((at, row, [line]))
        elif chunks:
            chunks[-1][2].append(line)
        at += len(line)
    entries: list[Entry] = []
    chars = 0
    for number, (start, row, lines) in enumerate(chunks):
        own = [lines[0], *takewhile(_belongs, lines[1:])]
        chars += sum(map(len, lines))
        found = None
        if number < _MOST_YAML and chars < _MOST_YAML_CHARS:
            found = _as_yaml(lines)
            if found is None and len(own) < len(lines):
                found = _as_yaml(own)
        if found is not None:
            entries += [
                Entry(each.key, each.value, each.at + start, each.line + row, each.bad_date)
                for each in found
            ]
        elif not any(map(str.strip, own[1:])) and (entry := _plain(lines[0], start, row)):
            entries.append(entry)
    return entries


def _as_yaml(lines: Sequence[str]) -> list[Entry] | None:
    try:
        return load_entries("".join(lines), max_copies=0)
    except YamlFault:
        return None


def _key_end(line: str) -> int:
    """Where the colon of `key:` stands; 0 if the line does not begin with a key."""
    colon = line.find(":", 0, _LONGEST_KEY + 2)
    return colon if colon > 0 and _KEY.fullmatch(line, 0, colon) else 0


def _belongs(line: str) -> bool:
    """Whether a line may go on with the value above it: text at the margin never does."""
    return line[0] in " \t\r\n-]}#"


def _plain(line: str, start: int, row: int) -> Entry | None:
    colon = _key_end(line)
    after = line[colon + 1 :]
    value = after.strip()
    if not value or not after[0].isspace() or " #" in value:
        return None
    if value[0] in _NOT_PLAIN and not (value.startswith("[[") and value.endswith("]]")):
        return None
    read, bad_date = scalar_value(value.replace("\0", "\ufffd"))
    return Entry(line[:colon].strip(), read, start, row, bad_date)
