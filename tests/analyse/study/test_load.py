import numpy as np
import pytest

from doctord.analyse.study.load import cost_difference, least_squares, loads_of
from doctord.analyse.study.samples import Samples
from study_series import autocorrelated, latencies


def server(
    seed: int, cost_s: float, load: float, *, slope: float = 0.0, rows: int = 600, spread: float = 0.2
) -> Samples:
    """Seconds of database time and commits of each second; the cost of one grows with the load by `slope`."""
    rng = np.random.default_rng(seed)
    commits = np.maximum(1.0, load * (1 + spread * autocorrelated(rng, rows, 0.7)))
    cost = cost_s * (1 + slope * (commits - 100) / 100) * (1 + 0.1 * rng.normal(size=rows))
    return Samples.of(cost * commits, commits, 1.0)


def test_costs_are_compared_at_one_load_where_the_plain_ratio_would_tell_of_the_load() -> None:
    pairs = [(server(seed, 0.02, 100, slope=1.0), server(50 + seed, 0.02, 120, slope=1.0)) for seed in range(10)]
    plain = [after.value / before.value for before, after in pairs if before.value and after.value]
    found = [cost_difference(before, after)[0].ratio for before, after in pairs]
    assert np.mean(plain) > 1.1
    assert np.mean([ratio for ratio in found if ratio]) == pytest.approx(1.0, abs=0.02)


def test_a_change_shows_at_the_same_load() -> None:
    found, _ = cost_difference(server(1, 0.02, 100, slope=1.0), server(2, 0.016, 115, slope=1.0))
    assert found.ratio == pytest.approx(0.8, abs=0.04)
    assert found.high is not None
    assert found.high < 1


def test_loads_that_do_not_overlap_are_told() -> None:
    loads = loads_of(server(1, 0.02, 100, spread=0.05), server(2, 0.02, 300, spread=0.05))
    assert loads is not None
    assert (loads.overlap, loads.at) == (False, None)


def test_loads_that_are_alike_need_no_equation() -> None:
    loads = loads_of(server(1, 0.02, 100, spread=0.01), server(2, 0.02, 103, spread=0.01))
    assert loads is not None
    assert (loads.overlap, loads.at) == (True, None)


def test_one_value_each_has_no_range() -> None:
    found, loads = cost_difference(Samples.of(2.0, 72.0, 1.0), Samples.of(1.1, 520.0, 1.0))
    assert loads is not None
    assert (loads.before, loads.after, loads.overlap) == (72.0, 520.0, None)
    assert found.why == "one value each"


def test_a_period_without_seconds_tells_no_load() -> None:
    assert loads_of(Samples.of(latencies(np.random.default_rng(1), 50), 1.0), server(1, 0.02, 100)) is None


def test_errors_are_those_of_newey_and_west_as_statsmodels_has_them() -> None:
    models = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(4)
    design = np.column_stack([np.ones(80), autocorrelated(rng, 80, 0.9)])
    values = design @ np.array([2.0, 0.5]) + autocorrelated(rng, 80, 0.8)
    found, covariance = least_squares(design, values)
    theirs = models.OLS(values, design).fit(cov_type="HAC", cov_kwds={"maxlags": 3, "use_correction": True})
    assert found == pytest.approx(theirs.params)
    assert np.diag(covariance) == pytest.approx(np.diag(theirs.cov_params()), rel=1e-6)
