import numpy as np
import pytest

from doctord.analyse.study.design import compare
from doctord.analyse.study.verdict import Comparison, Period
from doctord.dataset.dataset import Dataset
from doctord.errors import UserError
from study_series import autocorrelated, latencies, of_a_server


def period(
    seed: int, *, cost_s: float = 0.02, load: float = 100.0, rows: int = 600, spread: float = 0.02, share: float = 0.5
) -> Period:
    rng = np.random.default_rng(seed)
    commits = load * (1 + spread * autocorrelated(rng, rows, 0.7))
    return Period("a", of_a_server(latencies(rng, rows, share, cost_s), commits, begin_s=seed * 10_000))


def judged(before: Period, after: Period, unit: str | None = None) -> Comparison:
    return compare(before, after, unit)


def test_a_server_that_spends_less_a_commit_is_better() -> None:
    found = judged(period(1), period(2, cost_s=0.015))
    assert (found.verdict, found.unit) == ("better", "commit")
    whole = found.main[0].difference
    assert whole.ratio == pytest.approx(0.75, abs=0.06)


def test_more_work_at_the_same_cost_is_no_difference() -> None:
    assert judged(period(1, spread=0.2), period(2, load=110.0, spread=0.2)).verdict == "no difference"


def test_a_server_that_spends_more_is_worse_and_the_wait_is_named() -> None:
    found = judged(period(1), period(2, cost_s=0.03))
    assert found.verdict == "worse"
    assert [row.key.name for row in found.regressions] == ["WALSync"]


def test_loads_that_do_not_overlap_are_not_compared() -> None:
    found = judged(period(1), period(2, cost_s=0.01, load=300.0))
    assert (found.verdict, found.why) == ("not comparable", "there is no load that both periods had")


def test_throughput_is_judged_where_it_is_the_outcome() -> None:
    assert judged(period(1), period(2, cost_s=0.01, load=300.0), unit="none").verdict == "better"


def test_without_a_load_less_time_may_be_less_work() -> None:
    before, after = (Dataset({"wait": one.dataset.arrow("wait")}) for one in (period(1), period(2, cost_s=0.01)))
    found = judged(Period("a", before), Period("b", after))
    assert (found.verdict, found.unit) == ("not comparable", None)


def test_too_few_rows_are_not_compared() -> None:
    found = judged(period(1, rows=5), period(2, rows=5))
    assert found.verdict == "not comparable"
    assert "5 rows are too few" in found.why


def test_rows_that_resemble_each_other_for_as_long_as_they_were_looked_at_are_not_compared() -> None:
    assert judged(period(1, share=0.999), period(2, share=0.999)).verdict == "not comparable"


def test_nothing_that_both_tell_of_is_not_compared() -> None:
    assert judged(Period("a"), Period("b")).verdict == "not comparable"


def test_a_load_that_is_not_there_is_refused() -> None:
    with pytest.raises(UserError, match="no load 'execution'"):
        judged(period(1), period(2), unit="execution")


def with_settings(told: Period, **values: str) -> Period:
    at = {"ts": told.dataset.until, "component": "postgresql"}
    rows = [at | {"name": name, "value": value} for name, value in values.items()]
    return Period(told.name, Dataset.joined([told.dataset, Dataset.from_rows(setting=rows)]))


def test_several_changes_at_once_are_not_comparable_and_the_figures_stand() -> None:
    before = with_settings(period(1), jit="on", work_mem="4096")
    after = with_settings(period(2, cost_s=0.015), jit="off", work_mem="65536")
    found = judged(before, after)
    assert found.verdict == "not comparable"
    assert found.why == "several changes at once (jit, work_mem): which of them made it better, cannot be told"
    assert found.main[0].outcome == "better"
    assert compare(before, after, change="jit, work_mem").verdict == "better"


@pytest.mark.slow
def test_equal_periods_are_rarely_told_apart() -> None:
    """Forty pairs of one server: at 5 % two are expected, and six come once in a hundred times."""
    wrong = [judged(period(seed), period(500 + seed)).verdict in {"better", "worse"} for seed in range(40)]
    assert sum(wrong) <= 5
