import numpy as np
import pytest

from doctord.analyse.study.design import compare
from doctord.analyse.study.difference import of_means
from doctord.analyse.study.samples import Samples
from doctord.analyse.study.twin import Beside
from doctord.analyse.study.verdict import Comparison, Period
from doctord.dataset.dataset import Dataset
from study_series import autocorrelated, latencies, of_a_server

ROWS, LATER_S = 600, 86_400
BEFORE, AFTER = np.zeros(ROWS), np.full(ROWS, np.log(1.2))  # what moved both: a fifth more on the second day


def server(seed: int, cost_s: float, shared: np.ndarray, begin_s: float, load: float = 100.0) -> Period:
    """A server whose cost wanders by itself, and with what moves all servers alike."""
    rng = np.random.default_rng(seed)
    cost = latencies(rng, ROWS, 0.5, cost_s) ** 0.3 * cost_s**0.7 * np.exp(shared)
    return Period("db2", of_a_server(cost, np.full(ROWS, load), begin_s, host=f"db{seed % 2}"))


def study(
    own_ratio: float, *, before: np.ndarray = BEFORE, twin_load: float = 100.0, with_twin: bool = True
) -> Comparison:
    own = server(1, 0.02, before, 0), server(3, 0.02 * own_ratio, AFTER, LATER_S)
    twin = server(2, 0.04, BEFORE, 0), server(4, 0.04, AFTER, LATER_S, twin_load)
    return compare(*own, twin=twin if with_twin else None)


def test_what_moved_both_is_taken_off() -> None:
    assert study(1.0, with_twin=False).verdict == "worse"
    found = study(1.0)
    assert found.twin
    assert found.twin.has_moved
    assert found.twin.own.ratio == pytest.approx(1.2, abs=0.04)
    assert found.verdict == "no difference"


def test_a_change_is_told_beyond_what_moved_both() -> None:
    assert study(1 / 1.2, with_twin=False).verdict == "no difference"
    found = study(1 / 1.2)
    assert found.verdict == "better"
    assert found.twin
    net = found.twin.net.difference
    assert net.ratio == pytest.approx(1 / 1.2, abs=0.03)
    assert net.low < 1 / 1.2 < net.high  # type: ignore[operator]


def test_servers_that_came_apart_before_are_no_twins() -> None:
    found = study(0.85, before=np.repeat([-0.025, 0.025], ROWS // 2))
    assert found.verdict == "not comparable"
    assert found.why.startswith("server and twin did not move in parallel before the change")


def test_a_load_that_changed_at_one_of_both_makes_them_no_twins() -> None:
    found = study(0.85, twin_load=150.0)
    assert (found.verdict, found.why) == (
        "not comparable", "the load of server and twin did not change alike: +0 % and +50 %",
    )  # fmt: skip


def test_what_moves_both_is_no_noise_of_the_rest() -> None:
    """Rows that wander with each other: the interval of the rest is narrower than that of the server alone."""
    rng = np.random.default_rng(7)
    shared = [0.3 * autocorrelated(rng, ROWS, 0.9) for _ in range(2)]
    own = server(1, 0.02, shared[0], 0), server(3, 0.018, shared[1], LATER_S)
    twin = server(2, 0.04, shared[0], 0), server(4, 0.04, shared[1], LATER_S)
    alone, beside = compare(*own).main[0].difference, compare(*own, twin=twin)
    assert beside.twin
    net = beside.twin.net.difference
    assert net.high / net.low < 0.5 * (alone.high / alone.low - 1) + 1  # type: ignore[operator]


def test_settings_that_both_got_are_no_difference_and_those_of_the_twin_alone_are() -> None:
    own = server(1, 0.02, BEFORE, 0), server(3, 0.017, BEFORE, LATER_S)
    twin = server(2, 0.04, BEFORE, 0), server(4, 0.04, BEFORE, LATER_S)

    def of(pair: tuple[Period, Period], *values: dict[str, str]) -> tuple[Period, Period]:
        found = []
        for period, told in zip(pair, values, strict=True):
            rows = [{"ts": period.dataset.until, "name": name, "value": value} for name, value in told.items()]
            found.append(Period(period.name, Dataset.joined([period.dataset, Dataset.from_rows(setting=rows)])))
        return found[0], found[1]

    both = {"jit": "on", "kernel": "6.1"}, {"jit": "off", "kernel": "6.12"}
    kernel = {"jit": "on", "kernel": "6.1"}, {"jit": "on", "kernel": "6.12"}
    assert compare(*of(own, *both)).verdict == "not comparable"
    assert compare(*of(own, *both), twin=of(twin, *kernel)).verdict == "better"
    changed = {"jit": "on", "work_mem": "4MB"}, {"jit": "on", "work_mem": "8MB"}
    assert compare(*own, twin=of(twin, *changed)).why == "its twin was changed too (work_mem)"


def test_equal_servers_are_rarely_told_apart_from_their_twins() -> None:
    """5 % of 200 pairs are ten; twenty come once in five hundred times. What moves both wanders far."""
    apart = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        ratios = []
        for _ in range(2):
            shared = np.exp(0.5 * autocorrelated(rng, ROWS, 0.95))
            costs = (shared * latencies(rng, ROWS, 0.5) for _ in range(2))
            ratios.append(Beside(*(Samples.of(cost * 100, 100.0, 1.0) for cost in costs)).ratio())
        found = of_means(*ratios).p
        assert found is not None
        apart += found <= 0.05
    assert apart <= 20
