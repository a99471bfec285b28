import numpy as np
import pytest

from doctord.analyse.study.samples import FEWEST, MOST, Samples, batch_count, batch_sums, correlation_time, mean_of
from study_series import autocorrelated, latencies


def test_a_value_is_a_ratio_of_sums_and_what_was_not_measured_is_no_row() -> None:
    samples = Samples.of([10.0, np.nan, 30.0, 5.0], [1.0, 1.0, 2.0, np.nan])
    assert (samples.rows, samples.value) == (2, pytest.approx(40 / 3))
    assert Samples.of([np.nan], 1.0).value is None
    assert mean_of(Samples.of([np.nan], 1.0)) is None


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_the_correlation_time_is_that_of_the_series(share: float) -> None:
    truth = (1 + share) / (1 - share)
    found = correlation_time(autocorrelated(np.random.default_rng(1), 40_000, share))
    assert found == pytest.approx(truth, rel=0.15)


def test_slow_noise_below_fast_noise_is_seen() -> None:
    rng = np.random.default_rng(2)
    slow = autocorrelated(rng, 20_000, 0.95)
    assert correlation_time(slow + 2 * rng.normal(size=20_000)) > 5


def test_batches_are_fewer_the_longer_rows_resemble_each_other() -> None:
    rng = np.random.default_rng(3)
    counts = [batch_count(Samples.of(latencies(rng, 600, share), 1.0, 1.0))[0] for share in (0.0, 0.8, 0.99)]
    assert counts[0] == MOST
    assert counts[1] in range(FEWEST, MOST + 1)
    assert counts[2] == 0


def test_sums_of_batches_are_those_of_the_rows() -> None:
    assert batch_sums(np.arange(10.0), 3).tolist() == [3.0, 12.0, 30.0]
    assert batch_sums(np.ones(101), 20).sum() == 101


@pytest.mark.parametrize(
    ("samples", "why"),
    [
        (Samples.of(3.0, 1.0), "one value"),
        (Samples.of(np.ones(5), 1.0), "5 rows are too few"),
        (Samples.of([1.0, 2.0], 1.0, are_runs=True), "2 runs are too few"),
        (Samples.of(np.zeros(50), 1.0), "nothing, or less: no ratio to it can be told"),
        (Samples.of(np.linspace(1, 2, 60), 1.0), "too short: its rows resemble their neighbours for too long"),
    ],
)
def test_a_mean_without_an_error_says_why(samples: Samples, why: str) -> None:
    found = mean_of(samples)
    assert found is not None
    assert (found.error, found.why) == (None, why)


def test_the_error_of_runs_is_that_of_independent_values() -> None:
    values = np.array([10.0, 11.0, 9.0, 10.5])
    found = mean_of(Samples.of(values, 1.0, are_runs=True))
    assert found is not None
    assert found.error == pytest.approx(values.std(ddof=1) / 2 / values.mean())
    assert found.freedom == 3
