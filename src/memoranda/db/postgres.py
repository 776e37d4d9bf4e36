"""PostgreSQL: how connections are opened, how transactions begin, what their errors mean.

The driver is asyncpg under SQLAlchemy Core, and a transaction is one plain function run whole, as on SQLite.
A lane is a thread with an event loop and one connection: the function runs in a greenlet of that loop, so a
statement costs no change of threads, and no loop of the program waits for the database. One lane writes, the
others read, for all projects of the process; so the lanes are the limit of its connections.

A read sees one snapshot (REPEATABLE READ). A write takes the advisory lock of its project first and then reads
what is committed (READ COMMITTED): writers of one project follow each other, as on SQLite, and nothing has to
be tried again because of another. Ids of a project therefore become visible in their order.
"""

from __future__ import annotations

import asyncio
import threading
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any, Final, TypeVar
from urllib.parse import parse_qs, unquote, urlsplit

from sqlalchemy import create_engine, event
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import AsyncAdaptedQueuePool

from memoranda.db.dialects import storable
from memoranda.db.engine import WRITING
from memoranda.errors import (
    ConfigProblem,
    DatabaseAway,
    DatabaseBusy,
    DatabaseLost,
    DatabaseProblem,
    DiskFull,
    MemorandaError,
)

T = TypeVar("T")

CONNECT_S: Final = 5.0
LOCK_S: Final = 5.0
"""How long a write waits for another writer of its project."""
_GRACE_S: Final = 5.0
"""After which a statement that the server should have ended counts as one that gets no answer."""
_IDLE_S: Final = 60.0
_KEEPALIVE: Final = {
    "tcp_keepalives_idle": "5",
    "tcp_keepalives_interval": "2",
    "tcp_keepalives_count": "3",
}
"""A client whose machine is gone gives back its locks after some ten seconds."""
_TAKE: Final = "SELECT pg_advisory_xact_lock($1, $2)"
_PROGRAM: Final = "memoranda"
_UNREADABLE: Final = "its host or port cannot be read (in a password, / ? # @ and : are written as %2F %3F %23 %40 and %3A)"
_LOST: Final = ("alembic_version", "entity", "project", "search_index", "index_meta", "note_name")
"""Tables that most statements ask: where one is missing, all are."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where the index is, and how it may be used.

    Attributes:
        url: as libpq writes addresses; may hold a password, so it is never shown. What it leaves out comes from
            the usual variables (PGHOST, PGPASSWORD, PGSSLMODE, ...). Empty: all does.
        schema: in which the tables are.
        connections: at most so many of one process for its transactions, two at least.
        statement_s: how long one statement may take.
    """

    url: str
    schema: str = "memoranda"
    connections: int = 4
    statement_s: float = 30.0

    def __repr__(self) -> str:
        return f"Address({self.shown!r})"

    @property
    def shown(self) -> str:
        """The address without its password."""
        parts = urlsplit(self.url)
        options = parse_qs(parts.query)
        host = parts.hostname or options.get("host", [""])[0]
        port = f":{parts.port}" if parts.port else ""
        user = f"{unquote(parts.username)}@" if parts.username else ""
        database = unquote(parts.path.lstrip("/"))
        return f"postgresql://{user}{host}{port}/{database} (schema {self.schema})"

    @property
    def lock_class(self) -> int:
        """The first number of the advisory locks of this schema, of 32 bits with a sign."""
        return _signed(zlib.crc32(f"memoranda {self.schema}".encode()))


def address_of(
    url: str | None, schema: str = "memoranda", connections: int = 4, statement_s: float = 30.0
) -> Address:
    """The address that the settings mean.

    Raises:
        ConfigProblem: it is none, or the packages for PostgreSQL are not installed.
    """
    for package in ("asyncpg", "greenlet"):
        if find_spec(package) is None:
            raise ConfigProblem(
                "database_backend",
                f"PostgreSQL needs the package {package}, which is not installed",
                hint='Install it with: pip install "memoranda[postgres]"',
            )
    wanted = (url or "").strip()
    try:
        parts = urlsplit(wanted)
        _ = parts.port
    except ValueError:  # says which part, which may be one of the password
        raise _no_address(_UNREADABLE) from None
    if "@" in parts.path + parts.query.partition("=")[0] + parts.fragment:
        raise _no_address(_UNREADABLE)
    if wanted and parts.scheme not in {"postgresql", "postgres"}:
        raise _no_address("it does not begin with postgresql://")
    if not schema or len(schema.encode()) > 63 or "\0" in schema:
        raise ConfigProblem(
            "database_schema",
            "database_schema is no name for a schema",
            hint="Write for example memoranda.",
        )
    return Address(wanted, schema, max(2, connections), statement_s)


def _no_address(why: str) -> ConfigProblem:
    return ConfigProblem(
        "database_url",
        f"database_url cannot be used: {why}",
        hint="Write for example postgresql://memoranda@db.example.org:5432/notes, and the password into PGPASSWORD or "
        "a password file.",
    )


class PostgresDatabase:
    """`ports.Database` on PostgreSQL, for all projects of a process. Connects when first used.

    Attributes:
        reading, writing: the executors of the lanes.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self._lane = threading.local()
        self._lanes: list[_Lane] = []
        self._compiled: dict[Any, Any] = {}
        self.reading = ThreadPoolExecutor(
            address.connections - 1, "memoranda-read", self._begin_lane
        )
        self.writing = ThreadPoolExecutor(1, "memoranda-write", self._begin_lane)

    @property
    def shown(self) -> str:
        """What people are told of the place."""
        return self.address.shown

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on one snapshot, in a lane; waits for it."""
        return self._in_lane(self.reading, partial(_read, self.address, work))

    def write(self, work: Callable[[Connection], T], *, project_id: int = 0) -> T:
        """Run `work` in a transaction that may write; 0 is the lock of the whole schema."""
        return self._in_lane(self.writing, partial(_write, self.address, work, project_id))

    def close(self) -> None:
        """Nothing: the connections are the process's, see `dispose`."""

    def dispose(self) -> None:
        """Wait for what runs and close every connection; idempotent."""
        self.reading.shutdown(wait=True)
        self.writing.shutdown(wait=True)
        lanes, self._lanes = self._lanes, []
        for lane in lanes:
            lane.close()

    def _begin_lane(self) -> None:
        lane = _Lane(self.address, self._compiled)
        self._lane.own = lane
        self._lanes.append(lane)

    def _in_lane(self, executor: ThreadPoolExecutor, work: Callable[[Engine], T]) -> T:
        own: _Lane | None = getattr(self._lane, "own", None)
        if own is not None:
            return own.run(work)
        return executor.submit(lambda: self._own_lane().run(work)).result()

    def _own_lane(self) -> _Lane:
        own: _Lane = self._lane.own
        return own


class _Lane:
    """An event loop and an engine with one connection, for one thread."""

    def __init__(self, address: Address, compiled: dict[Any, Any]) -> None:
        self._loop = asyncio.new_event_loop()
        self._engine = open_engine(address).execution_options(compiled_cache=compiled)

    def run(self, work: Callable[[Engine], T]) -> T:
        from sqlalchemy.util import greenlet_spawn

        return self._loop.run_until_complete(greenlet_spawn(work, self._engine))

    def close(self) -> None:
        """From any thread, when the lane's own has ended."""
        self.run(lambda engine: engine.dispose())
        self._loop.close()


def open_engine(address: Address) -> Engine:
    """An engine with one connection, for use inside a greenlet of one event loop; connects when first used.

    Texts that are asked for may hold NUL; rows that are written have columns whose type cleans them.
    """
    engine = create_engine(
        "postgresql+asyncpg://",
        poolclass=AsyncAdaptedQueuePool,
        pool_size=1,
        max_overflow=0,
        hide_parameters=True,  # parameters are note contents, which no log may hold
        connect_args={
            "async_creator_fn": partial(connect, address),
            "prepared_statement_cache_size": 500,
        },
    )

    @event.listens_for(engine, "before_cursor_execute", retval=True)
    def clean(
        _conn: Connection, _cursor: Any, statement: str, parameters: Any, _context: Any, many: bool
    ) -> tuple[str, Any]:
        return statement, parameters if many else storable(parameters)

    return engine


async def connect(address: Address, **_: object) -> Any:
    """A connection of asyncpg, with the schema in its path and bounds on what it may take."""
    import asyncpg

    quoted = address.schema.replace('"', '""')
    return await asyncpg.connect(
        address.url or None,
        timeout=CONNECT_S,
        command_timeout=address.statement_s + _GRACE_S,
        statement_cache_size=0,  # SQLAlchemy keeps prepared statements itself
        server_settings={
            "application_name": _PROGRAM,
            "search_path": f'"{quoted}", public',
            "statement_timeout": f"{address.statement_s * 1000:.0f}",
            "lock_timeout": f"{LOCK_S * 1000:.0f}",
            "idle_in_transaction_session_timeout": f"{_IDLE_S * 1000:.0f}",
            "TimeZone": "UTC",
            "jit": "off",
            **_KEEPALIVE,
        },
    )


@contextmanager
def begin_read(engine: Engine, address: Address) -> Iterator[Connection]:
    """A transaction that sees one state of the database."""
    with _translated(engine, address), engine.connect() as conn:
        conn.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        with conn.begin():
            yield conn


@contextmanager
def begin_write(engine: Engine, address: Address, project_id: int = 0) -> Iterator[Connection]:
    """A transaction that may write: committed at the end, rolled back by any exception.

    Raises:
        DatabaseBusy: another writer kept the lock for too long, or they were in each other's way.
        DatabaseAway: there is no answer; whether the last statement was done is not known.
    """
    with _translated(engine, address), engine.connect() as conn:
        conn.execution_options(
            isolation_level="READ COMMITTED", postgresql_readonly=False, **{WRITING: True}
        )
        with conn.begin():
            conn.exec_driver_sql(_TAKE, (address.lock_class, project_id))
            yield conn


def _read(address: Address, work: Callable[[Connection], T], engine: Engine) -> T:
    with begin_read(engine, address) as conn:
        return work(conn)


def _write(address: Address, work: Callable[[Connection], T], project_id: int, engine: Engine) -> T:
    with begin_write(engine, address, project_id) as conn:
        return work(conn)


@contextmanager
def _translated(engine: Engine, address: Address) -> Iterator[None]:
    """Only conditions of the database are translated; a broken constraint or SQL is a bug of ours."""
    try:
        yield
    except MemorandaError:
        raise
    except Exception as error:
        if (known := meaning(error, address)) is None:
            raise
        if isinstance(known, DatabaseAway):
            engine.dispose()
        raise known from _without_secrets(error)


def meaning(error: BaseException, address: Address) -> MemorandaError | None:
    """What an error of the database or of the way to it means; None: it is no condition of the database."""
    import asyncpg

    orig: Any = error.orig if isinstance(error, DBAPIError) else error
    state = getattr(orig, "sqlstate", None) or getattr(orig, "pgcode", None) or ""
    where = address.shown
    if isinstance(orig, asyncpg.exceptions.ClientConfigurationError) or isinstance(
        orig.__cause__, asyncpg.exceptions.ClientConfigurationError
    ):
        return _no_address(_said(orig))
    if known := _by_state(str(state), where, _said(orig)):
        return known
    cut = OSError, TimeoutError, EOFError, asyncpg.InterfaceError, asyncpg.InternalClientError
    # SQLAlchemy wraps what the driver says; a value that cannot be sent is a bug of ours.
    is_cut = any(
        isinstance(each, cut) and not isinstance(each, ValueError)
        for each in (orig, orig.__cause__)
    )
    if is_cut or (isinstance(error, DBAPIError) and error.connection_invalidated):
        is_late = isinstance(orig, TimeoutError)
        return _away(where, "no answer" if is_late else _said(orig) or type(orig).__name__)
    return None


def _by_state(state: str, where: str, said: str) -> MemorandaError | None:
    match state:
        case "40001" | "40P01" | "55P03":
            return DatabaseBusy(
                f"Another process is writing to {where}", hint="Repeat the call in a moment."
            )
        case "57014":
            return DatabaseProblem(
                f"{where} took too long for a statement",
                hint="Repeat the call; if that happens often, raise database_statement_seconds or give the server more.",
            )
        case "53100":
            return DiskFull(where)
        case "42P01" | "3F000" if state == "3F000" or any(f'"{one}"' in said for one in _LOST):
            return DatabaseLost(
                f"The tables in {where} are gone",
                hint="The notes are not concerned; the index is built anew from them.",
            )
        case "55000" if "accepting connections" in said:  # an administrator has closed it
            return _away(where, said)
        case "25006":
            return _away(where, "it is read-only, as a standby is")
        case "42501":
            return DatabaseProblem(
                f"{where} does not allow that: {said}",
                hint="Let an administrator give the user the rights that `memoranda doctor` names.",
            )
        case "3D000":
            return DatabaseProblem(
                f"{where}: {said}", hint="Make the database, or mend database_url."
            )
        case _ if state.startswith("28"):
            return DatabaseProblem(
                f"{where} refuses the user: {said}",
                hint="Check the user, and the password in PGPASSWORD, the password file or database_url.",
            )
        case _ if state.startswith(("08", "57P", "53")):
            return _away(where, said)
        case _:
            return None


def _away(where: str, why: str) -> DatabaseAway:
    return DatabaseAway(
        f"{where} cannot be reached: {why}",
        hint="The notes are not concerned. Repeat the call when the database is back; nothing has to be restarted.",
    )


def _said(error: BaseException) -> str:
    """The first line of an error, as the server or the system said it."""
    text = str(error)
    if ">: " in text[:80]:  # as SQLAlchemy writes the class in front
        text = text.split(">: ", 1)[1]
    return text.splitlines()[0].rstrip(".") if text else ""


def _without_secrets(error: Exception) -> Exception | None:
    """The cause that may be logged: an error of the address may repeat it."""
    return None if isinstance(error, ValueError) else error


def _signed(number: int) -> int:
    return number - (1 << 32) if number >= 1 << 31 else number
