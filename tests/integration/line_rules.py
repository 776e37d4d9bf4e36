"""A second reader of a vault: line rules, the standard library and PyYAML. Nothing of the product.

It counts what `vaults/facts.json` counts and lists every single link with the way in which the facts'
rules find its note. Source: "Rules of the count" in `vaults/FACTS.md`. Where those rules leave
something open, the choice here is the one that gives their numbers; each such place says `open:`.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import yaml

LONGEST_TARGET = 80
"""open: a longer target is counted as looked up and never found; 4 links of dendron-site."""

_LINE_END = re.compile(r"\r\n|\n|\r")
_LEAD = r"[\s>]*(?:(?:[-*+]|\d+[.)])\s+[\s>]*)*"
_FENCE = re.compile(rf"^{_LEAD}(?P<sign>`{{3,}}|~{{3,}})(?P<rest>.*)$")
_CODE = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)")
_WIKI = re.compile(r"(!?)\[\[([^\[\]]+)\]\]")
_MARKDOWN = re.compile(  # open: what may stand before `](`; anything gives the numbers
    r"\]\(\s*(<[^<>]*>|(?:[^()\s<>]|\([^()\s]*\))*)(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_TO_NOTE = re.compile(r"\.md(?:[?#].*)?\Z", re.IGNORECASE)
_ITEM = re.compile(r"^[\s>]*(?:[-*+]|\d+[.)])[ \t]+(?P<text>.*)$")
_BOX = re.compile(r"^\[(?P<label>[^\[\]()]+)\]\s+.+")
_TASK = re.compile(r"^\[(?P<sign>[^\[\]()])\](?:\s|$)")
_DEFINITION = re.compile(r"^\s{0,3}\[([^\[\]]+)\]:\s*\S")
_FIELD = re.compile(r"^[\w.-]+:\s")
_NOT_SLUG = re.compile(r"[^a-z0-9]+")


class Way(StrEnum):
    """How a target is found, in the order of the look-ups."""

    PATH = "path"
    FILE_NAME = "file_name"
    TITLE = "title"
    ALIAS = "alias"
    PATH_END = "path_end"


@dataclass(frozen=True, slots=True)
class WikiLink:
    """`[[target#anchor|label]]` or `![[...]]` outside code, in the body.

    Attributes:
        target: the part before `|` and `#`, "" for a link to the same note. Code is blanked before
            links are looked for, so code in a name is not in here.
        inner: all between the brackets as written.
    """

    path: str
    line: int
    target: str
    inner: str
    is_embed: bool

    @property
    def before_bar(self) -> str:
        """Name and anchor as written."""
        return self.inner.partition("|")[0].rstrip("\\")

    @property
    def name(self) -> str:
        """The target as written."""
        return self.before_bar.partition("#")[0].strip()

    @property
    def anchor(self) -> str:
        return self.before_bar.partition("#")[2].strip()

    @property
    def label(self) -> str:
        return self.inner.partition("|")[2].strip()


@dataclass(frozen=True, slots=True)
class MarkdownLink:
    """`[...](destination)` outside code, in the body; the destination as written."""

    path: str
    line: int
    destination: str

    @property
    def leads_to_a_note(self) -> bool:
        """Whether it names a `.md` file here. open: of `a#b/c.md` the end counts as well."""
        return not _SCHEME.match(self.destination) and bool(_TO_NOTE.search(self.destination))

    @property
    def target(self) -> str:
        """The path it names."""
        return unquote(self.destination.partition("#")[0].partition("?")[0])


@dataclass(slots=True)
class Found:
    """One file."""

    path: str
    lines: list[str]
    body_from: int
    header: Mapping[Any, Any] = field(default_factory=dict)

    @property
    def stem(self) -> str:
        return self.path.rpartition("/")[2][:-3]

    @property
    def title(self) -> str:
        """The title of the header, else the file name. open: a title that is no text is not one."""
        title = self.header.get("title")
        return title if isinstance(title, str) else self.stem

    @property
    def aliases(self) -> list[str]:
        value = self.header.get("aliases") or self.header.get("alias") or []
        return [str(one) for one in ([value] if isinstance(value, str) else value)]


class Vault:
    """All files of a folder, their links, and what `facts.json` counts of them."""

    def __init__(self, root: Path) -> None:
        self.counts: Counter[str] = Counter()
        self.wiki_links: list[WikiLink] = []
        self.markdown_links: list[MarkdownLink] = []
        self.task_boxes: set[tuple[str, int]] = set()
        self.observations: set[tuple[str, int]] = set()
        self.files: dict[str, Found] = {}
        self._named: dict[Way, defaultdict[str, list[str]]] = {
            way: defaultdict(list) for way in Way
        }
        self._slugs: set[str] = set()
        self._unfound: set[str] = set()
        for file in sorted(root.rglob("*")):
            if file.name.lower().endswith(".md"):
                text = file.read_bytes().decode("utf-8").removeprefix("\ufeff")
                self._read(file.relative_to(root).as_posix(), text)
        self._keys = {_key(path): path for path in self.files}
        for link in self.wiki_links:
            self._count(link)
        self.counts["observation_rule_left"] = len(self.observations)
        self.counts["link_targets_unresolved_distinct"] = len(self._unfound)

    def find(self, link: WikiLink, longest: int = 10_000) -> tuple[Way, list[str]] | None:
        """The first way in which some note has the name, and all paths that have it that way."""
        if len(link.target) > longest:
            return None
        key = _key(link.target).removesuffix(".md")
        for way, named in self._named.items():
            if key in named:
                return way, named[key]
        return None

    def nearest(self, source: str, paths: Iterable[str]) -> str:
        """Of several notes: the same folder, then the fewest folders, then the alphabet."""
        here = posixpath.dirname(source)
        return min(paths, key=lambda p: (posixpath.dirname(p) != here, p.count("/"), p))

    def file_of(self, link: MarkdownLink) -> str | None:
        """The note that the destination names: from the link's folder, then from the root."""
        path = link.target
        bases = [""] if path.startswith("/") else [posixpath.dirname(link.path), ""]
        for base in bases:
            found = self._keys.get(_key(posixpath.normpath(posixpath.join(base, path.lstrip("/")))))
            if found is not None:
                return found
        return None

    def _read(self, path: str, text: str) -> None:
        lines = _LINE_END.split(text)
        found = self.files[path] = Found(path, lines, 0)
        self.counts["md_files"] += 1
        self._read_header(found)
        self._named[Way.PATH][_key(path)[:-3]].append(path)
        self._named[Way.FILE_NAME][_key(found.stem)].append(path)
        self._named[Way.TITLE][_key(found.title)].append(path)
        self._slugs.add(_slug(found.title))
        for alias in found.aliases:
            self._named[Way.ALIAS][_key(alias)].append(path)
        parts = _key(path)[:-3].split("/")
        for first in range(1, len(parts)):
            self._named[Way.PATH_END]["/".join(parts[first:])].append(path)
        for number, line in self._outside_fences(found, self.counts):
            if "]" in line:
                self._read_line(path, number, line)

    def _read_header(self, found: Found) -> None:
        lines = found.lines
        if lines[0].rstrip(" \t") != "---":
            return
        for last in range(1, len(lines)):
            if lines[last].rstrip(" \t") == "---":
                break
        else:
            return
        found.body_from = last + 1
        self.counts["frontmatter"] += 1
        try:
            header = yaml.load("\n".join(lines[1:last]), yaml.CSafeLoader)
        except yaml.YAMLError:
            self.counts["frontmatter_invalid_yaml"] += 1
            return
        if isinstance(header, dict):
            found.header = header

    def lines_outside_fences(self, path: str) -> set[int]:
        """Numbers of the body's lines that are in no fence."""
        return {number for number, _ in self._outside_fences(self.files[path], Counter())}

    def _outside_fences(self, found: Found, counts: Counter[str]) -> Iterator[tuple[int, str]]:
        fence = ""
        for number, line in enumerate(found.lines[found.body_from :], found.body_from + 1):
            mark = _FENCE.match(line) if "```" in line or "~~~" in line else None
            if fence:
                if mark and mark["sign"].startswith(fence) and not mark["rest"].strip():
                    fence = ""
                else:
                    counts["wiki_in_fence"] += len(_WIKI.findall(line))
                    item = _item(line)
                    counts["observation_like_in_fence"] += bool(
                        item and (box := _BOX.match(item)) and len(box["label"]) > 1
                    )
            elif mark and not (mark["sign"][0] == "`" and "`" in mark["rest"]):
                fence = mark["sign"]
                counts["fences"] += 1
            else:
                yield number, line
        counts["fence_never_closed"] += bool(fence)

    def _read_line(self, path: str, number: int, line: str) -> None:
        item = _item(line) or ""
        if box := _BOX.match(item):
            self.counts["observation_rule_matches"] += 1
            if len(box["label"]) > 1:
                self.counts["observation_rule_matches_label_over_1_char"] += 1
                if self._is_left(box["label"], path):
                    self.observations.add((path, number))
        if task := _TASK.match(item):  # open: a box with nothing after it counts, too
            is_usual = task["sign"] in " xX"
            self.counts["task_boxes_space_or_x" if is_usual else "task_boxes_other_sign"] += 1
            self.task_boxes.add((path, number))
        plain = _CODE.sub(lambda match: " " * len(match[0]), line)
        wikis = list(_WIKI.finditer(plain))
        if plain != line:
            self.counts["wiki_in_inline_code"] += len(_WIKI.findall(line)) - len(wikis)
        for match in wikis:
            target = match[2].partition("|")[0].partition("#")[0].rstrip("\\").strip()
            inner = line[match.start(2) : match.end(2)]
            self.wiki_links.append(WikiLink(path, number, target, inner, bool(match[1])))
        if "](" in plain:
            for match in _MARKDOWN.finditer(plain):
                link = MarkdownLink(path, number, match[1].strip("<>"))
                self.markdown_links.append(link)
                self.counts["md_links_all"] += 1
                self.counts["md_links_to_md"] += link.leads_to_a_note

    def _is_left(self, label: str, path: str) -> bool:
        """Whether a label of the observation rule is one after links, fields and callouts are out."""
        defined = (_DEFINITION.match(line) for line in self.files[path].lines)
        return not (
            "::" in label
            or label[0] in "!^"
            or _FIELD.match(label)
            or any(match and match[1].casefold() == label.casefold() for match in defined)
        )

    def _count(self, link: WikiLink) -> None:
        counts = self.counts
        counts["wiki_links"] += 1
        counts["wiki_embeds"] += link.is_embed
        counts["wiki_with_alias"] += "|" in link.inner
        counts["wiki_with_escaped_pipe"] += "\\|" in link.inner
        counts["wiki_with_heading"] += "#" in link.before_bar
        counts["wiki_with_block_id"] += "#^" in link.before_bar
        if not link.target:
            counts["wiki_same_note_only"] += 1
            return
        counts["link_target_total"] += 1
        slug = _slug(link.target)
        has_slug = bool(slug) and slug in self._slugs
        counts["link_found_by_spec_slug_of_title"] += has_slug
        if found := self.find(link, LONGEST_TARGET):
            counts[f"link_found_by_{found[0]}"] += 1
            counts["link_found_but_not_by_spec_slug"] += not has_slug
        else:
            self._unfound.add(_key(link.target).removesuffix(".md"))


def _item(line: str) -> str | None:
    """The text of a list item, at any depth and in quotes."""
    match = _ITEM.match(line)
    return match["text"] if match else None


def _key(name: str) -> str:
    return unicodedata.normalize("NFC", name.strip()).casefold()


def _slug(name: str) -> str:
    return _NOT_SLUG.sub("-", name.lower()).strip("-")
