"""Tables: plain in a file and a pipe; on a terminal coloured and cut to its width."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

from memoranda.cli.output import shown, table, write_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_GAP = 2
_NARROWEST = 12
_LEAST = 4


class Cut(Enum):
    """Which end of a cell gives way where the terminal is too narrow."""

    NONE = auto()
    END = auto()
    START = auto()
    """For paths, whose ends tell more."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        style: of its cells on a terminal, as rich names styles.
        cut: cells that are cut are at least 12 wide, unless the terminal has no room even for that.
        spare: where there is no room, columns that have this are left out, 1 first; 0 stays.
    """

    heading: str
    style: str = ""
    cut: Cut = Cut.NONE
    spare: int = 0


def print_table(columns: Sequence[Column], rows: Sequence[Sequence[object]]) -> None:
    """Print rows under their headings; numbers go to the right, cells are one line each."""
    if not sys.stdout.isatty():
        cells = [[_cell(value) for value in row] for row in rows]
        write_text(table([column.heading for column in columns], cells))
        return
    from memoranda.cli.terminal import terminal

    print_on(terminal(), columns, rows)


def print_on(console: Console, columns: Sequence[Column], rows: Sequence[Sequence[object]]) -> None:
    """`print_table` on a terminal."""
    from rich.cells import cell_len

    texts = [[shown(str(_cell(value)), on_terminal=True) for value in row] for row in rows]
    widths = [
        max(cell_len(text) for text in (column.heading, *(row[i] for row in texts)))
        for i, column in enumerate(columns)
    ]
    kept = kept_columns(columns, widths, console.width)
    columns = [columns[i] for i in kept]
    rows = [[row[i] for i in kept] for row in rows]
    texts = [[row[i] for i in kept] for row in texts]
    widths = fitted([widths[i] for i in kept], [column.cut for column in columns], console.width)
    right = [
        bool(rows) and all(isinstance(row[i], int) for row in rows) for i in range(len(widths))
    ]
    headings = [(column.heading, "bold") for column in columns]
    for cells in (
        headings,
        *([(t, c.style) for t, c in zip(row, columns, strict=True)] for row in texts),
    ):
        line = _line(cells, columns, widths, right)
        line.rstrip()
        console.print(line, soft_wrap=True, highlight=False)


def kept_columns(columns: Sequence[Column], widths: Sequence[int], room: int) -> list[int]:
    """Which columns a terminal with so much room shows, when all that may be cut are."""
    least = [
        width if column.cut is Cut.NONE else min(width, _NARROWEST)
        for column, width in zip(columns, widths, strict=True)
    ]
    kept = list(range(len(columns)))
    for i in sorted((i for i in kept if columns[i].spare), key=lambda i: columns[i].spare):
        if sum(least[k] for k in kept) + _GAP * (len(kept) - 1) <= room:
            break
        kept.remove(i)
    return kept


def fitted(widths: Sequence[int], cuts: Sequence[Cut], room: int) -> list[int]:
    """The widths of columns in a terminal with so much room; the widest that may be cut gives way first."""
    fitting = list(widths)
    over = sum(fitting) + _GAP * (len(fitting) - 1) - room
    for least in (_NARROWEST, _LEAST):
        able = [i for i, cut in enumerate(cuts) if cut is not Cut.NONE and fitting[i] > least]
        while over > 0 and able:
            widest = max(able, key=lambda i: fitting[i])
            fitting[widest] -= 1
            over -= 1
            able = [i for i in able if fitting[i] > least]
    return fitting


def cut_to(text: str, width: int, cut: Cut) -> str:
    """The text in so many columns of a terminal, with an ellipsis where it was cut."""
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) <= width or cut is Cut.NONE:
        return text
    if cut is Cut.END:
        return set_cell_size(text, width - 1).rstrip() + "…"
    while cell_len(text) > width - 1:
        text = text[1:]
    return f"…{text}"


def _line(
    cells: Sequence[tuple[str, str]],
    columns: Sequence[Column],
    widths: Sequence[int],
    right: Sequence[bool],
) -> Text:
    from rich.cells import cell_len
    from rich.text import Text

    line = Text()
    for number, (text, style) in enumerate(cells):
        kept = cut_to(text, widths[number], columns[number].cut)
        blanks = " " * (widths[number] - cell_len(kept))
        if number:
            line.append(" " * _GAP)
        line.append(blanks if right[number] else "")
        line.append(kept, style)
        line.append("" if right[number] else blanks)
    return line


def _cell(value: object) -> object:
    """A number stays one, anything else is one line."""
    return value if isinstance(value, int) else " ".join(str(value).split())
