from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

import pytest

from memoranda.errors import InvalidArgument, NoteNotFound, OutsideProject


@pytest.fixture
async def graph(index):
    index.write("a.md", "# A\n\nAbout a.\n\n- needs [[b]]\n")
    index.write("b.md", "# B\n\nThe second note says something.\n\n- needs [[c]]\n")
    index.write("c.md", "See [[d]]\n")
    index.write("d.md", "- is [[d]]\n- wants [[a]]\n")
    await index.sync.full_sync()
    return index


@pytest.mark.spec("6.2.6")
@pytest.mark.spec("8.6")
async def test_context_is_the_note_and_its_neighbours(graph):
    (context,) = (await graph.context.build_context("memory://a")).contexts
    assert context.view.ref.file_path == "a.md"
    assert [(r.ref.file_path, r.why, r.distance) for r in context.related] == [
        ("b.md", "needs", 1),
        ("d.md", "<- wants", 1),
    ]
    assert context.related[0].summary == "The second note says something."


async def test_depth_goes_further_and_never_in_circles(graph):
    (context,) = (await graph.context.build_context("a", depth=3)).contexts
    assert [(r.ref.file_path, r.distance) for r in context.related] == [
        ("b.md", 1),
        ("d.md", 1),
        ("c.md", 2),
    ]


async def test_neighbours_are_bounded_and_filtered_by_date(graph):
    (context,) = (await graph.context.build_context("a", max_related=1)).contexts
    assert len(context.related) == 1
    later = datetime.now(UTC) + timedelta(days=1)
    (context,) = (await graph.context.build_context("a", since=later)).contexts
    assert context.related == ()


async def test_a_pattern_gives_every_note_that_matches(index):
    for name in ("x/one", "x/two", "y/one", "x_one"):
        index.write(f"{name}.md", "text\n")
    await index.sync.full_sync()
    result = await index.context.build_context("memory://x/*")
    assert [c.view.ref.file_path for c in result.contexts] == ["x/one.md", "x/two.md"]
    with pytest.raises(NoteNotFound):
        await index.context.build_context("z/*")


@pytest.mark.parametrize(("depth", "related"), [(0, 1), (4, 1), (1, -1), (1, 101)])
async def test_bounds_of_a_context_are_said(graph, depth, related):
    with pytest.raises(InvalidArgument):
        await graph.context.build_context("a", depth=depth, max_related=related)


@pytest.fixture
async def tree(index):
    for path in ("root.md", "Sub/one.md", "Sub/two.md", "Sub/deep/x.md", "zoo/z.md", "Sub 2/y.md"):
        index.write(path, f"# {path}\n")
    await index.sync.full_sync()
    return index


@pytest.mark.spec("6.2.7")
async def test_listing_shows_folders_with_counts_then_notes(tree):
    listing = await tree.browse.list_directory()
    assert [(e.path, e.is_directory, e.count) for e in listing.entries] == [
        ("Sub", True, 3),
        ("Sub 2", True, 1),
        ("zoo", True, 1),
        ("root.md", False, 0),
    ]
    (note,) = [e for e in listing.entries if not e.is_directory]
    assert (note.title, note.permalink, note.size_bytes) == ("root", "root", 10)


async def test_listing_below_a_folder_and_deeper(tree):
    listing = await tree.browse.list_directory("Sub/", depth=2)
    assert [(e.name, e.is_directory) for e in listing.entries] == [
        ("deep", True),
        ("deep/x.md", False),
        ("one.md", False),
        ("two.md", False),
    ]


async def test_listing_by_pattern_and_page(tree):
    listing = await tree.browse.list_directory("Sub", glob="T*")
    assert [e.path for e in listing.entries] == ["Sub/two.md"]
    pages = [await tree.browse.list_directory(page=p, page_size=3) for p in (1, 2, 3)]
    assert [len(page.entries) for page in pages] == [3, 1, 0]
    assert pages[0].total == 4


async def test_listing_refuses_what_is_not_there(tree):
    with pytest.raises(NoteNotFound):
        await tree.browse.list_directory("nowhere")
    with pytest.raises(OutsideProject):
        await tree.browse.list_directory("../x")
    with pytest.raises(InvalidArgument):
        await tree.browse.list_directory(page=0)


@pytest.mark.spec("13.4")
@pytest.mark.spec("6.2.8")
async def test_recent_activity_is_by_file_time_newest_first(index):
    now = datetime.now(UTC)
    for name, age in (("old", 48), ("second", 0.5), ("first", 0.1)):
        file = index.write(f"{name}.md", f"{name}\n")
        stamp = (now - timedelta(hours=age)).timestamp()
        os.utime(file, (stamp, stamp))
    await index.sync.full_sync()
    activity = await index.browse.recent_activity(now - timedelta(hours=1))
    assert [ref.title for ref in activity.results] == ["first", "second"]
    assert activity.total == 2
    page = await index.browse.recent_activity(now - timedelta(days=7), page=2, page_size=2)
    assert [ref.title for ref in page.results] == ["old"]


async def test_recent_activity_of_some_types_only(index):
    index.write("a.md", "---\ntype: Person\n---\n")
    index.write("b.md", "x\n")
    await index.sync.full_sync()
    since = datetime.now(UTC) - timedelta(hours=1)
    activity = await index.browse.recent_activity(since, note_types=["person"])
    assert [ref.file_path for ref in activity.results] == ["a.md"]
