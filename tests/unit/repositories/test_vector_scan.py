from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from memoranda.model.item_key import item_key
from memoranda.repositories.vector_scan import (
    VectorCache,
    best_first,
    built,
    by_item,
    extended,
    similarities_of,
    similarity_at,
    stacked,
    without,
)

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


def units(count: int, dimensions: int, seed: int = 1, *, spread: float = 1.0) -> Floats:
    """Unit vectors around a common direction, as those of texts are."""
    rng = np.random.default_rng(seed)
    found = rng.normal(size=(count, dimensions)) * spread + np.linspace(-1, 1, dimensions)
    of_length_one: Floats = found / np.linalg.norm(found, axis=1, keepdims=True)
    return of_length_one.astype(np.float32)


def keys_of(count: int) -> Ints:
    """Two items a note, a section and an observation."""
    return np.array([item_key(1 + n // 2, 1 + n % 2, 1 + n % 2) for n in range(count)], np.int64)


def cache_of(vectors: Floats, first_id: int = 1) -> VectorCache:
    ids = np.arange(first_id, first_id + len(vectors))
    return built("space", vectors, int(ids[-1]), [(ids, keys_of(len(ids)), vectors)])


def equal(one: VectorCache, other: VectorCache) -> bool:
    return (
        one.last_id == other.last_id
        and all(
            np.array_equal(getattr(one, name), getattr(other, name))
            for name in ("ids", "keys", "bits", "ones")
        )
        and np.allclose(one.scales, other.scales, atol=1e-6)
        and np.allclose(one.along, other.along, atol=1e-6)
    )


@pytest.mark.parametrize("dimensions", [1, 7, 64, 100, 256, 384])
def test_estimates_are_close_to_similarities(dimensions: int) -> None:
    vectors = units(500, dimensions, spread=0.5)
    cache = cache_of(vectors)
    query = units(1, dimensions, seed=2, spread=0.5)[0]
    error = cache.estimates(query) - vectors @ query
    assert np.sqrt(np.mean(error**2)) < 0.5 / np.sqrt(dimensions)
    assert abs(error.mean()) < 0.15 / np.sqrt(dimensions)


def test_what_is_along_the_centre_is_exact() -> None:
    vectors = units(500, 100)
    cache = cache_of(vectors)
    exact = vectors @ cache.centre
    assert cache.estimates(cache.centre).tolist() == pytest.approx(exact.tolist(), abs=1e-5)


def test_the_vector_itself_is_estimated_first() -> None:
    vectors = units(2000, 128)
    cache = cache_of(vectors)
    for place in range(0, 2000, 100):
        assert place == int(cache.estimates(vectors[place]).argmax())


@pytest.mark.parametrize("dimensions", [4096, 4097, 9000])
def test_long_vectors_do_not_overflow(dimensions: int) -> None:
    signs = np.where(np.random.default_rng(1).random((40, dimensions)) < 0.01, -1, 1)
    vectors = (signs / np.sqrt(dimensions)).astype(np.float32)
    blocks = [(np.arange(40), keys_of(40), vectors)]
    cache = built("space", np.zeros((1, dimensions), np.float32), 40, blocks)
    assert cache.estimates(vectors[3]).tolist() == pytest.approx(vectors @ vectors[3], abs=1e-3)


def test_recall_of_four_hundred_candidates() -> None:
    rng = np.random.default_rng(5)
    themes = rng.normal(size=(300, 256))
    found = themes[rng.integers(0, 300, 20_000)] + rng.normal(size=(20_000, 256))
    found += np.linspace(-2, 2, 256)
    vectors = (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)
    cache = cache_of(vectors[:-20])
    recalled = 0
    for query in vectors[-20:]:
        best = set(np.argsort(-(vectors[:-20] @ query))[:10].tolist())
        recalled += len(best & set(next(best_first(cache.estimates(query), 400)).tolist()))
    assert recalled >= 196


def test_a_longer_cache_is_the_one_built_at_once() -> None:
    vectors = units(300, 70)
    ids, keys = np.arange(1, 301), keys_of(300)
    whole = built("space", vectors, 300, [(ids, keys, vectors)])
    block = built("space", vectors, 100, [(ids[:100], keys[:100], vectors[:100])])
    assert block.centred == 100
    rest = [(ids[n : n + 50], keys[n : n + 50], vectors[n : n + 50]) for n in range(100, 300, 50)]
    longer = extended(block, 300, iter(rest))
    assert equal(longer, whole)
    assert (longer.centred, whole.centred) == (100, 300)


def test_what_is_gone_leaves_no_trace() -> None:
    vectors = units(30, 70)
    cache = cache_of(vectors)
    stays = np.ones(30, bool)
    stays[[0, 7, 29]] = False
    left = without(cache, np.array([1, 8, 30, 99]))
    ids, keys = np.arange(1, 31)[stays], keys_of(30)[stays]
    assert equal(left, built("space", vectors, 30, [(ids, keys, vectors[stays])]))


def test_vectors_of_zeros_are_left_out_and_none_is_no_error() -> None:
    vectors = units(3, 8)
    vectors[1] = 0
    assert cache_of(vectors).ids.tolist() == [1, 3]
    empty = built("space", vectors[:0], 0, [])
    assert len(empty) == 0
    assert empty.dimensions == 8
    assert empty.estimates(vectors[0]).tolist() == []
    assert extended(empty, 1, [(np.array([1]), keys_of(1), vectors[:1])]).ids.tolist() == [1]


def test_a_vector_that_is_the_centre_is_estimated_without_error() -> None:
    vectors = np.repeat(units(1, 64), 5, axis=0)
    estimates = cache_of(vectors).estimates(vectors[0])
    assert estimates.tolist() == pytest.approx([1] * 5, abs=1e-5)


def test_places_are_those_of_the_notes_and_kinds() -> None:
    cache = cache_of(units(6, 8))  # notes 1, 1, 2, 2, 3, 3; kinds 1, 2, 1, 2, 1, 2
    assert cache.places(None, None).tolist() == [0, 1, 2, 3, 4, 5]
    assert cache.places(np.array([1, 3, 9]), None).tolist() == [0, 1, 4, 5]
    assert cache.places(None, [2, 3]).tolist() == [1, 3, 5]
    assert cache.places(np.array([2]), [1]).tolist() == [2]
    assert cache.places(np.array([], np.int64), None).tolist() == []
    assert cache.places(None, []).tolist() == []


@given(
    st.lists(st.integers(-5, 5), max_size=60).map(lambda values: np.array(values, np.float32)),
    st.integers(1, 70),
)
def test_blocks_are_the_best_of_what_is_left(estimates: Floats, first: int) -> None:
    blocks = list(best_first(estimates, first))
    places = [place for block in blocks for place in block.tolist()]
    assert sorted(places) == list(range(len(estimates)))
    assert all(len(block) == first * 2**n for n, block in enumerate(blocks[:-1]))
    for number, block in enumerate(blocks[:-1]):
        assert estimates[block].min() >= max(
            estimates[later].max() for later in blocks[number + 1 :]
        )


@pytest.mark.parametrize("gain", [0, 9])
def test_of_many_the_first_block_is_the_best(gain: float) -> None:
    """Also where what is looked at first says little of the rest."""
    estimates = np.random.default_rng(1).normal(size=20_000).astype(np.float32)
    estimates[::32] += gain
    first = next(best_first(estimates, 300))
    assert np.array_equal(np.sort(estimates[first]), np.sort(estimates)[-300:])


@given(st.lists(st.tuples(st.integers(1, 9), st.floats(-1, 1, width=32)), max_size=40))
def test_an_item_counts_once_as_near_as_its_nearest_part(parts: list[tuple[int, float]]) -> None:
    keys, near = by_item(
        np.array([key for key, _ in parts], np.int64),
        np.array([one for _, one in parts], np.float32),
    )
    nearest: dict[int, float] = {}
    for key, one in parts:
        nearest[key] = max(one, nearest.get(key, -2))
    wanted = sorted(nearest.items(), key=lambda item: (-item[1], item[0]))
    assert list(zip(keys.tolist(), near.tolist(), strict=True)) == wanted


@pytest.mark.spec("14.4")
@given(st.integers(0, 2**32 - 1), st.integers(1, 300))
@settings(max_examples=50)
def test_similarity_is_that_of_the_distance(seed: int, dimensions: int) -> None:
    one, other = units(2, dimensions, seed=seed).astype(np.float64)
    distance = float(np.linalg.norm(one - other))
    assert similarity_at(distance) == pytest.approx(float(one @ other), abs=1e-6)


@pytest.mark.spec("14.4")
def test_similarity_of_known_distances() -> None:
    assert similarity_at(0) == 1
    assert similarity_at(2**0.5) == pytest.approx(0)
    assert similarity_at(2) == -1


def test_similarities_stay_in_their_range() -> None:
    vectors = np.array([[1.0001, 0], [-1.0001, 0]], np.float32)
    assert similarities_of(vectors, np.array([1, 0], np.float32)).tolist() == [1, -1]


def test_stored_vectors_are_little_endian() -> None:
    assert stacked([b"\0\0\x80?\0\0\0\0", b"\0\0\0\0\0\0\0@"], 2).tolist() == [[1, 0], [0, 2]]
    assert stacked([], 3).shape == (0, 3)


def test_blocks_are_kept_one_at_a_time() -> None:
    count, dimensions = 40_000, 256
    some = units(2000, dimensions)
    ids, keys = np.arange(count), keys_of(count)
    tracemalloc.start()
    cache = built(
        "space", some, count,
        ((ids[n : n + 2000], keys[n : n + 2000], some.copy()) for n in range(0, count, 2000)),
    )  # fmt: skip
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert cache.size_bytes == count * 58
    assert peak < 20_000_000 < count * dimensions * 4
