"""What a filter says, as it is compared with what the index has. Pure."""

from __future__ import annotations

from datetime import UTC, datetime

from memoranda.repositories.filter_values import fold
from memoranda.repositories.sql_values import bindable

_MOST_NS = (1 << 63) - 1
_SCHEME = "memory://"


def address(permalink: str) -> str:
    """A permalink without its scheme."""
    return bindable(permalink.removeprefix(_SCHEME))


def clean_tag(tag: str) -> str:
    """A tag, folded, without what it may be written with; "" for none."""
    return fold(bindable(tag).strip().lstrip("#").rstrip("/"))


def nanoseconds(moment: datetime) -> int:
    """Since 1970, as far as a column can hold it: from 1677 to 2262."""
    delta = moment - datetime(1970, 1, 1, tzinfo=UTC)
    ns = ((delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds) * 1000
    return max(-_MOST_NS, min(_MOST_NS, ns))
