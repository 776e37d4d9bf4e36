"""Words too common to search for on their own, per language. Pure.

The English list holds the spec's stop words and the words questions are asked with (who, what, when,
did, ...): without them a question in plain words finds what it is about. A query of stop words alone
keeps them.

Source: spec 5.2.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

_ENGLISH = """
a about again all also am an and any are aren as at be because been before being between both but by
can cannot could couldn d did didn do does doesn doing don down during each else ever few for from
further get gets getting got had hadn has hasn have haven having he her here hers herself him himself
his how i if in into is isn it its itself just let ll m me more most much must my myself no nor not
now of off on once only or other our ours ourselves out over own please re s same shall she should
shouldn so some such t tell than that the their theirs them themselves then there these they this
those through to too under until up upon us ve very was wasn we were weren what whatever when where
whether which while who whom whose why will with within without won would wouldn you your yours
yourself yourselves
"""

_BY_LANGUAGE = {"english": frozenset(_ENGLISH.split())}


@lru_cache(maxsize=16)
def stop_words(languages: Iterable[str] = ("english",)) -> frozenset[str]:
    """The stop words of all these languages, lower case; a language without a list adds none."""
    return frozenset().union(*(_BY_LANGUAGE.get(language, frozenset()) for language in languages))
