"""Search as a use case: one read transaction, then snippets. Source: spec 5, 8.4, 12.3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from memoranda.errors import InvalidArgument
from memoranda.model.history import Author
from memoranda.model.note import NoteRef
from memoranda.model.search import (
    Confidence,
    Explanation,
    Hit,
    Passage,
    SearchQuery,
    SearchResults,
    SearchType,
    TermShare,
)
from memoranda.ports import FullTextIndex, VectorIndex
from memoranda.repositories.refs import NoteRefRepository
from memoranda.repositories.store import Store, Tx
from memoranda.services.advice import advice, read_filters
from memoranda.services.meaning import MeaningService, NoQuestion, Question
from memoranda.services.passages import passages
from memoranda.services.search_recording import SearchRecorder
from memoranda.services.suggestion import did_you_mean, stood_in
from memoranda.text.analysis import ENGLISH, Languages
from memoranda.text.query import TextQuery, parse_query

if TYPE_CHECKING:
    from memoranda.ranking.confidence import Calibration
    from memoranda.services.found import Evidence, Found, FoundItem, FoundPage
    from memoranda.services.legs import MeaningLeg

MAX_LIMIT = 200
MAX_VALUES = 100
_BY_WORDS = "this is a full-text answer"
_TO_EMBED = f"(a server does it by itself, `memoranda sync` at once); {_BY_WORDS}"
_NO_WORDS = "The query has no word to look for; these are the newest notes."
_PLAIN = (
    "A query of exclusions alone is read as words; beside a word to find, or a filter such as tag:work, "
    "they exclude notes."
)
_NO_SIMILARITY = "min_similarity was not used: fts searches by words alone."
_UNCALIBRATED = 0.55
"""The spec's least similarity, until the project has its own."""
_LEAST = 0.01
"""What is less similar is not similar: scores are above 0."""
_SAME = 1 - 1e-6
"""The similarity of a text to itself, which rounding may leave below 1."""

_WEAK_COVERAGE = 0.3
"""When no note has more of what was asked, none is what was asked for; chosen by `benchmarks retrieval`."""
_WEAK_HITS = 3


@dataclass(frozen=True, slots=True)
class MeaningLimits:
    """What the settings say of the meaning leg.

    Attributes:
        most: items that it may find (`semantic_vector_k`).
        least: similarity of what it finds; None: what the project's calibration says.
    """

    most: int = 100
    least: float | None = None


USUAL_LIMITS = MeaningLimits()


@dataclass(frozen=True, slots=True)
class _Answer:
    parsed: TextQuery
    page: FoundPage
    refs: Mapping[int, NoteRef]
    is_weak: bool
    suggestion: str | None
    search_type: SearchType
    degraded: str | None
    labels: Mapping[int, Confidence]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A query with what was made of it before the transaction."""

    query: SearchQuery
    parsed: TextQuery
    question: Question | NoQuestion | None


class SearchService:
    """Finds notes of one project and shows the passages that made them match."""

    def __init__(
        self,
        store: Store,
        fulltext: FullTextIndex,
        languages: Languages = ENGLISH,
        *,
        half_life_days: int = 0,
        recorder: SearchRecorder | None = None,
        meaning: MeaningService | None = None,
        vectors: VectorIndex | None = None,
        limits: MeaningLimits = USUAL_LIMITS,
    ) -> None:
        self._store = store
        self._fulltext = fulltext
        self._languages = languages
        self._half_life_days = half_life_days
        self._recorder = recorder
        self._meaning = meaning
        self._vectors = vectors
        self._limits = limits

    async def aclose(self) -> None:
        """Wait until the last searches are recorded."""
        if self._recorder is not None:
            await self._recorder.aclose()

    async def search(self, query: SearchQuery, *, by: Author | None = None) -> SearchResults:
        """Answer a query; a mode that cannot run falls back to full text and says so.

        Args:
            query: what is asked.
            by: who asks, for the search log; None: nobody does, and it is not recorded.

        Raises:
            InvalidArgument: `limit` is not in 1..200, `offset` is negative, or a filter has more than 100
                values.
        """
        answering = self._results(query)
        if by is None or self._recorder is None:
            return await answering
        return await self._recorder.recorded(query, by, answering)

    async def _results(self, query: SearchQuery) -> SearchResults:
        if not 1 <= query.limit <= MAX_LIMIT:
            raise InvalidArgument(
                "limit",
                f"{query.limit} is not between 1 and {MAX_LIMIT}",
                hint="Ask for further pages with offset.",
            )
        if not 0 <= query.offset < 1 << 62:
            raise InvalidArgument("offset", f"{query.offset} is not a place in the results")
        for name in ("tags", "note_types", "metadata"):
            if len(getattr(query.filters, name)) > MAX_VALUES:
                raise InvalidArgument(name, f"{name} has more than {MAX_VALUES} values")
        if sum(len(one.values) for one in query.filters.metadata) > MAX_VALUES:
            raise InvalidArgument("metadata", f"metadata has more than {MAX_VALUES} values")
        asked = await self._asked(query)
        answer = await self._store.read(lambda tx: self._answer(tx, asked))
        page = answer.page
        terms = [one.term for one in page.terms]
        found = page.hits[: max(0, _WEAK_HITS - query.offset)] if answer.is_weak else page.hits
        return SearchResults(
            query=query.text,
            search_type=answer.search_type,
            hits=tuple(
                _hit(
                    answer.refs[one.entity_id],
                    one,
                    passages(
                        _nearest_first(one.items) if answer.is_weak else one.items,
                        terms,
                        self._languages,
                    ),
                    _explained(one, page, rank) if query.explain else None,
                    answer.labels.get(rank),
                )
                for rank, one in enumerate(found, query.offset + 1)
                if one.entity_id in answer.refs
            ),
            total=page.total,
            limit=query.limit,
            offset=query.offset,
            degraded=answer.degraded,
            suggestion=answer.suggestion,
            relaxed=page.is_relaxed and bool(page.total),
            full_matches=page.full,
            is_weak=answer.is_weak,
            read_filters=tuple(read_filters(answer.parsed, has_span=page.has_span)),
        )

    async def _asked(self, query: SearchQuery) -> _Asked:
        """Read the query, and have its question turned into a vector where one is wanted."""
        parsed = parse_query(query.text, self._languages, self._store.now())
        if query.search_type is SearchType.FTS or not parsed.clauses:
            return _Asked(query, parsed, None)
        if self._meaning is None:
            return _Asked(query, parsed, NoQuestion("Meaning search is not available"))
        return _Asked(query, parsed, await self._meaning.question(query.text, parsed))

    def _answer(self, tx: Tx, asked: _Asked) -> _Answer:
        query, parsed = asked.query, asked.parsed
        calibration = None
        leg, degraded = None, None
        match asked.question:
            case Question() as question:
                from memoranda.services.calibration import read_calibration

                calibration = read_calibration(tx, question.space.name)
                leg, degraded = self._leg(tx, query, question, calibration)
            case NoQuestion(reason):
                degraded = f"{reason}; {_BY_WORDS}"
            case None:
                pass
        page = self._page(tx, query, parsed, leg)
        refs = NoteRefRepository(tx).by_ids([found.entity_id for found in page.hits])
        labels, is_weak = _confidence(page, query, leg, calibration)
        ran = SearchType.FTS if leg is None else query.search_type
        suggestion = None
        if is_weak or not page.total:
            unknown = [one.term for one in page.terms if not one.items]
            suggestion = did_you_mean(tx, self._fulltext, unknown)
        if suggestion is None and not page.total:
            suggestion = advice(
                tx, replace(query, search_type=ran), parsed, partial(self._page, tx, leg=leg)
            )
        if (
            page.total
            and query.text.strip()
            and not (parsed.clauses or parsed.filters or parsed.span)
        ):
            suggestion = _NO_WORDS
        if suggestion is None and page.total:
            suggestion = stood_in(tx, self._fulltext, parsed.terms, page.terms)
        if parsed.is_plain and suggestion is None:
            suggestion = _PLAIN
        if query.search_type is SearchType.FTS and query.filters.min_similarity is not None:
            suggestion = f"{suggestion} {_NO_SIMILARITY}" if suggestion else _NO_SIMILARITY
        return _Answer(parsed, page, refs, is_weak, suggestion, ran, degraded, labels)

    def _leg(
        self,
        tx: Tx,
        query: SearchQuery,
        question: Question,
        calibration: Calibration | None,
    ) -> tuple[MeaningLeg | None, str | None]:
        """The meaning leg as far as there are vectors, and what is missing of it."""
        from memoranda.services.legs import MeaningLeg

        if self._vectors is None:
            return None, f"Meaning search is not available; {_BY_WORDS}"
        space = question.space.name
        progress = self._vectors.progress(tx.conn, space)
        if progress.pending and not progress.vectors:
            if self._vectors.other_spaces(tx.conn, space):
                return None, f"No note is embedded with {question.space.model} yet {_TO_EMBED}"
            return None, f"No note is embedded yet {_TO_EMBED}"
        is_alone = query.search_type is SearchType.VECTOR
        least = query.filters.min_similarity
        if least is None:
            least = self._limits.least
        if least is None and calibration is not None:
            least = calibration.floor if is_alone else calibration.unfitting
        if least is None:
            least = _UNCALIBRATED
        done = progress.notes - progress.pending
        # Where only some notes can be near, that one is says less.
        share = 1.0 if is_alone else question.share * done / max(1, progress.notes)
        least = min(max(least, _LEAST), _SAME)
        leg = MeaningLeg(self._vectors, space, question.vector, share, least, self._limits.most)
        if progress.is_complete:
            return leg, None
        return leg, f"Meaning search knows {done:,} of {progress.notes:,} notes so far"

    def _page(
        self, tx: Tx, query: SearchQuery, parsed: TextQuery, leg: MeaningLeg | None = None
    ) -> FoundPage:
        # NumPy takes a tenth of a second to load, which a start should not wait for.
        from memoranda.services.ranked_search import RankedSearch

        run = RankedSearch(
            tx, self._fulltext, parsed, query, self._languages, self._half_life_days, leg
        )
        return run.page()


def _confidence(
    page: FoundPage,
    query: SearchQuery,
    leg: MeaningLeg | None,
    calibration: Calibration | None,
) -> tuple[dict[int, Confidence], bool]:
    """Rank -> label of the page's hits, and whether no hit is what was asked for.

    Neither, where no term was looked for: the newest notes are all that was asked for.
    """
    if not page.terms or not page.total:
        return {}, False
    from memoranda.ranking.confidence import label

    words = len(query.text.split())
    is_alone = leg is not None and query.search_type is SearchType.VECTOR

    def is_near(evidence: Evidence) -> bool:
        return leg is not None and (evidence.similarity or 0.0) >= leg.least

    def of(evidence: Evidence) -> Confidence:
        found = label(evidence.similarity, evidence.coverage, words, calibration)
        if found is Confidence.NONE and calibration is None and is_near(evidence):
            return Confidence.LOW  # what similarities mean here is not measured yet
        return found

    labels = {rank: of(hit.evidence) for rank, hit in enumerate(page.hits, query.offset + 1)}
    if leg is None or calibration is None:
        return labels, page.coverage < _WEAK_COVERAGE and not any(map(is_near, page.tops))
    if is_alone and query.filters.min_similarity is not None:
        return labels, False  # who asks says what is near
    # Who asks for meaning alone does not expect the words, which are most of what speaks for a hit.
    weak = {Confidence.NONE} if is_alone else {Confidence.NONE, Confidence.LOW}
    return labels, all(of(one) in weak for one in page.tops)


def _nearest_first(items: Sequence[FoundItem]) -> list[FoundItem]:
    """Those nearest in meaning first: in a weak answer the words, which are few, mislead."""
    return sorted(items, key=lambda one: -(one.similarity or 0.0))


def _hit(
    ref: NoteRef,
    found: Found,
    shown: tuple[Passage, ...],
    explanation: Explanation | None,
    confidence: Confidence | None,
) -> Hit:
    return Hit(
        ref=ref,
        score=found.score,
        item_type=found.item_type,
        passages=shown,
        explanation=explanation,
        confidence=confidence,
    )


def _explained(found: Found, page: FoundPage, rank: int) -> Explanation:
    from memoranda.ranking.items import FIELDS

    best = next((one.score for one in found.items if one.score and one.score.total), None)
    boosts = dict(found.boosts)
    if best is not None and "phrase" in boosts:  # which item is best, both searches say
        boosts["phrase"] = best.phrase
    return Explanation(
        rank=rank,
        terms=tuple(
            TermShare(
                one.term.text,
                one.items,
                best.is_exact[number] if best else False,
                best.terms[number] if best else 0.0,
            )
            for number, one in enumerate(page.terms)
        ),
        fields=dict(zip(FIELDS, best.fields, strict=True)) if best else {},
        boosts=boosts,
        text_score=found.evidence.text_score,
        text_rank=found.evidence.text_rank,
        similarity=found.evidence.similarity,
        similarity_rank=found.evidence.similarity_rank,
    )
