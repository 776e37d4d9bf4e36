"""What a read note says of its OKF keys."""

from __future__ import annotations

from memoranda.markdown.entity_parser import parse_note
from memoranda.model.address import NotePath
from memoranda.model.okf import provenance
from memoranda.render.provenance import provenance_data, provenance_text

OKF = (
    "---\nstatus: deprecated\nstale_after: 2026-06-01\ngenerated: {by: scribe, at: 2026-01-02}\n"
    "verified:\n  - {by: lint, at: 2026-02-01}\n  - {by: 'human:mira', at: 2026-03-01}\n"
    "sources:\n  - {title: The manual, resource: 'https://example.org'}\n---\nx\n"
)


def of(text: str):
    return provenance(parse_note(text, NotePath("n.md")).frontmatter)


def test_a_line_says_what_a_reader_should_know():
    assert provenance_text(of(OKF)) == [
        "Provenance: deprecated; stale from 2026-06-01 on; verified by human:mira on 2026-03-01;"
        " written by scribe."
    ]


def test_the_fields_for_programs():
    data = provenance_data(of(OKF))["provenance"]
    assert data["status"] == "deprecated"
    assert data["stale_after"] == "2026-06-01"
    assert data["trust"] == "human"
    assert [one["by"] for one in data["verified"]] == ["lint", "human:mira"]
    assert data["sources"] == ["The manual"]
    assert data["generated_by"] == "scribe"


def test_a_note_that_says_nothing_gets_nothing():
    for text in ("x\n", "---\nstatus: Open\ntags: [a]\n---\nx\n", "---\nstatus: stable\n---\n"):
        assert provenance_text(of(text)) == []
        assert provenance_data(of(text)) == {}


def test_a_hostile_header_gives_a_bounded_answer():
    many = "".join(f"  - {{by: '{'x' * 500}'}}\n" for _ in range(100))
    found = of(f"---\nverified:\n{many}---\nx\n")
    assert len(provenance_data(found)["provenance"]["verified"]) == 20
    assert len(provenance_text(found)[0]) < 200
