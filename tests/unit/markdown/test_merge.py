"""Three-way merge by lines: what is taken, what clashes, and that no byte is touched."""

from __future__ import annotations

import pytest

from memoranda.markdown.merge import MAX_MERGE_BYTES, MAX_MERGE_LINES, Clash, Merged, merge


def merged(base: str, mine: str, theirs: str) -> str:
    result = merge(base.encode(), mine.encode(), theirs.encode())
    assert isinstance(result, Merged), result
    return result.data.decode()


def places(base: str, mine: str, theirs: str) -> tuple[tuple[int, int], ...]:
    result = merge(base.encode(), mine.encode(), theirs.encode())
    assert isinstance(result, Clash), result
    assert not result.reason
    return result.places


def test_changes_of_different_lines_are_both_taken() -> None:
    assert merged("a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nD\ne\n") == "A\nb\nc\nD\ne\n"


def test_the_first_of_two_additions_can_go() -> None:
    base, without, later = "log\n- one\n", "log\n", "log\n- one\n- two\n"
    assert merged(base, without, later) == "log\n- two\n"


def test_changes_of_neighbouring_lines_are_both_taken() -> None:
    assert merged("a\nb\nc\n", "a\nB\nc\n", "a\nb\nC\n") == "a\nB\nC\n"
    assert merged("a\nb\nc\n", "a\nB\nc\n", "a\nnew\nb\nc\n") == "a\nnew\nB\nc\n"


def test_the_same_change_on_both_sides_is_taken_once() -> None:
    assert merged("a\nb\nc\n", "a\nB\nc\n", "x\na\nB\nc\n") == "x\na\nB\nc\n"
    assert merged("a\nb\n", "a\nnew\nb\n", "a\nnew\nb\nend\n") == "a\nnew\nb\nend\n"


def test_two_changes_of_one_line_clash() -> None:
    assert places("a\nb\nc\n", "a\nmine\nc\n", "a\ntheirs\nc\n") == ((2, 2),)


def test_two_additions_at_one_place_clash() -> None:
    assert places("a\nb\n", "a\nmine\nb\n", "a\ntheirs\nb\n") == ((2, 2),)


def test_an_addition_inside_of_what_the_other_removed_clashes() -> None:
    assert places("a\nb\nc\nd\n", "a\nd\n", "a\nb\nnew\nc\nd\n") == ((2, 4),)


def test_places_count_the_lines_of_the_newer_file() -> None:
    base = "1\n2\n3\n4\n5\n6\n7\n8\n"
    mine = "1\n2\nM\n4\n5\n6\nM\n8\n"
    theirs = "0\n1\n2\n4\n5\n6\nT\nT\n8\n"
    assert places(base, mine, theirs) == ((4, 3), (7, 8))


def test_line_endings_stay_as_each_line_has_them() -> None:
    base = "a\r\nb\nc\rd\r\n"
    assert merged(base, "A\r\nb\nc\rd\r\n", "a\r\nb\nc\rD\n") == "A\r\nb\nc\rD\n"


def test_another_line_ending_is_a_change_of_the_line() -> None:
    assert places("a\nb\nc\n", "a\nb\r\nc\n", "a\nB\nc\n") == ((2, 2),)


def test_a_last_line_without_its_end_never_runs_into_the_next() -> None:
    assert isinstance(merge(b"a\nb\n", b"a\nz", b"a\nb\nc\n"), Clash)
    assert isinstance(merge(b"a\nb\n", b"a\nb\nz", b"a\nB\n"), Merged)
    assert isinstance(merge(b"x\n", b"x\r", b"x\n\n"), Clash)


def test_blank_and_repeated_lines_are_told_apart() -> None:
    base = "- x\n\n- x\n\n- x\n\nend\n"
    mine = "- x\n\n- x\n\nend\n"
    assert merged(base, mine, base + "more\n") == mine + "more\n"
    assert merged("a\n\nb\n\nc\n", "A\n\nb\n\nC\n", "a\n\nB\n\nc\n") == "A\n\nB\n\nC\n"


def test_a_short_stretch_of_repeated_lines_is_compared_line_by_line() -> None:
    base, mine = "0 done\nc0\n1 done\nc1\n", "a0\nc0\na1\nc1\n"
    theirs = "0 done\n0 done\n1 done\n1 done\n"
    assert merged(base, mine, theirs) == "a0\n0 done\na1\n1 done\n"


def test_any_bytes_based_on_ascii_will_do() -> None:
    base, mine = b"caf\xe9\nb\nc\n", b"caf\xe9\nb\nd\xe9j\xe0\n"
    assert merge(base, mine, b"th\xe9\nb\nc\n") == Merged(b"th\xe9\nb\nd\xe9j\xe0\n")


def test_what_is_no_text_clashes_unless_one_side_did_nothing() -> None:
    assert merge(b"a\0", b"b\0", b"a\0") == Merged(b"b\0")
    assert merge(b"a\0", b"a\0", b"c\0") == Merged(b"c\0")
    assert merge(b"a\0", b"b\0", b"b\0") == Merged(b"b\0")
    assert merge(b"a\0", b"b\0", b"c\0") == Clash(
        reason="it is not text that can be compared by lines"
    )


@pytest.mark.parametrize("line", [b"x" * (MAX_MERGE_BYTES + 1), b"\n" * (MAX_MERGE_LINES + 1)])
def test_what_is_too_large_clashes_unless_one_side_did_nothing(line: bytes) -> None:
    result = merge(line, line + b"mine", b"theirs" + line)
    assert isinstance(result, Clash)
    assert result.reason
    assert merge(line, line, line + b"more") == Merged(line + b"more")


def test_a_large_file_is_merged_all_the_same() -> None:
    lines = [b"line %d\n" % number if number % 2 else b"\n" for number in range(60_000)]
    mine, theirs = list(lines), list(lines)
    mine[1::3000] = [b"mine\n"] * 20
    theirs[1001::3000] = [b"theirs\n"] * 20
    result = merge(*(b"".join(side) for side in (lines, mine, theirs)))
    assert isinstance(result, Merged)
    assert result.data.count(b"mine\n") == result.data.count(b"theirs\n") == 20


def test_a_stretch_without_anchors_that_is_long_counts_as_replaced() -> None:
    base, mine = b"x\ny\n" * 2000, b"y\nx\n" * 2000
    assert isinstance(merge(base, mine, b"first\n" + base), Merged)
    assert isinstance(merge(base, mine, base[:4000] + b"inside\n" + base[4000:]), Clash)
