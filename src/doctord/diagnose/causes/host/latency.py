"""How waits are spread: a slow mode that an average hides, and bursts that come again."""

from collections.abc import Iterator

from doctord.analyse.latency.map import LatencyMap, histograms_of, subjects
from doctord.analyse.latency.modes import Mode, Reading, reading
from doctord.analyse.latency.storage import is_storage
from doctord.dataset.waits.events import kind_of
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.histograms import agrees
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import phrase

# Two modes are of different things, not of one that varies, when the one takes so many times as long.
APART = 5.0
# A wait that nobody could feel is no fault, however rare its kind.
FELT_US = 2e3
MOST_OF_TIME = 0.5
NETWORKS = ("network to client", "network to server", "cluster", "standby")
ROUTE = (
    "Find out what is different about the slow ones: one peer, one path, one size, retransmits (netstat -s, ss -ti). "
    "Compare the map by peer and by time of day; a slow peer looks like a slow network.",
)


@cause()
def slow_mode(case: Case) -> Iterator[Claim]:
    """A minority of the reads, writes or messages takes most of their time: an average hides them.

    Looks like: two bands in the latency map of one wait for a device or the network, the upper with fewer waits and
        most of the time. Of locks, and of whole statements, two bands say no more than that holders differ.
    Hurts because: who meets the slow kind waits many times as long as the average says.
    Speaks for it: the share of the slow mode in the waits and in their time, and how far it lies above the others.
    Speaks against it: nothing that a distribution could show; what the slow ones are, it does not say.
    Remedy: Find out what is different about the slow ones: reads that miss the cache, one device or path of several,
        one size. Compare the map by device, by file, and by time of day; more cache helps only the first kind.
    Verify: In the map over the same load, the upper band thins out and the time waited falls with it.
    Source: L. Canali, OraLatencyMap, 2013; B. Gregg, Visualizing System Latency, Communications of the ACM, 2010.
    """
    for drawn, found in _readings(case):
        slow = found.modes[-1] if len(found.modes) > 1 else None
        if slow is None or slow.share >= MOST_OF_TIME or slow.time_share < MOST_OF_TIME or slow.typical_us < FELT_US:
            continue
        fast = found.modes[-2]
        impact = _impact(case, drawn, slow.time_share)
        if slow.typical_us < APART * fast.typical_us or not case.worth_saying(impact):
            continue
        yield Claim(
            phrase(
                "{:share} of {} take {:share} of its time: {:time} against {:time}",
                slow.share,
                drawn.subject,
                slow.time_share,
                slow.typical_us / 1e6,
                fast.typical_us / 1e6,
            ),
            impact=impact,
            confidence=0.75,
            for_=[_band(drawn, mode) for mode in reversed(found.modes)],
            remedy=ROUTE if kind_of(drawn.subject) in NETWORKS else (),
        )


@cause()
def slow_bursts(case: Case) -> Iterator[Claim]:
    """Slow waits come in bursts, again and again at equal distances.

    Looks like: a stripe of long waits in the latency map that repeats.
    Hurts because: everything stands still for a moment, at every burst; the mean over minutes does not show it.
    Speaks for it: the distance of the bursts, how well it repeats, and the time in waits of that length.
    Speaks against it: few repetitions; then it may be chance.
    Remedy: Look for what runs at that distance: checkpoints (checkpoint_timeout), the flush of dirty pages
        (vm.dirty_expire_centisecs), timers (systemctl list-timers), cron, snapshots and replication of the storage.
    Verify: After a change of that period the stripe moves with it, or is gone.
    Source: B. Gregg, Visualizing System Latency, Communications of the ACM, 2010; L. Canali, OraLatencyMap, 2013.
    """
    for drawn, found in _readings(case):
        if found.bursts is None or found.bursts.over_us < FELT_US:
            continue
        waited = sum(bucket.time_us for bucket in drawn.whole.buckets if bucket.gt_us >= found.bursts.over_us)
        impact = _impact(case, drawn, waited / drawn.whole.time.us)
        if not case.worth_saying(impact):
            continue
        over = phrase("{:time}", found.bursts.over_us / 1e6)
        yield Claim(
            phrase("{} over {} comes in bursts every {:.3g s}", drawn.subject, over, found.bursts.every_s),
            impact=impact,
            confidence=0.8,
            for_=[
                Evidence(
                    "latency",
                    _rows(drawn),
                    phrase("every {:.3g s}", found.bursts.every_s),
                    "at least 3 times",
                    phrase(
                        "the number of waits over {} repeats itself: correlation {:.2f}", over, found.bursts.correlation
                    ),
                )
            ],
        )


def _readings(case: Case) -> Iterator[tuple[LatencyMap, Reading]]:
    """The maps of what sessions of a database wait for of devices and of the network, read.

    Where the time of each wait is known, those that cost too little to speak of (idle ones among them) are left out,
    and histograms that contradict it.
    """
    for subject in subjects(case.dataset, "histogram"):
        told = not case.waits or case.worth_saying(case.time.share(None, subject.name))
        if subject.db is not None and told and _answers_itself(subject.name):
            for drawn in histograms_of(case.dataset, subject):
                if agrees(case, drawn):
                    yield drawn, reading(drawn)


def _answers_itself(subject: str) -> bool:
    """Whether a device or the network answers: how long a lock or a statement takes is up to who holds or runs it."""
    return is_storage(subject) or kind_of(subject) in NETWORKS


def _impact(case: Case, drawn: LatencyMap, share: float) -> float:
    """Share of the database time that is a share of the time of these waits."""
    if case.waits:
        return share * case.time.share(None, drawn.subject)
    seconds = sum(column.interval_s for column in drawn.columns if column.histogram)
    if case.time.of != "database" or not case.time.seconds_per_second or not seconds:
        return 0.0
    average_active_sessions = drawn.whole.time.us / 1e6 / seconds
    return min(share * average_active_sessions / case.time.seconds_per_second, 1.0)


def _band(drawn: LatencyMap, mode: Mode) -> Evidence:
    low, high = (phrase("{:time}", us / 1e6) for us in (mode.low_us, mode.high_us))
    return Evidence(
        "latency",
        f"{_rows(drawn)} and le_us > {mode.low_us:.0f} and gt_us < {mode.high_us:.0f}",
        phrase("{:share} of the waits around {:time} ({} to {})", mode.share, mode.typical_us / 1e6, low, high),
        phrase("a mode of its own, {:.0f} times as long", APART)
        if mode.time_share >= MOST_OF_TIME
        else "the other mode",
        phrase("{:share} of the time waited{}", mode.time_share, f": {mode.meaning}" if mode.meaning else ""),
    )


def _rows(drawn: LatencyMap) -> str:
    return f"subject = '{drawn.subject}' and db = '{drawn.db}'"
