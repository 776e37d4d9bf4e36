from __future__ import annotations

from io import StringIO

import pytest
from rich.cells import cell_len
from rich.console import Console

from memoranda.cli.tables import Column, Cut, cut_to, fitted, kept_columns, print_on

COLUMNS = (
    Column("N", "dim"),
    Column("TITLE", "bold", Cut.END),
    Column("PATH", "", Cut.START),
)


def drawn(rows: list[tuple[object, ...]], width: int, *, color: bool = False) -> list[str]:
    file = StringIO()
    console = Console(
        file=file,
        width=width,
        force_terminal=True,
        color_system="standard" if color else None,
        legacy_windows=False,
    )
    print_on(console, COLUMNS, rows)
    return file.getvalue().splitlines()


def test_columns_are_as_wide_as_needed_and_numbers_go_to_the_right() -> None:
    assert drawn([(5, "a", "b.md"), (1200, "long", "c.md")], 40) == [
        "   N  TITLE  PATH",
        "   5  a      b.md",
        "1200  long   c.md",
    ]


def test_what_does_not_fit_is_cut_at_the_end_that_tells_less() -> None:
    lines = drawn([(1, "A title that is long", "folder/of/the/note.md")], 35)
    assert lines[1] == "1  A title that i…  …of/the/note.md"
    assert all(cell_len(line) <= 35 for line in lines)


def test_wide_letters_take_two_columns() -> None:
    lines = drawn([(1, "观星笔记", "a.md"), (2, "b", "c.md")], 40)
    assert lines[1:] == ["1  观星笔记  a.md", "2  b         c.md"]
    for width in range(30, 50):
        lines = drawn([(1, "观星笔记" * 5, "星/" * 20)], width)
        assert all(cell_len(line) <= width for line in lines)


def test_cells_are_one_line_and_steer_nothing() -> None:
    (_, line) = drawn([(1, "a\n\tb \x1b[2J", "c\rd")], 80)
    assert line == "1  a b \ufffd[2J  c d"


def test_cells_have_the_style_of_their_column() -> None:
    head, line = drawn([(1, "a", "b")], 40, color=True)
    assert head.startswith("\x1b[1mN\x1b[0m")
    assert line == "\x1b[2m1\x1b[0m  \x1b[1ma\x1b[0m      b"


def test_markup_of_a_name_is_text() -> None:
    assert drawn([(1, "[bold]x[/bold]", ":smile:")], 80)[1] == "1  [bold]x[/bold]  :smile:"


@pytest.mark.parametrize(
    ("widths", "room", "fitting"),
    [
        ((3, 20, 20), 80, [3, 20, 20]),
        ((3, 30, 20), 40, [3, 16, 17]),
        ((3, 30, 30), 31, [3, 12, 12]),
        ((3, 30, 30), 20, [3, 6, 7]),
        ((3, 30, 30), 5, [3, 4, 4]),
        ((50, 5, 3), 20, [50, 4, 3]),
    ],
)
def test_the_widest_gives_way_first_and_none_vanishes(
    widths: tuple[int, ...], room: int, fitting: list[int]
) -> None:
    assert fitted(widths, [column.cut for column in COLUMNS], room) == fitting


@pytest.mark.parametrize(
    ("room", "kept"), [(60, [0, 1, 2, 3]), (38, [0, 1, 2, 3]), (37, [0, 2, 3]), (20, [0, 3])]
)
def test_columns_that_can_be_spared_go_before_the_table_is_too_wide(
    room: int, kept: list[int]
) -> None:
    columns = (
        Column("ID"),
        Column("TITLE", "", Cut.END, spare=1),
        Column("SIZE", spare=2),
        Column("NOTE", "", Cut.START),
    )
    assert kept_columns(columns, (2, 30, 6, 40), room) == kept


def test_a_cut_text_is_never_wider_than_it_may_be() -> None:
    for text in ("plain words", "观星笔记观星笔记", "a观b星c笔d"):
        for width in range(2, 12):
            for cut in (Cut.END, Cut.START):
                assert cell_len(cut_to(text, width, cut)) <= width
    assert cut_to("whole", 5, Cut.END) == "whole"
