"""What `vault_comparison` finds of one vault, as rows of facts, ours and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from tests.integration.line_rules import Way, WikiLink
from tests.integration.vault_comparison import Cause, Comparison

FORMS: dict[str, tuple[str, Callable[[WikiLink], bool]]] = {
    "embeds": ("wiki_embeds", lambda link: link.is_embed),
    "with a label": ("wiki_with_alias", lambda link: "|" in link.inner),
    "with an escaped bar": ("wiki_with_escaped_pipe", lambda link: "\\|" in link.inner),
    "with a heading or block": ("wiki_with_heading", lambda link: "#" in link.before_bar),
    "with a block id": ("wiki_with_block_id", lambda link: "#^" in link.before_bar),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One figure: what the facts say, what the index says, and why they differ."""

    what: str
    facts: int
    ours: int
    why: str = ""


def report(found: Comparison, facts: Mapping[str, int]) -> list[Row]:
    """All figures of a vault in which at least one side is not zero."""
    rows = [*_notes(found, facts), *_wiki_links(found, facts), *_markdown_links(found, facts)]
    return [row for row in rows if row.facts or row.ours]


def _notes(found: Comparison, facts: Mapping[str, int]) -> list[Row]:
    boxes = facts.get("task_boxes_space_or_x", 0) + facts.get("task_boxes_other_sign", 0)
    read = len(found.rules.task_boxes & found.observations)
    hidden = f"{len(found.hidden)} in a hidden folder" if found.hidden else ""
    left = facts.get("observation_rule_left", 0)
    other = len(found.observations - found.rules.observations)
    return [
        Row("notes", facts["md_files"], len(found.notes), hidden),
        Row("frontmatter", facts.get("frontmatter", 0), found.headers),
        Row("broken frontmatter", facts.get("frontmatter_invalid_yaml", 0), found.broken_headers),
        Row("empty permalinks", 0, sum(not permalink for permalink in found.notes.values())),
        Row(
            "task boxes kept out", boxes, boxes - read, f"{read} is an observation" if read else ""
        ),
        Row("observations", left, len(found.observations), f"{other} more" if other else ""),
    ]


def _wiki_links(found: Comparison, facts: Mapping[str, int]) -> list[Row]:
    not_read = found.wiki_not_read
    extra = Counter(cause for _, cause in found.wiki_only_ours)
    rows = [
        Row(
            "wiki links",
            facts.get("wiki_links", 0),
            len(found.wiki_pairs),
            _why(cause for _, cause in not_read),
        ),
        Row("  and read by us alone", 0, extra.total(), _why(extra.elements())),
    ]
    for what, (fact, has) in FORMS.items():
        ours = sum(has(link) for link, _ in found.wiki_pairs)
        why = _why(cause for link, cause in not_read if has(link))
        rows.append(Row(f"  {what}", facts.get(fact, 0), ours, why))
    for way in Way:
        fact_count = facts.get(f"link_found_by_{way}", 0)
        missed = [
            cause
            for link, cause in not_read
            if link.target and (at := found.rules.find(link)) and at[0] is way
        ]
        other = Counter(
            f"{ours} {count}"
            for (theirs, ours), count in found.ways().items()
            if theirs == way and ours not in ("", way)
        )
        why = "; ".join(filter(None, [_why(missed), "by " + ", ".join(other) if other else ""]))
        rows.append(
            Row(f"found by {way}".replace("_", " "), fact_count, found.same_as_facts(way), why)
        )
    more = Counter(
        ours.way for link, ours in found.wiki_pairs if ours.way and not found.rules.find(link)
    )
    rows.append(Row("found by us alone", 0, more.total(), _counted(more)))
    by_facts = sum(facts.get(f"link_found_by_{way}", 0) for way in Way)
    rows.append(
        Row(
            "found by nobody",
            facts.get("link_target_total", 0) - by_facts,
            sum(not ours.way for _, ours in found.wiki_pairs),
            "those found by us alone, and unread ones",
        )
    )
    return rows


def _markdown_links(found: Comparison, facts: Mapping[str, int]) -> list[Row]:
    extra = Counter(cause for _, cause in found.markdown_only_ours)
    ways = Counter(
        ours.way for link, ours in found.markdown_pairs if found.rules.file_of(link) is None
    )
    existing = sum(found.rules.file_of(link) is not None for link, _ in found.markdown_pairs)
    right = sum(
        (file := found.rules.file_of(link)) is not None and file == ours.to_path
        for link, ours in found.markdown_pairs
    )
    behind = {ours.relation for _, ours in found.markdown_pairs}
    missing = ways.pop("", 0)
    why = _counted({**ways, "unresolved": missing} if missing else ways)
    return [
        Row(
            "Markdown links to .md",
            facts.get("md_links_to_md", 0),
            len(found.markdown_pairs),
            _why(cause for _, cause in found.markdown_not_read),
        ),
        Row("  and read by us alone", 0, extra.total(), _why(extra.elements())),
        Row("  to a file that exists", existing, right),
        Row("  to a missing file", missing + ways.total(), ways.total(), why),
        Row("  distinct relations", 0, len(behind & found.relations)),
        Row("relations", 0, len(found.relations)),
        Row("  unresolved", 0, sum(to.startswith("?") for _, _, to in found.relations)),
    ]


def _why(causes: Iterable[Cause]) -> str:
    return _counted(Counter(str(cause) for cause in causes))


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in sorted(counts.items()))
