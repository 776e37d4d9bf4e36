"""A real vault in the index beside what the line rules find in it, link by link.

`compare` joins every single link of the two sides on file, line and target, and names the cause where
only one side has it. A cause comes from a third reader, markdown-it-py, which says what kind of block
the line belongs to by CommonMark. Used by `test_vault_facts.py` and by `python -m benchmarks vaults`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from tests.integration.line_rules import MarkdownLink, Vault, Way, WikiLink

from memoranda.model.address import normalized_target
from memoranda.services.linking import NameKind

Rows = Callable[[str], Sequence[tuple[Any, ...]]]
"""Asks the index in SQL."""

_LINKS = """SELECT s.file_path, l.line, l.form, l.target, coalesce(l.anchor, ''), coalesce(l.label, ''),
    l.is_attachment, l.relation_type, l.start, l.end, t.file_path, l.to_id, l.key, l.root_key
    FROM link l JOIN entity s ON s.id = l.entity_id LEFT JOIN entity t ON t.id = l.to_id
    ORDER BY s.file_path, l.ordinal"""
_RELATIONS = """SELECT s.file_path, r.relation_type, coalesce(t.file_path, ''), r.to_name
    FROM relation r JOIN entity s ON s.id = r.from_id LEFT JOIN entity t ON t.id = r.to_id"""
_NOTES = "SELECT file_path, permalink, content, problems FROM entity"
_NAMES = "SELECT key, entity_id, kind FROM note_name"
_OBSERVATIONS = "SELECT e.file_path, o.line FROM observation o JOIN entity e ON e.id = o.entity_id"
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


class Cause(StrEnum):
    """Why one side has a link and the other has not."""

    SAME_NOTE = "same note"  # no name before `#` or `|`
    HTML_COMMENT = "HTML comment"
    PERCENT_COMMENT = "%% comment"
    HTML_BLOCK = "HTML block"
    INDENTED_CODE = "indented code"
    CODE_OVER_LINES = "code span over several lines"
    MATH = "math"
    FENCE = "a fence that ends with its block"
    REFERENCE = "reference link"
    ANCHOR = "a path behind the #"
    NO_BRACKET = "no opening bracket"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class OurLink:
    """A link row of the index; `way` is how its note was found, "" if none was."""

    path: str
    line: int
    form: str
    target: str
    anchor: str
    label: str
    is_attachment: bool
    relation_type: str
    start: int
    end: int
    to_path: str | None
    way: str

    @property
    def relation(self) -> tuple[str, str, str]:
        """What the relation behind it is: source, type, and target or name."""
        return self.path, self.relation_type, self.to_path or f"?{normalized_target(self.target)}"


@dataclass(slots=True)
class Comparison:
    """Everything that `docs/explanation/real-vaults.md` and the tests say of one vault."""

    rules: Vault
    links: list[OurLink]
    notes: dict[str, str] = field(default_factory=dict)
    """Path -> permalink."""
    headers: int = 0
    broken_headers: int = 0
    relations: set[tuple[str, str, str]] = field(default_factory=set)
    observations: set[tuple[str, int]] = field(default_factory=set)
    wiki_pairs: list[tuple[WikiLink, OurLink]] = field(default_factory=list)
    wiki_not_read: list[tuple[WikiLink, Cause]] = field(default_factory=list)
    wiki_only_ours: list[tuple[OurLink, Cause]] = field(default_factory=list)
    markdown_pairs: list[tuple[MarkdownLink, OurLink]] = field(default_factory=list)
    markdown_not_read: list[tuple[MarkdownLink, Cause]] = field(default_factory=list)
    markdown_only_ours: list[tuple[OurLink, Cause]] = field(default_factory=list)

    @property
    def hidden(self) -> set[str]:
        """Files in or under a hidden name: not indexed."""
        return {path for path in self.rules.files if path.startswith(".") or "/." in path}

    def of_form(self, *forms: str) -> list[OurLink]:
        """Our links of these forms, attachments left out for Markdown links."""
        return [
            link
            for link in self.links
            if link.form in forms and not (link.form == "markdown" and link.is_attachment)
        ]

    def ways(self) -> Counter[tuple[str, str]]:
        """(way of the facts, our way) of every wiki link that both sides read; "" is not found."""
        return Counter(
            (str(found[0]) if (found := self.rules.find(link)) else "", ours.way)
            for link, ours in self.wiki_pairs
        )

    def wrong(self) -> list[tuple[WikiLink, OurLink]]:
        """Links that the facts find and we lead to another note, or to none."""
        return [
            (link, ours)
            for link, ours in self.wiki_pairs
            if (found := self.rules.find(link))
            and ours.to_path != self.rules.nearest(link.path, found[1])
        ]

    def same_as_facts(self, way: Way) -> int:
        """How many links that the facts find in this way we lead to a note."""
        return sum(n for (theirs, ours), n in self.ways().items() if theirs == way and ours)

    def found_but_not_read(self) -> Counter[Cause]:
        """Links that the facts find and we do not read, by cause."""
        return Counter(
            cause for link, cause in self.wiki_not_read if link.target and self.rules.find(link)
        )


def compare(root: Path, ask: Rows) -> Comparison:
    """Compare the vault in `root` with the index behind `ask`."""
    rules = Vault(root)
    result = Comparison(rules, _our_links(ask))
    blocks = _Blocks(rules)
    for path, permalink, content, problems in ask(_NOTES):
        result.notes[path] = permalink
        result.broken_headers += problems != "[]"
        text = (root / path).read_bytes().decode("utf-8").removeprefix("\ufeff")
        result.headers += content != text
    result.relations = {
        (source, kind, to_path or f"?{name}") for source, kind, to_path, name in ask(_RELATIONS)
    }
    result.observations = {(path, line) for path, line in ask(_OBSERVATIONS)}
    _join_wiki_links(result, blocks)
    _join_markdown_links(result, blocks, root)
    return result


def _our_links(ask: Rows) -> list[OurLink]:
    kinds: defaultdict[tuple[str | None, int | None], list[int]] = defaultdict(list)
    for key, entity_id, kind in ask(_NAMES):
        if kind != NameKind.SLUG:
            kinds[key, entity_id].append(kind)
    links: list[OurLink] = []
    for *values, to_id, key, root_key in ask(_LINKS):
        way = ""
        if to_id is not None:
            named = [*kinds[key, to_id], *kinds[root_key, to_id]]
            way = NameKind(min(named, default=NameKind.SLUG)).name.lower()
        row: tuple[Any, ...] = (*values, way)
        links.append(OurLink(*row))
    return links


def _join_wiki_links(result: Comparison, blocks: _Blocks) -> None:
    ours: defaultdict[tuple[str, int, str], list[OurLink]] = defaultdict(list)
    for own in reversed(result.of_form("wiki", "embed")):
        ours[own.path, own.line, own.target].append(own)
    for link in result.rules.wiki_links:
        if same := ours[link.path, link.line, link.name]:
            result.wiki_pairs.append((link, same.pop()))
        else:
            cause = blocks.cause(link) if link.name else Cause.SAME_NOTE
            result.wiki_not_read.append((link, cause))
    for left in ours.values():
        result.wiki_only_ours += [(own, blocks.cause_of_extra(own)) for own in left]


def _join_markdown_links(result: Comparison, blocks: _Blocks, root: Path) -> None:
    """The line rules see the line of the destination, the index has the line of the first bracket."""
    ours: defaultdict[tuple[str, str], list[OurLink]] = defaultdict(list)
    for own in result.of_form("markdown"):
        ours[own.path, own.target].append(own)
    wanted = [link for link in result.rules.markdown_links if link.leads_to_a_note]
    for above in range(4):
        left: list[MarkdownLink] = []
        for link in wanted:
            same = ours[link.path, link.target]
            found = next((own for own in same if own.line + above == link.line), None)
            if found is None:
                left.append(link)
            else:
                same.remove(found)
                result.markdown_pairs.append((link, found))
        wanted = left
    for link in wanted:
        line = result.rules.files[link.path].lines[link.line - 1]
        cause = Cause.UNKNOWN
        if "#" in link.destination:
            cause = Cause.ANCHOR
        elif "[" not in line.partition("](")[0]:
            cause = Cause.NO_BRACKET
        result.markdown_not_read.append((link, cause))
    for same in ours.values():
        for own in same:
            data = (root / own.path).read_bytes().removeprefix(b"\xef\xbb\xbf")
            is_inline = b"](" in data[own.start : own.end]
            cause = blocks.cause_of_extra(own) if is_inline else Cause.REFERENCE
            result.markdown_only_ours.append((own, cause))


class _Blocks:
    """What CommonMark makes of a line, asked of markdown-it-py when it is needed."""

    def __init__(self, rules: Vault) -> None:
        self._rules = rules
        self._parser = MarkdownIt("commonmark", {"maxNesting": 100}).enable("table")
        self._tokens: dict[str, list[Token]] = {}

    def cause(self, link: WikiLink) -> Cause:
        """Why a link of the line rules is none to us."""
        text = f"[[{link.inner}]]"
        source = self._rules.files[link.path].lines[link.line - 1]
        token = self._innermost(link.path, link.line)
        match token.type if token else "":
            case "html_block":
                assert token is not None
                comment = any(text in found[0] for found in _COMMENT.finditer(token.content))
                return Cause.HTML_COMMENT if comment else Cause.HTML_BLOCK
            case "code_block":
                return Cause.INDENTED_CODE
            case "inline":
                assert token is not None
                return _inline_cause(token.children or (), text, source)
            case _:
                return Cause.UNKNOWN

    def cause_of_extra(self, own: OurLink) -> Cause:
        """Why the line rules do not see a link of ours."""
        is_fenced = own.line not in self._rules.lines_outside_fences(own.path)
        return Cause.FENCE if is_fenced else Cause.UNKNOWN

    def _innermost(self, path: str, line: int) -> Token | None:
        if path not in self._tokens:
            found = self._rules.files[path]
            body = [""] * found.body_from + found.lines[found.body_from :]
            self._tokens[path] = self._parser.parse("\n".join(body))
        covering = [
            token
            for token in self._tokens[path]
            if token.map and token.map[0] < line <= token.map[1] and token.nesting == 0
        ]
        return covering[-1] if covering else None


def _inline_cause(children: Iterable[Token], text: str, source: str) -> Cause:
    for token in children:
        if token.type == "html_inline" and text in token.content:
            return Cause.HTML_COMMENT
        if token.type == "code_inline" and text in token.content:
            return Cause.CODE_OVER_LINES
    before, _, after = source.partition(text)
    if "$" in text and "$" in after:
        return Cause.MATH
    return Cause.PERCENT_COMMENT if "%%" in before and "%%" in after else Cause.UNKNOWN
