"""Plans whose rows are all timed."""

import pytest

from diagnose.hosts import host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

ON = {"auto_explain.log_min_duration": "60000", "auto_explain.log_analyze": "on", "auto_explain.log_timing": "on",
      "auto_explain.sample_rate": "1"}  # fmt: skip
READ = ("bench.public.sales", "pg_stat_user_tables.seq_tup_read")


def told(settings: dict[str, str], rows_per_s: float = 1.5e6, clock: str = "tsc") -> Finding | None:
    clocks = [{"component": "kernel", "name": "cpu.clocksource", "value": clock}]
    seen = host(time={("CPU", "CPU"): 0.4}, postgres={READ: rows_per_s}, settings=settings, extra={"setting": clocks})
    return next((one for one in diagnose(seen).findings if one.cause == "rows_timed"), None)


def test_each_row_is_timed_whether_its_plan_is_logged_or_not() -> None:
    finding = told(ON)
    assert finding is not None
    assert said(finding.title) == "auto_explain times each row of all plans: 1,500,000 rows/s are read"
    assert finding.impact.known == "at_most"
    assert finding.impact.share == pytest.approx(3 * 0.075 / 0.4)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        ON | {"auto_explain.log_min_duration": "-1"},
        ON | {"auto_explain.log_analyze": "off"},
        ON | {"auto_explain.log_timing": "off"},
        ON | {"auto_explain.sample_rate": "0.01"},
    ],
    ids=["not loaded", "off", "plans alone", "rows alone", "one of a hundred"],
)
def test_what_is_not_timed_is_silent(settings: dict[str, str]) -> None:
    assert told(settings) is None


def test_few_rows_cost_nothing_to_time_unless_the_clock_is_slow() -> None:
    assert told(ON, 1e5) is None
    assert told(ON, 1e5, clock="hpet") is not None
