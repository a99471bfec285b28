"""Whether an injection took something from the service."""

from typing import cast

import psycopg
import pytest

from doctord.lab.effect import Effect, Figure, effect_on_figure, effect_on_load
from doctord.lab.load.workload import Pace
from doctord.lab.server import PrivateServer

BEFORE = Pace(100.0, 1.0)
KEPT = Figure("log kept", "bytes", 1000.0, lambda _server: 5.0)
NOBODY = cast("PrivateServer", None)


@pytest.mark.parametrize(
    ("during", "what", "found"),
    [
        (Pace(98.0, 1.5), "latency of the light load", True),
        (Pace(98.0, 1.49), "latency of the light load", False),
        (Pace(81.0, 1.0), "latency of the light load", False),
        (Pace(80.0, 1.0), "throughput of the light load", True),
        (Pace(0.0, None), "throughput of the light load", True),
    ],
)
def test_a_load_that_is_slower_or_does_less_lost_something(during: Pace, what: str, *, found: bool) -> None:
    effect = effect_on_load(BEFORE, during)
    assert effect is not None
    assert (effect.what, effect.found) == (what, found)


def test_the_value_that_would_have_counted_is_told() -> None:
    assert effect_on_load(BEFORE, Pace(100.0, 1.2)) == Effect(
        "latency of the light load", "ms", 1.0, 1.2, 1.5, found=False
    )
    assert effect_on_load(BEFORE, Pace(40.0, 9.0)) == Effect(
        "throughput of the light load", "per s", 100.0, 40.0, 80.0, found=True
    )


@pytest.mark.parametrize(("before", "during"), [(None, BEFORE), (BEFORE, None), (Pace(0.0, None), BEFORE)])
def test_what_pgbench_did_not_report_is_not_judged(before: Pace | None, during: Pace | None) -> None:
    assert effect_on_load(before, during) is None


@pytest.mark.parametrize(
    ("before", "during", "found"),
    [(0.0, 1000.0, True), (500.0, 1499.0, False), (None, 1000.0, True), (None, 9.0, False)],
)
def test_a_figure_counts_by_how_far_it_has_risen(before: float | None, during: float, *, found: bool) -> None:
    effect = effect_on_figure(KEPT, before, during)
    assert effect is not None
    assert (effect.before, effect.during, effect.found) == (before, during, found)


def test_a_figure_that_cannot_be_read_is_not_judged() -> None:
    def refused(_server: PrivateServer) -> float:
        raise psycopg.OperationalError

    assert KEPT.read(NOBODY) == 5.0
    assert Figure("logins", "s", 1.0, refused).read(NOBODY) is None
    assert effect_on_figure(KEPT, 0.0, None) is None
