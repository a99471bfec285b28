from dataclasses import replace
from datetime import timedelta

import pytest

from doctord.analyse.vitals import Vital
from doctord.diagnose.finding import NONE_YET, NOT_MEASURED, Impact, at_most, measured
from doctord.diagnose.phrase import phrase
from doctord.report import wording
from doctord.report.phrases import said
from report import examples
from zones import in_zone


@pytest.mark.parametrize(
    ("share", "words"),
    [(0.0004, "<0.1 %"), (0.001, "0.1 %"), (0.0344, "3.4 %"), (0.864, "86 %"), (1.0, "100 %")],
)
def test_what_is_above_zero_never_shows_as_zero(share: float, words: str) -> None:
    assert wording.percent(share) == words


def test_the_second_date_stands_where_it_differs() -> None:
    across_midnight = wording.interval(examples.SINCE, examples.SINCE + timedelta(hours=3))
    assert across_midnight == "2026-11-20 22:00:00 to 2026-11-21 01:00:00 UTC (3 h)"


def test_the_clock_of_the_machine_stands_beside_utc() -> None:
    until = examples.SINCE + timedelta(minutes=30)
    with in_zone("Europe/Berlin"):
        assert wording.interval(examples.SINCE, until) == (
            "2026-11-20 22:00:00 to 22:30:00 UTC, 23:00:00 to 23:30:00 CET (30 min)"
        )
        assert "UTC, 2026-11-21 00:00:00 to 00:30:00 CET (" in wording.interval(
            examples.SINCE + timedelta(hours=1), until + timedelta(hours=1)
        )
        assert wording.moment(examples.SINCE) == "2026-11-20 22:00:00 UTC, 23:00:00 CET"


def test_what_lasts_for_days_is_no_number_of_seconds() -> None:
    assert wording.vital(Vital("longest transaction", 259_204.0, "s")) == "3 d"
    assert wording.vital(Vital("longest transaction", 5.2, "s")) == "5.2 s"
    assert said(phrase("{:,.0f s} old, {:time}, {:.1f s}", 259_204, 5400.0, 9.0)) == "3 d old, 1 h 30 min, 9.0 s"
    assert said(phrase("{:.3g ms}, {:.2g a second}, {:.3g %}", 12_345.0, 1_500.0, 1.3e-6)) == (
        "12,345 ms, 1,500 a second, 0.0000013 %"
    )


def test_the_verdict_does_not_say_the_share_twice() -> None:
    locks = replace(examples.LOCKS, title=phrase("{:share of database} is spent waiting for row locks", 0.86))
    assert wording.verdict(replace(examples.ONE, findings=(locks,))) == said(locks.title)
    assert wording.in_short(locks, examples.ONE) == f"{said(locks.title)}: almost certain (95 %)"
    assert wording.in_short(examples.CONVOY, examples.ONE).endswith(": 81 % of database time, very likely (80 %)")


@pytest.mark.parametrize(
    ("impact", "words"),
    [
        (measured(0.86), "86 % of database time"),
        (at_most(0.34), "at most 34 % of database time"),
        (NOT_MEASURED, "share of database time: not measured"),
        (NONE_YET, "no time lost yet"),
    ],
)
def test_what_a_cause_costs_is_said_as_far_as_it_is_known(impact: Impact, words: str) -> None:
    assert wording.impact(replace(examples.LOCKS, impact=impact), examples.ONE) == words


def test_no_finding_claims_no_more_than_was_seen() -> None:
    assert wording.verdict(examples.HEALTHY) == "No finding"
    assert wording.verdict(examples.HOST_ONLY) == "No finding as far as CPUs, memory and disks show"


def test_symptoms_of_symptoms_are_set_under_the_root() -> None:
    deep = replace(examples.COMMITS, explained_by=examples.CONVOY.cause)
    groups = wording.grouped((examples.LOCKS, examples.CONVOY, deep))
    assert groups == [(examples.LOCKS, [examples.CONVOY, deep])]


def test_a_finding_whose_explanation_is_not_there_stands_alone() -> None:
    assert wording.grouped((examples.CONVOY,)) == [(examples.CONVOY, [])]


def test_findings_that_explain_each_other_are_both_shown() -> None:
    one = replace(examples.LOCKS, explained_by=examples.CONVOY.cause)
    shown = [finding for top, below in wording.grouped((one, examples.CONVOY)) for finding in (top, *below)]
    assert shown == [one, examples.CONVOY]


def test_of_many_devices_the_header_has_the_worst() -> None:
    values = (1.0, 9.0, 31.0, 2.0, 4.0, 5.0)
    disks = [Vital(f"sd{name} latency", value, "ms") for name, value in zip("abcdef", values, strict=True)]
    told = wording.in_header([Vital("CPU used", 12.0, "%"), *disks])
    assert told == [("CPU used", "12 %"), ("sdc latency", "31 ms, the highest of 6 devices")]
    assert len(wording.in_header(disks[:3])) == 3
