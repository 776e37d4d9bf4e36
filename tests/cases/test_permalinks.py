"""Names, addresses and paths that other tools stumbled over. See README.md in this folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from memoranda.model.address import NotePath, path_hash


async def test_perm_same_title_many_folders(vault: Any) -> None:
    """One title in many folders: every note has its permalink, and keeps it through a rebuild.

    Seen in: basicmachines-co/basic-memory#169, the powershell-docs and dendron-site vaults.
    Better, taken: notes of one title in different folders never touch each other's permalinks. Within
    one folder they do (see the test below).
    """
    vault.write_all(
        {
            "a/index.md": "anvil text\n",
            "b/index.md": "bucket text\n",
            "c/README.md": "---\ntitle: index\n---\ncandle text\n",
            "d/Index.md": "dagger text\n",
        }
    )
    await vault.sync()
    before = vault.permalinks()
    assert before == {
        "a/index.md": "a/index",
        "b/index.md": "b/index",
        "c/README.md": "c/index",
        "d/Index.md": "d/index",
    }
    await vault.rebuild()
    await vault.sync()
    assert vault.permalinks() == before
    assert await vault.search("candle") == ["c/README.md"]
    vault.write("e/index.md", "ember text\n")
    vault.delete("a/index.md")
    await vault.sync()
    after = vault.permalinks()
    assert after.pop("e/index.md") == "e/index"
    assert after == {path: name for path, name in before.items() if path != "a/index.md"}


async def test_perm_same_title_many_folders_in_one_folder(vault: Any) -> None:
    """Better, not taken within one folder: a second note of a title takes the short form from both.

    So permalinks do not depend on which note came first (FORMAT). The form with a hash names the first
    note before, meanwhile and after.
    """
    vault.write("p/one.md", "---\ntitle: Same\n---\nfirst\n")
    await vault.sync()
    assert vault.permalinks() == {"p/one.md": "p/same"}
    hashed = f"p/same-{path_hash(NotePath('p/one.md'))}"
    assert (await vault.read(hashed))["file_path"] == "p/one.md"
    vault.write("p/two.md", "---\ntitle: Same\n---\nsecond\n")
    await vault.sync()
    assert vault.permalinks()["p/one.md"] == hashed
    assert vault.permalinks()["p/two.md"] == f"p/same-{path_hash(NotePath('p/two.md'))}"
    vault.delete("p/two.md")
    await vault.sync()
    assert vault.permalinks() == {"p/one.md": "p/same"}
    assert (await vault.read(hashed))["file_path"] == "p/one.md"


async def test_perm_collide_by_signs(vault: Any) -> None:
    """Names that differ in signs alone have permalinks that differ, and keep them when one goes.

    Seen in: the oldwinter-garden, logseq-docs and dendron-site vaults.
    """
    names = (
        "∑ list.md", "📈 list.md", "term.page.md", "term___page.md", "term page!.md", "Term-Page.md",
    )  # fmt: skip
    vault.write_all({name: f"text {number}\n" for number, name in enumerate(names)})
    await vault.sync()
    before = vault.permalinks()
    assert set(before) == set(names)
    vault.delete("term.page.md")
    await vault.sync()
    del before["term.page.md"]
    assert vault.permalinks() == before
    for name, permalink in before.items():
        assert (await vault.read(permalink))["file_path"] == name


async def test_perm_case_pair(vault: Any) -> None:
    """Two names that differ in case are two notes, and a path means the one that is spelt so.

    Seen in: foambubble/foam#1303, basicmachines-co/basic-memory#1281.
    Better, not taken: no report names notes that would clash where case is ignored; FORMAT asks for none, and
    the index tells both apart everywhere.
    """
    vault.write("foo.md", "lower\n")
    if (vault.root / "FOO.md").exists():
        pytest.skip("this file system ignores case")
    vault.write_all({"Foo.md": "upper\n", "foo/index.md": "inside\n"})
    await vault.sync()
    assert len(vault.permalinks()) == 3
    assert (await vault.read("Foo.md"))["content"] == "upper\n"
    assert (await vault.read("foo.md"))["content"] == "lower\n"
    assert (await vault.read("foo/index.md"))["content"] == "inside\n"


async def test_perm_prefix(vault: Any) -> None:
    """A name that begins another name means its own note; the signs of LIKE are plain characters.

    Seen in: basicmachines-co/basic-memory#167.
    """
    vault.write_all({"p/lap 7.md": "short\n", "p/lap 7 finished.md": "long\n", "p/lapse.md": "x\n"})
    await vault.sync()
    assert (await vault.read("lap-7"))["content"] == "short\n"
    assert await vault.search("", permalink="p/lap-7") == ["p/lap 7.md"]
    both = ["p/lap 7 finished.md", "p/lap 7.md"]
    assert await vault.search("", permalink_match="p/lap-7*") == both
    for sign in ("p/lap%", "p/lap_7", "%", "_", "p/lap-_", "p/la%*", "*_7"):
        assert await vault.search("", permalink=sign) == []
        assert await vault.search("", permalink_match=sign) == []


WRITTEN = (
    "Enable/Disable",
    "a\\b",
    "What: now?",
    "1: 12/3/24 ",
    "CON",
    "nul.md",
    "ends with dot.",
    ".hidden",
    "emoji 🌱",
    "名前",
    "x" * 300,
    "x" * 299 + "y",
    "名" * 100,
    "tab\tand\nline",
    '<b>|"*',
)
REFUSED = ("..", "   ", "")
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)


def is_portable(name: str) -> bool:
    """Whether Linux, macOS and Windows all take this file name."""
    return (
        len(name.encode()) <= 255
        and not RESERVED.match(name)
        and not name.startswith((".", " "))
        and not name.removesuffix(".md").endswith((".", " "))
        and not any(sign in '/\\<>:"|?*' or ord(sign) < 32 for sign in name)
    )


@pytest.mark.parametrize("title", WRITTEN)
async def test_perm_write_note_names(vault: Any, title: str) -> None:
    """A title of any signs makes one file directly in its folder, under a name for every system.

    Seen in: basicmachines-co/basic-memory#154, dullage/flatnotes#52, pbek/QOwnNotes#126,
    erikelisath/keep-to-markdown#14.
    """
    vault.write("in/other.md", "other\n")
    made, data = await vault.make("in", "write_note", title=title, content="body", directory="in")
    assert data["file_path"] == made
    assert is_portable(Path(made).name)
    meant = " ".join(title.split())
    assert vault.metadata(made)["title"] == title
    assert vault.notes()[made] == meant
    assert (await vault.read(title))["file_path"] == made
    await vault.sync()
    await vault.rebuild()
    assert vault.notes()[made] == meant
    assert (await vault.read(title))["file_path"] == made


@pytest.mark.parametrize("title", REFUSED)
async def test_perm_write_note_names_that_are_none(vault: Any, title: str) -> None:
    """An empty title, blanks and dots are refused with the reason."""
    error = await vault.refused("write_note", title=title, content="body", directory="in")
    assert error["code"] == "INVALID_ARGUMENT"
    assert vault.paths() == {"."}


async def test_perm_write_note_names_stay_apart(vault: Any) -> None:
    """All of them in one folder: each has its own file, permalink and answer."""
    for title in WRITTEN:
        await vault.make("in", "write_note", title=title, content="body", directory="in")
    await vault.sync()
    notes = vault.notes()
    assert len(notes) == len(WRITTEN)
    assert len({path.casefold() for path in notes}) == len(WRITTEN)
    assert len(vault.permalinks()) == len(WRITTEN)
    for title in WRITTEN:
        assert notes[(await vault.read(title))["file_path"]] == " ".join(title.split())


async def test_perm_write_note_same_name(vault: Any) -> None:
    """What stands on the disk is never replaced unasked.

    Seen in: basicmachines-co/basic-memory#1077 and #1479.
    Better, taken: a new note is told which other notes have nearly its title.
    """
    vault.write_all(
        {
            "site-roadmap.md": "---\ntitle: Site Roadmap\n---\nold\n",
            "notes/Ideas.md": "made by hand\n",
        }
    )
    await vault.sync()
    error = await vault.refused("write_note", title="Site Roadmap", content="new")
    assert error["code"] == "NOTE_EXISTS"
    vault.write("unseen.md", "not in the index yet\n")
    error = await vault.refused("write_note", title="Unseen", content="new")
    assert error["code"] == "NOTE_EXISTS"

    await vault.tool(
        "write_note", ("notes/ideas.md",), title="ideas", content="new", directory="notes"
    )
    assert vault.bytes("notes/Ideas.md") == b"made by hand\n"

    third = await vault.tool(
        "write_note", ("site--roadmap!.md",), title="Site  roadmap!", content="third"
    )
    assert third["file_path"] == "site--roadmap!.md"
    assert "site-roadmap.md" in [one["file_path"] for one in third["similar"]]
    await vault.sync()
    names = vault.permalinks()
    assert len(names) == 5
    assert names["site-roadmap.md"] == "site-roadmap"
    assert names["site--roadmap!.md"] == third["permalink"] != "site-roadmap"


async def test_perm_symlinks(vault: Any, tmp_path: Path) -> None:
    """Links that leave the folder, loop, or lead nowhere: each note once, nothing outside.

    Seen in: bitbonsai/mcpvault#78, cyanheads/filesystem-mcp-server#21.
    Better, taken: a second link to a note is left out, and never looks like a move.
    """
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("not yours\n")
    vault.write_all({"real.md": "rhubarb\n", "sub/x.md": "xylophone\n", "loop/y.md": "yeast\n"})
    vault.link("leak.md", outside / "secret.md")
    vault.link("out", outside)
    vault.link("loop/self", "../loop")
    vault.link("sub/back", "..")
    vault.link("twin.md", "real.md")
    vault.link("dead.md", "nowhere")
    vault.link(".#real.md", "user@host.1")
    for _ in range(2):
        report = await vault.sync()
        assert report.moved_files == ()
        assert set(vault.notes()) == {"real.md", "sub/x.md", "loop/y.md"}
    before = sorted(outside.rglob("*"))
    for path in ("leak.md", "out/secret.md", "dead.md"):
        await vault.refused("read_note", path=path)
    error = await vault.refused("write_note", title="n", content="c", directory="out")
    assert error["code"] == "OUTSIDE_PROJECT"
    await vault.refused("edit_note", path="leak.md", content_updates="more")
    await vault.refused("delete_note", path="leak.md")
    assert sorted(outside.rglob("*")) == before
    assert (outside / "secret.md").read_text() == "not yours\n"
    for word, path in (("rhubarb", "real.md"), ("xylophone", "sub/x.md")):
        assert await vault.search(word) == [path]
    assert await vault.search("yours") == []

    vault.delete("twin.md")
    report = await vault.sync()
    assert (report.moved_files, report.deleted_files) == ((), ())


async def test_uri_rules(vault: Any) -> None:
    """An address is one thing or refused with the rule that it breaks.

    Seen in: basicmachines-co/basic-memory#318.
    Better, taken: the file `id/123.md` is reached by its path, since its name is not all digits.
    """
    vault.write_all({"machine-learning.md": "ml\n", "id/123.md": "in a folder named id\n"})
    await vault.sync()

    async def paths(address: str) -> list[str]:
        data = await vault.tool("build_context", path=address)
        return [one["file_path"] for one in data["contexts"]]

    for address in (
        "memory://machine-learning",
        "machine-learning",
        "memory://machine-learning.md",
    ):
        assert await paths(address) == ["machine-learning.md"]

    rules = {
        "memory://": "empty",
        "memory://a//b": "'//'",
        "memory://a?b": "'?'",
        "memory://memory://x": "'://'",
        'memory://a"b': "character",
        "memory://<a>": "character",
        "memory://a|b": "character",
    }
    for address, rule in rules.items():
        error = await vault.refused("build_context", path=address)
        assert error["code"] == "INVALID_URI"
        assert rule in error["message"]
    for address in (
        "memory://id/99999",
        "memory://id/abc",
        "memory://id/-1",
        "memory://id/" + "9" * 40,
        "memory://machine%20learning",
    ):
        error = await vault.refused("build_context", path=address)
        assert error["code"] in ("NOTE_NOT_FOUND", "INVALID_URI")
    assert await paths("memory:///machine-learning") == ["machine-learning.md"]
    error = await vault.refused("build_context", path="Memory://machine-learning")
    assert error["code"] in ("NOTE_NOT_FOUND", "INVALID_URI")

    assert await paths("memory://id/123.md") == ["id/123.md"]
    [(entity_id,)] = vault.rows("SELECT id FROM entity WHERE file_path = 'id/123.md'")
    assert await paths(f"memory://id/{entity_id}") == ["id/123.md"]
