from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.markdown.entity_parser import parse_note
from memoranda.model.address import NotePath
from memoranda.model.okf import Provenance, Source, Status, Trust, Verification, provenance


def read(header: str) -> Provenance:
    return provenance(parse_note(f"---\n{header}---\ntext\n", NotePath("a.md")).frontmatter)


def test_all_keys_of_a_bundle_are_understood() -> None:
    assert read(
        "type: concept\ndescription: What it is\nresource: https://example.org/x\nstatus: deprecated\n"
        "generated: {by: agent-7, at: 2026-03-01T12:00:00Z}\n"
        "verified:\n  - {by: 'human:mira', at: 2026-03-02T08:00:00Z}\n  - by: checker\n"
        "sources:\n  - id: s1\n    resource: paper.pdf\n    title: The paper\n    author: [Ann, Bo]\n"
        "    last_modified: 2026-01-01T00:00:00Z\n    pages: 3\n"
        "stale_after: 2026-12-31\n"
    ) == Provenance(
        status=Status.DEPRECATED,
        generated_by="agent-7",
        generated_at=datetime(2026, 3, 1, 12, tzinfo=UTC),
        verified=(
            Verification("human:mira", datetime(2026, 3, 2, 8, tzinfo=UTC)),
            Verification("checker"),
        ),
        sources=(
            Source("s1", "paper.pdf", "The paper", "Ann, Bo", datetime(2026, 1, 1, tzinfo=UTC)),
        ),
        stale_after=date(2026, 12, 31),
        description="What it is",
        resource="https://example.org/x",
    )


def test_a_note_without_the_keys_says_nothing() -> None:
    assert read("title: x\nstatus:\nverified: []\nsources:\n") == Provenance()
    assert provenance({}) == Provenance()


@pytest.mark.parametrize(
    ("written", "status"),
    [
        ("draft", Status.DRAFT),
        ("Deprecated", Status.DEPRECATED),
        ("stable", Status.STABLE),
        ("Open", Status.STABLE),
        ("[open, late]", Status.STABLE),
        ("{a: draft}", Status.STABLE),
    ],
)
def test_a_status_of_another_vocabulary_counts_for_nothing(written: str, status: Status) -> None:
    assert read(f"status: {written}\n").status is status


@pytest.mark.parametrize(
    ("written", "trust"),
    [
        ("{by: 'human:mira', at: 2026-03-02}", Trust.HUMAN),
        ("[{by: bot}, {by: 'Human:mira'}]", Trust.HUMAN),
        ("{by: bot}", Trust.VERIFIED),
        ("{by: humanizer}", Trust.VERIFIED),
        ("{at: 2026-03-02}", Trust.VERIFIED),
        ("{}", Trust.UNVERIFIED),
        ("true", Trust.UNVERIFIED),
        ("'human:mira'", Trust.UNVERIFIED),
    ],
)
def test_a_person_is_trusted_above_a_program_above_none(written: str, trust: Trust) -> None:
    assert read(f"verified: {written}\n").trust is trust
    assert Trust.HUMAN > Trust.VERIFIED > Trust.UNVERIFIED


@pytest.mark.parametrize(
    ("on", "stale"),
    [(date(2026, 3, 1), False), (date(2026, 3, 2), True), (date(2026, 3, 3), True)],
)
def test_a_note_is_stale_on_and_after_its_day(on: date, stale: bool) -> None:
    assert read("stale_after: 2026-03-02\n").is_stale(on) is stale
    assert read("stale_after: 2026-03-02T23:30:00-11:00\n").is_stale(on) is stale
    assert not read("stale_after: someday\n").is_stale(on)


def test_a_source_may_be_a_plain_text() -> None:
    expected = (Source(resource="https://example.org"), Source(resource="[[A]]"))
    assert read("sources: [https://example.org, '[[A]]', {x: y}]\n").sources == expected
    assert read("sources: a.pdf\n").sources == (Source(resource="a.pdf"),)


_KEYS = ["status", "generated", "verified", "sources", "stale_after", "description", "resource"]
_TEXTS = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        [
            "{" + '"a":{' * 5000,
            '{"by": 1, "at": [1, "x"]}',
            '{"by": null}',
            "[[[[",
            '{"a": 1',
            "{}",
            "\0",
        ]
    ),
    st.dictionaries(st.sampled_from(["by", "at", "id"]), st.text(max_size=9)).map(
        lambda fields: str(fields).replace("'", '"')
    ),
)


@given(st.dictionaries(st.sampled_from(_KEYS), st.one_of(_TEXTS, st.lists(_TEXTS, max_size=4))))
def test_no_metadata_makes_it_fail(metadata: dict[str, str | list[str]]) -> None:
    assert provenance(metadata).trust in Trust
