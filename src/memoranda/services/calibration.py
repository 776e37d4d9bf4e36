"""What similarities mean in a project: measured with probes, kept in `index_meta`, read by every search.

Queries that fit nothing and queries made of the project's own texts are embedded; how near each comes to
what the project holds is what `ranking.confidence` needs. A project with few notes is measured with small
notes of our own instead, in the same model. It is done again when the project has grown by half.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from memoranda.model.embedding import EmbeddingProgress
from memoranda.ports import EmbeddingProvider, StoredChunk, VectorIndex
from memoranda.ranking.confidence import Calibration, Probes, calibrated
from memoranda.ranking.probes import LONG, PAIRS, QUESTIONS, off_topic, query_for
from memoranda.repositories.project import ProjectRepository
from memoranda.repositories.store import Store, Tx
from memoranda.services.meaning import vector_of

if TYPE_CHECKING:
    from memoranda.ports import Vectors

FEW_NOTES: Final = 10
"""A project with fewer says too little of itself."""
_KEY: Final = "calibration"
_METHOD: Final = 2
"""Another number when probes or measure change: what was made before does not count any more."""
_TEXTS: Final = 40
_AT_ONCE: Final = 8
_GROWN: Final = 1.5


def read_calibration(tx: Tx, space: str) -> Calibration | None:
    """The project's calibration in a space, if there is one: one look-up by primary key."""
    return _parsed(ProjectRepository(tx).fact(_KEY), space)


class CalibrationService:
    """Measures one project."""

    def __init__(self, store: Store, vectors: VectorIndex) -> None:
        self._store = store
        self._vectors = vectors

    async def calibrate_if_due(self, provider: EmbeddingProvider) -> Calibration | None:
        """The calibration in the provider's space, made anew if there is none or the project is another.

        Embeds some hundred short texts then, outside of any transaction. None: the project has no vector yet.

        Raises:
            EmbeddingProblem: the provider failed.
        """
        import numpy as np

        space = provider.space.name
        known, progress, sample = await self._store.read(lambda tx: self._looked(tx, space))
        if not progress.vectors or (known is not None and not _is_due(known, progress.vectors)):
            return known
        off = await _vectors(provider, (*off_topic(), *LONG))
        if progress.notes - progress.pending < FEW_NOTES:
            texts = await provider.embed_documents([one.text for one in PAIRS])
            asked = [one.question for one in PAIRS]
            nearest = [float((texts @ one).max()) for one in off]
        else:
            sample = [one for one in sample if "\n" in one.chunk.text] or sample  # not mere titles
            texts = np.array([one.vector for one in sample])
            asked = [query_for(one.chunk.text, number) for number, one in enumerate(sample)]
            nearest = await self._store.read(lambda tx: self._nearest(tx, space, off))
        queries = await _vectors(provider, asked)
        fitting = [float(text @ query) for text, query in zip(texts, queries, strict=True)]
        short, long = nearest[: -len(LONG)], nearest[-len(LONG) :]
        probes = Probes(short, short[: len(QUESTIONS)], long, fitting)
        return await self._store.write(lambda tx: _kept(tx, space, probes, progress.vectors))

    def _looked(
        self, tx: Tx, space: str
    ) -> tuple[Calibration | None, EmbeddingProgress, Sequence[StoredChunk]]:
        known = read_calibration(tx, space)
        progress = self._vectors.progress(tx.conn, space)
        is_due = known is None or _is_due(known, progress.vectors)
        sample = self._vectors.sample(tx.conn, space, _TEXTS) if is_due else ()
        return known, progress, sample

    def _nearest(self, tx: Tx, space: str, queries: Sequence[Vectors]) -> list[float]:
        """The similarity of the nearest text to each; 0 when there is none."""
        found = [self._vectors.nearest(tx.conn, space, one, 1) for one in queries]
        return [float(one.similarities[0]) if len(one.keys) else 0.0 for one in found]


async def _vectors(provider: EmbeddingProvider, questions: Sequence[str]) -> list[Vectors]:
    """Of each question, in their order; some at a time, as an endpoint may be far away."""
    found: list[Vectors] = []
    for first in range(0, len(questions), _AT_ONCE):
        some = questions[first : first + _AT_ONCE]
        found += await asyncio.gather(*(vector_of(provider, one) for one in some))
    return found


def _is_due(known: Calibration, vectors: int) -> bool:
    return vectors >= known.vectors * _GROWN or vectors * _GROWN * _GROWN <= known.vectors


def _kept(tx: Tx, space: str, probes: Probes, vectors: int) -> Calibration:
    made = calibrated(space, probes, vectors=vectors, made_at=tx.now.replace(tzinfo=UTC))
    value = asdict(made) | {"made_at": made.made_at.isoformat(), "method": _METHOD}
    ProjectRepository(tx).set_fact(_KEY, value)
    return made


def _parsed(stored: object, space: str) -> Calibration | None:
    """What `_kept` stored; None when it is of another space or was made another way."""
    match stored:
        case {
            "method": int(method),
            "space": str(of),
            "floor": float(floor),
            "unfitting": float(unfitting),
            "fitting": float(fitting),
            "long_gain": float(long_gain),
            "vectors": int(vectors),
            "made_at": str(made_at),
        } if (method, of) == (_METHOD, space):
            made = datetime.fromisoformat(made_at)
            return Calibration(of, floor, unfitting, fitting, long_gain, vectors, made)
        case _:
            return None
