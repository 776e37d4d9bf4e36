from __future__ import annotations

from dataclasses import replace

import pytest

from memoranda.db.migrate import HEAD, State
from memoranda.db.postgres_health import ServerState
from memoranda.doctor.postgres import SLOW_S, DatabaseFacts, judge
from memoranda.model.health import Check, Verdict

SERVER = ServerState(
    round_trip_s=0.0004,
    version="17.2",
    version_number=170_002,
    encoding="UTF8",
    is_standby=False,
    user="ann",
    is_encrypted=True,
    is_local=False,
    most_connections=97,
    connections=7,
    own_connections=4,
    vector="0.8.0",
    vector_available="0.8.0",
    may_make_schemas=True,
    has_schema=True,
    may_use=True,
    may_make_tables=True,
    may_write=True,
    may_number=True,
    owns_tables=True,
    revision=HEAD,
    size_bytes=12_300_000,
)
SHOWN = "postgresql://ann@db.example.org/notes (schema memoranda)"
WELL = DatabaseFacts(SHOWN, "memoranda", 5, SERVER, wants_vectors=True)
BARE = {
    "may_use": False,
    "may_make_tables": False,
    "may_write": False,
    "may_number": False,
    "owns_tables": False,
}


def judged(facts: DatabaseFacts) -> dict[str, Check]:
    checks = judge(facts)
    assert all(bool(check.hint) == (check.verdict is not Verdict.OK) for check in checks)
    return {check.name: check for check in checks}


def serving(**changes: object) -> DatabaseFacts:
    return replace(WELL, server=replace(SERVER, **changes))  # type: ignore[arg-type]


def test_a_server_that_works_is_well() -> None:
    assert {name: (check.verdict, check.message) for name, check in judged(WELL).items()} == {
        "database": (Verdict.OK, f"{SHOWN} answers; a round trip takes 0.4 ms"),
        "PostgreSQL": (Verdict.OK, "version 17.2, encoding UTF8"),
        "encryption": (Verdict.OK, "the connection is encrypted (TLS)"),
        "tables": (
            Verdict.OK,
            "those of the schema memoranda are current, 12.3 MB with all projects",
        ),
        "pgvector": (
            Verdict.OK,
            "version 0.8.0: the database compares vectors where they are many",
        ),
        "connections": (
            Verdict.OK,
            "90 of 97 are left; a server takes up to 5, and 3 connections of Memoranda are open",
        ),
    }
    assert WELL.state is State.CURRENT


def test_a_server_that_does_not_answer_is_a_problem_with_its_own_words() -> None:
    facts = replace(WELL, server=None, trouble="it cannot be reached", way_on="Wait.")
    assert judge(facts) == [Check("database", Verdict.PROBLEM, "it cannot be reached", "Wait.")]
    assert facts.state is None


def test_a_server_that_is_far_away_is_a_warning() -> None:
    assert judged(serving(round_trip_s=SLOW_S * 0.9))["database"].verdict is Verdict.OK
    check = judged(serving(round_trip_s=SLOW_S))["database"]
    assert check.verdict is Verdict.WARNING
    assert "20.0 ms: every statement waits as long" in check.message


def test_a_standby_is_a_problem() -> None:
    assert judged(serving(is_standby=True))["database"].verdict is Verdict.PROBLEM


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"version_number": 140_000}, Verdict.OK),
        ({"version_number": 130_019}, Verdict.PROBLEM),
        ({"encoding": "LATIN1"}, Verdict.PROBLEM),
    ],
)
def test_old_servers_and_other_encodings_are_a_problem(
    changes: dict[str, object], verdict: Verdict
) -> None:
    assert judged(serving(**changes))["PostgreSQL"].verdict is verdict


def test_plain_text_on_the_network_is_a_warning() -> None:
    check = judged(serving(is_encrypted=False))["encryption"]
    assert check.verdict is Verdict.WARNING
    assert "sslmode=verify-full" in check.hint
    assert judged(serving(is_encrypted=False, is_local=True))["encryption"].verdict is Verdict.OK


@pytest.mark.parametrize(
    ("changes", "verdict", "said", "state"),
    [
        (
            {"has_schema": False, "revision": None, **BARE},
            Verdict.OK,
            "the schema memoranda is made at the next use",
            State.ABSENT,
        ),
        (
            {"has_schema": False, "revision": None, **BARE, "may_make_schemas": False},
            Verdict.PROBLEM,
            'CREATE SCHEMA "memoranda" AUTHORIZATION "ann"',
            State.ABSENT,
        ),
        (
            {"may_use": False},
            Verdict.PROBLEM,
            'GRANT USAGE, CREATE ON SCHEMA "memoranda" TO "ann"',
            None,
        ),
        (
            {"may_write": False},
            Verdict.PROBLEM,
            'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "memoranda" TO "ann"',
            None,
        ),
        (
            {"may_number": False},
            Verdict.PROBLEM,
            "GRANT USAGE, UPDATE ON ALL SEQUENCES",
            State.CURRENT,
        ),
        ({"revision": None}, Verdict.OK, "are made at the next use", State.ABSENT),
        (
            {"revision": None, "may_make_tables": False},
            Verdict.PROBLEM,
            "may not make them",
            State.ABSENT,
        ),
        ({"revision": "0001"}, Verdict.OK, "upgraded at the next use", State.OLDER),
        (
            {"revision": "0001", "owns_tables": False},
            Verdict.PROBLEM,
            "`memoranda sync` once with this version",
            State.OLDER,
        ),
        ({"revision": "9999"}, Verdict.PROBLEM, "a newer version of Memoranda", State.NEWER),
    ],
)
def test_what_the_schema_has_is_judged(
    changes: dict[str, object], verdict: Verdict, said: str, state: State | None
) -> None:
    facts = serving(**changes)
    check = judged(facts)["tables"]
    assert check.verdict is verdict
    assert said in f"{check.message} {check.hint}"
    assert facts.state is state


def test_a_user_who_cannot_upgrade_is_told_before_there_is_something_to_upgrade() -> None:
    check = judged(serving(owns_tables=False))["rights"]
    assert check.verdict is Verdict.OK
    assert "started first by the owner of the tables" in check.message
    assert "rights" not in judged(serving(owns_tables=False, revision="0001"))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"vector": None}, "makes it with: CREATE EXTENSION vector"),
        ({"vector": None, "vector_available": None}, "the server does not have it"),
    ],
)
def test_without_pgvector_it_says_what_is_done_instead(
    changes: dict[str, object], said: str
) -> None:
    check = judged(serving(**changes))["pgvector"]
    assert check.verdict is Verdict.OK
    assert said in check.message
    assert "vectors are compared in this program" in check.message


def test_without_search_by_meaning_nothing_is_said_of_pgvector() -> None:
    assert "pgvector" not in judged(replace(WELL, wants_vectors=False))


def test_too_few_connections_for_one_more_server_are_a_warning() -> None:
    assert judged(serving(connections=92))["connections"].verdict is Verdict.OK
    check = judged(serving(connections=93))["connections"]
    assert check.verdict is Verdict.WARNING
    assert check.message == "4 of 97 are left; a server takes up to 5"
    assert "0 of 97 are left" in judged(serving(connections=99))["connections"].message
