"""The Universal Scalability Law: published fits, synthetic points of known truth, and what cannot be told."""

import numpy as np
import pytest

from doctord.analyse.capacity.load.scaling import fitted, law

# Ray tracer on an SGI Origin 2000: N. J. Gunther, "Guerrilla Capacity Planning" (2007), chapter 5, table 5.1.
PROCESSORS = np.array([1, 4, 8, 12, 16, 20, 24, 28, 32, 48, 64.0])
RAYS = np.array([20, 78, 130, 170, 190, 200, 210, 230, 260, 280, 310.0])
# SPEC SDM91 on a Sun SPARCcenter 2000, as published by SPEC.
SCRIPTS = np.array([1, 18, 36, 72, 108, 144, 216.0])
PER_HOUR = np.array([64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2])


def test_sdm91_gives_the_published_coefficients() -> None:
    """S. Moeding, R package usl, its page and tests: what `summary(usl(throughput ~ load, specsdm91))` prints."""
    found = fitted(SCRIPTS, PER_HOUR)
    assert found.gamma.value == pytest.approx(89.9952330, rel=1e-5)
    assert found.gamma.value - found.gamma.low == pytest.approx(2.776 * 14.2134894, rel=0.01)  # t of 4 degrees
    assert found.sigma.value == pytest.approx(0.0277285, rel=1e-5)
    assert found.kappa.value == pytest.approx(0.0001044, rel=1e-3)
    assert found.residual == pytest.approx(82.85, abs=0.005)
    assert found.users is not None
    assert found.peak is not None
    assert (found.users.value, found.peak.value) == pytest.approx((96.52, 1884), abs=0.2)
    assert found.limit is None


def test_the_ray_tracer_up_to_20_processors_gives_the_published_coefficients() -> None:
    """The same package's `tests/confint.Rout.save`."""
    found = fitted(PROCESSORS[:6], RAYS[:6])
    assert found.sigma.value == pytest.approx(0.02444, abs=5e-6)
    assert found.kappa.value == pytest.approx(0.00163, abs=5e-6)
    assert found.gamma.value == pytest.approx(20.85605, abs=5e-6)


def test_up_to_64_processors_it_shows_no_peak_but_a_limit() -> None:
    found = fitted(PROCESSORS, RAYS)
    assert found.users is None
    assert found.peak is None
    assert found.limit is not None
    assert found.limit.low < 24.77 / 0.07815 < (found.limit.high or 0)
    assert found.throughput(64.0) == pytest.approx(310, rel=0.05)


@pytest.mark.parametrize("grows_with_load", [False, True])
def test_intervals_hold_the_truth_in_nine_of_ten_runs(*, grows_with_load: bool) -> None:
    users = np.array([1, 2, 4, 8, 12, 16, 24, 32, 48, 64.0])
    random = np.random.default_rng(20261121)
    held, runs = np.zeros(5), 300
    for _ in range(runs):
        gamma, sigma, kappa = random.uniform(10, 1000), random.uniform(0.01, 0.1), 10 ** random.uniform(-3.3, -2.3)
        true = law(users, np.array([gamma, sigma, kappa]))
        noise = random.normal(0, 0.03, len(users)) * (true if grows_with_load else true.mean())
        found = fitted(users, true + noise)
        at = np.sqrt((1 - sigma) / kappa)
        peak = law(at, np.array([gamma, sigma, kappa]))
        told = zip(
            (found.gamma, found.sigma, found.kappa, found.users, found.peak),
            (gamma, sigma, kappa, at, peak),
            strict=True,
        )
        held += [estimate is not None and estimate.low <= truth <= (estimate.high or 0) for estimate, truth in told]
    assert (held / runs >= 0.9).all()


@pytest.mark.parametrize(
    ("users", "throughput", "why"),
    [
        ([1, 2, 4, 4, 2], [10, 19, 33, 34, 18], "3 different N, and it takes 5"),
        ([10, 11, 12, 13, 14], [10, 11, 12, 13, 14], "must be twice the lowest"),
        ([np.nan, 1, 2, 4, 0], [1, 10, np.inf, 33, 5], "2 different N"),
    ],
)
def test_it_says_what_cannot_be_told(users: list[float], throughput: list[float], why: str) -> None:
    found = fitted(np.array(users, float), np.array(throughput, float))
    assert why in found.why
    assert np.isnan(found.sigma.value)


def test_a_mix_of_work_is_no_scaling() -> None:
    random = np.random.default_rng(5)
    users = np.linspace(1, 40, 40)
    assert "of the throughput's variation: other work is mixed in" in fitted(users, random.uniform(50, 100, 40)).why
    assert "another mix of work" in fitted(users, law(users, np.array([100, 1.2, 0]))).why
    assert "too far apart" in fitted(users[:6], 90 * users[:6] / (1 + 0.05 * users[:6]) * random.normal(1, 0.1, 6)).why


def test_what_grows_in_proportion_has_neither_peak_nor_limit() -> None:
    users = np.arange(1.0, 17.0)
    noise = np.random.default_rng(3).normal(0, 0.01, len(users))
    found = fitted(users, 50 * users * (1 + noise))
    assert (found.users, found.peak, found.limit) == (None, None, None)
    assert found.sigma.low <= 0 <= (found.sigma.high or 0)
