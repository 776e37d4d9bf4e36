"""Notes whose titles begin words as a misspelt name does. SQL of the full-text index, bounded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memoranda.db.dialects import is_postgresql
from memoranda.model.item_key import NOTE_BITS
from memoranda.repositories.driver import rows
from memoranda.repositories.store import ProjectScoped
from memoranda.repositories.word_keys import keys_with
from memoranda.text.lexemes import TITLE, all_of, any_of

_ON_SQLITE: Final = """
    SELECT entity_id FROM search_index WHERE search_index MATCH ? AND project_id = ? LIMIT ?
"""
_MOST_WORDS: Final = 8
_SHORTEST: Final = 3
_DROPPED: Final = 2
"""Letters at the end of a word that may be wrong."""


class NearTitleRepository(ProjectScoped):
    """The titles of one project, by the beginnings of their words."""

    def with_beginnings(self, words: Sequence[str], most: int) -> list[int]:
        """Notes whose title has a word that begins as one of these, and those with all of them first.

        Args:
            words: as `model.address.slug` writes them; the first eight count.
            most: so many for all words together, and for each word.
        """
        begun = [
            word[: max(_SHORTEST, len(word) - _DROPPED)]
            for word in words[:_MOST_WORDS]
            if len(word) >= _SHORTEST
        ]
        asked = [begun, *([one] for one in begun)] if begun else []
        found: dict[int, None] = {}
        for beginnings in asked:
            found |= dict.fromkeys(self._having_all(beginnings, most))
        return list(found)

    def _having_all(self, beginnings: Sequence[str], most: int) -> list[int]:
        if is_postgresql(self._conn):
            parts = [
                any_of(self._project_id, [one], is_prefix=True, within=TITLE) for one in beginnings
            ]
            keys = keys_with(self._conn, all_of(parts) if all(parts) else "")
            return list(dict.fromkeys((keys >> NOTE_BITS).tolist()))[:most]
        match = " AND ".join(f'{{title}} : "{one}" *' for one in beginnings)
        return [i for (i,) in rows(self._conn, _ON_SQLITE, match, self._project_id, most)]
