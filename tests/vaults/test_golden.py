"""Every golden note gives exactly the values beside it. See README.md in this folder."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.source import decode, encode
from memoranda.model.address import NotePath

GOLDEN = Path(__file__).parent / "golden"
NOTES = sorted(path.stem for path in GOLDEN.glob("*.md"))


def values(name: str) -> dict[str, Any]:
    """All fields but the body's text, as JSON values; empty and default fields of items left out."""
    data = (GOLDEN / f"{name}.md").read_bytes()
    source = decode(data)
    assert encode(source) == data
    note = parse_note(source.text, NotePath(f"golden/{name}.md"))
    fields = asdict(note)
    del fields["content"]
    for key in ("created", "modified"):
        fields[key] = fields[key] and fields[key].isoformat()
    fields["relations"] = [f"{r.relation_type} -> {r.to_name}" for r in note.relations]
    for key in ("observations", "links", "outline", "passages"):
        fields[key] = [
            {k: v for k, v in item.items() if v not in ("", None, (), {}, False)}
            for item in fields[key]
        ]
    result: dict[str, Any] = json.loads(json.dumps(fields))
    return result


@pytest.mark.parametrize("name", NOTES)
def test_golden_note(name: str) -> None:
    expected = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    assert values(name) == expected


def test_there_are_golden_notes() -> None:
    assert len(NOTES) >= 12
    assert sorted(path.stem for path in GOLDEN.glob("*.json")) == NOTES


if __name__ == "__main__":
    for each in NOTES:
        text = json.dumps(values(each), indent=1, ensure_ascii=False)
        (GOLDEN / f"{each}.json").write_text(text + "\n", encoding="utf-8")
