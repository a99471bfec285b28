"""Sessions, as postgres_exporter counts them: samples of sessions, though nobody knows which.

From 0.17 on it counts by user, program, kind of process and wait event. So many sessions did the same at the moment of
a scrape: each is a row of `session` that stands for the time since the scrape before, without a number of its own.
Before, it counts by state alone: what they waited for is not told.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from doctord.dataset.catalogue import version_of
from doctord.dataset.tables import CLIENT
from doctord.dataset.waits.postgres import CPU, classify
from doctord.read.figures import Figures
from doctord.read.prometheus.samples import Sample

COUNT: Final = "pg_stat_activity_count"
LONGEST: Final = "pg_stat_activity_max_tx_duration"
BUILD: Final = "postgres_exporter_build_info"
WITHOUT_ITSELF: Final = (0, 18)  # the version from which on it does not count its own session, which is at work
TELLS: Final = "backend_type"  # the label that came with the wait events
MOST_CONNECTIONS: Final = 262_143  # the most that max_connections may be
ACTIVE: Final = "active"
LEFT_OUT: Final = ("idle", "disabled", "", None)
LONGEST_OF: Final = "pg_stat_activity.max_tx_duration"
# Statistics, and the states that they count.
NUMBERS: Final = {
    "connections": None,
    "connections_idle": ("idle",),
    "connections_idle_in_transaction": ("idle in transaction", "idle in transaction (aborted)"),
}


class Sessions:
    """What one scrape counts of the sessions of one server."""

    def __init__(self, *, counts_itself: bool) -> None:
        """Nothing was counted yet; `counts_itself`: the exporter's own session is among those at work."""
        self._counts = list[tuple[Mapping[str, str], int]]()
        self._ages = dict[frozenset[tuple[str, str]], float]()
        self._counts_itself = counts_itself
        self.were_counted = False

    def put(self, name: str, labels: Mapping[str, str], value: float) -> None:
        """A sample of COUNT or LONGEST, which is kept until all are there."""
        if name == LONGEST:
            self._ages[_group(labels)] = value
            return
        self.were_counted = True
        if 0 < value <= MOST_CONNECTIONS:
            self._counts.append((labels, round(value)))

    @property
    def tells_waits(self) -> bool | None:
        """Whether it tells what sessions wait for; null where there was no session."""
        return any(TELLS in labels for labels, _ in self._counts) if self._counts else None

    @property
    def at_work(self) -> int:
        """How many are at work, the exporter's own left out."""
        active = sum(count for labels, count in self._counts if labels.get("state") == ACTIVE)
        return max(active - self._counts_itself, 0)

    def numbers(self, figures: Figures, db: str) -> None:
        """How many sessions there are, as statistics."""
        clients = [(labels.get("state"), count) for labels, count in self._counts if _kind(labels) == CLIENT]
        for name, states in NUMBERS.items():
            number = sum(count for state, count in clients if states is None or state in states)
            figures.statistic("postgresql", f"pg_stat_activity.{name}", number, "count", db=db)
        for state in {state for state, _ in clients if state not in LEFT_OUT}:
            ages = [age for group, age in self._ages.items() if ("state", state) in group]
            figures.statistic("postgresql", LONGEST_OF, max(ages, default=None), "s", entity=state, db=db)

    def rows(self, figures: Figures, db: str) -> Iterator[dict[str, Any]]:
        """Those that did something, as rows of `session` without time and host, where it is told what they wait for."""
        if self.tells_waits is False:
            return
        on_cpu, own = 0, int(self._counts_itself)
        for labels, count in self._counts:
            if labels.get("state") in LEFT_OUT:
                continue
            row = _session(labels) | {"db": db, "transaction_s": self._ages.get(_group(labels)) if count == 1 else None}
            is_own = own and _may_be_own(row)
            own -= is_own
            on_cpu += (count - is_own) * (row["event"] == CPU.event and row["state"] == ACTIVE)
            yield from (row for _ in range(count - is_own))
        # Told in every interval, also while no session is at work: that they were looked at.
        figures.row("wait", db=db, wait_class=CPU.wait_class, event=CPU.event).update(
            wait_kind=CPU.wait_kind, average_active_sessions=on_cpu
        )


def _session(labels: Mapping[str, str]) -> dict[str, Any]:
    wait = classify(labels.get("wait_event_type") or None, labels.get("wait_event") or None, labels.get(TELLS, ""))
    return {
        "database": labels.get("datname") or None,
        "kind": _kind(labels),
        "user": labels.get("usename") or None,
        "program": labels.get("application_name") or None,
        "state": labels.get("state") or None,
        **wait._asdict(),
    }


def _may_be_own(row: Mapping[str, Any]) -> bool:
    """Whether the exporter may be who counts: it is at work, waits for nothing, and does not say what it is."""
    return row["state"] == ACTIVE and row["event"] == CPU.event and row["kind"] == CLIENT and not row["program"]


def _kind(labels: Mapping[str, str]) -> str:
    told = labels.get(TELLS, "client backend")
    return CLIENT if told == "client backend" else told


def _group(labels: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    return frozenset(labels.items()) - {("__name__", COUNT), ("__name__", LONGEST)}


def counts_itself(samples: Iterable[Sample]) -> bool | None:
    """Whether an exporter counts its own session, by the version that it tells; null where it tells none."""
    for sample in samples:
        if sample.name == BUILD:
            version = version_of(sample.labels.get("version", ""))
            return version is None or version < WITHOUT_ITSELF
    return None
