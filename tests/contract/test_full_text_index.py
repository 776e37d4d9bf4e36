"""The contract of `ports.FullTextIndex`, over every implementation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, text
from sqlalchemy.engine import Connection
from tests.postgres_lane import PostgresLane, in_lane

from memoranda.db.engine import begin_write, open_engine
from memoranda.db.health import prepare
from memoranda.db.tables import entity, project
from memoranda.model.item_key import item_key
from memoranda.model.search import ItemType, SearchFilters, SearchQuery, SearchType
from memoranda.ports import FullTextIndex, IndexedItem, IndexedNote
from memoranda.repositories.search_postgres import PostgresFullTextIndex
from memoranda.repositories.search_sqlite import SqliteFullTextIndex
from memoranda.repositories.store import Tx
from memoranda.services.found import FoundPage
from memoranda.services.ranked_search import RankedSearch
from memoranda.text.analysis import ENGLISH
from memoranda.text.query import parse_query

DAY = datetime(2026, 1, 2)  # noqa: DTZ001 - stored naive
NOW = datetime(2026, 1, 2, 12, tzinfo=UTC)


@dataclass
class Bench:
    """A transaction with notes in it."""

    conn: Connection
    fulltext: FullTextIndex
    project_id: int = 1
    paths: dict[int, str] = field(default_factory=dict)

    def add(
        self,
        path: str,
        *bodies: str,
        title: str = "",
        item_type: ItemType = ItemType.SECTION,
        mtime: int = 0,
        **columns: Any,
    ) -> int:
        values = {
            "external_id": f"{self.project_id}{path}", "title": title or path, "note_type": "note",
            "file_path": path, "permalink": path, "content": "", "project_id": self.project_id,
            "created_at": DAY, "updated_at": DAY, "mtime_ns": mtime, "ctime_ns": 0, "inode": 0,
            "note_created": DAY, "note_modified": DAY, "wanted_permalink": path,
            "permalink_class": 0, "hashed_permalink": path,
        }  # fmt: skip
        done = self.conn.execute(insert(entity).values(**(values | columns)))
        [note] = done.inserted_primary_key or [0]
        self.paths[note] = path
        self.index(note, *bodies, title=title, item_type=item_type)
        return int(note)

    def index(
        self, note: int, *bodies: str, title: str = "", item_type: ItemType = ItemType.SECTION
    ) -> None:
        items = [IndexedItem(ItemType.NOTE, "", title=title)]
        items += [
            IndexedItem(item_type, body, ("Head",), line, line)
            for line, body in enumerate(bodies, 3)
        ]
        self.fulltext.replace(self.conn, [IndexedNote(note, "note", DAY, DAY, items)])

    def page(self, query: str, limit: int = 50, offset: int = 0, **filters: Any) -> FoundPage:
        wanted = SearchQuery(query, SearchType.FTS, SearchFilters(**filters), limit, offset)
        tx = Tx(self.conn, self.project_id, DAY)
        parsed = parse_query(query, ENGLISH, NOW)
        return RankedSearch(tx, self.fulltext, parsed, wanted, ENGLISH).page()

    def find(self, query: str, **options: Any) -> list[str]:
        return [self.paths[note.entity_id] for note in self.page(query, **options).hits]


@pytest.fixture(params=["sqlite", "postgres"])
def make_bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[int], Bench]]:
    if request.param == "sqlite":
        prepare(tmp_path / "memory.db")
        engine = open_engine(tmp_path / "memory.db")
        with begin_write(engine) as conn:
            yield partial(_bench, conn, SqliteFullTextIndex)
        engine.dispose()
        return
    lane: PostgresLane = request.getfixturevalue("shared_lane")
    with lane.trying() as conn:
        yield partial(_bench, conn, PostgresFullTextIndex)


def _bench(conn: Connection, make: Callable[[int], FullTextIndex], project_id: int) -> Bench:
    values = {"id": project_id, "external_id": f"p{project_id}", "name": "p", "path": "/p",
              "permalink": f"p{project_id}", "created_at": DAY, "updated_at": DAY}  # fmt: skip
    in_lane(lambda: conn.execute(insert(project).values(**values)))
    return Bench(conn, make(project_id), project_id)


@pytest.fixture
def bench(make_bench: Callable[[int], Bench]) -> Bench:
    return make_bench(1)


@pytest.mark.spec("13.3")
def test_a_title_is_found_with_a_positive_score(bench: Bench) -> None:
    bench.add("ml.md", title="Machine Learning Basics")
    bench.add("other.md", title="Cooking")
    page = bench.page("machine learning")
    assert [bench.paths[n.entity_id] for n in page.hits] == ["ml.md"]
    assert page.hits[0].score > 0
    assert not page.is_relaxed


@pytest.mark.spec("13.3")
def test_a_hyphenated_word_is_found(bench: Bench) -> None:
    bench.add("node.md", title="node-js-tutorial")
    bench.add("js.md", "js on a node")
    assert bench.find("node-js") == ["node.md"]


@pytest.mark.spec("13.3")
def test_without_a_full_match_any_term_matches(bench: Bench) -> None:
    bench.add("plan.md", "project management tips")
    page = bench.page("project planning ideas")
    assert page.full == 0
    assert [bench.paths[n.entity_id] for n in page.hits] == ["plan.md"]


@pytest.mark.spec("13.3")
def test_the_second_page_has_results_11_to_20(bench: Bench) -> None:
    for number in range(100):
        bench.add(f"n{number:03}.md", "common words")
    everything = bench.find("common", limit=200)
    assert everything == sorted(everything)  # equal scores: by path
    assert len(everything) == 100
    assert bench.find("common", limit=10, offset=10) == everything[10:20]
    assert bench.page("common", limit=10, offset=10).total == 100
    assert bench.page("common", limit=10, offset=100).hits == ()


def test_terms_may_be_in_different_items(bench: Bench) -> None:
    bench.add("a.md", "about rivers", "about glass", title="Lenses")
    bench.add("b.md", "about rivers")
    assert bench.find("glass rivers lenses") == ["a.md", "b.md"]
    assert bench.page("glass rivers lenses").full == 1


def test_more_terms_rank_higher_when_relaxed(bench: Bench) -> None:
    bench.add("a.md", "nothing else in here", title="Alpha")
    bench.add("b.md", "alpha beta and some other words")
    assert bench.find("alpha beta gamma") == ["b.md", "a.md"]


def test_two_words_of_two_rank_above_one_of_them(bench: Bench) -> None:
    bench.add("often.md", *["a rare word"] * 9)
    bench.add("both.md", "beta rare word")
    for number in range(10):
        bench.add(f"beta{number}.md", "only beta word")
    assert bench.find("rare beta")[:2] == ["both.md", "often.md"]


def test_the_title_that_is_the_query_comes_first(bench: Bench) -> None:
    bench.add("a.md", title="Urgency")
    bench.add("b.md", *["urgency again"] * 9, title="Urgency of tasks, and urgency of goals")
    for number in range(200):
        bench.add(f"n{number:03}.md", "the urgency of it, urgency", title="Some urgency")
    assert bench.find("urgency", limit=1) == ["a.md"]
    assert bench.find("what is Urgency?", limit=1) == ["a.md"]


def test_titles_with_all_words_are_found_by_the_index(bench: Bench) -> None:
    one = bench.add("a.md", "text", title="Blue Zebra")
    bench.add("b.md", "blue zebra", title="Zebra")
    found = bench.fulltext.titled(bench.conn, [("zebra",), ("blue", "azure")])
    assert found.tolist() == [item_key(one, 0, 0)]
    for nothing in ([], [()], [("zebra",), ()], [("unheard",)]):
        assert bench.fulltext.titled(bench.conn, nothing).tolist() == []
    for number in range(50):
        bench.add(f"{number}.md", title="Zebra " + "x" * number)
    assert len(bench.fulltext.titled(bench.conn, [("zebra",)])) == 20


def test_stop_words_do_not_decide(bench: Bench) -> None:
    bench.add("a.md", "history of glass")
    bench.add("b.md", "what is the of")
    assert bench.find("what is the history") == ["a.md"]
    assert bench.find("what is unheard") == []


def test_stop_words_alone_are_searched(bench: Bench) -> None:
    bench.add("a.md", "to be or not to be")
    bench.add("b.md", "something else")
    assert bench.find("to be") == ["a.md"]


def test_best_match_is_first_and_scores_fall(bench: Bench) -> None:
    bench.add("weak.md", "filler words " * 400 + "zebra", title="Other")
    bench.add("best.md", "zebra zebra zebra", title="Zebra")
    notes = bench.page("zebra").hits
    assert [bench.paths[n.entity_id] for n in notes] == ["best.md", "weak.md"]
    assert notes[0].score > notes[1].score > 0


@pytest.mark.spec("13.3")
def test_a_title_weighs_more_than_text(bench: Bench) -> None:
    bench.add("a.md", "a zebra in a zoo", "a zebra again", "zebra", "no zebra")
    bench.add("b.md", "something in a zoo", title="Zebra")
    for number in range(30):
        bench.add(f"c{number}.md", "other animals")
    assert bench.find("zebra") == ["b.md", "a.md"]


@pytest.mark.parametrize(
    "query",
    ["*", '"', '""', '"unbalanced', "^cats", "-cats", "cats*", "c*ts", "title:", "foo:bar", "a/b",
     "{title content}: cats", "NEAR(", "NEAR(a b, 2)", "AND", "OR NOT", "NOT", "(", ")", "()", "--", "\\",
     "/* x */", "$1 @a :b ?", "[[Cats]]", "#tag", "~", "\0", "\ud800", "\u200b", "🌱", "'", "';--",
     "cats + cute", "rank:1", "a" * 100_000, "word " * 2000, '"' * 5000, "(" * 2000, "cats AND " * 500],
)  # fmt: skip
@pytest.mark.spec("12.3")
def test_no_text_is_an_error(bench: Bench, query: str) -> None:
    bench.add("a.md", "cats are cute")
    assert bench.page(query).total in (0, 1)


@pytest.mark.parametrize(
    ("query", "first"),
    [("C++", "cpp.md"), ("c#", "cs.md"), (".net", "cs.md"), ("src/app/main.py", "mail.md"),
     ("kim@example.org", "mail.md"), ("4.8.1", "cs.md"), ("it's", "quote.md"), ("done_now", "quote.md"),
     ("https://example.org/a/b?c=d#e", "mail.md"), (r"C:\work\notes.txt", "mail.md"), ("🌱", "quote.md"),
     ("cafe", "cafe.md"), ("CAFÉ", "cafe.md"), ("cafe\u0301", "cafe.md"), ("ZOE", "cafe.md"),
     ("strasse", "cafe.md"), ("istanbul", "cafe.md"), ("知識グラフ", "cjk.md"), ("東京", "cjk.md"),
     ("グ", "cjk.md"), ("部署方案", "cjk.md"), ("gen-itgc", "cjk.md"), ("검색", "cjk.md"),
     ("หนังสือ", "cjk.md"), ('"hello world"', "quote.md"), ("templ", "cpp.md"), ("हिन्दी", "cjk.md")],
)  # fmt: skip
def test_signs_scripts_and_accents(bench: Bench, query: str, first: str) -> None:
    bench.add("c.md", "plan c and the net, world hello, node js")
    bench.add("cpp.md", "Templates and C++ moves.")
    bench.add("cs.md", "C# and .NET 4.8.1")
    bench.add(
        "mail.md",
        r"kim@example.org https://example.org/a/b?c=d#e C:\work\notes.txt src/app/main.py",
    )
    bench.add("quote.md", 'She said "hello world" and it\'s 100% done_now 🌱')
    bench.add("cafe.md", "Le café de Zoë, Straße, İstanbul")
    bench.add(
        "cjk.md",
        "今天讨论了部署方案，重跑gen-itgc后完成。東京カンファレンスの知識グラフ 한국어검색은 อ่านหนังสือ हिन्दी",
    )
    assert bench.find(query)[:1] == [first]
    assert not bench.page(query).is_relaxed


@pytest.mark.parametrize(
    ("query", "expected"),
    [("run", ["b.md", "a.md"]), ("running", ["a.md", "b.md"]), ("runs", ["a.md", "b.md"]),
     ("study", ["a.md"]), ("policy", ["a.md"]), ("university", ["a.md"]), ("new", ["c.md", "d.md"])],
)  # fmt: skip
def test_stems_add_hits_below_exact_words(bench: Bench, query: str, expected: list[str]) -> None:
    bench.add("a.md", "She was running and studied the policies of universities.")
    bench.add("b.md", "They go for a run in the morning and in the evening.")
    bench.add("c.md", "Something new.")
    bench.add("d.md", "The news of the day.")
    for number in range(9):
        bench.add(f"e{number}.md", "other things")
    assert bench.find(query) == expected


@pytest.mark.parametrize("query", ["1", "2", "note", "entity", "section", "2026", "Head"])
def test_ids_types_and_dates_are_not_text(bench: Bench, query: str) -> None:
    bench.add("a.md", "plain words")
    bench.add("b.md", "other words")
    assert bench.find(query) == []


def test_operators(bench: Bench) -> None:
    bench.add("a.md", "cats and dogs")
    bench.add("b.md", "cats")
    bench.add("c.md", "birds")
    assert set(bench.find("cats")) == {"a.md", "b.md"}
    assert bench.find("cats -dogs") == bench.find("cats NOT dogs") == ["b.md"]
    assert set(bench.find("dogs OR birds")) == {"a.md", "c.md"}
    assert bench.find('"cats dogs"') != []  # relaxed to its words
    assert bench.find("-cats") == bench.find("cats")


def test_without_words_the_newest_come_first(bench: Bench) -> None:
    bench.add("b.md", "x", mtime=5)
    bench.add("a.md", "y", mtime=5)
    bench.add("c.md", "z", mtime=9)
    assert bench.find("") == bench.find(" \n") == bench.find('"*"') == ["c.md", "a.md", "b.md"]
    page = bench.page("", limit=1, offset=1)
    assert page.total == 3
    assert [item.stored.content for item in page.hits[0].items] == ["y"]


def test_items_say_what_and_where_they_are(bench: Bench) -> None:
    bench.add("a.md", "nothing", "the needle", item_type=ItemType.OBSERVATION)
    [note] = bench.page("needle").hits
    [item] = note.items
    assert (item.item_type, item.stored.content, item.stored.heading_path) == (
        ItemType.OBSERVATION, "the needle", ("Head",),
    )  # fmt: skip
    assert (item.stored.start_line, item.stored.end_line) == (4, 4)
    assert item.score is not None
    assert item.score.total > 0


def test_a_title_match_shows_the_beginning(bench: Bench) -> None:
    bench.add("a.md", "first words", "second", title="Needle")
    [note] = bench.page("needle").hits
    assert [item.stored.content for item in note.items if item.stored.content] == ["first words"]


def test_item_types_restrict_what_matches(bench: Bench) -> None:
    bench.add("a.md", "needle", item_type=ItemType.OBSERVATION)
    bench.add("b.md", "needle", item_type=ItemType.RELATION)
    for query in ("needle", "", "needle unheard"):
        assert bench.find(query, item_types=(ItemType.OBSERVATION,)) == ["a.md"]


def test_replace_leaves_no_old_row(bench: Bench) -> None:
    note = bench.add("n.md", "old unicorn", "more unicorn", title="Unicorn")
    other = bench.add("o.md", "old dragon")
    bench.index(note, "new griffin")
    assert bench.find("unicorn") == []
    assert bench.find("griffin") == ["n.md"]
    bench.fulltext.remove(bench.conn, [note, 999])
    assert bench.find("griffin") == []
    assert bench.find("dragon") == ["o.md"]
    bench.fulltext.remove(bench.conn, [other])
    assert bench.conn.execute(text("SELECT count(*) FROM search_index")).scalar() == 0


def test_projects_do_not_see_each_other(make_bench: Callable[[int], Bench]) -> None:
    one, two = make_bench(1), make_bench(2)
    one.add("one.md", "needle")
    two.add("two.md", "needle")
    assert (one.find("needle"), two.find("needle")) == (["one.md"], ["two.md"])
    assert (one.find(""), one.page("needle").total) == (["one.md"], 1)


def test_very_common_words_page_exactly(bench: Bench) -> None:
    for number in range(400):
        bench.add(f"n{number:03}.md", *["common word"] * 5, title="common" if number == 7 else "")
    pages = [bench.page("common", limit=150, offset=offset) for offset in (0, 150, 300)]
    notes = [note for page in pages for note in page.hits]
    assert {page.total for page in pages} == {400}
    assert len({note.entity_id for note in notes}) == 400
    assert bench.paths[notes[0].entity_id] == "n007.md"
    assert all(a.score >= b.score > 0 for a, b in pairwise(notes))
    assert all(note.items[0].stored.content for note in notes[1:])


DAMAGE = {
    "sqlite": ["UPDATE search_index_content SET c3 = 'other' WHERE c3 = 'needle'"],
    "postgresql": [
        "DELETE FROM search_terms WHERE key = (SELECT max(key) FROM search_terms)",
        "DELETE FROM search_index WHERE rowid = (SELECT max(rowid) FROM search_index)",
        "UPDATE search_statistics SET items = items + 1",
        "INSERT INTO search_terms (key, part, project_id, terms) VALUES (1, 0, 1, 'lost')",
        "WITH gone AS (DELETE FROM search_index WHERE content = 'needle')"
        " UPDATE search_statistics SET items = items - 1",
    ],
}


def test_check_sees_damage(bench: Bench) -> None:
    bench.add("a.md", "needle")
    for damage in DAMAGE[bench.conn.dialect.name]:
        assert bench.fulltext.check(bench.conn)
        with bench.conn.begin_nested() as trial:
            bench.conn.exec_driver_sql(damage)
            assert not bench.fulltext.check(bench.conn), damage
            trial.rollback()


def test_terms_that_are_known_are_taken(bench: Bench) -> None:
    note = bench.add("a.md", "plain words")
    items = [
        IndexedItem(ItemType.NOTE, "", title="A"),
        IndexedItem(ItemType.SECTION, "plain words"),
    ]
    bench.fulltext.replace(
        bench.conn, [IndexedNote(note, "note", DAY, DAY, items, terms=("", "zebra"))]
    )
    assert bench.page("zebra").total == 1


def test_what_is_quoted_or_joined_is_demanded_while_anything_fulfils_it(bench: Bench) -> None:
    bench.add("a.md", "blue zebra")
    bench.add("b.md", "zebra blue")
    bench.add("c.md", "zebra")
    assert bench.find('"blue zebra"') == ["a.md"]
    assert set(bench.find("blue AND zebra")) == {"a.md", "b.md"}
    assert not bench.page("blue AND zebra").is_relaxed
    page = bench.page('"zebra fish"')
    assert {bench.paths[hit.entity_id] for hit in page.hits} == {"a.md", "b.md", "c.md"}
    assert page.is_relaxed
    assert bench.page("blue AND fish").is_relaxed


def test_excluded_words_stay_excluded_when_the_rest_is_relaxed(bench: Bench) -> None:
    bench.add("a.md", "blue zebra")
    bench.add("b.md", "zebra stripes")
    assert bench.find('"zebra fish" -blue') == ["b.md"]
    assert bench.find("zebra -blue -stripes") == []


def test_either_side_of_or_is_enough(bench: Bench) -> None:
    bench.add("a.md", "cats and dogs")
    bench.add("b.md", "dogs")
    bench.add("c.md", "birds")
    assert set(bench.find("cats AND dogs OR birds")) == {"a.md", "c.md"}
    assert set(bench.find("dogs -cats OR birds")) == {"b.md", "c.md"}


def test_full_matches_are_counted(bench: Bench) -> None:
    bench.add("a.md", "blue", "zebra")
    bench.add("b.md", "blue zebra")
    bench.add("c.md", "blue")
    page = bench.page("blue zebra")
    assert (page.total, page.full) == (3, 2)
    assert (bench.page("unheard").full, bench.page("").full) == (0, None)


def test_words_beside_each_other_come_first(bench: Bench) -> None:
    bench.add("a.md", "blue water and a zebra")
    bench.add("b.md", "water for the blue zebra")
    assert bench.find("blue zebra") == ["b.md", "a.md"]


def test_items_as_hits(bench: Bench) -> None:
    bench.add("a.md", "zebra one", "zebra two", "other", item_type=ItemType.OBSERVATION)
    bench.add("b.md", "zebra three", item_type=ItemType.SECTION)
    observations = bench.page("zebra", item_types=(ItemType.OBSERVATION,))
    assert observations.total == 2
    assert [hit.items[0].stored.content for hit in observations.hits] == ["zebra one", "zebra two"]
    assert {hit.item_type for hit in observations.hits} == {ItemType.OBSERVATION}
    both = bench.page("zebra", item_types=(ItemType.OBSERVATION, ItemType.SECTION))
    assert both.total == 3
    notes = bench.page("zebra", item_types=(ItemType.NOTE,))
    assert (notes.total, {hit.item_type for hit in notes.hits}) == (2, {ItemType.NOTE})


def test_items_page_exactly(bench: Bench) -> None:
    for number in range(60):
        bench.add(f"n{number:02}.md", *["common word"] * 5, item_type=ItemType.OBSERVATION)
    kinds = (ItemType.OBSERVATION,)
    pages = [
        bench.page("common", limit=70, offset=at, item_types=kinds) for at in range(0, 350, 70)
    ]
    hits = [hit for page in pages for hit in page.hits]
    assert {page.total for page in pages} == {300}
    assert len({hit.items[0].stored.key for hit in hits}) == 300
    assert all(a.score >= b.score > 0 for a, b in pairwise(hits))
    whole = bench.page("common", limit=200, item_types=kinds)
    assert [hit.items[0].stored.key for hit in hits[:200]] == [
        hit.items[0].stored.key for hit in whole.hits
    ]


def test_a_word_that_fills_one_note_does_not_hide_the_others(bench: Bench) -> None:
    bench.add("log.md", *["zebra fed"] * 400)
    bench.add("a.md", "all about the zebra", title="Zebra")
    for number in range(30):
        bench.add(f"other{number}.md", *["other animals"] * 20)
    assert bench.find("zebra") == ["a.md", "log.md"]


def test_an_unfinished_last_word_finds_the_whole(bench: Bench) -> None:
    bench.add("a.md", "templates")
    assert bench.find("templ") == bench.find("templ*") == ["a.md"]


def test_postings_are_ascending_and_each_once(bench: Bench) -> None:
    note = bench.add("a.md", "blue zebra", "zebra", title="Zebra")
    keys = [item_key(note, ordinal, min(ordinal, 1)) for ordinal in range(3)]
    assert bench.fulltext.postings(bench.conn, ["zebra", "blue"]).tolist() == keys
    assert bench.fulltext.postings(bench.conn, ["blue zebra"]).tolist() == keys[1:2]
    assert bench.fulltext.postings(bench.conn, ["zeb"], is_prefix=True).tolist() == keys
    for nothing in ([], ["unheard"], [""], ['"'], ["NEAR("]):
        assert bench.fulltext.postings(bench.conn, nothing).tolist() == []


def test_items_come_back_as_they_were_put(bench: Bench) -> None:
    note = bench.add("a.md", "blue zebra", "zebra", title="Zebra")
    section, own, unknown = item_key(note, 1, 1), item_key(note, 0, 0), item_key(note + 9, 1, 1)
    items = bench.fulltext.items(bench.conn, [section, own, unknown])
    assert [item.key for item in items] == [own, section]
    assert (items[0].title, items[1].content) == ("Zebra", "blue zebra")
    lead = bench.fulltext.lead(bench.conn, note)
    assert lead is not None
    assert lead.key == section
    assert bench.fulltext.lead(bench.conn, 999) is None


def test_items_are_counted(bench: Bench) -> None:
    assert bench.fulltext.item_count(bench.conn) == 0
    for number in range(70):
        bench.add(f"{number}.md", "one", "two")
    assert 200 <= bench.fulltext.item_count(bench.conn) <= 210  # before the transaction ends
    assert bench.fulltext.notes_with(bench.conn, [2]).tolist() == []
    assert len(bench.fulltext.notes_with(bench.conn, [1])) == 70


def test_similar_words_are_those_of_the_projects_texts(
    make_bench: Callable[[int], Bench],
) -> None:
    one, two = make_bench(1), make_bench(2)
    one.add("a.md", "the warehouse", "a warehouse of policies", title="Warehouse")
    one.add("b.md", "the wharf")
    two.add("c.md", "wharehouses")
    assert one.fulltext.similar_words(one.conn, "wharehouse", 3) == [("warehouse", 3)]
    assert one.fulltext.similar_words(one.conn, "warehouse", 3) == []
    assert one.fulltext.similar_words(one.conn, "polici", 3) == []  # a stem
    assert two.fulltext.similar_words(two.conn, "wharehouse", 3) == [("wharehouses", 1)]
    for word in ("", "wha", "2026", "部署方案", 'ware"house', "*", "wharehouse" * 50):
        assert one.fulltext.similar_words(one.conn, word, 3) == []


def test_a_word_that_nothing_has_is_tried_by_its_beginning(bench: Bench) -> None:
    bench.add("a.md", "the lighthouse keeper")
    bench.add("b.md", "a kept thing")
    assert bench.find("lighthousing") == ["a.md"]  # lighthou..., three letters less
    assert bench.find("lighthxyzw") == []
    assert bench.find("keepy") == ["a.md"]  # four letters are left
    assert bench.find("kepy") == []
    assert bench.find('"lighthousing"') == []
    assert bench.find("lighthousing -keeper") == []
    assert bench.find("keepy -kept") == ["a.md"]
    assert bench.find('keepy OR "no such"') == ["a.md"]
    found = bench.page("lighthousing kept").hits
    assert [bench.paths[hit.entity_id] for hit in found] == ["b.md", "a.md"]


@pytest.mark.parametrize("item_types", [(), (ItemType.SECTION,)])
def test_the_order_is_that_of_paths_however_many_are_equal(
    make_bench: Callable[[int], Bench], item_types: tuple[ItemType, ...]
) -> None:
    paths = [f"{number:04}.md" for number in range(1100)]
    forward, backward = make_bench(1), make_bench(2)
    for path in paths:
        forward.add(path, "standup meeting")
    for path in reversed(paths):
        backward.add(path, "standup meeting")
    for bench in (forward, backward):
        assert bench.find("standup", item_types=item_types) == paths[:50]
        assert bench.find("standup", offset=60, item_types=item_types) == paths[60:110]


@pytest.mark.parametrize("item_types", [(), (ItemType.SECTION,)])
def test_rows_whose_note_is_gone_are_no_error(
    bench: Bench, item_types: tuple[ItemType, ...]
) -> None:
    notes = [bench.add(f"{number:03}.md", "standup") for number in range(200)]
    bench.conn.execute(text("DELETE FROM entity WHERE id % 2 = 0"))
    paths = [bench.paths[note] for note in notes if note % 2]
    found = bench.find("standup", limit=200, item_types=item_types)
    assert [path for path in found if path in paths] == paths


def test_a_phrase_is_of_words_as_they_are_written(bench: Bench) -> None:
    bench.add("stems.md", "adding then acting")  # the stems are "act add"
    bench.add("words.md", "they act, add and go")
    for query in ('"act add"', "act-add"):
        assert bench.find(query) == ["words.md"], query
    assert bench.find('"act add" OR "they act"') == ["words.md"]


def test_the_lead_of_a_note_is_its_first_text(bench: Bench) -> None:
    note = bench.add("a.md", "", "first", "second", title="A")
    lead = bench.fulltext.lead(bench.conn, note)
    assert lead is not None
    assert lead.content == "first"
    alone = [IndexedItem(ItemType.NOTE, "tags: [b]", title="B")]
    bench.fulltext.replace(bench.conn, [IndexedNote(note, "note", DAY, DAY, alone)])
    lead = bench.fulltext.lead(bench.conn, note)
    assert lead is not None
    assert lead.content == "tags: [b]"
    bench.fulltext.remove(bench.conn, [note])
    assert bench.fulltext.lead(bench.conn, note) is None


def test_a_phrase_of_unspaced_words_is_found_where_its_last_word_goes_on(bench: Bench) -> None:
    bench.add("ko.md", "새로운 검색 엔진을 만들다")
    bench.add("ko2.md", "엔진을 검색 한다")
    bench.add("ja.md", "これは漢字 テストです")
    for query, path in (('"검색 엔진"', "ko.md"), ('"漢字 テスト"', "ja.md")):
        page = bench.page(query)
        assert [bench.paths[hit.entity_id] for hit in page.hits] == [path]
        assert not page.is_relaxed
    page = bench.page('"엔진 검색 기술"')
    assert {bench.paths[hit.entity_id] for hit in page.hits} == {"ko.md", "ko2.md"}
    assert page.is_relaxed


def day(month: int) -> dict[str, Any]:
    return {"note_created": datetime(2025, month, 14), "note_modified": datetime(2025, month, 14)}  # noqa: DTZ001 - stored naive


@pytest.fixture
def dated(bench: Bench) -> Bench:
    in_lane(lambda: _add_dated(bench))
    return bench


def _add_dated(bench: Bench) -> None:
    bench.add("a.md", "the herons came", **day(3))
    bench.add("b.md", "a meeting of March 2025 about ponds")
    bench.add("c.md", "long march of the penguins")


def test_a_date_alone_finds_the_notes_of_it_and_those_that_say_it(dated: Bench) -> None:
    for query in ("in March 2025", "March 2025"):
        page = dated.page(query)
        assert {dated.paths[hit.entity_id] for hit in page.hits} == {"a.md", "b.md"}, query
        assert page.has_span
    page = dated.page("2025-03-14")
    assert dated.paths[page.hits[0].entity_id] == "a.md"
    assert (page.is_relaxed, page.coverage) == (False, 1.0)


def test_a_note_of_the_date_need_not_say_it(dated: Bench) -> None:
    page = dated.page("herons in March 2025")
    assert [dated.paths[hit.entity_id] for hit in page.hits] == ["a.md", "b.md", "c.md"]
    assert page.full == 1
    assert [hit.boosts.get("date") for hit in page.hits] == [2.0, 2.0, None]


def test_a_span_back_from_now_narrows(dated: Bench) -> None:
    dated.add("d.md", "herons again")
    page = dated.page("herons this year")
    assert [dated.paths[hit.entity_id] for hit in page.hits] == ["d.md"]
    assert page.has_span


def test_what_has_but_a_word_of_the_date_is_a_hit_with_a_score(dated: Bench) -> None:
    page = dated.page("herons in March 2025")
    assert [hit.score > 0 for hit in page.hits] == [True, True, True]
    assert page.hits[-1].boosts["all_terms"] == 0.01


def test_a_date_alone_lists_the_notes_with_such_items(dated: Bench) -> None:
    for query in ("March 2025", "last year"):
        assert dated.find(query, item_types=(ItemType.SECTION,))[-1] in {"a.md", "b.md"}, query
    dated.add("d.md", "nothing", item_type=ItemType.OBSERVATION, **day(5))
    assert dated.find("May 2025", item_types=(ItemType.OBSERVATION,)) == ["d.md"]


def test_a_date_in_another_script_is_found_as_it_is_typed(dated: Bench) -> None:
    dated.add("e.md", "我们在2025年3月见过面")
    dated.add("f.md", "2025年3月的计划", **day(3))
    found = dated.find("2025年3月")
    assert {"e.md", "f.md"} <= set(found)


def test_a_date_that_gives_way_is_not_missed(dated: Bench) -> None:
    page = dated.page("herons in March 2024")
    assert [dated.paths[hit.entity_id] for hit in page.hits] == ["a.md"]
    assert page.is_relaxed
    assert not page.has_span
    assert (page.full, page.coverage) == (1, 1.0)


def test_a_note_is_found_by_its_path(bench: Bench) -> None:
    bench.add("lang/cpp.md", "templates")
    bench.add("other.md", "see lang/cpp.md for more, lang and cpp")
    bench.add("third.md", "lang cpp")
    for query in ("lang/cpp.md", "lang/cpp", "./lang/cpp.md", "cpp.md", "/home/me/lang/cpp.md"):
        assert bench.find(query)[0] == "lang/cpp.md", query
