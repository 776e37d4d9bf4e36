"""Which links a move rewrites, to what, and which it leaves as they are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.integration.conftest import Index
from tests.integration.moving_world import World

from memoranda.model.address import NotePath
from memoranda.model.moves import LinkLeft


@pytest.fixture
def here(index: Index) -> World:
    return World(index.root, index.store, index.files, index.history, index.sync)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[[Guide Book]]", "[[Hand Book]]"),
        ("[[guide book#Part|the *label*]]", "[[Hand Book#Part|the *label*]]"),
        ("[[ Guide Book.md ]]", "[[ Hand Book.md ]]"),
        ("![[Guide Book#^b1]]", "![[Hand Book#^b1]]"),
        ("[[docs/Guide Book]]", "[[x/y/Hand Book]]"),
        ("[[/docs/Guide Book.md]]", "[[/x/y/Hand Book.md]]"),
        ("[[guide-book]]", "[[hand-book]]"),
        ("[[docs/guide-book]]", "[[x/y/hand-book]]"),
        ("[[../docs/Guide Book]]", "[[../x/y/Hand Book]]"),
        ("| [[Guide Book\\|t]] |\n|---|", "| [[Hand Book\\|t]] |\n|---|"),
        ("- needs [[Guide Book]], [[b]] (why)", "- needs [[Hand Book]], [[b]] (why)"),
        ("[t](../docs/Guide%20Book.md)", "[t](../x/y/Hand%20Book.md)"),
        ('[t](<../docs/Guide Book.md#p> "title")', '[t](<../x/y/Hand Book.md#p> "title")'),
        ("[t](/docs/Guide%20Book.md)", "[t](/x/y/Hand%20Book.md)"),
        ("[t](docs/Guide%20Book.md)", "[t](x/y/Hand%20Book.md)"),
        ("![t](../docs/%47uide%20Book.md)", "![t](../x/y/Hand%20Book.md)"),
        (
            "[t][r] and [r]\n\n[r]: ../docs/Guide%20Book.md 'T'\n",
            "[t][r] and [r]\n\n[r]: ../x/y/Hand%20Book.md 'T'\n",
        ),
        ("---\nup: '[[Guide Book]]'\n---\n", "---\nup: '[[Hand Book]]'\n---\n"),
        (
            '---\nup:\n  - "[[b]]"\n  - "[[docs/Guide Book|l]]"\n---\n',
            '---\nup:\n  - "[[b]]"\n  - "[[x/y/Hand Book|l]]"\n---\n',
        ),
        ("`[[Guide Book]]` [[Guide Book]]", "`[[Guide Book]]` [[Hand Book]]"),
        ("[[Guide Book]]\r\n\r\n[[Guide Book]]", "[[Hand Book]]\r\n\r\n[[Hand Book]]"),
        ("\ufeff[[Guide Book]] Ünï", "\ufeff[[Hand Book]] Ünï"),
    ],
)
def test_links_are_rewritten_in_their_style(here: World, before: str, after: str) -> None:
    here.write({"docs/Guide Book.md": "g\n", "in/a.md": before, "in/b.md": "b\n"})
    meanings = here.meanings()
    assert meanings
    result = here.move("docs/Guide Book.md", "x/y/Hand Book.md")
    assert here.text("in/a.md") == after
    assert here.meanings() == meanings
    assert not result.left
    assert {link.path for link in result.links} == {"in/a.md"}


@pytest.mark.parametrize(
    "text",
    [
        "[[Guide]] ![[guide#x|y]]",
        "[[The Title]]",
        "[[nick]]",
        "[[fixed/name]]",
        "[[nowhere]] [[docs/nothing]] [t](docs/none.md)",
        "[t](../docs/other.md) ![](../docs/pic.png) [w](https://x.org/docs/Guide.md)",
        "[[Guide.png]] ![[pic.png]]",
    ],
)
def test_links_that_keep_their_meaning_are_left_alone(here: World, text: str) -> None:
    guide = "---\ntitle: The Title\naliases: [nick]\npermalink: fixed/name\n---\n"
    here.write({"docs/Guide.md": guide, "in/a.md": text, "docs/pic.png": b"p"})
    here.write({"docs/other.md": "o\n"})
    result = here.move("docs/Guide.md", "x/y/Guide.md")
    assert here.text("in/a.md") == text
    assert here.text("x/y/Guide.md") == guide
    assert not result.links
    assert not result.left


def test_relative_links_of_the_note_itself_are_rewritten(here: World) -> None:
    here.write(
        {
            "a/n.md": "[m](m.md) [o](../o.md#x) [[./m]] [[../o|O]] [[m]] [me](n.md) [[o]]\n",
            "a/m.md": "m\n",
            "o.md": "o\n",
        }
    )
    meanings = here.meanings()
    here.move("a/n.md", "b/c/n2.md")
    assert here.text("b/c/n2.md") == (
        "[m](../../a/m.md) [o](../../o.md#x) [[../../a/m]] [[../../o|O]] [[m]] [me](n2.md) [[o]]\n"
    )
    assert here.meanings() == meanings


def test_a_markdown_path_stays_a_path_that_every_reader_of_markdown_finds(here: World) -> None:
    here.write({"m.md": "[n](a/n.md) [r](r.md) [[n]]\n", "a/n.md": "n\n", "r.md": "r\n"})
    here.move("r.md", "in/r.md")
    here.move("m.md", "a/m.md")
    assert here.text("a/m.md") == "[n](n.md) [r](../in/r.md) [[n]]\n"


def test_a_markdown_path_from_the_root_stays_one(here: World) -> None:
    here.write({"in/m.md": "[n](a/n.md)\n", "a/n.md": "n\n"})
    here.move("in/m.md", "other/m.md")
    assert here.text("other/m.md") == "[n](a/n.md)\n"
    here.move("a/n.md", "b/n.md")
    assert here.text("other/m.md") == "[n](b/n.md)\n"
    here.write({"r.md": "r\n", "other/q.md": "[r](r.md)\n"})
    here.move("r.md", "b/r.md")
    assert here.text("other/q.md") == "[r](b/r.md)\n"


def test_a_name_that_would_mean_another_note_becomes_a_path(here: World) -> None:
    here.write(
        {
            "a/x.md": "near\n",
            "b/c/x.md": "far\n",
            "a/source.md": "[[x]]\n",
            "top.md": "[[x]] [[b/c/x]]\n",
        }
    )
    meanings = here.meanings()
    here.move("a/source.md", "b/c/source.md")
    assert here.text("b/c/source.md") == "[[a/x]]\n"
    here.move("a/x.md", "q/r/s/x.md")
    assert here.text("top.md") == "[[q/r/s/x]] [[b/c/x]]\n"
    assert here.meanings() == meanings


def test_a_link_of_another_note_that_would_turn_to_the_moved_one_keeps_its_own(
    here: World,
) -> None:
    here.write({"deep/er/x.md": "x\n", "a.md": "[[x]]\n", "other.md": "o\n"})
    meanings = here.meanings()
    here.move("other.md", "x.md")
    assert here.text("a.md") == "[[deep/er/x]]\n"
    assert here.meanings() == meanings


def test_the_end_of_a_path_stays_the_end_of_a_path(here: World) -> None:
    here.write({"a/b/note.md": "n\n", "c/note.md": "other\n", "m.md": "[[b/note]]\n"})
    here.move("a/b/note.md", "z/y/w/note.md")
    assert here.text("m.md") == "[[w/note]]\n"


def test_other_files_are_found_from_the_new_place(here: World) -> None:
    text = (
        "![](pic.png) ![p](<../img/a b.png> 't') ![[pic.png]] ![[./pic.png|100]] ![[img/a b.png]]"
        " ![](gone.png) [[../img/a b.png]] ![](/img/a%20b.png)\n\n![r]\n\n[r]: pic.png\n"
    )
    here.write({"a/n.md": text, "a/pic.png": b"p", "img/a b.png": b"q"})
    result = here.move("a/n.md", "b/c/n.md")
    assert here.text("b/c/n.md") == (
        "![](../../a/pic.png) ![p](<../../img/a b.png> 't') ![[pic.png]] ![[../../a/pic.png|100]]"
        " ![[img/a b.png]] ![](gone.png) [[../../img/a b.png]] ![](/img/a%20b.png)"
        "\n\n![r]\n\n[r]: ../../a/pic.png\n"
    )
    assert not result.left


def test_a_file_that_is_no_note_does_not_come_before_the_note_that_a_link_means(
    here: World,
) -> None:
    here.write({".gitignore": "a/img/\n", "a/img/n.md": "out\n", "img/n.md": "n\n"})
    here.write({"a/s.md": "[x](img/n.md)\n"})
    meanings = here.meanings()
    assert meanings
    here.move("a/s.md", "b/s.md")
    assert here.text("b/s.md") == "[x](img/n.md)\n"
    assert here.meanings() == meanings


def test_files_of_any_kind_are_found_from_the_new_place(here: World) -> None:
    here.write(
        {
            "a/n.md": (
                "[s](run.py) [t](<../tools/a b.sh#L1> 'x') [u](gone.py) [v](/tools/a%20b.sh) ![](p.png)"
                " [w](https://x.org/run.py) [y](#run.py) [z](sub/) `[s](run.py)`\n- [fact] [s](run.py)\n"
            ),
            "a/run.py": b"r",
            "a/p.png": b"p",
            "a/sub/x.txt": b"x",
            "tools/a b.sh": b"t",
        }
    )
    result = here.move("a/n.md", "b/c/n.md")
    assert here.text("b/c/n.md") == (
        "[s](../../a/run.py) [t](<../../tools/a b.sh#L1> 'x') [u](gone.py) [v](/tools/a%20b.sh)"
        " ![](../../a/p.png) [w](https://x.org/run.py) [y](#run.py) [z](sub/) `[s](run.py)`\n"
        "- [fact] [s](../../a/run.py)\n"
    )
    assert [link.line for link in result.links] == [1, 1, 1, 2]
    assert not result.left


def test_files_that_a_definition_names_are_found_from_the_new_place(here: World) -> None:
    here.write(
        {
            "n.md": (
                "[s][r] ![i][j] [r] [x][] [w] [k](k.md)\n\n"
                "[r]: run.py#L1 'the script'\n[j]: i.png\n[x]: <a b.sh>\n[w]: https://x.org/run.py\n"
            ),
            "k.md": "k\n",
            "run.py": b"r",
            "a b.sh": b"b",
            "i.png": b"i",
        }
    )
    result = here.move("n.md", "q/n.md")
    assert here.text("q/n.md") == (
        "[s][r] ![i][j] [r] [x][] [w] [k](../k.md)\n\n"
        "[r]: ../run.py#L1 'the script'\n[j]: ../i.png\n[x]: <../a b.sh>\n[w]: https://x.org/run.py\n"
    )
    assert not result.left


def test_links_written_as_html_are_reported_when_they_break(here: World) -> None:
    here.write(
        {
            "n.md": (
                "---\nt: 1\n---\nx <img src='i%20j.png' alt=''> `<img src=\"run.py\">`\n\n"
                '<p>\n<a HREF=run.py#L1>r</a> <a href="https://x.org">\n</p>\n<img src="gone.png">\n'
                '\n```html\n<img src="run.py">\n```\n'
            ),
            "i j.png": b"i",
            "run.py": b"r",
            "d/m.md": "m\n",
        }
    )
    before = here.text("n.md")
    result = here.move("n", "q/n")
    assert here.text("q/n.md") == before
    assert [(one.line, one.target, one.reason) for one in result.left] == [
        (4, "i j.png", "it is written as HTML"),
        (7, "run.py", "it is written as HTML"),
    ]
    assert not here.move("q/n", "d/n").left


def test_links_of_other_notes_follow_files_of_any_kind(here: World) -> None:
    here.write(
        {
            "n.md": "[s](d/run.py) [h](d/p%20q.html#x) ![i](d/i.png) [o](d/gone.py)\n",
            "r.md": "[s][1]\n\n[1]: <d/run.py>\n",
            "e/same.md": "[s](run.py) `[s](../d/run.py)` [x](https://x.org/d/run.py)\n",
            "d/m.md": "[s](run.py)\n",
            **dict.fromkeys(("d/run.py", "d/p q.html", "d/i.png", "e/run.py"), b"x"),
        }
    )
    result = here.move("d/", "f/g")
    assert here.text("n.md") == (
        "[s](f/g/run.py) [h](f/g/p%20q.html#x) ![i](f/g/i.png) [o](d/gone.py)\n"
    )
    assert here.text("r.md") == "[s][1]\n\n[1]: <f/g/run.py>\n"
    assert here.text("f/g/m.md") == "[s](run.py)\n"
    assert {link.path for link in result.links} == {"n.md", "r.md"}
    assert not result.left


def test_many_links_that_cannot_be_written_do_not_hold_up_the_others(here: World) -> None:
    lines = "".join(f'k{i}: "\\x5b[d/old|x{i}]]"\nq{i}: "[[d/old]]"\n' for i in range(70))
    here.write({"n.md": f"---\n{lines}---\n", "d/old.md": "o\n"})
    result = here.move("d/old.md", "e/new.md")
    assert here.text("n.md").count('"[[e/new]]"') == len(result.links) == 70
    assert len(result.left) == 70
    assert {link.line % 2 for link in result.left} == {0}
    assert all("written with escapes" in link.reason for link in result.left)


def test_a_note_that_stays_and_gets_another_permalink_is_named(here: World) -> None:
    here.write({"ideas/Be ta.md": "b\n", "alpha.md": "a\n", "m.md": "[[ideas/be-ta]]\n"})
    meanings = here.meanings()
    planned = here.move("alpha", "ideas/be-ta", dry_run=True)
    result = here.move("alpha", "ideas/be-ta")
    (said,) = result.warnings
    ((new,),) = here.rows("SELECT permalink FROM entity WHERE file_path = 'ideas/Be ta.md'")
    assert new != "ideas/be-ta"
    assert said == (
        f"The permalink of ideas/Be ta.md is {new} by this, and was ideas/be-ta; links to it are kept."
    )
    assert planned.warnings == result.warnings
    assert here.meanings() == meanings


def test_a_path_from_the_folder_stays_one_though_the_root_has_it_too(here: World) -> None:
    here.write({"n.md": "![](img/p.png)\n", "img/p.png": b"p"})
    here.move("n.md", "sub/n.md")
    assert here.text("sub/n.md") == "![](../img/p.png)\n"


def test_links_into_a_folder_that_moves_follow_its_files(here: World) -> None:
    text = "![](img/p.png) ![[img/p.png]] ![[p.png]] ![[./img/p.png]] ![](/img/p.png) [[img/n]]\n"
    here.write({"a.md": text, "in/b.md": "![](../img/p.png)\n", "img/p.png": b"p"})
    here.write({"img/n.md": "![](p.png) [a](../a.md)\n"})
    result = here.move("img/", "media/all")
    assert here.text("a.md") == (
        "![](media/all/p.png) ![[media/all/p.png]] ![[p.png]] ![[./media/all/p.png]]"
        " ![](/media/all/p.png) [[media/all/n]]\n"
    )
    assert here.text("in/b.md") == "![](../media/all/p.png)\n"
    assert here.text("media/all/n.md") == "![](p.png) [a](../../a.md)\n"
    assert not result.left


def test_what_is_rewritten_is_said_with_place_and_text(here: World) -> None:
    here.write(
        {"a.md": "one\n[[b|B]] and [t][r]\n\n[r]: b.md\n", "b.md": "---\nup: '[[a]]'\n---\n"}
    )
    result = here.move("b", "c")
    assert [(one.path, one.line, one.before, one.after) for one in result.links] == [
        ("a.md", 2, "[[b|B]]", "[[c|B]]"),
        ("a.md", 2, "b.md", "c.md"),
    ]
    result = here.move("a", "z")
    assert [(one.path, one.line, one.before, one.after) for one in result.links] == [
        ("c.md", 2, "a", "z")
    ]


def test_a_link_that_cannot_be_rewritten_is_reported_and_stops_nothing(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.write(
        {
            "b.md": "b\n",
            "escaped.md": '---\nup: "[[\\x62]]"\n---\n[[b]]\n',
            "legacy.md": "gr\u00fc\u00dfe \u2013 [[b]]\n".encode("cp1252"),
            "readonly.md": "[[b]]\n",
            "out.md": "[o](../../x.pdf)\n",
        }
    )
    monkeypatch.setattr(os, "access", lambda path, _: Path(path).name != "readonly.md")
    result = here.move("b", "知識")
    assert here.text("escaped.md") == '---\nup: "[[\\x62]]"\n---\n[[知識]]\n'
    assert (here.root / "legacy.md").read_bytes() == "gr\u00fc\u00dfe \u2013 [[b]]\n".encode(
        "cp1252"
    )
    left = {str(one.path): one for one in result.left}
    assert set(left) == {"escaped.md", "legacy.md", "readonly.md"}
    assert left["readonly.md"].reason == "the note is read-only"
    assert here.text("readonly.md") == "[[b]]\n"
    assert "cp1252 cannot hold" in left["legacy.md"].reason
    assert (left["escaped.md"].target, left["escaped.md"].line) == ("b", 2)
    left_out = LinkLeft(NotePath("deep/out.md"), 1, "../../x.pdf", "it leads out of the project")
    assert not here.move("out", "out2").left
    assert here.move("out2", "deep/out").left == (left_out,)


def test_a_name_that_would_be_read_in_another_encoding_is_not_written(here: World) -> None:
    here.write({"café.md": "c\n", "b.md": b"[[caf\xe9]]\n"})
    (left,) = here.move("café", "cafÃ©").left
    assert left.path == "b.md"
    assert (here.root / "b.md").read_bytes() == b"[[caf\xe9]]\n"


def test_a_note_that_only_few_names_can_reach_is_linked_by_its_permalink(here: World) -> None:
    here.write({"b.md": "b\n", "a.md": "[[b]] [t](b.md)\n"})
    meanings = here.meanings()
    result = here.move("b", "x/one # two")
    assert here.text("a.md") == "[[x/one-two]] [t](x/one%20%23%20two.md)\n"
    assert here.meanings() == meanings
    assert not result.left


def test_declared_permalinks_and_aliases_never_change(here: World) -> None:
    header = "---\npermalink: a/b\naliases: [b, 'a/b.md']\n---\n"
    here.write({"a/b.md": header, "m.md": "[[a/b]]\n"})
    meanings = here.meanings()
    here.move("a/b.md", "c/d.md")
    assert here.text("c/d.md") == header
    assert here.meanings() == meanings


def test_a_note_that_loses_its_permalink_to_a_moved_one_keeps_its_links(here: World) -> None:
    here.write(
        {
            "a/x y.md": "claims a/x-y\n",
            "b/n.md": "---\npermalink: a/x-y\n---\n",
            "m.md": "[[a/x-y]] [[a/x y]]\n",
        }
    )
    meanings = here.meanings()
    here.move("a/x y.md", "c/x y.md")
    here.move("b/n.md", "a/n.md")
    here.move("c/x y.md", "a/x y.md")
    assert here.meanings() == meanings
