"""`memoranda config ...`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import typer

from memoranda.cli.options import EveryProjectOption, JsonOption

if TYPE_CHECKING:
    from memoranda.config import Settings

DETECTED = (
    "semantic_search_enabled",
    "semantic_embedding_provider",
    "semantic_embedding_model",
    "semantic_min_similarity",
)
"""Settings whose default does not count: when they are not given, what works and suits is taken."""

_SECRET_OPTION = re.compile(r"(?<=password=)[^&#]*", re.IGNORECASE)

commands = typer.Typer(
    help="Look at the configuration.", no_args_is_help=True, rich_markup_mode=None
)


@commands.callback()
def _group() -> None:
    """Look at the configuration."""


@commands.command()
def show(project: EveryProjectOption = None, as_json: JsonOption = False) -> None:
    """Print the settings in force and the files they come from.

    Environment variables win over the file, the file wins over the defaults; behind each value
    stands which of them it comes from.
    """
    from memoranda.cli.output import write_json, write_text
    from memoranda.config import (
        config_dir,
        configured_projects,
        find_project,
        load_settings,
        log_file,
    )

    settings = load_settings()
    values, sources = shown_settings(settings), value_sources(settings)
    if project:
        chosen = find_project(configured_projects(settings), project).name
        for shown in (values, sources):
            shown["projects"] = {chosen: shown["projects"][chosen]}
    places = {
        "config_file": str(config_dir() / "config.json"),
        "config_folder": str(config_dir()),
        "log_file": str(log_file()),
    }
    if as_json:
        write_json(places | {"settings": values, "sources": sources})
    else:
        write_text("\n".join(_lines(places, {}) + _lines(values, sources)))


def shown_settings(settings: Settings) -> dict[str, Any]:
    """All settings as JSON values; the password in a connection string is not shown."""
    values = settings.model_dump(mode="json")
    if values.get("database_url"):
        values["database_url"] = _without_password(values["database_url"])
    return values


def value_sources(settings: Settings) -> dict[str, Any]:
    """Setting -> "environment", "file", "default" or "detected"; for `projects` such a word for each project.

    "detected": it is not given, and its default in the list of settings does not count.
    """
    from memoranda.config import config_file
    from memoranda.settings import environment_values

    environment, file = environment_values(), config_file().read()

    def source(name: str) -> str:
        if name in environment:
            return "environment"
        if file.get(name) is not None:
            return "file"
        return "detected" if name in DETECTED else "default"

    sources: dict[str, Any] = {name: source(name) for name in settings.model_dump()}
    of_environment = environment.get("projects", {})
    sources["projects"] = {
        name: "environment" if name in of_environment else "file" for name in settings.projects
    }
    return sources


def _without_password(url: str) -> str:
    """The address with `***` for the password; what is no address is not shown at all.

    Taken for the password is all up to the last "@", as a person may have left it unquoted.
    """
    scheme, found, rest = url.partition("://")
    if not found:
        return "***"
    before, found, after = rest.rpartition("@")
    if ":" in before:
        before = f"{before.partition(':')[0]}:***"
    return f"{scheme}://{_SECRET_OPTION.sub('***', before + found + after)}"


def _lines(values: dict[str, Any], sources: dict[str, Any]) -> list[str]:
    from json import dumps

    lines = []
    for name, value in values.items():
        source = sources.get(name)
        if isinstance(value, dict) and isinstance(source, dict):
            lines.append(f"{name}:" if value else f"{name} = {{}}")
            lines += [
                f"  {key} = {dumps(item, ensure_ascii=False)}  ({source[key]})"
                for key, item in value.items()
            ]
            continue
        shown = value if isinstance(value, str) else dumps(value, ensure_ascii=False)
        if source == "detected":
            lines.append(f"{name} = (detected, see `memoranda status`)")
            continue
        lines.append(f"{name} = {shown}" + (f"  ({source})" if source else ""))
    return lines
