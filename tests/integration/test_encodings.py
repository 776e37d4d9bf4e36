"""A note in a legacy encoding is never turned into other letters by an edit."""

from __future__ import annotations

import pytest

from memoranda.errors import InvalidArgument
from memoranda.model.edit import Append, EditSection, FindReplace, Place, Replace

LINE = "Привет мир, это русская заметка про обсерваторию и телескоп.\n"
RUSSIAN = "# Введение\n\n" + LINE + "## Раздел\n\n" + LINE * 30
CHINESE = "# 简介\n\n" + "这是关于天文台和望远镜的笔记，我们每天晚上都观察星星。\n" * 30


@pytest.mark.parametrize(
    ("text", "encoding", "edit"),
    [
        (RUSSIAN, "cp1251", EditSection("Раздел", "кратко", Place.INSTEAD)),
        (RUSSIAN, "cp1251", Replace("Новый текст заметки\n")),
        (CHINESE, "gb18030", Replace("一行\n")),
    ],
)
async def test_an_edit_after_which_it_would_be_read_otherwise_is_refused(
    index, text, encoding, edit
):
    data = text.encode(encoding)
    index.write("n.md", data)
    await index.sync.full_sync()
    with pytest.raises(InvalidArgument, match="no longer be read as"):
        await index.notes.edit("n.md", edit)
    assert (index.root / "n.md").read_bytes() == data


async def test_an_edit_that_changes_nothing_of_that_is_written_in_its_encoding(index):
    data = RUSSIAN.encode("cp1251")
    index.write("n.md", data)
    await index.sync.full_sync()
    await index.notes.edit("n.md", Append("Ещё раз\n"))
    await index.notes.edit("n.md", FindReplace("Введение", "Начало"))
    written = (index.root / "n.md").read_bytes()
    assert written.decode("cp1251") == RUSSIAN.replace("Введение", "Начало") + "Ещё раз\n"


async def test_what_was_guessed_is_a_problem_that_status_lists(index):
    index.write("short.md", "Привет\n".encode("cp1251"))
    index.write("long.md", RUSSIAN.encode("cp1251"))
    index.write("nul.md", "# Hi\n".encode("utf-16-le"))
    index.write("plain.md", "Привет\n")
    await index.sync.full_sync()
    problems = dict(index.rows("SELECT file_path, problems FROM entity WHERE problems != '[]'"))
    assert sorted(problems) == ["long.md", "nul.md", "short.md"]
    assert "read as cp1251" in problems["long.md"]
    assert "read as cp1252" in problems["short.md"]
    assert "NUL" in problems["nul.md"]
