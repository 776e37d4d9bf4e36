"""What the index remembers between two syncs, beside the notes: one snapshot read, one write at the end."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import dataclass
from datetime import datetime

from memoranda.model.address import NotePath
from memoranda.model.sync import FileFailure, KnownFile
from memoranda.repositories.entity import EntityRepository
from memoranda.repositories.failure import FailureRepository
from memoranda.repositories.project import (
    INDEX_VERSION,
    LAST_FULL_SYNC,
    SEARCH_LANGUAGES,
    ProjectRepository,
)
from memoranda.repositories.store import Tx
from memoranda.sync.brakes import Hold, Verdict
from memoranda.sync.tally import Tally
from memoranda.text.analysis import ENGLISH, Languages

ROOT = "root_inode"
HOLD = "hold"


@dataclass(frozen=True, slots=True)
class Memory:
    """What the index knew at the start of a sync.

    Attributes:
        root: the inode of the root when all was well, None if that never was.
        hold: why notes are kept whose files are missing.
        version: what the index is made with, None if unknown.
        languages: whose stems it holds.
        now: naive UTC.
    """

    files: list[KnownFile]
    failures: dict[NotePath, FileFailure]
    root: int | None
    hold: Hold | None
    version: int | None
    languages: Languages
    now: datetime


def remember(tx: Tx) -> Memory:
    """Read all of it."""
    files, failures = EntityRepository(tx).known_files(), FailureRepository(tx).all()
    return Memory(files, failures, *_facts(tx), tx.now)


def recall(tx: Tx, paths: Collection[str]) -> Memory | None:
    """Read what concerns these paths, None when one is a folder of notes (its name may end in .md, too)."""
    entities = EntityRepository(tx)
    if any(map(entities.has_below, paths)):
        return None
    failures = FailureRepository(tx).all()
    return Memory(
        entities.known_at(paths),
        {NotePath(path): failures[NotePath(path)] for path in paths if path in failures},
        *_facts(tx),
        tx.now,
    )


def _facts(tx: Tx) -> tuple[int | None, Hold | None, int | None, Languages]:
    facts = ProjectRepository(tx).facts()
    version, root = facts.get(INDEX_VERSION), facts.get(ROOT)
    languages = facts.get(SEARCH_LANGUAGES)
    return (
        root if isinstance(root, int) else None,
        hold_of(facts.get(HOLD)),
        version if isinstance(version, int) else None,
        tuple(map(str, languages)) if isinstance(languages, list) else ENGLISH,
    )


def hold_of(fact: object) -> Hold | None:
    """A hold as `index_meta` keeps it; what it does not understand is none."""
    match fact:
        case {"reason": str(reason), "since": str(since), "root": int(root)}:
            return Hold(reason, datetime.fromisoformat(since), root)
        case _:
            return None


@dataclass(frozen=True, slots=True)
class Ending:
    """What a sync leaves behind beside the notes.

    Attributes:
        missing: notes that turned out to be missing and are kept.
        found: notes whose files are there again, unchanged.
        there: every file of the scan, and every note that may be there unseen.
        is_whole: the whole folder was looked at.
    """

    tally: Tally
    verdict: Verdict
    missing: Sequence[KnownFile]
    found: Sequence[KnownFile]
    there: Set[NotePath]
    is_whole: bool = True

    def changes_something(self, memory: Memory) -> bool:
        """Whether anything of it has to be written."""
        return bool(
            self.tally.restated
            or self.tally.to_remember()
            or self.tally.cleared(self.there)
            or self.missing
            or self.found
            or self.verdict.standing != memory.hold
        )

    def write(self, tx: Tx) -> None:
        """Write all of it, and the time of this sync if it was a whole one."""
        entities, project = EntityRepository(tx), ProjectRepository(tx)
        entities.restate(self.tally.restated)
        entities.miss(_ids(self.missing), tx.now)
        entities.miss(_ids(self.found), None)
        FailureRepository(tx).replace(self.tally.cleared(self.there), self.tally.to_remember())
        if not self.is_whole:
            return
        project.set_fact(ROOT, self.verdict.root)
        hold = self.verdict.standing
        project.set_fact(
            HOLD,
            hold and {"reason": hold.reason, "since": hold.since.isoformat(), "root": hold.root},
        )
        project.set_fact(LAST_FULL_SYNC, tx.now.isoformat())


def _ids(files: Iterable[KnownFile]) -> list[int]:
    return [file.entity_id for file in files]
