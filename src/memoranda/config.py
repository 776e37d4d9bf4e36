"""Where settings come from, and which projects they mean.

Environment > `config.json` > defaults (spec 9.2). `load_settings` runs once in an entry point; the
parts receive values. This is the only module that reads the environment.

Importing it is cheap: the settings classes (pydantic) load with the first use of `Settings`,
`ProjectEntry` or `load_settings`.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memoranda.config_file import ConfigFile, ensure_private_folder
from memoranda.errors import (
    ConfigProblem,
    InvalidArgument,
    ProjectConflict,
    ProjectNotFound,
    RootMissing,
)
from memoranda.model.address import slug
from memoranda.model.project import Project

if TYPE_CHECKING:
    from pydantic import ValidationError

    from memoranda.settings import ProjectEntry, Settings

__all__ = [
    "ConfigFile",
    "ConfiguredProjects",
    "ProjectEntry",
    "Settings",
    "check_project_folder",
    "client_environment",
    "config_dir",
    "config_file",
    "configured_projects",
    "database_path",
    "endpoint_key",
    "ensure_private_folder",
    "environment_variables",
    "find_project",
    "history_folder",
    "http_token",
    "http_token_file",
    "load_settings",
    "lock_folder",
    "log_file",
    "model_caches",
    "project_folder",
    "project_permalink",
    "search_log_file",
]

HISTORY_FOLDER = "history"
LOCKS_FOLDER = "locks"
SEARCH_LOG = "searches.jsonl"
_DIR_VARIABLE = "BASIC_MEMORY_CONFIG_DIR"
_KEY_VARIABLE = "BASIC_MEMORY_SEMANTIC_API_KEY"
_TOKEN_VARIABLE = "BASIC_MEMORY_HTTP_TOKEN"  # the name of a variable  # noqa: S105
_NO_SETTINGS = frozenset({_DIR_VARIABLE, _KEY_VARIABLE, _TOKEN_VARIABLE})
_CLIENT_VARIABLES = ("APPDATA", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME")
_OPENAI_HOST = "api.openai.com"
_JSON_HINTS = {
    "projects": 'Write for example {"main": {"path": "/home/me/notes"}}.',
    "search_languages": 'Write for example ["english", "german"].',
    "toolsets": 'Write for example ["notes", "admin"].',
    "http_allowed_hosts": 'Write for example ["notes.example.org"].',
    "http_allowed_origins": 'Write for example ["https://chat.example.org"].',
}
_MAX_PERMALINK_BYTES = 120  # it names a folder: far below the 255 bytes of a file name


def __getattr__(name: str) -> Any:
    if name in {"ProjectEntry", "Settings"}:
        from memoranda import settings

        return getattr(settings, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def config_dir() -> Path:
    """The folder of the configuration and the databases; nothing is made.

    `BASIC_MEMORY_CONFIG_DIR` (`~` expanded, else relative to the current folder) or
    `~/.basic-memory`.
    """
    value = os.environ.get(_DIR_VARIABLE, "").strip()
    try:
        return Path(value or "~/.basic-memory").expanduser().absolute()
    except (RuntimeError, ValueError) as error:
        raise ConfigProblem(
            _DIR_VARIABLE if value else "HOME",
            f"{_DIR_VARIABLE} names no folder: {error}"
            if value
            else "There is no home folder to keep the configuration in",
            hint=f"Set {_DIR_VARIABLE} to an absolute path.",
        ) from error


def config_file() -> ConfigFile:
    """The configuration file of this process."""
    return ConfigFile(config_dir() / "config.json")


def log_file() -> Path:
    """Where the log goes; nothing is made."""
    return config_dir() / "memoranda.log"


def project_folder(project: Project) -> Path:
    """The folder of a project in the configuration folder; nothing is made."""
    return config_dir() / project.permalink


def database_path(project: Project) -> Path:
    """The SQLite file of a project's index; nothing is made. Source: spec 10."""
    return project_folder(project) / "memory.db"


def lock_folder(project: Project) -> Path:
    """Where the lock files of a project's notes are; nothing is made."""
    return project_folder(project) / LOCKS_FOLDER


def history_folder(project: Project) -> Path:
    """Where the history of what tools changed is; nothing is made."""
    return config_dir() / project.permalink / HISTORY_FOLDER


def search_log_file(project: Project) -> Path:
    """Where the searches in a project are recorded; nothing is made."""
    return config_dir() / project.permalink / SEARCH_LOG


def http_token_file() -> Path:
    """Where the token for clients over HTTP is unless a setting names another file; nothing is made."""
    return config_dir() / "http.token"  # no project's folder has a dot in its name


def model_caches() -> tuple[Path, ...]:
    """The folders in which downloaded embedding models may be; nothing is made. Ours is the first.

    The other is the one of the library fastembed: `FASTEMBED_CACHE_PATH`, else a folder below the system's
    folder for temporary files if it belongs to this user, since others may write there.
    """
    ours = config_dir() / ".models"  # no project's folder has such a name
    if given := os.environ.get("FASTEMBED_CACHE_PATH", "").strip():
        return ours, Path(given).expanduser()
    shared = Path(tempfile.gettempdir()) / "fastembed_cache"
    try:
        is_own = shared.lstat().st_uid == os.getuid()
    except OSError:
        is_own = False
    return (ours, shared) if is_own else (ours,)


def endpoint_key(host: str) -> str:
    """The key that the environment has for an embedding endpoint, "" when it has none.

    OPENAI_API_KEY is for OpenAI's own host alone: no other one is told it.
    """
    key = os.environ.get(_KEY_VARIABLE, "")
    if not key.strip() and host == _OPENAI_HOST:
        key = os.environ.get("OPENAI_API_KEY", "")
    return key.strip()


def http_token() -> str | None:
    """The token that the environment sets for clients over HTTP; None: the variable is not there.

    An empty one is "", so that somebody who means to set a token is not served without.
    """
    value = os.environ.get(_TOKEN_VARIABLE)
    return None if value is None else value.strip()


def client_environment() -> dict[str, str]:
    """Those variables that say where MCP clients keep their configuration."""
    return {name: os.environ[name] for name in _CLIENT_VARIABLES if name in os.environ}


def environment_variables() -> tuple[str, ...]:
    """The names of all variables with our prefix but those of the folder and the secrets, known ones or not."""
    prefix = _DIR_VARIABLE.removesuffix("CONFIG_DIR")
    names = (name for name in os.environ if name.upper().startswith(prefix))
    return tuple(sorted(name for name in names if name.upper() not in _NO_SETTINGS))


def load_settings() -> Settings:
    """Read environment and configuration file and check every value.

    Projects of the environment are merged by name over the file's: a name in both means the
    environment's entry alone, and the environment's come first. A null in the file means "not set".

    Raises:
        ConfigProblem: the file is broken or a value is not usable; it names the file with line and
            key, or the environment variable.
    """
    from pydantic import ValidationError
    from pydantic_settings import SettingsError

    from memoranda.settings import ENV_PREFIX, Settings, environment_values

    file = config_file()
    file_values = file.read()
    try:
        environment = environment_values()
    except SettingsError as error:
        match = re.search(r'field "(\w+)"', str(error))
        variable = ENV_PREFIX + (match[1].upper() if match else "")
        reason = error.__cause__ or "not JSON"
        raise ConfigProblem(
            variable,
            f"The environment variable {variable} is not JSON: {reason}",
            hint=_JSON_HINTS.get(match[1] if match else "", "Write it as JSON."),
        ) from error
    values = {
        k: v for k, v in file_values.items() if v is not None or k not in Settings.model_fields
    }
    values |= environment
    if isinstance(environment.get("projects"), dict):
        values["projects"] = _merged_projects(environment["projects"], file_values.get("projects"))
    try:
        return Settings(**values)
    except ValidationError as error:
        raise _value_problem(error, environment, file, ENV_PREFIX) from error


def project_permalink(name: str) -> str:
    """The slug of a project's name, never empty and short enough to name a folder."""
    permalink = slug(name)
    if permalink and len(permalink.encode()) <= _MAX_PERMALINK_BYTES:
        return permalink
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:8]
    cut = permalink.encode()[:_MAX_PERMALINK_BYTES].decode("utf-8", "ignore").strip("-")
    return f"{cut}-{digest}" if cut else digest


class ConfiguredProjects(tuple[Project, ...]):
    """The projects of a configuration, in its order.

    Attributes:
        missing_default: the configured default when no project has that name, else "".
    """

    missing_default: str = ""


def configured_projects(settings: Settings) -> ConfiguredProjects:
    """The projects in configured order, with the default marked and what cannot be served disabled.

    Disabled with the reason: switched off, another mode than local, no absolute path, a folder that
    is refused, and of two active names for one folder (links resolved) or one permalink the second.
    A project's folder inside another one is left out by the outer one (`skips`), and so is the
    configuration folder. Whether a folder exists is not asked.

    The default is `default_project` (even a disabled one: writes never go elsewhere silently). When
    it is not set, it is the first active project; when no project has that name, there is none.

    Source: spec 11.
    """
    projects: list[Project] = []
    real: dict[str, str] = {}  # name -> real path, of active projects
    for name, entry in settings.projects.items():
        permalink = project_permalink(name)
        path, real_path, reason = _folder(entry)
        if not reason:
            active = [other for other in projects if other.is_active]
            for other in active:
                if real[other.name] == real_path:
                    reason = f"the project {other.name!r} has the same folder"
                elif other.permalink == permalink:
                    reason = f"the project {other.name!r} has nearly the same name"
        if not reason:
            real[name] = real_path
        projects.append(Project(name, permalink, path, disabled=reason))
    default, missing = _default_name(projects, settings.default_project)
    inner = [*real.values(), os.path.realpath(config_dir())]
    found = ConfiguredProjects(
        Project(
            project.name,
            project.permalink,
            project.path,
            is_default=project.name == default,
            disabled=project.disabled,
            skips=_below(real[project.name], inner) if project.is_active else (),
        )
        for project in projects
    )
    found.missing_default = missing
    return found


def find_project(projects: Sequence[Project], name: str | None) -> Project:
    """The project of that name; None or blank is the default. May be a disabled one.

    Names are case-blind (NFC) and the permalink is accepted; an exact name beats the rest, an
    active project a disabled one.

    Raises:
        ProjectNotFound: no such project, a configured default that does not exist, or no project at
            all; names the active ones.

    Source: spec 11.
    """
    known = [project.name for project in projects if project.is_active]
    if name is None or not name.strip():
        for project in projects:
            if project.is_default:
                return project
        raise _no_default(projects, known)
    key = _name_key(name)
    matches = [p for p in projects if _name_key(p.name) == key or p.permalink == key]
    if not matches:
        raise ProjectNotFound(name.strip(), known)
    return min(matches, key=lambda p: (p.name != name, not p.is_active, _name_key(p.name) != key))


def check_project_folder(path: str | Path, settings: Settings, *, must_exist: bool = False) -> Path:
    """The absolute folder for a new project, `~` expanded; nothing is made.

    Args:
        path: what the caller gave.
        settings: no project in it may have the same folder.
        must_exist: False accepts a folder that is still to be made.

    Raises:
        InvalidArgument: empty, relative, or not a possible path.
        ProjectConflict: the root of the file system, the home folder, the configuration folder or
            below it, a file, or the folder of another project.
        RootMissing: the folder is not there (`must_exist`) or cannot be read.
    """
    folder, reason = _absolute(str(path))
    if reason:
        raise InvalidArgument("path", f"{str(path)!r} cannot be a project: {reason}")
    real_path = os.path.realpath(folder)
    if reason := _refusal(real_path):
        raise ProjectConflict(
            f"{folder} cannot be a project: {reason}", hint="Choose a folder made for your notes."
        )
    for other in configured_projects(settings):
        if other.is_active and os.path.realpath(other.path) == real_path:
            raise ProjectConflict(
                f"{folder} is already the folder of the project {other.name!r}",
                hint=f"Use the project {other.name!r}, or remove it first.",
            )
    _check_on_disk(folder, must_exist=must_exist)
    return folder


def _check_on_disk(folder: Path, *, must_exist: bool) -> None:
    try:
        with os.scandir(folder):
            return
    except FileNotFoundError as error:
        if must_exist:
            raise RootMissing(
                str(folder), f"There is no folder {folder}", hint="Make it, or correct the path."
            ) from error
    except NotADirectoryError as error:
        raise ProjectConflict(
            f"{folder} is not a folder", hint="Give the folder that holds the notes."
        ) from error
    except OSError as error:
        raise RootMissing(
            str(folder),
            f"{folder} cannot be read: {error.strerror}",
            hint="Check the owner and the permissions of the folder.",
        ) from error


def _folder(entry: ProjectEntry) -> tuple[Path, str, str]:
    """Absolute path, real path, and why the entry is not served ("" when it is)."""
    path, reason = _absolute(entry.path)
    if not entry.is_active:
        return path, "", "it is switched off (is_active is false)"
    if entry.mode.strip().lower() == "cloud":
        return path, "", "cloud projects are not supported"
    if entry.mode.strip().lower() != "local":
        return path, "", f"the mode {entry.mode!r} is not known"
    if reason:
        return path, "", reason
    real_path = os.path.realpath(path)
    return path, real_path, _refusal(real_path)


def _absolute(text: str) -> tuple[Path, str]:
    """`text` as an absolute path and why it is none. A relative one is refused: a server has no folder."""
    fallback = config_dir() / "no-folder"
    if not text.strip():
        return fallback, "the path is empty"
    if "\0" in text or not _is_unicode(text):
        return fallback, "the path has a character that no path can have"
    try:
        path = Path(text.strip()).expanduser()
    except RuntimeError:
        return fallback, "the path starts with the name of an unknown user"
    if not path.is_absolute():
        return fallback, f"the path {text!r} is not absolute"
    return Path(os.path.realpath(path) if ".." in path.parts else path), ""


def _refusal(real_path: str) -> str:
    """Why this folder can never be a project, "" when it can."""
    config = os.path.realpath(config_dir())
    if Path(real_path).parent == Path(real_path):
        return "it is the root of the file system"
    if real_path == os.path.realpath(os.path.expanduser("~")):  # noqa: PTH111  (never raises)
        return "it is the home folder itself"
    if real_path == config or real_path.startswith(config + os.sep):
        return "it is the configuration folder or lies in it"
    return ""


def _below(outer: str, folders: Iterable[str]) -> tuple[str, ...]:
    """Those folders that lie inside `outer`, relative to it, POSIX, sorted. All are real paths."""
    prefix = outer + os.sep
    return tuple(
        sorted(
            {f.removeprefix(prefix).replace(os.sep, "/") for f in folders if f.startswith(prefix)}
        )
    )


def _default_name(projects: Sequence[Project], wanted: str | None) -> tuple[str | None, str]:
    """The default's name if there is one, and the configured name when nothing has it."""
    if wanted is not None and wanted.strip():
        try:
            return find_project(projects, wanted).name, ""
        except ProjectNotFound:
            return None, wanted.strip()
    return next((project.name for project in projects if project.is_active), None), ""


def _no_default(projects: Sequence[Project], known: Sequence[str]) -> ProjectNotFound:
    missing = projects.missing_default if isinstance(projects, ConfiguredProjects) else ""
    if not missing or not projects:
        return ProjectNotFound(None, known)
    error = ProjectNotFound(missing, known)
    error.hint = f"It is set as the default, by default_project or BASIC_MEMORY_DEFAULT_PROJECT. {error.hint}"
    return error


def _merged_projects(environment: dict[str, Any], from_file: object) -> object:
    if from_file is None:
        return environment
    if not isinstance(from_file, dict):
        return from_file  # the check of the values names the file
    names = {project_permalink(name) for name in environment}
    return environment | {
        name: entry for name, entry in from_file.items() if project_permalink(name) not in names
    }


def _value_problem(
    error: ValidationError, environment: Mapping[str, Any], file: ConfigFile, prefix: str
) -> ConfigProblem:
    """The first bad value as an error that names where it was set."""
    first = error.errors(include_url=False, include_context=False)[0]
    where = [str(part) for part in first["loc"]]
    key = where[0] if where else ""
    shown = ".".join(where)
    message = first["msg"].removeprefix("Value error, ")
    given = environment.get(key)
    in_environment = key in environment
    if key == "projects" and isinstance(given, dict) and len(where) > 1:
        in_environment = where[1] in given
    if in_environment:
        variable = prefix + key.upper()
        detail = f" at {'.'.join(where[1:])}" if len(where) > 1 else ""
        return ConfigProblem(
            variable,
            f"The environment variable {variable} is not usable{detail}: {message}",
            hint="Correct or unset the variable.",
        )
    line = _line_of(file.text() or "", where[:2])
    place = f", line {line}" if line else ""
    return ConfigProblem(
        str(file.path),
        f"{file.path}{place}: the key {shown!r} is not usable: {message}",
        line=line,
        hint="Correct the value in the file, or remove the key.",
    )


def _line_of(text: str, keys: Sequence[str]) -> int | None:
    """The line of a key below its parents; None when the text does not say it beyond doubt."""
    position = 0
    for depth, key in enumerate(keys):
        places = [m.start() for m in re.finditer(rf'"{re.escape(key)}"\s*:', text)]
        if depth == 0 and len(places) != 1:
            return None
        later = [place for place in places if place >= position]
        if not later:
            break
        position = later[0]
    return text.count("\n", 0, position) + 1 if keys else None


def _name_key(name: str) -> str:
    return unicodedata.normalize("NFC", name.strip()).casefold()


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
