from __future__ import annotations

import pytest

from memoranda.model.address import NotePath, Permalink, natural_permalink
from memoranda.model.note import Link, LinkForm
from memoranda.services.linking import Candidate, Meaning, NameKind, choose, link_keys, names_of

NOTES = {
    1: ("Target.md", "Target", ()),
    2: ("sub/Other.md", "Other", ("Nick",)),
    3: ("sub/deep/Other.md", "Other", ()),
    4: ("zoo/Other.md", "A Title", ()),
    5: ("research/Machine Learning Basics.md", "Machine Learning Basics", ()),
    6: ("docs/guide.md", "Guide", ()),
    7: ("guide.md", "Root Guide", ()),
}


def index_of(notes):
    names: dict[str, list[Candidate]] = {}
    for i, (path, title, aliases) in notes.items():
        permalink = natural_permalink(NotePath(path), path.rpartition("/")[2][:-3])
        for name in names_of(
            NotePath(path), title, aliases, permalink, Permalink(f"{permalink}-h")
        ):
            names.setdefault(name.key, []).append(Candidate(i, name.kind, NotePath(path)))
    return names


def resolve(target: str, source: str = "n.md", form: LinkForm = LinkForm.WIKI, notes=NOTES):
    link = Link(form, target, "links_to", 1, 0, 1)
    keys = link_keys(link, NotePath(source))
    meanings = {key: Meaning(found) for key, found in index_of(notes).items()}
    return choose(keys, target, NotePath(source), meanings)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("Target", 1),
        ("target", 1),
        ("TARGET.md", 1),
        ("./Target", 1),
        ("sub/Other", 2),
        ("deep/Other", 3),
        ("Nick", 2),
        ("A Title", 4),
        ("research/machine-learning-basics", 5),
        ("machine-learning-basics", 5),
        ("Machine  Learning   Basics", 5),
        ("sub/other-h", 2),
        ("Nowhere", None),
        ("", None),
    ],
)
def test_a_wiki_link_finds_its_note(target, expected):
    assert resolve(target) == expected


def test_path_beats_file_name_beats_title_beats_alias_beats_end_of_path():
    notes = {
        1: ("x/other.md", "T1", ()),
        2: ("y/two.md", "word", ()),
        3: ("y/three.md", "T3", ("word",)),
        4: ("y/word.md", "T4", ()),
        5: ("word.md", "T5", ()),
    }
    assert resolve("word", notes=notes) == 5
    del notes[5]
    assert resolve("word", notes=notes) == 4
    del notes[4]
    assert resolve("word", notes=notes) == 2
    del notes[2]
    assert resolve("word", notes=notes) == 3


def test_ambiguous_names_mean_the_same_folder_then_fewest_folders_then_alphabetical():
    assert resolve("Other", "sub/deep/n.md") == 3
    assert resolve("Other", "zoo/n.md") == 4
    assert resolve("Other", "n.md") == 2


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("docs/a.md", "guide.md", 6),
        ("a.md", "guide.md", 7),
        ("docs/a.md", "../guide.md", 7),
        ("docs/a.md", "/guide.md", 7),
        ("docs/sub/a.md", "docs/guide.md", 6),
        ("docs/a.md", "../../guide.md", None),
        ("docs/a.md", "../nowhere.md", None),
    ],
)
def test_a_markdown_link_is_a_path_from_the_note_then_from_the_root(source, target, expected):
    assert resolve(target, source, LinkForm.MARKDOWN) == expected


def test_a_slug_that_two_notes_share_finds_none():
    notes = {1: ("a/My Note!.md", "My Note!", ()), 2: ("b/My Note!.md", "My Note!", ())}
    notes = {i: (path, title, ()) for i, (path, title, _) in notes.items()}
    assert resolve("my-note", notes=notes) is None


def test_every_name_of_a_note_is_there():
    names = names_of(
        NotePath("A/b/C d.md"), "Title", ("Nick",), Permalink("a/b/title"), Permalink("a/b/title-1")
    )
    assert {(name.key, name.kind) for name in names} == {
        ("a/b/c d", NameKind.PATH),
        ("a/b/title", NameKind.PERMALINK),
        ("a/b/title-1", NameKind.PERMALINK),
        ("c d", NameKind.FILE_NAME),
        ("title", NameKind.TITLE),
        ("nick", NameKind.ALIAS),
        ("b/c d", NameKind.PATH_END),
        ("title", NameKind.SLUG),
    }
