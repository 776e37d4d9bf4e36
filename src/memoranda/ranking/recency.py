"""What age, importance and status do to a note's score: one factor a note. Pure, and off by default.

    factor = (0.3 + 0.7 * importance) * decay * (0.5 if outdated else 1)
    decay  = max(0.3, 0.5 ** (age / half-life)), 1 for decisions and pinned notes

Relevance stays what it was, the factor only scales it. From about 1.7 half-lives on a note loses no
more: among old notes relevance alone decides, and none vanishes. Without an `importance` the first part
is 0.65 for all, which changes no order.

Source: `docs/reference/configuration.md`, "Age, importance and status in a search".
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Final

from memoranda.model.standing import NoteStanding

OLDEST: Final = 0.3
"""What is left of the score of a note of any age."""
_LEAST_IMPORTANT: Final = 0.3
_OUTDATED: Final = 0.5


def recency_factor(standing: NoteStanding, now: datetime, half_life_days: float) -> float:
    """What to multiply a note's score with, in (0, 1]; `now` is aware, `half_life_days` above 0.

    Falls with age (a date in the future counts as now), rises with importance.
    """
    importance = _LEAST_IMPORTANT + (1 - _LEAST_IMPORTANT) * standing.importance
    decay = 1.0 if standing.is_lasting else _decay(now - standing.modified, half_life_days)
    return importance * decay * (_OUTDATED if standing.is_outdated else 1.0)


def _decay(age: timedelta, half_life_days: float) -> float:
    half_lives = max(age / timedelta(days=1), 0.0) / half_life_days
    return max(OLDEST, math.exp2(-half_lives))
