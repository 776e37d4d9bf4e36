"""How many requests a client may send."""

from __future__ import annotations

import pytest

from memoranda.http.rates import Rates, client_network


def test_a_burst_is_served_and_what_follows_waits_for_its_turn() -> None:
    rates = Rates(per_s=2, burst=3)
    assert [rates.wait_s("a", 0.0) for _ in range(4)] == [0, 0, 0, 0.5]
    assert rates.wait_s("a", 0.25) == pytest.approx(0.25)
    assert rates.wait_s("a", 0.5) == 0
    assert rates.wait_s("a", 0.5) > 0


def test_who_is_refused_does_not_wait_longer_for_it() -> None:
    rates = Rates(per_s=1, burst=1)
    rates.wait_s("a", 0.0)
    assert all(rates.wait_s("a", 0.5) for _ in range(100))
    assert rates.wait_s("a", 1.0) == 0


def test_a_client_does_not_save_up_more_than_a_burst() -> None:
    rates = Rates(per_s=100, burst=2)
    rates.wait_s("a", 0.0)
    assert [rates.wait_s("a", 1e6) == 0 for _ in range(3)] == [True, True, False]


def test_clients_do_not_take_from_each_other() -> None:
    rates = Rates(per_s=1, burst=1)
    assert [rates.wait_s(client, 0.0) for client in "abc"] == [0, 0, 0]


def test_no_rate_is_no_limit() -> None:
    rates = Rates(per_s=0, burst=1)
    assert not any(rates.wait_s("a", 0.0) for _ in range(1000))


def test_a_clock_that_goes_back_costs_nobody_anything() -> None:
    rates = Rates(per_s=1, burst=2)
    rates.wait_s("a", 10.0)
    assert rates.wait_s("a", 5.0) == 0


def test_memory_is_bounded_and_those_seen_last_are_kept() -> None:
    rates = Rates(per_s=1, burst=1, most_clients=2)
    rates.wait_s("a", 0.0)
    rates.wait_s("b", 0.0)
    rates.wait_s("a", 0.0)
    rates.wait_s("c", 0.0)  # b is forgotten
    assert [rates.wait_s(client, 0.0) > 0 for client in "acb"] == [True, True, False]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("10.0.0.1", "10.0.0.2", False),
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", False),
        ("::ffff:10.0.0.1", "10.0.0.1", True),
        ("fe80::1%eth0", "fe80::2%eth0", True),
        ("", "testclient", False),
    ],
)
def test_a_site_of_ipv6_is_one_client(one: str, other: str, same: bool) -> None:
    assert (client_network(one) == client_network(other)) is same
