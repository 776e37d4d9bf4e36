"""The seams with more than one implementation. The docstrings are the contract (`tests/contract`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from memoranda.model.embedding import Chunk, EmbeddingProgress, EmbeddingSpace
from memoranda.model.search import ItemType
from memoranda.model.search_log import SearchRecord
from memoranda.model.sync import Progress

T = TypeVar("T")

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Keys = NDArray[np.int64]
    Vectors = NDArray[np.float32]


class Database(Protocol):
    """Transactions on an index: each is one plain function, run whole (ADR 8).

    Production: `db.engine.SqliteDatabase`, one for each project, and `db.postgres.PostgresDatabase`, one for a
    process. The function gets the transaction's SQLAlchemy connection. It may run again.

    Attributes:
        reading, writing: executors whose threads run a transaction without a further change of threads.

    Raises (both methods): DatabaseBusy, DatabaseAway, DatabaseDamaged, DiskFull, DatabaseProblem.
    """

    @property
    def reading(self) -> Executor: ...

    @property
    def writing(self) -> Executor: ...

    def read(self, work: Callable[[Any], T], /) -> T:
        """Run `work` on one state of the database; waits for it, in any thread."""
        ...

    def write(self, work: Callable[[Any], T], /, *, project_id: int = 0) -> T:
        """Run `work` in a transaction that may write, alone among those of the project."""
        ...

    def close(self) -> None:
        """A project has ended with it: wait for what runs, and close what was the project's own."""
        ...


class PathLocks(Protocol):
    """Locks of a project's notes that other machines see, too. Production: `db.postgres_locks.ProjectPaths`.

    They are taken after the lock files of this machine, which keep its threads and processes apart.
    """

    def hold(self, keys: Collection[str], timeout_s: float, /) -> AbstractContextManager[None]:
        """Hold some of them in any thread, which waits; `keys`: as `files.locks.lock_key` makes them.

        Raises:
            TimeoutError: somebody else held one for `timeout_s`.
            DatabaseProblem: or a subclass; nobody knows who holds them.
        """
        ...


class Clock(Protocol):
    """The time. Production: `files.clock.SystemClock`; tests drive their own."""

    def now(self) -> datetime:
        """Aware UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back."""
        ...


class SearchLog(Protocol):
    """Remembers what was searched in a project. Production: `files.search_log.SearchLogFile`."""

    def record(self, record: SearchRecord, /) -> None:
        """Remember one search. Never raises; may wait for a disk, and is called from several threads."""
        ...


class EmbeddingProvider(Protocol):
    """Turns text into vectors of one space (spec 5.3). Production: the modules of `embeddings`.

    Vectors are float32 of unit length, shape (dimensions,) or (n, dimensions), in the order of the texts; a
    text in which the model knows nothing is all zeros, which is similar to nothing. Safe to call from
    several tasks at once; what takes the CPU runs in a thread.

    Raises (both methods): EmbeddingProblem: the provider failed; `is_lasting` says whether to try again.
    """

    @property
    def space(self) -> EmbeddingSpace:
        """The space of its vectors; never changes."""
        ...

    async def embed_query(self, text: str, /) -> Vectors:
        """The vector of a question."""
        ...

    async def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        """The vectors of texts to be found; of any number, none for none."""
        ...

    async def aclose(self) -> None:
        """Let go of what it holds; idempotent."""
        ...


class ProgressSink(Protocol):
    """Told how far a sync is; called from the event loop, must not block."""

    def __call__(self, progress: Progress, /) -> None: ...


@dataclass(frozen=True, slots=True)
class IndexedItem:
    """One full-text row: an item of a note at its finest grain.

    Attributes:
        title, tags, headings: set on the note's own row only.
        content: the item's text as written (without what other items of the note hold).
    """

    item_type: ItemType
    content: str
    heading_path: tuple[str, ...] = ()
    start_line: int = 1
    end_line: int = 1
    title: str = ""
    tags: str = ""
    headings: str = ""
    item_id: int | None = None

    @property
    def searched(self) -> str:
        """All the text that a search for the item looks at."""
        if self.title or self.tags or self.headings:
            return f"{self.title}\n{self.tags}\n{self.headings}\n{self.content}"
        return self.content


@dataclass(frozen=True, slots=True)
class IndexedNote:
    """All rows of one note; the first item is the note itself.

    Attributes:
        is_new: the note has no rows yet, so none need be looked for.
        terms: what text analysis adds to each item, in their order; None: it is still to be asked.
    """

    entity_id: int
    note_type: str
    created_at: datetime
    updated_at: datetime
    items: Sequence[IndexedItem]
    is_new: bool = False
    terms: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class StoredItem:
    """An item as the index holds it. `key`: `model.item_key`. Title, tags and headings: the note's own item."""

    key: int
    content: str
    heading_path: tuple[str, ...]
    start_line: int
    end_line: int
    title: str = ""
    tags: str = ""
    headings: str = ""


class FullTextIndex(Protocol):
    """Full-text search inside the caller's transaction, bound to one project.

    A back end only says which items have a word and what is in an item; ranking is one for all
    (`memoranda.ranking`), so that every back end orders alike.

    `conn` is the transaction's SQLAlchemy connection; it is opaque outside `db` and `repositories`.
    """

    def replace(self, conn: Any, notes: Iterable[IndexedNote]) -> None:
        """Make these the only rows of their notes. A note that was not there is added."""
        ...

    def remove(self, conn: Any, entity_ids: Iterable[int]) -> None:
        """Remove all rows of these notes; unknown ids are no error."""
        ...

    def postings(self, conn: Any, phrases: Sequence[str], *, is_prefix: bool = False) -> Keys:
        """Keys of the project's items that have any of these phrases in any field, ascending, each once.

        A phrase is words in a row, blank-separated, as `text.analysis` writes them; nothing in it is syntax.
        `is_prefix`: the last word of the first phrase may go on. No phrase, or one without a word,
        matches nothing.
        """
        ...

    def titled(self, conn: Any, terms: Sequence[Sequence[str]]) -> Keys:
        """Keys of the own items of notes whose title has a phrase of every term, ascending.

        Of many, some twenty with the shortest titles.
        """
        ...

    def items(self, conn: Any, keys: Sequence[int]) -> Sequence[StoredItem]:
        """The items with these keys, ascending by key; unknown keys are left out."""
        ...

    def lead(self, conn: Any, entity_id: int) -> StoredItem | None:
        """A note's first item that has a text; None if there is none."""
        ...

    def notes_with(self, conn: Any, kinds: Sequence[int]) -> Keys:
        """Ids of the project's notes that have an item of any of these kinds, ascending."""
        ...

    def similar_words(self, conn: Any, word: str, limit: int) -> Sequence[tuple[str, int]]:
        """Words of the project's notes that this one may have meant, and in how many items each stands.

        Likeliest first, the word itself never among them; `word` as `text.analysis.token` writes it. A short
        word, a number and an unspaced script have none. Costs milliseconds, whatever the size.
        """
        ...

    def item_count(self, conn: Any) -> int:
        """How many items the index holds, of all projects in it; an estimate is enough."""
        ...

    def check(self, conn: Any) -> bool:
        """Whether the index structure is intact."""
        ...


@dataclass(frozen=True, slots=True)
class PendingNote:
    """A note whose vectors are not of its present text. `checksum`: of what `chunks` are of; opaque."""

    entity_id: int
    checksum: str
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class NearItems:
    """Items by similarity. Shape (n,) each.

    Attributes:
        keys: item keys, each once.
        similarities: cosine of the item's nearest part, -1..1, exact; descending.
    """

    keys: Keys
    similarities: Vectors


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as the index holds it, with its vector, shape (dimensions,)."""

    chunk: Chunk
    vector: Vectors


class VectorIndex(Protocol):
    """Vectors of a project's chunks inside the caller's transaction, bound to one project.

    `space` is `EmbeddingSpace.name`. Vectors of other spaces are not seen. A note that changed since its
    vectors were made has none (its item keys may mean other items by now) until `replace` is called for it.
    Filters are applied before anything is counted or cut off.
    """

    def pending(self, conn: Any, space: str, limit: int) -> Sequence[PendingNote]:
        """Notes that have no vectors of their present text, with their chunks; the last modified first."""
        ...

    def known(self, conn: Any, space: str, content_keys: Iterable[bytes]) -> frozenset[bytes]:
        """Which of the texts have a vector anywhere in the project."""
        ...

    def replace(
        self, conn: Any, space: str, notes: Sequence[PendingNote], vectors: Mapping[bytes, Vectors]
    ) -> None:
        """Make the chunks of these notes and their vectors those of the space.

        `vectors`: by content key, of the chunks that are not `known`. A note that is gone, or changed since
        `pending`, is left out, and so is one with a chunk that has a vector nowhere: they stay pending.
        """
        ...

    def progress(self, conn: Any, space: str) -> EmbeddingProgress:
        """How far the vectors of the project are; milliseconds, whatever the size."""
        ...

    def other_spaces(self, conn: Any, space: str) -> bool:
        """Whether notes have vectors of their present text in another space."""
        ...

    def retire_others(self, conn: Any, space: str, most: int) -> int:
        """Remove vectors of other spaces, at most so many; returns how many: fewer when none is left."""
        ...

    def nearest(
        self,
        conn: Any,
        space: str,
        query: Vectors,
        most: int,
        *,
        least: float = -1.0,
        among: Keys | None = None,
        kinds: Sequence[int] | None = None,
    ) -> NearItems:
        """The items nearest to a vector.

        Args:
            conn: the transaction.
            space: of the query.
            query: unit length, shape (dimensions,); of zeros: nothing is near.
            most: at most so many items.
            least: only similarities of at least that.
            among: ids of the notes allowed, ascending; None: all.
            kinds: of items (`model.item_key.KINDS`); None: all.
        """
        ...

    def similarities(self, conn: Any, space: str, query: Vectors, keys: Keys) -> Vectors:
        """Cosine of each of these items, in their order; 0 for one without a vector."""
        ...

    def sample(self, conn: Any, space: str, most: int) -> Sequence[StoredChunk]:
        """Chunks spread evenly over the project, the same ones until it changes."""
        ...
