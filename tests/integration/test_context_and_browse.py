from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

import pytest

from memoranda.errors import FolderNotFound, InvalidArgument, NoteNotFound, OutsideProject


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
    assert [(r.ref.file_path, r.why, r.distance) for r in context.around.notes] == [
        ("b.md", "needs", 1),
        ("d.md", "<- wants", 1),
    ]
    assert context.around.notes[0].summary == "The second note says something."
    assert (context.around.total, context.around.is_exact) == (2, True)


async def test_depth_goes_further_and_never_in_circles(graph):
    (context,) = (await graph.context.build_context("a", depth=3)).contexts
    assert [(r.ref.file_path, r.distance, r.why, r.via) for r in context.around.notes] == [
        ("b.md", 1, "needs", ()),
        ("d.md", 1, "<- wants", ()),
        ("c.md", 2, "needs > b > needs", ("b",)),
    ]


async def test_neighbours_are_bounded_and_filtered_by_date(graph):
    (context,) = (await graph.context.build_context("a", max_related=1)).contexts
    assert (len(context.around.notes), context.around.total) == (1, 2)
    later = datetime.now(UTC) + timedelta(days=1)
    (context,) = (await graph.context.build_context("a", since=later)).contexts
    assert (context.around.notes, context.around.total) == ((), 0)


async def test_a_pattern_gives_every_note_that_matches(index):
    for name in ("x/one", "x/two", "y/one", "x_one"):
        index.write(f"{name}.md", "text\n")
    await index.sync.full_sync()
    result = await index.context.build_context("memory://x/*")
    assert [c.view.ref.file_path for c in result.contexts] == ["x/one.md", "x/two.md"]
    for pattern in ("*/one", "memory://*/one.md", "**/ONE"):
        found = await index.context.build_context(pattern)
        assert [c.view.ref.file_path for c in found.contexts] == ["x/one.md", "y/one.md"]
    with pytest.raises(NoteNotFound) as caught:
        await index.context.build_context("z/*")
    assert "No note matches this pattern" in caught.value.hint


@pytest.mark.parametrize("pattern", ["my-folder/*", "My Folder/*", "my folder/o*e", "My*/One.md"])
async def test_a_pattern_is_for_permalinks_and_for_paths(index, pattern):
    index.write("My Folder/One.md", "text\n")
    await index.sync.full_sync()
    (context,) = (await index.context.build_context(pattern)).contexts
    assert context.view.ref.file_path == "My Folder/One.md"


async def test_a_pattern_is_blind_to_case_in_every_script(index):
    index.write("Ärger/Übung.md", "text\n")
    await index.sync.full_sync()
    for pattern in ("ärger/*", "ÄRGER/übung*", "A\u0308rger/U\u0308*"):
        assert (await index.context.build_context(pattern)).total == 1
        (context,) = (await index.context.build_context(pattern)).contexts
        assert context.view.ref.file_path == "Ärger/Übung.md"


async def test_of_many_that_match_some_are_built_and_the_next_are_named(index):
    for number in range(70):
        index.write(f"x/n{number:02}.md", "text\n")
    await index.sync.full_sync()
    result = await index.context.build_context("x/*", max_related=3, depth=2)
    assert [c.view.ref.permalink for c in result.contexts] == [f"x/n{n:02}" for n in range(10)]
    assert list(result.others) == [f"x/n{n:02}" for n in range(10, 60)]
    assert (result.total, result.max_related, result.depth) == (70, 3, 2)


async def test_a_star_that_matches_nothing_may_be_part_of_a_name(index):
    index.write("a.md", "---\ntitle: The A* algorithm\n---\n")
    await index.sync.full_sync()
    (context,) = (await index.context.build_context("The A* algorithm")).contexts
    assert context.view.ref.file_path == "a.md"


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
    assert [page.folder_total for page in pages] == [3, 3, 3]


async def test_a_path_pattern_lists_notes_of_any_depth(tree):
    listing = await tree.browse.list_directory(glob="**/*x*")
    assert [e.path for e in listing.entries] == ["Sub/deep/x.md"]
    listing = await tree.browse.list_directory("Sub", glob="*/x.md")
    assert [(e.path, e.name) for e in listing.entries] == [("Sub/deep/x.md", "deep/x.md")]
    listing = await tree.browse.list_directory(glob="nothing*")
    assert (listing.entries, listing.total, listing.glob) == ((), 0, "nothing*")


@pytest.mark.parametrize("name", ["sub/DEEP", "deep", "/Sub/deep/", "sub/deep"])
async def test_a_folder_may_be_named_by_another_spelling(tree, name):
    listing = await tree.browse.list_directory(name)
    assert (listing.path, [e.path for e in listing.entries]) == ("Sub/deep", ["Sub/deep/x.md"])


async def test_a_folder_without_notes_is_no_error(tree):
    (tree.root / "Empty" / "inner").mkdir(parents=True)
    listing = await tree.browse.list_directory("Empty")
    assert (listing.path, listing.entries, listing.total) == ("Empty", (), 0)


async def test_listing_refuses_what_is_not_there(tree):
    with pytest.raises(FolderNotFound) as caught:
        await tree.browse.list_directory("Sub/dep")
    assert list(caught.value.near) == ["Sub/deep", "Sub", "Sub 2", "zoo"]
    for name in ("Sub/one.md", "sub/one"):
        with pytest.raises(FolderNotFound, match="is a note"):
            await tree.browse.list_directory(name)
    with pytest.raises(InvalidArgument, match="bracket"):
        await tree.browse.list_directory(glob="[a")
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
    assert activity.note_types == ("person",)


async def test_where_nothing_changed_the_last_change_or_the_types_are_told(index):
    index.write("a.md", "---\ntype: Person\n---\n")
    old = index.write("b.md", "---\ndate: 2001-01-01\n---\nx\n")
    os.utime(old, (1_700_000_000.5, 1_700_000_000.5))
    await index.sync.full_sync()
    later = datetime.now(UTC) + timedelta(hours=1)
    activity = await index.browse.recent_activity(later)
    assert (activity.total, activity.newest.file_path) == (0, "a.md")
    activity = await index.browse.recent_activity(later, note_types=["note"])
    assert activity.newest.file_path == "b.md"
    assert activity.newest_at == datetime.fromtimestamp(1_700_000_000.5, UTC), "the file's time"
    activity = await index.browse.recent_activity(later, note_types=["persons"])
    assert (activity.newest, activity.known_types) == (None, ("Person", "note"))


async def test_recent_activity_says_when_each_file_changed(index):
    stamp = 1_700_000_000
    file = index.write("a.md", "---\nmodified: 2001-01-01\n---\n")
    os.utime(file, (stamp, stamp))
    await index.sync.full_sync()
    activity = await index.browse.recent_activity(datetime(2020, 1, 1, tzinfo=UTC))
    assert activity.changed_at == (datetime.fromtimestamp(stamp, UTC),)
    assert activity.results[0].updated_at.year == 2001
