"""`memoranda doctor` on search by meaning: the model and the vectors."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.cli.conftest import Cli

from memoranda.cli.command_line import command_line
from memoranda.cli.version import version
from memoranda.config import load_settings
from memoranda.db.engine import begin_read, begin_write, open_engine
from memoranda.doctor import model
from memoranda.doctor.model import ModelFacts, judge, look
from memoranda.embeddings.choice import Sources
from memoranda.embeddings.endpoint import Endpoint
from memoranda.embeddings.local_models import LocalModel
from memoranda.embeddings.static import SPACE
from memoranda.errors import EmbeddingProblem
from memoranda.files.clock import SystemClock
from memoranda.model.embedding import EmbeddingSpace, ProviderPhase
from memoranda.model.live import WatchMode, WatchState
from memoranda.model.sync import SyncPhase, SyncState
from memoranda.ports import EmbeddingProvider
from memoranda.repositories.vectors import BlobVectorIndex
from memoranda.sync.lease import Lease
from memoranda.sync.sync_service import INDEX_VERSION

OK, WARNING, PROBLEM = "ok", "warning", "problem"
OLD = EmbeddingSpace("openai", "text-embedding-3-small", "example.org", 16)
KEY = "sk-a-very-secret-key"


def asked(cli: Cli, name: str) -> tuple[str, str, str] | None:
    """One check of a `doctor --json --quick`; None: there is none."""
    outcome = cli("doctor", "--json", "--quick")
    assert outcome.err == ""
    found = [
        (check["verdict"], check["message"], check["hint"])
        for section in outcome.json["sections"]
        for check in section["checks"]
        if check["name"] == name
    ]
    assert len(found) < 2
    return found[0] if found else None


@pytest.fixture
def embed(ready: Cli, home: Path) -> Callable[[EmbeddingSpace, int], None]:
    """Gives so many notes of `my notes` vectors in a space; there are none before."""
    engine = open_engine(home / "my-notes" / "memory.db")
    with begin_write(engine) as conn:
        for table in ("notes", "embeddings", "chunks"):
            conn.exec_driver_sql(f"DELETE FROM search_vector_{table}")
    engine.dispose()

    def embed(space: EmbeddingSpace, most: int) -> None:
        engine = open_engine(home / "my-notes" / "memory.db")
        try:
            with begin_read(engine) as conn:
                project_id = int(conn.exec_driver_sql("SELECT id FROM project").scalar_one())
            vectors = BlobVectorIndex(project_id)
            with begin_write(engine) as conn:
                notes = vectors.pending(conn, space.name, most)
                one = np.zeros(space.dimensions, np.float32)
                one[0] = 1
                texts = {chunk.content_key: one for note in notes for chunk in note.chunks}
                vectors.replace(conn, space.name, notes, texts)
        finally:
            engine.dispose()

    return embed


def test_the_model_that_comes_along_is_loaded_and_embeds(ready: Cli) -> None:
    found = asked(ready, "model")
    assert found is not None
    assert found[0] == OK
    assert found[1].startswith("static model, 256 dimensions; it embeds a short text in ")
    assert "why this one: it comes with the program" in found[1]


def test_what_is_not_embedded_is_said_with_the_way_on(
    ready: Cli, embed: Callable[[EmbeddingSpace, int], None]
) -> None:
    embed(SPACE, 1)
    found = asked(ready, "vectors")
    assert found is not None
    assert found[0] == WARNING
    assert found[1].startswith("1 of 4 notes embedded (25 %), ")
    assert command_line("sync", project="my notes") in found[2]


def test_vectors_that_are_complete_are_well(
    ready: Cli, embed: Callable[[EmbeddingSpace, int], None], notes: Path
) -> None:
    embed(SPACE, 9)
    found = asked(ready, "vectors")
    assert found is not None
    assert (found[0], found[1][:25]) == (OK, "all of 4 notes embedded, ")
    (notes / "Garden diary.md").write_text("Second frost.\n")
    ready("sync")
    found = asked(ready, "vectors")
    assert found is not None
    assert found[1].startswith(("3 of 4 notes", "all of 4 notes"))  # a sync may embed it


def test_vectors_of_another_model_are_found_and_left(
    ready: Cli, embed: Callable[[EmbeddingSpace, int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    embed(OLD, 9)
    embed(SPACE, 9)
    found = asked(ready, "old vectors")
    assert found is not None
    assert found[0] == OK
    assert (
        "kB are vectors of another model (openai:text-embedding-3-small@example.org/16)"
        in (found[1])
    )
    assert asked(ready, "old vectors") == found
    monkeypatch.setenv("BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED", "false")
    off = asked(ready, "vectors")
    assert off is not None
    assert "are kept and not used, as search by meaning is off" in off[1]
    assert asked(ready, "old vectors") is None


def test_a_sync_keeps_vectors_of_another_model_and_a_reindex_removes_them(
    ready: Cli, embed: Callable[[EmbeddingSpace, int], None]
) -> None:
    embed(OLD, 9)
    ready("sync")
    assert asked(ready, "old vectors") is not None
    ready("reindex")
    assert asked(ready, "old vectors") is None


@pytest.fixture
def lease(ready: Cli, home: Path, notes: Path) -> Iterator[Lease]:
    """The leadership of `my notes`, held by something that is not the command."""
    status = (home / "my-notes" / "memory.db").stat()
    serves = f"{notes}\n{(status.st_dev, status.st_ino)}"
    lease = Lease(home / "my-notes", version(), INDEX_VERSION, serves=serves)
    assert lease.acquire()
    yield lease
    lease.release()


def test_a_server_that_embeds_or_stands_still_is_told_apart(
    ready: Cli, embed: Callable[[EmbeddingSpace, int], None], lease: Lease
) -> None:
    embed(SPACE, 1)
    now = SyncState(SyncPhase.READY), WatchState(WatchMode.EVENTS, running=True, folders=2)
    lease.say(*now)
    found = asked(ready, "vectors")
    assert found is not None
    assert found[0] == WARNING
    assert found[1].endswith(" leads the project and embeds nothing so far")
    lease.say(*now, embedding_space=SPACE.name)
    found = asked(ready, "vectors")
    assert found is not None
    assert found[0] == OK
    assert found[1].endswith("; the server embeds the rest")
    lease.say(*now, "the disk is full")
    found = asked(ready, "vectors")
    assert found is not None
    assert found[0] == WARNING
    assert found[1].endswith("; it stands still: the disk is full")


def test_without_an_index_nothing_is_said_of_vectors(ready: Cli, home: Path) -> None:
    for file in (home / "my-notes").glob("memory.db*"):
        file.unlink()
    assert asked(ready, "vectors") is None


def test_a_key_that_is_missing_is_a_problem_with_its_name(
    ready: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(model, "Sources", lambda: Sources(find_key=lambda url: ""))
    monkeypatch.setenv("BASIC_MEMORY_SEMANTIC_EMBEDDING_PROVIDER", "openai")
    outcome = ready("doctor", "--json", "--quick")
    assert outcome.code == 1
    found = asked(ready, "model")
    assert found is not None
    assert (found[0], "BASIC_MEMORY_SEMANTIC_API_KEY" in found[1]) == (PROBLEM, True)
    vectors = asked(ready, "vectors")
    assert vectors is not None
    assert (vectors[0], "are kept and not used" in vectors[1]) == (OK, True)


def test_a_key_is_never_shown(ready: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BASIC_MEMORY_SEMANTIC_EMBEDDING_PROVIDER", "openai")
    monkeypatch.setenv("BASIC_MEMORY_SEMANTIC_EMBEDDING_MODEL", "some-model")
    monkeypatch.setenv("BASIC_MEMORY_SEMANTIC_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("BASIC_MEMORY_SEMANTIC_API_KEY", KEY)
    for options in ((), ("--json",)):
        outcome = ready("doctor", "--quick", *options)
        assert outcome.code == 1
        assert "127.0.0.1:9" in outcome.out
        assert KEY not in outcome.out + outcome.err


def looked(sources: Sources) -> ModelFacts:
    return look(load_settings(), SystemClock(), sources=sources)


def unusable(wanted: LocalModel) -> EmbeddingProvider:
    raise EmbeddingProblem(f"The folder {wanted.folder} does not exist", is_lasting=True)


def test_a_folder_of_a_model_that_does_not_exist_is_the_reason(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BASIC_MEMORY_SEMANTIC_MODEL_PATH", "/nowhere/model")
    facts = looked(Sources(load=unusable))
    assert facts.state.phase is ProviderPhase.FAILED
    assert facts.state.reason == "The folder /nowhere/model does not exist"


def test_nothing_is_downloaded(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BASIC_MEMORY_SEMANTIC_ALLOW_DOWNLOAD", "true")
    monkeypatch.setenv("BASIC_MEMORY_SEMANTIC_EMBEDDING_PROVIDER", "fastembed")
    sources = Sources(is_installed=lambda: True, load=lambda wanted: None)
    facts = looked(sources)
    assert facts.state.phase is ProviderPhase.ABSENT
    [check] = judge(facts)
    assert check.verdict.value == WARNING
    assert check.message == (
        "fastembed bge-small-en-v1.5 cannot be used yet, searches go by words: its files are not here "
        "yet; a server or `memoranda sync` downloads them"
    )
    assert check.hint == "Download them now: `memoranda sync`."
    assert not home.exists()


def test_a_setting_that_is_not_used_is_a_warning(
    ready: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BASIC_MEMORY_SEMANTIC_BASE_URL", "http://127.0.0.1:9/v1")
    found = asked(ready, "model")
    assert found is not None
    assert found[0] == WARNING
    assert "semantic_base_url is set and not used: it counts for the provider openai" in found[1]
    assert found[2].startswith('Set semantic_embedding_provider to "openai"')
    monkeypatch.setenv("BASIC_MEMORY_SEMANTIC_EMBEDDING_PROVIDER", "static")
    found = asked(ready, "model")
    assert found is not None
    assert found[0] == OK


def test_an_endpoint_that_is_down_is_to_be_started(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(endpoint: Endpoint) -> EmbeddingProvider:
        raise EmbeddingProblem(f"{endpoint.base_url} cannot be reached", is_lasting=is_lasting)

    monkeypatch.setenv("BASIC_MEMORY_SEMANTIC_EMBEDDING_PROVIDER", "openai")
    hints = []
    for is_lasting in (False, True):  # noqa: B007  (read when the endpoint is asked)
        [check] = judge(looked(Sources(find_key=lambda url: KEY, connect=refused)))
        hints.append(check.hint)
    assert hints[0] == "Start the endpoint or check the network; it is tried again by itself."
    assert hints[1].startswith("Correct the settings")


def test_an_endpoint_that_goes_down_after_it_was_chosen_is_to_be_started(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Gone(Broken):
        async def embed_query(self, text: str) -> object:
            raise EmbeddingProblem("It cannot be reached")

    async def connect(endpoint: Endpoint) -> EmbeddingProvider:
        return Gone()  # type: ignore[return-value]

    monkeypatch.setenv("BASIC_MEMORY_SEMANTIC_EMBEDDING_PROVIDER", "openai")
    Gone.space = EmbeddingSpace("openai", "m", "h", 3)
    facts = looked(Sources(find_key=lambda url: KEY, connect=connect))
    assert facts.way_on.startswith("Start the endpoint")


class Broken:
    """A provider whose vectors are not what they should be; without any it fails from the second on."""

    space = EmbeddingSpace("static", "broken", "", 3)

    def __init__(self, *values: float) -> None:
        self.values = values
        self.is_first = True

    async def embed_query(self, text: str) -> object:
        is_first, self.is_first = self.is_first, False
        if not self.values and not is_first:
            raise EmbeddingProblem("The file is damaged", hint="Install it again.")
        return np.array(self.values, np.float32)

    async def aclose(self) -> None:
        pass


@pytest.mark.parametrize(
    ("values", "trouble", "way_on"),
    [
        ((), "The file is damaged", "Install it again."),
        ((1.0, 0.0), "a vector has the shape (2,), not 3", ""),
        ((0.0, 0.0, 0.0), "it knows nothing in an English sentence", ""),
    ],
)
def test_a_model_that_loads_and_embeds_nothing_is_found(
    home: Path, values: tuple[float, ...], trouble: str, way_on: str
) -> None:
    sources = Sources(bundled=lambda: Broken(*values), is_installed=lambda: False)  # type: ignore[arg-type,return-value]
    facts = looked(sources)
    assert (facts.trouble, facts.way_on, facts.took_ms) == (trouble, way_on, None)
    assert facts.state.phase is ProviderPhase.READY


def test_an_endpoint_that_never_answers_is_not_waited_for_for_ever(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(endpoint: Endpoint) -> EmbeddingProvider:
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setenv("BASIC_MEMORY_SEMANTIC_EMBEDDING_PROVIDER", "openai")
    monkeypatch.setattr(model, "_PATIENCE_S", 0.0)
    facts = looked(Sources(find_key=lambda url: KEY, connect=never))
    assert facts.state.phase is ProviderPhase.FAILED
    assert facts.state.provider == "openai"
    assert facts.state.reason == "it does not answer within 0 seconds"
    assert facts.state.is_passing


def test_after_a_sync_all_is_well(ready: Cli) -> None:
    ready("sync")
    found = asked(ready, "vectors")
    assert found is not None
    assert (found[0], found[1][:25]) == (OK, "all of 4 notes embedded, ")
    assert asked(ready, "old vectors") is None
