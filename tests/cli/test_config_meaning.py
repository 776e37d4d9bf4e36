"""What `memoranda config show` says of search by meaning."""

from __future__ import annotations

import pytest
from tests.cli.conftest import Cli


def test_a_default_that_does_not_count_is_not_shown_as_a_value(cli: Cli) -> None:
    shown = cli("config", "show").out
    assert "semantic_search_enabled = (detected, see `memoranda status`)" in shown
    assert "semantic_embedding_provider = (detected, see `memoranda status`)" in shown
    assert "semantic_vector_k = 100  (default)" in shown
    answer = cli("config", "show", "--json").json
    assert answer["sources"]["semantic_embedding_model"] == "detected"
    assert answer["settings"]["semantic_embedding_model"] == "bge-small-en-v1.5"


def test_a_setting_that_was_given_is_shown(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BASIC_MEMORY_SEMANTIC_EMBEDDING_PROVIDER", "static")
    assert "semantic_embedding_provider = static  (environment)" in cli("config", "show").out


def test_a_key_is_shown_nowhere(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BASIC_MEMORY_SEMANTIC_API_KEY", "sk-secret")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    for arguments in (["config", "show"], ["config", "show", "--json"], ["doctor"]):
        outcome = cli(*arguments)
        assert "sk-secret" not in outcome.out + outcome.err
        assert "API_KEY" not in outcome.out + outcome.err
