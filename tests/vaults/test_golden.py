"""Every golden note gives exactly the values beside it. See README.md in this folder."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.source import decode, encode
from memoranda.model.address import NotePath
from memoranda.model.note import LinkForm, ParsedNote, SourceText

GOLDEN = Path(__file__).parent / "golden"
NOTES = sorted(path.stem for path in GOLDEN.glob("*.md"))
ZONE = "EAT-3"  # three hours before UTC, whatever the machine; dates without a zone are in it
POSITIONS = ("start", "end", "body_start")
MANY_PASSAGES = ("big-table",)  # a passage's size counts its line ends, so that it is cut elsewhere
_BULLET = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t\r\n]")
_LINE_END = re.compile(r"\r\n|\r|\n")


@pytest.fixture(autouse=True)
def _fixed_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", ZONE)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def source_of(name: str) -> SourceText:
    return decode((GOLDEN / f"{name}.md").read_bytes())


def text_of(name: str) -> str:
    return source_of(name).text


def parsed(name: str, text: str) -> ParsedNote:
    return parse_note(text, NotePath(f"golden/{name}.md"))


def values(name: str, text: str) -> dict[str, Any]:
    """All fields but the body's text, as JSON values; empty and default fields of items left out.

    What has a byte range also has a `source`, the text that the range cuts out of the note.
    """
    note = parsed(name, text)
    fields = asdict(note)
    del fields["content"]
    for key in ("created", "modified"):
        fields[key] = fields[key] and fields[key].isoformat()
    fields["relations"] = [f"{r.relation_type} -> {r.to_name}" for r in note.relations]
    data = text.encode("utf-8", "surrogatepass")
    for key in ("observations", "links", "outline", "passages"):
        fields[key] = [
            {k: v for k, v in item.items() if v not in ("", None, (), {}, False)}
            for item in fields[key]
        ]
        for item in fields[key]:
            if "end" in item:
                item["source"] = data[item.get("start", 0) : item["end"]].decode("utf-8")
    result: dict[str, Any] = json.loads(json.dumps(fields))
    return result


def all_values(name: str) -> dict[str, Any]:
    source = source_of(name)
    return {"encoding": source.encoding, "bom": source.bom, **values(name, source.text)}


def without_positions(value: Any) -> Any:
    """The values with LF for every CRLF and no byte offsets."""
    if isinstance(value, dict):
        return {k: without_positions(v) for k, v in value.items() if k not in POSITIONS}
    if isinstance(value, list):
        return [without_positions(item) for item in value]
    return value.replace("\r\n", "\n") if isinstance(value, str) else value


@pytest.mark.parametrize("name", NOTES)
def test_golden_note(name: str) -> None:
    expected = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    assert all_values(name) == expected


@pytest.mark.parametrize("name", NOTES)
def test_decoding_loses_nothing(name: str) -> None:
    data = (GOLDEN / f"{name}.md").read_bytes()
    assert encode(decode(data)) == data


@pytest.mark.parametrize(
    "name", [name for name in NOTES if name not in MANY_PASSAGES and "\r" not in text_of(name)]
)
def test_windows_line_ends_change_nothing_but_positions(name: str) -> None:
    text = text_of(name)
    windows = values(name, text.replace("\n", "\r\n"))
    assert without_positions(windows) == without_positions(values(name, text))


@pytest.mark.parametrize("name", NOTES)
def test_byte_ranges_cut_what_they_name(name: str) -> None:
    text = text_of(name)
    note = parsed(name, text)
    data = text.encode("utf-8", "surrogatepass")

    def line(at: int) -> int:
        return len(_LINE_END.findall(data[:at].decode("utf-8"))) + 1

    assert data[note.body_start :].decode("utf-8") == note.content
    assert note.body_line == line(note.body_start) or not note.content
    body_links = [link for link in note.links if link.form is not LinkForm.FRONTMATTER]
    for link in body_links:
        source = data[link.start : link.end].decode("utf-8")
        opening = {LinkForm.WIKI: ("[[",), LinkForm.EMBED: ("![[",), LinkForm.MARKDOWN: ("[", "![")}
        assert source.startswith(opening[link.form])
        assert source.endswith(("]", ")"))
    for fact in note.observations:
        source = data[fact.start : fact.end].decode("utf-8")
        assert _BULLET.match(source)
        assert source == source.rstrip()
    for heading in note.outline:
        assert data[heading.start : heading.end].decode("utf-8").strip()
        assert (
            data[:1] if heading.start == 0 else data[heading.start - 1 : heading.start] in b"\r\n"
        )
    for items in (body_links, note.observations, note.outline):
        at = note.body_start
        for item in items:
            assert at <= item.start < item.end
            assert item.line == line(item.start)
            at = item.start + 1 if items is body_links else item.end


def test_there_are_golden_notes() -> None:
    assert len(NOTES) >= 60
    assert sorted(path.stem for path in GOLDEN.glob("*.json")) == NOTES


if __name__ == "__main__":
    os.environ["TZ"] = ZONE
    time.tzset()
    for each in NOTES:
        written = json.dumps(all_values(each), indent=1, ensure_ascii=False)
        (GOLDEN / f"{each}.json").write_text(written + "\n", encoding="utf-8")
