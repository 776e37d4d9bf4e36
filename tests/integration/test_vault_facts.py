"""Real vaults, in the index and by rules that share no code with it (vaults/facts.json of the shared folder).

Every difference is a named class with its exact count, so that any change is noticed. What the classes
mean and why they are right: docs/explanation/real-vaults.md.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from tests.integration.line_rules import Way
from tests.integration.vault_comparison import Cause, Comparison, compare
from tests.integration.vault_report import FORMS, report

REPOSITORY = Path(__file__).parents[2]
SHARED = Path(os.environ.get("MEMORANDA_SHARED", REPOSITORY.parent / "shared"))
VAULTS = SHARED / "vaults"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(
        not (VAULTS / "facts.json").exists(), reason="the shared vaults are missing"
    ),
]

ALL = [
    "academicops-specs",
    "dendron-site",
    "foam-docs",
    "free-programming-books",
    "kepano-template",
    "logseq-docs",
    "obsidian-tasks",
    "oldwinter-garden",
    "powershell-docs",
    "silverbullet-docs",
]

# Wiki links of the line rules that are none by CommonMark and FORMAT.
NOT_READ = {
    "dendron-site": {Cause.HTML_COMMENT: 85, Cause.SAME_NOTE: 7, Cause.CODE_OVER_LINES: 6},
    "logseq-docs": {Cause.INDENTED_CODE: 1},
    "obsidian-tasks": {Cause.SAME_NOTE: 166, Cause.HTML_COMMENT: 1, Cause.PERCENT_COMMENT: 1},
    "oldwinter-garden": {Cause.PERCENT_COMMENT: 5, Cause.INDENTED_CODE: 1, Cause.SAME_NOTE: 1},
    "silverbullet-docs": {
        Cause.SAME_NOTE: 27,
        Cause.INDENTED_CODE: 5,
        Cause.HTML_COMMENT: 4,
        Cause.HTML_BLOCK: 1,
        Cause.MATH: 1,
    },
}

# Of these the ones whose note the facts find.
FOUND_BUT_NOT_READ = {
    "dendron-site": {Cause.HTML_COMMENT: 8},
    "logseq-docs": {Cause.INDENTED_CODE: 1},
    "obsidian-tasks": {Cause.HTML_COMMENT: 1, Cause.PERCENT_COMMENT: 1},
    "oldwinter-garden": {Cause.PERCENT_COMMENT: 4},
    "silverbullet-docs": {Cause.INDENTED_CODE: 1, Cause.HTML_BLOCK: 1},
}

# The line rules take these for code: they do not know that a fence ends with its list item or quote.
ONLY_OURS = {"dendron-site": {Cause.FENCE: 9}}

# (way of the facts, our way) where they differ. A permalink of the header is a name before the file
# name; names with code in them, permalinks and slugs are no names to the facts.
OTHER_WAY = {
    "academicops-specs": {("file_name", "permalink"): 26, ("", "permalink"): 1},
    "dendron-site": {("", "slug"): 5},
    "logseq-docs": {("", "slug"): 6},
    "obsidian-tasks": {("", "file_name"): 1},
    "oldwinter-garden": {("", "slug"): 8},
}

MARKDOWN_NOT_READ = {
    "obsidian-tasks": {Cause.ANCHOR: 1},
    "powershell-docs": {Cause.NO_BRACKET: 1},
}
MARKDOWN_ONLY_OURS = {
    "free-programming-books": {Cause.REFERENCE: 6, Cause.FENCE: 1},
    "powershell-docs": {Cause.REFERENCE: 1747},
}

# Links to a path where no note is, by the way in which they are found after all ("" is not at all).
MISSING_FILE = {
    "academicops-specs": {"": 1},
    "foam-docs": {"": 2},
    "obsidian-tasks": {"file_name": 8, "path_end": 3},
    "powershell-docs": {"": 865, "path_end": 155},
}

# All, of these without a target, and those behind the Markdown links that the facts count.
RELATIONS = {
    "academicops-specs": (492, 339, 2),
    "dendron-site": (2557, 1446, 0),
    "foam-docs": (197, 4, 16),
    "free-programming-books": (367, 0, 363),
    "kepano-template": (134, 60, 0),
    "logseq-docs": (1289, 752, 3),
    "obsidian-tasks": (808, 2, 4),
    "oldwinter-garden": (3383, 1149, 0),
    "powershell-docs": (8264, 761, 7209),
    "silverbullet-docs": (1092, 116, 0),
}

# A box with a quotation mark that is no ASCII sign, and a line of code in brackets: observations by
# the letter of spec 3.3; the facts leave them out by rules of their own.
MORE_OBSERVATIONS = {
    "logseq-docs": {("pages/Hiccup.md", 5)},
    "obsidian-tasks": {
        ("resources/sample_vaults/Tasks-Demo/Styling/Theme - Border.md", 19),
    },
}

_compared: dict[str, Comparison] = {}


@cache
def all_facts() -> dict[str, dict[str, int]]:
    data = json.loads((VAULTS / "facts.json").read_text(encoding="utf-8"))
    return {vault: entry["facts"] for vault, entry in data.items()}


def fact(vault: str, name: str) -> int:
    return all_facts()[vault].get(name, 0)


@pytest.fixture(params=ALL, scope="module")
def vault(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def found(vault: str, make_index: Callable[..., object]) -> Comparison:
    """The comparison of one vault; indexed once for all tests, which come vault by vault."""
    if vault not in _compared:
        _compared.clear()
        index = make_index(VAULTS / vault, vault)
        index.run_sync()
        _compared[vault] = compare(VAULTS / vault, index.rows)
    return _compared[vault]


def test_the_line_rules_count_what_the_facts_say(vault: str, found: Comparison) -> None:
    counts, facts = found.rules.counts, all_facts()[vault]
    of_links = {name for name in facts if name.startswith(("wiki_", "link_", "md_links_", "task_"))}
    names = {*counts, *of_links}
    assert {name: counts[name] for name in names} == {name: facts.get(name, 0) for name in names}


def test_every_note_is_indexed_and_every_header_found(vault: str, found: Comparison) -> None:
    hidden = {"dendron-site": 1, "free-programming-books": 1}.get(vault, 0)
    assert len(found.hidden) == hidden
    assert len(found.notes) == fact(vault, "md_files") - hidden
    assert found.headers == fact(vault, "frontmatter")
    assert found.broken_headers == fact(vault, "frontmatter_invalid_yaml")


def test_permalinks_are_unique_and_none_is_empty(found: Comparison) -> None:
    assert all(found.notes.values())
    assert len(set(found.notes.values())) == len(found.notes)


def test_observations_and_no_task_boxes(vault: str, found: Comparison) -> None:
    assert found.observations - found.rules.observations == MORE_OBSERVATIONS.get(vault, set())
    assert found.rules.observations <= found.observations
    assert found.observations & found.rules.task_boxes <= MORE_OBSERVATIONS.get(vault, set())


def test_wiki_links_are_read(vault: str, found: Comparison) -> None:
    assert Counter(cause for _, cause in found.wiki_not_read) == NOT_READ.get(vault, {})
    assert Counter(cause for _, cause in found.wiki_only_ours) == ONLY_OURS.get(vault, {})
    assert len(found.wiki_pairs) + len(found.wiki_not_read) == fact(vault, "wiki_links")


def test_form_anchor_and_label_of_every_wiki_link(found: Comparison) -> None:
    assert [
        (link, ours)
        for link, ours in found.wiki_pairs
        if (link.is_embed, link.anchor, link.label)
        != (ours.form == "embed", ours.anchor, ours.label)
    ] == []


def test_links_by_form_are_those_of_the_facts(vault: str, found: Comparison) -> None:
    links = [link for link, _ in found.wiki_pairs] + [link for link, _ in found.wiki_not_read]
    for name, has in FORMS.values():
        assert sum(map(has, links)) == fact(vault, name), name


def test_every_link_that_the_facts_find_leads_to_the_same_note(
    vault: str, found: Comparison
) -> None:
    assert found.wrong() == []
    assert found.found_but_not_read() == FOUND_BUT_NOT_READ.get(vault, {})


def test_links_are_found_in_the_way_of_the_facts(vault: str, found: Comparison) -> None:
    ways = found.ways()
    assert {pair: n for pair, n in ways.items() if pair[0] != pair[1]} == OTHER_WAY.get(vault, {})
    beyond = 4 if vault == "dendron-site" else 0  # titles of more than 80 characters
    by_facts = sum(fact(vault, f"link_found_by_{way}") for way in Way)
    by_us = sum(found.same_as_facts(way) for way in Way)
    assert by_us == by_facts + beyond - found.found_but_not_read().total()


def test_markdown_links_are_read(vault: str, found: Comparison) -> None:
    not_read = Counter(cause for _, cause in found.markdown_not_read)
    assert not_read == MARKDOWN_NOT_READ.get(vault, {})
    only_ours = Counter(cause for _, cause in found.markdown_only_ours)
    assert only_ours == MARKDOWN_ONLY_OURS.get(vault, {})
    assert len(found.markdown_pairs) + not_read.total() == fact(vault, "md_links_to_md")


def test_markdown_links_are_resolved_unless_the_file_is_missing(
    vault: str, found: Comparison
) -> None:
    missing: Counter[str] = Counter()
    for link, ours in found.markdown_pairs:
        file = found.rules.file_of(link)
        if file is None:
            missing[ours.way] += 1
        else:
            assert (ours.to_path, ours.way) == (file, "path")
    assert missing == MISSING_FILE.get(vault, {})


def test_every_link_but_an_attachment_has_its_relation(found: Comparison) -> None:
    notes = {link.relation for link in found.links if link.to_path or not link.is_attachment}
    assert notes == found.relations


def test_numbers_of_relations(vault: str, found: Comparison) -> None:
    behind = {ours.relation for _, ours in found.markdown_pairs}
    unresolved = sum(to.startswith("?") for _, _, to in found.relations)
    assert (len(found.relations), unresolved, len(behind)) == RELATIONS[vault]


def test_what_the_plan_asks_of_single_vaults() -> None:
    assert fact("kepano-template", "md_files") == 100
    assert fact("foam-docs", "wiki_links") == 199
    assert fact("powershell-docs", "md_links_to_md") == 8445
    assert {"kepano-template", "foam-docs"}.isdisjoint({*NOT_READ, *ONLY_OURS})


def test_the_report_names_a_cause_for_every_difference(vault: str, found: Comparison) -> None:
    rows = report(found, all_facts()[vault])
    assert rows
    assert [row for row in rows if row.facts > row.ours and not row.why] == []
    assert "unknown" not in " ".join(row.why for row in rows)
