"""Headers that other tools stumbled over. See README.md in this folder."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FEW_SECONDS_CPU_S = 30  # ten times what the case allows: a shared machine is no stopwatch


@contextmanager
def bounded_memory(more_bytes: int) -> Iterator[None]:
    """Let this process take no more than so much memory on top of what it has."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + more_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


async def test_fm_one_bad_file_blocks_none(vault: Any) -> None:
    """Broken headers hold back no other file, and each is warned of once per change of its file.

    Seen in: garrytan/gbrain#4543, basicmachines-co/basic-memory#368.
    Better, taken: the words of the broken notes are found as well.
    """
    vault.write_all(
        {
            "a.md": "---\nplace: `D:\\shed\\y`\n---\nanvil words\n",
            "b.md": "---\ntitle: *Loud* opening\n---\nbucket words\n",
            "c.md": "---\nlinks:\n  - [[Elsewhere]]rest\n---\ncandle words\n",
            "d.md": "---\ntitle: Sound\n---\ndagger words\n",
        }
    )
    await vault.sync()
    vault.append("d.md", "ember words\n")
    await vault.sync()
    assert await vault.search("ember") == ["d.md"]
    for path, word in (("a.md", "anvil"), ("b.md", "bucket"), ("c.md", "candle")):
        assert await vault.search(word) == [path]
        assert vault.problems(path)
        assert len(vault.warnings(path)) == 1
    assert vault.warnings("d.md") == []

    vault.append("b.md", "and more\n")
    await vault.sync()
    await vault.sync()
    await vault.restart()
    await vault.sync()
    assert [len(vault.warnings(path)) for path in ("a.md", "b.md", "c.md")] == [1, 2, 1]


async def test_fm_impossible_date(vault: Any) -> None:
    """A day that no calendar has stops nothing.

    Seen in: 11ty/buildawesome#413, and the timestamp type of YAML.
    Better, taken: the notes are indexed with the date as the file has it.
    """
    dates = {"a.md": "2025-02-29", "b.md": "2025-14-01", "c.md": "0000-00-00"}
    for path, day in dates.items():
        vault.write(path, f"---\ntitle: {path[0].upper()}\ndue: {day}\n---\nword{path[0]}\n")
    vault.write("fine.md", "---\ndue: 2025-03-01\n---\nunharmed\n")
    await vault.sync()
    assert await vault.search("worda") == ["a.md"]
    assert await vault.search("unharmed") == ["fine.md"]
    assert vault.notes() == {"a.md": "A", "b.md": "B", "c.md": "C", "fine.md": "fine"}
    assert {path: vault.metadata(path)["due"] for path in dates} == dates
    assert vault.metadata("fine.md")["due"] == "2025-03-01"


async def test_fm_deep_nesting(vault: Any) -> None:
    """Three thousand open brackets in a value end no process and hide no other note.

    Seen in: yaml/pyyaml#235 (hostile YAML).
    """
    for path, ends in (("n.md", ""), ("closed.md", "]" * 3000)):
        vault.write(path, f"---\ntitle: Deep\nx: {'[' * 3000}{ends}\n---\nwell water\n")
    vault.write("ok.md", "calm\n")
    await vault.sync()
    assert vault.notes() == {"closed.md": "Deep", "n.md": "Deep", "ok.md": "ok"}
    for path in ("n.md", "closed.md"):
        assert vault.problems(path)
        assert all(isinstance(value, str) for value in vault.metadata(path).values())
        assert vault.edges(path) == []
    assert await vault.search("calm") == ["ok.md"]
    assert await vault.search("well water") == ["closed.md", "n.md"]


async def test_fm_alias_bomb(vault: Any) -> None:
    """Aliases of aliases cost bounded time, memory and space; honest aliases are followed.

    Seen in: yaml/pyyaml#235, nodeca/js-yaml#742, microsoft/apm#2493.
    Better, taken but for one thing: the bomb is indexed with a warning, and the values that repeat are
    left out; plain lines such as the title are kept, as for every broken header (FORMAT).
    """
    nine = ",".join(['"boom"'] * 9)
    lines = [f"a: &a [{nine}]"]
    for name, inner in zip("bcdefghi", "abcdefgh", strict=True):
        lines.append(f"{name}: &{name} [{','.join([f'*{inner}'] * 9)}]")
    await vault.sync()
    vault.write("bomb.md", "---\ntitle: Ha\n" + "\n".join(lines) + "\n---\ncrater\n")
    vault.write("fair.md", "---\nbase: &b {lang: en}\nuse: *b\nagain: *b\n---\nhonest\n")
    began = time.process_time()
    with bounded_memory(512_000_000):
        await vault.sync()
    assert time.process_time() - began < FEW_SECONDS_CPU_S
    [(size,)] = vault.rows("SELECT length(entity_metadata) FROM entity WHERE file_path = 'bomb.md'")
    assert size < 1000
    fair = vault.metadata("fair.md")
    assert json.loads(fair["use"]) == json.loads(fair["again"]) == {"lang": "en"}
    assert vault.problems("fair.md") == []

    assert vault.notes()["bomb.md"] == "Ha"
    assert vault.metadata("bomb.md") == {"title": "Ha", "a": ["boom"] * 9}
    assert await vault.search("crater") == ["bomb.md"]
    assert len(vault.warnings("bomb.md")) == 1


async def test_fm_self_reference(vault: Any) -> None:
    """A list that contains itself is a broken header like any other.

    Seen in: yaml/pyyaml#235.
    """
    vault.write("n.md", "---\ntitle: Ring\nself: &s [*s]\n---\nround words\n")
    await vault.sync()
    assert vault.notes() == {"n.md": "Ring"}
    assert vault.problems("n.md")
    assert vault.metadata("n.md") == {"title": "Ring"}
    assert await vault.search("round") == ["n.md"]
    assert (await vault.read("n.md"))["frontmatter"] == {"title": "Ring"}


async def test_fm_unknown_tag(vault: Any) -> None:
    """A tag builds no object and runs nothing; the header counts as broken.

    Seen in: garrytan/gbrain#4543 (same family).
    Better, taken: the note is found.
    """
    mark = vault.root / "ran"
    vault.write("n.md", "---\ntitle: !urgent ring the glazier\nkey: !secret x\n---\nglazier text\n")
    vault.write("evil.md", f'---\nx: !!python/object/apply:os.mkdir ["{mark}"]\n---\nquiet\n')
    vault.write("ok.md", "other\n")
    await vault.sync()
    assert not mark.exists()
    assert vault.notes() == {"evil.md": "evil", "n.md": "n", "ok.md": "ok"}
    assert vault.problems("n.md")
    assert vault.problems("evil.md")
    assert vault.metadata("evil.md") == {}
    assert await vault.search("glazier") == ["n.md"]


async def test_fm_yaml_1_1_guesses(vault: Any) -> None:
    """Numbers, times and yes/no words are no reason to change what somebody wrote.

    Seen in: the type rules of YAML 1.1 (int, bool).
    Better, taken: text as written; so the rule "flag is True and country is False", which holds where
    YAML 1.1 is followed, does not apply: only `true` and `false` are booleans.
    """
    vault.write(
        "n.md",
        "---\ntitle: Guess\nzip: 02134\nat: 12:30\ncountry: NO\nversion: 1.10\n"
        "mac: 00:1B:44\nempty:\nflag: on\ndone: true\nday: 2025-03-01\n---\nx\n",
    )
    await vault.sync()
    expected = {
        "title": "Guess",
        "zip": "02134",
        "at": "12:30",
        "country": "NO",
        "version": "1.10",
        "mac": "00:1B:44",
        "flag": "on",
        "done": "True",
        "day": "2025-03-01",
    }
    assert vault.metadata("n.md") == expected
    assert (await vault.read("n.md"))["frontmatter"] == expected
    assert vault.problems("n.md") == []


async def test_fm_tags_forms(vault: Any) -> None:
    """Every way to write tags gives the same clean list, and the filter finds whole tags only.

    Seen in: blacksmithgu/obsidian-dataview#18 and #1146, obsmd-projects/obsidian-projects#404,
    dmuth/evernote-to-obsidian#10.
    Better, taken: tags between blanks, the key `tag`, and `project` finds `project/alpha`.
    """
    headers = {
        "a.md": "tags: red, blue",
        "b.md": "tags: red blue",
        "c.md": "tags: ['#red', ' blue ']",
        "d.md": "tags:\n  - red\n  -\n  - red",
        "e.md": "tags:",
        "f.md": "tag: red",
        "g.md": "tags: [project/alpha, 2024]",
        "h.md": "tags: {red: 1}",
        "i.md": "tags: [infrared, redwood, projects]",
    }
    vault.write_all({path: f"---\n{header}\n---\nshared\n" for path, header in headers.items()})
    await vault.sync()
    assert {path: vault.tags(path) for path in headers} == {
        "a.md": ["red", "blue"],
        "b.md": ["red", "blue"],
        "c.md": ["red", "blue"],
        "d.md": ["red"],
        "e.md": [],
        "f.md": ["red"],
        "g.md": ["project/alpha", "2024"],
        "h.md": [],
        "i.md": ["infrared", "redwood", "projects"],
    }
    assert await vault.search("shared", tags=["red"]) == ["a.md", "b.md", "c.md", "d.md", "f.md"]
    assert await vault.search("shared", tags=["project"]) == ["g.md"]
    assert len(await vault.search("shared")) == len(headers)


async def test_fm_tag_hash_unquoted(vault: Any) -> None:
    """A sign that starts a comment in YAML takes the tag away, no more.

    Seen in: jmilldotdev/obsidian-frontmatter-tag-suggest#1, dmuth/evernote-to-obsidian#10.
    Better, taken: the note says that `#` starts a comment.
    """
    vault.write_all(
        {
            "a.md": "---\ntags: #red\n---\nx\n",
            "b.md": "---\ntags: [#red, blue]\n---\nyarn words\n",
            "c.md": "---\ntags:\n  - #red\n  - blue\n---\nz\n",
        }
    )
    await vault.sync()
    assert vault.tags("a.md") == []
    assert vault.tags("c.md") == ["blue"]
    assert vault.metadata("c.md") == {"tags": ["blue"]}
    assert vault.tags("b.md") == []
    assert await vault.search("yarn") == ["b.md"]
    for path in ("a.md", "b.md", "c.md"):
        assert any("#" in problem and "comment" in problem for problem in vault.problems(path))


async def test_fm_wiki_link_values(vault: Any) -> None:
    """A link in a value, in quotes or not, stays one text and is a relation.

    Seen in: blacksmithgu/obsidian-dataview#712 and #147, Trikzon/obsidian-frontmatter-links#8.
    Better, taken: the key is the type of the relation, with and without quotes.
    """
    vault.write_all(
        {
            "a.md": "---\nup: [[Parent Note]]\n---\na\n",
            "b.md": '---\nup: "[[Parent Note]]"\nrelated:\n  - "[[Sister]]"\n'
            '  - "[[Jones, Ann]]"\n---\nb\n',
            "c.md": "---\nup: [[Smith, John]]\n---\nc\n",
            "Parent Note.md": "p\n",
        }
    )
    await vault.sync()

    def ends(path: str) -> list[tuple[str, str, str]]:
        return [(edge.kind, edge.name, edge.to) for edge in vault.edges(path)]

    up = ("up", "parent-note", "Parent Note.md")
    assert ends("a.md") == [up]
    assert ends("b.md") == [("related", "jones,-ann", ""), ("related", "sister", ""), up]
    assert ends("c.md") == [("up", "smith,-john", "")]
    assert (await vault.read("a.md"))["frontmatter"] == {"up": "[[Parent Note]]"}
    assert vault.metadata("b.md") == {
        "up": "[[Parent Note]]",
        "related": ["[[Sister]]", "[[Jones, Ann]]"],
    }
    assert vault.metadata("c.md") == {"up": "[[Smith, John]]"}
    assert all(vault.problems(path) == [] for path in vault.notes())


async def test_fm_hr_first_line(vault: Any) -> None:
    """A rule in the first line loses no text: four dashes are no mark, and a header must end.

    Seen in: remarkjs/remark-frontmatter#8, chatml/chatml#364, garrytan/gbrain#4543.
    """
    texts = {
        "a.md": "---\n\nSome text: with a colon\n\n---\nthe rest\n",
        "b.md": "---\n\nNothing but a rule, then prose\n",
        "c.md": "----\nhello\n----\nplanet\n",
        "d.md": "----\nkey: value\n---\nmoon\n",
    }
    vault.write_all(texts)
    await vault.sync()
    assert await vault.search("hello") == ["c.md"]
    assert await vault.search("planet") == ["c.md"]
    assert await vault.search("prose") == ["b.md"]
    for path in ("b.md", "c.md", "d.md"):
        assert vault.body(path) == texts[path]
        assert vault.metadata(path) == {}
    assert vault.body("a.md") == "the rest\n"
    shown = await vault.read("a.md")
    assert shown["frontmatter"] == {"Some text": "with a colon"}
    assert shown["content"] == texts["a.md"]


async def test_fm_rule_in_body(vault: Any) -> None:
    """Only the first line that is `---` from its first column ends the header.

    Seen in: crowdagger/crowbook#99, Yeachan-Heo/gajae-code#2822.
    Better, taken: an indented `---` belongs to the block of text it is in.
    """
    body = "intro\n\n---\n\nmiddle: no header\n\n---\n\nend\n"
    vault.write(
        "n.md",
        "---\ntitle: Two rules\nnote: a --- b\ntext: |\n  one\n  ---\n  two\n---\n" + body,
    )
    await vault.sync()
    shown = await vault.read("n.md")
    assert shown["title"] == "Two rules"
    assert vault.body("n.md") == body
    assert shown["frontmatter"]["note"] == "a --- b"
    assert shown["frontmatter"]["text"].splitlines() == ["one", "---", "two"]
    assert set(shown["frontmatter"]) == {"title", "note", "text"}


async def test_fm_crlf_roundtrip(vault: Any) -> None:
    """An edit keeps mark, comment, date form, quotes, order, blank lines and line ends.

    Seen in: eyeseast/python-frontmatter#20, bitbonsai/mcpvault#77.
    """
    before = (
        b"\xef\xbb\xbf---\r\ntitle: As it is   # said aside\r\ndate: 2026-03-16\r\n"
        b'quoted: "yes"\r\norder: [b, a]\r\n---\r\n\r\n\r\nOpening\r\n'
    )
    vault.write("n.md", before)
    await vault.sync()
    await vault.tool("edit_note", ("n.md",), path="n.md", content_updates="\nline below\n")
    assert vault.bytes("n.md") == before + b"\r\nline below\r\n"
    await vault.tool(
        "edit_note",
        ("n.md",),
        path="n.md",
        operation="find_replace",
        find_text="Opening",
        content_updates="Start\nand on",
    )
    expected = before.replace(b"Opening", b"Start\r\nand on") + b"\r\nline below\r\n"
    assert vault.bytes("n.md") == expected


async def test_fm_double_block(vault: Any) -> None:
    """An edit of a note whose header is broken leaves the header, and makes no second one.

    Seen in: basicmachines-co/basic-memory#1171, #528 and #1188.
    """
    before = b"---\nname: p: q\ndescription: nowhere else is this said\n---\n\nbody\n"
    vault.write("n.md", before)
    await vault.sync()
    await vault.tool("edit_note", ("n.md",), path="n.md", content_updates="\nmore\n")
    assert vault.bytes("n.md") == before + b"\nmore\n"
    await vault.tool(
        "edit_note", ("n.md",), path="n.md", operation="prepend", content_updates="first\n"
    )
    after = vault.bytes("n.md")
    header = before[: before.index(b"\n\nbody") + 1]
    assert after.startswith(header)
    assert after.count(b"---\n") == 2
    assert after.count(b"nowhere else is this said") == 1
    assert b"first\n" in after.removeprefix(header)


async def test_fm_library_reserved_keys(vault: Any) -> None:
    """Names that a library uses for itself, and keys that are no text, are keys like others.

    Seen in: eyeseast/python-frontmatter#113 and #133.
    """
    vault.write_all(
        {
            "a.md": "---\ntitle: A\ncontent: words under the key content\nhandler: me\n"
            "metadata: too\n---\nbody a\n",
            "b.md": "---\n1: one\ntrue: two\n2024-05-01: three\nno: four\n---\nbody b\n",
        }
    )
    await vault.sync()
    assert await vault.search("body") == ["a.md", "b.md"]
    assert vault.metadata("a.md") == {
        "title": "A",
        "content": "words under the key content",
        "handler": "me",
        "metadata": "too",
    }
    assert vault.metadata("b.md") == {
        "1": "one",
        "true": "two",
        "2024-05-01": "three",
        "no": "four",
    }
    assert (await vault.read("b.md"))["frontmatter"] == vault.metadata("b.md")


async def test_fm_brace_first_line(vault: Any) -> None:
    """A brace in the first line is text, JSON or not.

    Seen in: eyeseast/python-frontmatter#106.
    """
    texts = {
        "a.md": '{\n  "k": 1\n}\nbelow the braces\n',
        "b.md": "{\nsurely no json\n}\nbelow b\n",
    }
    vault.write_all(texts)
    await vault.sync()
    assert (await vault.read("a.md"))["content"] == texts["a.md"]
    assert await vault.search("json") == ["b.md"]
    for path, text in texts.items():
        assert vault.body(path) == text
        assert vault.metadata(path) == {}
        assert vault.problems(path) == []


async def test_fm_toml_json(vault: Any) -> None:
    """Headers of other generators are text; the title is the file name (TOML is not supported).

    Seen in: eyeseast/python-frontmatter#106, ryo-ebata/cc-audit#327.
    """
    texts = {
        "t.md": '+++\ntitle = "Generated page"\n+++\nwindmill text\n',
        "j.md": ';;;\n{"title":"J"}\n;;;\nanother text\n',
    }
    vault.write_all(texts)
    await vault.sync()
    assert await vault.search("windmill") == ["t.md"]
    assert await vault.search("Generated") == ["t.md"]
    assert await vault.search("another") == ["j.md"]
    assert vault.notes() == {"j.md": "j", "t.md": "t"}
    assert vault.body("t.md") == texts["t.md"]


async def test_fm_unclosed(vault: Any) -> None:
    """A header that never ends is no header: all is body, with its links and facts.

    Seen in: garrytan/gbrain#4543, open-gsd/gsd-core#2977.
    """
    text = (
        "---\ntitle: Never closed\ntags: [a]\n\nIt goes on to [[Somewhere]].\n\n- [fact] is here\n"
    )
    vault.write("n.md", text)
    await vault.sync()
    assert vault.notes() == {"n.md": "n"}
    assert vault.body("n.md") == text
    assert vault.metadata("n.md") == {}
    assert vault.tags("n.md") == []
    assert [(fact.category, fact.content) for fact in vault.facts("n.md")] == [("fact", "is here")]
    assert [(edge.kind, edge.name) for edge in vault.edges("n.md")] == [("links_to", "somewhere")]
    assert await vault.search("goes on") == ["n.md"]
    assert await vault.search("Never closed") == ["n.md"]


async def test_fm_blank_line_first(vault: Any) -> None:
    """A header below blank lines is read the same way every time: as text.

    Seen in: open-gsd/gsd-core#2977, chatml/chatml#364.
    Better, not taken: it is not read as a header, since FORMAT says that a blank first line means
    there is none; the words of it are found, and the file name is the title.
    """
    text = "\n\n---\ntitle: Tardy\n---\nbody\n"
    vault.write("n.md", text)
    for again in (vault.sync, vault.sync, vault.rebuild):
        await again()
        assert vault.notes() == {"n.md": "n"}
        assert vault.body("n.md") == text
        assert vault.metadata("n.md") == {}
    assert await vault.search("Tardy") == ["n.md"]


async def test_fm_metadata_filter(vault: Any) -> None:
    """Filters compare texts, take a key with a dot as it is before a path, and put no key into SQL.

    Seen in: agent-lore/lithos#411.
    Better, taken: `status: open` finds the note that has it in a list, and `Open`.
    """
    vault.write_all(
        {
            "a.md": "---\ntitle: A\nstatus: Open\npriority: 1\nowner.name: kim\n---\nxenon\n",
            "b.md": '---\ntitle: B\nstatus: open\npriority: "1"\n---\nxenon\n',
            "c.md": "---\ntitle: C\nstatus: [open, late]\nowner: {name: kim}\n---\nxenon\n",
        }
    )
    await vault.sync()

    async def found(key: str, value: object) -> list[str]:
        result: list[str] = await vault.search("xenon", metadata_filters={key: value})
        return result

    assert await found("priority", "1") == ["a.md", "b.md"]
    assert await found("priority", 1) == ["a.md", "b.md"]
    assert await found("owner.name", "kim") == ["a.md", "c.md"]
    assert await found("owner", "kim") == []
    for key in ("status'] OR 1=1 --", 'status"] OR 1=1 --', "' OR '1'='1", "$", "$.*"):
        assert await found(key, "x") == []
    assert await found("status", "open") == ["a.md", "b.md", "c.md"]
    assert await found("status", "ope") == []
    assert len(vault.notes()) == 3
