from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.frontmatter import read_frontmatter, split_frontmatter
from memoranda.model.address import NotePath
from memoranda.model.note import LinkForm, ParsedNote

PATH = NotePath("folder/my-note.md")


def note(header: str, body: str = "text\n") -> ParsedNote:
    return parse_note(f"---\n{header}---\n{body}", PATH)


@pytest.mark.spec("13.1")
def test_all_field_types_become_text() -> None:
    parsed = note("title: My Title\ntags: [a, b]\ncreated: 2025-01-15\ncount: 42\ndraft: true\n")
    assert parsed.title == "My Title"
    assert parsed.frontmatter == {
        "title": "My Title",
        "tags": ["a", "b"],
        "created": "2025-01-15",
        "count": "42",
        "draft": "True",
    }
    assert parsed.tags == ("a", "b")


@pytest.mark.spec("13.1")
def test_without_a_title_the_file_name_is_the_title() -> None:
    assert note("status: x\n").title == "my-note"
    assert note("title:\n").title == "my-note"


@pytest.mark.spec("3.2")
@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("007", "007"),
        ("1.10", "1.10"),
        ("12:30", "12:30"),
        ("NO", "NO"),
        ("on", "on"),
        ("02134", "02134"),
        ("0x1F", "0x1F"),
        ("True", "True"),
        ("false", "False"),
        ("'true'", "true"),
        ("2025-01-15 10:30:00", "2025-01-15T10:30:00"),
        ("2025-01-15T10:30:00Z", "2025-01-15T10:30:00+00:00"),
        ("2025-1-5", "2025-01-05"),
        ("'2025-1-5'", "2025-1-5"),
        ("{b: {c: 1, d: null}}", '{"b": {"c": "1", "d": null}}'),
        ("[1, [2, x], {y: true}]", ["1", '["2", "x"]', '{"y": "True"}']),
        ("[a, ~, b]", ["a", "b"]),
        ("[]", []),
    ],
)
def test_scalars_are_kept_as_written(written: str, read: str | list[str]) -> None:
    assert note(f"key: {written}\n").frontmatter == {"key": read}


@pytest.mark.parametrize("written", ["", "~", "null", "# only a comment"])
def test_null_is_left_out(written: str) -> None:
    assert note(f"key: {written}\n").frontmatter == {}


def test_only_the_line_ends_of_files_are_line_ends() -> None:
    assert note("a: x\u2028y\x85z\nb: 1\n").frontmatter == {"a": "x y z", "b": "1"}


def test_keys_are_text() -> None:
    parsed = note("no: a\n1: b\n2024-05-01: c\n'quoted key': d\n")
    assert parsed.frontmatter == {"no": "a", "1": "b", "2024-05-01": "c", "quoted key": "d"}


@pytest.mark.parametrize(
    "text",
    [
        "\n---\ntitle: x\n---\n",
        "----\ntitle: x\n----\n",
        "+++\ntitle = 'x'\n+++\n",
        '{\n"title": 1\n}\n',
        "---\ntitle: x\n",
        " ---\ntitle: x\n---\n",
        "---\ntitle: x\n ---\n",
        "--- #\ntitle: x\n---\n",
    ],
)
def test_other_openings_are_body(text: str) -> None:
    parsed = parse_note(text, PATH)
    assert parsed.content == text
    assert (parsed.title, parsed.body_start, parsed.body_line) == ("my-note", 0, 1)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_header_is_found_with_every_line_ending(end: str) -> None:
    text = end.join(["--- ", "title: T", "---\t", "body", ""])
    parsed = parse_note(text, PATH)
    assert parsed.title == "T"
    assert parsed.content == "body" + end
    assert parsed.body_line == 4


def test_empty_header_is_no_problem() -> None:
    parsed = parse_note("---\n---\nbody", PATH)
    assert (parsed.content, parsed.body_line, parsed.problems) == ("body", 3, ())


def test_only_an_unindented_line_of_three_dashes_ends_the_header() -> None:
    parsed = note("note: a --- b\ntext: |\n  one\n  ---\n  two\n", "x\n\n---\n\ny\n")
    assert parsed.frontmatter["note"] == "a --- b"
    assert parsed.frontmatter["text"] == "one\n---\ntwo\n"
    assert parsed.content == "x\n\n---\n\ny\n"


@pytest.mark.parametrize(
    "header",
    [
        "title: A: B\nstatus: open\n",
        "status: open\nx: [1, 2\n",
        "status: open\nx: {{date}}\n",
        "status: open\nx: !secret y\n",
        "status: open\nx: &s [*s]\n",
        "status: open\nx: *unknown\n",
        "status: open\nx: " + "[" * 3000 + "\n",
        "status: open\nx: `code`\n",
        "status: open\nx: \x01\n",
    ],
)
def test_a_broken_header_is_marked_and_what_is_certain_is_kept(header: str) -> None:
    parsed = note(header, "- [fact] body stays\n")
    assert len(parsed.problems) == 1
    assert parsed.raw_frontmatter == header
    assert parsed.frontmatter["status"] == "open"
    assert [o.content for o in parsed.observations] == ["body stays"]
    assert parsed.observations[0].line == header.count("\n") + 3


def test_title_with_an_unquoted_colon_is_read_from_a_broken_header() -> None:
    parsed = note("title: Review: the plan\ntags:\n  - a\n  - b\nbad: {{x}}\n")
    assert parsed.title == "Review: the plan"
    assert parsed.tags == ("a", "b")
    assert "bad" not in parsed.frontmatter


@pytest.mark.parametrize(
    ("header", "kept"),
    [
        ("a: 1\njust text\nb: [x, y]\n", {"a": "1", "b": ["x", "y"]}),
        ("a: [x, y]\n: no key\nb: 1\n[c, d]: e\n", {"a": ["x", "y"], "b": "1"}),
        ('a: "one\ntwo"\nb: `\n', {"a": "one two"}),
        ("a: b: c\n  more\n", {}),
        ("a: `x`\n", {}),
        ("a: 2024-1-5\nb: `\n", {"a": "2024-01-05"}),
        ("a: true\nhttp://x: `\nc: ~\n", {"a": "True"}),
        ("up: [[A]], [[B]]\n", {"up": "[[A]], [[B]]"}),
        ("a: &x 1\nb: *x\nc: `\n", {"a": "1"}),
        ("a: x # y: z: w\nb: c: d # e\n", {"a": "x"}),
        ("a: >\n  long\n  text\nb: `\n", {"a": "long text\n"}),
    ],
)
def test_of_a_broken_header_only_what_is_certain_is_kept(
    header: str, kept: dict[str, str | list[str]]
) -> None:
    parsed = note(header)
    assert parsed.problems
    assert parsed.frontmatter == kept


@pytest.mark.parametrize("header", ["just words\n", "- a\n- b\n", "42\n"])
def test_a_header_that_is_no_mapping_is_a_problem(header: str) -> None:
    parsed = note(header)
    assert parsed.problems
    assert parsed.raw_frontmatter == header


def test_problem_names_the_line_of_the_file() -> None:
    assert "line 3" in note("title: ok\nname: x: y\n").problems[0]


def test_impossible_date_is_marked_and_kept_as_text() -> None:
    parsed = note("title: A\ndue: 2024-02-30\n")
    assert parsed.frontmatter["due"] == "2024-02-30"
    assert "due" in parsed.problems[0]
    assert parsed.raw_frontmatter == ""


def test_alias_bomb_is_a_problem_and_not_expanded() -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [
        f"{c}: &{c} [{', '.join(['*' + p] * 9)}]"
        for p, c in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    parsed = note("title: Bomb\n" + "\n".join(lines) + "\n")
    assert "repeat too much" in parsed.problems[0]
    assert parsed.title == "Bomb"
    assert sum(len(str(v)) for v in parsed.frontmatter.values()) < 10_000


@pytest.mark.parametrize(
    ("header", "line", "reason"),
    [
        ("created: {{date}}\n", 2, "{{date}} looks like a template placeholder"),
        ("a: 1\ntags: [x, {{ tag }}]\n", 3, "{{ tag }} looks like a template placeholder"),
        ("a: {% if x %}\n", 2, "{% if x %} looks like a template placeholder"),
        ("{{title}}\n", 2, "{{title}} looks like a template placeholder"),
        ("a: b: c\n", 2, "a value with a colon must be in quotes"),
        ('a: "x" y\n', 2, "text follows the closing quotation mark"),
        ("a: [[A]], [[B]]\n", 2, "text follows the closing bracket"),
        ("a: 1\nb: [1, 2\nc: 3\n", 3, "a bracket is not closed"),
        ('a: 1\nb: "x\nc: 3\n', 3, "a quotation mark is not closed"),
        ("a: 1\njust text\nb: 2\n", 3, "the line is no `key: value`"),
        ("a:\n\tb: 1\n", 3, "a tab stands where blanks are wanted"),
        ("a: `x`\n", 2, "begins with ` must be in quotes"),
        ("a: @x\n", 2, "begins with @ must be in quotes"),
        ("a: *x*\n", 2, "begins with * or & must be in quotes"),
        ("a: !x y\n", 2, "begins with ! must be in quotes"),
        ("a: - b\n", 2, "a list must begin on the line below its key"),
        ('a: "C:\\work"\n', 2, "a backslash in double quotes must be written twice"),
        ("a: 1\n b: 2\n", 3, "look at its indentation"),
        ("tags: [#red, blue]\n", 2, "# begins a comment"),
        ("é: 1\nb: \x01\n", 3, "a character that cannot be printed"),
        ("a: x\u2028y\x85z\nb: `\n", 3, "begins with ` must be in quotes"),
        ("words\n", 2, "no lines of the form `key: value`"),
        ("[a]: b\n", 2, "a key is not text"),
    ],
)
def test_a_fault_is_named_with_its_line_for_people(header: str, line: int, reason: str) -> None:
    (problem,) = note(header).problems
    assert f"in line {line}: " in problem
    assert reason in problem
    assert problem.endswith(".")
    assert len(problem) < 130


def test_a_key_with_two_values_is_reported_and_the_last_one_counts() -> None:
    parsed = note("status: a\nx: 1\nstatus: b\n")
    assert parsed.frontmatter["status"] == "b"
    assert parsed.problems == ("The frontmatter has the key status more than once; line 4 counts.",)
    assert note("status: a\nstatus: a\n").problems == ()


def test_a_merge_never_beats_a_key_of_its_own() -> None:
    parsed = note("base: &b {x: 1, y: 2}\nx: own\n<<: *b\nin: {y: own, <<: *b}\n")
    assert parsed.problems == ()
    assert (parsed.frontmatter["x"], parsed.frontmatter["y"]) == ("own", "2")
    assert parsed.frontmatter["in"] == '{"y": "own", "x": "1"}'


def test_aliases_cannot_nest_deeper_than_brackets_can() -> None:
    levels = "".join(
        f"a{n}: &a{n} {'{x: ' * 40}{f'*a{n - 1}' if n else '1'}{'}' * 40}\n" for n in range(20)
    )
    assert "nested too deeply" in note(levels).problems[0]


def test_an_alias_bomb_of_one_long_text_is_a_problem() -> None:
    parsed = note(f"title: T\na: &a {'x' * 50_000}\nb: [{'*a, ' * 9000}]\n")
    assert "repeat too much" in parsed.problems[0]
    assert sum(len(str(value)) for value in parsed.frontmatter.values()) < 60_000
    assert parsed.title == "T"


def test_a_header_too_long_to_be_one_is_marked_and_its_first_keys_are_kept() -> None:
    parsed = note("title: T\n" + "".join(f"k{n}: v\n" for n in range(260_000)))
    assert "too long to be a header" in parsed.problems[0]
    assert parsed.title == "T"
    assert parsed.frontmatter["k900"] == "v"
    assert len(parsed.frontmatter) == 10_000


def test_the_links_of_a_header_are_bounded() -> None:
    parsed = note("up:\n" + '  - "[[A]]"\n' * 10 + f"x: '{'[[B]] ' * 90_000}'\n")
    assert len(parsed.links) == 10
    assert "more links" in parsed.problems[0]


def test_nul_in_a_value_is_replaced() -> None:
    assert note('a: "x\\0y"\n').frontmatter["a"] == "x\ufffdy"
    parsed = note("title: A\0B\nstatus: open\n")
    assert (parsed.title, parsed.frontmatter["status"]) == ("A\ufffdB", "open")


@pytest.mark.parametrize("start", ["", "\ufeff", "z: 'a\u2028b'\n", "z: 'a\x85b'\n", "é: ü\n"])
def test_links_are_placed_right_behind_any_sign_that_yaml_counts_otherwise(start: str) -> None:
    parsed = note(f"{start}a: 1\nup: '[[A]]'\n")
    data = f"---\n{start}a: 1\nup: '[[A]]'\n---\n".encode()
    (link,) = parsed.links
    assert data[link.start : link.end] == b"[[A]]"
    assert data[: link.start].count(b"\n") + 1 == link.line


def test_links_of_one_key_are_placed_in_order_with_their_lines() -> None:
    parsed = note(
        'up:\n  - "[[A]]"\n  - "[[Zo\\u00eb]]"\n  - é [[B]]\n  - "[[A]]"\n"[[K]]": "[[K]]"\n'
    )
    assert [(link.target, link.line) for link in parsed.links] == [
        ("A", 3),
        ("Zoë", 2),
        ("B", 5),
        ("A", 6),
        ("K", 7),
    ]
    assert parsed.links[4].start > parsed.links[3].end + 10


def test_honest_aliases_and_merges_are_resolved() -> None:
    parsed = note("base: &b {lang: en}\nuse: *b\nmore:\n  <<: *b\n  x: 1\n")
    assert parsed.problems == ()
    assert parsed.frontmatter["use"] == '{"lang": "en"}'
    assert parsed.frontmatter["more"] == '{"lang": "en", "x": "1"}'


@pytest.mark.parametrize(
    ("written", "tags"),
    [
        ("tags: red, blue", ("red", "blue")),
        ("tags: red blue", ("red", "blue")),
        ("tags: '#red #a/b'", ("red", "a/b")),
        ("tags: ['#red', ' blue ', red]", ("red", "blue")),
        ("tags:\n  - red\n  -\n  - two words", ("red", "two words")),
        ("tags: [2024, no]", ("2024", "no")),
        ("tags:", ()),
        ("tag: red", ("red",)),
        ("tags: {red: 1}", ()),
    ],
)
def test_tags_are_read_in_all_forms(written: str, tags: tuple[str, ...]) -> None:
    assert note(written + "\n").tags == tags


def test_an_unquoted_tag_sign_is_explained() -> None:
    parsed = note("tags:\n  - #red\n  - blue\n")
    assert parsed.tags == ("blue",)
    assert "#" in parsed.problems[0]


def test_only_tags_are_warned_about_a_comment_sign() -> None:
    assert note("text: |\n  - #red\ncolour: #fff\nx:\n  - #y\n").problems == ()
    assert "line 3" in note("a: 1\ntags: #red\n").problems[0]


def test_aliases_are_names_without_doubles() -> None:
    assert note("aliases: [One, two , One]\nalias: Three\n").aliases == ("One", "two", "Three")


def test_a_list_of_types_gives_the_first_without_brackets() -> None:
    assert note('type:\n  - "[[Books]]"\n  - x\n').note_type == "Books"
    assert note("x: 1\n").note_type == "note"


@pytest.mark.parametrize(
    ("header", "targets"),
    [
        ('up: "[[Parent Note]]"', ["Parent Note"]),
        ("up: [[Parent Note]]", ["Parent Note"]),
        ("up: [[Smith, John]]", ["Smith, John"]),
        ('up:\n  - "[[A|x]]"\n  - [[B]]', ["A", "B"]),
        ("up: see [[A]] and [[B]]", ["A", "B"]),
        ("# [[No]]\nup: '[[A]]'", ["A"]),
        ("up: {deep: ['[[A]]']}", ["A"]),
        ("up: [[A]], [[B]]", ["A", "B"]),
        ("title: '[[A]]'", []),
        ("up: '[[#same note]]'", []),
    ],
)
def test_wiki_links_in_values_are_relations_named_by_the_key(
    header: str, targets: list[str]
) -> None:
    parsed = note(header + "\n")
    assert [link.target for link in parsed.links] == targets
    data = f"---\n{header}\n---\ntext\n".encode()
    for link in parsed.links:
        assert (link.form, link.relation_type) == (LinkForm.FRONTMATTER, "up")
        assert data[link.start : link.end].startswith(b"[[" + link.target.encode())
        assert data[: link.start].count(b"\n") + 1 == link.line


def test_relation_type_of_a_key_is_lower_case_with_underscores() -> None:
    assert note("Part Of: '[[A]]'\n").links[0].relation_type == "part_of"


def test_a_folded_link_is_placed_at_its_key() -> None:
    parsed = note('up: "[[Zo\\u00eb]]"\n')
    assert parsed.links[0].target == "Zoë"
    assert (parsed.links[0].start, parsed.links[0].end) == (4, 6)


def test_dates_of_the_note_are_aware_utc() -> None:
    parsed = note("date: 2025-01-15T10:30:00+02:00\nupdated: 2025-02-01T00:00:00Z\n")
    assert parsed.created == datetime(2025, 1, 15, 8, 30, tzinfo=UTC)
    assert parsed.modified == datetime(2025, 2, 1, tzinfo=UTC)


def test_generated_at_is_the_last_change() -> None:
    parsed = note("type: x\ngenerated: {by: agent, at: 2026-03-01T12:00:00Z}\n")
    assert parsed.modified == datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_an_unusable_date_falls_through_to_the_next_key() -> None:
    parsed = note("created: someday\ndate: 2025-01-15T00:00:00Z\n")
    assert parsed.created == datetime(2025, 1, 15, tzinfo=UTC)


def test_declared_permalink_is_cleaned() -> None:
    assert note("permalink: Docs/My Page\n").declared_permalink == "docs/my-page"
    assert note("permalink: ../x\n").declared_permalink is None


@given(st.text(alphabet="-- \r\n\tab:", max_size=40))
def test_header_and_body_are_the_whole_text(text: str) -> None:
    cut = split_frontmatter(text)
    if cut.header is None:
        assert (cut.body_start, cut.body_line) == (0, 1)
    else:
        assert text[cut.header_start :].startswith(cut.header)
        head = text[: cut.body_start]
        if head.endswith(("\r", "\n")):
            lines = head.replace("\r\n", "\n").replace("\r", "\n").count("\n")
            assert cut.body_line == lines + 1


_PIECES = st.sampled_from(
    [
        "a: ",
        "b:",
        "- ",
        "[",
        "]",
        "{",
        "}",
        "[[",
        "]]",
        "'",
        '"',
        "&x ",
        "*x",
        "<<: ",
        "|",
        ">",
        "\n",
        "\n  ",
        "#t",
        ": ",
        ", ",
        "{{d}}",
        "é",
        "\x85",
        "\u2028",
        "\r",
        "\t",
        "\0",
        "\\",
        "\\0",
        "2024-13-05",
        "~",
        "!t ",
    ]
)


@given(st.lists(_PIECES, max_size=30).map("".join))
def test_no_header_makes_it_fail_and_links_lie_inside(header: str) -> None:
    text = f"---\n{header}\n---\nbody\n"
    cut = split_frontmatter(text)
    read = read_frontmatter(cut)
    head = text[: cut.body_start].encode()
    for link in read.links:
        assert 4 <= link.start < link.end <= len(head)
        assert 2 <= link.line < cut.body_line
    assert all("\0" not in str(value) for value in read.values.values())
