"""Evidence from waits: what sessions of any vendor waited for, counted by the server or sampled."""

from collections.abc import Mapping, Sequence

import polars as pl

from doctord.analyse.waits import Wait
from doctord.diagnose.case import WORTH_SAYING_SHARE, Case
from doctord.diagnose.finding import Evidence, Severity
from doctord.diagnose.phrase import Words, listed, phrase

# An event that takes less than a hundredth of the time adds nothing to the evidence of its neighbours.
WORTH_NAMING_SHARE = 0.01
# Under 2 ms it came from a cache or from flash: no device makes the reads themselves go away.
QUICK_READ_MS = 2.0
MOST_OF_TIME = 0.5


def of_kind(case: Case, *kinds: str, why: Words = "") -> list[Evidence]:
    """What sessions waited for events of some kinds (`dataset/waits/kinds.py`), with the server's own names.

    Where a server counts its waits, `why` stands before how often and how long; where sessions were sampled, alone.
    """
    events = case.time.events_of(*kinds)
    if case.active.is_empty():
        return waited(case, *events, why=why)
    share = case.time.kind_share(*kinds)
    sids = case.active.select("event", "sid").filter(pl.col("event").is_in(events))["sid"].drop_nulls()
    return [
        Evidence(
            "session",
            f"event in ({', '.join(repr(event) for event in events)})",
            phrase("{:share of database}, {:.1f} sessions on average", share, case.time.seconds_per_second * share),
            phrase("{:share}", WORTH_SAYING_SHARE),
            why or (phrase("{} sessions took part", sids.n_unique()) if sids.len() else ""),
            "at_least",
        )
    ]


def reads_severity(ms: float | None, part: float) -> Severity | None:
    """`note` for reads that are quick and not most of the time: fewer of them would be better still, nothing is ill."""
    return "note" if ms is not None and ms < QUICK_READ_MS and part < MOST_OF_TIME else None


def counted_of_kind(waits: Mapping[str, Wait], *kinds: str) -> list[Wait]:
    """Of waits by event those of some kinds, the longest waited for first."""
    found = [wait for wait in waits.values() if wait.wait_kind in kinds]
    return sorted(found, key=lambda wait: -wait.seconds_per_second)


def share(case: Case, *events: str) -> float:
    """Share (0 to 1) of database time that client sessions waited for any of these events."""
    return case.time.share(None, *events) if events else 0.0


def events_like(case: Case, *beginnings: str) -> list[str]:
    """Events of client sessions whose name begins with one of these, the longest waited for first."""
    found = [wait for wait in case.waits.values() if wait.event.startswith(beginnings)]
    return [wait.event for wait in sorted(found, key=lambda wait: -wait.seconds_per_second)]


def mean_ms(waits: Sequence[Wait]) -> float | None:
    """Mean duration over several events, weighted by their number; null when none is known."""
    timed = [(wait.ms, wait.seconds_per_second) for wait in waits if wait.ms and wait.seconds_per_second]
    count = sum(seconds / ms for ms, seconds in timed)
    return sum(seconds for _, seconds in timed) / count if count else None


def waited(case: Case, *events: str, why: Words = "") -> list[Evidence]:
    """What client sessions waited for these events: how often, how long, which share of the time."""
    told = []
    for event in sorted(events, key=lambda event: -share(case, event)):
        part, wait = share(case, event), case.waits.get(event)
        if wait is not None and part >= WORTH_NAMING_SHARE:
            figure, limit = phrase("{}: {:share of database}", event, part), phrase("{:share}", WORTH_SAYING_SHARE)
            told.append(
                Evidence(
                    "wait",
                    _rows(event),
                    figure,
                    limit,
                    phrase("{}{}", phrase("{}: ", why) if why else "", _told(wait)),
                    "at_least",
                )
            )
    return told


def behind(case: Case, event: str, threshold: Words, why: Words) -> list[Evidence]:
    """How long background processes wait for an event; nothing when that is not known."""
    wait = case.background.get(event)
    if wait is None:
        return []
    return [
        Evidence(
            "wait", f"{_rows(event)} and kind = 'background'", phrase("{}: {}", event, _told(wait)), threshold, why
        )
    ]


def _told(wait: Wait) -> Words:
    """How long one wait takes, or all of them, and how often there is one."""
    if wait.ms is None:
        return _often(wait) or phrase("{:.3g s per s}", wait.seconds_per_second)
    return listed(phrase("{:time} each", wait.ms / 1000), _often(wait))


def _often(wait: Wait) -> Words:
    return "" if wait.per_second is None else phrase("{:rate}", wait.per_second)


def _rows(event: str) -> str:
    return f"event = '{event}'"
