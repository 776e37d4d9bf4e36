"""`memoranda search`."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from memoranda.cli.options import JsonOption, ProjectOption
from memoranda.model.search import ItemType, SearchType

if TYPE_CHECKING:
    from memoranda.container import Container
    from memoranda.model.project import Project
    from memoranda.model.search import SearchResults

_MODE_HELP = "fts: by words; vector: by meaning; hybrid: by both, the default unless search by meaning is off."


def _similarity(value: float | None) -> float | None:
    if value is not None and not 0 <= value <= 1:  # NaN is none either
        raise typer.BadParameter(f"{value:g} is not between 0 and 1")
    return value


def search(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="QUERY",
            help="What to find, as words or a question; may be left out with a filter.",
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=200, help="Hits on a page, 1 to 200.")
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
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            "--after",
            metavar="WHEN",
            help="Only notes whose file changed since: 2026-03-01, 7d, ...",
        ),
    ] = None,
    path: Annotated[
        str | None,
        typer.Option(
            "--path",
            metavar="PATH",
            help="Only notes whose path begins so: notes/, /notes/a, or a pattern with *.",
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where",
            metavar="CONDITION",
            help=(
                "Only notes whose frontmatter fulfils it: KEY (is there), KEY=VALUE, KEY!=VALUE, "
                "KEY>=VALUE (also > < <=), KEY~VALUE (contains). Quote it, as > and < are signs of the "
                "shell. Repeat for more; all must hold."
            ),
        ),
    ] = None,
    item_types: Annotated[
        list[ItemType] | None,
        typer.Option(
            "--item-type",
            metavar="PART",
            help=(
                "Find such parts of notes: section, observation or relation; entity: whole notes. "
                "Repeat for more."
            ),
        ),
    ] = None,
    mode: Annotated[
        SearchType | None,
        typer.Option("--mode", metavar="MODE", help=_MODE_HELP),
    ] = None,
    min_similarity: Annotated[
        float | None,
        typer.Option(
            "--min-similarity",
            metavar="NUMBER",
            help=(
                "Meaning finds only what is at least so near, 0 (anything) to 1 (the same); left out: as "
                "fits the model."
            ),
            callback=_similarity,
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say why each hit is where it is.")
    ] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find notes, best first, with the passages that match.

    QUERY is words or a question. It may have "a phrase" in quotes, AND, OR, NOT, -word, tag:, type:, title:,
    path: and dates such as "last week". Put -- before a query that begins with a minus.
    """
    from memoranda.cli.freshness import WHOLE, brought_up_to_date
    from memoranda.cli.notes import me
    from memoranda.cli.output import write_json
    from memoranda.cli.searching import usual_mode
    from memoranda.cli.session import opened, with_container
    from memoranda.cli.when import since_when
    from memoranda.cli.where import parse_where
    from memoranda.model.search import SearchFilters, SearchQuery

    query = " ".join(words or ())
    filters = SearchFilters(
        title=title or None,
        note_types=_words(note_types),
        tags=_words(tags),
        after_date=since_when(since) if since else None,
        item_types=tuple(item_types or ()),
        metadata=tuple(map(parse_where, where or ())),
        path=path or None,
    )
    if not query.strip() and filters == SearchFilters():
        raise typer.BadParameter("give words to find, or a filter", param_hint="QUERY")
    filters = replace(filters, min_similarity=min_similarity)

    async def work(container: Container) -> tuple[Project, SearchResults]:
        chosen = container.find_project(project)
        container.choice.look_only()
        workspace = await opened(container, chosen)
        await brought_up_to_date(workspace)
        wanted = SearchQuery(
            query,
            mode or usual_mode(container.settings),
            filters,
            limit=limit,
            offset=(page - 1) * limit,
            explain=explain,
        )
        return chosen, await workspace.search.search(wanted, by=me("search"))

    chosen, results = with_container(work)
    if as_json:
        from memoranda.render.search import results_data

        write_json(results_data(results, chosen, WHOLE))
    else:
        _print(results)


def _print(results: SearchResults) -> None:
    from memoranda.cli.freshness import WHOLE
    from memoranda.cli.output import write_text
    from memoranda.cli.wording import next_page
    from memoranda.render.search import results_text

    is_seen = sys.stdout.isatty()
    text = next_page(results_text(results, WHOLE, is_marked=is_seen))
    if is_seen:
        from memoranda.cli.terminal import print_marked, terminal

        print_marked(terminal(), text)
    else:
        write_text(text)


def _words(values: list[str] | None) -> tuple[str, ...]:
    """A comma separates, as it does for an assistant: no tag or type holds one."""
    parts = (part.strip() for value in values or () for part in value.split(","))
    return tuple(part for part in parts if part)
