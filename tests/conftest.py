"""What holds for all tests: how long an example takes is no matter of right or wrong."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
