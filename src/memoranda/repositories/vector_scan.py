"""Which vectors are likely to be the nearest: one bit per dimension of each, compared in NumPy. Pure.

A vector x is seen from c, the centre of all vectors: r = x - c. What is kept of r is on which side of the
centre it lies in each dimension (s, of +1 and -1), and the scale |r|^2 / <r, s>, which makes <q, s> an
estimate of <q, r>. With <c, r>, which is kept too, the similarity to a question q is

    <q, x> = <q, c> + <c, r> + <q - c, r>, and only the last term is an estimate.

Its q - c is rounded to 16 steps, so that its four binary digits are compared with the bits by AND and by
counting. The estimate chooses some hundred candidates, whose similarities are then computed from the vectors
themselves. 100,000 vectors of 256 dimensions take 5.8 MB here (102 MB as they are) and about 2 ms.

Bits are stored word by word, not vector by vector: a pass over one word of all vectors is fast.

Source: Gao and Long, "RaBitQ", SIGMOD 2024, without its rotation, which made nothing better here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from memoranda.model.item_key import KINDS, NOTE_BITS

if TYPE_CHECKING:
    from memoranda.ports import Keys, Vectors

    Blocks = Iterable[tuple[Keys, Keys, Vectors]]
    """Ids, item keys and vectors of some at a time, ascending by id."""

_WORD_BITS: Final = 64
_DIGITS: Final = 4
_SAMPLED: Final = 32
"""One of so many values is looked at first."""
_MOST_SHORT: Final = 4096
"""Dimensions whose sums of 16 steps fit into 16 bits."""


@dataclass(frozen=True, slots=True)
class VectorCache:
    """What is kept of the vectors of one space, and whose they are.

    Attributes:
        space: name of the space.
        centre: float32 [dimensions], about the mean of the vectors.
        centred: of how many vectors the centre is.
        last_id: vectors with a higher id are not looked at yet.
        ids: of the vectors, [n], ascending.
        keys: of their items, [n]; by now an item may have another place in its note, but not another kind.
        bits: uint64 [words, n]; 1 is the side of +1.
        ones: how many bits are 1, [n].
        scales: |r|^2 / <r, s>, [n].
        along: <c, r>, [n].
    """

    space: str
    centre: Vectors
    centred: int
    last_id: int
    ids: Keys
    keys: Keys
    bits: NDArray[np.uint64]
    ones: NDArray[np.uint16]
    scales: Vectors
    along: Vectors

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def dimensions(self) -> int:
        """Length of the vectors."""
        return len(self.centre)

    @property
    def size_bytes(self) -> int:
        """Memory it takes."""
        arrays = (self.ids, self.keys, self.bits, self.ones, self.scales, self.along)
        return sum(array.nbytes for array in arrays)

    def places(self, among: Keys | None, kinds: Sequence[int] | None) -> Keys:
        """Which vectors are of these notes (ascending) and kinds of items; None: of all."""
        is_allowed = np.ones(len(self), bool)
        if among is not None:
            is_allowed &= np.isin(self.keys >> NOTE_BITS, among)
        if kinds is not None:
            is_wanted = np.zeros(len(KINDS), bool)
            is_wanted[list(kinds)] = True
            is_allowed &= is_wanted[self.keys & len(KINDS) - 1]
        return np.flatnonzero(is_allowed)

    def estimates(self, query: Vectors) -> Vectors:
        """About how similar each vector is to the query (of unit length); [n]."""
        offset = query - self.centre
        least, step, digits = _digits(offset)
        size: type[np.unsignedinteger[Any]] = (
            np.uint16 if self.dimensions <= _MOST_SHORT else np.uint32
        )
        sums = np.zeros(len(self), size)
        for exponent, digit in enumerate(digits.T):
            count = np.zeros_like(sums)
            for word, of_query in zip(self.bits, digit, strict=True):
                count += np.bitwise_count(word & of_query)
            sums += count << size(exponent)
        found = self.ones * np.float32(2 * least)
        found += sums * np.float32(2 * step)
        found -= offset.sum()
        found *= self.scales
        found += self.along
        found += query @ self.centre
        return found


def built(space: str, some: Vectors, last_id: int, blocks: Blocks) -> VectorCache:
    """A cache of all vectors of a space; `some` of them, spread over all, say where their centre is."""
    centre: Vectors = some.mean(axis=0) if len(some) else some.sum(axis=0)
    none = np.empty(0, np.int64)
    empty = VectorCache(space, centre, 0, 0, none, none, *_kept(some[:0], centre))
    cache = extended(empty, last_id, blocks)
    return replace(cache, centred=len(cache))


def extended(cache: VectorCache, last_id: int, blocks: Blocks) -> VectorCache:
    """The cache with more vectors, whose ids are higher.

    Vectors of zeros are left out: they are similar to nothing.
    """
    ids, keys, kept = (
        [cache.ids],
        [cache.keys],
        [(cache.bits, cache.ones, cache.scales, cache.along)],
    )
    for more, of_items, vectors in blocks:
        has_direction = vectors.any(axis=1)
        ids.append(more[has_direction])
        keys.append(of_items[has_direction])
        kept.append(_kept(vectors[has_direction], cache.centre))
    bits, ones, scales, along = zip(*kept, strict=True)
    return replace(
        cache,
        last_id=last_id,
        ids=np.concatenate(ids),
        keys=np.concatenate(keys),
        bits=np.concatenate(bits, axis=1),
        ones=np.concatenate(ones),
        scales=np.concatenate(scales),
        along=np.concatenate(along),
    )


def without(cache: VectorCache, ids: Keys) -> VectorCache:
    """The cache without these vectors."""
    stays = ~np.isin(cache.ids, ids)
    return replace(
        cache,
        ids=cache.ids[stays],
        keys=cache.keys[stays],
        bits=cache.bits[:, stays],
        ones=cache.ones[stays],
        scales=cache.scales[stays],
        along=cache.along[stays],
    )


def best_first(estimates: Vectors, first: int) -> Iterator[Keys]:
    """Places of the highest estimates in ever larger blocks, the first of `first`; unordered within one."""
    rest, size = -estimates, first
    left = len(rest)
    while left > size:
        block = _lowest(rest, size)
        yield block
        rest[block] = np.inf
        left -= size
        size *= 2
    if left:
        yield np.argpartition(rest, left - 1)[:left]


def _lowest(values: Vectors, size: int) -> Keys:
    """Where the lowest values are, unordered; a sample says below what they lie, so that few are sorted."""
    sample = values[::_SAMPLED]
    place = min(2 * size // _SAMPLED + _SAMPLED, len(sample) - 1)
    few = np.flatnonzero(values <= np.partition(sample, place)[place])
    if len(few) < size:
        few = np.arange(len(values))
    return few[np.argpartition(values[few], size - 1)[:size]]


def stacked(blobs: Sequence[bytes], dimensions: int) -> Vectors:
    """Vectors as they are stored, [n, dimensions]."""
    return np.frombuffer(b"".join(blobs), "<f4").reshape(-1, dimensions)


def by_item(keys: Keys, similarities: Vectors) -> tuple[Keys, Vectors]:
    """Each item once, as near as its nearest part; the nearest first, then by key."""
    order = np.lexsort((keys, -similarities))
    _, first = np.unique(keys[order], return_index=True)
    order = order[np.sort(first)]
    return keys[order], similarities[order]


def similarities_of(vectors: Vectors, query: Vectors) -> Vectors:
    """Cosines of unit vectors [n, dimensions] and a unit vector, -1..1."""
    found: Vectors = np.clip(vectors @ query, -1, 1)
    return found


def similarity_at(distance: float) -> float:
    """Cosine of two unit vectors that lie so far apart (Euclidean). Source: spec 14.4."""
    return 1 - distance * distance / 2


def _kept(
    vectors: Vectors, centre: Vectors
) -> tuple[NDArray[np.uint64], NDArray[np.uint16], Vectors, Vectors]:
    """Bits, ones, scales and `along` of vectors [n, dimensions]."""
    offsets: Vectors = vectors - centre
    bits = _words(offsets > 0)
    ones: NDArray[np.uint16] = np.bitwise_count(bits).sum(axis=0, dtype=np.uint16)
    towards: Vectors = np.abs(offsets).sum(axis=1)
    squares: Vectors = np.einsum("nd,nd->n", offsets, offsets)
    scales = np.divide(squares, towards, out=np.zeros_like(squares), where=towards > 0)
    along: Vectors = offsets @ centre
    return bits, ones, scales, along


def _digits(offset: Vectors) -> tuple[float, float, NDArray[np.uint64]]:
    """A vector as least + step * number, and the binary digits of the numbers: uint64 [words, digits]."""
    least = float(offset.min())
    step = (float(offset.max()) - least) / ((1 << _DIGITS) - 1)
    numbers = np.rint((offset - least) / (step or 1)).astype(np.uint8)
    return least, step, _words(numbers >> np.arange(_DIGITS, dtype=np.uint8)[:, None] & 1 > 0)


def _words(are_set: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Rows of booleans [n, dimensions] as words of bits: [words, n]."""
    packed = np.packbits(are_set, axis=1, bitorder="little")
    words = -(-are_set.shape[1] // _WORD_BITS)
    padded = np.zeros((len(are_set), words * _WORD_BITS // 8), np.uint8)
    padded[:, : packed.shape[1]] = packed
    return np.ascontiguousarray(padded.view(np.uint64).T)
