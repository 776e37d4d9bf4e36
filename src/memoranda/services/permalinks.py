"""Who gets which permalink, as a function of the whole folder and of nothing else. Pure.

Each note wants one permalink (frontmatter, else folder slugs + title slug). Among all notes that want
the same one, exactly one in the best class keeps it; everyone else gets the wanted one plus a short
hash of the path. So permalinks are unique and never depend on which note came first.

Source: FORMAT "Title, permalink"; architecture row 4.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import IntEnum

from memoranda.model.address import (
    NotePath,
    Permalink,
    hashed_permalink,
    natural_permalink,
    path_hash,
)
from memoranda.model.note import ParsedNote


class ClaimClass(IntEnum):
    """How strong a wish for a permalink is; lower is stronger."""

    DECLARED = 0
    PATH_IS_PERMALINK = 1
    NATURAL = 2


@dataclass(frozen=True, slots=True)
class Claim:
    """What one note wants."""

    path: NotePath
    wanted: Permalink
    strength: ClaimClass

    @property
    def hashed(self) -> Permalink:
        """The form that is the note's own at all times."""
        return hashed_permalink(self.wanted, self.path)


def claim(parsed: ParsedNote) -> Claim:
    """The permalink a parsed note wants, and how strongly."""
    if parsed.declared_permalink is not None:
        return Claim(parsed.path, parsed.declared_permalink, ClaimClass.DECLARED)
    wanted = natural_permalink(parsed.path, parsed.title)
    literal = parsed.path[:-3] == wanted
    return Claim(
        parsed.path, wanted, ClaimClass.PATH_IS_PERMALINK if literal else ClaimClass.NATURAL
    )


def assign(claims: Iterable[Claim], hashed_forms: Collection[str]) -> dict[NotePath, Permalink]:
    """The permalink of each claim.

    Args:
        claims: all notes of the project that want any of the permalinks in question.
        hashed_forms: hashed forms of any note of the project that equal a wanted permalink in
            question; a permalink that is somebody's hashed form is kept by nobody else.
    """
    groups: defaultdict[Permalink, list[Claim]] = defaultdict(list)
    for one in claims:
        groups[one.wanted].append(one)
    result: dict[NotePath, Permalink] = {}
    for wanted, group in groups.items():
        strongest = min(one.strength for one in group)
        best = [one for one in group if one.strength == strongest]
        winner = best[0] if len(best) == 1 and wanted not in hashed_forms else None
        seen: set[Permalink] = set()
        for one in sorted(group, key=lambda c: c.path):
            if one is winner:
                result[one.path] = wanted
                continue
            form = one.hashed
            if form in seen:  # two paths with one short hash: a second short hash tells them apart
                form = Permalink(f"{form}-{path_hash(NotePath(one.path + '#'))}")
            seen.add(form)
            result[one.path] = form
    return result
