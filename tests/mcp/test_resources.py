"""What a client reads of memory:// URIs, and what it is offered to read."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any
from urllib.parse import quote

import pytest
from fastmcp import Client
from mcp_types import TextResourceContents
from tests.mcp.conftest import Caller

from mcp import MCPError
from memoranda.container import Container
from memoranda.errors import DatabaseDamaged
from memoranda.files.clock import SystemClock
from memoranda.mcp import note_resources
from memoranda.mcp.guide import GUIDE, instructions
from memoranda.mcp.note_resources import MOST_LISTED
from memoranda.mcp.server import build_server
from memoranda.mcp.session import Session
from memoranda.services.notes import NoteService

INFO = "memory://project_info"
PATHS = (
    "plain.md",
    "Folder Name/With Blanks.md",
    "Ünïcödé/知識.md",
    "deux/cafe\u0301.md",
    "C# tips.md",
    "100% sure.md",
    "per%20cent.md",
    "per cent.md",
    "bad%ffbyte.md",
    "What now?.md",
    "😀.md",
    "😀/🎉 party.md",
    "id/7.md",
    "@home/todo.md",
    "in/@home.md",
    "x & y=z; (1).md",
    'say "hi".md',
    "a|b.md",
    "<tag>.md",
    "[brackets].md",
    "{braces}.md",
    "star*.md",
    "a:b.md",
    "dot.in.name.md",
    "+plus.md",
    "second/decoy.md",
    "project_info.md",
    "sub/project_info.md",
)


def text_of(path: str) -> str:
    return f"# {path}\n\nThe text of this note.\n"


async def read(caller: Caller, uri: str) -> str:
    """The text of a resource, by the URI exactly as it is given."""
    (content,) = (await caller.client.session.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    return content.text


async def read_by_url(caller: Caller, uri: str) -> tuple[str, str | None]:
    """Text and type of a resource, by the URI as a library for URLs makes it anew."""
    (content,) = await caller.client.read_resource(uri)
    assert isinstance(content, TextResourceContents)
    return content.text, content.mime_type


async def refused(caller: Caller, uri: str) -> dict[str, Any]:
    """The error of a resource that cannot be read, with its number on the wire."""
    with pytest.raises(MCPError) as caught:
        await caller.client.session.read_resource(uri)
    error = caught.value.error
    fields: dict[str, Any] = error.data["error"]
    assert error.message.splitlines()[0] == f"{fields['code']}: {fields['message']}"
    assert error.message.splitlines()[1:] == [fields["hint"]] * bool(fields["hint"])
    return fields | {"number": error.code}


@pytest.fixture
async def notes(caller: Caller) -> Caller:
    """A project with a note at every kind of path."""
    for path in PATHS:
        file = caller.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text_of(path), "utf-8")
    await caller.indexed()
    return caller


@pytest.mark.spec("7.3")
async def test_the_uri_in_an_answer_is_read_as_it_is_and_as_a_library_writes_it(
    notes: Caller,
) -> None:
    for path in PATHS:
        reference = await notes.data("read_note", path=path)
        assert reference["file_path"] == path
        assert await read(notes, reference["uri"]) == text_of(path), reference["uri"]
        assert await read_by_url(notes, reference["uri"]) == (text_of(path), "text/markdown")


@pytest.mark.spec("7.3")
async def test_a_percent_encoded_path_is_read_with_and_without_its_slashes(notes: Caller) -> None:
    for path in PATHS:
        for safe in ("/", ""):
            assert await read(notes, f"memory://{quote(path, safe=safe)}") == text_of(path)


@pytest.mark.spec("7.3")
async def test_a_path_is_read_as_it_is_typed(notes: Caller) -> None:
    meaning_something = {"per%20cent.md", "@home/todo.md"}
    as_it_is = [path for path in PATHS if not set(path) & set('<>"|?')]
    for path in set(as_it_is) - meaning_something:
        assert await read(notes, f"memory://{path}") == text_of(path)
    for path in set(as_it_is) - meaning_something - {"project_info.md", "id/7.md"}:
        assert await read(notes, f"memory://{path.removesuffix('.md')}") == text_of(path)


async def test_what_is_percent_encoded_means_what_it_encodes(notes: Caller) -> None:
    assert await read(notes, "memory://per%20cent.md") == text_of("per cent.md")
    (notes.root / "per cent.md").unlink()
    await notes.indexed()
    assert await read(notes, "memory://per%20cent.md") == text_of("per%20cent.md")


async def test_project_info_comes_before_a_note_of_that_name(notes: Caller) -> None:
    for uri in (INFO, "memory://project_info/", "MEMORY://project_info", "memory:///project_info"):
        assert json.loads(await read(notes, uri))["name"] == "Main"
    for uri in ("memory://@second/project_info", "memory://second/project_info"):
        assert json.loads(await read(notes, uri))["name"] == "Second"
    for uri in ("memory://project-info", "memory://project_info.md", "memory://project%5Finfo.md"):
        assert await read(notes, uri) == text_of("project_info.md")
    assert await read(notes, "memory://sub/project_info") == text_of("sub/project_info.md")


async def test_the_guide_is_a_resource(caller: Caller) -> None:
    guide = await read_by_url(caller, "memory://ai_assistant_guide")
    assert guide == (GUIDE, "text/markdown")
    assert await read(caller, "memory://ai_assistant_guide/") == GUIDE


@pytest.mark.spec("7.3")
async def test_an_id_is_read(caller: Caller) -> None:
    await caller.text("write_note", title="One", content="first words")
    assert "first words" in await read(caller, "memory://id/1")
    assert (await refused(caller, "memory://id/99"))["code"] == "NOTE_NOT_FOUND"


async def test_a_title_is_read_when_no_permalink_and_no_path_is_meant(caller: Caller) -> None:
    await caller.text("write_note", title="Deep Work", content="by title", directory="books")
    await caller.text("write_note", title="Elsewhere", content="by path", directory="x")
    (caller.root / "deep.md").write_text("---\ntitle: x/elsewhere\n---\nby title\n", "utf-8")
    await caller.indexed()
    assert "by title" in await read(caller, "memory://Deep%20Work")
    assert "by path" in await read(caller, "memory://x/elsewhere")


async def test_a_note_of_another_project_is_read_also_without_the_at(caller: Caller) -> None:
    await caller.text("write_note", title="Plan", content="of second", project="Second")
    reference = await caller.data("read_note", path="plan", project="Second")
    assert reference["uri"] == "memory://@second/plan"
    assert "of second" in (await read_by_url(caller, reference["uri"]))[0]  # which drops the `@`
    for uri in (
        "@second/plan",
        "second/plan",
        "%40second/plan",
        "@Second/Plan.md",
        "second%2Fplan",
    ):
        assert "of second" in await read(caller, f"memory://{uri}"), uri
    await caller.text("write_note", title="Plan", content="of main", directory="deep/second")
    assert "of second" in await read(caller, "memory://second/plan")
    await caller.text("write_note", title="Plan", content="at the path", directory="second")
    assert "at the path" in await read(caller, "memory://second/plan")
    assert "of second" in await read(caller, "memory://@second/plan")


async def test_a_fragment_is_a_section_if_there_is_one(caller: Caller) -> None:
    body = "intro\n\n# Costs\n\ntwo euros\n\n# Risks\n\nrain\n"
    await caller.text("write_note", title="Plan", content=body)
    for uri in ("memory://plan#costs", "memory://plan#Costs", "memory://plan%23costs"):
        assert (await read(caller, uri)).strip() == "# Costs\n\ntwo euros"
    assert "rain" in await read(caller, "memory://plan#nothing-of-that-name")
    assert (await refused(caller, "memory://none#costs"))["code"] == "NOTE_NOT_FOUND"


REFUSALS = (
    ("memory://", "INVALID_URI", "the path is empty"),
    ("memory://a//b", "INVALID_URI", "'//'"),
    ("memory://a://b", "INVALID_URI", "'://'"),
    ("memory://a%3A%2F%2Fb", "INVALID_URI", "'://'"),
    ("memory://what?", "INVALID_URI", "'?'"),
    ("memory://a|b", "INVALID_URI", "'|'"),
    ("memory://@second", "INVALID_URI", "a path is missing"),
    ("memory://nothing", "NOTE_NOT_FOUND", "'nothing'"),
    ("memory://nothing/at/all%20here", "NOTE_NOT_FOUND", "'nothing/at/all here'"),
    ("memory://@third/x", "PROJECT_NOT_FOUND", "'third'"),
    ("memory://@third/project_info", "PROJECT_NOT_FOUND", "'third'"),
    ("memory://third/project_info", "PROJECT_NOT_FOUND", "'third'"),
    ("memory://..%2F..%2Fetc%2Fpasswd.md", "OUTSIDE_PROJECT", "outside"),
    ("memory://nul%00.md", "NOTE_NOT_FOUND", "nul"),
    ("memory://twin", "AMBIGUOUS_NAME", "2 notes"),
    ("memory://" + "x" * 5000, "INVALID_ARGUMENT", "5,000 characters"),
)


@pytest.mark.spec("7.2")
async def test_what_cannot_be_read_is_an_error_with_code_and_hint(caller: Caller) -> None:
    for folder in ("a", "b"):
        await caller.text("write_note", title="Twin", content="x", directory=folder)
    for uri, code, words in REFUSALS:
        error = await refused(caller, uri)
        assert (error["code"], error["number"]) == (code, -32602), uri
        assert words in error["message"]
        assert code == "INVALID_ARGUMENT" or error["hint"]


async def test_a_miss_in_a_project_whose_at_was_lost_names_both_places(caller: Caller) -> None:
    error = await refused(caller, "memory://second/nothing")
    assert error["message"] == "There is no note 'second/nothing'"
    assert "In the project 'second': There is no note 'nothing'" in error["hint"]


async def test_another_scheme_is_not_ours(caller: Caller) -> None:
    with pytest.raises(MCPError, match="Resource not found"):
        await caller.client.session.read_resource("file:///etc/passwd")


async def test_what_nobody_foresaw_is_an_error_without_details(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the secret detail")

    monkeypatch.setattr(NoteService, "read", broken)
    error = await refused(caller, "memory://x")
    assert (error["code"], error["number"]) == ("INTERNAL", -32603)
    assert "secret" not in str(error)


async def test_a_note_is_read_again_when_the_index_turns_out_damaged(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    await caller.text("write_note", title="One", content="first words")
    plain, looks = NoteService.read, 0

    async def damaged_once(self: NoteService, name: str, **given: Any) -> Any:
        nonlocal looks
        looks += 1
        if looks == 1:
            raise DatabaseDamaged("memory.db is damaged: malformed")
        return await plain(self, name, **given)

    monkeypatch.setattr(NoteService, "read", damaged_once)
    assert "first words" in await read(caller, "memory://one")


async def test_a_long_note_is_cut_at_a_line_and_says_how_to_read_on(caller: Caller) -> None:
    for project in ("Main", "Second"):
        body = "\n".join(f"line {n} of a long note" for n in range(3000)) + "\n"
        await caller.text("write_note", title="Long", content=body, project=project)
        whole = (await caller.data("read_note", path="long", project=project, max_chars=10**6))[
            "content"
        ]
        text = await read(caller, f"memory://@{project}/long")
        assert len(text) < 20_300
        shown, _, last = text.rstrip().rpartition("\n")
        assert whole.startswith(shown + "\n")
        start = shown.count("\n") + 2
        owner = "" if project == "Main" else ", project='Second'"
        assert last == (
            f"[Cut here: lines 1-{start - 1} of {whole.count(chr(10))}. "
            f"Go on with read_note: path='long'{owner}, start_line={start}]"
        )
        rest = await caller.data("read_note", path="long", project=project, start_line=start)
        assert (shown + "\n" + rest["content"]) == whole[: len(shown) + 1 + len(rest["content"])]


async def test_a_line_that_is_too_long_is_cut_inside(caller: Caller) -> None:
    (caller.root / "wide.md").write_text("x" * 30_000, "utf-8")
    await caller.indexed()
    text = await read(caller, "memory://wide")
    assert text.startswith("x" * 20_000 + "\n[Cut here: lines 1-1 of 1. ")
    assert text.endswith("path='wide', start_line=1, max_chars=200000]")


async def test_the_text_is_that_of_the_file_now(caller: Caller) -> None:
    await caller.text("write_note", title="One", content="old words")
    (caller.root / "one.md").write_bytes(b"---\r\ntitle: One\r\n---\r\nnew words\r\n")
    assert await read(caller, "memory://one") == "---\r\ntitle: One\r\n---\r\nnew words\r\n"


# What is offered


async def test_the_templates_are_told(caller: Caller) -> None:
    templates = {each.uri_template: each for each in await caller.client.list_resource_templates()}
    assert set(templates) == {
        "memory://{path*}",
        "memory://@{project}/{path*}",
        "memory://@{project}/project_info",
    }
    assert templates["memory://{path*}"].mime_type == "text/markdown"
    assert all(each.title and each.description for each in templates.values())


async def test_the_newest_notes_are_listed_after_the_fixed_resources(caller: Caller) -> None:
    for number in range(MOST_LISTED + 5):
        path = caller.root / f"Nöte {number}.md"
        path.write_text("x\n", "utf-8")
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
    await caller.indexed()
    listed = await caller.client.list_resources()
    assert [str(each.uri) for each in listed[:2]] == [INFO, "memory://ai_assistant_guide"]
    notes = listed[2:]
    assert [each.title for each in notes] == [
        f"Nöte {number}" for number in reversed(range(5, MOST_LISTED + 5))
    ]
    assert (notes[0].name, notes[0].mime_type) == ("nöte-34", "text/markdown")
    assert notes[0].description == "note, changed 2023-11-14"
    for each in notes:
        assert await read(caller, str(each.uri)) == "x\n"
    assert len(json.dumps([each.model_dump(mode="json") for each in listed])) < 20_000


async def test_the_list_does_not_wait_for_an_index_that_does_not_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def never() -> Container:
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(note_resources, "LISTING_PATIENCE_S", 0.01)
    async with Client(build_server(Session(never, SystemClock(), patience_s=60))) as client:
        assert len(await client.list_resources()) == 2


async def test_without_a_project_the_list_has_the_fixed_resources(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    (caller.root.parent / "config/config.json").write_text("{}", "utf-8")
    assert len(await caller.client.list_resources()) == 2
    assert (await refused(caller, "memory://x"))["code"] == "PROJECT_NOT_FOUND"


async def test_capabilities_promise_no_more_than_is_kept(caller: Caller) -> None:
    for mode in ("legacy", "auto"):
        async with Client(build_server(caller.session), mode=mode) as client:
            told = client.session.server_capabilities
            assert told is not None
            for lists in (told.tools, told.resources, told.prompts):
                assert lists is not None
                assert not lists.list_changed
            assert told.resources is not None
            assert not told.resources.subscribe
            assert told.completions is None


async def test_a_server_that_only_reads_asks_nobody_to_write(caller: Caller) -> None:
    caller.session.is_read_only = True
    async with Client(build_server(caller.session), mode="legacy") as client:
        told = client.initialize_result
        assert told is not None
        assert told.instructions == instructions(writes=False)
    caller.session.is_read_only = False
    async with Client(build_server(caller.session, toolsets=()), mode="legacy") as client:
        told = client.initialize_result
        assert told is not None
        assert told.instructions == instructions(undoes=False)
