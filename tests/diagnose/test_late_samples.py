"""Samples that came late are told."""

import polars as pl
import pytest

from diagnose.hosts import DB, host
from doctord.collect.postgres.sessions import SessionCollector
from doctord.diagnose.case import Case
from doctord.diagnose.engine import diagnose
from doctord.diagnose.late_samples import PERIOD_S, late_samples
from doctord.report.phrases import said

TOLD = {"db": DB, "event": "CPU", "wait_class": "CPU", "average_active_sessions": 0.1}


@pytest.mark.parametrize(("apart", "late"), [(0.1, False), (0.3, False), (0.5, True)])
def test_samples_far_apart_are_told(apart: float, *, late: bool) -> None:
    found = late_samples(Case(host(time={("CPU", "CPU"): apart}, extra={"wait": [TOLD]})))
    assert [said(one.why) for one in found] == (
        ["samples came 0.50 s apart on average, where 0.1 s was asked for"] if late else []
    )


def test_of_what_was_not_sampled_by_us_nothing_is_asked() -> None:
    assert late_samples(Case(host(time={("CPU", "CPU"): 0.9}))) == ()
    assert SessionCollector.period_s == PERIOD_S


def test_sessions_that_an_exporter_counted_come_as_seldom_as_it_is_scraped() -> None:
    counted = host(time={("CPU", "CPU"): 15.0}, extra={"wait": [TOLD]})
    unnumbered = counted.frame("session").with_columns(sid=pl.lit(None, pl.Int64))
    assert late_samples(Case(counted.replaced({"session": unnumbered}))) == ()
    looked_at = [said(line) for line in diagnose(counted.replaced({"session": unnumbered})).looked_at]
    assert f"{DB}: {unnumbered.height} samples of sessions" in looked_at
