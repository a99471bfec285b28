"""Statistics that mislead: what is no evidence of anything, where a file offers nothing better."""

from collections.abc import Iterator

import polars as pl

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import listed, phrase

# From here on such figures get people up at night.
WAIT_IO_PCT = 10.0
LOAD_PER_CPU = 2.0
CROSS_CALLS_PER_S = 10_000.0
LOADS = r"\.(load_1m|ldavg-1)$|^v\$osstat\.LOAD$"
RATIOS = "instance_efficiency."
TIMES = NotMeasured(
    "where the time of sessions went",
    "the files hold no waits, no samples of sessions, no microstates of processes",
    "add an AWR, Statspack or ASH report, or prstat -mL, pidstat -w, iostat -x of the same time; or run doctord record",
)


@cause()
def time_not_measured(case: Case) -> Iterator[Claim]:
    """Only figures that look alarming or fine, and say nothing of time.

    Looks like: wait I/O, a load average, cross calls, a hit ratio, without waits, sessions or microstates beside them.
    Hurts because: whoever acts on them fixes what is not broken, or lets be what is.
    Speaks for it: the figures that there are, and why none of them is evidence.
    Speaks against it: nothing: what they could mean, only times can tell.
    Remedy: Collect times: waits of the database over the same interval (AWR, Statspack, ASH, samples of sessions),
        latencies of the devices (iostat -x), microstates of the processes (prstat -m, doctord record).
    Verify: The shares of the time add up to the whole; then follow the largest.
    Source: G. Fawcett, "Demystifying high-end server behavior", 2005; K. Manoharan, 2008; C. Millsap, "Why a 99 %+
        database buffer cache hit ratio is not OK", 2001.
    """
    if case.time.shares or case.dataset.frame("process")["usr_pct"].drop_nulls().len():
        return
    told = [*_wait_io(case), *_load(case), *_cross_calls(case), *_ratio(case)]
    if told:
        yield Claim(
            phrase(
                "Cannot tell where time goes: {} is no evidence of anything",
                listed(*(item.figure for item in told[:2]), by=" and "),
            ),
            impact=NOT_MEASURED,
            confidence=0.9,
            severity="note",
            for_=told,
            not_measured=(TIMES,),
        )


def _wait_io(case: Case) -> list[Evidence]:
    """Wait I/O, unless the devices' own latencies were measured, which say what it cannot."""
    waiting = case.mean("cpu", "wait_io_pct")
    latencies = ("read_ms", "write_ms", "request_ms", "device_ms")
    measured = any(case.dataset.frame("disk")[column].drop_nulls().len() for column in latencies)
    if waiting is None or waiting < WAIT_IO_PCT or measured:
        return []
    why = (
        "idle time while some I/O is outstanding: it grows when a machine can do more I/O, and falls when CPUs are busy"
    )
    return [Evidence("cpu", "wait_io_pct", phrase("{:.0f %} wait I/O", waiting), "", why)]


def _load(case: Case) -> list[Evidence]:
    """A load average, unless idle time says how busy the CPUs were."""
    figures = case.dataset.frame("statistic").filter(pl.col("name").str.contains(LOADS))
    load = figures["value"].mean()
    if (
        not isinstance(load, float)
        or load < LOAD_PER_CPU * max(case.cpus, 1)
        or case.mean("cpu", "idle_pct") is not None
    ):
        return []
    why = "it counts tasks that run, that wait for a CPU and, on Linux, for a disk: it is no utilisation"
    return [Evidence("statistic", f"name = '{figures['name'][0]}'", phrase("a load average of {:.1f}", load), "", why)]


def _cross_calls(case: Case) -> list[Evidence]:
    calls = case.mean("cpu", "xcalls_per_s")
    if calls is None or calls < CROSS_CALLS_PER_S:
        return []
    why = "they grow with throughput, and with what the system does on the side: no time is in them"
    return [Evidence("cpu", "xcalls_per_s", phrase("{:rate cross calls}", calls), "", why)]


def _ratio(case: Case) -> list[Evidence]:
    """Ratios of an Oracle report without its times."""
    ratios = case.dataset.frame("statistic").filter(
        pl.col("name").str.starts_with(RATIOS) & pl.col("name").str.contains("Hit") & pl.col("value").is_not_null()
    )
    if ratios.is_empty():
        return []
    name, value = ratios.row(0, named=True)["name"], ratios.row(0, named=True)["value"]
    why = "a ratio of counts: 99.88 % stood beside 43 % of the time in reads"
    return [Evidence("statistic", f"name = '{name}'", phrase("{} {:.2f}", name.removeprefix(RATIOS), value), "", why)]
