"""Queries, answers and indexes that other tools stumbled over. See README.md in this folder."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import sys
import types
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from memoranda.embeddings.choice import Sources
from memoranda.model.embedding import EmbeddingSpace, ProviderPhase
from memoranda.model.search import SearchQuery, SearchResults, SearchType

FOLDER = {
    "lang/cpp.md": "# C++ primer\n\nIn C++ a move is cheap.\n",
    "otters.md": "# Otters\n\nOtters are playful; an otter naps on its back.\n",
    "river.md": "We saw two otters at the river.\n",
    "lang/fsharp.md": "# F# beside .NET\n\nC# too. Built with 12.7.3.\n",
    "vue.md": "---\ntitle: vue-router-intro\n---\nGuards, routes and vue-router.\n",
    "contact.md": (
        "Ask lena@example.net or look at https://example.net/p/q?r=s#t and D:\\plans\\list.csv "
        "and lib/core/boot.rs\n"
    ),
    "parts.md": (
        "Lena asked for an example net: p, q, r, s, t. D: the plans, the list, the csv. A boot of the "
        "core is no lib; rs, net, lena, https, example.\n"
    ),
    "letters.md": "# C, F and net\n\nC is a letter, C C C; F is one, F F F; a net is none, net net net.\n",
    "versions.md": "Chapters 3, 7 and 12; lengths 12 7 3 and 12 7 3, and 12 7 3.\n",
    "logic.md": "AND OR NOT are what logic is made of; far and NEAR\n",
    "said.md": 'He said "good evening" and she\'s 90% half_done 🦦\n',
    "cjk.md": "昨天评审了迁移计划，重启job-runner后成功。レビュー完了。배포 절차 정리\n",
}

SIGNS = (
    "*", '"', '""', '"left open', "^otters", "-otters", "otters*", "o*ers", "title:otters",
    "{title content}: otters", "col:umn", "p/q", "lib/core/boot.rs", "D:\\plans\\list.csv",
    "lena@example.net", "https://example.net/p/q?r=s#t", "she's", "90%", "half_done",
    "otters, playful", "otters + playful", "otters;", "--", "/* y */", "\\", "$2 @b :c ?", "12.7.3",
    "[[Otters]]", "#tag", "~", "\u200b", "🦦", "otters AND", "NOT", "OR NOT otters", "NEAR(otters, 2)",
    ")(", "'; DELETE FROM entity; --", "%_%", "otters' OR '1'='1",
    "\0", "otters\0",
)  # fmt: skip
LEAKS = (
    "fts5",
    "sqlite",
    "syntax",
    "no such",
    "column",
    "parser",
    "too many",
    "malformed",
)


async def found(vault: Any, query: str, search_type: str = "fts", **filters: Any) -> list[str]:
    """The paths of the notes found, best first; by their words, unless told otherwise."""
    data = await vault.tool(
        "search_notes", query=query, search_type=search_type, page_size=100, **filters
    )
    assert not data["has_more"]
    paths = [hit["file_path"] for hit in data["results"]]
    assert len(set(paths)) == len(paths)
    return paths


async def answer(vault: Any, query: str, **options: Any) -> SearchResults:
    """What the service says, whatever a client can send."""
    workspace = await vault._opened()
    results: SearchResults = await workspace.search.search(
        SearchQuery(query, SearchType.FTS, **options)
    )
    return results


async def shown(vault: Any, query: str, **arguments: Any) -> str:
    """What the tool answers as text."""
    result = await vault._client.call_tool("search_notes", {"query": query} | arguments)
    text: str = result.content[0].text
    return text


async def test_search_signs(vault: Any) -> None:
    """No sign is an error, whatever it means to the full-text engine.

    Seen in: spences10/ccrecall#23 and #29, stephencelis/SQLite.swift#855,
    Dicklesworthstone/meta_skill#100, wso2/product-ballerina-integrator#2608, the documentation of FTS5.
    """
    vault.write_all(FOLDER)
    await vault.sync()
    for query in SIGNS:
        data = await vault.tool("search_notes", query=query, search_type="fts")
        said = (json.dumps(data) + await shown(vault, query)).lower()
        assert [leak for leak in LEAKS if leak in said] == [], query
        if "otters" in query and not query.startswith("title:"):
            assert "otters.md" in [hit["file_path"] for hit in data["results"]], query
    assert (await answer(vault, "\ud800")).relaxed is False
    [hit, *_] = (await answer(vault, "otters \ud800")).hits
    assert hit.ref.file_path == "otters.md"
    assert len(vault.notes()) == len(FOLDER)


async def test_search_signs_that_look_like_columns(vault: Any) -> None:
    """`title:` is our own filter; no name of a column is one, and a lone exclusion is a word."""
    vault.write_all(FOLDER)
    await vault.sync()
    assert await found(vault, "title:otters") == ["otters.md"]
    assert await found(vault, "river title:otters") == []
    assert (
        await found(vault, "otters") == await found(vault, "-otters") == ["otters.md", "river.md"]
    )
    for column in ("content", "headings", "content_stems", "rowid", "entity_type", "rank", "foo"):
        assert (await found(vault, f"{column}:otters"))[:1] == ["otters.md"], column


async def test_search_signs_of_addresses(vault: Any) -> None:
    """A path and an address come before a note that has all their parts, and more often."""
    vault.write_all(FOLDER)
    await vault.sync()
    for query in (
        "lib/core/boot.rs",
        "lena@example.net",
        "https://example.net/p/q?r=s#t",
        "D:\\plans\\list.csv",
    ):
        assert (await found(vault, query))[:1] == ["contact.md"], query


async def test_search_signs_inside_words(vault: Any) -> None:
    """Versions, apostrophes and names with signs are found as they are written."""
    vault.write_all(FOLDER)
    await vault.sync()
    for query, first in {
        "12.7.3": "lang/fsharp.md",
        "she's": "said.md",
        "half_done": "said.md",
        "90%": "said.md",
        "C++": "lang/cpp.md",
        "F#": "lang/fsharp.md",
        ".NET": "lang/fsharp.md",
        "vue-router": "vue.md",
        "🦦": "said.md",
        "[[Otters]]": "otters.md",
        "job-runner": "cjk.md",
        "迁移计划": "cjk.md",
        "レビュー": "cjk.md",
        "배포": "cjk.md",
    }.items():
        assert (await found(vault, query))[:1] == [first], query


async def test_search_fields_not_text(vault: Any) -> None:
    """Ids, types and dates of a note are no text of it.

    Seen in: the documentation of FTS5 on UNINDEXED columns.
    """
    vault.write_all(FOLDER)
    vault.write("kim.md", "---\ntype: person\ncreated: 2026-02-03\n---\nPlays the cello.\n")
    vault.write("items.md", "- [fact] cellos have four strings\n- made_by [[kim]]\n")
    await vault.sync()
    year = str(datetime.fromtimestamp((vault.root / "kim.md").stat().st_mtime).year)  # noqa: DTZ006
    for query in ("1", "2", "note", "notes", "entity", "section", "observation", "markdown", year):
        assert await found(vault, query) == [], query
    assert await found(vault, "note", note_types=["person"]) == []
    assert await found(vault, "cello", note_types=["person"]) == ["kim.md"]
    vault.write("says.md", f"A note of the year {year} about entity 1.\n")
    await vault.sync()
    for query in ("1", "note", "entity", year):
        assert await found(vault, query) == ["says.md"], query


async def test_search_rank_direction(vault: Any) -> None:
    """The best hit is first, and scores are positive and fall.

    Seen in: the documentation of FTS5 on bm25.
    Better, taken: a word in the title weighs more than one in the text.
    """
    vault.write("weak.md", "# Elsewhere\n\n" + "padding words " * 400 + " walrus\n")
    vault.write("best.md", "# Walrus\n\n" + "walrus walrus " * 5 + "\n")
    vault.write("text.md", "# Zoo\n\nA walrus lives here.\n")
    vault.write("zzz.md", "# The walrus\n\nIt is big.\n")
    vault.write_all({f"other{i}.md": f"Something else, number {i}.\n" for i in range(8)})
    await vault.sync()
    data = await vault.tool("search_notes", query="walrus", search_type="fts")
    order = [hit["file_path"] for hit in data["results"]]
    assert order == ["best.md", "zzz.md", "text.md", "weak.md"]
    scores = [hit["score"] for hit in data["results"]]
    assert all(better > worse for better, worse in pairwise(scores))
    assert scores[-1] > 0


async def test_search_empty_and_long(vault: Any) -> None:
    """A query of nothing is answered with the newest notes.

    Seen in: Dicklesworthstone/meta_skill#100, bug-ops/zeph#1129.
    """
    vault.write_all({"b.md": "second\n", "a.md": "first\n", "c.md": "third\n"})
    times = {"a.md": 3, "b.md": 1, "c.md": 2}

    def date(root: Path) -> None:
        for path, day in times.items():
            moment = datetime(2025, 1, day, 12).timestamp()  # noqa: DTZ001 - the machine's zone
            os.utime(root / path, (moment, moment))

    vault.by_hand(date)
    await vault.sync()
    for query in ("", "   ", "\n\t", "\u00a0", "\u200b"):
        assert await found(vault, query) == ["a.md", "c.md", "b.md"], ascii(query)


LONG = {  # query -> whether it finds the otters; None: anything that is no error
    "otters " * 2000: True,
    "otters AND " * 500: True,
    "otters OR " * 500: True,
    '"otters ' * 2000: True,
    "otters " + " ".join(f"word{i}" for i in range(5000)): True,
    "x" * 10_000: False,
    "é" * 10_000: False,
    "otters NOT " * 500: None,
    "计" * 10_000: None,
    '"' * 5000: None,
    "(" * 2000: None,
    "-" * 5000: None,
    "*" * 5000: None,
    "a/" * 5000: None,
    "title:" * 2000: None,
    "🦦" * 2000: None,
    "c++" * 3000: None,
}


async def test_search_empty_and_long_queries(vault: Any) -> None:
    """A query of any length is answered, and the database's limits are nowhere in the answer."""
    vault.write_all(FOLDER)
    await vault.sync()
    await vault.embedded()
    for query, is_hit in LONG.items():
        data = await vault.tool("search_notes", query=query, page_size=100)
        said = (json.dumps(data) + await shown(vault, query)).lower()
        assert [leak for leak in LEAKS if leak in said] == [], query[:20]
        assert len(said) < 40_000
        paths = [hit["file_path"] for hit in data["results"]]
        if is_hit is not None:
            assert paths[:1] == ["otters.md"][: int(is_hit)], query[:20]


async def test_search_empty_and_long_paragraphs(vault: Any) -> None:
    """A pasted page of text finds the note it begins with."""
    vault.write_all(FOLDER)
    page = [f"Sentence {i} speaks of matter{i}." for i in range(800)]
    vault.write("page.md", " ".join(page[:9]) + "\n")
    await vault.sync()
    assert (await found(vault, " ".join(page)))[:1] == ["page.md"]


ACCENTS = "Crème brûlée bei Chloé, señor Ångel, GEHSTEIG FUSSWEG Fußweg, İzmir, Škoda, Ørsted\n"


@pytest.mark.parametrize("form", ["NFC", "NFD"])
async def test_search_accents_and_case(vault: Any, form: Any) -> None:
    """Accents and case do not matter, composed or not, in the query or in the note; it is shown as written.

    Seen in: scambier/obsidian-omnisearch#513 and #312, srid/neuron#611.
    Better, taken: `ss` finds `ß` and `i` finds a dotted capital I.
    """
    text = unicodedata.normalize(form, ACCENTS)
    vault.write_all(FOLDER | {"accents.md": text})
    await vault.sync()
    for query in (
        "creme", "crème", "cre\u0300me", "CRÈME", "brulee", "CHLOE", "senor", "angel", "A\u030angel",
        "skoda", "fussweg", "fußweg", "FUẞWEG", "izmir", "İZMİR", "IZMIR", "orsted",
    ):  # fmt: skip
        data = await vault.tool("search_notes", query=query, search_type="fts")
        assert [hit["file_path"] for hit in data["results"]] == ["accents.md"], query
        assert data["results"][0]["passages"][0]["text"] == text.strip(), query


async def test_search_accents_and_case_of_other_scripts(vault: Any) -> None:
    """Accents, points and widths fold in every script."""
    pairs = {
        "αθηνα": "Η Αθήνα",
        "ΣΊΣΥΦΟΣ": "Σισυφος",
        "елка": "Ёлка",
        "שלום": "שָׁלוֹם",
        "محمد": "مُحَمَّد",
        "lodz": "Łódź",
        "thor": "Þór",
        "ﬁgment": "a figment",
        "ｗｉｄｔｈ": "half width",
        "ひらかな": "ひらかな",
        "isparta": "ısparta",
        "절차": unicodedata.normalize("NFD", "배포 절차"),
        "йод": unicodedata.normalize("NFD", "Йод"),
        unicodedata.normalize("NFD", "グラフ"): "知識グラフ",
    }
    vault.write_all({f"n{i}.md": f"{text}\n" for i, text in enumerate(pairs.values())})
    await vault.sync()
    for number, query in enumerate(pairs):
        assert await found(vault, query) == [f"n{number}.md"], query


async def test_search_stems(vault: Any) -> None:
    """Another form of a word finds the note too, below its exact form.

    Seen in: the documentation of FTS5 on its porter tokenizer.
    Better, taken: `carry`, `party` and `city` find their other forms.
    """
    vault.write_all(
        {
            "w.md": "He was swimming and carried the parties of cities.\n",
            "news.md": "The news is new.\n",
            "code.md": "class Swimmer: def swim_fast(self)\n",
            "x.md": "No word of it.\n",
        }
    )
    await vault.sync()
    for query in ("swim", "swims"):
        assert "w.md" in await found(vault, query)
    assert (await found(vault, "swimming"))[:1] == ["w.md"]
    assert (await found(vault, "swim_fast"))[:1] == ["code.md"]
    assert (await found(vault, "Swimmer"))[:1] == ["code.md"]
    for query in ("carry", "party", "city", "carrying"):
        assert await found(vault, query) == ["w.md"]
    assert (await found(vault, "new")) == (await found(vault, "news")) == ["news.md"]


async def test_search_stems_rank_below_words(vault: Any) -> None:
    """Of two equal notes the one with the very form that was typed is first."""
    vault.write("a.md", "They were walking in the hills today.\n")
    vault.write("b.md", "They will walk up to the hills today.\n")
    vault.write("c.md", "She who walks is in the hills today.\n")
    vault.write_all({f"o{i}.md": f"Other words, {i} of them.\n" for i in range(9)})
    await vault.sync()
    for query, first in (("walking", "a.md"), ("walk", "b.md"), ("walks", "c.md")):
        order = await found(vault, query)
        assert order[0] == first
        assert sorted(order) == ["a.md", "b.md", "c.md"]


VECTOR_ROWS = """
    SELECT (SELECT count(*) FROM search_vector_chunks WHERE entity_id = :id),
        (SELECT count(*) FROM search_vector_notes WHERE entity_id = :id),
        (SELECT count(*) FROM search_vector_embeddings WHERE chunk_id NOT IN
            (SELECT id FROM search_vector_chunks WHERE entity_id <> :id))
"""


ITEMS = """
    SELECT s.rowid & 16777215, s.title, s.content FROM search_index s
    JOIN entity e ON e.id = s.rowid >> 24 WHERE e.content LIKE '%phoenix%' ORDER BY 1
"""


async def test_search_deleted_and_updated(vault: Any) -> None:
    """What is gone from a note or a folder is gone from every table of search.

    Another note stays: an emptied folder is held for a minute before it is believed.

    Seen in: tobi/qmd#961, simonw/sqlite-utils#354.
    """
    vault.write("n.md", "# Old\n\n- [fact] a basilisk\n\nbasilisk again\n")
    vault.write("other.md", "a kettle\n")
    await vault.sync()
    await vault.embedded()
    vault.write("n.md", "# New\n\n- [fact] a phoenix\n\nphoenix again\n")
    await vault.sync()
    assert await found(vault, "basilisk") == []
    assert await found(vault, "phoenix") == ["n.md"]
    await vault.embedded()
    assert vault.rows("SELECT * FROM search_vector_chunks WHERE chunk_text LIKE '%basilisk%'") == []
    for mode in ("fts", "vector", "hybrid"):
        assert (await found(vault, "phoenix", mode))[:1] == ["n.md"]
    items = vault.rows(ITEMS)
    assert len({place for place, _, _ in items}) == len(items) > 2
    [hit] = (await vault.tool("search_notes", query="phoenix", search_type="fts"))["results"]
    lines = [passage["start_line"] for passage in hit["passages"]]
    assert len(set(lines)) == len(lines) > 0

    vault.by_hand(lambda root: (root / "n.md").rename(root / "m.md"))
    await vault.sync()
    assert await found(vault, "phoenix") == ["m.md"]
    assert len(vault.rows(ITEMS)) == len(items)
    await vault.rebuild()
    rebuilt = vault.rows(ITEMS)
    assert len(rebuilt) == len(items)

    await vault.embedded()
    [(gone,)] = vault.rows("SELECT id FROM entity WHERE file_path = 'm.md'")
    vault.delete("m.md")
    await vault.sync()
    assert await found(vault, "phoenix") == []
    for mode in ("fts", "vector", "hybrid"):
        assert await found(vault, "kettle", mode) == ["other.md"]
        assert "m.md" not in await found(vault, "phoenix", mode)
    assert vault.rows("SELECT * FROM search_index WHERE rowid >> 24 = :id", id=gone) == []
    assert vault.rows("SELECT count(*) FROM search_index") == vault.rows(
        "SELECT count(*) FROM search_index WHERE rowid >> 24 IN (SELECT id FROM entity)"
    )
    assert vault.rows(VECTOR_ROWS, id=gone) == [(0, 0, 0)]


def numbered() -> dict[str, str]:
    """A hundred notes alike, half of them ideas; 12 have each of t0 to t7, four have t10."""
    tags = [f"t{i % 8}" for i in range(96)] + ["t10, t1x"] * 4
    kinds = ["idea", "note"] * 50
    return {
        f"n{i:03}.md": f"---\ntitle: N {i}\ntype: {kind}\ntags: [{tag}]\n---\nusual usual\n"
        for i, (tag, kind) in enumerate(zip(tags, kinds, strict=True))
    }


async def test_search_pages_and_filters(vault: Any) -> None:
    """The pages of an answer hold each note once, in an order that stays.

    Seen in: doobidoo/mcp-memory-service#1197.
    """
    files = numbered()
    for half in (list(files)[50:], list(files)[:50]):
        vault.write_all({path: files[path] for path in half})
        await vault.sync()
    await vault.embedded()

    async def page(number: int, **arguments: Any) -> list[str]:
        data = await vault.tool("search_notes", query="usual", limit=10, page=number, **arguments)
        assert data["total_is_exact"] is True
        assert data["total"] == (50 if arguments else 100)
        assert data["has_more"] == (number * 10 < data["total"])
        return [hit["file_path"] for hit in data["results"]]

    pages = [await page(number) for number in range(1, 11)]
    assert [len(paths) for paths in pages] == [10] * 10
    order = [path for paths in pages for path in paths]
    assert sorted(order) == sorted(files)
    await vault.rebuild()
    await vault.embedded()
    assert [path for number in range(1, 11) for path in await page(number)] == order
    assert await page(11) == await page(1_000_000) == []
    ideas = [await page(number, note_types=["idea"]) for number in range(1, 7)]
    assert [len(paths) for paths in ideas] == [10, 10, 10, 10, 10, 0]
    assert sorted(path for paths in ideas for path in paths) == [
        f"n{i:03}.md" for i in range(0, 100, 2)
    ]


async def test_search_pages_and_filters_out_of_bounds(vault: Any) -> None:
    """A page or a size that cannot be, and a date that is none, are refused by their names."""
    vault.write("n.md", "usual\n")
    await vault.sync()
    for name, value in (
        ("page", 0), ("page", -1), ("page", 10**12), ("page", 10**30), ("page", 1.5), ("page", "two"),
        ("limit", 0), ("limit", 100_000), ("page_size", -3),
        ("after_date", "the other day-ish"), ("after_date", "2099-01-01"), ("after_date", "2025-13-45"),
    ):  # fmt: skip
        error = await vault.refused("search_notes", query="usual", **{name: value})
        assert error["code"] == "INVALID_ARGUMENT"
        assert error["parameter"] in (name, "page_size")
        assert str(value)[:4] in error["message"] or error["parameter"] in error["message"]


async def test_search_pages_and_filters_of_tags(vault: Any) -> None:
    """A tag is itself and what is nested in it, no other that begins with it; of two, both are asked for."""
    vault.write_all(numbered() | {"deep.md": "---\ntags: [t1/sub, t2]\n---\nusual\n"})
    await vault.sync()
    t1 = [f"n{i:03}.md" for i in range(1, 96, 8)]
    assert sorted(await found(vault, "usual", tags=["t1"])) == ["deep.md", *t1]
    assert sorted(await found(vault, "usual tag:t1")) == ["deep.md", *t1]
    assert await found(vault, "usual", tags=["t1", "t2"]) == ["deep.md"]
    assert await found(vault, "usual", tags=["t1", "t3"]) == []
    assert await found(vault, "usual", tags=["t"]) == []
    assert len(await found(vault, "usual", tags=["t10"])) == 4


def break_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """The packages can be imported, and fail as soon as they are used."""

    def refuse(*_args: object, **_options: object) -> None:
        raise sqlite3.OperationalError("cannot load an extension here")

    extension, models = types.ModuleType("sqlite_vec"), types.ModuleType("fastembed")
    extension.load = extension.loadable_path = refuse  # type: ignore[attr-defined]
    models.TextEmbedding = refuse  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sqlite_vec", extension)
    monkeypatch.setitem(sys.modules, "fastembed", models)


async def test_search_vector_missing(
    vault: Any, monkeypatch: pytest.MonkeyPatch, set_up: Callable[..., None]
) -> None:
    """Vectors need no extension: without it every mode is answered as asked.

    Where vectors are missing all the same, since a model was asked for that cannot be loaded, every mode is
    answered by full text, and the answer says so, and why.

    Seen in: mnemosyne-oss/mnemosyne#236, tobi/qmd#498, sqliteai/sqlite-rag#4.
    Better, taken: the status says what became of a real load.
    """
    break_vectors(monkeypatch)
    vault.write_all({"a.md": "foxtrot\n", "b.md": "golf\n"})
    await vault.sync()
    await vault.embedded()
    for mode in ("hybrid", "vector"):
        data = await vault.tool("search_notes", query="foxtrot", search_type=mode)
        assert [hit["file_path"] for hit in data["results"]][:1] == ["a.md"]
        assert (data["search_type"], data["degraded"]) == (mode, None)

    await vault.restart()
    set_up(semantic_embedding_provider="fastembed")
    for arguments in ({}, {"search_type": "vector"}, {"search_type": "hybrid"}):
        data = await vault.tool("search_notes", query="foxtrot", **arguments)
        assert [hit["file_path"] for hit in data["results"]] == ["a.md"]
        assert data["search_type"] == "fts"
        assert data["degraded"].startswith("Meaning search cannot be used: The ")
        assert "full-text answer" in data["degraded"]
        said = await shown(vault, "foxtrot", **arguments)
        assert "(fts)" in said
        assert "full-text answer" in said
    state = (await (await vault._opened()).info()).provider
    assert state.phase is ProviderPhase.FAILED
    assert state.reason in data["degraded"]
    data = await vault.tool("search_notes", query="foxtrot", search_type="fts")
    assert data["degraded"] is None


@dataclass
class Model:
    """Knows two words and has an axis for each; embeds notes while `is_open` is set."""

    name: str
    dimensions: int
    words: tuple[str, str] = ("foxtrot", "golf")
    is_open: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def space(self) -> EmbeddingSpace:
        return EmbeddingSpace("openai", self.name, "1", self.dimensions)

    async def embed_query(self, text: str, /) -> NDArray[np.float32]:
        vector = np.zeros(self.dimensions, np.float32)
        for axis, word in enumerate(self.words):
            vector[axis] = word in text
        return vector / max(1.0, float(np.linalg.norm(vector)))

    async def embed_documents(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        await self.is_open.wait()
        return np.array([await self.embed_query(text) for text in texts], np.float32)

    async def aclose(self) -> None: ...


async def test_search_vector_model_change(vault: Any) -> None:
    """Vectors of one model are never compared with those of another, whatever their length.

    They are made anew in the background; until that is done, the answer says that it is not complete. The
    third model has each word where the second has the other: its questions would find the wrong notes.

    Seen in: arabold/docs-mcp-server#352, doobidoo/mcp-memory-service#608,
    Synaptic-Labs-AI/PACT-Plugin#227.
    """
    vault.write_all({"a.md": "foxtrot\n", "b.md": "golf\n"})

    async def ask(query: str = "foxtrot") -> Any:
        data = await vault.tool("search_notes", query=query, search_type="vector")
        said = json.dumps(data) + await shown(vault, query, search_type="vector")
        assert "dimension" not in said
        return data

    for model in (
        Model("first", 384),
        Model("second", 256),
        Model("third", 256, words=("golf", "foxtrot")),
    ):
        await vault.restart()
        vault.sources = Sources(is_installed=lambda: False, bundled=lambda model=model: model)
        await vault.sync()
        data = await ask()
        assert [hit["file_path"] for hit in data["results"]] == ["a.md"]
        assert data["search_type"] == "fts"
        assert data["degraded"].startswith("No note is embedded")
        assert (model.name in data["degraded"]) is (model.name != "first")
        model.is_open.set()
        await vault.embedded()
        spaces = "SELECT DISTINCT model, dimensions FROM search_vector_embeddings"
        assert vault.rows(spaces) == [(model.space.name, model.dimensions)]
        for query, path in (("foxtrot", "a.md"), ("golf", "b.md")):
            data = await ask(query)
            assert [hit["file_path"] for hit in data["results"]] == [path]
            assert (data["search_type"], data["degraded"]) == ("vector", None)

        model.is_open.clear()
        vault.write("c.md", f"{model.name} foxtrot\n")
        await vault.sync()
        data = await ask()
        assert [hit["file_path"] for hit in data["results"]] == ["a.md"]
        assert data["degraded"] == "Meaning search knows 2 of 3 notes so far"
        vault.delete("c.md")
        await vault.sync()


@pytest.fixture
def set_up(vault: Any) -> Callable[..., None]:
    """Write settings for the next server."""
    file = vault.root.parent / "config" / "config.json"

    def write(**settings: Any) -> None:
        file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | settings), "utf-8")

    return write


async def test_search_snippets(vault: Any) -> None:
    """The passage shows the line that was found, at its place, however long the note is.

    Seen in: use-agent-os/agent-os#2720.
    """
    vault.write("long.md", "plain line of text\n" * 2000 + "thimble 京都展覧会 found\n")
    await vault.sync()
    await vault.embedded()
    for query in ("thimble", "THIMBLES", "京都", "展覧会", "thim", '"thimble 京都展覧会"'):
        [hit] = (await vault.tool("search_notes", query=query))["results"]
        passage = hit["passages"][0]
        assert "thimble 京都展覧会 found" in passage["text"], query
        assert passage["start_line"] > 1980
        assert passage["end_line"] == 2001
        assert len(passage["text"]) < 300
        said = await shown(vault, query)
        assert "thimble 京都展覧会 found" in said
        assert f"L{passage['start_line']}-2001" in said


FAMILY = "👩\u200d👩\u200d👧\u200d👦"


async def test_search_snippets_are_cut_between_characters(vault: Any) -> None:
    """No cut parts a character from its marks, and what is shown is in the note as it is."""
    fillers = (
        "か\u3099き\u3099く\u3099", "é\u0301\u0323ê", FAMILY, "กำลัง", "हिन्दी", "漢字仮名", "❤\ufe0f",
    )  # fmt: skip
    texts = {
        f"n{number}-{before}.md": "x" * before + filler * 400 + "展覧会" + filler * 400
        for number, filler in enumerate(fillers)
        for before in range(3)
    }
    vault.write_all({path: f"{text}\n" for path, text in texts.items()})
    await vault.sync()
    for path, text in texts.items():
        name = path.removesuffix(".md")
        data = await vault.tool("search_notes", query="展覧会", search_type="fts", permalink=name)
        [hit] = data["results"]
        passage = hit["passages"][0]["text"]
        assert "展覧会" in passage
        assert 200 < len(passage) < 300
        part = passage.strip("…")
        start = text.index(part)
        for end in (start, start + len(part)):
            if 0 < end < len(text):
                assert unicodedata.category(text[end])[0] != "M", path
                assert "\u200d" not in text[end - 1 : end + 1], path
