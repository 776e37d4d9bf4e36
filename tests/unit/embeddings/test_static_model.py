from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.embeddings import static_model
from memoranda.embeddings.static_model import (
    DIMENSIONS,
    ROW,
    TABLE_NAME,
    TABLE_SHA256,
    VOCABULARY_NAME,
    VOCABULARY_SHA256,
    StaticModel,
)

DATA = Path(static_model.__file__).with_name("data")

TEXTS = [
    "The ferry leaves at nine, and the tickets are on the kitchen table.",
    "",
    "Rust borrow checker",
    "zażółć gęślą jaźń",
    "!!! ...",
    "x" * 300,
    "東京 Привет",
]


@pytest.fixture(scope="module")
def model() -> StaticModel:
    return StaticModel.load()


def similarity(model: StaticModel, one: str, other: str) -> float:
    first, second = model.encode([one, other])
    return float(first @ second)


@pytest.mark.parametrize(
    ("name", "sha256"), [(TABLE_NAME, TABLE_SHA256), (VOCABULARY_NAME, VOCABULARY_SHA256)]
)
def test_shipped_files_are_the_ones_that_were_built(name: str, sha256: str) -> None:
    assert hashlib.sha256((DATA / name).read_bytes()).hexdigest() == sha256


def test_origin_licence_and_changes_are_beside_the_files() -> None:
    notice = (DATA / "NOTICE").read_text("utf-8")
    assert "all-MiniLM-L6-v2" in notice
    assert "Apache License, Version 2.0" in notice
    assert "What was changed" in notice
    assert TABLE_NAME in notice
    assert VOCABULARY_NAME in notice
    licence = (DATA / "LICENSE").read_text("utf-8")
    assert "Version 2.0, January 2004" in licence
    assert "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION" in licence
    assert "END OF TERMS AND CONDITIONS" in licence


def test_table_has_a_unit_vector_and_a_weight_for_every_word(model: StaticModel) -> None:
    table = np.load(DATA / TABLE_NAME, allow_pickle=False)
    assert table.dtype == np.dtype(ROW)
    assert len(table) == len(model.wordpiece.pieces)
    lengths = np.linalg.norm(table["codes"] * table["scale"][:, np.newaxis], axis=1)
    pieces = model.wordpiece.pieces
    special = np.array([piece.startswith("[") and len(piece) > 1 for piece in pieces])
    signs = np.array([not any(map(str.isalnum, piece)) for piece in pieces])
    assert np.allclose(lengths, np.where(special, 0, 1), atol=1e-5)
    assert np.array_equal(table["weight"] == 0, special | signs)
    assert table["weight"].min() == 0
    assert table["weight"].max() == 1


def test_model_is_loaded_once() -> None:
    assert StaticModel.load() is StaticModel.load()


def test_a_table_of_another_vocabulary_is_refused() -> None:
    with pytest.raises(ValueError, match="2 vectors for 1 pieces"):
        StaticModel(np.zeros(2, np.dtype(ROW)), ["[UNK]"])


def test_vectors_are_of_unit_length(model: StaticModel) -> None:
    vectors = model.encode(["dog", "The quick brown fox", "2026-11-30", "ключ"])
    assert vectors.dtype == np.float32
    assert vectors.shape == (4, DIMENSIONS)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("text", ["", "  \n", "ไทย", "🙂", "x" * 101, "?!… — «»", "\x00", "\ud800"])
def test_a_text_without_a_known_word_is_all_zeros(model: StaticModel, text: str) -> None:
    assert not model.encode([text]).any()
    assert not model.encode(["dog", text, "dog"])[1].any()


def test_no_texts_make_no_vectors(model: StaticModel) -> None:
    assert model.encode([]).shape == (0, DIMENSIONS)


def test_unknown_words_and_signs_count_nothing(model: StaticModel) -> None:
    plain, full = model.encode(["dog training", "🙂 dog, ไทย training!"])
    assert np.array_equal(plain, full)


def test_order_of_words_does_not_count(model: StaticModel) -> None:
    assert similarity(model, "dog bites man", "man bites dog") == pytest.approx(1, abs=1e-6)


def test_a_text_has_the_same_vector_alone_and_among_others(
    model: StaticModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(static_model, "_SLICE_TOKENS", 16)
    together = model.encode(TEXTS * 3)
    backwards = model.encode(TEXTS[::-1] * 3)[::-1]
    monkeypatch.undo()
    alone = np.concatenate([model.encode([text]) for text in TEXTS] * 3)
    assert together == pytest.approx(alone, abs=1e-6)
    assert backwards == pytest.approx(alone, abs=1e-6)


@given(st.lists(st.text(max_size=30), max_size=6), st.integers(1, 9))
def test_slices_do_not_change_vectors(texts: list[str], tokens: int) -> None:
    model = StaticModel.load()
    whole = model.encode(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(static_model, "_SLICE_TOKENS", tokens)
        assert model.encode(texts) == pytest.approx(whole, abs=1e-6)


def test_the_end_of_a_long_text_counts_like_its_start(model: StaticModel) -> None:
    filler = "the committee met and talked about the budget " * 5_000
    assert len(filler) > 200_000
    plain, first, last = model.encode(
        [filler, "volcano " * 2_000 + filler, filler + "volcano " * 2_000]
    )
    assert first == pytest.approx(last, abs=1e-4)
    assert float(plain @ last) < 0.99


def test_a_long_text_is_worked_on_in_slices(
    model: StaticModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    most_characters = most_tokens = tokens = 0
    split, slices = model.wordpiece.numbers, model._slices

    def numbers(text: str) -> list[int]:
        nonlocal most_characters, tokens
        most_characters = max(most_characters, len(text))
        found = split(text)
        tokens += len(found)
        return found

    monkeypatch.setattr(model.wordpiece, "numbers", numbers)
    line = "".join(f"word{number}." for number in range(100_000))
    assert len(line) > 900_000
    for found, _, _ in slices([line]):
        most_tokens = max(most_tokens, len(found))
    assert most_characters <= 65_536
    assert most_tokens <= 2 * 8_192
    assert tokens < 10 * 100_000


def test_a_part_ends_at_a_space_where_there_is_one() -> None:
    text = "remember the milk " * 20_000
    parts = list(static_model._parts(text))
    assert "".join(parts) == text
    assert len(parts) > 1
    assert all(part.endswith(" ") for part in parts)
    assert list(static_model._parts("")) == [""]


def test_meaning_is_nearer_than_chance(model: StaticModel) -> None:
    assert similarity(model, "canine behavior", "dog training") > 0.3
    for other in ("stock market crash", "kitchen recipes", "quarterly tax report"):
        assert similarity(model, "canine behavior", other) < 0.15


def test_accents_and_case_do_not_count(model: StaticModel) -> None:
    assert similarity(model, "Café RÉSUMÉ", "cafe resume") == pytest.approx(1, abs=1e-6)


def test_lone_surrogates_and_nul_are_dropped(model: StaticModel) -> None:
    assert similarity(model, "dog\ud800 \x00training", "dog training") == pytest.approx(1, abs=1e-6)


def test_the_vector_of_a_text_is_the_weighted_mean_of_its_pieces(model: StaticModel) -> None:
    rows = np.load(DATA / TABLE_NAME)[list(model.wordpiece.numbers(TEXTS[0]))]
    units = rows["codes"] * rows["scale"][:, np.newaxis]
    mean = rows["weight"] @ units
    assert np.linalg.norm(units, axis=1)[rows["weight"] > 0] == pytest.approx(1, abs=1e-5)
    assert model.encode([TEXTS[0]])[0] == pytest.approx(mean / np.linalg.norm(mean), abs=1e-5)


def test_a_common_word_counts_less_than_a_rare_one(model: StaticModel) -> None:
    both = model.encode(["the dog"])[0]
    the, dog = model.encode(["the", "dog"])
    assert float(both @ dog) > 0.9 > 0.6 > float(both @ the)
