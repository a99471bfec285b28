"""The curves of response against load."""

import numpy as np
import pytest

from doctord.analyse.capacity.load.queueing import Erlang, Power, erlang_c


def erlang(servers: int, service: float = 1.0, variability: float = 1.0) -> Erlang:
    one = np.ones(1)
    return Erlang(service * one, servers / service * one, servers * one, variability * one)


def power(service: float, saturation: float, exponent: float) -> Power:
    return Power(np.array([service]), np.array([saturation]), np.array([exponent]))


def test_two_servers_half_busy_make_one_request_in_three_wait() -> None:
    assert erlang_c(2, np.array([1.0]))[0] == pytest.approx(1 / 3)


@pytest.mark.parametrize(("servers", "waits"), [(1, 5.7), (4, 1.1), (8, 0.5)])
def test_at_85_percent_a_task_waits_as_the_threshold_on_cpus_says(servers: int, waits: float) -> None:
    assert erlang(servers).response(0.85 * servers)[0] - 1 == pytest.approx(waits, abs=0.05)


def test_waits_that_vary_more_are_longer() -> None:
    assert erlang(4, variability=3).response(3.4)[0] - 1 == pytest.approx(3 * (erlang(4).response(3.4)[0] - 1))


@pytest.mark.parametrize("servers", [1, 2])
def test_gunther_s_curve_is_exact_for_one_and_two_servers(servers: int) -> None:
    loads = np.linspace(1, 0.99 * servers / 0.005, 20)
    exact = [erlang(servers, 0.005).response(load)[0] for load in loads]
    assert [power(0.005, servers / 0.005, servers).response(load)[0] for load in loads] == pytest.approx(
        exact, rel=1e-3
    )


@pytest.mark.parametrize("curve", [erlang(1), erlang(16, 0.01, 2.5), power(5, 4600, 0.96), power(0.5, 1000, 30)])
@pytest.mark.parametrize("stretch", [1.2, 2.0, 10.0])
def test_the_load_of_a_response_is_the_inverse(curve: Erlang | Power, stretch: float) -> None:
    load = float(curve.load_at(stretch)[0])
    assert curve.response(load)[0] == pytest.approx(stretch * curve.service[0], rel=1e-3)
    assert curve.response(float(curve.saturation[0]))[0] == np.inf
