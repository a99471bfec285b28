"""Oracle's redo logs: their buffer, their sizes, and what a switch from one to the next waits for."""

from collections.abc import Iterator

import polars as pl

from doctord.analyse.archiving import ARCHIVED_IN, Archiving, slowest
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.waited import behind, share, waited
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import NONE_YET, Claim, Evidence
from doctord.diagnose.phrase import phrase
from doctord.units import MIB

REDO = "v$sysstat.redo size"
SWITCHES = "thread_activity.log switches (derived)"
HOUR_S = 3600.0
LOGGED_SWITCHES = "alert_log.log switches"
SWITCHING = ("log file switch completion", "log file switch (private strand flush incomplete)")
INCOMPLETE = "log file switch (checkpoint incomplete)"
ARCHIVING = "log file switch (archiving needed)"
SPACE = "log buffer space"
RETRIES = "v$sysstat.redo buffer allocation retries"
# The rule of thumb is a switch every 15 to 20 minutes at the busiest; once in 7 still served the casebook well.
SWITCH_EVERY_S = 20 * 60
TOO_OFTEN_S = 5 * 60
# Five seconds of redo: the casebook's 72 MB for up to 14 MB/s; the log writer empties it at a third at the latest.
BUFFERED_S = 5
RETRIES_PER_S = 1.0
SLOW_WRITE_MS = 5.0
# The casebook's logs were archived in 2 of 7 minutes. From a half on, twice the redo leaves the archiver behind.
ARCHIVE_SHARE = 0.5
LEAST_ARCHIVE_S = 10.0  # stamps of whole seconds say little of less


@cause()
def log_buffer_small(case: Case) -> Iterator[Claim]:
    """Sessions wait for room in the log buffer.

    Looks like: log buffer space; allocations of redo that had to be tried again.
    Hurts because: a change cannot be made before its redo has room; the session stands still in the middle of it.
    Speaks for it: waits for log buffer space, allocation retries, the buffer's size against the redo rate.
    Speaks against it: a log writer whose writes are slow: then it empties the buffer slowly, and a larger one only
        helps over bursts.
    Remedy: Set log_buffer to about five seconds of redo at the busiest, never below the default; fix the log
        device first where its writes are slow.
    Verify: log buffer space and redo buffer allocation retries per second, both near zero at the same redo rate.
    Source: K. Manoharan's redo case, 2008 (72 MB for up to 14 MB/s); Oracle Database Performance Tuning Guide 10.2,
        "Configuring and Using the Redo Log Buffer"; J. Doelle and S. Langer, 2012 (100 MB or more).
    """
    part, retries = share(case, SPACE), case.total(RETRIES)
    wait = case.waits.get(SPACE)
    often = retries is not None and retries >= RETRIES_PER_S and wait is not None
    if not case.worth_saying(part) and not often:
        return
    write = case.background.get("log file parallel write")
    for_, against = weigh(
        [
            Sign("statistic", f"name = '{RETRIES}'", retries, RETRIES_PER_S, "{:.1f allocations tried again per s}",
                 "the buffer was full"),
            Sign("wait", "event = 'log file parallel write'", write.ms if write else None, SLOW_WRITE_MS,
                 "log writes of {:.1f ms}", "the log writer empties it quickly", "the log writer empties it slowly",
                 below=True),
        ]
    )  # fmt: skip
    yield Claim(
        phrase("The log buffer has no room: {:share of database}", part),
        impact=part,
        confidence=0.7 if against else 0.85,
        for_=[*waited(case, SPACE), *_buffer(case), *for_],
        against=against,
    )


@cause(explains=("checkpoint_incomplete", "archiver_behind"))
def log_switches_frequent(case: Case) -> Iterator[Claim]:
    """The redo logs are small for the redo that is written: they switch all the time.

    Looks like: log switches minutes or less apart; sessions wait for log file switch completion.
    Hurts because: at each switch all redo stops for a moment, and each brings a checkpoint and an archive in its train.
    Speaks for it: the interval between switches (size / redo rate), the waits for them.
    Speaks against it: hardly any time waited: then it is only a risk, for the day on which the checkpoint or the
        archiver is late.
    Remedy: Make the logs so large that they switch every 15 to 20 minutes at the busiest redo rate (rate x 20 min), and
        have four groups or more; archive_lag_target may force switches by time where a standby needs them.
    Verify: Log switches per hour, and the time waited for them, at the same redo rate.
    Source: K. Manoharan's redo case, 2008: switch interval = size / redo rate; Oracle Database Administrator's
        Guide 19c, "Planning the Size of Redo Log Files".
    """
    every_s, redo = _switch_every_s(case), _peak_redo(case)
    often = every_s is not None and every_s <= TOO_OFTEN_S
    events = (*SWITCHING, INCOMPLETE, ARCHIVING) if often else SWITCHING
    part = share(case, *events)
    if not often and not case.worth_saying(part):
        return
    for_, against = weigh(
        [
            Sign("wait", "event like 'log file switch%'", part * 100, 1.0, "{:.2g %} of database time waited",
                 "sessions feel it", "hardly felt yet"),
        ]
    )  # fmt: skip
    told = "are slow" if every_s is None else phrase("come every {:time}", every_s)
    yield Claim(
        phrase("Switches of the redo log {}", told),
        impact=part if part >= 0.01 else case.unfelt,
        confidence=0.6 if against or every_s is None else 0.9,
        for_=[*_interval(every_s), *waited(case, *events), *_sizes(redo, every_s), *for_],
        against=against,
    )


@cause()
def checkpoint_incomplete(case: Case) -> Iterator[Claim]:
    """A log cannot be used again because the database writer has not yet written what it protects.

    Looks like: log file switch (checkpoint incomplete); "Checkpoint not complete" in the alert log.
    Hurts because: until the checkpoint has passed, no session can write redo: all changes stop.
    Speaks for it: these waits, messages of the alert log, the interval between switches.
    Speaks against it: switches that are far apart: then the database writer's device is too slow, not the logs small.
    Remedy: More and larger log groups first (rate x 20 min each); then let checkpoints go on steadily
        (fast_start_mttr_target) and give the database writer asynchronous I/O or more writers.
    Verify: No more such waits or messages at the busiest hour.
    Source: Oracle Database Performance Tuning Guide 10.2, "log file switch"; K. Manoharan's redo case, 2008.
    """
    part = share(case, INCOMPLETE)
    messages = _events(case, "checkpoint not complete")
    if not case.worth_saying(part) and not messages:
        return
    every_s = _switch_every_s(case)
    for_, against = weigh(
        [
            Sign("statistic", f"name = '{SWITCHES}'", every_s, SWITCH_EVERY_S, "a switch every {:.0f s}",
                 "the logs come round too soon", "the logs are large: the database writer is slow", below=True),
        ]
    )  # fmt: skip
    yield Claim(
        phrase("Log switches wait for checkpoints: {:share of database}", part)
        if part
        else phrase("{} times a log switch waited for a checkpoint", messages),
        impact=part or case.unfelt,
        confidence=0.9,
        for_=[
            *waited(case, INCOMPLETE),
            *_messages("checkpoint not complete", messages),
            *for_,
            *_sizes(_peak_redo(case), every_s),
            *behind(case, "db file parallel write", phrase("{:.0f ms}", 10), "the database writer's own writes"),
        ],
        against=against,
    )  # fmt: skip


@cause()
def archiver_behind(case: Case) -> Iterator[Claim]:
    """A log cannot be used again because it is not yet archived.

    Looks like: log file switch (archiving needed); logs that take half as long to archive as to fill, and longer.
    Hurts because: until the archiver has copied the oldest log, all changes stop.
    Speaks for it: these waits, the redo rate that must be archived, the archiver's reads; of the worst hour in the
        alert log the time to archive a log against the time to fill it.
    Speaks against it: errors of the archiver (ORA-00257, ORA-19809: no room left): then it is space, not speed.
    Remedy: See that the archive destination and the recovery area have room; give it a faster device, apart from the
        logs; more archiver processes (log_archive_max_processes); larger and more groups to ride out bursts. A log
        should be archived in a fraction of the time in which it is filled.
    Verify: No more such waits; the time to archive a log (v$archived_log) well below the switch interval.
    Source: K. Manoharan's redo case, 2008: 8 GB archived in 2 minutes, switched every 7; Oracle Database
        Administrator's Guide 19c, "Managing Archived Redo Log Files".
    """
    part, messages = share(case, ARCHIVING), _events(case, "archiving needed")
    if not case.worth_saying(part) and not messages:
        yield from _archiving_slow(case)
        return
    stuck = _events(case, "archiver stuck")
    yield Claim(
        phrase("Log switches wait for the archiver: {:share of database}", part)
        if part
        else phrase("{} times a log switch waited for the archiver", messages),
        impact=part or case.unfelt,
        confidence=0.7 if stuck else 0.9,
        for_=[
            *waited(case, ARCHIVING),
            *_messages("archiving needed", messages),
            *_archived(slowest(case.dataset)),
            *_sizes(_peak_redo(case), _switch_every_s(case)),
            *behind(case, "log file sequential read", "", "the archiver reads the logs"),
            *behind(case, "Log archive I/O", "", "the archiver's reads and writes"),
        ],
        against=[
            Evidence(
                "event",
                "kind = 'archiver stuck'",
                phrase("{} errors of the archiver", stuck),
                "none",
                "space, not speed",
            )
        ]
        if stuck
        else [],
    )


def _archiving_slow(case: Case) -> Iterator[Claim]:
    """Logs that take long to archive while no switch waits for it yet."""
    worst = slowest(case.dataset)
    if worst is None or worst.archive_s < LEAST_ARCHIVE_S or worst.share < ARCHIVE_SHARE:
        return
    yield Claim(
        phrase("Logs take {:time} to archive and {:time} to fill", worst.archive_s, worst.fill_s),
        impact=NONE_YET,
        confidence=0.75,
        for_=_archived(worst),
        severity="warning" if worst.share >= 1 else "note",
    )


def _archived(worst: Archiving | None) -> list[Evidence]:
    if worst is None:
        return []
    return [
        Evidence(
            "statistic",
            f"name = '{ARCHIVED_IN}'",
            phrase("{:.0f s} to archive a log, in the worst hour", worst.archive_s),
            phrase("{:.0f s}", ARCHIVE_SHARE * worst.fill_s),
            phrase("{} logs, each filled in {:time}", worst.logs, worst.fill_s),
            "at_least",
        )
    ]


def _switch_every_s(case: Case) -> float | None:
    """Seconds between switches of the busiest instance (in its busiest hour, by the alert log); null if not counted."""
    switches = [figure.mean for figure in case.figures(SWITCHES)]
    logged = case.figures(LOGGED_SWITCHES)
    if not switches and all((figure.seconds or 0.0) <= HOUR_S for figure in logged):
        return _between_switches(case)
    switches = switches or [figure.largest for figure in logged]
    return 1 / max(switches) if switches and max(switches) > 0 else None


def _between_switches(case: Case) -> float | None:
    """Seconds from one switch to the next in a short alert log; its beginning is no switch; null of less than two."""
    told = case.dataset.frame("event").filter(pl.col("kind") == "log switch")
    thread = pl.col("subject").str.extract(r"^(thread \d+)")
    by_thread = told.group_by("db", thread.alias("thread"), maintain_order=True)
    spans = by_thread.agg(pl.col("ts").min().alias("first"), pl.col("ts").max(), pl.len())
    gaps = [(last - first).total_seconds() / (count - 1) for _, _, first, last, count in spans.rows() if count > 1]
    return min((gap for gap in gaps if gap > 0), default=None)


def _peak_redo(case: Case) -> float | None:
    """Redo of the busiest instance in its busiest interval, bytes per second; null when it was not counted."""
    return max((figure.largest for figure in case.figures(REDO)), default=None)


def _interval(every_s: float | None) -> list[Evidence]:
    if every_s is None:
        return []
    return [
        Evidence(
            "statistic",
            f"name = '{SWITCHES}'",
            phrase("a switch every {:time}", every_s),
            phrase("{:.0f} minutes", SWITCH_EVERY_S / 60),
            "each brings a checkpoint",
        )
    ]


def _sizes(redo: float | None, every_s: float | None) -> list[Evidence]:
    """What the redo rate asks of the logs."""
    if not redo:
        return []
    now = phrase("; what is switched now is about {:bytes}", redo * every_s) if every_s else ""
    return [
        Evidence(
            "statistic",
            f"name = '{REDO}'",
            phrase("{:bytes/s} of redo at the busiest", redo),
            "",
            phrase(
                "logs of {:bytes} would switch every {:.0f} minutes{}", redo * SWITCH_EVERY_S, SWITCH_EVERY_S / 60, now
            ),
        )
    ]


def _buffer(case: Case) -> list[Evidence]:
    redo, size = _peak_redo(case), _buffer_bytes(case)
    if redo is None:
        return []
    now = phrase("log_buffer is {:bytes}", size) if size else "log_buffer is not known"
    told = phrase("{}; {:bytes} would hold {} s of it", now, max(redo * BUFFERED_S, MIB), BUFFERED_S)
    return [Evidence("statistic", f"name = '{REDO}'", phrase("{:bytes/s} of redo at the busiest", redo), "", told)]


def _buffer_bytes(case: Case) -> float | None:
    setting = case.setting_of_any("log_buffer")
    if setting and setting.isdigit():
        return float(setting)
    return min((figure.last for figure in case.figures("v$sga.Log Buffer")), default=None)


def _messages(kind: str, count: int) -> list[Evidence]:
    told = f"{count} messages in the alert log"
    return [Evidence("event", f"kind = '{kind}'", told, "none", "as the server itself reports it")] if count else []


def _events(case: Case, kind: str) -> int:
    return case.dataset.frame("event").filter(pl.col("kind") == kind).height
