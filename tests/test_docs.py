"""The documentation holds together: links, index, decisions, and tables that mirror the code."""

from __future__ import annotations

import functools
import importlib
import inspect
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote

import pytest

import memoranda.errors
from memoranda.db import fts
from memoranda.db.tables import metadata
from memoranda.history import schema as history_schema
from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.source import decode
from memoranda.model.address import NotePath
from memoranda.model.note import ParsedNote

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
INDEX = DOCS / "README.md"
DEPARTURES = DOCS / "explanation" / "departures.md"
PAGES = sorted(
    [*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]
)
DECISIONS = sorted((DOCS / "adr").glob("*.md"))
DECISION_SECTIONS = [
    "Context",
    "Decision",
    "Consequences",
    "Alternatives",
    "How we would notice it was wrong",
]
SPECIFIED = """
    BaseService McpContainer engine session_factory entity_repo observation_repo relation_repo
    project_repo search_repo entity_service search_service sync_service file_service context_service
    link_resolver sync_coordinator create_entity update_entity delete_entity get_by_permalink
    get_by_file_path resolve_path search index_entity remove_from_index reindex_all full_sync sync_file
    remove_file detect_moves build_context resolve_pending
    """
OURS = {
    "Container": "memoranda.container",
    "ContextService": "memoranda.services.context",
    "EntityService": "memoranda.services.entity",
    "FullTextIndex": "memoranda.ports",
    "LinkResolver": "memoranda.services.link_resolver",
    "SearchService": "memoranda.services.search",
    "Store": "memoranda.repositories.store",
    "SyncService": "memoranda.sync.sync_service",
    "Workspace": "memoranda.workspace",
}
VAULT = ROOT / "examples" / "vault"

# What no file of the repository may name. The patterns are put together here, so that this file does
# not hold what it looks for.
FORBIDDEN = {
    "a registry": "|".join(
        re.escape(".".join(parts))
        for parts in (
            ("pypi", "org"),
            ("files", "pythonhosted", "org"),
            ("pypi", "python", "org"),
            ("registry", "npmjs", "org"),
            ("proxy", "golang", "org"),
            ("crates", "io"),
        )
    )
    + "|--(?:extra-)?index"
    + "-url",
    "a path of one machine": r"(?<![\w.~\-\]])/(?:"
    + "|".join(("ro" + "ot/", "wo" + "rk/", "tm" + "p/w/", "home/(?!me/|you/|user/)"))
    + ")",
}
TEXT_SUFFIXES = {
    ".cfg",
    ".ini",
    ".json",
    ".md",
    ".mako",
    ".py",
    ".sh",
    ".toml",
    ".txt",
    ".yaml",
    ".yml",
    "",
}


def page_id(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def prose(path: Path) -> str:
    """The page without code blocks and inline code, where nothing is a link."""
    text = re.sub(
        r"^(```|~~~).*?^\1\s*$", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    return re.sub(r"`[^`\n]*`", "", text)


def links(path: Path) -> Iterator[str]:
    for match in re.finditer(r"\]\((?:<([^>]*)>|([^)\s]+))[^)]*\)", prose(path)):
        target = match[1] or match[2]
        if not re.match(r"[a-z]+:", target):
            yield target


@functools.cache
def anchors(path: Path) -> frozenset[str]:
    text = re.sub(
        r"^(```|~~~).*?^\1\s*$", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    found: set[str] = set()
    for match in re.finditer(r"^#{1,6} +(.+?) *#*$", text, flags=re.MULTILINE):
        words = re.sub(r"[^\w\- ]", "", match[1].lower()).replace(" ", "-")
        name, number = words, 0
        while name in found:
            number += 1
            name = f"{words}-{number}"
        found.add(name)
    return frozenset(found)


def resolve(page: Path, target: str) -> tuple[Path, str]:
    name, _, anchor = target.partition("#")
    return ((page.parent / unquote(name)).resolve() if name else page), unquote(anchor)


def table_rows(path: Path, heading: str | None = None) -> list[list[str]]:
    """Cells of all table rows, or of those below one heading, without code marks."""
    text = path.read_text("utf-8")
    if heading is not None:
        match = re.search(
            rf"^(#+) {re.escape(heading)}\n(.*?)(?=^#{{1,2}} |\Z)",
            text,
            flags=re.MULTILINE | re.DOTALL,
        )
        assert match, f"{page_id(path)} has no section {heading!r}"
        text = match[2]
    return [
        [cell.strip().strip("`") for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])]
        for line in text.splitlines()
        if line.startswith("|")
    ]


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    dead = []
    for target in links(page):
        path, anchor = resolve(page, target)
        if not path.exists():
            dead.append(f"{target}: no such file")
        elif not path.is_relative_to(ROOT):
            dead.append(f"{target}: outside the repository")
        elif anchor and anchor not in anchors(path):
            dead.append(f"{target}: no such heading")
    assert dead == []


def test_every_page_is_reached_from_the_index() -> None:
    reached, waiting = {INDEX}, [INDEX]
    while waiting:
        page = waiting.pop()
        for target in links(page):
            path, _ = resolve(page, target)
            if path.suffix == ".md" and path.is_relative_to(DOCS) and path not in reached:
                reached.add(path)
                waiting.append(path)
    assert [page_id(page) for page in sorted(set(DOCS.rglob("*.md")) - reached)] == []


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_a_page_has_one_title_at_its_start(page: Path) -> None:
    titles = re.findall(r"^# .+$", prose(page), flags=re.MULTILINE)
    assert len(titles) == 1
    assert page.read_text("utf-8").startswith("# ")


def test_decisions_are_numbered_without_a_gap() -> None:
    names = [path.name for path in DECISIONS]
    assert all(re.fullmatch(r"\d{4}-[a-z0-9]+(?:-[a-z0-9]+)*\.md", name) for name in names)
    assert [int(name[:4]) for name in names] == list(range(1, len(names) + 1))


@pytest.mark.parametrize("page", DECISIONS, ids=page_id)
def test_a_decision_has_its_sections(page: Path) -> None:
    text = page.read_text("utf-8")
    assert text.startswith(f"# {int(page.name[:4])}. ")
    assert re.search(r"^Status: (?:proposed|accepted|superseded)\b", text, flags=re.MULTILINE)
    assert re.search(r"^Date: \d{4}-\d{2}-\d{2}$", text, flags=re.MULTILINE)
    assert re.findall(r"^## (.+)$", text, flags=re.MULTILINE) == DECISION_SECTIONS
    for section in re.split(r"^## .+$", text, flags=re.MULTILINE)[1:]:
        assert section.strip()
    assert 20 <= len(text.splitlines()) <= 50


def test_the_index_lists_every_decision_under_its_title() -> None:
    text = INDEX.read_text("utf-8")
    for page in DECISIONS:
        title = page.read_text("utf-8").splitlines()[0].partition(". ")[2]
        assert f"[{title}](adr/{page.name})" in text


def test_the_departures_mention_every_decision() -> None:
    mentioned = {resolve(DEPARTURES, target)[0] for target in links(DEPARTURES)}
    assert [page.name for page in DECISIONS if page not in mentioned] == []


@pytest.mark.spec("8")
def test_every_operation_of_the_specification_has_a_part_of_ours_that_exists() -> None:
    rows = table_rows(DEPARTURES, "Operations of section 8")[2:]
    assert set(re.findall(r"\w+", " ".join(row[1] for row in rows))) == set(SPECIFIED.split())
    named = re.findall(r"\b([A-Z]\w+)\.(\w+)", " ".join(row[2] for row in rows))
    assert {name for name, _ in named} <= set(OURS)
    for name, member in named:
        cls = getattr(importlib.import_module(OURS[name]), name)
        assert hasattr(cls, member) or member in inspect.get_annotations(cls), f"{name}.{member}"


def test_every_error_has_its_row() -> None:
    rows = {row[0]: row for row in table_rows(DOCS / "reference" / "errors.md")}
    classes = [
        cls
        for _, cls in inspect.getmembers(memoranda.errors, inspect.isclass)
        if issubclass(cls, memoranda.errors.MemorandaError)
    ]
    assert len(classes) > 10
    assert {cls.__name__: cls.code for cls in classes} == {
        name: row[1] for name, row in rows.items() if name[:1].isupper()
    }


@pytest.mark.parametrize("name", sorted(metadata.tables))
def test_every_column_of_a_table_is_described(name: str) -> None:
    page = DOCS / "reference" / "database.md"
    described = [row[0] for row in table_rows(page, f"Table `{name}`")[2:]]
    assert described == [column.name for column in metadata.tables[name].columns]


def test_every_column_of_the_full_text_table_is_described() -> None:
    page = DOCS / "reference" / "database.md"
    rows = table_rows(page, f"Full-text table `{fts.TABLE}`")[2:]
    assert [(row[0], row[1]) for row in rows] == [
        (name, "yes" if name in fts.INDEXED else "no") for name in fts.COLUMNS
    ]


@pytest.mark.parametrize("name", ["change", "content"])
def test_every_column_of_the_history_is_described(name: str) -> None:
    page = DOCS / "reference" / "database.md"
    described = [row[0] for row in table_rows(page, f"History table `{name}`")[2:]]
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as conn:
        history_schema.bring_up(conn)
        columns = [row[1] for row in conn.execute(f"PRAGMA table_info({name})")]
        text = page.read_text("utf-8")
        assert f"`user_version` is {history_schema.VERSION})" in text
        assert f"`application_id` is 0x{history_schema.APPLICATION_ID:X})" in text
    assert described == columns


def repository_files() -> list[Path]:
    """Text files of the repository: what .gitignore names is left out."""
    ignored = [line.strip("/") for line in (ROOT / ".gitignore").read_text("utf-8").split() if line]
    found, waiting = [], [ROOT]
    while waiting:
        for path in waiting.pop().iterdir():
            relative = path.relative_to(ROOT)
            if path.name == ".git" or any(
                path.match(pattern) or relative.as_posix() == pattern for pattern in ignored
            ):
                continue
            if path.is_dir():
                waiting.append(path)
            elif path.suffix in TEXT_SUFFIXES:
                found.append(path)
    return sorted(found)


@pytest.mark.parametrize("what", sorted(FORBIDDEN))
def test_no_file_names(what: str) -> None:
    pattern = re.compile(FORBIDDEN[what])
    files = repository_files()
    assert {"README.md", "constraints.txt"} <= {page_id(path) for path in files}
    named = [
        f"{page_id(path)}: {match[0]}"
        for path in files
        for match in pattern.finditer(path.read_text("utf-8", "replace"))
    ]
    assert named == []


def test_the_example_has_notes_of_every_kind() -> None:
    notes = sorted(VAULT.rglob("*.md"))
    assert 20 <= len(notes) <= 35
    assert 4 <= len({note.parent for note in notes}) <= 8
    texts = {note.relative_to(VAULT).as_posix(): note.read_text("utf-8") for note in notes}
    assert "Start here.md" in texts
    assert "" in texts.values()
    everything = "\n".join(texts.values())
    for feature in (
        "aliases:",
        "permalink:",
        "verified:",
        "stale_after:",
        "[occurred:: ",
        "[supersedes:: ^",
        "- [ ] ",
        "> [!",
        "[^",
        "%% ",
        "<!-- ",
        "```",
        "~~~",
        "![[",
        "\\|",
        "%20",
        "#^",
    ):
        assert feature in everything, feature
    for script in ("[\u4e00-\u9fff]", "[\u0400-\u04ff]", "[à-ÿ]"):
        assert any(re.search(script, name) for name in texts), script


def read_example(path: str) -> ParsedNote:
    return parse_note(decode((VAULT / path).read_bytes()).text, NotePath(path))


def test_the_example_hides_facts_and_links_where_it_says_so() -> None:
    decoys = read_example("instruments/Mount controller.md")
    assert [fact.category for fact in decoys.observations] == ["safety", "bug", "formula"]
    assert [link.target for link in decoys.links] == ["Roll-off roof", "Pier"]
    facts = read_example("library/How we write facts.md").observations
    assert {fact.heading_path for fact in facts} == {("How we write facts", "Facts")}
    assert len(facts) == 15
    assert read_example("Empty page.md").title == "Empty page"


def test_one_header_of_the_example_is_broken_on_purpose() -> None:
    broken = [
        note.name
        for note in sorted(VAULT.rglob("*.md"))
        if read_example(note.relative_to(VAULT).as_posix()).problems
    ]
    assert broken == ["Header that broke.md"]
