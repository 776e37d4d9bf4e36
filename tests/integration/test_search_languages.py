"""The languages of the notes: from the setting into the index, its reading processes and the queries."""

from __future__ import annotations

import json

import pytest

from memoranda.config import load_settings
from memoranda.container import Container
from memoranda.errors import ConfigProblem
from memoranda.model.address import NotePath
from memoranda.model.search import SearchQuery, SearchType
from memoranda.services.items import note_terms
from memoranda.services.reading import ReadNote, read_note
from memoranda.sync.reading import ReadTask
from memoranda.sync.reading_pool import ReadingPool

GERMAN = ("german",)


@pytest.fixture
def config(monkeypatch, tmp_path):
    """The configuration folder; writes `config.json`."""
    folder = tmp_path / "config"
    folder.mkdir()
    monkeypatch.setenv("BASIC_MEMORY_CONFIG_DIR", str(folder))

    def write(**values):
        (folder / "config.json").write_text(json.dumps(values), encoding="utf-8")

    return write


async def found(index, text):
    results = await index.search.search(SearchQuery(text, SearchType.FTS))
    return [hit.ref.file_path for hit in results.hits]


async def test_forms_of_words_are_those_of_the_configured_languages(make_index):
    index = make_index(languages=GERMAN)
    index.write("a.md", "Die Häuser am Fluss\n")
    await index.sync.full_sync()
    assert await found(index, "Haus ") == ["a.md"]
    assert await found(index, "was haben die mit dem Hause") == ["a.md"]


@pytest.mark.usefixtures("settled")
async def test_an_index_of_other_languages_is_made_again_once(make_index):
    index = make_index()
    index.write("a.md", "Die Häuser am Fluss\n")
    await index.sync.full_sync()
    before = index.rows("SELECT id, external_id FROM entity")
    german = make_index(languages=GERMAN)
    assert await found(german, "Haus ") == []
    assert await german.sync.sync_paths({"a.md"}) is None
    assert (await german.sync.full_sync()).touched == 1
    assert await found(german, "Haus ") == ["a.md"]
    assert german.rows("SELECT id, external_id FROM entity") == before
    assert (await german.sync.full_sync()).touched == 0
    assert await german.sync.sync_paths({"a.md"}) is not None
    assert (await make_index().sync.full_sync()).touched == 1


@pytest.mark.usefixtures("settled")
async def test_a_newer_index_of_other_languages_is_left_alone(make_index, monkeypatch):
    index = make_index()
    index.write("a.md", "text\n")
    await index.sync.full_sync()
    monkeypatch.setattr("memoranda.sync.sync_service.INDEX_VERSION", 1)
    assert (await make_index(languages=GERMAN).sync.full_sync()).touched == 0


@pytest.mark.usefixtures("settled")
async def test_an_index_of_an_older_analysis_is_made_again(index, monkeypatch):
    index.write("a.md", "text\n")
    await index.sync.full_sync()
    from memoranda.sync.sync_service import INDEX_VERSION

    monkeypatch.setattr("memoranda.sync.sync_service.INDEX_VERSION", INDEX_VERSION + 1)
    assert (await index.sync.full_sync()).touched == 1


async def test_reading_processes_know_the_languages(tmp_path):
    (tmp_path / "a.md").write_text("Die Häuser am Fluss\n", encoding="utf-8")
    async with ReadingPool(tmp_path, (), read_note, workers=1, languages=GERMAN) as pool:
        [outcome] = await pool.read([ReadTask(NotePath("a.md"))])
    assert isinstance(outcome, ReadNote)
    assert outcome.terms == note_terms(outcome.parsed, GERMAN)
    assert outcome.terms != note_terms(outcome.parsed)


async def test_the_setting_reaches_index_and_queries(config, tmp_path):
    root = tmp_path / "notes"
    root.mkdir()
    (root / "a.md").write_text("Die Häuser am Fluss\n", encoding="utf-8")
    config(projects={"main": str(root)}, search_languages=["English", "german"])
    container = await Container.open(load_settings())
    try:
        workspace = await container.workspace(container.find_project(None))
        await workspace.sync.full_sync()
        results = await workspace.search.search(SearchQuery("Haus ", SearchType.FTS))
        assert [hit.ref.file_path for hit in results.hits] == ["a.md"]
    finally:
        await container.aclose()


def test_names_are_taken_in_any_case_and_once(config):
    config(search_languages=[" German", "german", "english"])
    assert load_settings().search_languages == ["german", "english"]


def test_the_environment_gives_a_list_as_json(config, monkeypatch):
    config(search_languages=["german"])
    monkeypatch.setenv("BASIC_MEMORY_SEARCH_LANGUAGES", '["french", "dutch"]')
    assert load_settings().search_languages == ["french", "dutch"]


def test_no_language_is_possible(config):
    config(search_languages=[])
    assert load_settings().search_languages == []


def test_an_unknown_language_is_an_error_that_lists_the_known_ones(config):
    config(search_languages=["english", "klingon"])
    with pytest.raises(ConfigProblem, match=r"search_languages.*'klingon'.*german.*Japanese"):
        load_settings()


def test_a_list_that_is_no_json_is_an_error_with_an_example(config, monkeypatch):
    config()
    monkeypatch.setenv("BASIC_MEMORY_SEARCH_LANGUAGES", "english,german")
    with pytest.raises(ConfigProblem, match="BASIC_MEMORY_SEARCH_LANGUAGES") as problem:
        load_settings()
    assert '["english", "german"]' in str(problem.value.hint)
