"""`memoranda search`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memoranda.cli.options import JsonOption, ProjectOption
from memoranda.model.search import SearchType

if TYPE_CHECKING:
    from datetime import datetime

    from memoranda.container import Container
    from memoranda.model.project import Project
    from memoranda.model.search import SearchResults


def search(
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="Words to find; may be left out with a filter.")
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=200, help="Notes on a page, 1 to 200.")
    ] = 10,
    page: Annotated[int, typer.Option("--page", min=1, max=10_000, help="Which page.")] = 1,
    note_types: Annotated[
        list[str] | None,
        typer.Option("--type", metavar="TYPE", help="Only notes of this type; repeat for more."),
    ] = None,
    tags: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="TAG", help="Only notes with this tag; repeated: with all."),
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="Only titles with this in them.")
    ] = None,
    after: Annotated[
        str | None,
        typer.Option(
            "--after", metavar="WHEN", help="Only notes changed since: 2026-03-01, 7d, ..."
        ),
    ] = None,
    mode: Annotated[
        SearchType | None,
        typer.Option("--mode", help="fts, vector or hybrid; default: the best there is."),
    ] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find notes, best first, with the passages that match."""
    from memoranda.cli.freshness import WHOLE, brought_up_to_date
    from memoranda.cli.output import write_json, write_text
    from memoranda.cli.session import opened, with_container
    from memoranda.model.search import SearchFilters, SearchQuery

    filters = SearchFilters(
        title=title or None,
        note_types=_words(note_types),
        tags=_words(tags),
        after_date=_moment(after) if after else None,
    )
    if not query.strip() and filters == SearchFilters():
        raise typer.BadParameter("give words to find, or a filter", param_hint="QUERY")

    async def work(container: Container) -> tuple[Project, SearchResults]:
        chosen = container.find_project(project)
        workspace = await opened(container, chosen)
        await brought_up_to_date(workspace)
        best = SearchType.HYBRID if container.settings.semantic_search_enabled else SearchType.FTS
        wanted = SearchQuery(query, mode or best, filters, limit=limit, offset=(page - 1) * limit)
        return chosen, await workspace.search.search(wanted)

    chosen, results = with_container(work)
    if as_json:
        from memoranda.render.search import results_data

        write_json(results_data(results, chosen, WHOLE))
    else:
        from memoranda.render.search import results_text

        write_text(_as_option(results_text(results, WHOLE)))


def _as_option(text: str) -> str:
    """How to go on, in the words of the command line."""
    return text.replace("\nMore: page=", "\nMore: --page ")


def _words(values: list[str] | None) -> tuple[str, ...]:
    """A comma separates, as it does for an assistant: no tag or type holds one."""
    parts = (part.strip() for value in values or () for part in value.split(","))
    return tuple(part for part in parts if part)


def _moment(text: str) -> datetime:
    from memoranda.files.clock import SystemClock
    from memoranda.services.timeframe import parse_timeframe

    return parse_timeframe(text, SystemClock().now(), parameter="--after")
