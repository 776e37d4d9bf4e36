"""Text for a person at a terminal: folded to its width, what matched in bold.

A pipe gets the plain text of `output`; no escape sequence is ever in a file.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memoranda.cli.output import Styled, shown
from memoranda.render.search import MARKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.text import Text

_HANGING = 3
_NARROWEST = 20
_MARKED = re.compile(f"{MARKS[0]}([^{MARKS[1]}]*){MARKS[1]}")


def terminal(*, stderr: bool = False) -> Console:
    """The terminal that stdout or stderr is.

    With NO_COLOR in the environment bold is left: it is a shape of letters. Dim goes with the colours:
    terminals show it as a paler one.
    """
    from rich.console import Console

    console = Console(stderr=stderr)
    if console.no_color:
        from rich.style import Style
        from rich.theme import Theme

        console.push_theme(Theme({"dim": Style.null()}))
    return console


def print_styled(lines: Styled, *, stderr: bool = False) -> None:
    """Print lines in their styles; the terminal breaks those that are too long for it.

    A terminal that knows no colours (TERM=dumb) gets plain letters.
    """
    from rich.text import Text

    console = terminal(stderr=stderr)
    for line, style in lines:
        console.print(Text(shown(line, on_terminal=True), style), soft_wrap=True, highlight=False)


def print_marked(console: Console, text: str) -> None:
    """Print lines whose marked parts are bold; what does not fit on a line goes on below, indented.

    A terminal that knows no bold type (TERM=dumb) gets plain letters.
    """
    for line in shown(text, on_terminal=True).splitlines():
        for piece in _folded(console, line):
            console.print(piece, soft_wrap=True, highlight=False)


def _folded(console: Console, line: str) -> Iterator[Text]:
    from rich.text import Text

    words = line.lstrip(" ")
    indent = len(line) - len(words)
    width = max(_NARROWEST, console.width - indent - _HANGING)
    for number, piece in enumerate(_styled(words).wrap(console, width)):
        piece.rstrip()
        yield Text(" " * (indent + (_HANGING if number else 0))) + piece


def _styled(text: str) -> Text:
    from rich.text import Text

    styled = Text()
    at = 0
    for match in _MARKED.finditer(text):
        styled.append(text[at : match.start()])
        styled.append(match[1], "bold")
        at = match.end()
    return styled.append(text[at:])
