"""Notes whose titles begin words as a misspelt name does. SQL of SQLite's full-text index, bounded."""

from __future__ import annotations

from collections.abc import Sequence

from memoranda.repositories.store import ProjectScoped

_WITH = """
    SELECT entity_id FROM search_index WHERE search_index MATCH ? AND project_id = {:d} LIMIT {:d}
"""
_MOST_WORDS = 8
_SHORTEST = 3
_DROPPED = 2
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
            f'{{title}} : "{word[: max(_SHORTEST, len(word) - _DROPPED)]}" *'
            for word in words[:_MOST_WORDS]
            if len(word) >= _SHORTEST
        ]
        found: dict[int, None] = {}
        for expression in dict.fromkeys((" AND ".join(begun), *begun)):
            if expression:
                sql = _WITH.format(self._project_id, most)
                rows = self._conn.exec_driver_sql(sql, (expression,)).cursor.fetchall()
                found |= dict.fromkeys(i for (i,) in rows)
        return list(found)
