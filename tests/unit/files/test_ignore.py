from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.files.ignore import MAX_LINE_BYTES, MAX_RULES, NO_RULES, Rules, parse_rules
from memoranda.files.wildmatch import name_pattern, split_pattern


def is_ignored(text: str, path: str) -> bool:
    """Whether a root ignore file with this text leaves out a path; a folder ends in `/`."""
    is_folder = path.endswith("/")
    *folders, name = path.rstrip("/").split("/")
    rules = NO_RULES.and_(parse_rules(text.encode(), ".gitignore").rules)
    for folder in folders:
        if rules.ignoring(folder, is_folder=True) is not None:
            return True
        rules = rules.below(folder)
    return rules.ignoring(name, is_folder=is_folder) is not None


@pytest.mark.spec("4.1")
@pytest.mark.parametrize(
    ("text", "out", "kept"),
    [
        ("a.md", ["a.md", "x/a.md", "x/y/a.md", "a.md/b.md"], ["aa.md", "a.mdx", "A.md", "axmd"]),
        ("/a.md", ["a.md"], ["x/a.md"]),
        ("x/a.md", ["x/a.md"], ["a.md", "y/x/a.md"]),
        ("x/", ["x/", "x/a.md", "y/x/a.md"], ["x", "y/x"]),
        ("/x/", ["x/a.md"], ["y/x/a.md", "x"]),
        ("*.md", ["a.md", "x/.md"], ["a.mdx"]),
        ("a*b*c.md", ["abc.md", "aXbYc.md", "abbcc.md"], ["acb.md", "abcd.md"]),
        ("a*.md", ["a\nb.md"], ["ba.md"]),
        ("a?.md", ["a\n.md", "ab.md", "aé.md"], ["a.md", "abc.md"]),
        ("x/*.md", ["x/a.md"], ["x/y/a.md", "a.md"]),
        ("**/x/a.md", ["x/a.md", "y/x/a.md"], ["a.md", "xx/a.md"]),
        ("x/**", ["x/a.md", "x/y/a.md"], ["x/", "a.md"]),
        ("x/**/a.md", ["x/a.md", "x/y/a.md", "x/y/z/a.md"], ["a.md", "x/b.md"]),
        ("x/**/**/a.md", ["x/a.md", "x/y/a.md"], ["a.md"]),
        ("x\\/a.md", ["x/a.md"], ["a.md"]),
        ("x/**/y/", ["x/y/a.md", "x/z/y/a.md"], ["x/y"]),
        ("**", ["a.md", "x/"], []),
        ("*/", ["x/a.md"], ["a.md"]),
        ("\\#a.md", ["#a.md"], ["a.md"]),
        ("#a.md", [], ["#a.md", "a.md"]),
        ("\\!a.md", ["!a.md"], ["a.md"]),
        ("a.md  ", ["a.md"], ["a.md  "]),
        ("a.md\\ ", ["a.md "], ["a.md"]),
        ("a.md\\   ", ["a.md "], ["a.md", "a.md  "]),
        ("a.md\\\\ ", ["a.md\\"], ["a.md\\ "]),
        (" a.md", [" a.md"], ["a.md"]),
        ("a.md\t", ["a.md\t"], ["a.md"]),
        ("a.md\r", ["a.md"], ["a.md\r"]),
        ("\ufeffa.md", ["a.md"], []),
        ("\\*.md", ["*.md"], ["a.md"]),
        ("[a-c].md", ["a.md", "c.md"], ["d.md", "-.md"]),
        ("[!a-c].md", ["d.md", "].md"], ["a.md"]),
        ("[^a].md", ["b.md"], ["a.md"]),
        ("[]a].md", ["].md", "a.md"], ["b.md"]),
        ("[a\\]].md", ["].md", "a.md"], ["\\.md"]),
        ("[[:digit:][:upper:]].md", ["1.md", "A.md"], ["a.md", ":.md"]),
        ("[é-ü].md", ["é.md", "ö.md"], ["e.md"]),
        ("[a-].md", ["a.md", "-.md"], ["b.md"]),
        ("[b-a]x.md", ["bx.md"], ["ax.md"]),
        ("a\nb.md", ["a/b.md", "b.md"], ["a.md"]),
        ("/", [], ["a.md", "x/"]),
        ("!", [], ["a.md", "!"]),
        ("  \n\n", [], ["a.md", " "]),
    ],
)
def test_patterns_mean_what_git_says(text: str, out: list[str], kept: list[str]) -> None:
    assert [path for path in out if not is_ignored(text, path)] == []
    assert [path for path in kept if is_ignored(text, path)] == []


@pytest.mark.parametrize(
    ("text", "out", "kept"),
    [
        ("*.md\n!a.md", ["b.md", "x/b.md"], ["a.md", "x/a.md"]),
        ("!a.md\n*.md", ["a.md"], []),
        ("*.md\n!a.md\n/a.md", ["a.md"], ["x/a.md"]),
        ("x/\n!x/a.md", ["x/a.md"], []),
        ("x/*\n!x/a.md", ["x/b.md"], ["x/a.md"]),
        ("x/**\n!x/y/", ["x/y/a.md", "x/z/"], ["x/y/"]),
        ("*.md\n!keep/", ["keep/a.md"], ["keep/"]),
        ("/*\n!/x/\n/x/*\n!/x/a.md", ["b.md", "x/b.md"], ["x/a.md"]),
    ],
)
def test_the_last_rule_decides_and_nothing_comes_back_from_a_folder_that_is_out(
    text: str, out: list[str], kept: list[str]
) -> None:
    assert [path for path in out if not is_ignored(text, path)] == []
    assert [path for path in kept if is_ignored(text, path)] == []


def rules_of(text: str, source: str) -> Rules:
    return NO_RULES.and_(parse_rules(text.encode(), source).rules)


def test_the_rules_of_a_deeper_folder_are_stronger_and_begin_there() -> None:
    outer = rules_of("*.md\n/x/b.txt", ".gitignore")
    inner = outer.below("x").and_(parse_rules(b"!a.md\n/c.txt", "x/.gitignore").rules)
    assert inner.ignoring("a.md", is_folder=False) is None
    assert (rule := inner.ignoring("b.md", is_folder=False)) is not None
    assert rule.reason == "ignored by .gitignore, line 1"
    assert (rule := inner.ignoring("b.txt", is_folder=False)) is not None
    assert rule.line == 2
    assert (rule := inner.ignoring("c.txt", is_folder=False)) is not None
    assert rule.reason == "ignored by x/.gitignore, line 2"
    deeper = inner.below("y")
    assert deeper.ignoring("c.txt", is_folder=False) is None
    assert deeper.ignoring("a.md", is_folder=False) is None
    assert outer.below("y").ignoring("a.md", is_folder=False) is not None


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_rule_means_a_name_in_each_unicode_form(form: str) -> None:
    for text in ("é.md", "é*", "É/", "É/x.md"):
        rule = unicodedata.normalize("NFD" if form == "NFC" else "NFC", text)
        path = unicodedata.normalize(form, "É/x.md" if text[0] == "É" else "é.md")
        assert is_ignored(rule, path)


@pytest.mark.parametrize(
    "bad", ["[a.md", "a\\", "[[:nothing:]]", "x" * (MAX_LINE_BYTES + 1), "a\0b"]
)
def test_a_bad_line_is_named_and_the_others_hold(bad: str) -> None:
    found = parse_rules(f"a.md\n{bad}\nb.md".encode(), ".gitignore")
    assert [rule.line for rule in found.rules] == [1, 3]
    assert found.trouble == "not used: line 2 (no valid pattern)"


def test_a_line_that_is_not_utf8_is_named_and_the_others_hold() -> None:
    found = parse_rules(b"# caf\xe9\ncaf\xe9.md\nb.md\n", ".gitignore")
    assert [rule.line for rule in found.rules] == [3]
    assert found.trouble == "not used: line 2 (no valid pattern)"


def test_utf16_makes_no_rules() -> None:
    found = parse_rules("*.md\n*\n".encode("utf-16"), ".gitignore")
    assert found.rules == ()
    assert found.trouble


def test_many_bad_lines_are_counted() -> None:
    found = parse_rules(b"[\n" * 9, ".gitignore")
    assert found.trouble == "not used: line 1, line 2, line 3, 6 more (no valid pattern)"


def test_rules_beyond_the_limit_are_not_used_and_said() -> None:
    found = parse_rules(b"a\n" * (MAX_RULES + 2), ".gitignore")
    assert len(found.rules) == MAX_RULES
    assert found.trouble == f"not used: from line {MAX_RULES + 1} on (more than {MAX_RULES} rules)"


def test_a_pattern_made_to_be_slow_is_not() -> None:
    name = "a" * 255
    started = time.process_time()
    assert not is_ignored("*a" * 40 + "*b", name)
    assert not is_ignored("**/a/" * 40 + "b", "a/" * 100 + "c")
    assert time.process_time() - started < 20  # with backtracking: longer than the universe is old


_SIGNS = st.text(st.sampled_from("ab*?[]!^-\\/ .:é\n#"), max_size=12)


@given(_SIGNS, _SIGNS)
def test_no_pattern_raises_and_a_plain_name_matches_itself(pattern: str, path: str) -> None:
    for make in (split_pattern, name_pattern):
        if make is name_pattern and "/" in pattern:
            continue
        try:
            make(pattern)
        except ValueError:
            continue
    is_ignored(pattern, path.strip("/") or "a")


@given(st.text("ab*?[]!^-\\ .:é#", min_size=1, max_size=8))
def test_an_escaped_name_matches_only_itself(name: str) -> None:
    name = unicodedata.normalize("NFC", name)
    escaped = "".join(f"\\{letter}" for letter in name)
    assert is_ignored(escaped, name)
    assert not is_ignored(escaped, f"{name}a")
    assert not is_ignored(escaped, f"a{name}")
    assert not is_ignored(escaped, f"{name}\n")
