"""What turns text into vectors: does it load as configured, and does it really embed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never

from memoranda.config import model_caches
from memoranda.doctor.words import command, counted
from memoranda.embeddings.choice import ProviderChoice, Sources
from memoranda.embeddings.plan import UnusedSettings, embedding_plan, unused_settings
from memoranda.errors import EmbeddingProblem
from memoranda.model.embedding import ProviderPhase, ProviderState
from memoranda.model.health import Check, ok, problem, warning
from memoranda.ports import Clock, EmbeddingProvider
from memoranda.render.bounds import one_line
from memoranda.render.meaning import provider_name

if TYPE_CHECKING:
    from memoranda.settings import Settings

_MOST_CHARS = 400
_PATIENCE_S = 60.0
_TEXT = "What do my notes say about this?"
_BY_WORDS = "searches go by words"
_SETTINGS = (
    "Correct the settings that begin with semantic_, or remove them: the bundled model needs none."
)
_REMOTE = "openai"
_WHEN_DOWN = "Start the endpoint or check the network; it is tried again by itself."


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What was found of the embedding provider.

    Attributes:
        state: what the settings come to.
        took_ms: how long it took to embed a short text, None when it did not.
        trouble: why it has not embedded although it is ready, with `way_on`.
        unused: settings that say nothing to it.
    """

    state: ProviderState
    took_ms: float | None = None
    trouble: str = ""
    way_on: str = ""
    unused: UnusedSettings | None = None


def look(settings: Settings, clock: Clock, *, sources: Sources | None = None) -> ModelFacts:
    """Load the provider that the settings ask for, and embed a text with it; nothing is downloaded.

    Blocks: a model takes a second or two, and an endpoint that does not answer a minute. Not for use in an
    event loop.

    Args:
        settings: as configured.
        clock: for how long it takes.
        sources: where providers come from; tests put their own in.
    """
    plan = embedding_plan(settings)
    choice = ProviderChoice(plan, model_caches(), sources=sources or Sources())
    choice.look_only()
    facts = asyncio.run(_tried(choice, clock))
    return replace(facts, unused=unused_settings(plan, facts.state.provider))


async def _tried(choice: ProviderChoice, clock: Clock) -> ModelFacts:
    try:
        async with asyncio.timeout(_PATIENCE_S):
            provider = await choice.ready()
            if provider is None:
                return ModelFacts(choice.state)
            return await _embedded(choice.state, provider, clock)
    except TimeoutError:
        said = f"it does not answer within {_PATIENCE_S:.0f} seconds"
        state = replace(choice.state, phase=ProviderPhase.FAILED, reason=said, is_passing=True)
        return ModelFacts(state)
    finally:
        await choice.aclose()


async def _embedded(state: ProviderState, provider: EmbeddingProvider, clock: Clock) -> ModelFacts:
    try:
        began = clock.monotonic()
        vector = await provider.embed_query(_TEXT)
        took_ms = (clock.monotonic() - began) * 1000
    except EmbeddingProblem as error:
        may_pass = not error.is_lasting and state.provider == _REMOTE
        return ModelFacts(
            state, trouble=error.message, way_on=error.hint or (_WHEN_DOWN if may_pass else "")
        )
    if vector.shape != (provider.space.dimensions,):
        said = f"a vector has the shape {vector.shape}, not {provider.space.dimensions}"
        return ModelFacts(state, trouble=said)
    if not vector.any():
        return ModelFacts(state, trouble="it knows nothing in an English sentence")
    return ModelFacts(state, took_ms)


def judge(facts: ModelFacts) -> list[Check]:
    """The check of the embedding provider."""
    state = facts.state
    name, reason = provider_name(state), one_line(state.reason, _MOST_CHARS)
    match state.phase:
        case ProviderPhase.OFF:
            said = f"search by meaning is off: {reason or 'the settings say so'}"
            return [ok("model", said)]
        case ProviderPhase.LOADING:
            how = "is being loaded" if state.progress is None else "is being downloaded"
            said = f"{name} {how}; until then {_BY_WORDS}"
            return [warning("model", said, "Look again in a minute.")]
        case ProviderPhase.FAILED:
            why = f": {reason}" if reason else ""
            said = f"{name} cannot be used, {_BY_WORDS}{why}"
            may_pass = state.is_passing and state.provider == _REMOTE
            return [problem("model", said, _WHEN_DOWN if may_pass else _SETTINGS)]
        case ProviderPhase.ABSENT:
            said = f"{name} cannot be used yet, {_BY_WORDS}: {reason}"
            return [warning("model", said, f"Download them now: {command('sync')}.")]
        case ProviderPhase.READY if facts.trouble:
            why = one_line(facts.trouble, _MOST_CHARS)
            said = f"{name} is loaded and cannot embed, {_BY_WORDS}: {why}"
            return [problem("model", said, facts.way_on or _SETTINGS)]
        case ProviderPhase.READY:
            said = "; ".join(_well(facts, name, reason))
            if facts.unused is not None:
                return [warning("model", said, facts.unused.way_on)]
            return [ok("model", said)]
        case unknown:
            assert_never(unknown)


def _well(facts: ModelFacts, name: str, reason: str) -> list[str]:
    space = facts.state.space
    parts = [f"{name}, {counted(space.dimensions, 'dimension')}" if space else name]
    if facts.took_ms is not None:
        parts.append(f"it embeds a short text in {_ms(facts.took_ms)}")
    return [*parts, f"why this one: {reason}"] if reason else parts


def _ms(milliseconds: float) -> str:
    return f"{milliseconds:,.0f} ms" if milliseconds >= 10 else f"{milliseconds:.1f} ms"
