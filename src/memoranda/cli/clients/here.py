"""What is so on this machine: the server that a client would reach, and where its file is."""

from __future__ import annotations

import sys
from pathlib import Path

from memoranda.cli.clients.places import Client, Platform, client_file, client_folder, kind_of
from memoranda.cli.clients.servers import Remote, Server, Stdio, is_here
from memoranda.config import client_environment, config_dir, http_token, http_token_file
from memoranda.errors import ConfigProblem, InvalidArgument


def server_here(project: str | None, url: str | None, *, read_only: bool) -> Server:
    """The server to write down: one that runs at `url`, else one that the client starts.

    Raises:
        ProjectNotFound: no project of that name.
        ConfigProblem: the configuration cannot be read.
    """
    from memoranda.cli.command_line import needed_environment
    from memoranda.cli.connect import server_command

    if url is not None:
        return Remote(url, _needs_token(url))
    words = server_command()
    if project is not None:
        from memoranda.config import configured_projects, find_project, load_settings

        words += ["--project", find_project(configured_projects(load_settings()), project).name]
    if read_only:
        words.append("--read-only")
    return Stdio(tuple(words), needed_environment(config_dir()))


def file_here(client: Client, given: str | None) -> Path | None:
    """The client's file, absolute: the one that is given, else the usual one; None: it keeps none.

    Raises:
        InvalidArgument: what is given names no file.
        ConfigProblem: there is no home folder.
    """
    if given is None or not kind_of(client).table:
        found = client_file(client, _platform(), client_environment(), home_folder())
        return None if found is None else Path(str(found)).absolute()
    try:
        return Path(given).expanduser().absolute()
    except RuntimeError as error:
        raise InvalidArgument("--file", f"{given} names no file: {error}") from error


def missing_folder(client: Client, file: Path) -> Path | None:
    """The folder that the client makes when it is first started, if neither that nor the file is there."""
    folder = Path(str(client_folder(client, file, home_folder())))
    return None if file.exists() or folder.exists() else folder


def home_folder() -> Path:
    """The home folder of the user. Raises `ConfigProblem`."""
    try:
        return Path.home()
    except RuntimeError as error:
        hint = "Name the client's file with --file."
        raise ConfigProblem("HOME", f"There is no home folder: {error}", hint=hint) from error


def _needs_token(url: str) -> bool:
    """Whether the server asks for a token: elsewhere always, on this machine when one is configured."""
    from memoranda.config import load_settings

    if not is_here(url) or http_token() is not None or http_token_file().exists():
        return True
    return bool(load_settings().http_token_file)


def _platform() -> Platform:
    if sys.platform == "darwin":
        return Platform.MACOS
    return Platform.WINDOWS if sys.platform == "win32" else Platform.LINUX
