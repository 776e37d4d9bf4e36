"""Absolute paths: of the project's own folder they are taken, of all else refused as they were given."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.mcp.conftest import Caller


async def test_every_tool_takes_an_absolute_path_in_the_project(
    caller: Caller, tmp_path: Path
) -> None:
    (tmp_path / "way").symlink_to(caller.root)
    root, way = str(caller.root), str(tmp_path / "way")
    await caller.text("write_note", title="Space Lua", content="one", directory=f"{root}/lang/")
    note = caller.root / "lang" / "space-lua.md"
    assert note.exists()
    for name in (str(note), f"{way}/lang/space-lua.md", f"{root}/lang/space-lua"):
        assert (await caller.data("read_note", path=name))["file_path"] == "lang/space-lua.md"
        context = await caller.data("build_context", path=name)
        assert context["contexts"][0]["file_path"] == "lang/space-lua.md"
    await caller.text("edit_note", path=str(note), content_updates="two")
    assert note.read_text("utf-8").endswith("two")
    listed = await caller.data("list_directory", path=f"{way}/lang")
    assert listed["path"] == "lang"
    await caller.text("move_note", path=str(note), destination=f"{way}/other/Lua.md")
    assert (caller.root / "other" / "Lua.md").exists()
    assert (await caller.data("note_history", path=f"{root}/other/Lua.md"))["changes"]
    await caller.text("delete_note", path=f"{root}/other/Lua.md")
    assert not (caller.root / "other" / "Lua.md").exists()


async def test_one_slash_in_front_is_the_root_of_the_project(caller: Caller) -> None:
    await caller.text("write_note", title="A", content="x", directory="lang")
    await caller.text("write_note", title="B", content="x", directory="/lang/in")
    assert (caller.root / "lang" / "in" / "b.md").exists()
    await caller.text("move_note", path="/lang/a.md", destination="/lang/C.md")
    assert (caller.root / "lang" / "C.md").exists()


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "/etc/passwd.md", "{root}/../secret", "{root}-2/x"]
)
async def test_what_is_outside_is_refused_as_it_was_given(
    caller: Caller, tmp_path: Path, path: str
) -> None:
    (tmp_path / "secret.md").write_text("secret", "utf-8")
    path = path.format(root=caller.root)
    shown = path.removeprefix(f"{caller.root}/")
    for tool, arguments in (
        ("read_note", {"path": path}),
        ("edit_note", {"path": path, "content_updates": "x"}),
        ("delete_note", {"path": path}),
        ("move_note", {"path": path, "destination": "x.md"}),
        ("build_context", {"path": path}),
    ):
        error = await caller.error(tool, **arguments)
        assert (error["code"], error["path"]) == ("OUTSIDE_PROJECT", shown), tool
        assert "without '/' in front" in error["hint"]
    error = await caller.error("write_note", title="x", content="x", directory=path)
    assert error["code"] == "OUTSIDE_PROJECT"
    assert (tmp_path / "secret.md").read_text("utf-8") == "secret"


async def test_a_file_url_is_told_the_path_in_the_project(caller: Caller) -> None:
    await caller.text("write_note", title="Space Lua", content="one")
    url = f"file://{caller.root}/space%2Dlua.md"
    error = await caller.error("read_note", path=url)
    assert error["hint"] == "Give the path in the project: space-lua.md"
    error = await caller.error("move_note", path="space-lua", destination=url)
    assert error["parameter"] == "destination"


async def test_a_title_where_none_is_taken_says_so(caller: Caller) -> None:
    await caller.text("write_note", title="Space Lua", content="one", directory="lang")
    for tool in ("delete_note", "move_note"):
        more = {"destination": "x.md"} if tool == "move_note" else {}
        error = await caller.error(tool, path="Space Lua", **more)
        assert error["message"] == (
            "No titles are taken here: 'Space Lua' is the title of lang/space-lua"
        )
        assert error["hint"] == "Give the permalink instead: lang/space-lua."
