from __future__ import annotations

from pathlib import Path

import pytest

from memoranda.errors import InvalidArgument, OutsideProject
from memoranda.files.local_names import local_name


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with one folder, and a symbolic link `way` to its root."""
    (tmp_path / "notes" / "research").mkdir(parents=True)
    (tmp_path / "way").symlink_to(tmp_path / "notes")
    return tmp_path / "notes"


@pytest.mark.parametrize(
    ("below", "name"),
    [
        ("/Space Lua.md", "Space Lua.md"),
        ("/not/there yet", "not/there yet"),
        ("/research/", "research/"),
        ("//research//a.md", "research/a.md"),
        ("", "."),
        ("/", "./"),
    ],
)
@pytest.mark.parametrize("spelling", ["notes", "way", "./notes"])
def test_an_absolute_path_in_the_project_is_one_of_the_project(
    root: Path, spelling: str, below: str, name: str
) -> None:
    given = f"{root.parent}/{spelling}{below}"
    assert local_name(given, root) == name
    assert local_name(given, root.parent / "way") == name


def test_a_slash_in_front_of_what_the_project_has_is_its_root(root: Path) -> None:
    assert local_name("/research/new/plan.md", root) == "research/new/plan.md"
    assert local_name("/research", root) == "research"


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "/etc",
        "/../research/x",
        "/./research",
        "//research/x",
        "/",
        "//",
        "research/plan",
        "A title, with: signs / in it ",
        "file: a title",
        "/a\0b",
        "/\ud800/x",
        "/x" * 40_000,
        "/" + "x" * 5000,
    ],
)
def test_every_other_name_stays_as_it_is(root: Path, name: str) -> None:
    assert local_name(name, root) == name


def test_what_lies_beside_the_project_is_not_in_it(root: Path) -> None:
    for beside in (f"{root}-2/x.md", str(root.parent), f"{root.parent}/secret.md"):
        assert local_name(beside, root) == beside
    assert local_name(f"{root}/../secret.md", root) == "../secret.md"  # refused like any such path


def test_a_file_url_is_refused_with_the_path_to_give(root: Path) -> None:
    with pytest.raises(InvalidArgument) as caught:
        local_name(f"file://{root}/Space%20Lua.md", root, parameter="directory")
    assert caught.value.parameter == "directory"
    assert caught.value.hint == "Give the path in the project: Space Lua.md"
    for url in ("file:///etc/passwd", "file://[/x", f"file://{root.parent}/secret.md"):
        with pytest.raises(OutsideProject):
            local_name(url, root)
