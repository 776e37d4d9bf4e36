from __future__ import annotations

import pytest

from memoranda.errors import NoteNotFound


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("plans/Top Bars", "docs/top-bar"),
        ("Bar Top", "docs/top-bar"),
        ("2025-03-14 PWA", "docs/pwa"),
        ("notes/2025-03-14-pwa", "docs/pwa"),
        ("PWA overview", "docs/pwa"),
        ("notes/ENF-9", "docs/enforcement-guide"),
        ("docs/confg", "docs/config"),
        ("api/confg", "api/config"),
        ("Enforcment", "docs/enforcement-guide"),
        ("notes/MM7-odl", "docs/aaron"),
        ("2025-03-14 Kpeler", "docs/kepler"),
    ],
)
async def test_a_name_written_wrong_finds_the_note_among_many(index, wrong, near):
    for path in ("docs/Top Bar", "docs/PWA", "docs/Config", "docs/Kepler", "api/Config"):
        index.write(f"{path}.md", "text\n")
    index.write("docs/ENF-9.md", "---\ntitle: Enforcement guide\n---\n")
    index.write("docs/MM7-old.md", "---\ntitle: Aaron\n---\n")
    for number in range(300):  # more than are looked at
        index.write(f"log/entry {number:03}.md", "text\n")
    await index.sync.full_sync()
    with pytest.raises(NoteNotFound) as caught:
        await index.notes.read(wrong)
    assert caught.value.near[0] == near
