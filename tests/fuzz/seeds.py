"""What the fuzzer starts from: short texts of our own, the golden notes, and the signs of the format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final

from tests.fuzz.query_choice import text_of

GOLDEN: Final = Path(__file__).parents[1] / "vaults" / "golden"
MAX_SEED_BYTES: Final = 3000
QUERIES: Final = 100

NOTES: Final = (
    "# Pumps\n\n- [part] Seal kit fits all #spare (since May) [by:: Ada] ^p1\n- feeds [[Tank]]\n",
    "---\ntitle: Tank\ntags: [a, b/c]\naliases: [T]\n---\n\nSee [[Pumps#Seal|the seal]] and ![[plan.png]].\n",
    "Text\n====\n\n> [!note] Box\n> - [x] done\n> - [fact] in a box\n\n1. one\n   - [deep] two\n     goes on\n",
    "| a | b |\n|---|---|\n| [[A\\|x]] | [t](a%20b.md#h) |\n\n[^1]: note\n\n[ref]: other.md 'x'\n\n[ref] [y][ref]\n",
    "```\n- [no] code [[no]]\n```\n~~~x\nopen\n",
    "%% hidden [[A]] %%\n<!-- - [no] -->\n<div>\n[[B]]\n</div>\n\n$$\n[[C]]\n$$\n`[[D]]` \\[[E]]\n",
    "- a [[A]], [[B]] (why)\n- \"is not\" [[C]] - said so\n- **part of**:: [[D]] ^r1\n* [ ] task [[E]]\n+ [[F]]\n",
    "\ufeff# BOM\r\n\r\n- [事] 数据 #标签 (上下文)\r\n- [חלק] משאבה #תג\r\rold mac\r",
    "[[a [[b]] c]] [[[d]]] [[]] [[|x]] [[#h]] [[e#^f]] [g](h.md) [i](</j k.md>) ![l](m.pdf)\n",
    "- [ ] - [x] [a] b\n- [11:20] time\n- [k:: v]\n- [^1] foot\n- [a](b.md) link\n- [!tip] box\n- [ok] yes\\\n  hard\n",
    "# One\n## Two\n### Two\n## Two > Three\n# One\n#### Deep/er\nOne\n---\n#\n# #\n",
)  # fmt: skip

HEADERS: Final = (
    "title: A: b\ntags: x, y",
    "title: 'It''s'\naliases:\n  - one\n  - \"two\\n\"\ncreated: 2024-02-30\nup: [[Home, sweet]]",
    "a: &x [1, 2]\nb: *x\n<<: {c: d}\n? e\n: f",
    "text: |\n  - [no] fact\n  [[A]]\n\n# comment\nfolded: >-\n  b\n  c\nend: ~",
    "type: [[Book|the book]]\npermalink: /A b/ç\ngenerated: {by: human, at: 2026-01-02T03:04:05+01:00}",
    "tags: #no\n- #no\ndate: 1700000000\nmodified: 2024/1/2\nno: NO\nn: 007\nb: true\nt: 12:30",
    "broken: [\nkey: value\nother: \"open\n!!python/name:os x: y\n\tz: 1",
    "related: [\"[[A]]\", '[[B|c]]']\nnested: {a: {b: [c, {d: '[[E]]'}]}}\n\"quoted key\": 1\nключ: значение",
)  # fmt: skip

EDITS: Final = (
    # Kind and number, then text and arguments separated by 0xff, see `targets.edit`.
    *(
        bytes((kind, number)) + b"\xff".join((note.encode(), first, second))
        for kind in range(12)
        for number, (note, first, second) in enumerate(
            [
                (NOTES[0], b"part", b"new text"),
                (NOTES[1], b"title", b"Old tank: 2\n"),
                (NOTES[6], b"needs", b"[[Other]]"),
                (NOTES[10], b"Two", b"## Two\n\nbody\n"),
                (NOTES[7], b"\n", b"\n- [x1] y\n"),
            ]
        )
    ),
)

_SIGNS: Final = (
    "---\n", "\n---\n", "\r\n", "\r", "\ufeff", "# ", "## ", "\n===\n", "- [", "- [fact] x", "[ ] ", "[x] ", "[[", "]]",
    "![[", "\\|", "](", ".md)", ".md#", "[^1]", "[^1]: ", "[a]: b.md\n", "```\n", "~~~\n", "`", "$$", "$", "%%", "<!--",
    "-->", "<div>", "</div>\n\n", "<pre>", "> ", "> [!note]", "\n    ", "\t", "1. ", "10) ", "* ", "+ ", "**", "~~", "_",
    "::", "[k:: v]", " ^id", "#tag", "(c)", " (", "（", "）", ", [[", "\"t\" [[", " - ", "|-|\n", "&amp;", "\\", "&#0;",
    "title: ", "tags: ", "aliases:\n  - ", "permalink: ", "created: 2024-01-02", "type: ", "up: [[", ": ", "key: |\n  ",
    "key: >-\n ", "&a ", "*a", "<<: ", "? ", "!!str ", "!x ", "{a: ", "'", "\"", "\"\\x5b[", "# c\n", "~", "true",
    "2024-02-30", "%YAML 1.2\n", "...\n", "\x00", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u00a0", "\u200d", "é",
    "e\u0301", "知识", "שלום", "👩‍🚀", "ﬁ", "İ", "ß", "\U000e0001", "http://a.b", "a@b.c",
)  # fmt: skip
_BYTES: Final = (b"\xff", b"\xff\xfe", b"\xfe\xff", b"\xed\xa0\x80", b"\x93", b"\x81")


def corpus(target: str) -> Iterator[bytes]:
    """The first inputs of a target."""
    if target == "edit":
        yield from EDITS
        return
    if target == "query":
        texts = (
            text_of(Random(number)).encode("utf-8", "surrogatepass") for number in range(QUERIES)
        )
        yield from (data for data in texts if len(data) < MAX_SEED_BYTES)
        return
    golden = [
        data
        for path in sorted(GOLDEN.glob("*.md"))
        if len(data := path.read_bytes()) < MAX_SEED_BYTES
    ]
    if target == "frontmatter":
        yield from (header.encode() for header in HEADERS)
        for data in golden:
            if data.startswith(b"---"):
                yield data.partition(b"\n")[2].partition(b"\n---")[0]
        return
    yield from (note.encode() for note in NOTES)
    yield from (f"---\n{header}\n---\ntext\n".encode() for header in HEADERS)
    yield from golden
    if target == "source":
        yield from (note.encode("utf-16") for note in NOTES)
        yield from (note.encode("cp1252", "replace") for note in NOTES)
        yield from _BYTES


def dictionary() -> str:
    """The signs of the format as a libFuzzer dictionary."""
    words = [*(sign.encode() for sign in _SIGNS), *_BYTES]
    return "".join(f'"{_escaped(word)}"\n' for word in words)


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)
