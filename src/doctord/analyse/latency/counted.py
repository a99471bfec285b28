"""Waits as their histograms count them: how often and how long, of servers and tools that tell no more of them."""

from dataclasses import dataclass
from functools import lru_cache

from doctord.analyse.latency.map import histograms_of, subjects
from doctord.dataset.dataset import Dataset
from doctord.dataset.waits.events import VENDORS, find

# Background processes wait for these, or nobody does.
NOT_WAITED_FOR = ("System I/O", "Idle")


@dataclass(frozen=True, slots=True)
class CountedWait:
    """One wait event of client sessions, all servers together; its time is that of the middles of the buckets."""

    event: str
    wait_class: str
    wait_kind: str
    per_second: float
    seconds_per_second: float

    @property
    def ms(self) -> float | None:
        """Mean duration; null where there was none."""
        return self.seconds_per_second / self.per_second * 1000 if self.per_second else None


@lru_cache(maxsize=2)  # a dataset under examination, and its past
def counted_waits(dataset: Dataset, events: frozenset[str] | None = None) -> dict[str, CountedWait]:
    """Wait events of databases of which the table `latency` holds histograms over some time, by event.

    A histogram without a server is one of a database where a vendor has an event of that name. Of `events` alone,
    where these are given.
    """
    found: dict[str, CountedWait] = {}
    if dataset.frame("latency").is_empty():
        return found
    for subject in subjects(dataset, "histogram"):
        if events is not None and subject.name not in events:
            continue
        vendors = VENDORS if subject.db is None else {subject.db.partition(":")[0]} & {*VENDORS}
        known = next((event for vendor in vendors if (event := find(vendor, subject.name))), None)
        if known is None or known.wait_class in NOT_WAITED_FOR:
            continue
        for drawn in histograms_of(dataset, subject):
            seconds = sum(column.interval_s for column in drawn.columns if column.histogram)
            if not seconds:
                continue
            before = found.get(subject.name)
            found[subject.name] = CountedWait(
                subject.name,
                known.wait_class,
                known.wait_kind,
                (before.per_second if before else 0.0) + drawn.whole.total / seconds,
                (before.seconds_per_second if before else 0.0) + drawn.whole.time.us / 1e6 / seconds,
            )
    return found


def are_alone(dataset: Dataset) -> bool:
    """Whether nothing but histograms tells of a database, so that they are all that is known of its waits."""
    others = (("session", "db"), ("wait", "db"), ("statistic", "db"))
    return dataset.frame("latency").height > 0 and not any(dataset.frame(it)[column].count() for it, column in others)
