"""`memoranda recent`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memoranda.cli.options import JsonOption, PageOption, ProjectOption

if TYPE_CHECKING:
    from memoranda.container import Container
    from memoranda.model.project import Project
    from memoranda.model.views import Activity

_USUAL = "7d"


def recent(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="WHEN",
            help="Since when: 7d, today, last week, 2026-03-01, ...; left out: 7d.",
        ),
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="WHEN", help="The same as an option.")
    ] = None,
    note_types: Annotated[
        list[str] | None,
        typer.Option("--type", metavar="TYPE", help="Only notes of this type; repeat for more."),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=1000, help="Notes on a page, 1 to 1000.")
    ] = 20,
    page: PageOption = 1,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the notes whose files changed, the newest first.

    CHANGED is the time of the file, whatever date the note's header has.
    """
    from memoranda.cli.freshness import WHOLE
    from memoranda.cli.notes import notes_of
    from memoranda.cli.output import write_json
    from memoranda.cli.session import with_container
    from memoranda.cli.when import since_when
    from memoranda.render.browse import activity_data

    if words and since:
        raise typer.BadParameter("give WHEN or --since, not both", param_hint="--since")
    begun = since_when(since or " ".join(words or ()) or _USUAL, "--since" if since else "WHEN")
    types = [part.strip() for each in note_types or () for part in each.split(",")]

    async def work(container: Container) -> tuple[Project, Activity]:
        workspace = await notes_of(container, project)
        found = await workspace.browse.recent_activity(
            begun, note_types=[each for each in types if each], page=page, page_size=limit
        )
        return workspace.project, found

    chosen, found = with_container(work)
    if as_json:
        write_json(activity_data(found, chosen, WHOLE))
    else:
        _print(found)


def _print(found: Activity) -> None:
    from memoranda.cli.freshness import WHOLE
    from memoranda.cli.output import write_note, write_text
    from memoranda.cli.tables import Column, Cut, print_table
    from memoranda.cli.wording import nothing_found
    from memoranda.render.browse import activity_text, since_text
    from memoranda.render.notes import count

    if not found.results:
        write_text(nothing_found(activity_text(found, WHOLE)))
        return
    columns = (
        Column("CHANGED", "dim", spare=3),
        Column("TITLE", "bold", Cut.END, spare=2),
        Column("TYPE", "", Cut.END, spare=1),
        Column("NOTE", "cyan", Cut.START),
    )
    times = found.changed_at or tuple(ref.updated_at for ref in found.results)
    rows = [
        (f"{at.astimezone():%Y-%m-%d %H:%M}", ref.title, ref.note_type, ref.file_path)
        for at, ref in zip(times, found.results, strict=True)
    ]
    print_table(columns, rows)
    shown = (found.page - 1) * found.page_size + len(found.results)
    more = f"; go on with --page {found.page + 1}" if shown < found.total else ""
    write_note(f"note: {count(found.total, 'note')} changed {since_text(found.since)}{more}")
