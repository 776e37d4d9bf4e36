"""The clock of the machine."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class SystemClock:
    """`ports.Clock` for production."""

    def now(self) -> datetime:
        """Aware UTC."""
        return datetime.now(UTC)  # noqa: TID251  (this is the clock the others take)

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()
