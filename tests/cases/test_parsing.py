"""Lists, fences, bytes and line ends that other tools stumbled over. See README.md in this folder."""

from __future__ import annotations

from typing import Any


def said(vault: Any, path: str = "n.md") -> list[tuple[str, str]]:
    """Category and content of each observation, in file order."""
    return [(fact.category, fact.content) for fact in vault.facts(path)]


async def test_obs_task_signs(vault: Any) -> None:
    """A box with any sign in it is a task, not a fact.

    Seen in: basicmachines-co/basic-memory#1241, the obsidian-tasks sample vault.
    Better, taken: a single letter is a box sign too.
    """
    signs = [" ", "x", "X", "/", ">", "-", "!", "?", "i", "b", "p", "*", '"', "<", "1"]
    boxes = "".join(f"- [{sign}] task {number}\n" for number, sign in enumerate(signs))
    vault.write("n.md", boxes + "1. [ ] in a numbered list\n* [/] starred\n- [fact] alone\n")
    await vault.sync()
    assert said(vault) == [("fact", "alone")]


async def test_obs_callout(vault: Any) -> None:
    """A callout is no fact, its links count.

    Seen in: basicmachines-co/basic-memory#738, the powershell-docs vault.
    Better, taken: a list item inside a callout is a list item, so `[risk]` is a fact (FORMAT: list items at
    any depth).
    """
    vault.write(
        "n.md",
        "> [!note] A box\n> with [[Aim One]] in it\n\n> [!danger]- folded #slow\n"
        "> - [risk] said in the box\n\n- > [!tip] quoted in a list\n- [!bug] not even quoted\n",
    )
    await vault.sync()
    assert said(vault) == [("risk", "said in the box")]
    assert [(edge.kind, edge.name) for edge in vault.edges("n.md")] == [("links_to", "aim-one")]


async def test_obs_timecodes(vault: Any) -> None:
    """Words with a time among them are categories; a line that is in no list is no fact.

    Seen in: basicmachines-co/basic-memory#1219 and #1270.
    Better, taken: a time code alone is no category.
    """
    vault.write(
        "n.md",
        "- [00:12] Anna: hello\n- [01:02:03.500] Ben: thank you\n"
        "- [24:33.098 - 24:41.260] Anna: so long\n\n[00:00:11] in no list\n\n"
        "- [10:30am standup] stays\n- [2024 goals] stays too\n",
    )
    await vault.sync()
    assert said(vault) == [("10:30am standup", "stays"), ("2024 goals", "stays too")]
    assert await vault.search("thank") == ["n.md"]


async def test_obs_timecodes_next_to_a_plain_line(vault: Any) -> None:
    """A line that continues an item by CommonMark's rules is no item of its own."""
    vault.write("n.md", "- [00:12] Anna: hello\n[00:00:11] still hers\n- [2024 goals] stays\n")
    await vault.sync()
    assert said(vault) == [("2024 goals", "stays")]


async def test_obs_reference_links(vault: Any) -> None:
    """What Markdown reads as a link or a footnote is no category.

    Seen in: foambubble/foam#1504, and CommonMark's shortcut references.
    """
    vault.write(
        "n.md",
        "- [Do-Thing] does a thing\n- [manual][m] read that\n- [press](https://example.org) here\n"
        "- [fact] the real one\n- [^1] a footnote\n\n"
        "[Do-Thing]: https://example.org/do\n[m]: ./manual.md\n[^1]: the note\n",
    )
    await vault.sync()
    assert said(vault) == [("fact", "the real one")]


async def test_obs_inline_field(vault: Any) -> None:
    """A field is no category, and all its words are found.

    Seen in: blacksmithgu/obsidian-dataview#2155 and #2216, silverbulletmd/silverbullet (attributes).
    Better, taken: a value in quotes is another tool's attribute; a colon alone makes none.
    """
    vault.write(
        "n.md",
        "- [due:: 2024-09-01] post the parcel\n- [rank:: high] [owner:: kim] double fielded\n"
        '- [author: "Kim"] quoted attribute\n- [design: layout] colon category\n',
    )
    await vault.sync()
    assert said(vault) == [("design: layout", "colon category")]
    for words in ("post the parcel", "double fielded", "quoted attribute", "colon category"):
        assert await vault.search(words) == ["n.md"]


async def test_obs_unclosed_fence(vault: Any) -> None:
    """A fence that never closes is code to the end, and its words are found.

    Seen in: the dendron-site and free-programming-books vaults.
    """
    vault.write(
        "n.md", "- [fact] above\n\n```\ncode\n\n- [fact] below a fence left open\n[[Inside]]\n"
    )
    await vault.sync()
    assert said(vault) == [("fact", "above")]
    assert vault.edges("n.md") == []
    assert await vault.search("left open") == ["n.md"]


async def test_obs_nested_and_numbered(vault: Any) -> None:
    """Every list item counts, whatever its depth, bullet and blanks; glued brackets do not.

    Seen in: the logseq-docs vault (all text in nested lists).
    """
    vault.write(
        "n.md",
        "- top\n  - [fact] child #a\n    - [detail] grandchild (ctx)\n1. [step] one\n2) [step] two\n"
        "* [star] bullet\n+ [plus] bullet\n-   [wide] apart\n-\t[tab] tabbed\n"
        "- [glue]to the word\n-[glued] to the dash\n- [ spaced ] within\n",
    )
    await vault.sync()
    assert [(one.category, one.content, one.tags, one.context) for one in vault.facts("n.md")] == [
        ("fact", "child", ("a",), None),
        ("detail", "grandchild", (), "ctx"),
        ("step", "one", (), None),
        ("step", "two", (), None),
        ("star", "bullet", (), None),
        ("plus", "bullet", (), None),
        ("wide", "apart", (), None),
        ("tab", "tabbed", (), None),
        ("spaced", "within", (), None),
    ]


async def test_obs_deep_list(vault: Any) -> None:
    """Forty lists in each other: no item is lost on the way down.

    Seen in: markdown-it's limit of nesting, the logseq-docs vault.
    """
    levels = range(40)
    vault.write("n.md", "".join(f"{'  ' * n}- [level] depth {n:02} #d{n:02}\n" for n in levels))
    await vault.sync()
    assert [(one.category, one.content, one.tags) for one in vault.facts("n.md")] == [
        ("level", f"depth {n:02}", (f"d{n:02}",)) for n in levels
    ]


async def test_obs_continuation(vault: Any) -> None:
    """A wrapped item is one fact, without the text of its children.

    Seen in: CommonMark's list items.
    Better, taken: the lines are joined, and tag and context are read from the last one.
    """
    vault.write(
        "n.md",
        "- [fact] the line that\n  is wrapped here #late (why)\n  - [detail] below\n"
        "- [fact] its first paragraph\n\n  a second one with [[Link]]\n",
    )
    await vault.sync()
    first, detail, last = vault.facts("n.md")
    assert (first.category, first.content) == ("fact", "the line that is wrapped here")
    assert (first.tags, first.context) == (("late",), "why")
    assert (detail.category, detail.content) == ("detail", "below")
    assert (last.category, last.content) == ("fact", "its first paragraph")
    assert [(edge.kind, edge.name) for edge in vault.edges("n.md")] == [("links_to", "link")]


async def test_obs_duplicates_and_permalinks(vault: Any) -> None:
    """Equal facts, and facts that are equal for 250 characters, are all kept under names of their own.

    Seen in: basicmachines-co/basic-memory#169.
    """
    vault.write("n.md", "- [fact] the same\n- [fact] the same\n- [fact] the same!\n")
    vault.write("long.md", f"- [fact] {'y' * 250} end\n" * 3)

    def state() -> list[tuple[str, str]]:
        return [
            (fact.content, fact.permalink)
            for path in ("n.md", "long.md")
            for fact in vault.facts(path)
        ]

    await vault.sync()
    before = state()
    assert len(vault.facts("n.md")) == len(vault.facts("long.md")) == 3
    assert len({permalink for _, permalink in before}) == 6
    await vault.sync()
    assert state() == before
    vault.append("n.md", "\nand a word\n")
    await vault.sync()
    assert state() == before
    await vault.rebuild()
    assert state() == before


async def test_obs_non_ascii_category(vault: Any) -> None:
    """Categories, tags and permalinks in every script, and the words are found.

    Seen in: basicmachines-co/basic-memory#103 (the same users).
    """
    vault.write(
        "n.md",
        "- [定義] 知識グラフは点と線でできている #知識 （辞書）\n- [Идея] построить индекс #поиск\n"
        "- [حقيقة] يكتب من اليمين إلى اليسار #عربي\n- [💡 idea] has an emoji\n",
    )
    await vault.sync()
    facts = vault.facts("n.md")
    assert [(fact.category, fact.tags, fact.context) for fact in facts] == [
        ("定義", ("知識",), "辞書"),
        ("Идея", ("поиск",), None),
        ("حقيقة", ("عربي",), None),
        ("💡 idea", (), None),
    ]
    assert facts[0].content == "知識グラフは点と線でできている"
    assert facts[1].content == "построить индекс"
    assert await vault.search("知識グラフ") == ["n.md"]
    assert await vault.search("индекс") == ["n.md"]
    permalinks = [fact.permalink for fact in facts]
    assert len(set(permalinks)) == 4
    assert all(all(part.strip("-") for part in one.split("/")) for one in permalinks)


async def test_obs_diff_keeps_ids(vault: Any) -> None:
    """Facts that stay keep their ids when others come before them or they change places.

    Seen in: the rule of the specification that a sync compares observations.
    """
    vault.write("n.md", "- [one] one\n- [two] two\n- [three] three\n")
    await vault.sync()
    before = {fact.category: fact.external_id for fact in vault.facts("n.md")}
    vault.write("n.md", "- [two] two\n- [one] one\n- [four] fresh\n- [three] three\n")
    await vault.sync()
    after = vault.facts("n.md")
    assert [fact.category for fact in after] == ["two", "one", "four", "three"]
    assert {fact.category: fact.external_id for fact in after if fact.category in before} == before
    assert len({fact.external_id for fact in after}) == 4


ENCODED = {
    "latin.md": "---\ntitle: Café\n---\nna\xefve fa\xe7ade\n".encode("latin-1"),
    "cp1252.md": b"\x93quoted\x94 \x96 a dash \x80 jaguar\n",
    "utf16.md": b"\xff\xfe" + "title line leopard\n- [fact] wide\n".encode("utf-16-le"),
    "gbk.md": "今天的新闻方案 panther\n".encode("gbk"),
    "mixed.md": b"a good line lynx\nand bad \xff\xfe bytes\n",
    "surr.md": b"half a pair \xed\xa0\x81 alone puma\n",
}


async def test_parse_encodings(vault: Any) -> None:
    """A note in any encoding is in the index and its plain words are found; nothing is rewritten.

    Seen in: tsutaj/statements-manager#178, minerllabs/minerl#780.
    Better, taken: UTF-16 is known by its mark, and each file whose encoding was guessed is named.
    """
    for path, data in ENCODED.items():
        vault.write(path, data)
    await vault.sync()
    assert set(vault.notes()) == set(ENCODED)
    words = {"jaguar": "cp1252", "lynx": "mixed", "puma": "surr", "leopard": "utf16"}
    for word, name in (words | {"panther": "gbk", "façade": "latin"}).items():
        assert await vault.search(word) == [f"{name}.md"]
    assert vault.notes()["latin.md"] == "Café"
    assert said(vault, "utf16.md") == [("fact", "wide")]
    assert vault.body("cp1252.md") == "“quoted” – a dash € jaguar\n"
    for path in ENCODED:
        shown = await vault.read(path)
        (shown["content"] + vault.body(path)).encode()  # a lone surrogate has no UTF-8
    assert dict(vault.rows("SELECT file_path, encoding FROM entity")) == {
        "latin.md": "cp1252",
        "cp1252.md": "cp1252",
        "utf16.md": "utf-16-le",
        "gbk.md": "cp1252",
        "mixed.md": "cp1252",
        "surr.md": "latin-1",
    }
    guessed = dict(vault.rows("SELECT file_path, problems FROM entity WHERE problems != '[]'"))
    assert set(guessed) == set(ENCODED) - {"utf16.md"}
    assert "it was read as cp1252" in guessed["gbk.md"]


async def test_parse_encodings_are_kept_by_edits(vault: Any) -> None:
    """An edit is written in the encoding of the note, or refused where that has no such letter."""
    for path, data in ENCODED.items():
        vault.write(path, data)
    await vault.sync()
    for path, data in ENCODED.items():
        await vault.tool("edit_note", (path,), path=path, content_updates="déjà\n")
        added = "déjà\n".encode("utf-16-le" if path == "utf16.md" else "cp1252")
        assert vault.bytes(path) == data + added
    for path in set(ENCODED) - {"utf16.md"}:
        error = await vault.refused("edit_note", path=path, content_updates="żółw\n")
        assert error["code"] == "INVALID_ARGUMENT"
    await vault.tool("edit_note", ("utf16.md",), path="utf16.md", content_updates="żółw\n")
    assert vault.bytes("utf16.md").decode("utf-16").endswith("déjà\nżółw\n")


async def test_parse_line_ends(vault: Any) -> None:
    """Lines end where Markdown ends them: at LF, CRLF and CR, not at form feeds and their kind.

    Seen in: Pratiyush/llm-wiki#435, the powershell-docs vault (CR alone).
    Better, taken: a file of old Macs has its header and its list.
    """
    files = {
        "cr.md": "---\rtitle: Old Mac\r---\r- [fact] one\r- [fact] two\r",
        "mix.md": "- [fact] one\r\n- [fact] two\n- [fact] three\r\n",
        "ff.md": "- [fact] page\x0cbreak\n- [fact] vt\x0btab\n- [fact] nel\x85here\n"
        "- [fact] ls\u2028here\n",
    }
    vault.write_all(files)
    await vault.sync()
    assert said(vault, "mix.md") == [("fact", "one"), ("fact", "two"), ("fact", "three")]
    assert said(vault, "ff.md") == [
        ("fact", "page\x0cbreak"),
        ("fact", "vt\x0btab"),
        ("fact", "nel\x85here"),
        ("fact", "ls\u2028here"),
    ]
    assert [fact.line for fact in vault.facts("ff.md")] == [1, 2, 3, 4]
    assert vault.notes()["cr.md"] == "Old Mac"
    assert said(vault, "cr.md") == [("fact", "one"), ("fact", "two")]
    assert [fact.line for fact in vault.facts("cr.md")] == [4, 5]
