"""The configured projects, as the configuration stands now.

The configuration file may change under a running server (another assistant, the CLI, an editor); it is
read again when its size or time differs. A change that makes it unusable is logged once and the last
good settings stay in force.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from loguru import logger

from memoranda.config import (
    ConfigFile,
    check_project_folder,
    configured_projects,
    find_project,
    load_settings,
    project_permalink,
)
from memoranda.errors import (
    ConfigProblem,
    FileProblem,
    InvalidArgument,
    MemorandaError,
    ProjectConflict,
)
from memoranda.files.atomic import make_folders, remove_folders
from memoranda.model.project import Project
from memoranda.services.project_places import (
    is_below,
    place_below,
    require_below,
    require_room,
)
from memoranda.settings import Settings


class ProjectRegistry:
    """Projects of one process, and the changes of the configuration that concern them."""

    def __init__(self, settings: Settings, file: ConfigFile) -> None:
        self._settings = settings
        self._file = file
        self._seen = self._stamp()
        self._projects = configured_projects(settings)

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._settings

    def projects(self, *, anew: bool = False) -> tuple[Project, ...]:
        """All configured projects, disabled ones included.

        The configuration is read again when its file has changed; `anew`: in any case.
        """
        if (stamp := self._stamp()) != self._seen or anew:
            self._seen = stamp
            self._reload()
        return self._projects

    def find(self, name: str | None) -> Project:
        """The project of that name, or the default (spec 11).

        Raises:
            ProjectNotFound: none; never replaced by the default.
        """
        return find_project(self.projects(), name)

    def add(
        self, name: str, path: str, *, set_default: bool = False, below: Path | None = None
    ) -> tuple[Project, bool]:
        """Register a folder, made if it is not there.

        Args:
            name: of the project.
            path: absolute, `~` expanded; with `below` also relative to that.
            set_default: make it the default project.
            below: for a client over HTTP: the folder must be below this one, see `project_places`, and
                the default is not its to choose.

        Returns:
            The project, and whether it is new: the same name for the same folder is no error.

        Raises:
            InvalidArgument: no usable name; with `below`, a path that is not below it, or `set_default`.
            ProjectConflict: the name or the folder is taken, or the folder can never be a project.
            ConfigProblem, FileProblem: nothing was registered.
        """
        name = name.strip()
        if not project_permalink(name).strip("-") or not name:
            raise InvalidArgument(
                "name",
                "A project needs a name with a letter or a digit",
                hint="Choose a short name, such as notes.",
            )
        given = path
        if below is not None:
            if set_default:
                raise InvalidArgument(
                    "set_default",
                    "The default project is not changed over HTTP",
                    hint="Leave set_default out, and give project in the calls that mean this one.",
                )
            path = str(place_below(path, below))
        for other in self.projects():
            if other.permalink == project_permalink(name):
                if other.path == Path(path).expanduser() and other.is_active:
                    if set_default:
                        self.set_default(other.name)
                    return self.find(other.name), False
                raise ProjectConflict(
                    f"There is already a project {other.name!r}",
                    hint="Choose another name.",
                    parameter="name",
                )
        folder = check_project_folder(path, self._settings)
        if below is not None:
            require_room(name, folder, self._projects)
        made: list[Path] = []
        try:
            make_folders(folder, made)
            if below is not None:
                require_below(folder, below, given=given)  # a link may have come in between
        except OSError as error:
            remove_folders(made)
            raise FileProblem(
                str(folder), f"The folder {folder} cannot be made: {error.strerror}"
            ) from error
        except MemorandaError:
            remove_folders(made)
            raise

        def change(values: dict[str, Any]) -> None:
            values["projects"] = {**(values.get("projects") or {}), name: {"path": str(folder)}}
            if set_default:
                values["default_project"] = name

        try:
            self._update(change)
        except ConfigProblem:
            remove_folders(made)
            raise
        return self.find(name), True

    def remove(self, name: str, *, below: Path | None = None) -> Project:
        """Take a project out of the configuration; notes and index stay where they are.

        Args:
            name: of the project.
            below: for a client over HTTP: only what it could have made is taken out.

        Raises:
            InvalidArgument: the name is blank; the default project is never meant here.
            ProjectNotFound: no such project.
            ProjectConflict: it comes from the environment, which only its owner can change; with `below`,
                it is elsewhere, or the default.
        """
        if not name.strip():
            raise InvalidArgument(
                "name", "The name of the project is empty", hint="Name the project to remove."
            )
        project = self.find(name)
        if below is not None and (project.is_default or not is_below(project.path, below)):
            raise ProjectConflict(
                f"The project {project.name!r} is not removed over HTTP",
                hint="Only projects below projects_root are, and never the default. Tell the user: "
                f"`memoranda project remove {project.name}`.",
                parameter="name",
            )

        def change(values: dict[str, Any]) -> None:
            if project.name not in (values.get("projects") or {}):
                raise ProjectConflict(
                    f"The project {project.name!r} is set by the environment",
                    hint="Unset it there (BASIC_MEMORY_PROJECTS).",
                    parameter="name",
                )
            del values["projects"][project.name]
            default = values.get("default_project")
            if isinstance(default, str) and project_permalink(default) == project.permalink:
                del values["default_project"]

        self._update(change)
        return project

    def set_default(self, name: str) -> Project:
        """Make a project the default.

        Raises:
            ProjectNotFound: no such project.
            ProjectConflict: it is disabled.
        """
        project = self.find(name)
        if not project.is_active:
            raise ProjectConflict(
                f"The project {project.name!r} is not served: {project.disabled}", parameter="name"
            )
        self._update(lambda values: values.update(default_project=project.name))
        return self.find(project.name)

    def _update(self, change: Callable[[dict[str, Any]], None]) -> None:
        self._file.update(change)
        self._settings = load_settings()
        self._projects = configured_projects(self._settings)
        self._seen = self._stamp()

    def _reload(self) -> None:
        try:
            self._settings = load_settings()
        except ConfigProblem as problem:
            logger.error("The configuration changed and cannot be used: {}", problem.message)
            return
        self._projects = configured_projects(self._settings)

    def _stamp(self) -> tuple[int, int] | None:
        try:
            stat = self._file.path.stat()
        except OSError:
            return None
        return stat.st_mtime_ns, stat.st_size
