"""Redo logs of Oracle: their buffer, their sizes, their switches. And the casebook's redo case as a whole."""

import csv
from collections.abc import Iterator
from datetime import timedelta

import pytest

from diagnose.oracle_hosts import DB, START, found
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said
from shared import CASEBOOK, sample

SWITCHES = "thread_activity.log switches (derived)"


@pytest.mark.parametrize(("retries", "small"), [(0.9, False), (1.0, True), (None, False)])
def test_the_log_buffer_by_its_retries(retries: float | None, *, small: bool) -> None:
    named = {"v$sysstat.redo buffer allocation retries": retries}
    assert ("log_buffer_small" in found(waits={"log buffer space": (1.0, 9.0)}, figures=named)) is small


def test_the_log_buffer_by_its_waits_and_what_would_hold_five_seconds() -> None:
    finding = found(
        waits={"log buffer space": (20.0, 20.0)},
        figures={"v$sysstat.redo size": 14e6, "v$sysstat.redo buffer allocation retries": None},
        settings={"log_buffer": "4194304"},
    )["log_buffer_small"]
    assert any("log_buffer is 4.0 MiB; 66.8 MiB would hold 5 s" in said(item.why) for item in finding.for_)
    assert not finding.against


def test_a_slow_log_writer_speaks_against_a_small_buffer() -> None:
    finding = found(waits={"log buffer space": (20.0, 20.0)}, background={"log file parallel write": (40.0, 15.0)})
    assert any("slowly" in said(item.why) for item in finding["log_buffer_small"].against)


@pytest.mark.parametrize(("ms", "slow"), [(19.0, False), (440.0, True)])
def test_a_device_that_takes_long_for_each_write_is_the_cause_of_a_full_buffer(ms: float, *, slow: bool) -> None:
    waits = {"log buffer space": (20.0, 60.0), "log file sync": (10.0, 500.0)}
    findings = found(waits=waits, background={"log file parallel write": (4.0, ms)})
    assert ("log_device_slow" in findings) is slow
    assert findings["log_buffer_small"].explained_by == ("log_device_slow" if slow else None)
    if slow:
        assert said(findings["log_device_slow"].title) == "The log's device is slow: 440 ms a write"
        assert findings["log_device_slow"].impact.known == "at_most"
        assert findings["commits_slow"].explained_by == "log_device_slow"


@pytest.mark.parametrize(("often", "ms", "told"), [(4.0, 440.0, True), (4.0, 50.0, False), (0.01, 440.0, False)])
def test_writes_that_would_be_felt_are_told_before_anybody_waits(often: float, ms: float, *, told: bool) -> None:
    findings = found(waits={"log file sync": None}, background={"log file parallel write": (often, ms)})
    assert ("log_device_slow" in findings) is told
    if told:
        assert findings["log_device_slow"].impact.share is None


def test_large_writes_speak_against_slow_ones() -> None:
    figures = {"v$sysstat.redo size": 40e6, "v$sysstat.redo writes": 20.0}
    waits, background = {"log buffer space": (20.0, 60.0)}, {"log file parallel write": (20.0, 40.0)}
    finding = found(waits=waits, background=background, figures=figures)["log_device_slow"]
    assert [said(item.why) for item in finding.against] == ["large writes: bandwidth counts"]


@pytest.mark.parametrize(("every_s", "often"), [(301.0, False), (300.0, True), (53.0, True), (None, False)])
def test_switches_by_their_interval(every_s: float | None, *, often: bool) -> None:
    assert ("log_switches_frequent" in found(figures={SWITCHES: every_s and 1 / every_s})) is often


def test_switches_that_nobody_feels_cost_no_time_yet() -> None:
    finding = found(figures={SWITCHES: 1 / 60})["log_switches_frequent"]
    assert finding.impact.share is None
    assert any("hardly felt" in said(item.why) for item in finding.against)


def test_logs_are_sized_from_the_redo_rate() -> None:
    waits = {"log file switch completion": (0.5, 500.0)}
    finding = found(waits=waits, figures={SWITCHES: 1 / 53, "v$sysstat.redo size": 9.45e6})["log_switches_frequent"]
    assert any("10.6 GiB would switch every 20 minutes; what is switched now is about 478 MiB" in said(e.why)
               for e in finding.for_)  # fmt: skip


@pytest.mark.parametrize(("every_s", "large"), [(60.0, False), (3600.0, True)])
def test_an_incomplete_checkpoint_with_large_logs_is_the_database_writer(every_s: float, *, large: bool) -> None:
    waits = {"log file switch (checkpoint incomplete)": (0.5, 800.0)}
    finding = found(waits=waits, figures={SWITCHES: 1 / every_s})["checkpoint_incomplete"]
    assert any("database writer is slow" in said(item.why) for item in finding.against) is large


def test_an_incomplete_checkpoint_in_the_alert_log_alone_costs_no_known_time() -> None:
    event = {"kind": "checkpoint not complete", "db": DB, "subject": "thread 1", "text": "Checkpoint not complete"}
    findings = found(extra={"event": [event]}, figures={SWITCHES: 1 / 60})
    assert findings["checkpoint_incomplete"].impact.share is None
    assert findings["checkpoint_incomplete"].explained_by == "log_switches_frequent"


@pytest.mark.parametrize("stuck", [False, True])
def test_the_archiver_is_behind_or_has_no_room(*, stuck: bool) -> None:
    event = {"kind": "archiver stuck", "db": DB, "subject": "archiver", "text": "ORA-19809"}
    finding = found(
        waits={"log file switch (archiving needed)": (0.2, 5000.0)}, extra={"event": [event] if stuck else []}
    )["archiver_behind"]
    assert bool(finding.against) is stuck


def archiving(archive_s: float, *, logs: int = 4) -> dict[str, list[dict[str, object]]]:
    """So many logs in an hour, each filled in four minutes."""
    about = {"db": DB, "component": "oracle", "entity": "thread 1", "kind": "gauge", "unit": "s"}
    times = {"alert_log.archive_time": archive_s, "alert_log.fill_time": 240.0}
    return {"statistic": [about | {"name": name, "value": value} for name, value in times.items()] * logs}


@pytest.mark.parametrize(
    ("archive_s", "severity"), [(119.0, None), (120.0, "note"), (239.0, "note"), (240.0, "warning")]
)
def test_a_log_takes_longer_to_archive_than_it_should(archive_s: float, severity: str | None) -> None:
    finding = found(extra=archiving(archive_s)).get("archiver_behind")
    assert (finding.severity if finding else None) == severity
    if finding:
        assert finding.impact.known == "none_yet"
        assert "to archive and 4 min to fill" in said(finding.title)
        assert "4 logs" in said(finding.for_[0].why)


def test_a_few_logs_archived_slowly_are_nothing() -> None:
    assert "archiver_behind" not in found(extra=archiving(240.0, logs=3))


def test_a_little_waiting_for_the_archiver_is_nothing() -> None:
    assert "archiver_behind" not in found(waits={"log file switch (archiving needed)": (0.01, 500.0)})


# The casebook's figures, before: 72 commits a second. Everything that the investigator concluded from them.


def _rows(name: str) -> Iterator[dict[str, str]]:
    with sample(CASEBOOK / "redo" / name).open() as file:
        yield from csv.DictReader(file)


def _casebook(side: str) -> dict[str, Finding]:
    background = ("log file parallel write", "log file sequential read")
    timed = {
        row["event"]: (float(row[f"{side}_waits_per_s"]), float(row[f"{side}_avg_ms"]))
        for row in _rows("waits.csv")
        if row[f"{side}_waits_per_s"]
    }
    profile = {row["statistic"]: float(row[side]) for row in _rows("profile.csv")}
    retries = {row["statistic"]: float(row["value"]) for row in _rows("stats_before.csv")}
    involuntary = {"before": 30.0, "after": 0.1}[side]
    minutes = {"before": 1, "after": 7}[side]
    none = dict.fromkeys(("db file sequential read", "db file scattered read"))
    return found(
        cpu_s_per_s=0.2,
        waits={**none, **{event: wait for event, wait in timed.items() if event not in background}},
        background={event: wait for event, wait in timed.items() if event in background},
        figures={
            "v$sysstat.redo size": profile["redo size"] * 1e6,
            "v$sysstat.redo writes": profile["redo writes"],
            "v$sysstat.user commits": profile["commit wait performed"],
            "v$sysstat.redo buffer allocation retries": retries["redo buffer allocation retries"]
            if side == "before"
            else 0.0,
            SWITCHES: 1 / (60 * minutes),
        },
        settings={"log_buffer": {"before": "4194304", "after": "75497472"}[side]},
        extra={
            "process": [
                {"command": "ora_lgwr_PROD", "vcsw_per_s": 100 - involuntary, "icsw_per_s": involuntary, "pid": 7}
            ]
        },
    )


def test_the_casebooks_redo_case_before() -> None:
    findings = _casebook("before")
    assert "11.8 ms" in said(findings["commits_slow"].title)
    assert any("log file sequential read" in item.filter for item in findings["commits_slow"].for_)
    assert "CPU scheduling" in said(findings["log_writer_starved"].title)
    assert any("30 % of its context switches" in said(item.figure) for item in findings["log_writer_starved"].for_)
    assert "every 60.00 s" in said(findings["log_switches_frequent"].title)
    assert any("would switch every 20 minutes" in said(item.why) for item in findings["log_switches_frequent"].for_)
    assert any("log_buffer is 4.0 MiB" in said(item.why) for item in findings["log_buffer_small"].for_)


def test_the_casebooks_redo_case_after() -> None:
    assert set(_casebook("after")) <= {"commits_too_frequent"}


@pytest.mark.parametrize(("seconds", "every"), [((0,), None), ((8, 14, 20), "every 6.00 s")])
def test_a_short_alert_log_has_an_interval_between_two_only(seconds: tuple[int, ...], every: str | None) -> None:
    switch = {"db": DB, "kind": "log switch"}
    events = [
        switch | {"ts": START + timedelta(seconds=after), "subject": f"thread 1, sequence {after}"} for after in seconds
    ]
    logged = {"ts": START + timedelta(seconds=20), "interval_s": 20.0, "db": DB, "component": "oracle", "kind": "rate",
              "name": "alert_log.log switches", "entity": "1", "value": len(seconds) / 20}  # fmt: skip
    findings = {one.cause: one for one in diagnose(Dataset.from_rows(event=events, statistic=[logged])).findings}
    switches = findings.get("log_switches_frequent")
    assert (switches and said(switches.title)) == (every and f"Switches of the redo log come {every}")
