"""The settings as types: every key of spec 9.1 with its default, and how each is read from the environment.

This module is the only one that imports pydantic-settings, and `config` imports it when settings are
first loaded: building the classes costs more than a whole `memoranda --help` may take.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from memoranda.model.toolset import USUAL_TOOLSETS, Toolset

ENV_PREFIX = "BASIC_MEMORY_"
LOG_LEVELS = ("TRACE", "DEBUG", "INFO", "SUCCESS", "WARNING", "ERROR", "CRITICAL")


class ProjectEntry(BaseModel):
    """One project as configured. Keys we do not know are kept.

    Attributes:
        path: absolute folder of the notes; `~` stands for the home folder.
        mode: "local" or "cloud"; cloud projects are shown but not served.
        is_active: false switches the project off without removing it.
    """

    model_config = ConfigDict(extra="allow")

    path: str
    mode: str = "local"
    workspace_id: str | None = None
    is_active: bool = True


class Settings(BaseSettings):
    """All settings, checked. `Settings(...)` itself reads nothing: `config.load_settings` does.

    A setting that was given by the user is in `model_fields_set`; one that is not there may be
    detected (`semantic_search_enabled`) or chosen by the model (`semantic_min_similarity`).

    Attributes:
        projects: the projects: name and folder of each; the first active one is the default when none
            is set.
        default_project: the project of a call that names none; it must exist.
        database_backend: where the index is: "sqlite" or "postgres".
        database_url: how to reach PostgreSQL, as postgresql://USER@HOST:PORT/DATABASE; what it leaves out comes from
            PGHOST, PGUSER, PGPASSWORD, PGSSLMODE and their like.
        database_schema: the schema of PostgreSQL that the tables are in.
        database_connections: the most connections of one process to PostgreSQL for reading and writing, 2 to 100.
        database_statement_seconds: how long PostgreSQL may take for one statement.
        semantic_search_enabled: whether to search by meaning as well as by words; not given: yes.
        semantic_embedding_provider: what turns text into vectors: "static" (comes with the program), "fastembed"
            or "openai"; not given: fastembed if it works, else static.
        semantic_embedding_model: the model's name, as the provider knows it; not given: the provider's own.
        semantic_model_path: a folder with the files of a model for fastembed.
        semantic_pooling: how that model's token vectors become one, "mean" or "cls"; not given: its files say.
        semantic_allow_download: whether fastembed may download the files of its model.
        semantic_base_url: the endpoint for the provider openai; not given: OpenAI's.
        semantic_dimensions: how many numbers a vector must have; not given: what the model gives.
        semantic_batch_size: the most texts in one request to the endpoint.
        semantic_vector_k: how many of the nearest passages to ask for, 1 to 10,000.
        semantic_min_similarity: how near a passage must be, from 0 (anything) to 1 (the same); not given: what
            suits the model.
        sync_delay: milliseconds without a change before changed files are indexed.
        watch_project_reload_interval: seconds until a server reads the configuration again although it looks unchanged.
        watch_mode: how changes are noticed: "auto", "events", "polling" (network drives) or "off".
        reconcile_interval: seconds between two looks at the whole folder while it is watched.
        history_days: how long what tools changed can be taken back; 0 is for ever.
        history_megabytes: how much of it is kept for a project; 0 is no limit.
        search_languages: the languages of your notes, for word stems and stop words: names as Snowball has them.
        search_log: whether searches are recorded on this machine, for `memoranda doctor` and `memoranda searches`.
        search_half_life: days after which a note counts half in a search, and what notes say of their
            importance and status counts too; 0: only the words count.
        server_name: the name shown to MCP clients.
        toolsets: the groups of tools that assistants see beside the ten usual ones: notes, admin, chatgpt.
        read_only: whether assistants may only read; the command line is not concerned.
        log_level: the least that is logged: TRACE, DEBUG, INFO, SUCCESS, WARNING, ERROR or CRITICAL.
        projects_root: the folder below which assistants over HTTP may make projects; without it they
            may not.
        http_host: the address that `memoranda serve` listens at; any but this machine's own needs a token.
        http_port: its port; 0 is any free one.
        http_path: the path of the MCP endpoint.
        http_token_file: a file with the token that clients must send, readable by its owner alone; not given:
            `http.token` in the configuration folder, if it is there.
        http_allowed_hosts: further names that the server is reached by, as behind a reverse proxy.
        http_allowed_origins: web pages, such as "https://chat.example.org", whose scripts may call the server.
        http_requests_per_second: how many requests a client may send, in bursts of ten seconds' worth; 0 is no limit.
        http_call_seconds: how long a call may take.
        http_max_sessions: how many sessions may be open at once.

    Source: spec 9.1.
    """

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX, env_ignore_empty=True, extra="allow", validate_default=False
    )

    projects: dict[str, ProjectEntry] = Field(default_factory=dict)
    default_project: str | None = None
    database_backend: Literal["sqlite", "postgres"] = "sqlite"
    database_url: str | None = None
    database_schema: str = Field(default="memoranda", min_length=1, max_length=63)
    database_connections: int = Field(default=4, ge=2, le=100)
    database_statement_seconds: float = Field(default=30, ge=1, le=3600)
    semantic_search_enabled: bool = False
    semantic_embedding_provider: str = "fastembed"
    semantic_embedding_model: str = "bge-small-en-v1.5"
    semantic_model_path: str | None = None
    semantic_pooling: Literal["mean", "cls"] | None = None
    semantic_allow_download: bool = False
    semantic_base_url: str | None = None
    semantic_dimensions: int | None = Field(default=None, ge=1, le=65_536)
    semantic_batch_size: int = Field(default=64, ge=1, le=2048)
    semantic_vector_k: int = Field(default=100, ge=1, le=10_000)
    semantic_min_similarity: float = Field(default=0.55, ge=0.0, le=1.0)
    sync_delay: int = Field(default=1000, ge=0)
    watch_project_reload_interval: int = Field(default=300, ge=1)
    watch_mode: Literal["auto", "events", "polling", "off"] = "auto"
    reconcile_interval: int = Field(default=300, ge=5)
    history_days: int = Field(default=365, ge=0)
    history_megabytes: int = Field(default=500, ge=0)
    search_languages: list[str] = Field(default_factory=lambda: ["english"])
    search_log: bool = True
    search_half_life: int = Field(default=0, ge=0, le=36_500)
    server_name: str = Field(default="Memoranda", min_length=1)
    toolsets: list[str] = Field(default_factory=lambda: [str(one) for one in USUAL_TOOLSETS])
    read_only: bool = False
    log_level: str = "INFO"
    projects_root: str | None = None
    http_host: str = Field(default="127.0.0.1", min_length=1)
    http_port: int = Field(default=8765, ge=0, le=65_535)
    http_path: str = "/mcp"
    http_token_file: str | None = None
    http_allowed_hosts: list[str] = Field(default_factory=list)
    http_allowed_origins: list[str] = Field(default_factory=list)
    http_requests_per_second: float = Field(default=50, ge=0, le=100_000)
    http_call_seconds: float = Field(default=60, ge=1, le=3600)
    http_max_sessions: int = Field(default=100, ge=1, le=10_000)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what the caller passes, so that parts and tests never see the machine's environment."""
        return (init_settings,)

    @field_validator("projects", mode="before")
    @classmethod
    def _plain_paths(cls, value: object) -> object:
        """A project given as a plain string is its path."""
        if not isinstance(value, dict):
            return value
        return {name: _entry(entry) for name, entry in value.items()}

    @field_validator("search_languages")
    @classmethod
    def _known_languages(cls, value: list[str]) -> list[str]:
        from Stemmer import algorithms  # type: ignore[import-not-found,import-untyped,unused-ignore]

        names = list(dict.fromkeys(name.strip().lower() for name in value))
        known = algorithms()
        if unknown := [name for name in names if name not in known]:
            raise ValueError(
                f"{unknown[0]!r} has no stems; there are {', '.join(known)} "
                "(Chinese, Japanese, Korean and Thai need none)"
            )
        return names

    @field_validator("toolsets")
    @classmethod
    def _known_toolsets(cls, value: list[str]) -> list[str]:
        names = list(dict.fromkeys(name.strip().lower() for name in value))
        known = [each.value for each in Toolset]
        if unknown := [name for name in names if name not in known]:
            raise ValueError(f"there is no toolset {unknown[0]!r}; there are {', '.join(known)}")
        return names

    @field_validator("semantic_model_path")
    @classmethod
    def _absolute_folder(cls, value: str | None) -> str | None:
        if value is None or not value.strip():
            return None
        path = Path(value.strip())
        with contextlib.suppress(RuntimeError):  # no such user: it is not absolute then
            path = path.expanduser()
        if not path.is_absolute():
            raise ValueError("must be an absolute path")
        return str(path)

    @field_validator("semantic_base_url")
    @classmethod
    def _plain_address(cls, value: str | None) -> str | None:
        """A key in an address would be shown and logged; where it is refused, it is not repeated."""
        if value is None or not value.strip():
            return None
        parts = urlsplit(value.strip())
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("must start with http:// or https:// and name a host")
        if parts.username is not None or parts.query or parts.fragment:
            raise ValueError(
                "must have no user, password, query or fragment (a key belongs into "
                "BASIC_MEMORY_SEMANTIC_API_KEY)"
            )
        return urlunsplit(parts).rstrip("/")

    @field_validator("log_level")
    @classmethod
    def _known_level(cls, value: str) -> str:
        level = value.strip().upper()
        if level not in LOG_LEVELS:
            raise ValueError(f"must be one of {', '.join(LOG_LEVELS)}")
        return level


def environment_values() -> dict[str, Any]:
    """The settings that the environment gives, nested ones decoded from JSON, nothing else checked.

    Raises:
        pydantic_settings.SettingsError: a nested value is not JSON; the message names the field.
    """
    return EnvSettingsSource(Settings)()


def _entry(entry: object) -> object:
    """One project as other programs write it: a path, nulls for "not set", no path in the cloud."""
    if isinstance(entry, str):
        return {"path": entry}
    if not isinstance(entry, dict):
        return entry
    fields = ProjectEntry.model_fields
    entry = {k: v for k, v in entry.items() if v is not None or k not in fields}
    return {"path": "", **entry} if entry.get("mode") == "cloud" else entry
