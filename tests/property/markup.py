"""Texts that look like notes: every construct of the format, well formed, broken and mixed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

SOAK: Final = bool(os.environ.get("MEMORANDA_SOAK"))
SOAK_TIMEOUT_S: Final = 3600


def counted(normal: int, soak: int) -> settings:
    """How many examples a test tries: few and always the same, or many and new ones (`make soak`)."""
    return settings(
        max_examples=soak if SOAK else normal,
        derandomize=not SOAK,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


WORDS: Final = st.sampled_from(
    ["pump", "Seal kit", "a", "I.", "42", "été", "e\u0301", "知识", "数据 库", "שלום", "مضخة", "👩‍🚀", "ﬁn", "İi", "ß", "x_y",
     "C:\\x", "a/b", "- ", "#tag", "#a/b-c", "#123", "#fff", "(c)", "(", ")", "^id", "[k:: v]", "::", "`c [[no]]`", "``",
     "$x$", "$", "%%", "*em*", "**", "_", "~~s~~", "<b>", "<!-- c -->", "<!--", "&amp;", "&#0;", "\\", "\\[", "|", ":",
     "\x00", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u00a0", "\u200b", "\u202e", "\ufeff", "\ud800", "\udfff"]
)  # fmt: skip
NAMES: Final = st.sampled_from(
    ["Tank", "a b", "x/y", "Ünï", "知識", "p.q", "plan.png", "C#", "it's", "n.md", "[b]", ""]
)
ANCHORS: Final = st.sampled_from(["", "", "#h", "#Sub head", "#^b1", "#a#b"])
LABELS: Final = st.sampled_from(["", "", "|label", "\\|in table", "|", "|a|b"])
LINKS: Final = st.one_of(
    st.builds("{}[[{}{}{}]]".format, st.sampled_from(["", "!", "\\"]), NAMES, ANCHORS, LABELS),
    st.builds(
        "{}[{}]({}{}{})".format,
        st.sampled_from(["", "!"]),
        st.sampled_from(["text", "", "[[in]]", "![i](p.png)"]),
        st.sampled_from(["a.md", "a%20b.md", "<a b.md>", "/r/a.md", "../up.MD", "http://x.y/z.md", "q.pdf", "#h"]),
        st.sampled_from(["", "#h", "?q#h"]),
        st.sampled_from(["", " 'title'"]),
    ),
    st.sampled_from(["[ref]", "[t][ref]", "[ref][]", "[^1]", "[[a [[b]] c]]", "[[[d]]]", "[[open", "shut]]", "[a](", "<h://x>"]),
)  # fmt: skip
INLINE: Final = st.lists(st.one_of(WORDS, LINKS), min_size=1, max_size=5).map(" ".join)
CATEGORIES: Final = st.sampled_from(
    [
        "fact",
        "two words",
        "事",
        "x1",
        " ",
        "x",
        "/",
        "!tip",
        "^1",
        "k:: v",
        "11:20",
        "a: 'b'",
        "A",
        "?",
    ]
)
ITEMS: Final = st.one_of(
    INLINE,
    st.builds("[{}] {}".format, CATEGORIES, INLINE),
    st.builds("[{}] {}".format, st.sampled_from(["fact", "事 x", "part"]), WORDS),
    st.builds("[{}] {} #t (why) [k:: v] ^b1".format, CATEGORIES, WORDS),
    st.builds("{} {}{}".format, st.sampled_from(["needs", "part of", '"is not"', "**is**::", "→"]), LINKS,
              st.sampled_from(["", " (why)", ", [[B]]", " - said", ": so", " ^r1"])),
)  # fmt: skip
BULLETS: Final = st.sampled_from(
    ["- ", "* ", "+ ", "1. ", "2) ", "-\t", "-     ", "- - ", "- [ ] ", "-"]
)
INDENTS: Final = st.sampled_from(["", "", "  ", "    ", "\t", "      ", "> "])
LIST_LINES: Final = st.builds("{}{}{}\n".format, INDENTS, BULLETS, ITEMS)
LISTS: Final = st.lists(
    st.one_of(LIST_LINES, LIST_LINES, st.builds("{}{}\n".format, INDENTS, INLINE), st.just("\n")),
    min_size=3,
    max_size=7,
).map("".join)
HEADINGS: Final = st.one_of(
    st.builds("{} {}{}\n".format, st.sampled_from(["#", "##", "###", "######", "#######"]),
              st.one_of(INLINE, st.sampled_from(["One", "Two", "Two", "One > Two", "a/b", "", "#"])),
              st.sampled_from(["", " #", " ##  "])),
    st.builds("{}\n{}\n".format, INLINE, st.sampled_from(["===", "---", "=", " --"])),
)  # fmt: skip
FENCES: Final = st.builds(
    "{0}{1}\n{2}{3}".format,
    st.sampled_from(["```", "~~~", "````", "   ```"]),
    st.sampled_from(["", "py", " a b"]),
    LISTS,
    st.sampled_from(["```\n", "~~~\n", "````\n", ""]),
)
OTHERS: Final = st.one_of(
    st.builds("{}\n".format, INLINE),
    st.builds("> [!note]{}\n> {}\n> - [fact] {}\n".format, st.sampled_from(["", "-", " Title"]), INLINE, INLINE),
    st.builds("| a | b |\n|---|:-:|\n| {} | {} |\n".format, INLINE, INLINE),
    st.builds("[^1]: {}\n\n    more\n".format, INLINE),
    st.builds("[{}]: {}\n".format, NAMES, st.sampled_from(["a.md", "<b c.md> 't'", ""])),
    st.builds("$$\n{}\n$$\n".format, INLINE),
    st.builds("<div>\n{}\n</div>\n".format, INLINE),
    st.builds("<!--\n{}\n{}".format, INLINE, st.sampled_from(["-->\n", ""])),
    st.builds("%%\n{}\n{}".format, INLINE, st.sampled_from(["%%\n", ""])),
    st.builds("    {}\n\t- [no] code\n".format, INLINE),
    st.sampled_from(["\n", "\n\n", " \n", "---\n", "***\n", "\x0c\n"]),
)  # fmt: skip
YAML_VALUES: Final = st.sampled_from(
    ["x", "'q''s'", '"d\\n"', "[a, 'b, c']", "[[A]]", "[[A, b]]", "{a: {b: 1}}", "|\n  one\n\n  two", ">-\n  f\n  g", "~", "",
     "true", "NO", "007", "1.10", "12:30", "2024-01-02", "2024-02-30", "2024-01-02 03:04:05 +1", "1700000000", "a: b", "[", "*x",
     "&x y", "!!str 1", "!!python/name:os y", "#t", "a #c", "\n- one\n- [[B]]", "\n  - a\n  - b: c", "\"[[\\x41]]\"", "@a", "\tx",
     "知识", "\ud800", "\x00", "<%x%>", "{{t}}", "[" * 60, "'[[A|b]] and [[C#d]]'"]
)  # fmt: skip
YAML_KEYS: Final = st.sampled_from(
    ["title", "type", "tags", "tag", "aliases", "permalink", "created", "date", "modified", "generated", "up", "no", "007",
     '"quoted"', "'s'", "ключ", "a b", "<<", "? c", "#", "- i", "{a}", "title", "x.y"]
)  # fmt: skip
HEADER_LINES: Final = st.one_of(
    st.builds("{}: {}\n".format, YAML_KEYS, YAML_VALUES),
    st.builds("{}: {}\n".format, YAML_KEYS, st.sampled_from(["x", "a b", "[a, b]", "007"])),
    st.builds("{}: {}  # why\n".format, YAML_KEYS, YAML_VALUES),
    st.sampled_from(["# comment\n", "\n", "  deeper: 1\n", "%YAML 1.1\n", "...\n", "no colon\n", "'open\n", "\t\n"]),
)  # fmt: skip
HEADERS: Final = st.lists(HEADER_LINES, min_size=2, max_size=7).map("".join)
FIRST_LINES: Final = st.sampled_from(
    ["---\n"] * 6 + ["--- \t\n", "----\n", "\n---\n", "+++\n", "{\n"]
)
LAST_LINES: Final = st.sampled_from(["---\n"] * 6 + ["---  \n", "", "...\n", "---x\n"])
LINE_ENDS: Final = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r", "mixed"])
BODIES: Final = st.lists(
    st.one_of(LISTS, LISTS, HEADINGS, FENCES, OTHERS, OTHERS), min_size=2, max_size=7
).map("".join)


def with_line_ends(text: str, ending: str) -> str:
    """The text with other line endings; "mixed" takes each in turn."""
    if ending != "mixed":
        return text.replace("\n", ending)
    kinds = ("\n", "\r\n", "\r")
    lines = text.split("\n")
    return "".join(line + kinds[i % 3] for i, line in enumerate(lines[:-1])) + lines[-1]


def _note(first: str, header: str | None, last: str, body: str, ending: str, final: int) -> str:
    head = "" if header is None else first + header + last
    return with_line_ends(head + body[: len(body) - final], ending)


NOTES: Final = st.builds(
    _note,
    FIRST_LINES,
    st.one_of(st.none(), HEADERS, HEADERS),
    LAST_LINES,
    BODIES,
    LINE_ENDS,
    st.sampled_from([0, 0, 1, 3]),
)
"""Notes of all kinds, most of them messy."""

LONG_LINES: Final = st.builds(
    lambda piece, count, tail: piece * count + tail, st.one_of(WORDS, LINKS, BULLETS), st.integers(100, 600), BODIES
)  # fmt: skip
TEXTS: Final = st.one_of(*[NOTES] * 8, st.text(max_size=80), LONG_LINES)

_CLOSED_LINES: Final[Sequence[str]] = (
    "- [fact] one #t (why) [k:: v] ^b1\n",
    "- [事] 数据 #标签\n  goes on\n",
    "- [a] outer\n  - [b] inner\n  - needs [[Inner]]\n",
    "- [fact] one\n- plain item\n- needs [[Tank]]\n- last item\n",
    "1. needs [[Tank]], [[Other|label]] (why)\n",
    "* [ ] task [[A]]\n* [x] done\n",
    "plain [[Link#part]] and [t](a%20b.md#h) and ![[p.png]]\nsecond line\n",
    "> quoted\n> - [in] a quote\n",
    "```\n# no heading\n- [no] fact\n```\n",
    "| a | b |\n|---|---|\n| [[T\\|l]] | c |\n",
    "<!-- - [no] fact -->\n",
    "%% hidden [[H]] %%\n",
    "word\n",
)
CLOSED_BLOCKS: Final = st.sampled_from(_CLOSED_LINES)
CLOSED_HEADINGS: Final = st.builds(
    "{} {}\n".format,
    st.sampled_from(["#", "##", "###"]),
    st.sampled_from(["One", "Two", "Three", "知识", "a & b"]),
)
CLOSED_HEADERS: Final = st.sampled_from(
    ["", "", "---\ntitle: T  # why\n# comment\ntags:\n  - a\n  - 'b'\nn: 007\n\nup: [[Home, sweet]]\n---\n",
     "---\n---\n", "---\na: {b: [1, 2]}\ntext: |\n  one\n\n  two\nlast: 'q'\n---\n\n"]
)  # fmt: skip


def _joined(header: str, blocks: Sequence[str], ending: str, *, final: bool) -> str:
    text = header + "\n".join(blocks)
    return with_line_ends(text if final or not text else text[:-1], ending)


CLOSED_NOTES: Final = st.builds(
    _joined,
    CLOSED_HEADERS,
    st.lists(st.one_of(CLOSED_BLOCKS, CLOSED_BLOCKS, CLOSED_HEADINGS), max_size=8),
    st.sampled_from(["\n", "\r\n", "\r"]),
    final=st.booleans(),
)
"""Tidy notes: what is opened is closed, blocks are parted by a blank line."""
