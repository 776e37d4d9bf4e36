"""`memoranda ls`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memoranda.cli.options import JsonOption, PageOption, ProjectOption

if TYPE_CHECKING:
    from memoranda.container import Container
    from memoranda.model.views import DirectoryEntry, DirectoryListing


def ls(
    folder: Annotated[
        str, typer.Argument(metavar="FOLDER", help="The folder; left out: the whole project.")
    ] = "",
    depth: Annotated[
        int, typer.Option("--depth", min=1, max=10, help="How many levels of folders, 1 to 10.")
    ] = 1,
    glob: Annotated[
        str | None,
        typer.Option(
            "--glob",
            metavar="PATTERN",
            help="Only notes whose file name fits, such as '2026-*'; with a / in it, their path.",
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=1000, help="Entries on a page, 1 to 1000.")
    ] = 100,
    page: PageOption = 1,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the folders and notes of a folder.

    UPDATED is the date in a note's header, and where it has none, that of its file.
    """
    from memoranda.cli.freshness import WHOLE
    from memoranda.cli.notes import local_name, notes_of
    from memoranda.cli.output import write_json
    from memoranda.cli.session import with_container
    from memoranda.render.browse import listing_data

    async def work(container: Container) -> DirectoryListing:
        workspace = await notes_of(container, project)
        name = local_name(folder, workspace)
        return await workspace.browse.list_directory(
            "" if name == "/" else name, depth=depth, glob=glob, page=page, page_size=limit
        )

    listing = with_container(work)
    if as_json:
        write_json(listing_data(listing, WHOLE))
    else:
        _print(listing)


def _print(listing: DirectoryListing) -> None:
    from memoranda.cli.freshness import WHOLE
    from memoranda.cli.output import write_note, write_text
    from memoranda.cli.tables import Column, Cut, print_table
    from memoranda.cli.wording import nothing_found
    from memoranda.render.browse import listing_text

    if not listing.entries:
        write_text(nothing_found(listing_text(listing, WHOLE)))
        return
    columns = (
        Column("NAME", "bold", Cut.START),
        Column("TITLE", "", Cut.END, spare=1),
        Column("UPDATED", "dim", spare=3),
        Column("SIZE", "dim", spare=2),
    )
    print_table(columns, [_row(entry) for entry in listing.entries])
    shown = (listing.page - 1) * listing.page_size + len(listing.entries)
    if shown < listing.total:
        write_note(
            f"note: {shown:,} of {listing.total:,} entries; go on with --page {listing.page + 1}"
        )


def _row(entry: DirectoryEntry) -> tuple[str, str, str, str]:
    from memoranda.cli.output import size
    from memoranda.render.notes import count

    if entry.is_directory:
        return f"{entry.name}/", "", "", count(entry.count, "note")
    updated = f"{entry.updated_at.astimezone():%Y-%m-%d %H:%M}" if entry.updated_at else ""
    n_bytes = size(entry.size_bytes) if entry.size_bytes is not None else ""
    return entry.name, entry.title or "", updated, n_bytes
