"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

ProjectOption = Annotated[
    str | None,
    typer.Option("--project", "-p", metavar="NAME", help="The project; default: the default one."),
]
EveryProjectOption = Annotated[
    str | None,
    typer.Option("--project", "-p", metavar="NAME", help="Only this project; default: all."),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON document instead of text.")
]
FolderArgument = Annotated[  # a text: typer would check a Path itself, in words of its own
    str, typer.Argument(metavar="PATH", help="The folder of notes.", show_default=False)
]
