"""Rows of observations: what they hold, and that they stay the same rows."""

from __future__ import annotations

import json


def identities(index):
    return dict(index.rows("SELECT content, external_id FROM observation ORDER BY ordinal"))


async def test_a_row_holds_what_the_item_says_and_where_it_stands(index):
    index.write(
        "n.md",
        "# Plan\n\n- Parser\n  - [fact] It is fast #speed [source:: bench] (on two cores) ^f1\n",
    )
    await index.sync.full_sync()
    columns = "category, content, context, tags, attributes, block_id, heading_path, line, parent"
    (row,) = index.rows(f"SELECT {columns}, parent_line FROM observation")
    category, content, context, tags, attributes, block, path, line, parent, parent_line = row
    assert (category, content, context, block) == ("fact", "It is fast", "on two cores", "f1")
    assert (json.loads(tags), json.loads(attributes)) == (["speed"], {"source": "bench"})
    assert (json.loads(path), line) == (["Plan"], 4)
    assert (parent, parent_line) == ("Parser", 3)


async def test_a_block_id_keeps_the_identity_of_a_fact_that_is_reworded(index):
    index.write("n.md", "- [fact] version 1 ^a\n- [fact] other ^b\n")
    await index.sync.full_sync()
    before = identities(index)
    index.write("n.md", "- [news] version 2 ^a\n- [fact] added\n- [fact] other ^b\n")
    await index.sync.full_sync()
    after = identities(index)
    assert after["version 2"] == before["version 1"]
    assert after["other"] == before["other"]
    assert index.rows("SELECT category FROM observation WHERE content = 'version 2'") == [("news",)]


async def test_words_come_before_block_ids(index):
    index.write("n.md", "- [fact] one ^a\n- [fact] two ^b\n")
    await index.sync.full_sync()
    before = identities(index)
    index.write("n.md", "- [fact] two ^a\n- [fact] one ^b\n")
    await index.sync.full_sync()
    assert identities(index) == before


async def test_of_facts_with_the_same_words_the_block_id_tells_which_is_gone(index):
    index.write("n.md", "- [fact] x ^b1\n- [fact] x ^b2\n")
    await index.sync.full_sync()
    before = dict(index.rows("SELECT block_id, external_id FROM observation"))
    index.write("n.md", "- [fact] x ^b2\n")
    await index.sync.full_sync()
    assert index.rows("SELECT block_id, external_id FROM observation") == [("b2", before["b2"])]


async def test_a_block_id_used_twice_is_the_identity_of_one(index):
    index.write("n.md", "- [fact] one ^a\n")
    await index.sync.full_sync()
    (before,) = identities(index).values()
    index.write("n.md", "- [fact] two ^a\n- [fact] three ^a\n")
    await index.sync.full_sync()
    after = identities(index)
    assert after["two"] == before
    assert after["three"] != before


async def test_equal_facts_are_rows_of_their_own_and_one_that_goes_takes_one_row(index):
    index.write("n.md", "- [fact] same\n" * 3)
    await index.sync.full_sync()
    before = {i for (i,) in index.rows("SELECT external_id FROM observation")}
    index.write("n.md", "- [fact] same\n" * 2)
    await index.sync.full_sync()
    after = {i for (i,) in index.rows("SELECT external_id FROM observation")}
    assert (len(before), len(after)) == (3, 2)
    assert after < before
