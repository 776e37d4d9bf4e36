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
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any, Final, TypeVar
from urllib.parse import parse_qs, unquote, urlsplit

from sqlalchemy import create_engine, event
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.pool import AsyncAdaptedQueuePool

from memoranda.db.dialects import storable
from memoranda.db.engine import WRITING
from memoranda.db.postgres_errors import away, meaning, no_address, without_secrets
from memoranda.errors import ConfigProblem, DatabaseAway, MemorandaError

T = TypeVar("T")

CONNECT_S: Final = 5.0
LOCK_S: Final = 5.0
"""How long a write waits for another writer of its project."""
_GRACE_S: Final = 5.0
"""After which a statement that the server should have ended counts as one that gets no answer."""
_IDLE_S: Final = 60.0
_ENDED_S: Final = 1.0
"""So long what waits for a connection that has ended has to notice it."""
_KEEPALIVE: Final = {
    "tcp_keepalives_idle": "5",
    "tcp_keepalives_interval": "2",
    "tcp_keepalives_count": "3",
}
"""A client whose machine is gone gives back its locks after some ten seconds."""
_SET: Final = (
    "SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS s (name, value)"
)
_TAKE: Final = "SELECT pg_advisory_xact_lock($1, $2)"
_PROGRAM: Final = "memoranda"
_UNREADABLE: Final = "its host or port cannot be read (in a password, / ? # @ and : are written as %2F %3F %23 %40 and %3A)"


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
        raise no_address(_UNREADABLE) from None
    if "@" in parts.path + parts.query.partition("=")[0] + parts.fragment:
        raise no_address(_UNREADABLE)
    if wanted and parts.scheme not in {"postgresql", "postgres"}:
        raise no_address("it does not begin with postgresql://")
    if not schema or len(schema.encode()) > 63 or "\0" in schema:
        raise ConfigProblem(
            "database_schema",
            "database_schema is no name for a schema",
            hint="Write for example memoranda.",
        )
    return Address(wanted, schema, max(2, connections), statement_s)


class PostgresDatabase:
    """`ports.Database` on PostgreSQL, for all projects of a process. Connects when first used.

    Attributes:
        reading, writing: the executors of the lanes.
        tables: a number of the tables that were seen last, see `db.postgres_tables`.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self.tables = 0
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
        """Close every connection; what writes is waited for, a read is given up after a moment. Idempotent."""
        self.writing.shutdown(wait=True)
        for lane in self._lanes:
            lane.hurry()
        self.reading.shutdown(wait=True)
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
    """An event loop and an engine with one connection, for one thread.

    What waits for a connection that has ended is given up: asyncpg does not always notice that it waits in vain,
    a bulk statement that was cut off while it was sent for one, or the rollback after it.
    """

    def __init__(self, address: Address, compiled: dict[Any, Any]) -> None:
        self._address = address
        self._loop = asyncio.new_event_loop()
        self._task: asyncio.Task[Any] | None = None
        engine = open_engine(address, ended=self._connection_ended)
        self._engine = engine.execution_options(compiled_cache=compiled)

    def run(self, work: Callable[[Engine], T]) -> T:
        """Raises DatabaseAway: the connection has ended, and with it the wait for an answer."""
        from sqlalchemy.util import greenlet_spawn

        self._task = task = self._loop.create_task(greenlet_spawn(work, self._engine))
        try:
            return self._loop.run_until_complete(task)
        except asyncio.CancelledError:
            self._engine.dispose(close=False)
            raise away(self._address.shown, "the connection was cut") from None
        finally:
            self._task = None

    def hurry(self) -> None:
        """From any thread: give up what runs unless it ends in a moment."""
        if (task := self._task) is not None:
            self._loop.call_soon_threadsafe(self._loop.call_later, _ENDED_S, self._give_up, task)

    def close(self) -> None:
        """From any thread, when the lane's own has ended."""
        self.run(lambda engine: engine.dispose())
        self._loop.close()

    def _connection_ended(self, _: object) -> None:
        if self._task is not None:
            self._loop.call_later(_ENDED_S, self._give_up, self._task)

    def _give_up(self, task: asyncio.Task[Any]) -> None:
        """Again and again: what cleans up may wait as well."""
        if task is self._task and not task.done():
            task.cancel()
            self._loop.call_later(_ENDED_S, self._give_up, task)


def open_engine(address: Address, *, ended: Callable[[object], None] = lambda _: None) -> Engine:
    """An engine with one connection, for use inside a greenlet of one event loop; connects when first used.

    `ended` is told in the loop when a connection has ended.

    Texts that are asked for may hold NUL; rows that are written have columns whose type cleans them.
    """
    engine = create_engine(
        "postgresql+asyncpg://",
        poolclass=AsyncAdaptedQueuePool,
        pool_size=1,
        max_overflow=0,
        hide_parameters=True,  # parameters are note contents, which no log may hold
        connect_args={
            "async_creator_fn": partial(_connected, address, ended),
            "prepared_statement_cache_size": 500,
        },
    )

    @event.listens_for(engine, "before_cursor_execute", retval=True)
    def clean(
        _conn: Connection, _cursor: Any, statement: str, parameters: Any, _context: Any, many: bool
    ) -> tuple[str, Any]:
        return statement, parameters if many else storable(parameters)

    return engine


async def _connected(address: Address, ended: Callable[[object], None], **_: object) -> Any:
    connection = await connect(address)
    connection.add_termination_listener(ended)
    return connection


async def connect(
    address: Address, settings: Mapping[str, str] | None = None, *, program: str = _PROGRAM
) -> Any:
    """A connection of asyncpg with the schema in its path.

    They are set when it is open: a pooler takes few of them at the start.

    Args:
        address: where to.
        settings: of the session; None: bounds on what it may take.
        program: as administrators see it.
    """
    import asyncpg

    quoted = address.schema.replace('"', '""')
    named = {"search_path": f'"{quoted}", public', **(settings or _bounds(address))}
    connection = await asyncpg.connect(
        address.url or None,
        timeout=CONNECT_S,
        command_timeout=address.statement_s + _GRACE_S if settings is None else None,
        statement_cache_size=0,  # a statement is planned for its values each time, and nothing is kept
        server_settings={"application_name": program},
    )
    try:
        await connection.execute(_SET, list(named), list(named.values()), timeout=CONNECT_S)
    except BaseException:
        connection.terminate()
        raise
    return connection


def _bounds(address: Address) -> dict[str, str]:
    return {
        "statement_timeout": f"{address.statement_s * 1000:.0f}",
        "lock_timeout": f"{LOCK_S * 1000:.0f}",
        "idle_in_transaction_session_timeout": f"{_IDLE_S * 1000:.0f}",
        "TimeZone": "UTC",
        "jit": "off",
        **_KEEPALIVE,
    }


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
        if (known := meaning(error, address.shown)) is None:
            raise
        if isinstance(known, DatabaseAway):
            engine.dispose()
        raise known from without_secrets(error)


def _signed(number: int) -> int:
    return number - (1 << 32) if number >= 1 << 31 else number
