from __future__ import annotations

from memoranda.model.address import NotePath
from memoranda.sync.reading_pool import ReadingProcessLost
from memoranda.sync.tally import Tally


def test_a_file_that_brought_a_process_down_is_left_alone_at_once():
    tally = Tally({})
    assert tally.faulty(NotePath("a.md"), "c", ReadingProcessLost.__name__).tripped
    assert not tally.faulty(NotePath("b.md"), "c", "ValueError").tripped
