"""No parameter of any tool, prompt or resource reads, changes or betrays what is outside the project."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from fastmcp import Client
from tests.mcp.conftest import Caller, open_container

from memoranda.errors import MemorandaError
from memoranda.files.clock import SystemClock
from memoranda.mcp.declarations import Declaration
from memoranda.mcp.dispatch import call
from memoranda.mcp.errors import error_text
from memoranda.mcp.parameters import Kind, Param
from memoranda.mcp.prompts import PROMPTS
from memoranda.mcp.resources import read_uri
from memoranda.mcp.server import build_server
from memoranda.mcp.session import Session
from memoranda.mcp.table import TOOLS
from memoranda.model.toolset import Toolset

SECRET = "Xerxes-7741"
LINKS = {
    "leak.md": "outside/secret.md",
    "chain.md": "main/leak.md",
    "far": "outside",
    "sub/leak.md": "outside/secret.md",
    "sub/far": "outside/folder",
    "text.md": "outside/secret.txt",
    "key.md": "config/config.json",
    "beside.md": "second/own.md",
    "beside": "second",
    "up": "",
    "self.md": "/proc/self/environ",
    "proc": "/proc/self",
    "gone.md": "outside/missing.md",
    "void": "outside/nowhere",
}
"""Links in the vault, and where they lead, seen from the folder around it."""

FORMS = (
    *(
        "../outside/secret.md",
        "../outside/secret",
        "../outside",
        "..",
        "../",
        "./../outside/new.md",
    ),
    *("sub/../../outside/secret.md", "sub/../../outside/new.md", "....//outside/secret.md"),
    *("../second/own.md", "../config/config.json", "../main-2/x.md"),
    *("..\\outside\\secret.md", "..\\..\\outside", "sub\\..\\..\\outside\\new.md"),
    *("{around}/outside/secret.md", "{around}/outside/secret", "{around}/outside/new.md"),
    *("{root}/../outside/secret.md", "//{around}/outside/secret.md", "/", "/etc/passwd"),
    *("memory://../outside/secret", "memory://@Second/../outside/secret", "memory:///etc/passwd"),
    *("memory://@../outside/secret", "memory://@Main/../outside/secret.md", "memory://@Main/leak"),
    *("memory://%2e%2e/outside/secret", "%2e%2e/outside/secret.md", "%2e%2e%2foutside%2fsecret.md"),
    *("..%2foutside%2fsecret.md", "%252e%252e/outside/secret.md", "..%c0%afoutside/secret.md"),
    *("file://{around}/outside/secret.md", "file:///etc/passwd", "FILE:{around}/outside/secret.md"),
    *("file://localhost{around}/outside/secret.md", "file://{around}/outside/new.md"),
    *("leak.md\0.txt", "../outside/secret.md\0", "\0", "x" * 5000, "../" * 2000 + "etc/passwd"),
    *("~", "~/secret.md", "~root/secret.md", "$HOME/secret.md", "${{HOME}}/secret.md", "`id`"),
    *("C:\\outside\\secret.md", "C:/outside/secret.md", "\\\\host\\share\\x.md", "\\\\?\\C:\\x"),
    *("/proc/self/environ", "/proc/self/cwd/../outside/secret.md", "/dev/stdin", "/dev/zero"),
    *("leak.md", "leak", "chain.md", "far/secret.md", "far/secret", "far", "far/new.md", "far/"),
    *("sub/leak.md", "sub/far/inner.md", "sub/far/new.md", "text.md", "key.md", "beside.md"),
    *("beside/own.md", "beside/new.md", "up/outside/secret.md", "up/outside/new.md", "self.md"),
    *("proc/environ.md", "proc/cwd/x.md", "gone.md", "gone", "void/new.md", "void", "far/*", "*"),
    *("**/*.md", "far/**", "../**", "{around}/outside/*", "[[../outside/secret]]", "../*"),
)
"""Every way to write a place outside, or a link to one."""

NOTE = "# Plan\n\n- [fact] ours #tag\n- about [[leak]]\n- about [[../outside/secret]]\n"
VALID: dict[str, dict[str, Any]] = {
    "write_note": {"title": "New", "content": "x", "overwrite": True},
    "read_note": {"path": "plan.md"},
    "edit_note": {"path": "plan.md", "content_updates": "x"},
    "delete_note": {"path": "plan.md"},
    "search_notes": {"query": "ours"},
    "build_context": {"path": "plan.md"},
    "create_memory_project": {"name": "Made", "path": "made"},
    "move_note": {"path": "plan.md", "destination": "moved.md"},
    "delete_memory_project": {"name": "Nothing"},
    "search": {"query": "ours"},
    "fetch": {"id": "plan"},
}
"""What each tool is called with beside the one parameter that is tried."""
NAMES_OF_PLACES = {"path", "directory", "destination", "title", "id"}
"""Parameters that name a file or a folder. They are tried with every form, the others with each eleventh."""
FEW = 11


@pytest.fixture
async def remote(project_root: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Caller]:
    """A client over HTTP of a vault with links to secrets; it may make projects in an empty folder."""
    around = project_root.parent
    for folder in ("outside/folder", "shared", "home", "main/sub"):
        (around / folder).mkdir(parents=True)
    for name in ("outside/secret.md", "outside/folder/inner.md", "second/own.md", "home/secret.md"):
        (around / name).write_text(f"# {SECRET}\n\n- [{SECRET}] {SECRET}\n", "utf-8")
    (around / "outside/secret.txt").write_text(SECRET, "utf-8")
    for name, target in LINKS.items():
        (project_root / name).symlink_to(around / target)
    config = around / "config/config.json"
    settings = json.loads(config.read_text("utf-8"))
    settings |= {"projects_root": str(around / "shared"), "unknown": SECRET}
    del settings["projects"]["Second"]
    config.write_text(json.dumps(settings), "utf-8")
    monkeypatch.setenv("HOME", str(around / "home"))
    monkeypatch.setenv("MARKER", SECRET)
    session = Session(open_container, SystemClock(), is_remote=True)
    async with Client(build_server(session, toolsets=list(Toolset))) as client:
        caller = Caller(client, session, project_root)
        _put_back(project_root)
        await caller.indexed()
        yield caller


def _put_back(root: Path) -> None:
    """The note that the calls are about, which some of them move or delete."""
    (root / "plan.md").write_text(NOTE, "utf-8")


def _outside(root: Path) -> dict[str, bytes | str | None]:
    """All that is outside the vault and no business of ours: paths with bytes, folders, targets of links."""
    around = root.parent
    found: dict[str, bytes | str | None] = {}
    for path in sorted(around.rglob("*")):
        name = path.relative_to(around).as_posix()
        if name.split("/")[0] in ("main", "shared") or name.startswith("config/"):
            continue
        found[name] = path.read_bytes() if path.is_file() else None
    for name in LINKS:
        found[f"main/{name}"] = str((root / name).readlink())
    settings = json.loads((around / "config/config.json").read_text("utf-8"))
    for name, entry in settings.pop("projects").items():
        assert name == "Main" or Path(entry["path"]).is_relative_to(around / "shared")
    found["config/config.json"] = json.dumps(settings)
    return found


def _values(param: Param, form: str) -> Iterator[Any]:
    match param.kind:
        case Kind.TEXT:
            yield form
        case Kind.TEXTS:
            yield [form]
        case Kind.MAPPING:
            yield {form: form}
        case _:
            return


def _tried() -> list[tuple[Declaration, Param]]:
    return [
        (tool, param)
        for tool in TOOLS
        for param in tool.all_params
        if any(True for _ in _values(param, ""))
    ]


def _forms(root: Path) -> list[str]:
    return [form.format(root=root, around=root.parent) for form in FORMS]


def _told(form: str, text: str) -> str:
    """What an answer says beside what it was asked."""
    for spelled in (form, json.dumps(form)[1:-1], repr(form)[1:-1]):
        text = text.replace(spelled, "") if spelled else text
    return text


def test_every_tool_that_needs_arguments_is_called_with_them() -> None:
    for tool in TOOLS:
        needed = {param.name for param in tool.params if param.required}
        assert needed <= set(VALID.get(tool.name, {})), tool.name
    assert {tool.name for tool, _ in _tried()} == {tool.name for tool in TOOLS}


async def test_no_parameter_of_a_tool_leads_out(remote: Caller) -> None:
    root, session = remote.root, remote.session
    before = _outside(root)
    forms = _forms(root)
    for tool, param in _tried():
        is_place = param.name in NAMES_OF_PLACES and tool.name != "search_notes"
        for form in forms if is_place else forms[::FEW]:
            for value in _values(param, form):
                if not (root / "plan.md").exists():
                    _put_back(root)
                arguments = VALID.get(tool.name, {}) | {param.name: value}
                reply = await call(tool, session, arguments)
                text = _told(form, "\n".join(reply.blocks))
                assert SECRET not in text, (tool.name, param.name, form, text[:500])
                assert "INTERNAL" not in text, (tool.name, param.name, form)
        assert _outside(root) == before, (tool.name, param.name)


async def test_no_resource_or_prompt_leads_out(remote: Caller) -> None:
    root, session = remote.root, remote.session
    before = _outside(root)
    for form in _forms(root)[::3]:
        for name in dict.fromkeys((form, quote(form, safe="", errors="replace"))):
            for uri in (
                *(f"memory://{name}", f"memory://@{name}/plan", f"memory://@Main/{name}"),
                f"memory://{name}/project_info",
            ):
                try:
                    text = (await read_uri(session, uri)).text
                except MemorandaError as error:
                    text = error_text(error)
                assert SECRET not in _told(name, _told(form, text)), uri
        for prompt in PROMPTS:
            arguments = {param.name: form for param in prompt.params}
            try:
                text = await prompt.run(session, arguments)
            except MemorandaError as error:
                text = error_text(error)
            assert SECRET not in _told(form, text), (prompt.name, form)
    assert _outside(root) == before


TWINS = (
    ("leak.md", "gone.md"),
    ("leak", "gone"),
    ("far/x.md", "void/x.md"),
    ("far/secret.md", "far/secrez.md"),
    ("far", "void"),
    ("FAR/FOLDER/x.md", "FAR/FOLDEX/x.md"),
    ("far/FOLDER/x.md", "far/FOLDEX/x.md"),
    ("far/FOLDER", "far/FOLDEX"),
    ("../OUTSIDE", "../OUTSIDX"),
    ("../OUTSIDE/x.md", "../OUTSIDX/x.md"),
    ("../outside /x.md", "../outsidx /x.md"),
    ("up/OUTSIDE", "up/OUTSIDX"),
    ("{around}/outside/secret.md", "{around}/outside/secrez.md"),
    ("{around}/OUTSIDE", "{around}/OUTSIDX"),
    ("file://{around}/outside/secret.md", "file://{around}/outside/secrez.md"),
)
"""Names of something outside, and of nothing there; they differ in letters that are put back."""


async def test_an_answer_does_not_tell_what_is_outside(remote: Caller) -> None:
    root, session = remote.root, remote.session
    for pair in TWINS:
        there, gone = (name.format(around=root.parent) for name in pair)
        for tool, param in _tried():
            if param.name not in NAMES_OF_PLACES or tool.name == "create_memory_project":
                continue
            told = []
            for name in (there, gone):
                if not (root / "plan.md").exists():
                    _put_back(root)
                reply = await call(tool, session, VALID.get(tool.name, {}) | {param.name: name})
                text = "\n".join(reply.blocks)
                for mine, other in zip(gone.split("/"), there.split("/"), strict=True):
                    if mine != other:
                        text = text.replace(
                            mine.strip().removesuffix(".md"), other.strip().removesuffix(".md")
                        )
                told.append(text if reply.is_error else "done")  # then it was a name in the vault
            assert told[0] == told[1], (tool.name, param.name, pair)


async def test_what_is_left_out_does_not_tell_where_a_link_leads(remote: Caller) -> None:
    root = remote.root
    (root / "dir-a").symlink_to(root.parent / "outside")
    (root / "dir-b").symlink_to(root.parent / "nothing")
    (root / "pic.png").symlink_to(root.parent / "outside")
    await remote.indexed()
    skipped = json.loads((await read_uri(remote.session, "memory://project_info")).text)["skipped"]
    reasons = {each["path"]: each["reason"] for each in skipped}
    assert reasons["leak.md"] == reasons["gone.md"] == "a link out of the project"
    assert reasons["dir-a"] == reasons["dir-b"] == reasons["void"] == reasons["far"]
    assert "pic.png" not in reasons
    assert SECRET not in json.dumps(skipped)
