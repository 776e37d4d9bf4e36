"""Every hard case has its test; see README.md in this folder."""

from __future__ import annotations

import ast
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

CASES = {  # kind -> ids
    "frontmatter": """
        fm-one-bad-file-blocks-none fm-impossible-date fm-deep-nesting fm-alias-bomb
        fm-self-reference fm-unknown-tag fm-yaml-1-1-guesses fm-tags-forms fm-tag-hash-unquoted
        fm-wiki-link-values fm-hr-first-line fm-rule-in-body fm-crlf-roundtrip fm-double-block
        fm-library-reserved-keys fm-brace-first-line fm-toml-json fm-unclosed fm-blank-line-first
        fm-metadata-filter
    """,
    "parsing": """
        obs-task-signs obs-callout obs-timecodes obs-reference-links obs-inline-field
        obs-unclosed-fence obs-nested-and-numbered obs-deep-list obs-continuation
        obs-duplicates-and-permalinks obs-non-ascii-category obs-diff-keeps-ids parse-encodings
        parse-line-ends
    """,
    "links": """
        link-reference-definitions link-forms link-target-deleted-and-back link-title-change
        link-brackets link-unicode-forms link-markdown-style rel-prose rel-context-and-case
        rel-self-and-empty
    """,
    "permalinks": """
        perm-same-title-many-folders perm-collide-by-signs perm-case-pair perm-prefix
        perm-write-note-names perm-write-note-same-name perm-symlinks uri-rules
    """,
    "sync": """
        sync-atomic-save sync-double-save sync-half-written sync-identical-files sync-move-chain
        sync-folder-rename sync-git-checkout sync-hidden-and-temp sync-unreadable sync-root-missing
        sync-stale-read sync-multi-project sync-created-modified
    """,
    "mcp": """
        mcp-list-arguments mcp-scalar-arguments mcp-json-looking-content mcp-unicode
        mcp-big-results mcp-edit-sections
    """,
    "crash": """
        crash-disk-full crash-db-deleted crash-db-corrupt crash-db-locked crash-home-problems
        crash-many-open-files bytes-untouched
    """,
    "search": """
        search-signs search-fields-not-text search-rank-direction search-empty-and-long
        search-accents-and-case search-stems search-deleted-and-updated search-pages-and-filters
        search-vector-missing search-vector-model-change search-snippets
    """,
}

OPEN: list[str] = []  # what their tests cannot show yet follows "Open:" there

LIVE = {  # file -> ids of the cases that it has with a watcher, or with real servers
    "watch": """
        sync-atomic-save sync-double-save sync-half-written sync-folder-rename sync-git-checkout
        sync-hidden-and-temp sync-root-missing sync-stale-read
    """,
    "crash_live": "crash-many-open-files crash-db-deleted crash-db-locked",
    "mcp_live": """
        mcp-stdout-clean mcp-unicode mcp-parallel mcp-disconnect mcp-two-servers
        mcp-project-precedence
    """,
}

PROCESSES = ["mcp-stdout-clean", "mcp-parallel", "mcp-disconnect", "mcp-two-servers"]
PROCESSES += ["mcp-project-precedence"]
"""What only real processes show: these have no test without one."""

HERE = Path(__file__).parent
SHARED = Path(os.environ.get("MEMORANDA_SHARED", HERE.parents[2] / "shared"))
LIST = SHARED / "cases" / "cases.jsonl"

with_list = pytest.mark.skipif(not LIST.exists(), reason="the shared list of cases is missing")


def ids(kind: str) -> list[str]:
    """The cases of one kind, in the order of the shared list."""
    return CASES[kind].split()


def functions(file: str) -> dict[str, str]:
    """Name -> docstring of every test function of one file."""
    tree = ast.parse((HERE / f"test_{file}.py").read_text("utf-8"))
    return {
        node.name: ast.get_docstring(node) or ""
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
    }


def named(case: str) -> str:
    """The name of a case's first test; that of the others begins with it."""
    return f"test_{case.replace('-', '_')}"


def listed(kind: str) -> dict[str, Any]:
    """The cases of one kind in the shared list, by their ids."""
    cases = map(json.loads, LIST.read_text("utf-8").splitlines())
    return {
        case["id"]: case for case in cases if case["kind"] == kind and case["id"] not in PROCESSES
    }


def test_there_are_ninety_four_cases() -> None:
    assert len({case for kind in CASES for case in ids(kind)} | {*PROCESSES}) == 94


@pytest.mark.parametrize("kind", CASES)
def test_every_case_has_a_test_that_names_its_source(kind: str) -> None:
    found = functions(kind)
    for case in ids(kind):
        assert "Seen in:" in found.get(named(case), ""), case


@pytest.mark.parametrize("kind", CASES)
def test_every_test_is_of_a_case(kind: str) -> None:
    begins = tuple(map(named, ids(kind)))
    assert [name for name in functions(kind) if not name.startswith(begins)] == []


@pytest.mark.parametrize("kind", CASES)
@with_list
def test_the_cases_are_those_of_the_shared_list(kind: str) -> None:
    assert ids(kind) == list(listed(kind))


@pytest.mark.parametrize("kind", CASES)
@with_list
def test_every_source_of_the_shared_list_is_named(kind: str) -> None:
    found = functions(kind)
    for case, told in listed(kind).items():
        seen = found[named(case)]
        for owner, number in re.findall(r"([\w.-]+/[\w.-]+)#(\d+)", told["source"]):
            assert owner in seen, case
            assert f"#{number}" in seen, case


@pytest.mark.parametrize("kind", CASES)
@with_list
def test_every_wish_of_the_shared_list_is_answered(kind: str) -> None:
    found = functions(kind)
    for case, told in listed(kind).items():
        assert ("Better," in found[named(case)]) == bool(told["expect"].get("better")), case


def test_what_is_open_is_said_where_it_is_tested() -> None:
    found = {name: told for kind in CASES for name, told in functions(kind).items()}
    assert [name for name, told in found.items() if "Open:" in told] == list(map(named, OPEN))


@pytest.mark.parametrize("file", LIVE)
def test_every_case_of_watching_and_servers_has_its_tests(file: str) -> None:
    found, cases = functions(file), LIVE[file].split()
    for case in cases:
        assert "Seen in:" in found.get(named(case), ""), case
    assert [name for name in found if not name.startswith(tuple(map(named, cases)))] == []


@with_list
def test_every_source_of_these_is_named() -> None:
    cases = {one["id"]: one for one in map(json.loads, LIST.read_text("utf-8").splitlines())}
    for file, ids_of_file in LIVE.items():
        found = functions(file)
        for case in ids_of_file.split():
            for owner, number in re.findall(r"([\w.-]+/[\w.-]+)#(\d+)", cases[case]["source"]):
                assert owner in found[named(case)], case
                assert f"#{number}" in found[named(case)], case
