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
ClientProjectOption = Annotated[
    str | None,
    typer.Option("--project", "-p", metavar="NAME", help="The default project for this client."),
]
ClientReadOnlyOption = Annotated[
    bool, typer.Option("--read-only", help="Only let the client read.")
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON document instead of text.")
]
FolderArgument = Annotated[  # a text: typer would check a Path itself, in words of its own
    str, typer.Argument(metavar="PATH", help="The folder of notes.", show_default=False)
]
ExpectOption = Annotated[
    str | None,
    typer.Option(
        "--expect-checksum",
        metavar="CHECKSUM",
        help="Refuse if the note's file has another checksum by now.",
    ),
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Only say what it would do.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
PageOption = Annotated[int, typer.Option("--page", min=1, max=1_000_000, help="Which page.")]
